/* ridge_path_folds.c: the residuals of a fold F left out are (C_FF)^-1 beta_F (ridge_folds.c), and here

       C_FF = U_F diag(h) U_F' - z_F z_F' / s'z,

   the product of the fold's rows of U, scaled by sqrt(h), with themselves: f^2 n operations for f rows, f^3 / 3 more to
   solve. All folds of one lambda cost n^3 / k, where refitting them costs about n^3 (k - 1)^3 / (3 k^2).

   Large folds come one after the other, each on all threads. Small ones are dealt out to the threads whole: which is
   which depends on the size of the fold alone, and the squares are added in the order of the folds. A small fold has
   few pairs of rows, and then the products U_aj U_bj of each pair, times the h_j of all lambdas at once, are C_FF for
   all of them. */
#include "learn/ridge/ridge_path_folds.h"
#include "base/ctx.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/status.h"
#include "linalg/cholesky.h"
#include <math.h>
#include <string.h>

/* SMALL: rows of the largest small fold */
enum { TILE = 128, ROWS = 32, SMALL = 16, PAIRS = SMALL * (SMALL + 1) / 2, BLOCKS = 7 };

/* Numbers that a thread needs for a small fold: its rows, their products, C_FF for all lambdas and for one, and the
   residuals. */
static int64_t room_of(int64_t n, int64_t outputs, int64_t count) {
    return SMALL * n + PAIRS * (n + count) + SMALL * (SMALL + outputs);
}

static void sizes_of(const mercer_ctx *ctx, int64_t n, int64_t largest, int64_t outputs, int64_t count,
                     int64_t sizes[BLOCKS]) {
    const int64_t m = largest > SMALL ? largest : 0;
    const int64_t all[BLOCKS] = {
        m * n,    m * n, m * m, mc_packed_count(m), m * outputs, mercer_threads(ctx) * room_of(n, outputs, count),
        n * count};
    memcpy(sizes, all, sizeof all);
}

size_t mc_path_folds_bytes(const mercer_ctx *ctx, int64_t n, int64_t largest, int64_t outputs, int64_t count) {
    int64_t sizes[BLOCKS], sum = n;
    sizes_of(ctx, n, largest, outputs, count, sizes);
    for (int i = 0; i < BLOCKS; i++)
        sum += sizes[i];
    return (size_t)sum * sizeof(double) + (BLOCKS + 1) * 2 * MC_ALIGN;
}

mercer_status mc_path_folds_open(mercer_ctx *ctx, int64_t count, mc_path_folds *f) {
    double **all[BLOCKS] = {&f->rows, &f->scaled, &f->C, &f->part, &f->E, &f->room, &f->each};
    int64_t sizes[BLOCKS];
    f->count = count;
    sizes_of(ctx, f->by->n, f->by->largest, f->outputs, count, sizes);
    for (int i = 0; i < BLOCKS; i++)
        if (!(*all[i] = mc_alloc_unset(ctx, sizes[i], sizeof **all[i])))
            return MERCER_MEMORY;
    return MC_ALLOC(ctx, f->starts, f->by->n);
}

void mc_path_folds_close(mc_path_folds *f) {
    double *all[BLOCKS] = {f->rows, f->scaled, f->C, f->part, f->E, f->room, f->each};
    for (int i = 0; i < BLOCKS; i++)
        mc_free(all[i]);
    mc_free(f->starts);
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
    const int64_t rows = t->m - i < TILE ? t->m - i : TILE, columns = t->m - j < TILE ? t->m - j : TILE;
    mc_gemm(1, mc_row_major(t->f->scaled + i * n, rows, n, n), mc_column_major(t->f->scaled + j * n, n, columns, n), 0,
            mc_column_major(t->f->C + i + j * t->m, rows, columns, t->m));
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

/* E: S (y - f - b) of the fold. */
static void keep_residuals(const turn *t, const double *E) {
    const mc_path_folds *f = t->f;
    for (int64_t a = 0; f->left && a < t->m; a++)
        for (int64_t k = 0; k < f->outputs; k++)
            f->left[(t->l * f->by->n + t->rows[a]) * f->outputs + k] =
                E[a * f->outputs + k] / (f->root ? f->root[t->rows[a]] : 1);
}

/* The squares of the scaled residuals S (y - f - b) are those of the residuals times the weights. */
static mercer_status leave_out(mercer_ctx *ctx, turn *t, double *squares) {
    int64_t bad = 0;
    t->tiles = mc_chunks(t->m, TILE);
    t->g = sum_z(t);
    MC_TRY(mc_for(ctx, t->m, ROWS, scale_rows, t));
    MC_TRY(mc_for(ctx, t->tiles * (t->tiles + 1) / 2, 1, multiply_tile, t));
    assemble(t);
    MC_TRY(mc_potrf(ctx, mc_packed(t->m, t->f->part), &bad));
    if (bad) {
        *squares = NAN;
        return MERCER_OK;
    }
    MC_TRY(mc_potrs(ctx, mc_packed(t->m, t->f->part), mc_row_major(t->f->E, t->m, t->f->outputs, t->f->outputs)));
    for (int64_t i = 0; i < t->m * t->f->outputs; i++)
        *squares += t->f->E[i] * t->f->E[i];
    keep_residuals(t, t->f->E);
    return MERCER_OK;
}

/* ---- Small folds ---- */

typedef struct small {
    const mc_path_folds *f;
    const double *U, *H, *back;
    int64_t count, most; /* lambdas, and what there is room for */
    const double *g;     /* count: s'z */
} small;

/* In place, C lower and column-major; false: not positive definite. */
static bool factor(int64_t m, double *C) {
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

/* E <- C^-1 E, m x t, and the sum of its squares. */
static double solve(int64_t m, const double *C, int64_t t, double *E) {
    double sum = 0;
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
            sum += E[i * t + k] * E[i * t + k];
        }
    }
    return sum;
}

