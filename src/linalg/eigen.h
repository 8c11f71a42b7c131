/* eigen.h: all eigenvalues and eigenvectors of a symmetric matrix, and functions of it applied to columns.

   A = U diag(w) U', w ascending, U' U = I. f(A) X = U diag(f(w)) U' X. */
#ifndef MC_LINALG_EIGEN_H
#define MC_LINALG_EIGEN_H

#include <mercer.h>

/* The largest n: LAPACK counts its workspace of 2n^2 numbers in 32 bits. */
enum { MC_EIGEN_LARGEST = 32766 };

/* Bytes mc_eigen takes beside A and w. */
size_t mc_eigen_bytes(int64_t n);
/* A: n x n, its lower half is read (row- or column-major alike: the other half must mirror it); overwritten by U,
   eigenvector k in A[k*n ... k*n + n-1]. */
mercer_status mc_eigen(mercer_ctx *ctx, int64_t n, double *A, double *w);
/* w alone; A is overwritten. */
mercer_status mc_eigenvalues(mercer_ctx *ctx, int64_t n, double *A, double *w);
/* G <- U' X: the coordinates; X <- U G: back. Both n x t, row-major. */
mercer_status mc_eigen_forward(mercer_ctx *ctx, int64_t n, const double *U, int64_t t, const double *X, double *G);
mercer_status mc_eigen_back(mercer_ctx *ctx, int64_t n, const double *U, int64_t t, const double *G, double *X);
/* The least eigenvalue that counts as not zero: n * 2^-52 * max |w|; the error of a computed eigenvalue is of this
   size, so what lies below cannot be told from zero. */
double mc_eigen_cutoff(int64_t n, const double *w);

#endif
