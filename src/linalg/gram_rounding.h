/* gram_rounding.h: how far products of factors are from a Gram matrix, with every rounding error bounded.

   K is looked at scaled by a power of two, by which its largest entry is near 1: squares neither overflow nor vanish.
   */
#ifndef MC_LINALG_GRAM_ROUNDING_H
#define MC_LINALG_GRAM_ROUNDING_H

#include "base/workspace.h"

#define MC_GRAM_TINY 0x1p-480 /* more than the root of n^2 products that vanish */

/* e with the largest |K_ij| in [2^(e-1), 2^e); 0 of a matrix of zeros. */
int mc_gram_exponent(const double *K, int64_t n);
/* S <- 2^-exponent (K + K')/2: exact where the two halves are equal. Not for loops on threads, where numbers below the
   normal range are zero. */
void mc_gram_symmetric(const double *K, int64_t n, int exponent, double *S);
double mc_gram_sum(const double *x, int64_t n);
/* What a sum of n products in eight lanes, and a few operations after it, err by, in units of the sum of absolute
   values (Higham 2002, section 3.1). */
double mc_gram_unit_error(int64_t n);

/* A = S - shift I, with the rows and columns in the order of pivots, against L L'. */
typedef struct mc_gram_difference {
    int64_t n, rank;       /* rank: columns of L; row i has entries in the first i + 1 of them */
    const double *S, *L;   /* n x n */
    const int64_t *pivots; /* n; NULL: 0, 1, ... */
    double shift;
    double *left, *given,
        *length2; /* n: sums of squares of A - L L' and of A, both halves counted, and of L, by rows */
} mc_gram_difference;

void mc_gram_difference_lay_out(mc_work *work, int64_t n, mc_gram_difference *d); /* left, given, length2 */
/* Forms L L' again. */
mercer_status mc_gram_difference_form(mercer_ctx *ctx, mc_gram_difference *d);
/* At least |A - L L'|_F: the rounding errors of an entry are at most those of |l_i| |l_j| + |a_ij|, and the matrix of
   all |l_i| |l_j| has the norm |L|_F^2. */
double mc_gram_difference_norm(const mc_gram_difference *d);

#endif
