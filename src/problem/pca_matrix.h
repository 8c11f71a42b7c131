/* pca_matrix.h: the matrix whose eigenvalues are the principal components, M = P S K S P: S = diag(sqrt w) the weights,
   P the projection that centres. As an operator, and written out. */
#ifndef MC_PROBLEM_PCA_MATRIX_H
#define MC_PROBLEM_PCA_MATRIX_H

#include "base/workspace.h"
#include "linalg/matrix.h"
#include "problem/problem.h"

/* S = diag(sqrt w); q = S 1 / |S 1|; P = I - q q', or I. */
typedef struct mc_pca_matrix {
    int64_t n, most;    /* most: columns of a product */
    const double *root; /* S; NULL: the identity */
    double *q;          /* NULL: not centred */
    double *scratch;    /* n x most */
    mc_work work;       /* that both lie in */
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

#endif
