/* ridge_system.h: the linear system of ridge regression, between ridge.c (the machine) and ridge_solve.c (the ways to
 * solve it). */
#ifndef MC_LEARN_RIDGE_SYSTEM_H
#define MC_LEARN_RIDGE_SYSTEM_H

#include "learn/problem.h"

typedef struct mc_ridge_system {
    const mc_problem *p;
    double lambda;
    bool intercept, loo;
    int64_t columns; /* of X: outputs, and one more with an intercept */
    double *X;       /* n x columns: S (Y - mean), s; then A^-1 of it */
    double *mean;    /* outputs: taken off Y first, so that a large offset costs no digits */
    double *alpha, *b;
    int64_t rank;
    double loo_rmse;
} mc_ridge_system;

mercer_status mc_ridge_cholesky(mercer_ctx *ctx, mc_ridge_system *system);
mercer_status mc_ridge_eigen(mercer_ctx *ctx, mc_ridge_system *system);

#endif
