/* sampled_gap.h: how far a fit of a convex loss among few functions is from the best of all functions. */
#ifndef MC_CERTIFY_SAMPLED_GAP_H
#define MC_CERTIFY_SAMPLED_GAP_H

#include "problem/loss.h"
#include "problem/problem.h"

/* The function of the tasks is sum_j beta_j k(z_j, .): beta is m x width, the tasks' columns side by side; their alpha
   is a point of the dual problem, and t->f becomes that function on the rows. Fills in objective, norm and
   certificate. */
mercer_status mc_sampled_gap_check(mercer_ctx *ctx, const mc_problem *p, const mercer_data *z, const double *beta,
                                   mc_loss_task *tasks, int64_t count, mercer_report *out);
size_t mc_sampled_gap_bytes(mercer_ctx *ctx, const mc_problem *p, int64_t m, int64_t width);

#endif
