/* feature_weights.h: functions f_k(x) = <w_k, phi(x)> given by weights of the explicit features of their kernel. */
#ifndef MC_PREDICT_FEATURE_WEIGHTS_H
#define MC_PREDICT_FEATURE_WEIGHTS_H

#include <mercer.h>

/* out <- f_k(x_i), rows x count; W: count x features, row-major. */
mercer_status mc_weights_apply(mercer_ctx *ctx, const mercer_kernel *kernel, int64_t count, const double *W,
                               const mercer_data *rows, double *out);

#endif
