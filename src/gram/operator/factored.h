/* factored.h: products with a K that is a sum of inner products of compressed rows. */
#ifndef MC_GRAM_OPERATOR_FACTORED_H
#define MC_GRAM_OPERATOR_FACTORED_H

#include "gram/operator/operator_state.h"

/* Whether the expression is one, found once the points are packed. */
void mc_factored_find(mc_gram *gram);
/* Y <- K V as mc_gram_apply has it. */
mercer_status mc_factored_apply(mercer_ctx *ctx, const mc_gram *gram, int64_t t, const double *V, double *Y);
/* Additions one after the other that a term passes through, at most, all in double. */
int64_t mc_factored_depth(const mc_gram *gram);
/* Bytes of such a product with t right-hand sides and so many stored values and coordinates on the right. */
size_t mc_factored_bytes(int64_t values, int64_t coordinates, int64_t t);

#endif
