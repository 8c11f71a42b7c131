/* permutation_tests.c: two questions about samples, answered by shuffling.

       mmd    are x and z drawn alike?    |mean phi(x) - mean phi(z)|^2 = s'K s, s_i = 1/n on the rows of x and -1/m on
       those of z
       hsic   are two views of the rows independent?    sum_ij K~_ij L_ij / n^2, K~ = K with the means of rows and
       columns taken off

   Under the first hypothesis the labels of the pooled rows can be exchanged, under the second the rows of one view
   against the other's: of B random exchanges and the sample as it is, those that do as well as the sample or better
   make the p-value (1 + count) / (1 + B), which is valid whatever n is. Kernel values are computed once for all of
   them: mmd multiplies K, in tiles, with a block of vectors s; hsic keeps both matrices. Exchange b draws from a
   generator of its own and every sum has its order: the same bits on any number of threads. */
#include "base/ctx.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "base/rng.h"
#include "base/sized.h"
#include "base/status.h"
#include "data/table/columns.h"
#include "gram/operator/gram.h"
#include "kernel/language/localise.h"
#include <math.h>

enum { BLOCK = 64 }; /* exchanges whose vectors are multiplied together */

/* A value that differs from the sample's by rounding alone counts as equal to it. */
static const double tie = 1e-12;

static mercer_status check_count(mercer_ctx *ctx, const char *what, int64_t permutations) {
    if (permutations >= 1 && permutations <= 10000000)
        return MERCER_OK;
    return mc_fail(ctx, MERCER_INVALID, "%s: permutations must be in [1, 10000000], got %lld", what,
                   (long long)permutations);
}

static mercer_status bind_checked_kernel(mercer_ctx *ctx, const mercer_kernel *kernel, const mercer_data *data,
                                         mercer_kernel **out) {
    MC_TRY(mc_kernel_bind(ctx, kernel, data, out));
    MC_TRY(mc_kernel_check_data(ctx, *out, data));
    return mc_kernel_require(ctx, *out, mc_data_width(data), false);
}

/* Welford: the mean and spread of what the exchanges give, and how many reach the sample. */
static void count_in(mercer_test *out, double value) {
    out->permutations++;
    const double delta = value - out->null_mean;
    out->null_mean += delta / (double)out->permutations;
    out->null_std += delta * (value - out->null_mean);
    out->p_value += value >= out->statistic - tie * (fabs(out->statistic) + fabs(value));
}

static void conclude_p_value(mercer_test *out) {
    const double B = (double)out->permutations;
    out->p_value = (1 + out->p_value) / (1 + B);
    out->null_std = B > 1 ? sqrt(out->null_std / (B - 1)) : 0;
}

/* ---- mmd ---- */

typedef struct mmd {
    const mc_gram *gram;
    int64_t n, m;
    uint64_t seed;
    int64_t *items;
    double *S, *KS; /* (n + m) x BLOCK */
} mmd;

/* Column c of the block: the sample itself (b = 0), or its b-th exchange. */
static void write_sample_labels(const mmd *t, int64_t b, int64_t c, int64_t width) {
    const int64_t all = t->n + t->m;
    for (int64_t i = 0; i < all; i++)
        t->items[i] = i;
    mc_rng rng = mc_rng_at(t->seed, MC_STREAM_PERMUTE, (uint64_t)b);
    if (b > 0)
        mc_rng_shuffle(&rng, t->items, all);
    for (int64_t i = 0; i < all; i++)
        t->S[t->items[i] * width + c] = i < t->n ? 1 / (double)t->n : -1 / (double)t->m;
}

static double mmd_statistic(const mmd *t, int64_t c, int64_t width) {
    double sum = 0;
    for (int64_t i = 0; i < t->n + t->m; i++)
        sum += t->S[i * width + c] * t->KS[i * width + c];
    return sum;
}

