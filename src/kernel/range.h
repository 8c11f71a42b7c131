/* range.h: where the values of a part of an expression can lie: closed ranges, infinite where nothing better is known. For shapes and for
   reading; proofs use ranges rounded outward. */
#ifndef MC_KERNEL_RANGE_H
#define MC_KERNEL_RANGE_H

#include "kernel/kernel.h"
#include <math.h>

typedef struct mc_range {
    double low, high;
} mc_range;

mc_range mc_range_add(mc_range a, mc_range b);
mc_range mc_range_multiply(mc_range a, mc_range b);
mc_range mc_range_power(mc_range a, double p); /* everything where a power of a negative number may have no value */
mc_range mc_range_of_function(const mc_function *f); /* over all x */

/* A whole number of at least 1 that a double counts exactly. */
static inline bool mc_is_whole(double p) {
    return p >= 1 && p <= 0x1p53 && p == floor(p);
}

#endif
