/* krylov.h: the largest eigenvalues of a symmetric positive semidefinite operator, with their eigenvectors, from few
   products of many columns with it. */
#ifndef MC_LINALG_KRYLOV_H
#define MC_LINALG_KRYLOV_H

#include "linalg/matrix.h"

typedef struct mc_krylov_problem {
    mc_matrix A;
    int64_t wanted;   /* eigenvectors that must settle */
    int64_t block;    /* columns of the start, and of every product: at least wanted */
    int64_t steps;    /* products at most; (steps + 1) * block must not exceed n */
    double tolerance; /* settled: |A v - theta v| <= tolerance * the largest theta, as estimated from the basis */
} mc_krylov_problem;

typedef struct mc_krylov_result {
    int64_t products;
    double residual; /* the largest |A v - theta v| among the wanted, as estimated */
    bool settled;
} mc_krylov_result;

/* Bytes a run takes. */
size_t mc_krylov_bytes(mercer_ctx *ctx, int64_t n, int64_t block, int64_t steps);
/* X: n x block, row-major: the start, whose columns may have any length; then orthonormal Ritz vectors, the largest
   Ritz value first. theta: block numbers. Start again from X to go on. A stop by the clock or the caller returns that
   status with X the vectors of the products there were. */
mercer_status mc_krylov_solve(mercer_ctx *ctx, const mc_krylov_problem *problem, double *X, double *theta,
                              mc_krylov_result *result);

#endif
