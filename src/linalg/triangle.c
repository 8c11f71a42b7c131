/* triangle.c: solve and invert by halves. See triangle.h for the matrices.

   solve     x1 = L11^-1 x1;   x2 <- x2 - L21 x1;  x2 = L22^-1 x2          (transposed: from the bottom up)
   invert    L21 <- -L22^-1 L21 L11^-1;  then both halves

   The square part is cut into blocks whose size depends on nothing but its own and constants, each block is one call of
   BLAS on one thread, and no two blocks write to the same place: so the bits do not depend on the number of threads.
   Recursion in place of a row of panels makes the products long and leaves LAPACK only triangles that fit the cache. */
#include "linalg/triangle.h"
#include "base/ctx.h"
#include "base/extremes.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "base/status.h"
#include "data/table/data.h"
#include "linalg/dense_ops.h"

enum {
    LEAF = 256,  /* triangles up to this order go to LAPACK */
    BLOCK = 128, /* and up to this to BLAS */
    STRIP = 256, /* columns of a panel that one call solves for, at most */
    TILE = 384   /* side of a block of the symmetric update, at most */
};

/* The second triangle of the packed format stands above the diagonal, transposed: it lies by rows. */
static mc_halves split_packed(mc_dense L) {
    const int64_t n = L.rows, odd = n % 2, n2 = n / 2, n1 = n - n2, ld = n + 1 - odd;
    const int64_t size = (int64_t)mc_dtype_size(L.dtype);
    mc_dense first = L;
    first.layout = MC_COLUMN_MAJOR;
    first.ld = ld;
    first.a = (char *)L.a + (1 - odd) * size;
    mc_dense second = first;
    second.layout = MC_ROW_MAJOR;
    second.a = (char *)L.a + odd * ld * size;
    return (mc_halves){mc_submatrix(first, 0, 0, n1, n1), mc_submatrix(second, 0, 0, n2, n2),
                       mc_submatrix(first, n1, 0, n2, n1)};
}

/* On a device both triangles begin where a line of its memory does, and so do all columns: else products there take
   half as long again. */
static mc_halves split_aligned(mc_dense L) {
    const int64_t n = L.rows, n2 = n / 2, n1 = n - n2;
    mc_dense first = L;
    first.layout = MC_COLUMN_MAJOR;
    first.a = (void *)((uintptr_t)L.a + MC_DEVICE_LINE * mc_dtype_size(L.dtype));
    mc_dense second = L;
    second.layout = MC_ROW_MAJOR;
    return (mc_halves){mc_submatrix(first, 0, 0, n1, n1), mc_submatrix(second, 0, 0, n2, n2),
                       mc_submatrix(first, n1, 0, n2, n1)};
}

mc_halves mc_triangle_split(mc_dense L) {
    if (L.layout == MC_PACKED)
        return L.place == MC_DEVICE ? split_aligned(L) : split_packed(L);
    const int64_t n1 = (L.rows / 2 + LEAF - 1) / LEAF * LEAF, n2 = L.rows - n1;
    return (mc_halves){mc_submatrix(L, 0, 0, n1, n1), mc_submatrix(L, n1, n1, n2, n2), mc_submatrix(L, n1, 0, n2, n1)};
}

bool mc_triangle_is_leaf(mc_dense L) {
    return L.layout != MC_PACKED && L.rows <= LEAF;
}

int64_t mc_triangle_side(int64_t n, int64_t most) {
    const int64_t least = 128, quarter = (n / 4 + 63) / 64 * 64;
    return quarter < least ? least : quarter < most ? quarter : most;
}

/* Where the recursion stands in the work of the whole, so that progress rises with the operations done. */
typedef struct work_meter {
    double done, total;
} work_meter;

static void advance_progress(mercer_ctx *ctx, work_meter *work, double operations) {
    const double low = work->done / work->total;
    work->done += operations;
    mc_set_phase_span(ctx, low, work->done / work->total);
}

/* ---- B <- scale op(T)^-1 B, cut along the columns of B, which T does not touch ---- */

typedef struct panel {
    mc_dense T, B;
    bool transposed;
    double scale;
} panel;

/* C <- beta C - A B. */
static void subtract_product(mc_dense A, mc_dense B, double beta, mc_dense C) {
    if (C.columns == 1)
        mc_gemv(-1, A, B, beta, C);
    else
        mc_gemm(-1, A, B, beta, C);
}