/* C_FF of one small fold, pair by pair, for all lambdas: pairs x count. room: n numbers for each row and each pair. */
static void small_inverses(const turn *t, double *room, double *out) {
    const int64_t n = t->f->by->n, m = t->m;
    double *rows = room, *products = room + SMALL * n, *next = products;
    for (int64_t a = 0; a < m; a++)
        for (int64_t j = 0; j < n; j++)
            rows[a * n + j] = t->U[j * n + t->rows[a]];
    for (int64_t b = 0; b < m; b++)
        for (int64_t a = b; a < m; a++, next += n)
            for (int64_t j = 0; j < n; j++)
                next[j] = rows[a * n + j] * rows[b * n + j];
    const int64_t lambdas = t->count, pairs = m * (m + 1) / 2;
    mc_gemm(1, mc_row_major(products, pairs, n, n), mc_row_major(t->H, n, lambdas, lambdas), 0,
            mc_row_major(out, pairs, lambdas, lambdas));
}

/* One small fold under one lambda, from what small_inverses gave. */
static double leave_small_out(const turn *t, const double *inverses, double *C, double *E) {
    const int64_t m = t->m, outputs = t->f->outputs;
    for (int64_t b = 0; b < m; b++) {
        for (int64_t a = b; a < m; a++, inverses += t->count) {
            const double moved = t->f->intercept ? z_at(t, t->rows[a]) * z_at(t, t->rows[b]) / t->g : 0;
            C[a + b * m] = inverses[t->l] - moved;
        }
        for (int64_t k = 0; k < outputs; k++)
            E[b * outputs + k] = back_at(t, t->rows[b])[k];
    }
    const double squares = factor(m, C) ? solve(m, C, outputs, E) : NAN;
    keep_residuals(t, E);
    return squares;
}

static void leave_some_out(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk;
    const small *s = arg;
    const mc_path_folds *f = s->f;
    double *room = f->room + thread * room_of(f->by->n, f->outputs, s->most),
           *inverses = room + (SMALL + PAIRS) * f->by->n;
    double *C = inverses + PAIRS * s->most, *E = C + SMALL * SMALL;
    for (int64_t fold = begin; fold < end; fold++) {
        const int64_t from = f->starts[fold], m = mc_fold_end(f->by, from) - from;
        turn t = {
            .f = f, .U = s->U, .H = s->H, .back = s->back, .rows = f->by->order + from, .m = m, .count = s->count};
        small_inverses(&t, room, inverses);
        for (t.l = 0; t.l < s->count; t.l++) {
            t.g = s->g[t.l];
            f->each[fold * s->count + t.l] = leave_small_out(&t, inverses, C, E);
        }
    }
}

static mercer_status leave_small_ones_out(mercer_ctx *ctx, small *s, double *squares) {
    const mc_path_folds *f = s->f;
    int64_t folds = 0;
    for (int64_t begin = 0, end; begin < f->by->n; begin = end) {
        end = mc_fold_end(f->by, begin);
        if (end - begin <= SMALL)
            f->starts[folds++] = begin;
    }
    double *g = NULL;
    MC_TRY(MC_ALLOC(ctx, g, s->count));
    turn t = {.f = f, .back = s->back, .count = s->count};
    for (t.l = 0; t.l < s->count; t.l++)
        g[t.l] = sum_z(&t);
    s->g = g;
    const mercer_status status = mc_for(ctx, folds, 1, leave_some_out, s);
    for (int64_t i = 0; i < folds * s->count && !status; i++)
        squares[i % s->count] += f->each[i];
    mc_free(g);
    return status;
}

mercer_status mc_path_folds_errors(mercer_ctx *ctx, const mc_path_folds *f, const double *U, const double *H,
                                   const double *back, int64_t count, double *squares) {
    small s = {.f = f, .U = U, .H = H, .back = back, .count = count, .most = f->count};
    for (int64_t l = 0; l < count; l++)
        squares[l] = 0;
    MC_TRY(leave_small_ones_out(ctx, &s, squares));
    for (int64_t begin = 0, end; begin < f->by->n; begin = end) {
        end = mc_fold_end(f->by, begin);
        turn t = {.f = f, .U = U, .H = H, .back = back, .rows = f->by->order + begin, .m = end - begin, .count = count};
        if (t.m <= SMALL)
            continue;
        MC_TRY(mc_for(ctx, f->by->n, ROWS, gather_rows, &t));
        for (t.l = 0; t.l < count; t.l++)
            MC_TRY(leave_out(ctx, &t, &squares[t.l]));
    }
    return MERCER_OK;
}
