/* gp_learn.h: the parameters of a process learned from few rows first, then from all. */
#ifndef MC_LEARN_GP_GP_LEARN_H
#define MC_LEARN_GP_GP_LEARN_H

#include "learn/gp/gp_search.h"
#include "problem/problem.h"

/* Bytes that the largest of the samples takes, beside what is there for all rows. */
size_t mc_gp_learn_bytes(const mc_problem *p, bool estimated);
/* Evaluations to expect, in units of one on all n rows. */
double mc_gp_learn_evaluations(int64_t n, int64_t restarts);
/* As mc_gp_maximise over the evidence of all rows of p, whose kernel is where the search begins. What a stop leaves is
   the best of the last sample. */
mercer_status mc_gp_learn(mercer_ctx *ctx, const mc_problem *p, mc_evidence *all, double noise, const mc_gp_search *set,
                          mc_gp_found *out);

/* gp_kernel.c: the kernel of the problem, made ready to learn: with one length scale for each column where the settings
   ask for it, and a factor, to begin with the variance of the target, where it has none. */
mercer_status mc_gp_extend_kernel(mercer_ctx *ctx, const mercer_gp *set, double variance, const mc_problem *p,
                                  mercer_kernel **out);

#endif
