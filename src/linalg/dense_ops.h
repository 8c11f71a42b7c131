/* dense_ops.h: what a place where matrices lie can do: column-major matrices with BLAS's arguments, in one precision. A
   bool stands for a transposed factor, for the right side, for the upper half. */
#ifndef MC_LINALG_DENSE_OPS_H
#define MC_LINALG_DENSE_OPS_H

#include "linalg/dense.h"

typedef struct mc_dense_ops {
    void (*gemm)(bool ta, bool tb, int64_t m, int64_t n, int64_t k, double alpha, const void *a, int64_t lda,
                 const void *b, int64_t ldb, double beta, void *c, int64_t ldc);
    void (*gemv)(bool trans, int64_t m, int64_t n, double alpha, const void *a, int64_t lda, const void *x,
                 int64_t incx, double beta, void *y, int64_t incy);
    void (*syrk)(bool upper, bool trans, int64_t n, int64_t k, double alpha, const void *a, int64_t lda, double beta,
                 void *c, int64_t ldc);
    void (*trmm)(bool right, bool upper, bool trans, int64_t m, int64_t n, double alpha, const void *a, int64_t lda,
                 void *b, int64_t ldb);
    void (*trsm)(bool right, bool upper, bool trans, int64_t m, int64_t n, double alpha, const void *a, int64_t lda,
                 void *b, int64_t ldb);
    void (*trsv)(bool upper, bool trans, int64_t n, const void *a, int64_t lda, void *x, int64_t incx);
    /* The unblocked ends of potrf, trtri and potri; potrf returns the order of the first minor that is not positive. */
    int64_t (*potrf)(bool upper, int64_t n, void *a, int64_t lda);
    void (*trtri)(bool upper, int64_t n, void *a, int64_t lda);
    void (*lauum)(bool upper, int64_t n, void *a, int64_t lda);
} mc_dense_ops;

/* The same for whole matrices, on all threads or on all of a device. */
typedef struct mc_dense_algebra {
    mercer_status (*gemm)(mercer_ctx *ctx, mc_dense A, mc_dense B, mc_dense C);
    mercer_status (*potrf)(mercer_ctx *ctx, mc_dense A, int64_t *bad);
    mercer_status (*trtrs)(mercer_ctx *ctx, mc_dense L, bool transposed, mc_dense X);
    mercer_status (*trtri)(mercer_ctx *ctx, mc_dense L);
    mercer_status (*potri)(mercer_ctx *ctx, mc_dense L);
    mercer_status (*diagonal)(mercer_ctx *ctx, mc_dense A, double *out);
    /* out_j <- the squared length of column j of a lower triangle. */
    mercer_status (*column_squares)(mercer_ctx *ctx, mc_dense L, double *out);
} mc_dense_algebra;

/* triangle.c, factor_tiles.c and cholesky.c: of matrices in this process. */
mercer_status mc_host_potrf(mercer_ctx *ctx, mc_dense A, int64_t *bad);
mercer_status mc_host_trtrs(mercer_ctx *ctx, mc_dense L, bool transposed, mc_dense X);
mercer_status mc_host_trtri(mercer_ctx *ctx, mc_dense L);
mercer_status mc_host_potri(mercer_ctx *ctx, mc_dense L);
mercer_status mc_host_column_squares(mercer_ctx *ctx, mc_dense L, double *out);
const mc_dense_algebra *mc_dense_algebra_of(mc_dense A);
/* dense_device.c */
extern const mc_dense_algebra mc_dense_device;

/* The table's row for a matrix. */
const mc_dense_ops *mc_dense_ops_of(mc_dense A);
/* dense_host.c: BLAS and LAPACK on the thread that calls. */
extern const mc_dense_ops mc_dense_host[2];

#endif
