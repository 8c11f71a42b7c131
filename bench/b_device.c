/* b_device: products K v on a device: pairs a second, and how far sampled rows are from the processor's in double.

       b_device [cuda:0]                 the table
       b_device --source KERNEL D T      the source that the device compiles */
#include "base/clock.h"
#include "base/ctx.h"
#include "base/memory.h"
#include "base/rng.h"
#include "gram/device/device_gram.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct row {
    const char *kernel;
    mercer_dtype precision;
    int64_t n, d, t;
} row;

static const row rows[] = {
    {"rbf(gamma=%g)", MERCER_F32, 524288, 3, 1},
    {"rbf(gamma=%g)", MERCER_F32, 524288, 8, 1},
    {"rbf(gamma=%g)", MERCER_F32, 524288, 28, 1},
    {"rbf(gamma=%g)", MERCER_F32, 262144, 8, 8},
    {"rbf(gamma=%g)", MERCER_F32, 131072, 64, 1},
    {"rbf(gamma=%g)", MERCER_F32, 131072, 256, 1},
    {"rbf(gamma=%g)", MERCER_F32, 131072, 784, 1},
    {"rbf(gamma=%g)", MERCER_F64, 131072, 8, 1},
    {"rbf(gamma=%g)", MERCER_F64, 131072, 28, 1},
    {"rbf(gamma=%g)", MERCER_F64, 65536, 256, 1},
    {"matern(nu=2.5, length_scale=1)", MERCER_F32, 524288, 8, 1},
    {"laplacian(gamma=0.2)", MERCER_F32, 524288, 8, 1},
    {"rbf(gamma=%g) + 0.5*rbf(gamma=1) + 0.2*matern(nu=2.5, length_scale=1)*rq(alpha=1, length_scale=2)", MERCER_F32,
     262144, 8, 1},
};

static mercer_data *draw(mercer_ctx *ctx, int64_t n, int64_t d) {
    double *values = malloc((size_t)(n * d) * sizeof *values);
    mc_rng rng = mc_rng_at(7, MC_STREAM_TEST, (uint64_t)d);
    for (int64_t i = 0; i < n * d; i++)
        values[i] = mc_rng_normal(&rng);
    const mercer_table table = {.size = sizeof table, .n = n, .d = d, .dtype = MERCER_F64, .values = values};
    mercer_data *data = NULL;
    if (mercer_data_make(ctx, &table, &data))
        fprintf(stderr, "%s\n", mercer_message(ctx));
    free(values);
    return data;
}

static mercer_kernel *parse(mercer_ctx *ctx, const char *pattern, int64_t d) {
    char text[256];
    mercer_kernel *kernel = NULL;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(text, sizeof text, pattern, 0.5 / (double)d);
#pragma GCC diagnostic pop
    if (mercer_kernel_parse(ctx, text, &kernel))
        fprintf(stderr, "%s\n", mercer_message(ctx));
    return kernel;
}

/* Against the processor in double at the first rows: the largest difference over the sum of |v|. */
static double error_of(mercer_ctx *ctx, const mercer_kernel *kernel, const mercer_data *x, int64_t d, int64_t t,
                       const double *V, const double *Y) {
    enum { SOME = 64 };
    mercer_data *few = draw(ctx, SOME, d); /* the same first rows: the generator goes row by row */
    mc_gram *exact = NULL;
    double Z[SOME * MC_DEVICE_RIGHT_MOST], worst = NAN, mass = 0;
    for (int64_t j = 0; j < x->n; j++)
        mass += fabs(V[j * t]);
    if (!mc_gram_open(ctx, kernel, few, x, MERCER_F64, &exact) && !mc_gram_apply(ctx, exact, t, V, Z)) {
        worst = 0;
        for (int i = 0; i < SOME; i++)
            worst = fmax(worst, fabs(Z[i * t] - Y[i * t]) / mass);
    }
    mc_gram_close(exact);
    mercer_data_free(few);
    return worst;
}

