/* inverse.c: the whole inverse of a factored matrix, A^-1 = L^-T L^-1, in the place of its factor.

   With T = L^-1 = [ T11 0; R T22 ] (triangle.c makes it), by halves:

       T'T = [ T11'T11 + R'R     .      ]
             [ T22'R          T22'T22   ]

   The square parts are cut into blocks, one BLAS call on one thread each, as in triangle.c. */
#include "backend/blas.h"
#include "base/ctx.h"
#include "base/parallel.h"
#include "base/status.h"
#include "linalg/cholesky.h"
#include "linalg/triangle.h"

enum { LEAF = 256, STRIP = 128, TILE = 384 };

typedef struct square_part {
    mc_halves h;
    int64_t side, tiles;
} square_part;

/* One block of T11'T11 += R'R. */
static void add_tile(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)begin;
    (void)end;
    (void)thread;
    const square_part *s = arg;
    const mc_triangle c = s->h.first;
    int64_t column = 0, row = chunk; /* the tiles of the lower half, column by column */
    for (int64_t height = s->tiles; row >= height; height--, column++)
        row -= height;
    row += column;
    const bool flip = c.layout == MC_UPPER;
    const int64_t i = s->side * (flip ? column : row), j = s->side * (flip ? row : column),
                  step = s->h.transposed ? 1 : s->h.ld;
    const int m = (int)(c.n - i < s->side ? c.n - i : s->side), n = (int)(c.n - j < s->side ? c.n - j : s->side);
    const int k = (int)s->h.second.n, ld = (int)s->h.ld, ldc = (int)c.ld;
    const double one = 1, *R = s->h.below;
    const char *first = s->h.transposed ? "N" : "T", *second = s->h.transposed ? "T" : "N";
    if (i == j)
        dsyrk_(flip ? "U" : "L", first, &m, &k, &one, R + i * step, &ld, &one, c.a + i + i * c.ld, &ldc, 1, 1);
    else
        dgemm_(first, second, &m, &n, &k, &one, R + i * step, &ld, R + j * step, &ld, &one, c.a + i + j * c.ld, &ldc, 1,
               1);
}

/* A strip of R <- T22' R; stored transposed it is R' <- R' T22. */
static void multiply_strip(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk;
    (void)thread;
    const square_part *s = arg;
    const mc_triangle t = s->h.second;
    const bool upper = t.layout == MC_UPPER, right = s->h.transposed;
    const int m = (int)(right ? end - begin : t.n), n = (int)(right ? t.n : end - begin), lda = (int)t.ld,
              ld = (int)s->h.ld;
    const double one = 1;
    dtrmm_(right ? "R" : "L", upper ? "U" : "L", upper == right ? "T" : "N", "N", &m, &n, &one, t.a, &lda,
           s->h.below + (right ? begin : begin * s->h.ld), &ld, 1, 1, 1, 1);
}

/* T -> T'T, the lower half. */
static mercer_status square(mercer_ctx *ctx, mc_triangle t) {
    if (t.layout != MC_PACKED && t.n <= LEAF) {
        const int n = (int)t.n, ld = (int)t.ld;
        int info = 0; /* only a wrong argument sets it */
        dlauum_(t.layout == MC_UPPER ? "U" : "L", &n, t.a, &ld, &info, 1);
        return ctx->stop;
    }
    square_part s = {.h = mc_triangle_split(t)};
    s.side = mc_triangle_side(s.h.first.n, TILE);
    s.tiles = mc_chunks(s.h.first.n, s.side);
    MC_TRY(square(ctx, s.h.first));
    MC_TRY(mc_for(ctx, s.tiles * (s.tiles + 1) / 2, 1, add_tile, &s));
    MC_TRY(mc_for(ctx, s.h.first.n, STRIP, multiply_strip, &s));
    return square(ctx, s.h.second);
}

mercer_status mc_cholesky_inverse(mercer_ctx *ctx, int64_t n, double *L) {
    const mc_triangle t = {.a = L, .n = n, .layout = MC_PACKED};
    MC_TRY(mc_triangle_invert(ctx, t));
    const mc_region region = mc_blas_begin();
    const mercer_status status = square(ctx, t);
    mc_blas_end(region);
    return status;
}
