/* cost.h: what a solver costs, counted before it starts. A machine counts its work in these units, a fit
   chooses by the counts, the planner prices and prints them.

       pairs     kernel values in double, in the unit of a product of the whole symmetric K with the right-hand sides,
                 which evaluates half of n^2 values: n^2 pairs. A value of a rectangular block therefore counts for two
       fast      the same in float
       factor    multiplications and additions of products and factorisations in double; one in float counts for half
       eigen     as many as the cube of the order
       fourier   pairs of a cosine and a sine

   What one of each takes, on whatever does the work, is one table: plan/speed.c. */
#ifndef MC_PLAN_COST_H
#define MC_PLAN_COST_H

#include <stdbool.h>
#include <stddef.h>

enum { MC_SOLVER_OPTIONS_MAX = 8 };

typedef struct mc_solver_option {
    const char *solver, *reason;
    bool possible;
    size_t bytes; /* most that is held at once, beside what is held already */
    /* what there is to do, and, once priced, the seconds that takes on this machine */
    double pairs, fast, factor, eigen, fourier;
    double seconds;
} mc_solver_option;

typedef struct mc_solver_options {
    int count, chosen;
    bool automatic; /* not asked for by name */
    mc_solver_option option[MC_SOLVER_OPTIONS_MAX];
} mc_solver_options;

/* Operations of a factorisation and an eigendecomposition of order n, at the speed of large ones: half of it is reached
   at orders 700 and 800, by timing on one thread. */
static inline double mc_factor_work(double n) {
    return n * n * (n + 700) / 3;
}

static inline double mc_eigen_work(double n) {
    return n * n * (n + 800);
}

#endif
