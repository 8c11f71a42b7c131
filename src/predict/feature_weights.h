/* feature_weights.h: functions f_k(x) = <w_k, phi(x)> given by weights of the explicit features of their kernel. */
#ifndef MC_PREDICT_FEATURE_WEIGHTS_H
#define MC_PREDICT_FEATURE_WEIGHTS_H

#include <float.h>
#include <mercer.h>

/* out <- f_k(x_i), rows x count; W: count x features, row-major. */
mercer_status mc_weights_apply(mercer_ctx *ctx, const mercer_kernel *kernel, int64_t count, const double *W,
                               const mercer_data *rows, double *out);

/* |computed <w, phi(x)> - <w, phi(x)>| over |w| |phi(x)|: features of d columns are taken to be right to (d + 256) u of
   |phi|, and D of them are summed up. */
static inline double mc_weights_error(int64_t d, int64_t D) {
    const double u = DBL_EPSILON / 2, sum = (double)D * u;
    return (sum < 0.5 ? sum / (1 - sum) : 1) + (double)(d + 256) * u;
}

#endif
