/* ridge_system.h: the linear system of ridge regression, between ridge.c (the machine) and the ways to solve it:
   ridge_solve.c, ridge_pcg.c. */
#ifndef MC_LEARN_RIDGE_RIDGE_SYSTEM_H
#define MC_LEARN_RIDGE_RIDGE_SYSTEM_H

#include "certify/ridge_certificate.h"
#include "learn/common/leave_out.h"
#include "linalg/lanczos.h"

typedef struct mc_ridge_system {
    const mc_problem *p;
    double lambda;
    bool intercept, loo;
    int64_t columns; /* of X: outputs, and one more with an intercept */
    double *X;       /* n x columns: S (Y - mean), s; then A^-1 of it */
    double *mean;    /* outputs: taken off Y first, so that a large offset costs no digits */
    double *alpha, *b;
    double *weights; /* primal, in place of alpha: outputs x features */
    int64_t rank;
    double loo_rmse;
    double dof_found, gcv; /* with loo_rmse; NaN where they were not found on the way */
    double tolerance;      /* pcg is asked for: the relative residual, the rank (0: what pays), a file ("": none) */
    int64_t rank_asked;
    const char *checkpoint;
    /* pcg was chosen where a factorisation fits: after so many steps, or short of the tolerance, that is taken */
    int64_t steps_worth;
    const struct mc_ridge_size
        *trial;             /* whether it is shorter shows when its preconditioner stands; NULL: it is known */
    double norm_bound, dof; /* what lambda is to be found from; infinite and 0: it is given */
    int64_t iterations, iteration_bound;
    const char *stopped;              /* as in mercer_report */
    const char *solver;               /* that gave the answer: not always the one asked */
    mc_cached_product cached_product; /* of an iteration without an intercept; the check takes it over */
} mc_ridge_system;

mercer_status mc_ridge_cholesky(mercer_ctx *ctx, mc_ridge_system *system);
mercer_status mc_ridge_eigen(mercer_ctx *ctx, mc_ridge_system *system);
/* The factor in float; falls back to mc_ridge_cholesky. */
mercer_status mc_ridge_mixed(mercer_ctx *ctx, mc_ridge_system *system);
mercer_status mc_ridge_primal(mercer_ctx *ctx, mc_ridge_system *system);
mercer_status mc_ridge_pcg(mercer_ctx *ctx, mc_ridge_system *system);
/* b and alpha from X once it holds A^-1 of the right-hand sides. */
void mc_ridge_finish(mc_ridge_system *system);

/* X = S (Y - mean), and s. */
void mc_ridge_right_hand_sides(mc_ridge_system *system);
/* Once X holds A^-1 of the right-hand sides: its first columns become beta, and with z they are what rows and folds are
   left out from. */
mc_leave_out mc_ridge_leave_out(const mc_ridge_system *system);
/* Bytes of a device that a factor and what is solved with it take. */
double mc_ridge_factor_bytes(int64_t n, int64_t columns);
/* A = S K S + lambda I as a packed triangle; S K S as a square. */
mercer_status mc_ridge_pack(mercer_ctx *ctx, const mc_ridge_system *system, double *A);
/* X <- A^-1 of the right-hand sides, A <- its factor; *bad as of mc_cholesky_factor, and then X holds the right-hand
   sides. */
mercer_status mc_ridge_factor(mercer_ctx *ctx, mc_ridge_system *system, double *A, int64_t *bad);
mercer_status mc_ridge_square(mercer_ctx *ctx, const mc_ridge_system *system, double *M);
/* A is not positive definite: why, with the eigenvalues and a lambda that would do. */
mercer_status mc_ridge_refuse(mercer_ctx *ctx, const mc_ridge_system *system);
/* The same when the ends of the spectrum of S K S are known. */
mercer_status mc_ridge_explain(mercer_ctx *ctx, const mc_ridge_system *system, const mc_spectrum *ends);

/* Whether lambda is to be found, and whether what is asked for goes together. */
bool mc_ridge_finds_lambda(const mercer_ridge *set);
mercer_status mc_ridge_check_settings(mercer_ctx *ctx, const mercer_ridge *set);
struct mc_ridge_spectrum;
/* lambda from what was asked for instead of it; b: scratch for the offsets. */
mercer_status mc_ridge_find_lambda(mercer_ctx *ctx, mc_ridge_system *system, const struct mc_ridge_spectrum *spectrum,
                                   double *b);
/* The same from the eigenvalues m and eigenvectors U of S K S, of which those below zero are set to it. */
mercer_status mc_ridge_choose_lambda(mercer_ctx *ctx, mc_ridge_system *system, const double *U, double *m);

#endif
