/* cached_product.c: see cached_product.h. */
#include "certify/cached_product.h"
#include "base/ctx.h"
#include "base/memory.h"
#include "base/workspace.h"
#include "base/rng.h"
#include "base/status.h"
#include "certify/ridge_certificate.h"
#include "gram/operator/gram_matrix.h"
#include <math.h>
#include <string.h>

static void lay_out_product(mc_work *work, void *self) {
    mc_cached_product *w = self;
    w->diagonal = mc_work_take(work, w->n, sizeof *w->diagonal);
    w->V = mc_work_take(work, w->n * w->outputs, sizeof *w->V);
    w->KV = mc_work_take(work, w->n * w->outputs, sizeof *w->KV);
}

size_t mc_cached_product_bytes(int64_t n, int64_t outputs) {
    return mc_slices_bytes(lay_out_product, &(mc_cached_product){.n = n, .outputs = outputs}) + 2 * MC_ALIGN;
}

mercer_status mc_cached_product_open(mercer_ctx *ctx, const mc_gram *gram, int64_t outputs, mc_cached_product *out) {
    const int64_t n = mc_gram_rows(gram);
    *out = (mc_cached_product){.gram = gram,
                               .K = mc_gram_matrix(gram),
                               .n = n,
                               .outputs = outputs,
                               .entry = mc_gram_entry_error(gram),
                               .sum = mc_gram_sum_error(gram, outputs)};
    MC_TRY(mc_work_lay(ctx, &out->work, lay_out_product, out));
    return mc_gram_diagonal(ctx, gram, out->diagonal);
}

void mc_cached_product_close(mc_cached_product *w) {
    mc_work_close(&w->work);
    *w = (mc_cached_product){0};
}

static mercer_status apply_and_cache_product(mercer_ctx *ctx, const void *self, int64_t t, const double *V, double *Y) {
    mc_cached_product *w = (mc_cached_product *)(uintptr_t)self;
    MC_TRY(w->K.apply(ctx, w->K.self, t, V, Y));
    if (t != w->outputs)
        return MERCER_OK;
    memcpy(w->V, V, (size_t)(w->n * t) * sizeof *V);
    memcpy(w->KV, Y, (size_t)(w->n * t) * sizeof *Y);
    w->filled = true;
    return MERCER_OK;
}

mc_matrix mc_cached_product_matrix(mc_cached_product *w) {
    return (mc_matrix){.n = w->n, .apply = apply_and_cache_product, .self = w};
}

void mc_cached_product_use_matrix(mc_cached_product *w, const mc_matrix *K) {
    w->K = *K;
    w->entry = K->errors(K->self, w->outputs).entry;
    w->sum = mc_rounding_gamma(w->n + 2);
}

enum { SAMPLED_ROWS = 8 }; /* rows made anew */

typedef struct sampled_rows {
    int64_t n;
    double *K; /* SAMPLED_ROWS x n */
} sampled_rows;

static void lay_out_sampled_rows(mc_work *work, void *self) {
    sampled_rows *s = self;
    s->K = mc_work_take(work, SAMPLED_ROWS * s->n, sizeof *s->K);
}

size_t mc_cached_product_check_bytes(int64_t n) {
    return mc_slices_bytes(lay_out_sampled_rows, &(sampled_rows){.n = n}) + 2 * MC_ALIGN;
}

/* Row i of K V, from row i of K in double, against the product that is remembered. */
static mercer_status compare_row(mercer_ctx *ctx, const mc_cached_product *w, int64_t i, const double *row) {
    for (int64_t k = 0; k < w->outputs; k++) {
        long double value = 0, absolute = 0, sizes = 0;
        for (int64_t j = 0; j < w->n; j++) {
            const double v = w->V[j * w->outputs + k];
            value += (long double)row[j] * v;
            absolute += fabs(v);
            sizes += fabsl((long double)row[j] * v);
        }
        const double seen = w->KV[i * w->outputs + k];
        if (!(fabsl(value - seen) <= 2.02L * (w->entry * absolute + w->sum * sizes + mc_flushed_share(w->sum))))
            return mc_fail(ctx, MERCER_INTERNAL,
                           "check: row %lld of K alpha is %.17g by the K that was kept and %.17g by the rows of the "
                           "data; use another "
                           "solver",
                           (long long)i + 1, seen, (double)value);
    }
    return MERCER_OK;
}

mercer_status mc_cached_product_compute(mercer_ctx *ctx, mc_cached_product *w, const double *V) {
    sampled_rows rows = {.n = w->n};
    mc_work work;
    int64_t sampled[SAMPLED_ROWS];
    mc_rng rng = mc_rng_at(ctx->options.seed, MC_STREAM_SAMPLE, 1);
    for (int i = 0; i < SAMPLED_ROWS; i++)
        sampled[i] = mc_rng_below(&rng, w->n);
    memcpy(w->V, V, (size_t)(w->n * w->outputs) * sizeof *V);
    MC_TRY(w->K.apply(ctx, w->K.self, w->outputs, w->V, w->KV));
    MC_TRY(mc_work_lay(ctx, &work, lay_out_sampled_rows, &rows));
    mercer_status status = mc_gram_take(ctx, w->gram, sampled, SAMPLED_ROWS, MERCER_F64, rows.K, w->n);
    for (int i = 0; i < SAMPLED_ROWS && !status; i++)
        status = compare_row(ctx, w, sampled[i], rows.K + i * w->n);
    mc_work_close(&work);
    w->filled = !status;
    return status;
}
