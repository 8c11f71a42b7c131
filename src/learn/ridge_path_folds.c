/* ridge_path_folds.c: the residuals of a fold F left out are (C_FF)^-1 beta_F (ridge_folds.c), and here

       C_FF = U_F diag(h) U_F' - z_F z_F' / s'z,

   the product of the fold's rows of U, scaled by sqrt(h), with themselves: f^2 n operations for f rows, f^3 / 3 more to solve. All folds of
   one lambda cost n^3 / k, where refitting them costs about n^3 (k - 1)^3 / (3 k^2). */
#include "learn/ridge_path_folds.h"
#include "backend/blas.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/status.h"
#include "solve/cholesky.h"
#include <math.h>

enum { TILE = 128, ROWS = 32 };

size_t mc_path_folds_bytes(int64_t n, int64_t largest, int64_t outputs) {
    return (size_t)(2 * largest * n + largest * largest + mc_packed_count(largest) + largest * outputs) * sizeof(double)
           + 5 * 2 * MC_ALIGN;
}

mercer_status mc_path_folds_open(mercer_ctx *ctx, mc_path_folds *f) {
    const int64_t n = f->by->n, m = f->by->largest, sizes[] = {m * n, m * n, m * m, mc_packed_count(m), m * f->outputs};
    double **all[] = {&f->rows, &f->scaled, &f->C, &f->part, &f->E};
    for (int i = 0; i < 5; i++)
        if (!(*all[i] = mc_alloc_unset(ctx, sizes[i], sizeof **all[i])))
            return MERCER_MEMORY;
    return MERCER_OK;
}

void mc_path_folds_close(mc_path_folds *f) {
    double *all[] = {f->rows, f->scaled, f->C, f->part, f->E};
    for (int i = 0; i < 5; i++)
        mc_free(all[i]);
}

/* One fold under one lambda. */
typedef struct turn {
    const mc_path_folds *f;
    const double *U, *H, *back;
    const int64_t *rows;
    int64_t m, l, count, tiles;
    double g; /* s'z */
} turn;

static void gather_rows(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk;
    (void)thread;
    const turn *t = arg;
    const int64_t n = t->f->by->n;
    for (int64_t j = begin; j < end; j++)
        for (int64_t a = 0; a < t->m; a++)
            t->f->rows[a * n + j] = t->U[j * n + t->rows[a]];
}

static void scale_rows(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk;
    (void)thread;
    const turn *t = arg;
    const int64_t n = t->f->by->n;
    for (int64_t j = 0; j < n; j++) {
        const double root = sqrt(t->H[j * t->count + t->l]);
        for (int64_t a = begin; a < end; a++)
            t->f->scaled[a * n + j] = t->f->rows[a * n + j] * root;
    }
}

/* The tiles of the lower half, column by column. */
static void multiply_tile(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)begin;
    (void)end;
    (void)thread;
    const turn *t = arg;
    int64_t column = 0, row = chunk;
    for (int64_t height = t->tiles; row >= height; height--, column++)
        row -= height;
    row += column;
    const int64_t i = TILE * row, j = TILE * column, n = t->f->by->n;
    const int rows = (int)(t->m - i < TILE ? t->m - i : TILE), columns = (int)(t->m - j < TILE ? t->m - j : TILE);
    const int depth = (int)n, ld = (int)t->m;
    const double one = 1, zero = 0;
    dgemm_("T", "N", &rows, &columns, &depth, &one, t->f->scaled + i * n, &depth, t->f->scaled + j * n, &depth, &zero,
           t->f->C + i + j * t->m, &ld, 1, 1);
}

static const double *back_at(const turn *t, int64_t row) {
    return t->back + (row * t->count + t->l) * t->f->columns;
}

static double z_at(const turn *t, int64_t row) {
    return t->f->intercept ? back_at(t, row)[t->f->outputs] : 0;
}

static double sum_z(const turn *t) {
    double sum = 0;
    for (int64_t i = 0; i < t->f->by->n && t->f->intercept; i++)
        sum += (t->f->root ? t->f->root[i] : 1) * z_at(t, i);
    return sum;
}

/* C_FF packed, and beta_F. */
static void assemble(const turn *t) {
    const mc_path_folds *f = t->f;
    for (int64_t b = 0; b < t->m; b++) {
        for (int64_t a = b; a < t->m; a++) {
            const double moved = f->intercept ? z_at(t, t->rows[a]) * z_at(t, t->rows[b]) / t->g : 0;
            f->part[mc_packed_place(t->m, a, b)] = f->C[a + b * t->m] - moved;
        }
        for (int64_t k = 0; k < f->outputs; k++)
            f->E[b * f->outputs + k] = back_at(t, t->rows[b])[k];
    }
}

/* The squares of the scaled residuals S (y - f - b) are those of the residuals times the weights. */
static mercer_status leave_out(mercer_ctx *ctx, turn *t, double *squares) {
    int64_t bad = 0;
    t->tiles = mc_chunks(t->m, TILE);
    t->g = sum_z(t);
    MC_TRY(mc_for(ctx, t->m, ROWS, scale_rows, t));
    const mc_region region = mc_blas_begin();
    const mercer_status status = mc_for(ctx, t->tiles * (t->tiles + 1) / 2, 1, multiply_tile, t);
    mc_blas_end(region);
    MC_TRY(status);
    assemble(t);
    MC_TRY(mc_cholesky_factor(ctx, t->m, t->f->part, &bad));
    if (bad) {
        *squares = NAN;
        return MERCER_OK;
    }
    MC_TRY(mc_cholesky_solve(ctx, t->m, t->f->part, t->f->outputs, t->f->E));
    for (int64_t i = 0; i < t->m * t->f->outputs; i++)
        *squares += t->f->E[i] * t->f->E[i];
    return MERCER_OK;
}

mercer_status mc_path_folds_errors(mercer_ctx *ctx, const mc_path_folds *f, const double *U, const double *H, const double *back,
                                   int64_t count, double *squares) {
    for (int64_t l = 0; l < count; l++)
        squares[l] = 0;
    for (int64_t begin = 0, end; begin < f->by->n; begin = end) {
        end = mc_fold_end(f->by, begin);
        turn t = {.f = f, .U = U, .H = H, .back = back, .rows = f->by->order + begin, .m = end - begin, .count = count};
        MC_TRY(mc_for(ctx, f->by->n, ROWS, gather_rows, &t));
        for (t.l = 0; t.l < count; t.l++)
            MC_TRY(leave_out(ctx, &t, &squares[t.l]));
    }
    return MERCER_OK;
}
