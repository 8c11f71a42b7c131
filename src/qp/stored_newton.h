/* stored_newton.h: Newton's method among the free variables of a program of stored_smo.h. Steps on pairs find out which
   variables are free, and are slow to find where these meet when K is nearly singular; this finds that at once. */
#ifndef MC_QP_STORED_NEWTON_H
#define MC_QP_STORED_NEWTON_H

#include "qp/stored_smo.h"

/* Bytes of scratch for m variables. */
size_t mc_stored_newton_bytes(int64_t m);
/* How many variables are off their bounds. */
int64_t mc_count_free(const mc_dual *dual, const double *beta);
/* So many free variables are worth a try after so many steps on pairs. */
bool mc_stored_newton_pays(int64_t free, int64_t m, int64_t steps);
/* beta and f go to where the objective is least among the free variables, or as far as those are that meet their
   bounds on the way, each held there. Stays where it stands, and returns false, where that does not lower the objective
   or leaves a violation above `most`. The rows of K of free variables are there. */
bool mc_stored_newton_step(const mc_dual *dual, const mc_kernel_runs *K, double most, mc_work work, double *beta,
                           double *f);

#endif
