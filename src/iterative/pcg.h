/* pcg.h: solve (K + D) X = B for t right-hand sides at once, K a symmetric positive semidefinite operator, D a positive
 * diagonal. */
#ifndef MC_ITERATIVE_PCG_H
#define MC_ITERATIVE_PCG_H

#include "linalg/matrix.h"

typedef struct mc_pcg mc_pcg;

typedef struct mc_pcg_problem {
    int64_t n, t;
    mc_matrix fast;    /* K for the iterations: float32 tiles, or stored */
    mc_matrix reduced; /* a rougher K for the steps once the residual is small; apply NULL: none */
    mc_matrix exact;   /* K for the residuals that count: float64 */
    /* what one run of the fast operator can be trusted to gain; 0: 1e-5, as with products in float */
    double floor;
    double exact_error;       /* |v'(computed K v) - v'K v| <= exact_error v'v: curvature below minus this is real */
    const double *diagonal;   /* D, n entries > 0 */
    mc_matrix preconditioner; /* R -> P^-1 R; apply NULL: none */
    const double *B;          /* n x t, row-major */
    double tolerance; /* stop when every column has |b - A x| <= tolerance |b|, measured with the exact operator */
    int64_t iterations_max;
    /* inner steps without a new smallest residual before refinement steps in: plateaus as long as the square root of
       the condition number are nothing unusual; 0: 40 */
    int64_t patience;
} mc_pcg_problem;

typedef struct mc_pcg_result {
    int64_t iterations;       /* products inside conjugate gradients */
    int64_t refinements;      /* residuals by the exact operator */
    double residual_relative; /* worst column, of the X that stands, by the exact operator */
    /* false at the end: the exact operator's precision does not reach further, or no iterations are left */
    bool converged;
    /* p'Ap/p'p < 0 of the direction that showed A not to be positive definite; 0: there was none */
    double curvature;
    int64_t column; /* of that direction */
} mc_pcg_result;

/* Bytes a solve takes. */
size_t mc_pcg_bytes(int64_t n, int64_t t);
/* Iterations that suffice for a reduction by tolerance at this condition number: ceil(sqrt(kappa)/2 * ln(2/tolerance)).
 */
int64_t mc_pcg_iteration_bound(double kappa, double tolerance);

/* X: the start (zeros will do), then the answer. An A that shows itself not to be positive definite is a numeric error.
   A stop by the clock or the caller returns that status with X the best iterate so far; its residual is then for the
   caller to measure. Running out of iterations is not an error: converged says. */
mercer_status mc_pcg_solve(mercer_ctx *ctx, const mc_pcg_problem *problem, double *X, mc_pcg_result *result);

/* The same, step by step, so that a run can be saved and continued to the same bits. */
mercer_status mc_pcg_open(mercer_ctx *ctx, const mc_pcg_problem *problem, double *X, mc_pcg **out);
/* One product with K; *done once the answer stands in X or the iterations are used up. */
mercer_status mc_pcg_step(mercer_ctx *ctx, mc_pcg *pcg, bool *done);
/* Add the unfinished correction to X, so that X is the best iterate. */
mercer_status mc_pcg_settle(mercer_ctx *ctx, mc_pcg *pcg);
const mc_pcg_result *mc_pcg_progress(const mc_pcg *pcg);
/* The direction of negative curvature, n numbers, once progress shows one. */
void mc_pcg_direction(const mc_pcg *pcg, double *out);
/* The whole state (but X and the problem) as one block of bytes, to write and to read back into a fresh mc_pcg of the
 * same problem. */
void *mc_pcg_state(mc_pcg *pcg, size_t *bytes);
/* Whether a state that was read back is one that a run can have: flags, counts and places in their ranges, all numbers
   finite. */
bool mc_pcg_state_holds(const mc_pcg *pcg);
void mc_pcg_close(mc_pcg *pcg);

#endif
