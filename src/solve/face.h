/* face.h: one step of Newton's on the variables off their bounds, where steps in pairs crawl. */
#ifndef MC_SOLVE_FACE_H
#define MC_SOLVE_FACE_H

#include "base/memory.h"
#include "solve/smo.h"

typedef struct mc_face {
    const mc_dual *dual; /* variable t has row t of K, and there is one group */
    mercer_dtype dtype;
    const void *K;       /* n x n, stored */
    const double *beta;  /* feasible */
    const double *f;     /* K beta */
    mc_room *room;       /* for the factor, left to the next step */
} mc_face;

/* Bytes at most for so many variables; no step is made where they would be more than half of what is left. */
size_t mc_face_bytes(int64_t count);
/* step: of each variable, 0 for those at a bound; beta + step is feasible. *found: false, and no step, where fewer than two variables are
   off their bounds, memory is short, or too many would reach a bound. Costs the factor of as many variables as are free. */
mercer_status mc_face_step(mercer_ctx *ctx, const mc_face *face, double *step, bool *found);

#endif
