/* lbfgs.h: minimise a smooth function in a box, for a handful of parameters whose values are dear (a factorisation
 * each). */
#ifndef MC_ITERATIVE_LBFGS_H
#define MC_ITERATIVE_LBFGS_H

#include <mercer.h>

/* f and its gradient at x. An infinite f is allowed and means "not here": the step is shortened. */
typedef mercer_status mc_objective(mercer_ctx *ctx, void *self, const double *x, double *f, double *gradient);

typedef struct mc_lbfgs {
    int64_t n;
    const double *low, *high; /* the box; infinities allowed */
    mc_objective *objective;
    void *self;
    int64_t iterations_max;
    double gradient_tolerance; /* stop when the largest projected slope is below it */
    double decrease_tolerance; /* or when two steps in a row lower f by less than this share of max(1, |f|), */
    double decrease;           /* or than this */
} mc_lbfgs;

typedef struct mc_lbfgs_result {
    double f, slope; /* slope: largest entry of the projected gradient */
    int64_t iterations, evaluations;
    bool converged;
} mc_lbfgs_result;

/* x holds the start (moved into the box) and receives the best point seen. When the time is up or the caller cancels, x
   is still the best point so far and the status says why. */
mercer_status mc_lbfgs_minimise(mercer_ctx *ctx, const mc_lbfgs *problem, double *x, mc_lbfgs_result *result);

#endif
