/* triangle.c: factor, solve and invert by halves. See triangle.h for the matrices.

   factor    L11 = chol(A11);  L21 = A21 L11^-T;  A22 <- A22 - L21 L21';  L22 = chol(A22)
   solve     x1 = L11^-1 x1;   x2 <- x2 - L21 x1;  x2 = L22^-1 x2          (transposed: from the bottom up)
   invert    L21 <- -L22^-1 L21 L11^-1;  then both halves

   The square part is cut into blocks whose size depends on nothing but the constants below, each block is one call of
   BLAS on one thread, and no two blocks write to the same place: so the bits do not depend on the number of threads.
   Recursion in place of a row of panels makes the products long and leaves LAPACK only triangles that fit the cache. */
#include "solve/triangle.h"
#include "backend/blas.h"
#include "base/ctx.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "base/status.h"

#define real double
#define TRIANGLE mc_triangle
#define HALVES mc_halves
#define SPLIT mc_triangle_split
#define FACTOR mc_triangle_factor
#define SOLVE mc_triangle_solve
#define GEMM dgemm_
#define TRSM dtrsm_
#define SYRK dsyrk_
#define POTRF dpotrf_
#include "solve/triangle.inc.c"

static mercer_status invert(mercer_ctx *ctx, mc_triangle t, meter *work) {
    if (is_leaf(t)) {
        const int n = (int)t.n, ld = (int)t.ld;
        int info = 0; /* a zero on the diagonal, which a factor does not have */
        dtrtri_(t.layout == MC_UPPER ? "U" : "L", "N", &n, t.a, &ld, &info, 1, 1);
        return ctx->stop;
    }
    const mc_halves h = mc_triangle_split(t);
    const double n1 = (double)h.first.n, n2 = (double)h.second.n;
    advance(ctx, work, n1 * n2 * n2);
    MC_TRY(solve_panel(ctx, h.second, true, false, -1, h.below, h.second.n, h.first.n, h.ld, h.transposed));
    advance(ctx, work, n1 * n1 * n2);
    MC_TRY(solve_panel(ctx, h.first, false, false, 1, h.below, h.second.n, h.first.n, h.ld, h.transposed));
    MC_TRY(invert(ctx, h.first, work));
    return invert(ctx, h.second, work);
}

mercer_status mc_triangle_invert(mercer_ctx *ctx, mc_triangle t) {
    const double n = (double)t.n;
    meter work = {.total = n * n * n / 3 + 1};
    const mc_region region = mc_blas_begin();
    const mercer_status status = invert(ctx, t, &work);
    mc_blas_end(region);
    return status;
}
