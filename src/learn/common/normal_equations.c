/* normal_equations.c: see normal_equations.h. The square is cut into tiles, one product of BLAS on one thread each;
   blocks of rows come one after the other, so that every entry is summed in the order of the rows. */
#include "learn/common/normal_equations.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/status.h"
#include "base/workspace.h"
#include "linalg/dense.h"

enum { TILE = 192 };

static void lay_out_equations(mc_work *work, void *self) {
    mc_normal_equations *s = self;
    s->G = mc_work_take(work, s->m * s->m, sizeof *s->G);
    s->C = mc_work_take(work, s->m * s->t, sizeof *s->C);
}

size_t mc_normal_bytes(int64_t m, int64_t t) {
    return mc_slices_bytes(lay_out_equations, &(mc_normal_equations){.m = m, .t = t}) + 2 * MC_ALIGN;
}

mercer_status mc_normal_open(mercer_ctx *ctx, int64_t m, int64_t t, mc_normal_equations *s) {
    *s = (mc_normal_equations){.m = m, .t = t};
    return mc_work_lay(ctx, &s->work, lay_out_equations, s);
}

void mc_normal_close(mc_normal_equations *s) {
    mc_work_close(&s->work);
    *s = (mc_normal_equations){0};
}

typedef struct row_block {
    const mc_normal_equations *s;
    int64_t rows, tiles;
    const double *Z, *R;
} row_block;

static int64_t tile_side(const mc_normal_equations *s, int64_t tile) {
    return s->m - tile * TILE < TILE ? s->m - tile * TILE : TILE;
}

static mc_dense square_of(const mc_normal_equations *s) {
    return mc_column_major(s->G, s->m, s->m, s->m);
}

/* Tiles of the lower half of G, then the strips of C. */
static void add_tile(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)begin, (void)end, (void)thread;
    const row_block *b = arg;
    const mc_normal_equations *s = b->s;
    const int64_t squares = b->tiles * (b->tiles + 1) / 2;
    const mc_dense Z = mc_row_major(b->Z, b->rows, s->m, s->m);
    if (chunk >= squares) {
        const int64_t i = chunk - squares;
        mc_gemm(1, mc_transposed(mc_submatrix(Z, 0, i * TILE, b->rows, tile_side(s, i))),
                mc_row_major(b->R, b->rows, s->t, s->t), 1,
                mc_row_major(s->C + i * TILE * s->t, tile_side(s, i), s->t, s->t));
        return;
    }
    int64_t i = 0, j = chunk;
    for (; j > i; i++)
        j -= i + 1;
    mc_gemm(1, mc_transposed(mc_submatrix(Z, 0, i * TILE, b->rows, tile_side(s, i))),
            mc_submatrix(Z, 0, j * TILE, b->rows, tile_side(s, j)), 1,
            mc_submatrix(square_of(s), i * TILE, j * TILE, tile_side(s, i), tile_side(s, j)));
}

mercer_status mc_normal_add(mercer_ctx *ctx, mc_normal_equations *s, int64_t rows, const double *Z, const double *R) {
    row_block b = {.s = s, .rows = rows, .tiles = mc_chunk_count(s->m, TILE), .Z = Z, .R = R};
    return mc_for(ctx, b.tiles * (b.tiles + 1) / 2 + (s->t ? b.tiles : 0), 1, add_tile, &b);
}

mercer_status mc_normal_factor(mercer_ctx *ctx, mc_normal_equations *s, double lambda) {
    for (int64_t i = 0; i < s->m; i++)
        s->G[i * (s->m + 1)] += lambda;
    int64_t bad = 0;
    MC_TRY(mc_potrf(ctx, square_of(s), &bad));
    return bad ? mc_fail(ctx, MERCER_NUMERIC,
                         "ridge: lambda is lost in the rounding of the normal equations; use a larger lambda")
               : MERCER_OK;
}

mercer_status mc_normal_solve(mercer_ctx *ctx, const mc_normal_equations *s, int64_t columns, double *X) {
    return mc_potrs(ctx, square_of(s), mc_row_major(X, s->m, columns, columns));
}
