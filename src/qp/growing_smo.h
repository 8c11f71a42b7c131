/* growing_smo.h: the quadratic program of stored_smo.h brought to its tolerance over a working set that only grows: the
   variables that have violated so far, whose part of K stays together in a cache near the processor. Rows of K are made
   for those alone. For programs of one group whose variables are the rows of K in their order. */
#ifndef MC_QP_GROWING_SMO_H
#define MC_QP_GROWING_SMO_H

#include "qp/stored_smo.h"

/* Bytes of scratch for m variables. */
size_t mc_growing_smo_bytes(int64_t m);
/* Whether so many variables are more than one set that stays near. */
bool mc_growing_smo_pays(int64_t m);
/* beta and f as for mc_stored_smo_solve, which goes on from where this ends and says how good it is: at the tolerance,
   or short of it where the set would grow too large, there is no room for rows of K, rounds do not help, or *result, to
   which steps are added, has steps_max of them. */
void mc_growing_smo_solve(const mc_dual *dual, const mc_kernel_runs *K, double tolerance, int64_t steps_max,
                          mc_work work, double *beta, double *f, mc_smo_result *result);

#endif
