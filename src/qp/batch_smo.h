/* batch_smo.h: several quadratic programs of smo.h over one stored K at once: the folds of a search, which share most
   of their rows.

   They work on the same variables at the same time, so that a row of K is read once for all of them. What they reach is
   the solution to a tolerance that single precision knows of; a quadratic program that is not there yet goes on alone
   (active_set.h). */
#ifndef MC_QP_BATCH_SMO_H
#define MC_QP_BATCH_SMO_H

#include "base/memory.h"
#include "qp/smo.h"

/* quadratic programs at a time; numbers read beyond K */
enum { MC_BATCH_SMO_MOST = 8, MC_BATCH_SMO_PADDING = 64, MC_BATCH_SMO_BUFFERS = 3 };

typedef struct mc_batch_smo {
    /* whole, without gaps between rows and with MC_BATCH_SMO_PADDING numbers after it that may be read, and diag are
       asked for; variable t has row t, and there is one group */
    mc_matrix K;
    double tolerance;  /* of the violation */
    int64_t steps_max; /* of each */
    int64_t count;     /* quadratic programs */
    const mc_dual *dual;
    double *const *beta; /* of each: a feasible start, then as far as it came */
    double *const *f;    /* K beta */
    int64_t *steps;      /* of each: are added to */
    double begin, end;   /* of what is held (base/progress.h), this solution */
    mc_buffer *buffers;  /* MC_BATCH_SMO_BUFFERS, for K of the sets and factors, left to the next solution */
} mc_batch_smo;

mercer_status mc_batch_smo_solve(mercer_ctx *ctx, const mc_batch_smo *problem);
/* Bytes it takes at least, with what is left in the buffers; and how many more for larger sets, half of what is then
   left at most. A Newton step on the free variables (newton_free.h) takes half of what is left after that at most. */
size_t mc_batch_smo_bytes(int64_t n, int64_t count);
size_t mc_batch_smo_spare_bytes(int64_t n, int64_t count);

#endif
