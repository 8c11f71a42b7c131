/* sampled_residual.h: how far an approximate fit is from the exact one, from a random sample of rows. */
#ifndef MC_CERTIFY_SAMPLED_RESIDUAL_H
#define MC_CERTIFY_SAMPLED_RESIDUAL_H

#include "certify/ridge_certificate.h"

size_t mc_sampled_residual_bytes(mercer_ctx *ctx, const mc_problem *p);
/* F: values of the fitted function on the training rows, without the intercept b (n x outputs). Fills in the
   certificate; the objective is the caller's affair. */
mercer_status mc_sampled_residual_check(mercer_ctx *ctx, const mc_problem *p, double lambda, const double *F,
                                        const double *b, mercer_certificate *out);

#endif
