/* random_kernel.h: random expressions of the whole language, for tests that say "for every kernel". */
#ifndef TEST_RANDOM_KERNEL_H
#define TEST_RANDOM_KERNEL_H

#include "kernel_writer.h"

/* An expression with nothing open on d columns (d >= 2), valid or not, in no canonical form; for points without
   negative entries. */
void random_kernel(mc_rng *rng, int64_t d, char text[RANDOM_KERNEL_SIZE]);

#endif
