/* driver.h: from rows to a certified function: the order of work of machines that solve, certify and refine.

       open      rows made ready (problem/problem.h), and what is to be found
       solve     in round 0 from the start; later what the certificate found wanting, from its exact values
       certify   from the rows and the coefficients alone (certify/)
       finish    what stays, and the report
       close     whatever open got to

   solve and certify take turns until nothing is wanting. A stop by the clock or the caller skips what is left of the
   solving; the point reached is certified like any other, whole, whatever the clock says. */
#ifndef MC_LEARN_COMMON_DRIVER_H
#define MC_LEARN_COMMON_DRIVER_H

#include "predict/fitted.h"
#include "problem/problem.h"

/* A machine as a table of steps; self is its state. */
typedef struct mc_driver_steps {
    int refinements; /* rounds of solving after the first, at most */
    mercer_status (*open)(mercer_ctx *ctx, void *self, const mercer_kernel *kernel, const mercer_data *data);
    /* *wanting <- whether there was anything to solve */
    mercer_status (*solve)(mercer_ctx *ctx, void *self, int round, bool *wanting);
    mercer_status (*certify)(mercer_ctx *ctx, void *self, mc_fitted *f);
    /* stopped: why the solving ended early; MERCER_OK: it did not. f gets all but kernel and scale. */
    mercer_status (*finish)(mercer_ctx *ctx, void *self, mercer_status stopped, mc_fitted *f);
    void (*close)(void *self);
    /* Whether the point a stop leaves is worth its certificate; NULL: always. */
    bool (*is_worth)(const void *self);
    /* Of a path: the next value of C or lambda, from the solution for the last one unless it is the first. */
    void (*turn)(void *self, double value, bool first);
} mc_driver_steps;

typedef struct mc_driver {
    const mc_driver_steps *steps;
    void *self;
    mc_problem *p; /* that of self */
    mercer_status stopped;
} mc_driver;

/* All of it; f gets kernel and scale too. */
mercer_status mc_drive_fit(mercer_ctx *ctx, mc_driver *d, const mercer_kernel *kernel, const mercer_data *data,
                           mc_fitted *out);
/* From solve to finish, of what is open. After the last of these: mc_driver_end. */
mercer_status mc_drive_once(mercer_ctx *ctx, mc_driver *d, mc_fitted *f);
void mc_driver_end(mercer_ctx *ctx, const mc_driver *d);
/* One solution after the other; each is shown the function of every value, number order[k] (NULL: k) at a time, with
   kernel and scale borrowed for the call. A stop ends it. */
mercer_status mc_drive_path(mercer_ctx *ctx, mc_driver *d, const mercer_kernel *kernel, const mercer_data *data,
                            const double *values, const int64_t *order, int64_t count, mc_fitted_each *each, void *arg);

#endif
