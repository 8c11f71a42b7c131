/* operator.h: what a solver sees of a matrix: its size and its products. Stored, on the fly, low rank, anything. */
#ifndef MC_GRAM_OPERATOR_H
#define MC_GRAM_OPERATOR_H

#include <mercer.h>

typedef struct mc_operator {
    int64_t n;
    mercer_status (*apply)(mercer_ctx *ctx, const void *self, int64_t t, const double *V, double *Y); /* Y <- A V, n x t */
    mercer_status (*diagonal)(mercer_ctx *ctx, const void *self, double *out);
    const void *self;
} mc_operator;

#endif
