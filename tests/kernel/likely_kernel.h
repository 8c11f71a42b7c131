/* likely_kernel.h: expressions that are kernels more often than not. */
#ifndef TEST_LIKELY_KERNEL_H
#define TEST_LIKELY_KERNEL_H

#include "kernel_writer.h"

/* For rows of d >= 2 columns. */
void likely_kernel(mc_rng *rng, int64_t d, char text[RANDOM_KERNEL_SIZE]);

#endif
