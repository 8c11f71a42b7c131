/* feature_panels.h: all rows of a problem through its explicit feature map, a panel of them at a time.

       mc_panels panels;
       MC_TRY(mc_panels_open(ctx, p, lanes, &panels));
       panels.mean = mean;                                           or NULL: not centred
       MC_TRY(mc_panels_run(ctx, &panels, passes, count, arg));        each body works on panels.Z, once for every panel
       mc_panels_close(&panels); */
#ifndef MC_PROBLEM_FEATURE_PANELS_H
#define MC_PROBLEM_FEATURE_PANELS_H

#include "base/parallel.h"
#include "base/workspace.h"
#include "kernel/evaluate/feature_map.h"
#include "problem/problem.h"

enum { MC_LANE = 512 }; /* rows */

typedef struct mc_panels {
    const mc_problem *p;
    mc_features *map;
    int64_t D, height;   /* rows of a panel: lanes x MC_LANE */
    int64_t begin, rows; /* of the panel at work */
    const double *mean;  /* taken off the features */
    double *Z;           /* rows x D: sqrt(w) (phi(x) - mean) */
    double *scratch;
    int64_t scratch_each; /* numbers of scratch a thread has */
    int threads;
    mc_work work;
} mc_panels;

size_t mc_panels_bytes(int64_t d, int64_t D, int64_t lanes, int threads, int64_t scratch);
mercer_status mc_panels_open(mercer_ctx *ctx, const mc_problem *p, int64_t lanes, mc_panels *out);
void mc_panels_close(mc_panels *panels);
/* What is done with a panel; items 0: one for each of its rows. */
typedef struct mc_pass {
    mc_body *body;
    int64_t items, grain;
} mc_pass;
mercer_status mc_panels_run(mercer_ctx *ctx, mc_panels *panels, const mc_pass *passes, int count, void *arg);

#endif
