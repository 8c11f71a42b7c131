/* check_finite.h: what a machine hands out is made of numbers; where it is not, the error names the row, the value and
   what helps. */
#ifndef MC_PREDICT_CHECK_FINITE_H
#define MC_PREDICT_CHECK_FINITE_H

#include "predict/fitted.h"

/* Coefficients, intercepts, weights and the objective of a function that was just fitted. */
mercer_status mc_finite_fitted(mercer_ctx *ctx, const mc_fitted *f);
/* Values of rows, n x width. */
mercer_status mc_finite_values(mercer_ctx *ctx, const mercer_data *rows, int64_t width, const double *values);

#endif
