/* newton_free.h: one step of Newton's on the free variables, where SMO converges slowly. */
#ifndef MC_QP_NEWTON_FREE_H
#define MC_QP_NEWTON_FREE_H

#include "base/memory.h"
#include "qp/smo.h"

typedef struct mc_newton_free {
    const mc_dual *dual; /* variable t has row t of K, and there is one group */
    const mc_matrix *K;  /* view is asked for */
    const double *beta;  /* feasible */
    const double *f;     /* K beta */
    mc_buffer *buffer;   /* for the factor, left to the next step */
} mc_newton_free;

/* Bytes at most for so many variables; no step is made where they would be more than half of what is left. */
size_t mc_newton_free_bytes(int64_t count);
/* step: of each variable, 0 for those at a bound; beta + step is feasible. *found: false, and no step, where fewer than
   two variables are free, memory is short, or too many would reach a bound. Costs the factor of as many variables as
   are free. */
mercer_status mc_newton_free_step(mercer_ctx *ctx, const mc_newton_free *problem, double *step, bool *found);

#endif
