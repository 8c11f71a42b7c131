/* ridge_spectrum.h: ridge regression for every lambda at once, from the eigenvalues of M = S K S and the targets in the
   coordinates of its eigenvectors. One lambda costs O(n) per output. */
#ifndef MC_LEARN_RIDGE_RIDGE_SPECTRUM_H
#define MC_LEARN_RIDGE_RIDGE_SPECTRUM_H

#include <mercer.h>

typedef struct mc_ridge_spectrum {
    int64_t n, outputs, columns; /* columns of G: outputs, and one more with an intercept */
    bool intercept;
    int constants;   /* degrees of freedom that are there for every lambda, beside those of m and G */
    const double *m; /* n eigenvalues, ascending */
    double cutoff;   /* an eigenvalue up to here counts as zero when lambda is 0 */
    const double *G; /* n x columns: U' S (Y - mean), U' s */
} mc_ridge_spectrum;

/* What one lambda gives, summed over outputs. */
typedef struct mc_ridge_point {
    double loss;   /* sum w (y - f - b)^2 */
    double square; /* |f|^2 */
    double slope;  /* -1/2 of the derivative of square in lambda; of use for lambda > 0 */
    double beta;   /* |beta|^2 */
    double dof;    /* trace of the matrix that maps targets to fitted values */
    double trace;  /* trace of the matrix that maps S y to beta */
} mc_ridge_point;

/* 1 / (m_j + lambda); 0 for what counts as zero. */
double mc_ridge_inverse(const mc_ridge_spectrum *s, double lambda, int64_t j);
/* The intercepts for one lambda, less the mean: outputs numbers, 0 without an intercept. */
void mc_ridge_offsets(const mc_ridge_spectrum *s, double lambda, double *b);
/* b: scratch for the offsets. */
mc_ridge_point mc_ridge_point_at(const mc_ridge_spectrum *s, double lambda, double *b);

/* The smallest lambda with |f| <= bound: 0 when the least-squares function of least norm obeys it. */
mercer_status mc_ridge_for_norm(mercer_ctx *ctx, const mc_ridge_spectrum *s, double bound, double *b, double *lambda);
/* The lambda that leaves so many effective degrees of freedom. */
mercer_status mc_ridge_for_dof(mercer_ctx *ctx, const mc_ridge_spectrum *s, double dof, double *b, double *lambda);

#endif
