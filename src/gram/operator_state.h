/* operator_state.h: what stands behind mc_gram. */
#ifndef MC_GRAM_OPERATOR_STATE_H
#define MC_GRAM_OPERATOR_STATE_H

#include "data/data.h"
#include "gram/gram.h"
#include "kernel/kernel.h"

struct mc_gram {
    const mercer_kernel *kernel;
    const mercer_data *x, *z;
    bool symmetric;
    double *left, *right; /* right NULL: symmetric */
};

double mc_gram_value(const mc_gram *gram, int64_t i, int64_t j);

#endif
