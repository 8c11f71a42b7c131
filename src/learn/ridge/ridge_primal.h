/* ridge_primal.h: what ridge_cost.c must know of the solve in features. */
#ifndef MC_LEARN_RIDGE_RIDGE_PRIMAL_H
#define MC_LEARN_RIDGE_RIDGE_PRIMAL_H

#include <mercer.h>

typedef struct mc_ridge_primal_size {
    int64_t n, d, D, outputs;
    int threads;
    int64_t scratch;    /* of the map */
    bool loo, spectral; /* spectral: lambda is 0 or to be found */
} mc_ridge_primal_size;
size_t mc_ridge_primal_bytes(const mc_ridge_primal_size *size);

#endif
