/* pivoted_cholesky.c: the next column of F is that of the row whose diagonal has most left, which is where K - F F'
   is largest. The factor of gram/lowrank/lowrank.h is drawn at random in floats, for preconditioners; this one is to be
   K itself. */
#include "qp/pivoted_cholesky.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/status.h"
#include <float.h>
#include <math.h>
#include <string.h>

enum { ROWS = 1024 };                       /* of a chunk */
static const double LEFT = 8 * DBL_EPSILON; /* of the largest entry of the diagonal: no more columns */

static int64_t panels_of(int64_t rank) {
    return (rank + MC_PIVOTED_PANEL - 1) / MC_PIVOTED_PANEL;
}

typedef struct factor_growth {
    mc_pivoted_cholesky *low_rank;
    double *left, *column; /* n */
    int64_t pivot;
    double root; /* of what was left at the pivot */
    int64_t most;
} factor_growth;

static void lay_out_growth(mc_work *work, void *self) {
    factor_growth *g = self;
    mc_pivoted_cholesky *t = g->low_rank;
    t->F = mc_work_take(work, panels_of(g->most) * MC_PIVOTED_PANEL * t->n, sizeof *t->F);
    g->left = mc_work_take(work, t->n, sizeof *g->left);
    g->column = mc_work_take(work, t->n, sizeof *g->column);
}

size_t mc_pivoted_cholesky_bytes(int64_t n, int64_t rank) {
    mc_pivoted_cholesky low_rank = {.n = n};
    return mc_slices_bytes(lay_out_growth, &(factor_growth){.low_rank = &low_rank, .most = rank}) + 2 * MC_ALIGN;
}

static double *place_of(const mc_pivoted_cholesky *t, int64_t i, int64_t k) {
    return t->F + (k / MC_PIVOTED_PANEL * t->n + i) * MC_PIVOTED_PANEL + k % MC_PIVOTED_PANEL;
}

static double product_of_rows(const mc_pivoted_cholesky *t, int64_t i, int64_t j) {
    double sum[MC_PIVOTED_PANEL] = {0}, all = 0;
    for (int64_t p = 0; p < panels_of(t->rank); p++) {
        const double *a = t->F + (p * t->n + i) * MC_PIVOTED_PANEL, *b = t->F + (p * t->n + j) * MC_PIVOTED_PANEL;
        for (int c = 0; c < MC_PIVOTED_PANEL; c++)
            sum[c] += a[c] * b[c];
    }
    for (int c = 0; c < MC_PIVOTED_PANEL; c++)
        all += sum[c];
    return all;
}

/* column <- the next column of F, from that of K. */
static void reduce_rows(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk, (void)thread;
    const factor_growth *g = arg;
    for (int64_t i = begin; i < end; i++) {
        g->column[i] = (g->column[i] - product_of_rows(g->low_rank, i, g->pivot)) / g->root;
        g->left[i] = fmax(g->left[i] - g->column[i] * g->column[i], 0);
    }
}

static int64_t place_of_largest(const double *x, int64_t n) {
    int64_t place = 0;
    for (int64_t i = 1; i < n; i++)
        place = x[i] > x[place] ? i : place;
    return place;
}

static mercer_status add_column(mercer_ctx *ctx, factor_growth *g, mc_column_of *column, const void *arg) {
    mc_pivoted_cholesky *t = g->low_rank;
    g->root = sqrt(g->left[g->pivot]);
    MC_TRY(column(ctx, arg, g->pivot, g->column));
    MC_TRY(mc_for(ctx, t->n, ROWS, reduce_rows, g));
    g->left[g->pivot] = 0;
    for (int64_t i = 0; i < t->n; i++)
        *place_of(t, i, t->rank) = g->column[i];
    t->rank++;
    return MERCER_OK;
}

static mercer_status factor_to_tolerance(mercer_ctx *ctx, factor_growth *g, mc_column_of *column, const void *arg) {
    const double end = LEFT * g->left[place_of_largest(g->left, g->low_rank->n)];
    for (;;) {
        g->pivot = place_of_largest(g->left, g->low_rank->n);
        if (g->left[g->pivot] <= end)
            return MERCER_OK;
        if (g->low_rank->rank == g->most || !isfinite(g->left[g->pivot])) {
            g->low_rank->rank = -1;
            return MERCER_OK;
        }
        MC_TRY(add_column(ctx, g, column, arg));
    }
}

mercer_status mc_pivoted_cholesky_open(mercer_ctx *ctx, int64_t n, const double *diagonal, mc_column_of *column,
                                       const void *arg, int64_t most, mc_pivoted_cholesky *out) {
    factor_growth g = {.low_rank = out, .most = most};
    *out = (mc_pivoted_cholesky){.n = n};
    MC_TRY(mc_work_lay(ctx, &out->work, lay_out_growth, &g));
    memcpy(g.left, diagonal, (size_t)n * sizeof *g.left);
    const mercer_status status = factor_to_tolerance(ctx, &g, column, arg);
    out->panels = panels_of(out->rank);
    if (status || out->rank < 0)
        mc_pivoted_cholesky_close(out);
    return status;
}

void mc_pivoted_cholesky_close(mc_pivoted_cholesky *low_rank) {
    mc_work_close(&low_rank->work);
    low_rank->F = NULL;
}

/* ---- Products ---- */

typedef struct low_rank_product {
    const mc_pivoted_cholesky *low_rank;
    const double *x;
    double *inner, *out;
} low_rank_product;

/* inner <- F' x: a panel is one sum from the first row to the last, on any number of threads. */
static void gather_panels(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk, (void)thread;
    const low_rank_product *p = arg;
    for (int64_t q = begin; q < end; q++) {
        double sum[MC_PIVOTED_PANEL] = {0};
        const double *F = p->low_rank->F + q * p->low_rank->n * MC_PIVOTED_PANEL;
        for (int64_t i = 0; i < p->low_rank->n; i++)
            for (int c = 0; c < MC_PIVOTED_PANEL; c++)
                sum[c] += F[i * MC_PIVOTED_PANEL + c] * p->x[i];
        memcpy(p->inner + q * MC_PIVOTED_PANEL, sum, sizeof sum);
    }
}

static void spread_rows(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk, (void)thread;
    const low_rank_product *p = arg;
    for (int64_t i = begin; i < end; i++) {
        double sum[MC_PIVOTED_PANEL] = {0}, all = 0;
        for (int64_t q = 0; q < p->low_rank->panels; q++)
            for (int c = 0; c < MC_PIVOTED_PANEL; c++)
                sum[c] += p->low_rank->F[(q * p->low_rank->n + i) * MC_PIVOTED_PANEL + c]
                          * p->inner[q * MC_PIVOTED_PANEL + c];
        for (int c = 0; c < MC_PIVOTED_PANEL; c++)
            all += sum[c];
        p->out[i] = all;
    }
}

mercer_status mc_pivoted_cholesky_multiply(mercer_ctx *ctx, const mc_pivoted_cholesky *low_rank, const double *x,
                                           double *scratch, double *out) {
    low_rank_product p = {low_rank, x, scratch, out};
    MC_TRY(mc_for(ctx, low_rank->panels, 1, gather_panels, &p));
    return mc_for(ctx, low_rank->n, ROWS, spread_rows, &p);
}
