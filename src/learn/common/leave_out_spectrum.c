/* leave_out_spectrum.c: rows and folds left out for many lambdas, from one eigendecomposition S K S = U diag(m) U',
   h = 1 / (m + lambda).

   The diagonals of B for all lambdas are one product, that of the entrywise square of U, made tile by tile, with all h:

       B_ii(lambda_l) = sum_j U_ij^2 h_jl.

   The block of a fold is U_F diag(h) U_F', the product of the fold's rows of U, scaled by sqrt(h), with themselves:
   f^2 n operations for f rows, f^3 / 3 more to solve. All folds of one lambda cost n^3 / k, where refitting them costs
   about n^3 (k - 1)^3 / (3 k^2).

   Large folds come one after the other, each on all threads. Small ones are dealt out to the threads whole: which is
   which depends on the size of the fold alone, and the squares are added in the order of the folds. A small fold has
   few pairs of rows, and then the products U_aj U_bj of each pair, times the h_j of all lambdas at once, are the blocks
   for all of them. */
#include "base/ctx.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/status.h"
#include "base/workspace.h"
#include "learn/common/leave_out.h"
#include "linalg/dense.h"
#include <math.h>
#include <string.h>

enum {
    ROWS = 128, /* rows and columns of a tile of squares */
    DEPTH = 256,
    CHUNK = 32,
    SMALL = 16, /* rows of the largest small fold */
    PAIRS = SMALL * (SMALL + 1) / 2
};

/* ---- Diagonals ---- */

typedef struct diagonals {
    int64_t n, count;
    const double *U, *H;
    double *B, *tiles; /* tiles: one for each thread */
} diagonals;

/* B_ii of some rows for all lambdas. */
static void square_rows(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk;
    const diagonals *q = arg;
    const int64_t n = q->n, rows = end - begin, count = q->count;
    double *tile = q->tiles + (int64_t)thread * ROWS * DEPTH;
    for (int64_t from = 0; from < n; from += DEPTH) {
        const int64_t depth = n - from < DEPTH ? n - from : DEPTH;
        for (int64_t k = 0; k < depth; k++)
            for (int64_t i = 0; i < rows; i++) {
                const double u = q->U[(from + k) * n + begin + i];
                tile[k * rows + i] = u * u;
            }
        mc_gemm(1, mc_column_major(tile, rows, depth, rows), mc_row_major(q->H + from * count, depth, count, count),
                from > 0, mc_row_major(q->B + begin * count, rows, count, count));
    }
}

/* One lambda: no tile is worth its making. */
static void sum_squares(const diagonals *q) {
    memset(q->B, 0, (size_t)q->n * sizeof *q->B);
    for (int64_t j = 0; j < q->n; j++)
        for (int64_t i = 0; i < q->n; i++)
            q->B[i] += q->U[j * q->n + i] * q->U[j * q->n + i] * q->H[j];
}

static int64_t tile_numbers(const mercer_ctx *ctx, int64_t count) {
    return count > 1 ? (int64_t)ctx->threads * ROWS * DEPTH : 0;
}

size_t mc_spectrum_diagonals_bytes(const mercer_ctx *ctx, int64_t count) {
    return mc_work_need(tile_numbers(ctx, count), 8) + 2 * MC_ALIGN;
}

mercer_status mc_spectrum_inverse_diagonals(mercer_ctx *ctx, int64_t n, const double *U, const double *H, int64_t count,
                                            double *B) {
    diagonals q = {n, count, U, H, B, NULL};
    if (count == 1) {
        sum_squares(&q);
        return MERCER_OK;
    }
    MC_TRY(MC_ALLOC(ctx, q.tiles, tile_numbers(ctx, count)));
    const mercer_status status = mc_for(ctx, n, ROWS, square_rows, &q);
    mc_free(q.tiles);
    return status;
}

/* ---- Memory of folds ---- */

typedef struct fold_workspace {
    double *scaled;  /* largest x n: the rows of U in the fold, times sqrt(h) */
    double *C;       /* largest x largest: the block, lower half */
    double *E;       /* largest x outputs */
    int64_t *starts; /* small folds: where each begins in the order; at most n */
    double *each;    /* and their squares, n x lambdas at a time */
    double *threads; /* and what the threads need for one of them, */
    int64_t thread;  /* so many numbers each: its rows, their products, the blocks of all lambdas and of one, e */
} fold_workspace;

