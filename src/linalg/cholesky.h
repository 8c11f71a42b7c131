/* cholesky.h: a symmetric positive definite system in half the memory of a square.

   The lower half of A lies in n(n+1)/2 numbers, in the order mc_gram_packed writes them (mc_packed of dense.h):

       mc_packed_scale(ctx, n, A, s, shift)                  A <- S A S + shift I, in place
       mc_potrf(ctx, mc_packed(n, A), &bad)                  A -> L
       mc_potrs(ctx, mc_packed(n, A), X)                     X <- A^-1 X
       mc_cholesky_inverse_diagonal(ctx, mc_packed(n, A), v) v_i <- (A^-1)_ii; the factor is lost */
#ifndef MC_LINALG_CHOLESKY_H
#define MC_LINALG_CHOLESKY_H

#include "linalg/dense.h"

/* Numbers in a packed triangle; the place of (i, j) in it, i >= j. */
int64_t mc_packed_count(int64_t n);
int64_t mc_packed_place(int64_t n, int64_t i, int64_t j);
/* s NULL: all 1. */
mercer_status mc_packed_scale(mercer_ctx *ctx, int64_t n, double *A, const double *s, double shift);

/* A <- K(id, id), row[a] being row id[a] of K in this precision, and raise on the diagonal. id NULL: the first n. */
mercer_status mc_packed_take(mercer_ctx *ctx, int64_t n, mercer_dtype dtype, const void *const *row, const int64_t *id,
                             double raise, double *A);

/* L: packed. n^3/3 operations: the inverse of L alone is made; (A^-1)_ii is the squared length of its i-th column. */
mercer_status mc_cholesky_inverse_diagonal(mercer_ctx *ctx, mc_dense L, double *out);

#endif
