/* ridge_certificate.h: how far a squared-loss fit can be from the exact optimum, found from the rows alone. */
#ifndef MC_CERTIFY_RIDGE_CERTIFICATE_H
#define MC_CERTIFY_RIDGE_CERTIFICATE_H

#include "certify/cached_product.h"
#include "gram/operator/gram.h"
#include "linalg/matrix.h"
#include "problem/problem.h"
#include <float.h>
#include <math.h>

#define MC_CERTIFY_SLACK 1.01 /* for what is of second order, a bound's own rounding included */

/* n u / (1 - n u): the relative error of a sum of n products. */
static inline double mc_rounding_gamma(int64_t n) {
    const double t = (double)n * DBL_EPSILON / 2;
    return t < 0.5 ? t / (1 - t) : INFINITY;
}

typedef struct mc_residual_findings {
    mercer_certificate certificate;
    double objective; /* sum of w (y - f - b)^2 + lambda |f|^2 over rows and outputs */
    double loss;      /* the first of the two sums */
    double norm;      /* sqrt of the sum of |f|^2 over outputs */
} mc_residual_findings;

/* What one output adds, and the sum of all. */
typedef struct mc_certify_column {
    double residual, rounding, target, objective, loss, square_norm, gap;
    double square_error;                /* what square_norm can be wrong by */
    double prediction, constant, slope; /* of a prediction: on rows like those of the fit; at any x */
} mc_certify_column;
void mc_certify_conclude(const char *kind, int64_t outputs, const mc_certify_column *columns,
                         mc_residual_findings *out);

/* Bytes beside the operator, and columns that it multiplies at once at most. */
int64_t mc_certify_columns_most(int64_t outputs);
size_t mc_certify_bytes(int64_t n, int64_t outputs);
/* alpha: n x outputs; intercept: outputs numbers, all 0 when the machine has none (free says whether it has). */
mercer_status mc_certify_squared_loss(mercer_ctx *ctx, const mc_problem *problem, double lambda, bool free_intercept,
                                      const double *alpha, const double *intercept, mc_residual_findings *out);

/* mc_certify_squared_loss with a cached product; NULL: none. */
mercer_status mc_certify_with_product(mercer_ctx *ctx, const mc_problem *problem, double lambda, bool free_intercept,
                                      const double *alpha, const double *intercept, const mc_cached_product *cached,
                                      mc_residual_findings *out);

/* The same for functions given by weights of the explicit features of their kernel, outputs x D, in n D operations. */
size_t mc_certify_weights_bytes(int64_t d, int64_t D, int64_t outputs, int threads, int64_t scratch);
mercer_status mc_certify_weights(mercer_ctx *ctx, const mc_problem *problem, double lambda, bool free_intercept,
                                 const double *weights, const double *intercept, mc_residual_findings *out);

#endif
