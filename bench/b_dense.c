/* b_dense: dense algebra on a device: seconds of its parts, medians of five where a part is short.

       b_dense [cuda:0] [ROWS] [estimated]   ROWS: of the largest factor, 120,000 unless told; and the evidence by
                                             conjugate gradients, whose vectors stay on the processor */
#include "base/clock.h"
#include "base/ctx.h"
#include "base/memory.h"
#include "base/rng.h"
#include "backend/device.h"
#include "gram/operator/gram.h"
#include "learn/gp/evidence.h"
#include "linalg/cholesky.h"
#include "linalg/eigen.h"
#include "plan/cost.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TIMES = 5 };

static mercer_data *draw_points(mercer_ctx *ctx, int64_t n, int64_t d) {
    double *values = malloc((size_t)(n * (d + 1)) * sizeof *values), *target = values + n * d;
    mc_rng rng = mc_rng_at(7, MC_STREAM_TEST, (uint64_t)d);
    for (int64_t i = 0; i < n * d; i++)
        values[i] = mc_rng_normal(&rng);
    for (int64_t i = 0; i < n; i++)
        target[i] = sin(values[i * d]) + values[i * d + 1] * values[i * d + 2] + 0.3 * mc_rng_normal(&rng);
    const mercer_table table = {
        .size = sizeof table, .n = n, .d = d, .dtype = MERCER_F64, .values = values, .target = target, .outputs = 1};
    mercer_data *data = NULL;
    if (mercer_data_make(ctx, &table, &data))
        fprintf(stderr, "%s\n", mercer_message(ctx));
    free(values);
    return data;
}

static mercer_kernel *parse_kernel(mercer_ctx *ctx, const char *text) {
    mercer_kernel *kernel = NULL;
    if (mercer_kernel_parse(ctx, text, &kernel))
        fprintf(stderr, "%s\n", mercer_message(ctx));
    return kernel;
}

static double median_of(double *s, int count) {
    for (int i = 0; i < count; i++)
        for (int j = i + 1; j < count; j++)
            if (s[j] < s[i]) {
                const double swap = s[i];
                s[i] = s[j];
                s[j] = swap;
            }
    return s[count / 2];
}

static void print_part(mercer_ctx *ctx, mercer_status status, const char *part, int64_t n, int64_t d, double seconds) {
    if (status)
        printf("| %s | %lld | %lld | %s |\n", part, (long long)n, (long long)d, mercer_message(ctx));
    else
        printf("| %s | %lld | %lld | %.4f |\n", part, (long long)n, (long long)d, seconds);
    fflush(stdout);
}

/* ---- One factorisation, part by part ---- */

static double read_lap(mercer_ctx *ctx, mc_device *device, double *began) {
    if (mc_device_wait(ctx, device))
        fprintf(stderr, "%s\n", mercer_message(ctx));
    const double now = mc_clock_seconds(), seconds = now - *began;
    *began = now;
    return seconds;
}

/* K + I there, its factor, a solution and how far that misses its equations, the inverse. */
static void factor_parts(mercer_ctx *ctx, mc_gram *gram, mc_device *device, int64_t d, bool inverse) {
    const int64_t n = mc_gram_rows(gram);
    double *b = malloc((size_t)(4 * n) * sizeof *b), *x = b + n, *y = x + n, *one = y + n, miss = 0, size = 0;
    mc_rng rng = mc_rng_at(9, MC_STREAM_TEST, 0);
    mc_dense A = {0};
    int64_t bad = 0;
    for (int64_t i = 0; i < n; i++)
        x[i] = b[i] = mc_rng_normal(&rng), one[i] = 1;
    mercer_status status = mc_dense_allocate(ctx, device, MC_PACKED, MERCER_F64, n, n, &A);
    double began = mc_clock_seconds();
    status = status ? status : mc_gram_write(ctx, gram, NULL, one, A);
    print_part(ctx, status, "K made (the program compiled too, where it is new)", n, d, read_lap(ctx, device, &began));
    status = status ? status : mc_gram_write(ctx, gram, NULL, one, A);
    print_part(ctx, status, "K made", n, d, read_lap(ctx, device, &began));
    status = status ? status : mc_potrf(ctx, A, &bad);
    print_part(ctx, status, "Cholesky", n, d, read_lap(ctx, device, &began));
    status = status ? status : mc_potrs(ctx, A, mc_row_major(x, n, 1, 1));
    print_part(ctx, status, "solution", n, d, read_lap(ctx, device, &began));
    status = status ? status : mc_gram_apply(ctx, gram, 1, x, y);
    for (int64_t i = 0; i < n; i++)
        miss += (y[i] + x[i] - b[i]) * (y[i] + x[i] - b[i]), size += b[i] * b[i];
    printf("| relative residual %.1e | %lld | %lld | |\n", sqrt(miss / size), (long long)n, (long long)d);
    began = mc_clock_seconds();
    if (inverse) {
        status = status ? status : mc_trtri(ctx, A);
        print_part(ctx, status, "inverse of the factor", n, d, read_lap(ctx, device, &began));
        status = status ? status : mc_gram_write(ctx, gram, NULL, one, A);
        status = status ? status : mc_potrf(ctx, A, &bad);
        read_lap(ctx, device, &began);
        status = status ? status : mc_potri(ctx, A);
        print_part(ctx, status, "inverse", n, d, read_lap(ctx, device, &began));
    }
    mc_dense_free(&A);
    free(b);
}