static double median_of_five(double *s) {
    for (int i = 0; i < 5; i++)
        for (int j = i + 1; j < 5; j++)
            if (s[j] < s[i]) {
                const double swap = s[i];
                s[i] = s[j];
                s[j] = swap;
            }
    return s[2];
}

static void print_row(mercer_ctx *ctx, mc_device *device, const row *r) {
    mercer_data *x = draw(ctx, r->n, r->d);
    mercer_kernel *kernel = parse(ctx, r->kernel, r->d);
    mc_gram *gram = NULL;
    double *V = malloc((size_t)(r->n * r->t) * sizeof *V), *Y = malloc((size_t)(r->n * r->t) * sizeof *Y), seconds[5];
    mc_rng rng = mc_rng_at(8, MC_STREAM_TEST, 0);
    for (int64_t i = 0; i < r->n * r->t; i++)
        V[i] = mc_rng_normal(&rng);
    mercer_status status = mc_gram_open(ctx, kernel, x, NULL, r->precision, &gram);
    if (!status && !gram->there)
        status = mc_device_gram_open(ctx, gram, device, NULL, &gram->there);
    const double began = mc_clock_seconds();
    status = status ? status : mc_gram_apply(ctx, gram, r->t, V, Y);
    const double first = mc_clock_seconds() - began;
    for (int i = 0; i < 5 && !status; i++) {
        const double from = mc_clock_seconds();
        status = mc_gram_apply(ctx, gram, r->t, V, Y);
        seconds[i] = mc_clock_seconds() - from;
    }
    if (status)
        printf("| %s | %s |\n", r->kernel, mercer_message(ctx));
    else
        printf("| %s | %s | %lld | %lld | %lld | %.4f | %.3e | %.2f | %.1e |\n", r->kernel,
               gram->precision == MERCER_F32 ? "f32" : "f64", (long long)r->n, (long long)r->d, (long long)r->t,
               median_of_five(seconds), (double)r->n * (double)r->n / seconds[2], first,
               error_of(ctx, kernel, x, r->d, r->t, V, Y));
    fflush(stdout);
    mc_gram_close(gram);
    free(V);
    free(Y);
    mercer_data_free(x);
    mercer_kernel_free(kernel);
}

static int print_source(mercer_ctx *ctx, const char *text, int64_t d, int64_t t, mercer_dtype precision) {
    mercer_data *x = draw(ctx, 100, d);
    mercer_kernel *kernel = parse(ctx, text, d);
    mc_gram *gram = NULL;
    char *source = NULL;
    const mercer_status status = kernel ? mc_gram_open(ctx, kernel, x, NULL, precision, &gram) : MERCER_INVALID;
    if (!status && !mc_device_source(ctx, gram, t, true, &source))
        fputs(source, stdout);
    mc_free(source);
    mc_gram_close(gram);
    mercer_kernel_free(kernel);
    mercer_data_free(x);
    mercer_close(ctx);
    return status != MERCER_OK;
}

int main(int count, char **words) {
    mercer_options options = mercer_options_defaults();
    mercer_ctx *ctx = NULL;
    mc_device *device = NULL;
    options.device = "cpu"; /* opened below, so that the processor's own products stay the processor's */
    if (mercer_open(&options, &ctx))
        return 1;
    if (count >= 5 && strcmp(words[1], "--source") == 0)
        return print_source(ctx, words[2], atoll(words[3]), atoll(words[4]), count > 5 ? MERCER_F64 : MERCER_F32);
    if (mc_device_open(ctx, count > 1 ? words[1] : "cuda", 0, &device)) {
        printf("skipped: %s\n", mercer_message(ctx));
        mercer_close(ctx);
        return 77;
    }
    printf("| kernel | tiles | n | d | right-hand sides | s | pairs/s | first, s | error "
           "|\n|---|---|---|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        print_row(ctx, device, &rows[i]);
    mc_device_close(device);
    mercer_close(ctx);
    return 0;
}