/* B <- scale L^-1 B, or scale L^-T B. */
static void solve_triangle(double scale, mc_dense L, bool transposed, mc_dense B) {
    if (B.columns == 1 && scale == 1)
        mc_trsv(L, transposed, B);
    else
        mc_trsm(scale, L, transposed, B);
}

/* Rows [j, j + width) of the unknowns: what the rows solved before them ([from, to)) take off, then the triangle on the
   diagonal. */
static void solve_block(const panel *p, mc_dense B, int64_t j, int64_t width, int64_t from, int64_t to) {
    const mc_dense own = mc_submatrix(B, j, 0, width, B.columns);
    const mc_dense block = p->transposed ? mc_transposed(mc_submatrix(p->T, from, j, to - from, width))
                                         : mc_submatrix(p->T, j, from, width, to - from);
    if (to > from)
        subtract_product(block, mc_submatrix(B, from, 0, to - from, B.columns), p->scale, own);
    solve_triangle(to > from ? 1 : p->scale, mc_submatrix(p->T, j, j, width, width), p->transposed, own);
}

/* Block by block, so that nearly all of it is products, which BLAS does faster than triangles. The first block is the
   one that depends on no other: the top, or for L' the bottom. */
static void solve_strip(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk, (void)thread;
    const panel *p = arg;
    const int64_t order = p->T.rows;
    const mc_dense B = mc_submatrix(p->B, 0, begin, order, end - begin);
    if (!p->transposed)
        for (int64_t j = 0; j < order; j += BLOCK)
            solve_block(p, B, j, mc_min_count(BLOCK, order - j), 0, j);
    else
        for (int64_t j = (order - 1) / BLOCK * BLOCK; j >= 0; j -= BLOCK) {
            const int64_t stop = mc_min_count(order, j + BLOCK);
            solve_block(p, B, j, stop - j, stop, order);
        }
}

static mercer_status solve_panel(mercer_ctx *ctx, double scale, mc_dense T, bool transposed, mc_dense B) {
    panel p = {T, B, transposed, scale};
    return T.rows ? mc_for(ctx, B.columns, mc_triangle_side(B.columns, STRIP), solve_strip, &p) : MERCER_OK;
}

/* ---- C <- C + alpha P P' ---- */

typedef struct update {
    double alpha;
    mc_dense P, C;
    int64_t side, tiles;
} update;

static void update_tile(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)begin, (void)end, (void)thread;
    const update *u = arg;
    int64_t column = 0, row = chunk; /* the tiles of the lower half, column by column */
    for (int64_t height = u->tiles; row >= height; height--, column++)
        row -= height;
    row += column;
    const int64_t i = u->side * row, j = u->side * column, k = u->P.columns;
    const int64_t m = mc_min_count(u->side, u->C.rows - i), n = mc_min_count(u->side, u->C.rows - j);
    const mc_dense C = mc_submatrix(u->C, i, j, m, n), P = mc_submatrix(u->P, i, 0, m, k);
    if (row == column)
        mc_syrk(u->alpha, P, 1, C);
    else
        mc_gemm(u->alpha, P, mc_transposed(mc_submatrix(u->P, j, 0, n, k)), 1, C);
}

mercer_status mc_parallel_syrk(mercer_ctx *ctx, double alpha, mc_dense P, mc_dense C) {
    const int64_t side = mc_triangle_side(C.rows, TILE);
    update u = {alpha, P, C, side, mc_chunk_count(C.rows, side)};
    return mc_for(ctx, u.tiles * (u.tiles + 1) / 2, 1, update_tile, &u);
}

/* ---- Solve ---- */

/* to <- to - A from, by blocks of rows. */
typedef struct substitution {
    mc_dense A, from, to;
} substitution;

static void subtract_product_rows(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk, (void)thread;
    const substitution *s = arg;
    const int64_t rows = end - begin;
    subtract_product(mc_submatrix(s->A, begin, 0, rows, s->A.columns), s->from, 1,
                     mc_submatrix(s->to, begin, 0, rows, s->to.columns));
}

static mercer_status solve_by_halves(mercer_ctx *ctx, mc_dense L, bool transposed, mc_dense X) {
    if (mc_triangle_is_leaf(L))
        return solve_panel(ctx, 1, L, transposed, X);
    const mc_halves h = mc_triangle_split(L);
    const int64_t n1 = h.first.rows;
    const mc_dense X1 = mc_submatrix(X, 0, 0, n1, X.columns), X2 = mc_submatrix(X, n1, 0, h.second.rows, X.columns);
    substitution s = {transposed ? mc_transposed(h.below) : h.below, transposed ? X2 : X1, transposed ? X1 : X2};
    MC_TRY(solve_by_halves(ctx, transposed ? h.second : h.first, transposed, s.from));
    MC_TRY(mc_for(ctx, s.to.rows, STRIP, subtract_product_rows, &s));
    return solve_by_halves(ctx, transposed ? h.first : h.second, transposed, s.to);
}

