/* ridge_mixed_precision.h: bytes of a factor in float with steps in double. */
#ifndef MC_LEARN_RIDGE_RIDGE_MIXED_PRECISION_H
#define MC_LEARN_RIDGE_RIDGE_MIXED_PRECISION_H

#include "problem/problem.h"

/* columns: right-hand sides, that of the intercept included. */
size_t mc_ridge_mixed_bytes(mercer_ctx *ctx, const mc_problem *p, int64_t columns);

#endif
