/* gp_search.h: the parameters of a kernel, and the noise, that maximize the evidence. */
#ifndef MC_LEARN_GP_GP_SEARCH_H
#define MC_LEARN_GP_GP_SEARCH_H

#include "learn/gp/evidence.h"

typedef struct mc_gp_search {
    bool learn_kernel, learn_noise;
    int64_t restarts;       /* searches from random starts beside the one from where we are */
    int64_t iterations_max; /* of each search */
    uint64_t seed;
    double scale;     /* variance of the target: the noise is sought in [1e-6, 10] times it, factors in [1e-8, 1e8] */
    bool estimated;   /* the evidence of all rows is: samples, whose evidence is not, are small beside them */
    bool from_sample; /* the start was found on fewer rows: what they did not need is brought back to where it counts */
    double gain;      /* two steps in a row that gain less evidence are the last */
    const mercer_data *x; /* the rows, whose ranges bound the length scales; NULL: a factor of 1e10 either way */
} mc_gp_search;

typedef struct mc_gp_found {
    mercer_kernel *kernel; /* the caller frees it */
    double noise;
    double value; /* the evidence there */
    int64_t evaluations, iterations;
    bool converged; /* false: the best search ran out of iterations */
} mc_gp_found;

/* On MERCER_TIME and MERCER_CANCELLED, out still holds the best point so far. */
mercer_status mc_gp_maximise(mercer_ctx *ctx, mc_evidence *evidence, const mercer_kernel *kernel, double noise,
                             const mc_gp_search *set, mc_gp_found *out);

#endif
