/* hostile_kernel.h: expressions whose verdict hangs on the last bits of their numbers: sums that cancel but for a
   sliver, products of extremes, coefficients next to what another part of the expression comes to. */
#ifndef TEST_HOSTILE_KERNEL_H
#define TEST_HOSTILE_KERNEL_H

#include "random_kernel.h"

/* For rows of d >= 2 columns. */
void hostile_kernel(mc_rng *rng, int64_t d, char text[RANDOM_KERNEL_SIZE]);

#endif
