/* triangle.c: factor, solve and invert by halves. See triangle.h for the matrices.

   factor    L11 = chol(A11);  L21 = A21 L11^-T;  A22 <- A22 - L21 L21';  L22 = chol(A22)
   solve     x1 = L11^-1 x1;   x2 <- x2 - L21 x1;  x2 = L22^-1 x2          (transposed: from the bottom up)
   invert    L21 <- -L22^-1 L21 L11^-1;  then both halves

   The square part is cut into blocks whose size depends on nothing but its own and constants, each block is one call of
   BLAS on one thread, and no two blocks write to the same place: so the bits do not depend on the number of threads.
   Recursion in place of a row of panels makes the products long and leaves LAPACK only triangles that fit the cache. */
#include "linalg/triangle.h"
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
#include "linalg/triangle.inc.c"

int64_t mc_triangle_side(int64_t n, int64_t most) {
    const int64_t least = 128, quarter = (n / 4 + 63) / 64 * 64;
    return quarter < least ? least : quarter < most ? quarter : most;
}

static int64_t count_leaves(mc_triangle t) {
    if (is_leaf(t))
        return 1;
    const mc_halves h = mc_triangle_split(t);
    return count_leaves(h.first) + count_leaves(h.second);
}

static mc_triangle leaf_at(mc_triangle t, int64_t index) {
    while (!is_leaf(t)) {
        const mc_halves h = mc_triangle_split(t);
        const int64_t before = count_leaves(h.first);
        t = index < before ? h.first : h.second;
        index -= index < before ? 0 : before;
    }
    return t;
}

static void invert_leaf(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)begin;
    (void)end;
    (void)thread;
    const mc_triangle t = leaf_at(*(const mc_triangle *)arg, chunk);
    const int n = (int)t.n, ld = (int)t.ld;
    int info = 0; /* a zero on the diagonal, which a factor does not have */
    dtrtri_(t.layout == MC_UPPER ? "U" : "L", "N", &n, t.a, &ld, &info, 1, 1);
}

/* All but the leaves: the square parts need them as they are, so that they wait until the end and are then done at
   once. */
static mercer_status invert_squares(mercer_ctx *ctx, mc_triangle t, meter *work) {
    if (is_leaf(t))
        return MERCER_OK;
    const mc_halves h = mc_triangle_split(t);
    const double n1 = (double)h.first.n, n2 = (double)h.second.n;
    advance(ctx, work, n1 * n2 * n2);
    MC_TRY(solve_panel(ctx, h.second, true, false, -1, h.below, h.second.n, h.first.n, h.ld, h.transposed));
    advance(ctx, work, n1 * n1 * n2);
    MC_TRY(solve_panel(ctx, h.first, false, false, 1, h.below, h.second.n, h.first.n, h.ld, h.transposed));
    MC_TRY(invert_squares(ctx, h.first, work));
    return invert_squares(ctx, h.second, work);
}

static mercer_status invert(mercer_ctx *ctx, mc_triangle t) {
    const double n = (double)t.n;
    meter work = {.total = n * n * n / 3 + 1};
    MC_TRY(invert_squares(ctx, t, &work));
    advance(ctx, &work, work.total - work.done);
    return mc_for(ctx, count_leaves(t), 1, invert_leaf, &t);
}

mercer_status mc_triangle_invert(mercer_ctx *ctx, mc_triangle t) {
    const mc_region region = mc_blas_begin();
    const mercer_status status = invert(ctx, t);
    mc_blas_end(region);
    return status;
}
