/* pca.h: kernel principal components, between their files.

       pca.c          the machine: settings, sizes, the order of work
       pca_matrix.c   the matrix M = P S K S P as an operator and written out
       pca_solve.c    its largest eigenvalues: all of them at once, or by Krylov spaces from a low-rank start
       pca_certificate.c  scores, eigenvalues, residuals and the variance from the rows and the vectors alone */
#ifndef MC_LEARN_UNSUPERVISED_PCA_H
#define MC_LEARN_UNSUPERVISED_PCA_H

#include "gram/operator/gram.h"
#include "linalg/matrix.h"
#include "learn/common/machines.h"

/* S = diag(sqrt w); q = S 1 / |S 1|; P = I - q q', or I. */
typedef struct mc_pca_matrix {
    int64_t n, most;    /* most: columns of a product */
    const double *root; /* S; NULL: the identity */
    double *q;          /* NULL: not centred */
    double *room;       /* n x most */
    mc_matrix K;
} mc_pca_matrix;

/* Room for products of up to most columns; K is set by the caller. */
mercer_status mc_pca_matrix_open(mercer_ctx *ctx, const mc_problem *p, bool center, int64_t most, mc_pca_matrix *out);
void mc_pca_matrix_close(mc_pca_matrix *m);
size_t mc_pca_matrix_bytes(int64_t n, int64_t most);
mc_matrix mc_pca_products(const mc_pca_matrix *m);
/* V <- P V, n x t. */
void mc_pca_project(const mc_pca_matrix *m, int64_t t, double *V);
/* K, n x n and symmetric, -> M. */
void mc_pca_write(const mc_pca_matrix *m, double *K);

typedef struct mc_pca_result {
    int64_t products; /* of Krylov spaces; 0: all eigenvalues were computed */
    double positive;  /* dense: the sum of the eigenvalues above zero */
    bool settled;
} mc_pca_result;

/* V: n x k, row-major: orthonormal, of the largest eigenvalue first. */
mercer_status mc_pca_dense(mercer_ctx *ctx, const mc_problem *p, bool center, int64_t k, double *V, mc_pca_result *out);
size_t mc_pca_dense_bytes(mercer_ctx *ctx, const mc_problem *p);

/* Columns of a block, of the low-rank start, products of one round. */
typedef struct mc_pca_shape {
    int64_t k, block, rank, steps;
} mc_pca_shape;
mc_pca_shape mc_pca_shape_of(int64_t n, int64_t k);
/* The same with no more products a round than their basis has room in memory; kept: bytes held beside. */
mc_pca_shape mc_pca_shape_within(mercer_ctx *ctx, const mc_problem *p, int64_t k, size_t kept);
size_t mc_pca_krylov_bytes(mercer_ctx *ctx, const mc_problem *p, const mc_pca_shape *shape);
/* A search that can be taken up again: from X once it has started. precise: products in double. */
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

/* From V (n x k, changed in sign): out->alpha, intercept, spectrum, and of the report what follows from them. */
mercer_status mc_pca_finish(mercer_ctx *ctx, const mc_problem *p, bool center, int64_t k, double *V, mc_fitted *out);
size_t mc_pca_finish_bytes(mercer_ctx *ctx, const mc_problem *p, int64_t k);

#endif
