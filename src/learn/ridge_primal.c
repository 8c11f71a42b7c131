/* ridge_primal.c: ridge regression solved in the D features of an explicit map, for kernels that have one of less dimension than rows.

   With phi centred by its weighted mean m (only with an intercept), Z the rows sqrt(w_i) (phi(x_i) - m), y centred alike:

       (Z'Z + lambda I) v = Z' S y,   b = mean(y) - m'v,   f(x) = <phi(x), v>.

   The residuals give the coefficients of the rows, beta = (S y - Z v) / lambda, because (Z'Z + lambda)^-1 Z' = Z' (ZZ' +
   lambda)^-1: the same
   function, the same model, the same certificate as from the n x n system. n D^2 + D^3/3 operations in place of n^3/3.

   Leaving a row out divides its residual by 1 - h_i, h_i = |L^-1 z_i|^2 + w_i / sum w (the second term with an intercept), L L' =
   Z'Z + lambda.

   The rows go through in panels, three times: the mean, the products, the residuals. A panel is cut into lanes of rows with sums
   of their own
   (when D is small) and the products into tiles, so that every thread has work and no sum depends on how many there are. */
#include "learn/ridge_primal.h"
#include "backend/blas.h"
#include "base/ctx.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "base/status.h"
#include "base/work.h"
#include "data/data.h"
#include "kernel/features.h"
#include "learn/ridge_system.h"
#include "solve/triangle.h"
#include <math.h>

enum { LANE = 512, LANES = 8, TILE = 256, SMALL = 512, ROWS = 64, COLUMNS = 64 };

typedef struct primal {
    mc_ridge_system *r;
    const mc_features *map;
    int64_t D, lanes, tiles;
    int64_t begin, rows; /* of the panel */
    int64_t room;        /* numbers of scratch a thread has */
    bool centred;        /* the mean is known */
    double weight;       /* sum of the weights */
    double *Z;           /* panel x D */
    double *mean;        /* D */
    double *C, *R;       /* lanes x (D x D, column-major lower half), lanes x (D x outputs) */
    double *left_out;    /* n: what each row adds to the leave-one-out error; NaN: it broke down */
    double *scratch;
} primal;

static int64_t lanes_for(int64_t D) {
    return D <= SMALL ? LANES : 1;
}

size_t mc_ridge_primal_bytes(int64_t n, int64_t d, int64_t D, int64_t outputs, int threads, int64_t scratch) {
    const int64_t lanes = lanes_for(D);
    if (D > INT32_MAX / 8)
        return SIZE_MAX / 4;
    return mc_work_need(lanes * LANE * D, 8) + mc_work_need(D, 8) + mc_work_need(lanes * D * D, 8)
           + mc_work_need(lanes * D * outputs, 8) + mc_work_need(n, 8)
           + mc_work_need((int64_t)threads * (d + scratch), 8);
}

int64_t mc_ridge_primal_dimension(const mercer_kernel *kernel, int64_t d, int64_t n) {
    return mc_features_count(kernel->root, d, n);
}

static double root_at(const primal *p, int64_t i) {
    return p->r->p->root ? p->r->p->root[i] : 1;
}

/* ---- A panel ---- */

static void fill_rows(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk;
    const primal *p = arg;
    double *row = p->scratch + thread * p->room;
    for (int64_t i = begin; i < end; i++) {
        double *z = p->Z + i * p->D;
        const double s = root_at(p, p->begin + i);
        mercer_data_row(p->r->p->x, p->begin + i, row);
        mc_features_row(p->map, row, row + p->r->p->x->d, z);
        for (int64_t j = 0; j < p->D; j++)
            z[j] = s * (z[j] - (p->centred ? p->mean[j] : 0));
    }
}

static void add_means(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk;
    (void)thread;
    const primal *p = arg;
    for (int64_t i = 0; i < p->rows; i++) {
        const double s = root_at(p, p->begin + i) / p->weight;
        for (int64_t j = begin; j < end; j++)
            p->mean[j] += s * p->Z[i * p->D + j];
    }
}

