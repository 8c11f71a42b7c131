/* device_smo.h: the quadratic programs of smo.h, many of them over one K that lies on a device, solved there at once:
   working sets of a thousand variables, each by steps on pairs in a block of threads of its own, and slopes in double
   by whole columns of K. Multipliers and slopes stay there from the first round to the last; what comes back meanwhile
   is how far each program is.

   Work is cut by the sizes alone and sums are made in order: the same bits every time. */
#ifndef MC_QP_DEVICE_SMO_H
#define MC_QP_DEVICE_SMO_H

#include "linalg/dense.h"
#include "qp/smo.h"

typedef struct mc_device_smo_program {
    mc_dual dual;            /* of one group */
    int64_t first[2], split; /* its row i is row first[0] + i of K, from split on first[1] + i - split */
    double tolerance;
    int64_t steps_max;
    double *beta, *f; /* a feasible start and K beta, then the answer, as for mc_smo_solve */
    mc_smo_result *result;
} mc_device_smo_program;

/* K: a square of doubles by columns on a device, the lower half of which has been written; the other is here. After a
   stop by the caller or the clock every beta is feasible and f belongs to it. f is K beta as the entries there make it,
   summed up once, from nothing. */
mercer_status mc_device_smo_solve(mercer_ctx *ctx, mc_dense K, mc_device_smo_program *programs, int64_t count);
/* Bytes it takes there, beside K, for so many programs of so many variables together. */
size_t mc_device_smo_bytes(int64_t count, int64_t variables);
/* What the device compiles; to be freed. */
mercer_status mc_device_smo_source(mercer_ctx *ctx, char **out);

#endif
