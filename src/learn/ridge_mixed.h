/* ridge_mixed.h: bytes of a factor in float with steps in double. */
#ifndef MC_LEARN_RIDGE_MIXED_H
#define MC_LEARN_RIDGE_MIXED_H

#include "learn/problem.h"

/* columns: right-hand sides, that of the intercept included. */
size_t mc_ridge_mixed_bytes(mercer_ctx *ctx, const mc_problem *p, int64_t columns);

#endif
