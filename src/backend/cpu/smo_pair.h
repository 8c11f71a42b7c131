/* smo_pair.h: the step of a pair of variables, shared by the bodies of smo_body.c and batch_smo_body.c, which differ in
   how slopes are kept. */
#ifndef MC_BACKEND_CPU_SMO_PAIR_H
#define MC_BACKEND_CPU_SMO_PAIR_H

#include <math.h>
#include <stdint.h>

/* The pair (i up, j down) moves by the step that minimises along it, cut at the nearer bound, which is then met
   exactly. slope: of i less that of j. */
static inline double mc_pair_step(double slope, double curvature, const double *low, const double *high, int64_t i,
                                  int64_t j, double *beta) {
    const double slack_i = high[i] - beta[i], slack_j = beta[j] - low[j];
    /* without calls: they would be made with wide registers in use, in every step */
    const double wanted = slope / (curvature > 1e-12 ? curvature : 1e-12),
                 slack = slack_i < slack_j ? slack_i : slack_j;
    const double step = wanted < slack ? wanted : slack;
    beta[i] = step >= slack_i ? high[i] : beta[i] + step;
    beta[j] = step >= slack_j ? low[j] : beta[j] - step;
    return step;
}

#endif
