/* evidence_estimate.h: the evidence of more rows than a factorisation is made of, with its error. */
#ifndef MC_LEARN_GP_EVIDENCE_ESTIMATE_H
#define MC_LEARN_GP_EVIDENCE_ESTIMATE_H

#include "problem/problem.h"

enum { MC_ESTIMATED_OUTPUTS = 64 }; /* at most */

typedef struct mc_evidence_estimate {
    double value; /* -infinity: conjugate gradients did not come to an end */
    double error; /* from the spread over the probes: twice it holds in 95% of estimates (iterative/sample_mean.h) */
    int64_t rank, steps;
} mc_evidence_estimate;

/* p: rows, targets and weights, and where bytes are counted the kernel. kernel: bound to p->x. seed: of the probes.
   alpha: n x outputs, A^-1 Y to the precision of the estimate. gradient (NULL: not wanted): unbiased but for the same;
   one number per slot of the kernel, then one for the noise. */
mercer_status mc_estimate_evidence(mercer_ctx *ctx, const mc_problem *p, const mercer_kernel *kernel, double noise,
                                   uint64_t seed, double *alpha, double *gradient, mc_evidence_estimate *out);
size_t mc_estimate_evidence_bytes(mercer_ctx *ctx, const mc_problem *p);
/* Columns of every product. */
int64_t mc_estimate_evidence_columns(const mc_problem *p);

#endif
