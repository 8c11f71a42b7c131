/* pca_matrix.c: the matrix whose eigenvectors are the principal components.

   Rows of weight w_i with mean mu = sum w_i phi(x_i) / W, W = sum w: the covariance operator sum w_i (phi_i - mu)(phi_i
   - mu)' has the eigenvalues of

       M = P S K S P,    S = diag(sqrt w),  q = S 1 / sqrt W,  P = I - q q',

   since S (I - 1 w'/W) = (I - q q') S. Not centred: P = I. A product of K is all that M needs. */
#include "base/memory.h"
#include "base/parallel.h"
#include "base/status.h"
#include "base/workspace.h"
#include "problem/pca_matrix.h"
#include <math.h>

static double root_of(const mc_pca_matrix *m, int64_t i) {
    return m->root ? m->root[i] : 1;
}

static void lay_out_pca_matrix(mc_work *work, void *self) {
    mc_pca_matrix *m = self;
    m->q = mc_work_take(work, m->n, sizeof *m->q);
    m->scratch = mc_work_take(work, m->n * m->most, sizeof *m->scratch);
}

size_t mc_pca_matrix_bytes(int64_t n, int64_t most) {
    return mc_slices_bytes(lay_out_pca_matrix, &(mc_pca_matrix){.n = n, .most = most}) + 2 * MC_ALIGN;
}

mercer_status mc_pca_matrix_open(mercer_ctx *ctx, const mc_problem *p, bool center, int64_t most, mc_pca_matrix *out) {
    *out = (mc_pca_matrix){.n = p->n, .most = most, .root = p->root};
    MC_TRY(mc_work_lay(ctx, &out->work, lay_out_pca_matrix, out));
    if (!center) {
        out->q = NULL;
        return MERCER_OK;
    }
    long double W = 0;
    for (int64_t i = 0; i < p->n; i++)
        W += (long double)root_of(out, i) * root_of(out, i);
    for (int64_t i = 0; i < p->n; i++)
        out->q[i] = (double)(root_of(out, i) / sqrtl(W));
    return MERCER_OK;
}

void mc_pca_matrix_close(mc_pca_matrix *m) {
    mc_work_close(&m->work);
    *m = (mc_pca_matrix){0};
}

/* Column by column: a sum over the rows in their order. */
void mc_pca_project(const mc_pca_matrix *m, int64_t t, double *V) {
    for (int64_t k = 0; m->q && k < t; k++) {
        double along = 0;
        for (int64_t i = 0; i < m->n; i++)
            along += m->q[i] * V[i * t + k];
        for (int64_t i = 0; i < m->n; i++)
            V[i * t + k] -= along * m->q[i];
    }
}

static void scale_rows(const mc_pca_matrix *m, int64_t t, double *V) {
    for (int64_t i = 0; m->root && i < m->n; i++)
        for (int64_t k = 0; k < t; k++)
            V[i * t + k] *= m->root[i];
}

static mercer_status apply_centred_kernel(mercer_ctx *ctx, const void *self, int64_t t, const double *V, double *Y) {
    const mc_pca_matrix *m = self;
    for (int64_t i = 0; i < m->n * t; i++)
        m->scratch[i] = V[i];
    mc_pca_project(m, t, m->scratch);
    scale_rows(m, t, m->scratch);
    MC_TRY(m->K.apply(ctx, m->K.self, t, m->scratch, Y));
    scale_rows(m, t, Y);
    mc_pca_project(m, t, Y);
    return MERCER_OK;
}

mc_matrix mc_pca_products(const mc_pca_matrix *m) {
    return (mc_matrix){.n = m->n, .apply = apply_centred_kernel, .self = m};
}

/* M = A - q (A q)' - (A q) q' + (q' A q) q q', A = S K S; scratch holds A q. */
void mc_pca_write(const mc_pca_matrix *m, double *K) {
    const int64_t n = m->n;
    long double whole = 0;
    for (int64_t i = 0; m->root && i < n; i++)
        for (int64_t j = 0; j < n; j++)
            K[i * n + j] *= m->root[i] * m->root[j];
    for (int64_t i = 0; m->q && i < n; i++) {
        long double sum = 0;
        for (int64_t j = 0; j < n; j++)
            sum += (long double)K[i * n + j] * m->q[j];
        m->scratch[i] = (double)sum;
        whole += sum * m->q[i];
    }
    for (int64_t i = 0; m->q && i < n; i++)
        for (int64_t j = 0; j < n; j++)
            K[i * n + j] += m->q[i] * (double)whole * m->q[j] - (m->q[i] * m->scratch[j] + m->scratch[i] * m->q[j]);
}
