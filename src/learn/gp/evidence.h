/* evidence.h: the log marginal likelihood of Gaussian process regression and its gradient.

   y ~ N(0, A), A = K + noise W^-1, the columns of Y independent:
       L = -1/2 sum_k y_k' A^-1 y_k - (t/2) log det A - (t n / 2) log 2 pi
       dL/dtheta = sum_ij M_ij dA_ij/dtheta,  M = (sum_k a_k a_k' - t A^-1) / 2,  a_k = A^-1 y_k. */
#ifndef MC_LEARN_GP_EVIDENCE_H
#define MC_LEARN_GP_EVIDENCE_H

#include "problem/problem.h"

typedef struct mc_evidence mc_evidence;

/* Y: n x t, row-major; root: square roots of the weights, NULL: all 1. Both borrowed. Takes all the memory that values
 * and gradients need. */
mercer_status mc_evidence_open(mercer_ctx *ctx, const mercer_data *x, int64_t t, const double *Y, const double *root,
                               mc_evidence **out);
/* The same estimated (evidence_estimate.h): no memory that grows with the square of the rows. p is borrowed. */
mercer_status mc_evidence_open_estimated(mercer_ctx *ctx, const mc_problem *p, uint64_t seed, mc_evidence **out);
void mc_evidence_close(mc_evidence *e);
size_t mc_evidence_bytes(int64_t n, int64_t t);
/* Bytes of a device that a factorisation and a gradient take there; operations of one evaluation, or of a search. */
double mc_evidence_device_bytes(int64_t n, int64_t t);
double mc_evidence_operations(int64_t n, bool searching);

/* The operator of x in double for the values that follow, all of one kernel; NULL: each opens its own. */
void mc_evidence_lend(mc_evidence *e, mc_gram *gram);

/* kernel: bound to x. *value: -infinity when A is not positive definite in double precision. gradient (NULL: not
   wanted): one number per slot of the kernel, then one for the noise. */
mercer_status mc_evidence_value(mercer_ctx *ctx, mc_evidence *e, const mercer_kernel *kernel, double noise,
                                double *value, double *gradient);

/* After a value: its error, twice which holds in 95% of estimates; 0 where it is not estimated. */
double mc_evidence_error(const mc_evidence *e);
/* After a value: a = A^-1 Y (n x t). */
const double *mc_evidence_alpha(const mc_evidence *e);
/* After a finite value without its gradient, once, where it is not estimated: the mean log density of each row left
   out in turn. n^3/3 operations. */
mercer_status mc_evidence_leave_one_out(mercer_ctx *ctx, mc_evidence *e, double *density, double *rmse);

#endif
