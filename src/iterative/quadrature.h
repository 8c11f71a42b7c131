/* quadrature.h: (K + lambda I) X = B by preconditioned conjugate gradients, and from the steps they take anyway what
   the logarithm of the matrix is in the direction of each column. */
#ifndef MC_ITERATIVE_QUADRATURE_H
#define MC_ITERATIVE_QUADRATURE_H

#include "linalg/matrix.h"

typedef struct mc_quadrature {
    int64_t n, t;
    mc_matrix K;
    double lambda;
    mc_matrix preconditioner; /* R -> P^-1 R */
    const double *B;          /* n x t, row-major */
    double tolerance;         /* a column is done when the norm of its residual that P^-1 gives has fallen by it */
    int64_t steps_max;
} mc_quadrature;

typedef struct mc_quadrature_result {
    double *logs;    /* t: q' log(P^-1/2 (K + lambda I) P^-1/2) q of the unit vector q along P^-1/2 b */
    double *squares; /* t: b' P^-1 b */
    int64_t steps;
    bool converged; /* false: too many steps, or K + lambda I showed itself not to be positive definite */
} mc_quadrature_result;

size_t mc_quadrature_bytes(int64_t n, int64_t t, int64_t steps_max);
/* X: n x t, written. */
mercer_status mc_quadrature_solve(mercer_ctx *ctx, const mc_quadrature *problem, double *X, mc_quadrature_result *out);

#endif