static fold_workspace lay_out_folds(mc_work *work, const mercer_ctx *ctx, int64_t n, int64_t largest, int64_t outputs,
                                    int64_t count) {
    const int64_t m = largest > SMALL ? largest : 0;
    fold_workspace r = {.thread = SMALL * n + PAIRS * (n + count) + SMALL * (SMALL + outputs)};
    r.scaled = mc_work_take(work, m * n, 8);
    r.C = mc_work_take(work, m * m, 8);
    r.E = mc_work_take(work, m * outputs, 8);
    r.starts = mc_work_take(work, n, 8);
    r.each = mc_work_take(work, n * count, 8);
    r.threads = mc_work_take(work, ctx->threads * r.thread, 8);
    return r;
}

size_t mc_spectrum_folds_bytes(const mercer_ctx *ctx, int64_t n, int64_t largest, int64_t outputs, int64_t count) {
    mc_work counted = {0};
    lay_out_folds(&counted, ctx, n, largest, outputs, count);
    return counted.used + 2 * MC_ALIGN;
}

/* What is asked for, and one fold under one lambda of it. */
typedef struct turn {
    const mc_fold_order *by;
    const fold_workspace *workspace;
    const mc_leave_out *all; /* count lambdas */
    const double *U, *H;
    int64_t count;
    double *left;
    const int64_t *rows; /* m: the fold */
    int64_t m, l;
} turn;

/* The squares of the scaled residuals are those of the residuals times the weights. */
static double keep_residuals(const turn *t, const double *E) {
    const int64_t outputs = t->all->outputs;
    double squares = 0;
    for (int64_t i = 0; i < t->m * outputs; i++)
        squares += E[i] * E[i];
    for (int64_t i = 0; t->left && i < t->m * outputs; i++) {
        const int64_t row = t->rows[i / outputs];
        t->left[(t->l * t->all->n + row) * outputs + i % outputs] = E[i] / mc_leave_out_root(t->all, row);
    }
    return squares;
}

/* ---- Large folds ---- */

static void scale_rows(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk, (void)thread;
    const turn *t = arg;
    const int64_t n = t->all->n;
    for (int64_t j = begin; j < end; j++) {
        const double root = sqrt(t->H[j * t->count + t->l]);
        for (int64_t a = 0; a < t->m; a++)
            t->workspace->scaled[a * n + j] = t->U[j * n + t->rows[a]] * root;
    }
}

static mercer_status leave_large_out(mercer_ctx *ctx, turn *t, double *squares) {
    const fold_workspace *r = t->workspace;
    const int64_t n = t->all->n, m = t->m;
    const mc_dense C = mc_column_major(r->C, m, m, m);
    bool defined;
    MC_TRY(mc_for(ctx, n, CHUNK, scale_rows, t));
    memset(r->C, 0, (size_t)(m * m) * sizeof *r->C);
    MC_TRY(mc_parallel_syrk(ctx, 1, mc_row_major(r->scaled, m, n, n), C));
    MC_TRY(mc_leave_fold_out(ctx, &t->all[t->l], NULL, t->rows, m, C, r->E, &defined));
    *squares += defined ? keep_residuals(t, r->E) : NAN;
    return MERCER_OK;
}

/* ---- Small folds ---- */

/* In place, C lower and column-major; false: not positive definite. */
static bool factor_small_cholesky(int64_t m, double *C) {
    for (int64_t j = 0; j < m; j++) {
        for (int64_t k = 0; k < j; k++)
            for (int64_t i = j; i < m; i++)
                C[i + j * m] -= C[i + k * m] * C[j + k * m];
        if (!(C[j + j * m] > 0))
            return false;
        const double root = sqrt(C[j + j * m]);
        for (int64_t i = j; i < m; i++)
            C[i + j * m] /= root;
    }
    return true;
}

/* E <- C^-1 E, m x t, from the factor. */
static void solve_small_cholesky(int64_t m, const double *C, int64_t t, double *E) {
    for (int64_t k = 0; k < t; k++) {
        for (int64_t i = 0; i < m; i++) {
            for (int64_t j = 0; j < i; j++)
                E[i * t + k] -= C[i + j * m] * E[j * t + k];
            E[i * t + k] /= C[i + i * m];
        }
        for (int64_t i = m - 1; i >= 0; i--) {
            for (int64_t j = i + 1; j < m; j++)
                E[i * t + k] -= C[j + i * m] * E[j * t + k];
            E[i * t + k] /= C[i + i * m];
        }
    }
}

