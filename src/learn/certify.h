/* certify.h: how far a squared-loss fit can be from the exact optimum, found from the rows alone. */
#ifndef MC_LEARN_CERTIFY_H
#define MC_LEARN_CERTIFY_H

#include "learn/problem.h"

typedef struct mc_findings {
    mercer_certificate certificate;
    double objective; /* sum of w (y - f - b)^2 + lambda |f|^2 over rows and outputs */
    double norm;      /* sqrt of the sum of |f|^2 over outputs */
} mc_findings;

/* Bytes beside the operator. */
size_t mc_certify_bytes(int64_t n, int64_t outputs);
/* alpha: n x outputs; intercept: outputs numbers, all 0 when the machine has none (free says whether it has). */
mercer_status mc_certify(mercer_ctx *ctx, const mc_problem *problem, double lambda, bool free_intercept,
                         const double *alpha, const double *intercept, mc_findings *out);

#endif
