/* together.h: several programmes of smo.h over one stored K at once: the folds of a search, which share most of their rows.

   They work on the same variables at the same time, so that a row of K is read once for all of them. What they reach is the solution to a
   tolerance that single precision knows of; a programme that is not there yet goes on alone (active.h). */
#ifndef MC_SOLVE_TOGETHER_H
#define MC_SOLVE_TOGETHER_H

#include "base/memory.h"
#include "solve/smo.h"

enum { MC_TOGETHER_MOST = 8, MC_TOGETHER_BEYOND = 64, MC_TOGETHER_ROOMS = 3 }; /* programmes at a time; numbers read beyond K */

typedef struct mc_together {
    int64_t n;              /* rows of K, and variables: variable t has row t, and there is one group */
    mercer_dtype dtype;
    const void *K;          /* n x n, and MC_TOGETHER_BEYOND numbers that may be read */
    const double *diagonal;
    double tolerance;       /* of the violation */
    int64_t steps_max;      /* of each */
    int64_t count;          /* programmes */
    const mc_dual *dual;
    double *const *beta;    /* of each: a feasible start, then as far as it came */
    double *const *f;       /* K beta */
    int64_t *steps;         /* of each: are added to */
    double begin, end;      /* of what is held (progress.h), this solution */
    mc_room *room;          /* MC_TOGETHER_ROOMS, for K of the sets and factors, left to the next solution */
} mc_together;

mercer_status mc_together_solve(mercer_ctx *ctx, const mc_together *problem);
/* Bytes it takes at least, with what is left in the rooms; and how many more for larger sets, half of what is then left at most. A step on
   a face (face.h) takes half of what is left after that at most. */
size_t mc_together_bytes(int64_t n, int64_t count);
size_t mc_together_spare_bytes(int64_t n, int64_t count);

#endif
