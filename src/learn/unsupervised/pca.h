/* pca.h: kernel principal components, between their files.

       pca.c          the machine: settings, sizes, the order of work
       pca_solve.c    its largest eigenvalues: all of them at once, or by Krylov spaces from a low-rank start

   problem/pca_matrix.c has the matrix, certify/pca_certificate.c what is known of the vectors found. */
#ifndef MC_LEARN_UNSUPERVISED_PCA_H
#define MC_LEARN_UNSUPERVISED_PCA_H

#include "learn/common/machines.h"
#include "problem/pca_matrix.h"

typedef struct mc_pca_result {
    int64_t products; /* of Krylov spaces; 0: all eigenvalues were computed */
    double positive;  /* dense: the sum of the eigenvalues above zero */
    bool converged;
} mc_pca_result;

/* V: n x k, row-major: orthonormal, of the largest eigenvalue first. */
mercer_status mc_pca_dense(mercer_ctx *ctx, const mc_problem *p, bool center, int64_t k, double *V, mc_pca_result *out);
size_t mc_pca_dense_bytes(mercer_ctx *ctx, const mc_problem *p, int64_t k);

/* Columns of a block, of the low-rank start, products of one round; whether K is made once, as floats, and kept. */
typedef struct mc_pca_shape {
    int64_t k, block, rank, steps;
    bool stored;
} mc_pca_shape;
mc_pca_shape mc_pca_shape_of(int64_t n, int64_t k);
/* The same with K kept where there is room for it, and no more products a round than their basis has; kept: bytes held
   beside. */
mc_pca_shape mc_pca_shape_within(mercer_ctx *ctx, const mc_problem *p, int64_t k, size_t kept);
size_t mc_pca_krylov_bytes(mercer_ctx *ctx, const mc_problem *p, const mc_pca_shape *shape);
/* A search that can be resumed: from X once it has started. precise: products in double. */
typedef struct mc_pca_search {
    const mc_problem *p;
    mc_pca_shape shape;
    bool center, precise;
    double tolerance;
    double *X, *theta; /* n x block, and as many Ritz values */
    bool started;
} mc_pca_search;
/* After a stop by the clock or the caller X is as good as it got, once it has started. */
mercer_status mc_pca_krylov(mercer_ctx *ctx, mc_pca_search *search, mc_pca_result *out);

#endif