mercer_status mc_host_trtrs(mercer_ctx *ctx, mc_dense L, bool transposed, mc_dense X) {
    if (X.columns && mc_tiles_solve_suits(L, X))
        return mc_tiles_solve(ctx, L, transposed, X);
    return X.columns ? solve_by_halves(ctx, L, transposed, X) : MERCER_OK;
}

/* ---- Invert ---- */

static int64_t count_leaves(mc_dense L) {
    if (mc_triangle_is_leaf(L))
        return 1;
    const mc_halves h = mc_triangle_split(L);
    return count_leaves(h.first) + count_leaves(h.second);
}

static mc_dense leaf_at(mc_dense L, int64_t index) {
    while (!mc_triangle_is_leaf(L)) {
        const mc_halves h = mc_triangle_split(L);
        const int64_t before = count_leaves(h.first);
        L = index < before ? h.first : h.second;
        index -= index < before ? 0 : before;
    }
    return L;
}

static void invert_leaf(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)begin, (void)end, (void)thread;
    const mc_dense L = leaf_at(*(const mc_dense *)arg, chunk);
    mc_dense_ops_of(L)->trtri(L.layout == MC_ROW_MAJOR, L.rows, L.a, L.ld);
}

/* All but the leaves: the square parts need them as they are, so that they wait until the end and are then done at
   once. */
static mercer_status invert_squares(mercer_ctx *ctx, mc_dense L, work_meter *work) {
    if (mc_triangle_is_leaf(L))
        return MERCER_OK;
    const mc_halves h = mc_triangle_split(L);
    const double n1 = (double)h.first.rows, n2 = (double)h.second.rows;
    advance_progress(ctx, work, n1 * n2 * n2);
    MC_TRY(solve_panel(ctx, -1, h.second, false, h.below));
    advance_progress(ctx, work, n1 * n1 * n2);
    MC_TRY(solve_panel(ctx, 1, h.first, true, mc_transposed(h.below)));
    MC_TRY(invert_squares(ctx, h.first, work));
    return invert_squares(ctx, h.second, work);
}

mercer_status mc_host_trtri(mercer_ctx *ctx, mc_dense L) {
    const double n = (double)L.rows;
    work_meter work = {.total = n * n * n / 3 + 1};
    MC_TRY(invert_squares(ctx, L, &work));
    advance_progress(ctx, &work, work.total - work.done);
    return mc_for(ctx, count_leaves(L), 1, invert_leaf, &L);
}

/* ---- The whole inverse ---- */

/* The whole inverse of a factored matrix, A^-1 = L^-T L^-1, in the place of its factor.

   With T = L^-1 = [ T11 0; R T22 ] (triangle.c makes it), by halves:

       T'T = [ T11'T11 + R'R     .      ]
             [ T22'R          T22'T22   ]

   The square parts are cut into blocks, one BLAS call on one thread each, as in triangle.c. */

enum { INVERSE_STRIP = 128 };

/* Columns of R <- T22' R. */
static void multiply_strip(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk, (void)thread;
    const mc_halves *h = arg;
    mc_trmm(1, h->second, true, mc_submatrix(h->below, 0, begin, h->below.rows, end - begin));
}

/* T -> T'T, the lower half. */
static mercer_status square_by_halves(mercer_ctx *ctx, mc_dense T) {
    if (mc_triangle_is_leaf(T)) {
        mc_dense_ops_of(T)->lauum(T.layout == MC_ROW_MAJOR, T.rows, T.a, T.ld);
        return ctx->stop;
    }
    mc_halves h = mc_triangle_split(T);
    MC_TRY(square_by_halves(ctx, h.first));
    MC_TRY(mc_parallel_syrk(ctx, 1, mc_transposed(h.below), h.first));
    MC_TRY(mc_for(ctx, h.first.rows, INVERSE_STRIP, multiply_strip, &h));
    return square_by_halves(ctx, h.second);
}

mercer_status mc_host_potri(mercer_ctx *ctx, mc_dense L) {
    MC_TRY(mc_host_trtri(ctx, L));
    return square_by_halves(ctx, L);
}
