/* ridge_primal.h: what cost.c must know of the solve in features. */
#ifndef MC_LEARN_RIDGE_PRIMAL_H
#define MC_LEARN_RIDGE_PRIMAL_H

#include <mercer.h>

/* Features of the kernel on d columns; -1: none, or more than n. */
int64_t mc_ridge_primal_dimension(const mercer_kernel *kernel, int64_t d, int64_t n);
/* scratch: of the map. */
size_t mc_ridge_primal_bytes(int64_t n, int64_t d, int64_t D, int64_t outputs, int threads, int64_t scratch);

#endif
