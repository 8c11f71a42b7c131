/* dense.h: dense matrices and the algebra on them, by the names of BLAS and LAPACK: the one door to these libraries.

   A handle says where the numbers of a matrix lie and in which order. It owns nothing; a part and the transpose are
   handles to the same numbers.

       mc_gemm(1, mc_column_major(X, n, d, n), mc_row_major(W, d, t, t), 0, mc_row_major(Y, n, t, t));     Y <- X W
       MC_TRY(mc_potrf(ctx, mc_packed(n, A), &bad));                                                       A -> L
       MC_TRY(mc_potrs(ctx, mc_packed(n, A), mc_row_major(Y, n, t, t)));                                   Y <- A^-1 Y

   A lower triangular L, and a symmetric A, of which the lower half is used, lie in any of the three layouts. */
#ifndef MC_LINALG_DENSE_H
#define MC_LINALG_DENSE_H

#include <mercer.h>

/* Where the numbers lie: a row of the table in dense.c, which says how they are computed with there. */
typedef enum mc_place { MC_HOST, MC_DEVICE, MC_PLACES } mc_place;

typedef enum mc_layout {
    MC_COLUMN_MAJOR,
    MC_ROW_MAJOR,
    MC_PACKED /* the lower half in LAPACK's rectangular full packed format, transr 'N', uplo 'L': two triangles and a
                 square in n(n+1)/2 numbers; no leading dimension. On a device the same with one, and both triangles
                 aligned (triangle.h) */
} mc_layout;

typedef struct mc_dense {
    mc_place place;
    mc_layout layout;
    mercer_dtype dtype;
    int64_t rows, columns;
    int64_t ld; /* from column to column, or from row to row */
    void *a;    /* on a device: an address there, no pointer */
    struct mc_device *device;
} mc_dense;

mc_dense mc_column_major(const double *a, int64_t rows, int64_t columns, int64_t ld);
mc_dense mc_row_major(const double *a, int64_t rows, int64_t columns, int64_t ld);
mc_dense mc_packed(int64_t n, const double *a);
mc_dense mc_column_major_f32(const float *a, int64_t rows, int64_t columns, int64_t ld);
mc_dense mc_row_major_f32(const float *a, int64_t rows, int64_t columns, int64_t ld);
mc_dense mc_packed_f32(int64_t n, const float *a);
mc_dense mc_transposed(mc_dense A);
/* rows x columns of A from (i, j) on; A is not packed. */
mc_dense mc_submatrix(mc_dense A, int64_t i, int64_t j, int64_t rows, int64_t columns);

/* ---- Numbers of a place: NULL is this process, else a device (backend/device.h) ---- */

mercer_status mc_dense_allocate(mercer_ctx *ctx, struct mc_device *device, mc_layout layout, mercer_dtype dtype,
                                int64_t rows, int64_t columns, mc_dense *out);
void mc_dense_free(mc_dense *A);
/* From one place to another; both of one layout, shape and precision. */
mercer_status mc_dense_copy(mercer_ctx *ctx, mc_dense from, mc_dense to);
/* out_i <- A_ii. */
mercer_status mc_dense_diagonal(mercer_ctx *ctx, mc_dense A, double *out);
/* The device of the context for so many operations on numbers that lie there, and for so many bytes; NULL: the
   processor does them. */
mercer_status mc_device_for_algebra(mercer_ctx *ctx, double operations, double bytes, struct mc_device **out);

/* ---- One call of the library, on the thread that calls: for bodies of mc_for; matrices of this process ---- */

/* C <- alpha A B + beta C. */
void mc_gemm(double alpha, mc_dense A, mc_dense B, double beta, mc_dense C);
/* The same for a single column x, y (ld is the step from entry to entry): A is read once and not packed. */
void mc_gemv(double alpha, mc_dense A, mc_dense x, double beta, mc_dense y);
/* The lower half of C <- alpha A A' + beta C. */
void mc_syrk(double alpha, mc_dense A, double beta, mc_dense C);
/* B <- alpha L B, or alpha L' B; and with the inverses. */
void mc_trmm(double alpha, mc_dense L, bool transposed, mc_dense B);
void mc_trsm(double alpha, mc_dense L, bool transposed, mc_dense B);
/* x <- L^-1 x, or L^-T x, for a single column: L is read once and not packed. */
void mc_trsv(mc_dense L, bool transposed, mc_dense x);

/* ---- On all threads, the same bits whatever their number, or on a device (factor_tiles.c, triangle.c, eigen.h) --- */

/* C <- A B; all in one place. */
mercer_status mc_parallel_gemm(mercer_ctx *ctx, mc_dense A, mc_dense B, mc_dense C);
/* The lower half of C <- C + alpha P P'. */
mercer_status mc_parallel_syrk(mercer_ctx *ctx, double alpha, mc_dense P, mc_dense C);
/* A -> L with A = L L'. *bad: the order of the first leading minor that is not positive, 0 when A is numerically
   positive definite. n^3/3 operations. */
mercer_status mc_potrf(mercer_ctx *ctx, mc_dense A, int64_t *bad);
/* X <- L^-1 X, or L^-T X; and X <- (L L')^-1 X. An X that lies elsewhere than L is copied there and back. */
mercer_status mc_trtrs(mercer_ctx *ctx, mc_dense L, bool transposed, mc_dense X);
mercer_status mc_potrs(mercer_ctx *ctx, mc_dense L, mc_dense X);
/* L -> L^-1, n^3/3 operations; L -> the lower half of (L L')^-1, 2n^3/3. */
mercer_status mc_trtri(mercer_ctx *ctx, mc_dense L);
mercer_status mc_potri(mercer_ctx *ctx, mc_dense L);
/* A of doubles -> L with P'A P = L L', the largest remaining diagonal entry first, until that is at most tolerance:
   *rank columns, of which column j came from row pivots[j] of A (pivoted_factor.c). */
mercer_status mc_pstrf(mercer_ctx *ctx, mc_dense A, double tolerance, int64_t *pivots, int64_t *rank);

#endif
