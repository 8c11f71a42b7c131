/* cancelling_kernel.h: sums and products of parts that overlap: inner products of some columns and of all, Gaussians
   and their inner products, parts of arccos, white. Many are kernels though terms are subtracted, and as many are not,
   by little. */
#ifndef TEST_CANCELLING_KERNEL_H
#define TEST_CANCELLING_KERNEL_H

#include "random_kernel.h"

/* For rows of d >= 2 columns. */
void cancelling_kernel(mc_rng *rng, int64_t d, char text[RANDOM_KERNEL_SIZE]);

#endif
