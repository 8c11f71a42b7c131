/* line_vectors.h: what lines add or multiply per row and column. */
#ifndef MC_GRAM_COMPILE_LINE_VECTORS_H
#define MC_GRAM_COMPILE_LINE_VECTORS_H

#include "gram/operator/operator_state.h"

/* The vectors that come from nodes (normalize, weigh, norms, equality), in double, with their largest values. */
mercer_status mc_vectors_measure(mercer_ctx *ctx, mc_gram *gram);
/* All vectors in the tile's precision, and the factors of the steps; parts are packed, their distance methods set. */
mercer_status mc_vectors_fill(mercer_ctx *ctx, mc_gram *gram);

#endif