static mercer_status run_mmd(mercer_ctx *ctx, mmd *t, int64_t permutations, mercer_test *out) {
    for (int64_t b = 0; b <= permutations; b += BLOCK) {
        const int64_t width = permutations + 1 - b < BLOCK ? permutations + 1 - b : BLOCK;
        for (int64_t c = 0; c < width; c++)
            write_sample_labels(t, b + c, c, width);
        MC_TRY(mc_gram_apply(ctx, t->gram, width, t->S, t->KS));
        for (int64_t c = 0; c < width; c++)
            if (b + c == 0)
                out->statistic = mmd_statistic(t, c, width);
            else
                count_in(out, mmd_statistic(t, c, width));
        MC_TRY(mc_report_progress(ctx, (double)b / (double)(permutations + 1)));
    }
    conclude_p_value(out);
    return MERCER_OK;
}

static mercer_status mmd_of(mercer_ctx *ctx, const mercer_kernel *kernel, const mercer_data *pooled,
                            int64_t permutations, mmd *t, mercer_test *out) {
    mc_gram *gram = NULL;
    const int64_t all = t->n + t->m;
    mercer_status status = mc_gram_open(ctx, kernel, pooled, NULL, MERCER_F64, &gram);
    if (!status)
        status = MC_ALLOC(ctx, t->items, all);
    if (!status)
        status = MC_ALLOC(ctx, t->S, all * BLOCK);
    if (!status)
        status = MC_ALLOC(ctx, t->KS, all * BLOCK);
    t->gram = gram;
    if (!status)
        status = run_mmd(ctx, t, permutations, out);
    mc_gram_close(gram);
    mc_free(t->items);
    mc_free(t->S);
    mc_free(t->KS);
    return status;
}

static mercer_status test_mmd(mercer_ctx *ctx, const mercer_kernel *kernel, const mercer_data *x, const mercer_data *z,
                              int64_t permutations, uint64_t seed, mercer_test *out) {
    MC_TRY(check_count(ctx, "mmd", permutations));
    if (mc_data_width(x) != mc_data_width(z) || x->texts != z->texts)
        return mc_fail(ctx, MERCER_DATA, "mmd: the samples have %lld and %lld columns; they must have the same",
                       (long long)mc_data_width(x), (long long)mc_data_width(z));
    if (x->n < 2 || z->n < 2)
        return mc_fail(ctx, MERCER_DATA, "mmd: the samples have %lld and %lld rows; two each are needed",
                       (long long)x->n, (long long)z->n);
    mercer_data *pooled = NULL;
    mercer_kernel *bound = NULL;
    mmd t = {.n = x->n, .m = z->n, .seed = seed};
    mc_aligned rows;
    MC_TRY(mc_align_tables(ctx, kernel, x, z, &rows));
    mercer_status status = mc_data_join(ctx, rows.x, rows.z, &pooled);
    if (!status)
        status = bind_checked_kernel(ctx, kernel, pooled, &bound);
    if (!status)
        status = mmd_of(ctx, bound, pooled, permutations, &t, out);
    mercer_kernel_free(bound);
    mercer_data_free(pooled);
    mc_aligned_free(&rows);
    return status;
}

mercer_status mercer_test_mmd(mercer_ctx *ctx, const mercer_kernel *kernel, const mercer_data *x, const mercer_data *z,
                              int64_t permutations, uint64_t seed, mercer_test *out) {
    MC_NEED(ctx, kernel, x, z, out);
    mc_begin_call(ctx);
    mc_begin_phase(ctx, "test");
    MC_TRY(mc_sized_check(ctx, "mercer_test", out));
    mercer_test made = {.n = x->n, .m = z->n};
    const mercer_status status = test_mmd(ctx, kernel, x, z, permutations, seed, &made);
    mc_sized_write(&made, sizeof made, out);
    return status;
}

/* ---- hsic ---- */

typedef struct hsic {
    int64_t n, permutations;
    uint64_t seed;
    double *K, *L;  /* n x n; K centred */
    double *value;  /* of the sample and of each exchange */
    int64_t *items; /* n per thread */
} hsic;

static void centre_gram(double *K, int64_t n, double *mean) {
    double all = 0;
    for (int64_t i = 0; i < n; i++) {
        mean[i] = 0;
        for (int64_t j = 0; j < n; j++)
            mean[i] += K[i * n + j] / (double)n;
        all += mean[i] / (double)n;
    }
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            K[i * n + j] += all - mean[i] - mean[j];
}

