/* feature_weights.h: functions f_k(x) = <w_k, phi(x)> given by weights of the explicit features of their kernel. */
#ifndef MC_PREDICT_FEATURE_WEIGHTS_H
#define MC_PREDICT_FEATURE_WEIGHTS_H

#include "predict/fitted.h"
#include <float.h>

/* out <- f_k(x_i), rows x count; W: count x features, row-major. */
mercer_status mc_weights_apply(mercer_ctx *ctx, const mercer_kernel *kernel, int64_t count, const double *W,
                               const mercer_data *rows, double *out);

/* How many features there are to sum the centres of f up to, where that makes predictions cheaper; 0: none. */
int64_t mc_weights_worth(const mc_fitted *f);
/* W <- sum of the coefficients of each decision times the features of the centres, decisions x D. */
mercer_status mc_weights_sum(mercer_ctx *ctx, const mc_fitted *f, double *W);
/* The weights of the decisions, decisions x *features: the model's own, or those its centres were summed up to; NULL:
   it has none. */
const double *mc_fitted_weights(const mc_fitted *f, int64_t *features);

/* |computed <w, phi(x)> - <w, phi(x)>| over |w| |phi(x)|: features of d columns are taken to be right to (d + 256) u of
   |phi|, and D of them are summed up. */
static inline double mc_weights_error(int64_t d, int64_t D) {
    const double u = DBL_EPSILON / 2, sum = (double)D * u;
    return (sum < 0.5 ? sum / (1 - sum) : 1) + (double)(d + 256) * u;
}

#endif
