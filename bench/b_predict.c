/* b_predict: predictions of rows in memory, the opening of the card counted and not.

       b_predict fit MODEL [ROWS D LAMBDA TOLERANCE]    fits ridge by pcg on so many rows, all of which are centres
                                           then (50,000 of 28 columns, 1, 1e-3), on MERCER_DEVICE, and saves it
       b_predict MODEL [DEVICE ROWS]       seconds to load it, of the first prediction, of one more (median of 5) */
#include "base/clock.h"
#include "base/ctx.h"
#include "base/rng.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static mercer_data *draw(mercer_ctx *ctx, int64_t n, int64_t d, bool target) {
    double *values = malloc((size_t)(n * d) * sizeof *values), *y = malloc((size_t)n * sizeof *y);
    for (int64_t i = 0; i < n; i++) {
        mc_rng rng = mc_rng_at(11, MC_STREAM_TEST, (uint64_t)(target ? i : -i - 1));
        for (int64_t k = 0; k < d; k++)
            values[i * d + k] = mc_rng_normal(&rng);
        y[i] = sin(2 * values[i * d]) + values[i * d + 1] * values[i * d + d - 1];
    }
    const mercer_table table = {.size = sizeof table,
                                .n = n,
                                .d = d,
                                .dtype = MERCER_F64,
                                .values = values,
                                .target = target ? y : NULL,
                                .outputs = target};
    mercer_data *data = NULL;
    if (mercer_data_make(ctx, &table, &data))
        fprintf(stderr, "%s\n", mercer_message(ctx));
    free(values);
    free(y);
    return data;
}

static int report(mercer_ctx *ctx, mercer_status status) {
    if (status)
        fprintf(stderr, "%s\n", mercer_message(ctx));
    mercer_close(ctx);
    return status != MERCER_OK;
}

static int fit(const char *path, int64_t n, int64_t d, double lambda, double tolerance) {
    mercer_ctx *ctx = NULL;
    mercer_kernel *kernel = NULL;
    mercer_model *model = NULL;
    char text[64];
    mercer_ridge set = mercer_ridge_defaults();
    if (mercer_open(NULL, &ctx))
        return 1;
    set.lambda = lambda;
    set.solver = "pcg";
    set.tolerance = tolerance;
    snprintf(text, sizeof text, "rbf(gamma=%g)", 0.5 / (double)d);
    mercer_data *data = draw(ctx, n, d, true);
    mercer_status status = mercer_kernel_parse(ctx, text, &kernel);
    const double began = mc_clock_seconds();
    status = status ? status : mercer_fit(ctx, "ridge", &set, kernel, data, &model);
    const double seconds = mc_clock_seconds() - began;
    const mercer_report *report_of = status ? NULL : mercer_model_report(model);
    if (!status)
        printf("| rows | d | lambda | rank | steps | residual | fit, s |\n|---|---|---|---|---|---|---|\n"
               "| %lld | %lld | %g | %lld | %lld | %.2g | %.2f |\n",
               (long long)n, (long long)d, lambda, (long long)report_of->rank, (long long)report_of->iterations,
               report_of->certificate.residual_relative, seconds);
    status = status ? status : mercer_model_save(ctx, model, path);
    mercer_model_free(model);
    mercer_kernel_free(kernel);
    mercer_data_free(data);
    return report(ctx, status);
}

static int compare(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static int predict(const char *path, const char *device, int64_t n, int64_t d) {
    mercer_options options = mercer_options_defaults();
    mercer_ctx *ctx = NULL, *here = NULL;
    mercer_model *model = NULL;
    double *out = malloc((size_t)n * sizeof *out), again[5], sum = 0;
    options.device = "cpu";
    if (mercer_open(&options, &here))
        return 1;
    mercer_data *data = draw(here, n, d, false);
    const double began = mc_clock_seconds();
    options.device = device;
    if (mercer_open(&options, &ctx))
        return 1;
    mercer_status status = mercer_model_load(ctx, path, &model);
    const double loaded = mc_clock_seconds();
    status = status ? status : mercer_predict(ctx, model, data, out);
    const double first = mc_clock_seconds();
    for (int i = 0; i < 5 && !status; i++) {
        const double from = mc_clock_seconds();
        status = mercer_predict(ctx, model, data, out);
        again[i] = mc_clock_seconds() - from;
    }
    for (int64_t i = 0; i < n; i++)
        sum += out[i];
    qsort(again, 5, sizeof *again, compare);
    if (!status)
        printf(
            "| device | rows | centres | d | load, s | first, s | again, s | sum |\n|---|---|---|---|---|---|---|---|\n"
            "| %s | %lld | %lld | %lld | %.3f | %.3f | %.3f | %.12g |\n",
            device, (long long)n, (long long)mercer_model_centres(model), (long long)d, loaded - began, first - loaded,
            again[2], sum);
    mercer_model_free(model);
    mercer_data_free(data);
    mercer_close(here);
    free(out);
    return report(ctx, status);
}

int main(int count, char **words) {
    if (count < 2)
        return 2;
    if (strcmp(words[1], "fit") == 0)
        return count < 3 ? 2
                         : fit(words[2], count > 3 ? atoll(words[3]) : 50000, count > 4 ? atoll(words[4]) : 28,
                               count > 5 ? atof(words[5]) : 1, count > 6 ? atof(words[6]) : 1e-3);
    return predict(words[1], count > 2 ? words[2] : "cuda", count > 3 ? atoll(words[3]) : 1000000,
                   count > 4 ? atoll(words[4]) : 28);
}
