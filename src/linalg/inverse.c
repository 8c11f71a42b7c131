/* inverse.c: the whole inverse of a factored matrix, A^-1 = L^-T L^-1, in the place of its factor.

   With T = L^-1 = [ T11 0; R T22 ] (triangle.c makes it), by halves:

       T'T = [ T11'T11 + R'R     .      ]
             [ T22'R          T22'T22   ]

   The square parts are cut into blocks, one BLAS call on one thread each, as in triangle.c. */
#include "base/ctx.h"
#include "base/parallel.h"
#include "base/status.h"
#include "linalg/dense_ops.h"
#include "linalg/triangle.h"

enum { STRIP = 128 };

/* Columns of R <- T22' R. */
static void multiply_strip(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk, (void)thread;
    const mc_halves *h = arg;
    mc_trmm(1, h->second, true, mc_part(h->below, 0, begin, h->below.rows, end - begin));
}

/* T -> T'T, the lower half. */
static mercer_status square(mercer_ctx *ctx, mc_dense T) {
    if (mc_triangle_is_leaf(T)) {
        mc_dense_ops_of(T)->lauum(T.layout == MC_ROW_MAJOR, T.rows, T.a, T.ld);
        return ctx->stop;
    }
    mc_halves h = mc_triangle_split(T);
    MC_TRY(square(ctx, h.first));
    MC_TRY(mc_triangle_update(ctx, 1, mc_transposed(h.below), h.first));
    MC_TRY(mc_for(ctx, h.first.rows, STRIP, multiply_strip, &h));
    return square(ctx, h.second);
}

mercer_status mc_potri(mercer_ctx *ctx, mc_dense L) {
    MC_TRY(mc_trtri(ctx, L));
    return square(ctx, L);
}