/* Exchange b: rows of L in another order. The sum over j runs within a row, then rows are added. */
static void permuted_hsic(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)begin, (void)end;
    const hsic *t = arg;
    const int64_t n = t->n;
    int64_t *items = t->items + thread * n;
    for (int64_t i = 0; i < n; i++)
        items[i] = i;
    mc_rng rng = mc_rng_at(t->seed, MC_STREAM_PERMUTE, (uint64_t)chunk);
    if (chunk > 0)
        mc_rng_shuffle(&rng, items, n);
    double sum = 0;
    for (int64_t i = 0; i < n; i++) {
        const double *K = t->K + i * n, *L = t->L + items[i] * n;
        double row = 0;
        for (int64_t j = 0; j < n; j++)
            row += K[j] * L[items[j]];
        sum += row;
    }
    t->value[chunk] = sum / ((double)n * (double)n);
}

static mercer_status gram_of(mercer_ctx *ctx, const mercer_kernel *kernel, const mercer_data *data, double *K) {
    mercer_kernel *bound = NULL;
    mc_gram *gram = NULL;
    mc_aligned rows;
    MC_TRY(mc_align_tables(ctx, kernel, data, NULL, &rows));
    mercer_status status = bind_checked_kernel(ctx, kernel, rows.x, &bound);
    if (!status)
        status = mc_gram_open(ctx, bound, rows.x, NULL, MERCER_F64, &gram);
    if (!status)
        status = mc_gram_block(ctx, gram, 0, data->n, 0, data->n, MERCER_F64, K, data->n);
    mc_gram_close(gram);
    mercer_kernel_free(bound);
    mc_aligned_free(&rows);
    return status;
}

static mercer_status run_hsic(mercer_ctx *ctx, const mercer_kernel *k, const mercer_kernel *l, const mercer_data *data,
                              hsic *t, mercer_test *out) {
    MC_TRY(MC_ALLOC(ctx, t->K, t->n * t->n));
    MC_TRY(MC_ALLOC(ctx, t->L, t->n * t->n));
    MC_TRY(MC_ALLOC(ctx, t->value, t->permutations + 1 + t->n));
    MC_TRY(MC_ALLOC(ctx, t->items, ctx->threads * t->n));
    MC_TRY(gram_of(ctx, k, data, t->K));
    MC_TRY(gram_of(ctx, l, data, t->L));
    centre_gram(t->K, t->n, t->value + t->permutations + 1);
    MC_TRY(mc_for(ctx, t->permutations + 1, 1, permuted_hsic, t));
    out->statistic = t->value[0];
    for (int64_t b = 1; b <= t->permutations; b++)
        count_in(out, t->value[b]);
    conclude_p_value(out);
    return MERCER_OK;
}

static mercer_status test_hsic(mercer_ctx *ctx, const mercer_kernel *k, const mercer_kernel *l, const mercer_data *data,
                               int64_t permutations, uint64_t seed, mercer_test *out) {
    MC_TRY(check_count(ctx, "hsic", permutations));
    if (data->n < 2)
        return mc_fail(ctx, MERCER_DATA, "hsic: the data have %lld row; two are needed", (long long)data->n);
    hsic t = {.n = data->n, .permutations = permutations, .seed = seed};
    const mercer_status status = run_hsic(ctx, k, l, data, &t, out);
    mc_free(t.K);
    mc_free(t.L);
    mc_free(t.value);
    mc_free(t.items);
    return status;
}

mercer_status mercer_test_hsic(mercer_ctx *ctx, const mercer_kernel *k, const mercer_kernel *l, const mercer_data *data,
                               int64_t permutations, uint64_t seed, mercer_test *out) {
    MC_NEED(ctx, k, l, data, out);
    mc_begin_call(ctx);
    mc_begin_phase(ctx, "test");
    MC_TRY(mc_sized_check(ctx, "mercer_test", out));
    mercer_test made = {.n = data->n, .m = data->n};
    const mercer_status status = test_hsic(ctx, k, l, data, permutations, seed, &made);
    mc_sized_write(&made, sizeof made, out);
    return status;
}