/* One tile of one lane's C, and with a tile of the diagonal its part of R. */
static void add_products(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)begin;
    (void)end;
    (void)thread;
    const primal *p = arg;
    const int64_t each = p->tiles * (p->tiles + 1) / 2, lane = chunk / each, outputs = p->r->p->outputs;
    const int64_t from = lane * LANE, left = p->lanes == 1 ? p->rows : p->rows - from;
    int64_t column = 0, row = chunk % each;
    for (int64_t height = p->tiles; row >= height; height--, column++)
        row -= height;
    row += column;
    const int k = (int)(left < LANE ? left : LANE), D = (int)p->D;
    if (k <= 0)
        return;
    const int64_t i = row * TILE, j = column * TILE;
    const int m = (int)(p->D - i < TILE ? p->D - i : TILE), n = (int)(p->D - j < TILE ? p->D - j : TILE);
    const double one = 1, *Z = p->Z + from * p->D;
    double *C = p->C + lane * p->D * p->D;
    if (row != column) {
        dgemm_("N", "T", &m, &n, &k, &one, Z + i, &D, Z + j, &D, &one, C + i + j * p->D, &D, 1, 1);
        return;
    }
    const int t = (int)outputs, columns = (int)p->r->columns;
    const double *X = p->r->X + (p->begin + from) * p->r->columns;
    dsyrk_("L", "N", &m, &k, &one, Z + i, &D, &one, C + i + i * p->D, &D, 1, 1);
    dgemm_("N", "T", &t, &m, &k, &one, X, &columns, Z + i, &D, &one, p->R + (lane * p->D + i) * outputs, &t, 1, 1);
}

/* alpha of some rows, and what they add to the leave-one-out error. */
static void finish_rows(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk;
    (void)thread;
    const primal *p = arg;
    const mc_ridge_system *r = p->r;
    const int64_t outputs = r->p->outputs, D = p->D;
    const int order = (int)D, rows = (int)(end - begin);
    const double one = 1;
    for (int64_t i = begin; i < end; i++)
        for (int64_t k = 0; k < outputs; k++) {
            const int64_t row = p->begin + i;
            double left = r->X[row * r->columns + k];
            for (int64_t j = 0; j < D; j++)
                left -= p->Z[i * D + j] * p->R[j * outputs + k];
            r->alpha[row * outputs + k] = root_at(p, row) * left / r->lambda;
        }
    if (!r->loo)
        return;
    dtrsm_("L", "L", "N", "N", &order, &rows, &one, p->C, &order, p->Z + begin * D, &order, 1, 1, 1, 1);
    for (int64_t i = begin; i < end; i++) {
        const int64_t row = p->begin + i;
        const double s = root_at(p, row);
        double share = 1 - (r->intercept ? s * s / p->weight : 0), sum = 0;
        for (int64_t j = 0; j < D; j++)
            share -= p->Z[i * D + j] * p->Z[i * D + j];
        for (int64_t k = 0; k < outputs; k++) {
            const double e = r->alpha[row * outputs + k] * r->lambda / s / share;
            sum += e * e;
        }
        p->left_out[row] = share > (double)r->p->n * 0x1p-52 ? sum : NAN;
    }
}

/* ---- All panels ---- */

typedef struct pass {
    mc_body *body;
    int64_t items, grain; /* items 0: the rows of the panel */
} pass;

static mercer_status run_pass(mercer_ctx *ctx, primal *p, pass work) {
    const int64_t n = p->r->p->n, panel = p->lanes * LANE;
    mercer_status status = MERCER_OK;
    const mc_region region = mc_blas_begin();
    for (p->begin = 0; p->begin < n && !status; p->begin += panel) {
        p->rows = n - p->begin < panel ? n - p->begin : panel;
        mc_span(ctx, (double)p->begin / (double)n, (double)(p->begin + p->rows) / (double)n);
        status = mc_for(ctx, p->rows, ROWS, fill_rows, p);
        if (!status)
            status = mc_for(ctx, work.items ? work.items : p->rows, work.grain, work.body, p);
    }
    mc_blas_end(region);
    return status;
}

/* The lanes' sums into the first; lambda on the diagonal. */
static void add_lanes(primal *p) {
    const int64_t square = p->D * p->D, right = p->D * p->r->p->outputs;
    for (int64_t lane = 1; lane < p->lanes; lane++) {
        for (int64_t i = 0; i < square; i++)
            p->C[i] += p->C[lane * square + i];
        for (int64_t i = 0; i < right; i++)
            p->R[i] += p->R[lane * right + i];
    }
    for (int64_t j = 0; j < p->D; j++)
        p->C[j * p->D + j] += p->r->lambda;
}

