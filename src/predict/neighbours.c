/* neighbours.c: what the nearest rows say: votes, or values, uniform or by distance. Where the kernel falls with the
   Euclidean distance and votes are uniform, euclidean.c has the nearest at less than neighbour_search.c. */
#include "predict/neighbours.h"
#include "predict/neighbour_search.h"
#include "predict/euclidean.h"
#include "base/extremes.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/status.h"
#include "data/table/data.h"
#include "gram/operator/gram.h"
#include "kernel/language/kernel.h"
#include <math.h>

enum { GRAIN = 8, VOTES = 512 };

/* ---- What they say ---- */

/* What a neighbour's row is multiplied by; where some stand at distance zero, they alone count. */
static double neighbour_weight(const mc_neighbour_search *s, const mc_neighbour *nearest, int64_t j) {
    if (!s->f->by_distance)
        return 1;
    return nearest[0].square == 0 ? nearest[j].square == 0 : 1 / sqrt(nearest[j].square);
}

static void vote_of_neighbours(const mc_neighbour_search *s, const mc_neighbour *nearest, double *out) {
    const int64_t outputs = s->f->outputs, width = outputs + 1;
    double weight = 0;
    for (int64_t j = 0; j < s->k; j++) {
        const double *row = s->f->alpha + nearest[j].at * width, q = neighbour_weight(s, nearest, j);
        weight += q * row[outputs];
        for (int64_t c = 0; c < outputs; c++)
            out[c] += q * row[c];
    }
    for (int64_t c = 0; c < outputs; c++)
        out[c] /= weight;
}

static void vote_rows(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk, (void)thread;
    const mc_neighbour_search *s = arg;
    for (int64_t i = begin; i < end; i++) {
        mc_neighbour_sort(s->heap + i * s->k, s->k);
        vote_of_neighbours(s, s->heap + i * s->k, s->out + (s->row + i) * s->f->outputs);
    }
}

static mercer_status search_rows(mercer_ctx *ctx, mc_neighbour_search *s, int64_t n) {
    for (s->row = 0; s->row < n; s->row += MC_NEIGHBOUR_STRIP) {
        s->rows = mc_min_count(n - s->row, MC_NEIGHBOUR_STRIP);
        MC_TRY(mc_neighbour_search_strip(ctx, s));
        MC_TRY(mc_for(ctx, s->rows, GRAIN, vote_rows, s));
    }
    return MERCER_OK;
}

/* k(x,x), by the reference evaluator's formula. */
static mercer_status diagonal_of(mercer_ctx *ctx, const mercer_kernel *kernel, const mercer_data *x, double *out) {
    mc_gram *gram = NULL;
    MC_TRY(mc_gram_open(ctx, kernel, x, NULL, MERCER_F64, &gram));
    const mercer_status status = mc_gram_diagonal(ctx, gram, out);
    mc_gram_close(gram);
    return status;
}

mercer_status mc_neighbours_check(mercer_ctx *ctx, const mercer_kernel *kernel, const mercer_data *centres) {
    double *scratch = NULL;
    if (mc_is_euclidean(kernel, centres, centres, 1)) /* which has it of every row */
        return mc_kernel_check_data(ctx, kernel, centres);
    MC_TRY(MC_ALLOC(ctx, scratch, centres->n));
    const mercer_status status = diagonal_of(ctx, kernel, centres, scratch);
    mc_free(scratch);
    return status;
}

mercer_status mc_neighbours_noise(mercer_ctx *ctx, const mc_fitted *f, double *out) {
    mc_gram *gram = NULL;
    MC_TRY(mc_gram_open(ctx, f->kernel, f->centres, NULL, MERCER_F64, &gram));
    *out = mc_neighbour_noise(gram);
    mc_gram_close(gram);
    return MERCER_OK;
}

/* k(x,x) of the rows; NaN is let pass where distances themselves are not asked for. */
static mercer_status own_values(mercer_ctx *ctx, const mc_fitted *f, const mercer_data *rows, double *out) {
    const mercer_status status = diagonal_of(ctx, f->kernel, rows, out);
    if (status != MERCER_DATA || f->by_distance || !mc_kernel_precomputed(f->kernel))
        return status;
    mc_clear_failure(ctx);
    return MERCER_OK;
}

/* ---- The whole ---- */

size_t mc_neighbours_bytes(mercer_ctx *ctx, const mercer_kernel *kernel, const mercer_data *rows,
                           const mercer_data *centres, int64_t k) {
    const size_t near = mc_is_euclidean(kernel, rows, centres, k) ? mc_euclidean_bytes(ctx, rows->n, centres, k) : 0;
    const size_t tiles = mc_neighbour_search_bytes(ctx, kernel, rows, centres, k);
    return near > tiles ? near : tiles;
}

static mercer_status search_neighbours(mercer_ctx *ctx, mc_neighbour_search *s, const mercer_data *rows, mc_gram **gram,
                                       mc_gram **fast) {
    MC_TRY(own_values(ctx, s->f, rows, s->own));
    MC_TRY(diagonal_of(ctx, s->f->kernel, s->f->centres, s->diagonal));
    MC_TRY(mc_neighbour_search_open(ctx, s, rows, gram, fast));
    return search_rows(ctx, s, rows->n);
}

static void vote_by_distance(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk, (void)thread;
    const mc_neighbour_search *s = arg;
    for (int64_t i = begin; i < end; i++)
        vote_of_neighbours(s, s->heap + i * s->k, s->out + i * s->f->outputs);
}

/* By Euclidean distance: uniform votes need no more than the order. */
static mercer_status decide_by_distance(mercer_ctx *ctx, const mc_fitted *f, const mercer_data *rows, double *out) {
    mc_neighbour_search s = {.f = f, .k = f->report.neighbors, .out = out};
    MC_TRY(MC_ALLOC(ctx, s.heap, rows->n * s.k));
    mercer_status status = mc_euclidean_nearest(ctx, f->kernel, rows, f->centres, s.k, f->packed_cache, s.heap);
    MC_THEN(status, mc_for(ctx, rows->n, VOTES, vote_by_distance, &s));
    mc_free(s.heap);
    return status;
}

mercer_status mc_neighbours_decide(mercer_ctx *ctx, const mc_fitted *f, const mercer_data *rows, double *out) {
    if (!f->by_distance && mc_is_euclidean(f->kernel, rows, f->centres, f->report.neighbors))
        return decide_by_distance(ctx, f, rows, out);
    mc_neighbour_search s = mc_neighbour_search_of(f->kernel, rows, f->centres, f->report.neighbors);
    s.f = f;
    s.out = out;
    mc_gram *gram = NULL, *fast = NULL;
    mc_work work;
    MC_TRY(mc_work_lay(ctx, &work, mc_neighbour_search_slices, &s));
    const mercer_status status = search_neighbours(ctx, &s, rows, &gram, &fast);
    mc_gram_close(fast);
    mc_gram_close(gram);
    mc_work_close(&work);
    return status;
}
