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
    double *noise;         /* centres: variance of the noise of each; NULL: the machine has none */
    double *intercept; /* outputs */
    mercer_report report;
} mc_fitted;

struct mc_problem;
/* The kernel, the rows and the scaling of a solved problem change hands. */
void mc_fitted_take(mc_fitted *fitted, struct mc_problem *problem, double seconds);
void mc_fitted_free(mc_fitted *fitted);

#endif
