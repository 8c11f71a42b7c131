/* b_gram.c: products with Gram matrices against what this machine can do: the GFLOP/s of sgemm and dgemm (best shape tried) and the rate of
   our own vectorised 2^x, in one process, repetitions interleaved, best of each. Prints Markdown.

   A product K v of n rows counts 2 d n^2 operations: what evaluating every pair would cost. A symmetric operator evaluates each pair once,
   so it may pass the ceiling; the column "square" is the same product with two different sets of rows, where that does not help. */
#include "backend/blas.h"
#include "backend/tile.h"
#include "base/clock.h"
#include "base/ctx.h"
#include "base/rng.h"
#include "gram/gram.h"
#include "kernel/kernel.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern void openblas_set_num_threads(int threads) __attribute__((weak));

enum { REPEATS = 5 };

static mercer_ctx *open_with(int threads) {
    mercer_options options = mercer_options_defaults();
    options.threads = threads;
    mercer_ctx *ctx = NULL;
    if (mercer_open(&options, &ctx))
        exit(1);
    return ctx;
}

static void check(mercer_ctx *ctx, mercer_status status) {
    if (status == MERCER_OK)
        return;
    fprintf(stderr, "%s\n", mercer_message(ctx));
    exit(1);
}

/* ---- Ceilings ---- */

static double gemm_seconds(mercer_dtype type, int n, int k, void *A, void *B, void *C) {
    const double one = 1, zero = 0, began = mc_clock();
    const float onef = 1, zerof = 0;
    if (type == MERCER_F32)
        sgemm_("T", "N", &n, &n, &k, &onef, A, &k, B, &k, &zerof, C, &n, 1, 1);
    else
        dgemm_("T", "N", &n, &n, &k, &one, A, &k, B, &k, &zero, C, &n, 1, 1);
    return mc_clock() - began;
}

/* GFLOP/s of the best of a few shapes. */
static double gemm_ceiling(mercer_dtype type, int threads) {
    static const int shapes[][2] = {{2048, 2048}, {4096, 784}, {4096, 256}};
    double best = 0, *A = calloc(3u * 4096 * 4096, sizeof *A), *B = A + 4096 * 4096, *C = B + 4096 * 4096;
    if (openblas_set_num_threads)
        openblas_set_num_threads(threads);
    for (int s = 0; s < 3; s++)
        for (int r = 0; r < REPEATS; r++) {
            const double n = shapes[s][0], k = shapes[s][1];
            best = fmax(best, 2e-9 * n * n * k / gemm_seconds(type, shapes[s][0], shapes[s][1], A, B, C));
        }
    if (openblas_set_num_threads)
        openblas_set_num_threads(1);
    free(A);
    return best;
}

/* Billions of 2^x a second on one thread, from the first cache. */
static double exp2_ceiling(const mercer_ctx *ctx) {
    enum { N = 2048 };
    _Alignas(64) static float x[N], y[N];
    for (int i = 0; i < N; i++)
        x[i] = -20.0f * (float)i / N;
    double best = 0;
    for (int r = 0; r < 20 * REPEATS; r++) {
        const double began = mc_clock();
        for (int k = 0; k < 500; k++)
            mc_tile(ctx->isa, MERCER_F32)->exp2(N, x, y);
        best = fmax(best, 500e-9 * N / (mc_clock() - began));
    }
    return best;
}

/* ---- Products ---- */

static mercer_data *random_rows(mercer_ctx *ctx, int64_t n, int64_t d, uint64_t item) {
    double *x = malloc((size_t)(n * d) * sizeof *x);
    mc_rng rng = mc_rng_at(1, MC_STREAM_TEST, item);
    for (int64_t i = 0; i < n * d; i++)
        x[i] = mc_rng_normal(&rng);
    mercer_data *data = NULL;
    check(ctx, mercer_data_make(ctx, &(mercer_table){.n = n, .d = d, .dtype = MERCER_F64, .values = x}, &data));
    free(x);
    return data;
}

/* Seconds of K v, best of the repeats; the operator is opened once. */
static double product_seconds(mercer_ctx *ctx, const char *text, const mercer_data *x, const mercer_data *z,
                              mercer_dtype type) {
    mercer_kernel *kernel = NULL, *bound = NULL;
    mc_gram *gram = NULL;
    const int64_t n = mercer_data_rows(x), m = z ? mercer_data_rows(z) : n;
    double *v = calloc((size_t)m, sizeof *v), *y = calloc((size_t)n, sizeof *y), best = INFINITY;
    for (int64_t i = 0; i < m; i++)
        v[i] = cos((double)i);
    check(ctx, mercer_kernel_parse(ctx, text, &kernel));
    check(ctx, mercer_kernel_bind(ctx, kernel, x, &bound));
    check(ctx, mc_gram_open(ctx, bound, x, z, type, &gram));
    for (int r = 0; r < REPEATS; r++) {
        const double began = mc_clock();
        check(ctx, mc_gram_apply(ctx, gram, 1, v, y));
        best = fmin(best, mc_clock() - began);
    }
    mc_gram_close(gram);
    mercer_kernel_free(bound);
    mercer_kernel_free(kernel);
    free(v);
    free(y);
    return best;
}