static void time_factor(mercer_ctx *ctx, int64_t n, int64_t d, bool inverse) {
    mercer_data *x = draw_points(ctx, n, d);
    mercer_kernel *kernel = parse_kernel(ctx, "rbf(gamma=0.02)");
    mc_gram *gram = NULL;
    mc_device *device = NULL;
    mercer_status status = mc_gram_open(ctx, kernel, x, NULL, MERCER_F64, &gram);
    status = status ? status : mc_gram_place_algebra(ctx, gram, mc_factor_work((double)n), 0, &device);
    if (status || !device)
        print_part(ctx, status, "no device", n, d, 0);
    else
        factor_parts(ctx, gram, device, d, inverse);
    mc_gram_close(gram);
    mercer_kernel_free(kernel);
    mercer_data_free(x);
}

/* ---- Evidence ---- */

static void time_evidence(mercer_ctx *ctx, int64_t n, bool estimated) {
    mercer_data *data = draw_points(ctx, n, 8);
    mercer_kernel *kernel = parse_kernel(ctx, "1.2*rbf(gamma=[0.1, 0.2, 0.1, 0.05, 0.1, 0.2, 0.1, 0.05])");
    mc_problem p;
    mc_evidence *e = NULL;
    double value = 0, gradient[16] = {0}, seconds[TIMES + 1] = {0};
    mercer_status status = mc_problem_open(ctx, "none", mc_admit_proved, kernel, data, &p);
    if (status) {
        print_part(ctx, status, "evidence", n, 8, 0);
        return;
    }
    status = estimated ? mc_evidence_open_estimated(ctx, &p, 1, &e) : mc_evidence_open(ctx, p.x, 1, p.Y, NULL, &e);
    for (int i = 0; i <= TIMES && !status; i++) {
        const double began = mc_clock_seconds();
        status = mc_evidence_value(ctx, e, p.kernel, 0.1 * (1 + 0.01 * i), &value, gradient);
        seconds[i] = mc_clock_seconds() - began;
    }
    print_part(ctx, status,
               estimated ? "estimated evidence and gradient, the first" : "evidence and gradient, the first", n, 8,
               seconds[0]);
    print_part(ctx, status, estimated ? "estimated evidence and gradient" : "evidence and gradient", n, 8,
               median_of(seconds + 1, TIMES));
    printf("| value %.6f, error %.2g, slopes %.6g, %.6g | %lld | 8 | |\n", value, mc_evidence_error(e), gradient[0],
           gradient[1], (long long)n);
    fflush(stdout);
    mc_evidence_close(e);
    mc_problem_close(&p);
    mercer_kernel_free(kernel);
    mercer_data_free(data);
}

static void time_eigen(mercer_ctx *ctx, int64_t n) {
    double *A = malloc((size_t)(n * n + n) * sizeof *A);
    mc_rng rng = mc_rng_at(9, MC_STREAM_TEST, 1);
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = j; i < n; i++)
            A[i + j * n] = A[j + i * n] = mc_rng_normal(&rng);
    const double began = mc_clock_seconds();
    const mercer_status status = mc_syevd(ctx, mc_column_major(A, n, n, n), A + n * n);
    print_part(ctx, status, "eigenvalues and eigenvectors, copied there and back", n, n, mc_clock_seconds() - began);
    free(A);
}

/* Ridge from the table to the model, certificate and all. */
static void time_fit(mercer_ctx *ctx, int64_t n, int64_t d) {
    mercer_data *data = draw_points(ctx, n, d);
    mercer_kernel *kernel = parse_kernel(ctx, "rbf(gamma=0.02)");
    mercer_model *model = NULL;
    mercer_ridge set = mercer_ridge_defaults();
    set.solver = "cholesky";
    set.lambda = 1;
    const double began = mc_clock_seconds();
    const mercer_status status = mercer_fit(ctx, "ridge", &set, kernel, data, &model);
    print_part(ctx, status, "ridge by cholesky, the whole fit", n, d, mc_clock_seconds() - began);
    if (!status)
        printf("| certified residual %.1e | %lld | %lld | |\n",
               mercer_model_report(model)->certificate.residual_relative, (long long)n, (long long)d);
    mercer_model_free(model);
    mercer_kernel_free(kernel);
    mercer_data_free(data);
}

static void print_log_line(void *user, const char *line) {
    (void)user;
    fprintf(stderr, "# %s\n", line);
}

int main(int count, char **words) {
    mercer_options options = mercer_options_defaults();
    mercer_ctx *ctx = NULL;
    options.device = count > 1 ? words[1] : "cuda";
    options.log = getenv("MERCER_BENCH_LOG") ? print_log_line : NULL;
    const int64_t largest = count > 2 ? atoll(words[2]) : 120000;
    if (mercer_open(&options, &ctx))
        return 1;
    printf("| part | n | d | s |\n|---|---|---|---|\n");
    time_factor(ctx, 4096, 28, true);
    time_factor(ctx, 16384, 8, true);
    time_evidence(ctx, 16384, false);
    time_evidence(ctx, 30000, false);
    time_eigen(ctx, 8192);
    time_factor(ctx, largest, 28, false);
    time_fit(ctx, largest, 28);
    if (count > 3)
        time_evidence(ctx, 30000, true);
    mercer_close(ctx);
    return 0;
}
