/* prediction_bound.h: how far decisions at given rows can be from those of the exact optimum. */
#ifndef MC_CERTIFY_PREDICTION_BOUND_H
#define MC_CERTIFY_PREDICTION_BOUND_H

#include "predict/fitted.h"

/* Rounding included; n numbers. */
mercer_status mc_fitted_bound(mercer_ctx *ctx, const mc_fitted *f, const mercer_data *rows, double *out);

#endif