static void say_row(const char *what, double value, const char *unit, double ceiling, double bar) {
    const double share = value / ceiling;
    printf("| %s | %.1f %s | %.1f | %.0f%% | %.0f%% | %s |\n", what, value, unit, ceiling, 100 * share, 100 * bar,
           bar == 0       ? ""
           : share >= bar ? "met"
                          : "**missed**");
    fflush(stdout);
}

static void rbf_row(mercer_ctx *ctx, int64_t n, int64_t d, mercer_dtype type, double ceiling, double bar) {
    char text[64], what[96];
    snprintf(text, sizeof text, "rbf(gamma=%g)", 0.5 / (double)d);
    mercer_data *x = random_rows(ctx, n, d, 1), *z = random_rows(ctx, n, d, 2);
    const double flops = 2e-9 * (double)n * (double)n * (double)d;
    const char *name = type == MERCER_F32 ? "float32" : "float64";
    snprintf(what, sizeof what, "rbf K v, %s, n=%lld, d=%lld, symmetric", name, (long long)n, (long long)d);
    say_row(what, flops / product_seconds(ctx, text, x, NULL, type), "GFLOP/s", ceiling, bar);
    snprintf(what, sizeof what, "rbf K v, %s, n=%lld, d=%lld, square", name, (long long)n, (long long)d);
    say_row(what, flops / product_seconds(ctx, text, x, z, type), "GFLOP/s", ceiling, 0);
    mercer_data_free(x);
    mercer_data_free(z);
}

static void small_row(mercer_ctx *ctx, double ceiling) {
    const int64_t n = 20000;
    mercer_data *x = random_rows(ctx, n, 3, 1), *z = random_rows(ctx, n, 3, 2);
    const double pairs = 1e-9 * (double)n * (double)n;
    say_row("rbf K v, float32, d=3, symmetric", pairs / product_seconds(ctx, "rbf(gamma=0.5)", x, NULL, MERCER_F32),
            "Gpairs/s", ceiling, 0.7);
    say_row("rbf K v, float32, d=3, square", pairs / product_seconds(ctx, "rbf(gamma=0.5)", x, z, MERCER_F32),
            "Gpairs/s", ceiling, 0);
    mercer_data_free(x);
    mercer_data_free(z);
}

static void expression_row(mercer_ctx *ctx) {
    static const char text[] =
        "0.5*rbf(gamma=0.1)*matern(nu=1.5, length_scale=2) + 0.3*linear*rq(alpha=1, length_scale=3)";
    mercer_data *x = random_rows(ctx, 10000, 32, 1);
    const double one = product_seconds(ctx, "rbf(gamma=0.1)", x, NULL, MERCER_F32),
                 four = product_seconds(ctx, text, x, NULL, MERCER_F32);
    printf("| four atoms against one rbf, float32, d=32 | %.3f s | %.3f s | %.2f times | 2.5 times | %s |\n", four, one,
           four / one, four / one <= 2.5 ? "met" : "**missed**");
    mercer_data_free(x);
}

static void threads_row(double one, double two) {
    printf("| two threads against one, rbf float32 d=64 | %.3f s | %.3f s | %.2f times | 1.8 times | %s |\n", two, one,
           one / two, one / two >= 1.8 ? "met" : "**missed**");
}

static double seconds_with(int threads) {
    mercer_ctx *ctx = open_with(threads);
    mercer_data *x = random_rows(ctx, 20000, 64, 1);
    const double seconds = product_seconds(ctx, "rbf(gamma=0.01)", x, NULL, MERCER_F32);
    mercer_data_free(x);
    mercer_close(ctx);
    return seconds;
}

/* OpenBLAS must run the kernels of this processor, or the ceiling is none. */
static void restart_with_better_core(char **argv) {
    const char *core = getenv("OPENBLAS_CORETYPE") ? NULL : mercer_blas_better_core();
    if (core && setenv("OPENBLAS_CORETYPE", core, 0) == 0)
        execv("/proc/self/exe", argv);
}

int main(int argc, char **argv) {
    (void)argc;
    restart_with_better_core(argv);
    mercer_ctx *ctx = open_with(0);
    const int threads = mercer_threads(ctx);
    const double sgemm = gemm_ceiling(MERCER_F32, threads), dgemm = gemm_ceiling(MERCER_F64, threads);
    const double exps = exp2_ceiling(ctx) * threads;
    printf("%d threads, %s; sgemm %.0f GFLOP/s, dgemm %.0f GFLOP/s, 2^x %.1f billion/s.\n\n", threads, mercer_isa(ctx),
           sgemm, dgemm, exps);
    printf("| product | rate | ceiling | share | bar | |\n|---|---|---|---|---|---|\n");
    small_row(ctx, exps);
    rbf_row(ctx, 20000, 32, MERCER_F32, sgemm, 0.7);
    rbf_row(ctx, 20000, 64, MERCER_F32, sgemm, 0.9);
    rbf_row(ctx, 15000, 256, MERCER_F32, sgemm, 0.9);
    rbf_row(ctx, 10000, 784, MERCER_F32, sgemm, 0.9);
    rbf_row(ctx, 15000, 64, MERCER_F64, dgemm, 0.75);
    expression_row(ctx);
    threads_row(seconds_with(1), seconds_with(2));
    mercer_close(ctx);
    return 0;
}