static void write_intercepts(primal *p) {
    const int64_t outputs = p->r->p->outputs;
    for (int64_t k = 0; k < outputs; k++) {
        p->r->b[k] = p->r->mean[k];
        for (int64_t j = 0; j < p->D && p->r->intercept; j++)
            p->r->b[k] -= p->mean[j] * p->R[j * outputs + k];
    }
}

static mercer_status left_out_error(mercer_ctx *ctx, const primal *p) {
    double sum = 0;
    for (int64_t i = 0; i < p->r->p->n; i++) {
        if (isnan(p->left_out[i]))
            return mc_fail(ctx, MERCER_NUMERIC,
                           "ridge: leave-one-out broke down at row %lld, which no other row replaces; use a larger "
                           "lambda or fit without it",
                           (long long)i + 1);
        sum += p->left_out[i];
    }
    p->r->loo_rmse = sqrt(sum / p->weight / (double)p->r->p->outputs);
    return MERCER_OK;
}

static mercer_status run(mercer_ctx *ctx, primal *p) {
    mc_ridge_system *r = p->r;
    int64_t bad = 0;
    mc_phase(ctx, "features");
    if (r->intercept)
        MC_TRY(run_pass(ctx, p, (pass){add_means, p->D, COLUMNS}));
    p->centred = r->intercept;
    mc_phase(ctx, "products");
    MC_TRY(run_pass(ctx, p, (pass){add_products, p->lanes * p->tiles * (p->tiles + 1) / 2, 1}));
    add_lanes(p);
    const mc_triangle t = {.a = p->C, .n = p->D, .ld = p->D, .layout = MC_LOWER};
    mc_phase(ctx, "factor");
    MC_TRY(mc_triangle_factor(ctx, t, &bad));
    if (bad)
        return mc_ridge_refuse(ctx, r);
    MC_TRY(mc_triangle_solve(ctx, t, false, r->p->outputs, p->R));
    MC_TRY(mc_triangle_solve(ctx, t, true, r->p->outputs, p->R));
    write_intercepts(p);
    mc_phase(ctx, "residuals");
    MC_TRY(run_pass(ctx, p, (pass){finish_rows, 0, ROWS}));
    return r->loo ? left_out_error(ctx, p) : MERCER_OK;
}

static void carve(primal *p, mc_work *work, int threads) {
    const int64_t D = p->D, outputs = p->r->p->outputs;
    p->Z = mc_work_take(work, p->lanes * LANE * D, 8);
    p->mean = mc_work_take(work, D, 8);
    p->C = mc_work_take(work, p->lanes * D * D, 8);
    p->R = mc_work_take(work, p->lanes * D * outputs, 8);
    p->left_out = mc_work_take(work, p->r->p->n, 8);
    p->scratch = mc_work_take(work, threads * p->room, 8);
}

static mercer_status open_and_run(mercer_ctx *ctx, mc_ridge_system *r, const mc_features *map) {
    const mc_problem *q = r->p;
    const int64_t D = mc_features_dimension(map), scratch = mc_features_scratch(map);
    primal p = {
        .r = r, .map = map, .D = D, .lanes = lanes_for(D), .tiles = mc_chunks(D, TILE), .room = q->x->d + scratch};
    for (int64_t i = 0; i < q->n; i++)
        p.weight += root_at(&p, i) * root_at(&p, i);
    mc_work work;
    MC_TRY(mc_work_open(ctx, &work, mc_ridge_primal_bytes(q->n, q->x->d, D, q->outputs, ctx->threads, scratch)));
    carve(&p, &work, ctx->threads);
    const mercer_status status = run(ctx, &p);
    mc_work_close(&work);
    r->rank = D < q->n ? D : q->n;
    return status;
}

mercer_status mc_ridge_primal(mercer_ctx *ctx, mc_ridge_system *r) {
    mc_features *map = NULL;
    MC_TRY(mc_features_open(ctx, r->p->kernel->root, r->p->x->d, &map));
    const mercer_status status = open_and_run(ctx, r, map);
    mc_features_close(map);
    return status;
}
