/* ridge_gradient.h: the error of rows left out with its derivatives: what a search by gradients follows. */
#ifndef MC_LEARN_RIDGE_RIDGE_GRADIENT_H
#define MC_LEARN_RIDGE_RIDGE_GRADIENT_H

#include "learn/ridge/ridge_path.h"

typedef struct mc_slopes {
    int64_t count;        /* numbers of the kernel */
    const int64_t *place; /* count: where each stands in its text (mc_value.offset); they were chosen from ranges */
    bool generalised;     /* of generalised cross-validation instead of rows left out; then there are no folds */
    /* log of the root mean squared error of rows left out, with folds of the mean over them; NaN: not defined */
    double value;
    double *by_value; /* count: its derivatives */
    double by_lambda;
} mc_slopes;

/* At set->lambda. each is shown the residuals, as by mc_ridge_path; not with generalised. */
mercer_status mc_ridge_slopes(mercer_ctx *ctx, const mercer_kernel *kernel, const mercer_data *data,
                              const mercer_ridge *set, const int64_t *fold, mc_loo_callback *each, void *arg,
                              mc_slopes *out);
/* Most of what it takes. */
size_t mc_ridge_slopes_bytes(int64_t n, bool folds);

#endif
