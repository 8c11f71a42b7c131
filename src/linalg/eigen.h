/* eigen.h: all eigenvalues and eigenvectors of a symmetric matrix, and functions of it applied to columns.

   A = U diag(w) U', w ascending, U' U = I. f(A) X = U diag(f(w)) U' X. */
#ifndef MC_LINALG_EIGEN_H
#define MC_LINALG_EIGEN_H

#include "linalg/dense.h"

/* The largest n: LAPACK counts its workspace of 2n^2 numbers in 32 bits. */
enum { MC_EIGEN_LARGEST = 32766 };

/* Bytes mc_syevd takes beside A and w. */
size_t mc_eigen_bytes(int64_t n);
/* A: n x n, column-major, of doubles, its lower half is read; its columns become the eigenvectors U. G <- U'X and X <-
   U G are products (mc_parallel_gemm). */
mercer_status mc_syevd(mercer_ctx *ctx, mc_dense A, double *w);
/* The k largest alone, ascending; A is overwritten, the columns of U, of which there are k, become their
   eigenvectors. */
size_t mc_eigen_largest_bytes(int64_t n, int64_t k);
mercer_status mc_syevr_largest(mercer_ctx *ctx, mc_dense A, double *w, mc_dense U);
/* w alone; A is overwritten. */
mercer_status mc_symmetric_eigenvalues(mercer_ctx *ctx, mc_dense A, double *w);
/* The least eigenvalue that counts as not zero: n * 2^-52 * max |w|; the error of a computed eigenvalue is of this
   size, so what lies below cannot be told from zero. */
double mc_eigen_cutoff(int64_t n, const double *w);

#endif
