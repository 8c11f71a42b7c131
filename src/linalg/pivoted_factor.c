/* pivoted_factor.c: P'A P = L L' with the largest remaining diagonal entry first, on all threads. LAPACK's dpstrf works
   on one, and its n^3/3 operations were all that a fit on landmarks, or gram --factor, did not share.

   By panels of WIDTH columns, as there (Hammarling, Higham and Lucas 2007):

       for every column j of a panel, whose first column is k:
           left_i = A_ii - sum_k..j-1 L_ic^2;  the row with the largest comes to place j;  stop when that is at most the
           tolerance
           L_jj = left_j^1/2;  L_ij = (A_ij - L_ik..j-1 L_jk..j-1') / L_jj
       C <- C - P P' for what is below and right of the panel

   Rows are cut by constants alone: the bits do not depend on the number of threads. */
#include "base/extremes.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "base/status.h"
#include "linalg/dense.h"
#include <math.h>

enum {
    WIDTH = 64, /* columns of a panel */
    ROWS = 512  /* of a column that a thread takes at a time */
};

typedef struct pivoting {
    mc_dense A;
    double *a;
    int64_t n, across, down; /* steps from column to column and from row to row */
    double *taken, *left;    /* of the diagonal: squares of the panel's columns, and what is left */
    int64_t *pivots;
    int64_t first, j; /* columns: the panel's first, and the one being made */
} pivoting;

static double *entry_of(const pivoting *p, int64_t i, int64_t j) {
    return p->a + i * p->down + j * p->across;
}

static void swap_numbers(double *x, double *y, int64_t count, int64_t x_step, int64_t y_step) {
    for (int64_t k = 0; k < count; k++) {
        const double kept = x[k * x_step];
        x[k * x_step] = y[k * y_step];
        y[k * y_step] = kept;
    }
}

/* What the column before took off the diagonal; the row with the largest remainder, the first of several. A NaN
   at j stays: nothing is larger, and the factor ends there. */
static int64_t find_pivot(pivoting *p) {
    int64_t best = p->j;
    for (int64_t i = p->j; i < p->n; i++) {
        const double last = p->j > p->first ? *entry_of(p, i, p->j - 1) : 0;
        p->taken[i] += last * last;
        p->left[i] = *entry_of(p, i, i) - p->taken[i];
        if (p->left[i] > p->left[best])
            best = i;
    }
    return best;
}

/* Rows and columns j and q > j of the lower half change places. */
static void swap_rows(pivoting *p, int64_t q) {
    const int64_t j = p->j;
    swap_numbers(entry_of(p, j, 0), entry_of(p, q, 0), j, p->across, p->across);
    *entry_of(p, q, q) = *entry_of(p, j, j); /* column j is made from what is left, not from its diagonal */
    swap_numbers(entry_of(p, j + 1, j), entry_of(p, q, j + 1), q - j - 1, p->down, p->across);
    if (q + 1 < p->n)
        swap_numbers(entry_of(p, q + 1, j), entry_of(p, q + 1, q), p->n - q - 1, p->down, p->down);
    swap_numbers(&p->taken[j], &p->taken[q], 1, 1, 1);
    swap_numbers(&p->left[j], &p->left[q], 1, 1, 1);
    const int64_t row = p->pivots[j];
    p->pivots[j] = p->pivots[q];
    p->pivots[q] = row;
}

/* Rows of column j below its diagonal. */
static void finish_rows(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk, (void)thread;
    const pivoting *p = arg;
    const int64_t below = p->j + 1, before = p->j - p->first, rows = end - begin;
    const mc_dense column = mc_submatrix(p->A, below + begin, p->j, rows, 1);
    if (before)
        mc_gemv(-1, mc_submatrix(p->A, below + begin, p->first, rows, before),
                mc_transposed(mc_submatrix(p->A, p->j, p->first, 1, before)), 1, column);
    const double root = *entry_of(p, p->j, p->j);
    for (int64_t i = below + begin; i < below + end; i++)
        *entry_of(p, i, p->j) /= root;
}

/* Column j; *done: nothing is left that is more than the tolerance. */
static mercer_status make_column(mercer_ctx *ctx, pivoting *p, double tolerance, bool *done) {
    const int64_t q = find_pivot(p);
    *done = !(p->left[q] > tolerance);
    if (*done)
        return MERCER_OK;
    if (q > p->j)
        swap_rows(p, q);
    *entry_of(p, p->j, p->j) = sqrt(p->left[p->j]);
    return mc_for(ctx, p->n - p->j - 1, ROWS, finish_rows, p);
}

static mercer_status make_panel(mercer_ctx *ctx, pivoting *p, double tolerance, bool *done) {
    const int64_t end = mc_min_count(p->first + WIDTH, p->n), rest = p->n - end;
    for (int64_t i = p->first; i < p->n; i++)
        p->taken[i] = 0;
    for (p->j = p->first; p->j < end && !*done; p->j += !*done)
        MC_TRY(make_column(ctx, p, tolerance, done));
    if (*done || rest == 0)
        return MERCER_OK;
    MC_TRY(mc_parallel_syrk(ctx, -1, mc_submatrix(p->A, end, p->first, rest, end - p->first),
                            mc_submatrix(p->A, end, end, rest, rest)));
    return mc_report_progress(ctx, -1);
}

mercer_status mc_pstrf(mercer_ctx *ctx, mc_dense A, double tolerance, int64_t *pivots, int64_t *rank) {
    if (A.layout == MC_PACKED || A.dtype != MERCER_F64)
        return mc_fail(ctx, MERCER_INVALID, "pstrf: the matrix must be a square in double precision");
    const bool by_columns = A.layout == MC_COLUMN_MAJOR;
    pivoting p = {.A = A, .a = A.a, .n = A.rows, .pivots = pivots};
    p.across = by_columns ? A.ld : 1;
    p.down = by_columns ? 1 : A.ld;
    MC_TRY(MC_ALLOC(ctx, p.taken, 2 * p.n));
    p.left = p.taken + p.n;
    for (int64_t i = 0; i < p.n; i++)
        pivots[i] = i;
    mercer_status status = MERCER_OK;
    bool done = false;
    for (; p.first < p.n && !done && !status; p.first += done ? 0 : WIDTH)
        status = make_panel(ctx, &p, tolerance, &done);
    *rank = done ? p.j : p.n;
    mc_free(p.taken);
    return status;
}