/* The blocks of one small fold, pair by pair, for all lambdas: pairs x count. scratch: n numbers for each row and each
   pair. */
static void small_blocks(const turn *t, double *scratch, double *out) {
    const int64_t n = t->all->n, m = t->m, lambdas = t->count, pairs = m * (m + 1) / 2;
    double *rows = scratch, *products = scratch + SMALL * n, *next = products;
    for (int64_t a = 0; a < m; a++)
        for (int64_t j = 0; j < n; j++)
            rows[a * n + j] = t->U[j * n + t->rows[a]];
    for (int64_t b = 0; b < m; b++)
        for (int64_t a = b; a < m; a++, next += n)
            for (int64_t j = 0; j < n; j++)
                next[j] = rows[a * n + j] * rows[b * n + j];
    mc_gemm(1, mc_row_major(products, pairs, n, n), mc_row_major(t->H, n, lambdas, lambdas), 0,
            mc_row_major(out, pairs, lambdas, lambdas));
}

/* One small fold under one lambda, from what small_blocks gave. */
static double leave_small_out(const turn *t, const double *blocks, double *C, double *E) {
    const mc_leave_out *x = &t->all[t->l];
    const int64_t m = t->m;
    for (int64_t b = 0; b < m; b++)
        for (int64_t a = b; a < m; a++, blocks += t->count)
            C[a + b * m] = mc_leave_out_entry(x, blocks[t->l], t->rows[a], t->rows[b]);
    for (int64_t a = 0; a < m * x->outputs; a++)
        E[a] = mc_leave_out_beta(x, t->rows[a / x->outputs])[a % x->outputs];
    if (!factor_small_cholesky(m, C))
        return NAN;
    solve_small_cholesky(m, C, x->outputs, E);
    return keep_residuals(t, E);
}

static void leave_some_out(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk;
    turn t = *(const turn *)arg;
    double *scratch = t.workspace->threads + thread * t.workspace->thread,
           *blocks = scratch + (SMALL + PAIRS) * t.all->n;
    double *C = blocks + PAIRS * t.count, *E = C + SMALL * SMALL;
    for (int64_t fold = begin; fold < end; fold++) {
        const int64_t from = t.workspace->starts[fold];
        t.rows = t.by->order + from;
        t.m = mc_fold_end(t.by, from) - from;
        small_blocks(&t, scratch, blocks);
        for (t.l = 0; t.l < t.count; t.l++)
            t.workspace->each[fold * t.count + t.l] = leave_small_out(&t, blocks, C, E);
    }
}

/* ---- All folds ---- */

static mercer_status leave_folds_out(mercer_ctx *ctx, turn *t, double *squares) {
    int64_t small = 0;
    for (int64_t begin = 0, end; begin < t->by->n; begin = end) {
        end = mc_fold_end(t->by, begin);
        if (end - begin <= SMALL)
            t->workspace->starts[small++] = begin;
    }
    MC_TRY(mc_for(ctx, small, 1, leave_some_out, t));
    for (int64_t i = 0; i < small * t->count; i++)
        squares[i % t->count] += t->workspace->each[i];
    for (int64_t begin = 0, end; begin < t->by->n; begin = end) {
        end = mc_fold_end(t->by, begin);
        t->rows = t->by->order + begin;
        t->m = end - begin;
        for (t->l = 0; t->m > SMALL && t->l < t->count; t->l++)
            MC_TRY(leave_large_out(ctx, t, &squares[t->l]));
    }
    return MERCER_OK;
}

mercer_status mc_spectrum_leave_folds_out(mercer_ctx *ctx, const mc_fold_order *by, const mc_leave_out *x,
                                          const double *U, const double *H, int64_t count, double *left,
                                          double *squares) {
    mc_work work;
    MC_TRY(mc_work_open(ctx, &work, mc_spectrum_folds_bytes(ctx, by->n, by->largest, x->outputs, count)));
    const fold_workspace workspace = lay_out_folds(&work, ctx, by->n, by->largest, x->outputs, count);
    turn t = {.by = by, .workspace = &workspace, .all = x, .U = U, .H = H, .count = count, .left = left};
    for (int64_t l = 0; l < count; l++)
        squares[l] = 0;
    const mercer_status status = leave_folds_out(ctx, &t, squares);
    mc_work_close(&work);
    return status;
}
