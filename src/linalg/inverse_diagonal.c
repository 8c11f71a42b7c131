/* inverse_diagonal.c: the diagonal of an inverse from its factor. Apart from the layout of triangles, which a program
   that only predicts needs, too. */
#include "base/status.h"
#include "linalg/cholesky.h"
#include "linalg/dense_ops.h"

mercer_status mc_cholesky_inverse_diagonal(mercer_ctx *ctx, mc_dense L, double *out) {
    MC_TRY(mc_trtri(ctx, L));
    return mc_dense_algebra_of(L)->column_squares(ctx, L, out);
}
