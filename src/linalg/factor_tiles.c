/* factor_tiles.c: the Cholesky factor by tiles, column of tiles after column, and what it solves for a few columns:

       A_IJ <- A_IJ - sum over k < J of L_Ik L_Jk';   L_JJ = chol(A_JJ);   L_IJ = A_IJ L_JJ^-T
       x_I <- L_II^-1 (x_I - sum over k < I of L_Ik x_k), and from the bottom up with L'

   A task has one tile, and waits for those it reads, which are earlier in its row and in that of its column: tasks are
   handed out in order, so that waiting cannot lock up, and nobody waits for a whole column. Sums are over the same runs
   of columns whoever waits, so the bits do not depend on the number of threads. */
#include "base/ctx.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/status.h"
#include "linalg/dense_ops.h"
#include "linalg/triangle.h"
#include <sched.h>
#include <stdatomic.h>

enum {
    FEW = 512, /* rows that one tile or two have: below, one thread is as fast */
    LEAST_SIDE = 128,
    MOST_SIDE = 256,
    SHARE = 16, /* tiles to a side, where these limits allow that */
    RUN = 1024, /* columns of a product, at most */
    FEW_COLUMNS = 4,
    LEAST_TO_SOLVE = 1024
};

typedef struct tiled {
    mc_dense A;
    mc_halves h;           /* of a packed matrix */
    int64_t first, second; /* rows and tiles' side in either part; a matrix that is not packed is all first */
    int64_t side, split;   /* split: tiles of the first part */
    int64_t tiles;
    unsigned subnormals; /* how the calling thread takes them: so do small triangles, whoever factors them */
    atomic_llong *done;  /* tiles of each row that are there */
    atomic_llong broken; /* 1 + the order at which it is not positive; 0: none yet */
} tiled;

static int64_t least_of(int64_t a, int64_t b) {
    return a < b ? a : b;
}

static int64_t tile_begin(const tiled *t, int64_t I) {
    return I < t->split ? I * t->side : I == t->tiles ? t->first + t->second : t->first + (I - t->split) * t->side;
}

static int64_t tile_end(const tiled *t, int64_t I) {
    return I < t->split ? least_of(t->first, (I + 1) * t->side)
                        : least_of(t->first + t->second, t->first + (I + 1 - t->split) * t->side);
}

/* The tiles of row I in columns [from, to), which are of one part. */
static mc_dense tiles_of_row(const tiled *t, int64_t I, int64_t from, int64_t to) {
    const int64_t i = tile_begin(t, I), j = tile_begin(t, from), rows = tile_end(t, I) - i,
                  columns = tile_end(t, to - 1) - j, n1 = t->first;
    if (t->A.layout != MC_PACKED)
        return mc_submatrix(t->A, i, j, rows, columns);
    if (from >= t->split)
        return mc_submatrix(t->h.second, i - n1, j - n1, rows, columns);
    return I < t->split ? mc_submatrix(t->h.first, i, j, rows, columns)
                        : mc_submatrix(t->h.below, i - n1, j, rows, columns);
}

static void await_tile(const tiled *t, int64_t I, int64_t J) {
    while (atomic_load_explicit(&t->done[I], memory_order_acquire) <= J)
        sched_yield();
}

/* Where the run of columns from k on ends: at the border of the parts, and before the last column, which is there last.
   */
static int64_t end_of_run(const tiled *t, int64_t k, int64_t J) {
    const int64_t most = k + RUN / t->side, border = k < t->split ? least_of(t->split, J) : J;
    return least_of(most, k < J - 1 ? least_of(border, J - 1) : border);
}

static void subtract_products(const tiled *t, int64_t I, int64_t J, mc_dense C) {
    for (int64_t k = 0, end; k < J; k = end) {
        end = end_of_run(t, k, J);
        await_tile(t, I, end - 1);
        await_tile(t, J, end - 1);
        if (I == J)
            mc_syrk(-1, tiles_of_row(t, J, k, end), 1, C);
        else
            mc_gemm(-1, tiles_of_row(t, I, k, end), mc_transposed(tiles_of_row(t, J, k, end)), 1, C);
    }
}

static void factor_diagonal(tiled *t, int64_t J, mc_dense C) {
    const unsigned own = mc_keep_subnormals();
    mc_restore_subnormals(t->subnormals);
    const int64_t bad = mc_dense_ops_of(C)->potrf(C.layout == MC_ROW_MAJOR, C.rows, C.a, C.ld);
    mc_restore_subnormals(own);
    if (bad)
        atomic_store(&t->broken, tile_begin(t, J) + bad);
}

