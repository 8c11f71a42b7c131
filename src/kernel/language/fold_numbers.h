/* fold_numbers.h: arithmetic on the numbers of an expression that is exact or not done at all.

   Proofs are about the expression as it was written, each number in it the double it reads as. So a computed number may
   stand for what it was computed from only when the two are equal; where a result would be rounded, simplification
   leaves the numbers side by side. */
#ifndef MC_KERNEL_LANGUAGE_FOLD_NUMBERS_H
#define MC_KERNEL_LANGUAGE_FOLD_NUMBERS_H

#include <math.h>
#include <stdbool.h>

/* True, with the result, when the result is a double. */
bool mc_fold_product(double a, double b, double *out);
bool mc_fold_power(double c, double p, double *out);

/* A sum of doubles without error, as parts that do not overlap, the largest last (Shewchuk, 1997). 64 parts span all
   exponents. */
typedef struct mc_exact_sum {
    double part[64];
    int count;
} mc_exact_sum;

void mc_exact_add(mc_exact_sum *sum, double b);
bool mc_fold_sum(const mc_exact_sum *sum, double *out);

/* A whole number of at least 1 that a double counts exactly. */
static inline bool mc_is_whole(double p) {
    return p >= 1 && p <= 0x1p53 && p == floor(p);
}

#endif
