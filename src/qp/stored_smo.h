/* stored_smo.h: the quadratic program of smo.h over a K that lies in memory in double, of which it has one or two runs
   of rows: all rows, a pair of classes among many, all rows once above and once below the tube. No set is chosen and
   nothing is gathered: K is read where it lies, by as many programs at once as there are threads. */
#ifndef MC_QP_STORED_SMO_H
#define MC_QP_STORED_SMO_H

#include "backend/smo_body.h"
#include "base/workspace.h"
#include "qp/smo.h"

/* Run r of the variables, in their order, has rows first[r] .. first[r] + count[r] - 1 of K. */
typedef struct mc_kernel_runs {
    int runs;
    int64_t first[MC_SMO_RUNS], count[MC_SMO_RUNS];
    const double *K; /* symmetric, ld doubles from row to row */
    int64_t ld;
    const double *diagonal; /* of K */
    mc_isa isa;
} mc_kernel_runs;

/* The ld of n rows: lanes beyond the last column are read, and are to be zeros. */
static inline int64_t mc_kernel_runs_ld(int64_t n) {
    return (n + MC_LANES - 1) / MC_LANES * MC_LANES + MC_LANES;
}

/* Bytes of scratch for m variables. */
size_t mc_stored_smo_bytes(int64_t m);
/* As mc_smo_solve, on the thread that calls, with scratch from work, for at most steps_max steps beyond those of
   *result. A program with groups has one run for each. */
void mc_stored_smo_solve(const mc_dual *dual, const mc_kernel_runs *K, double tolerance, int64_t steps_max,
                         mc_work *work, double *beta, double *f, mc_smo_result *result);
/* small_newton.c: a solution that meets its tolerance, brought to all digits where so few variables are free that it
   costs nothing. */
void mc_small_newton(const mc_dual *dual, const mc_kernel_runs *K, double tolerance, mc_work *work, double *beta,
                     double *f);
/* f_i <- (K c)_i for begin <= i < end, sums in double and in the order of the rows; f and c have a number for each row
   of the program. */
void mc_kernel_runs_multiply(const mc_kernel_runs *K, const double *c, int64_t begin, int64_t end, double *f);

#endif
