/* decision.h: what the products behind a decision can be wrong by. */
#ifndef MC_PREDICT_DECISION_H
#define MC_PREDICT_DECISION_H

#include "predict/fitted.h"

/* The worst of the products that mc_fitted_decide would make for these rows. For decisions through centres. */
mercer_status mc_decision_error(mercer_ctx *ctx, const mc_fitted *f, const mercer_data *rows, mc_product_error *error);

#endif
