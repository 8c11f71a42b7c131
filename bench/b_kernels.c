/* b_kernels.c: pairs a second of kernels that have functions, statistics or vectors of their own in the tiles: a
   product K v in both precisions, beside the reference evaluator on one thread, on full rows and on sparse ones.
   Beside each rate stands how far some entries are from the reference evaluator's, and how far the operator says they
   can be from the truth.

       b_kernels [ROWS] [COLUMNS] */
#include "base/clock.h"
#include "base/ctx.h"
#include "base/rng.h"
#include "gram/operator/gram.h"
#include "kernel/language/kernel.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const kernels[] = {"rbf(gamma=1)",
                                      "sinc(length_scale=2)",
                                      "spline",
                                      "brownian",
                                      "brownian(hurst=0.7)",
                                      "power(p=1.3)",
                                      "gibbs(0.5 + norm2)",
                                      "matern(nu=2.5, length_scale=1)",
                                      "matern(nu=0.3, length_scale=1)",
                                      "matern(nu=1.2, length_scale=1)",
                                      "matern(nu=7, length_scale=1)",
                                      "log",
                                      "thin_plate"};
enum { KERNELS = sizeof kernels / sizeof *kernels, SIDE = 64, ROUNDS = 3 };

static void check(mercer_ctx *ctx, mercer_status status) {
    if (status) {
        fprintf(stderr, "%s\n", mercer_message(ctx));
        exit(1);
    }
}

/* Rows of numbers from 0 to 1, of which `share` are not 0; CSR where that is below 1. */
static mercer_data *draw_rows(mercer_ctx *ctx, int64_t n, int64_t d, double share) {
    mc_rng rng = mc_rng_at(1, MC_STREAM_TEST, 1);
    double *values = malloc((size_t)(n * d) * sizeof *values);
    int64_t *start = calloc((size_t)n + 1, sizeof *start), count = 0;
    int32_t *column = malloc((size_t)(n * d) * sizeof *column);
    for (int64_t i = 0; i < n; start[++i] = count)
        for (int64_t j = 0; j < d; j++)
            if (share >= 1 || mc_rng_uniform(&rng) < share) {
                column[count] = (int32_t)j;
                values[count++] = mc_rng_uniform(&rng);
            }
    mercer_table table = {.size = sizeof table, .n = n, .d = d, .dtype = MERCER_F64, .values = values};
    if (share < 1)
        table.row_start = start, table.column = column;
    mercer_data *data = NULL;
    check(ctx, mercer_data_make(ctx, &table, &data));
    free(values);
    free(start);
    free(column);
    return data;
}

/* Pairs a second of products, the best of a few. */
static double product_rate(mercer_ctx *ctx, const mc_gram *gram, int64_t n) {
    double *v = malloc((size_t)n * sizeof *v), *out = malloc((size_t)n * sizeof *out), best = INFINITY;
    for (int64_t i = 0; i < n; i++)
        v[i] = 1;
    for (int r = 0; r < ROUNDS; r++) {
        const double began = mc_clock_seconds();
        check(ctx, mc_gram_apply(ctx, gram, 1, v, out));
        best = fmin(best, mc_clock_seconds() - began);
    }
    free(v);
    free(out);
    return (double)n * (double)n / best;
}

/* The corner of K against the reference evaluator, whose pairs a second are *rate. */
static double reference_error(mercer_ctx *ctx, const mc_gram *gram, const mercer_kernel *kernel,
                              const mercer_data *data, double *rate) {
    static double K[SIDE * SIDE];
    const int64_t d = mercer_data_columns(data);
    double *rows = malloc((size_t)(SIDE * d) * sizeof *rows), worst = 0;
    check(ctx, mc_gram_block(ctx, gram, 0, SIDE, 0, SIDE, MERCER_F64, K, SIDE));
    for (int64_t i = 0; i < SIDE; i++)
        mercer_data_row(data, i, rows + i * d);
    const double began = mc_clock_seconds();
    for (int64_t i = 0; i < SIDE; i++)
        for (int64_t j = 0; j < SIDE; j++)
            worst = fmax(worst, fabs(K[i * SIDE + j] - mc_eval_kernel(kernel->root, rows + i * d, rows + j * d, d)));
    *rate = SIDE * SIDE / (mc_clock_seconds() - began);
    free(rows);
    return worst;
}

static void measure_kernel(mercer_ctx *ctx, const char *text, const mercer_data *data) {
    mercer_kernel *kernel = NULL;
    check(ctx, mercer_kernel_parse(ctx, text, &kernel));
    printf("%-32s", text);
    for (int precision = MERCER_F64; precision >= MERCER_F32; precision--) {
        mc_gram *gram = NULL;
        double reference;
        check(ctx, mc_gram_open(ctx, kernel, data, NULL, (mercer_dtype)precision, &gram));
        const double rate = product_rate(ctx, gram, mercer_data_rows(data)),
                     error = reference_error(ctx, gram, kernel, data, &reference);
        if (precision == MERCER_F64)
            printf(" %8.1e", reference);
        printf(" %8.1e %8.1e %8.1e", rate, error, mc_gram_entry_error(gram));
        mc_gram_close(gram);
    }
    printf("\n");
    mercer_kernel_free(kernel);
}

int main(int count, char **argument) {
    const int64_t n = count > 1 ? atoll(argument[1]) : 4000, d = count > 2 ? atoll(argument[2]) : 8;
    mercer_ctx *ctx = NULL;
    if (mercer_open(NULL, &ctx))
        return 1;
    for (int sparse = 0; sparse < 2; sparse++) {
        const int64_t rows = sparse ? n / 2 : n, columns = sparse ? 25 * d : d;
        mercer_data *data = draw_rows(ctx, rows, columns, sparse ? 0.03 : 1);
        printf(
            "%lld rows, %lld columns%s, %d threads: pairs a second of the reference evaluator (one thread), then in\n"
            "double and in single precision pairs a second, error and bound\n",
            (long long)rows, (long long)columns, sparse ? " of which 3 per cent are not 0" : "", mercer_threads(ctx));
        for (int k = 0; k < KERNELS; k++)
            measure_kernel(ctx, kernels[k], data);
        mercer_data_free(data);
    }
    mercer_close(ctx);
    return 0;
}
