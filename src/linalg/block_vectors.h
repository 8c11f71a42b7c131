/* block_vectors.h: the few operations on n x t blocks of columns (row-major) that iterative solvers need, with sums in
   fixed chunks so that the bits do not depend on the number of threads. */
#ifndef MC_LINALG_BLOCK_VECTORS_H
#define MC_LINALG_BLOCK_VECTORS_H

#include <mercer.h>

/* a'b, summed in the order of the rows; and with the sum in extended precision. */
static inline double mc_dot(int64_t n, const double *a, const double *b) {
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

static inline double mc_dot_extended(int64_t n, const double *a, const double *b) {
    long double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += (long double)a[i] * b[i];
    return (double)sum;
}

/* Doubles of scratch that mc_dot_columns needs. */
int64_t mc_dot_columns_scratch(int64_t n, int64_t t);
/* out_k <- sum_i A_ik B_ik. */
mercer_status mc_dot_columns(mercer_ctx *ctx, int64_t n, int64_t t, const double *A, const double *B, double *scratch,
                             double *out);
/* Y_ik <- Y_ik + a_k X_ik. */
mercer_status mc_axpy_columns(mercer_ctx *ctx, int64_t n, int64_t t, const double *a, const double *X, double *Y);
/* Y_ik <- X_ik + b_k Y_ik. */
mercer_status mc_xpay_columns(mercer_ctx *ctx, int64_t n, int64_t t, const double *b, const double *X, double *Y);

#endif
