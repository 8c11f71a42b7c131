/* estimate_cg_steps.h: what conjugate gradients will take, from the spectrum of a sample of rows. */
#ifndef MC_LEARN_COMMON_ESTIMATE_CG_STEPS_H
#define MC_LEARN_COMMON_ESTIMATE_CG_STEPS_H

#include "iterative/preconditioner_rank.h"
#include "problem/problem.h"

/* The rank that a preconditioner by this rule will have, and the steps then to expect. Both stay what they are where
   there is no memory to look. */
mercer_status mc_estimate_cg_steps(mercer_ctx *ctx, const mc_problem *p, const mc_rank_rule *rule, int64_t *rank,
                                   double *steps);

#endif