static void compute_tile(tiled *t, int64_t I, int64_t J) {
    const mc_dense C = tiles_of_row(t, I, J, J + 1);
    subtract_products(t, I, J, C);
    if (I > J)
        await_tile(t, J, J);
    if (atomic_load(&t->broken))
        return;
    if (I == J)
        factor_diagonal(t, J, C);
    else if (C.rows == 1) /* by quotients: an inverse of the diagonal may overflow */
        mc_trsv(tiles_of_row(t, J, J, J + 1), false, mc_transposed(C));
    else
        mc_trsm(1, tiles_of_row(t, J, J, J + 1), false, mc_transposed(C));
}

static void factor_tile(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)begin, (void)end, (void)thread;
    tiled *t = arg;
    int64_t J = 0, I = chunk;
    for (int64_t height = t->tiles; I >= height; height--, J++)
        I -= height;
    I += J;
    if (!atomic_load(&t->broken))
        compute_tile(t, I, J);
    atomic_store_explicit(&t->done[I], J + 1, memory_order_release);
}

/* Tiles of a part are as large as each other, but for the last, in whole lines of the cache. */
static int64_t even_side(int64_t rows, int64_t most) {
    const int64_t count = rows > 0 ? mc_chunk_count(rows, most) : 1;
    return (rows / count + 8) / 8 * 8;
}

static void cut_into_tiles(tiled *t) {
    const int64_t n = t->A.rows, wanted = n > FEW ? least_of(n / SHARE, MOST_SIDE) : MOST_SIDE;
    t->first = n;
    if (t->A.layout == MC_PACKED) {
        t->h = mc_triangle_split(t->A);
        t->first = t->h.first.rows;
        t->second = t->h.second.rows;
    }
    t->side = even_side(t->first, wanted < LEAST_SIDE ? LEAST_SIDE : wanted);
    t->split = mc_chunk_count(t->first, t->side);
    t->tiles = t->split + mc_chunk_count(t->second, t->side);
}

mercer_status mc_host_potrf(mercer_ctx *ctx, mc_dense A, int64_t *bad) {
    tiled t = {.A = A, .subnormals = mc_keep_subnormals()};
    mc_restore_subnormals(t.subnormals);
    *bad = 0;
    cut_into_tiles(&t);
    MC_TRY(MC_ALLOC(ctx, t.done, t.tiles));
    const mercer_status status = mc_for(ctx, t.tiles * (t.tiles + 1) / 2, 1, factor_tile, &t);
    *bad = atomic_load(&t.broken);
    mc_free(t.done);
    return status;
}

/* ---- A few columns ---- */

typedef struct tiled_solve {
    tiled t;
    mc_dense X;
    bool transposed;
    atomic_bool *solved; /* a block of rows of X */
} tiled_solve;

static mc_dense rows_of_tile(const tiled_solve *s, int64_t from, int64_t to, int64_t column) {
    const int64_t i = tile_begin(&s->t, from);
    return mc_submatrix(s->X, i, column, tile_end(&s->t, to - 1) - i, 1);
}

static void subtract_tile(const tiled_solve *s, int64_t I, mc_dense L, int64_t from, int64_t to) {
    for (int64_t k = from; k < to; k++)
        while (!atomic_load_explicit(&s->solved[k], memory_order_acquire))
            sched_yield();
    for (int64_t c = 0; c < s->X.columns; c++)
        mc_gemv(-1, L, rows_of_tile(s, from, to, c), 1, rows_of_tile(s, I, I + 1, c));
}

static void solve_tile(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)begin, (void)end, (void)thread;
    const tiled_solve *s = arg;
    const tiled *t = &s->t;
    const int64_t I = s->transposed ? t->tiles - 1 - chunk : chunk;
    for (int64_t k = 0, next; !s->transposed && k < I; k = next) {
        next = end_of_run(t, k, I);
        subtract_tile(s, I, tiles_of_row(t, I, k, next), k, next);
    }
    for (int64_t k = t->tiles - 1; s->transposed && k > I; k--)
        subtract_tile(s, I, mc_transposed(tiles_of_row(t, k, I, I + 1)), k, k + 1);
    for (int64_t c = 0; c < s->X.columns; c++)
        mc_trsv(tiles_of_row(t, I, I, I + 1), s->transposed, rows_of_tile(s, I, I + 1, c));
    atomic_store_explicit(&s->solved[I], true, memory_order_release);
}

bool mc_tiles_solve_suits(mc_dense L, mc_dense X) {
    return L.rows > LEAST_TO_SOLVE && X.columns <= FEW_COLUMNS;
}

mercer_status mc_tiles_solve(mercer_ctx *ctx, mc_dense L, bool transposed, mc_dense X) {
    tiled_solve s = {.t = {.A = L}, .X = X, .transposed = transposed};
    cut_into_tiles(&s.t);
    MC_TRY(MC_ALLOC(ctx, s.solved, s.t.tiles));
    const mercer_status status = mc_for(ctx, s.t.tiles, 1, solve_tile, &s);
    mc_free(s.solved);
    return status;
}
