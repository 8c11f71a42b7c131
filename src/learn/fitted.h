/* fitted.h: what a machine hands over: f_k(x) = sum_i alpha_ik k(x_i, x) + b_k, and how good it is. */
#ifndef MC_LEARN_FITTED_H
#define MC_LEARN_FITTED_H

#include "data/scale.h"

typedef struct mc_fitted {
    mercer_kernel *kernel; /* bound */
    mercer_data
        *centres; /* the rows x_i, scaled, with the names, labels and schema of the training data but no targets */
    mc_scale scale;
    int64_t outputs;
    double *alpha;     /* centres x outputs, row-major */
    double *intercept; /* outputs */
    mercer_report report;
} mc_fitted;

void mc_fitted_free(mc_fitted *fitted);

#endif
