/* evidence.c: the evidence and its gradient from one factorisation: n^3/3 operations for the value, 2n^3/3 more for the
   inverse, and one pass over the pairs for all derivatives (gram/gradient/contract.c). */
#include "learn/gp/evidence.h"
#include "base/memory.h"
#include "base/status.h"
#include "data/table/data.h"
#include "gram/gradient/contract.h"
#include "gram/operator/gram_matrix.h"
#include "kernel/language/kernel.h"
#include "learn/common/leave_out.h"
#include "learn/gp/evidence_estimate.h"
#include "linalg/cholesky.h"
#include <math.h>
#include <string.h>

struct mc_evidence {
    const mercer_data *x;
    const mc_gram *lent;
    int64_t n, t;
    const double *Y, *root;
    double *A;                   /* packed: the matrix, its factor, then its inverse */
    double *alpha;               /* n x t */
    double *shift;               /* n: the noise of each row; then the diagonal of the inverse */
    const mc_problem *estimated; /* NULL: it is computed */
    uint64_t seed;
    double error;
};

size_t mc_evidence_bytes(int64_t n, int64_t t) {
    return (size_t)(mc_packed_count(n) + n * t + n) * sizeof(double) + 4 * 2 * MC_ALIGN;
}

mercer_status mc_evidence_open(mercer_ctx *ctx, const mercer_data *x, int64_t t, const double *Y, const double *root,
                               mc_evidence **out) {
    *out = NULL;
    mc_evidence *e = NULL;
    MC_TRY(MC_ALLOC(ctx, e, 1));
    *e = (mc_evidence){.x = x, .n = x->n, .t = t, .Y = Y, .root = root};
    e->A = mc_alloc_unset(ctx, mc_packed_count(e->n), sizeof *e->A);
    if (!e->A || MC_ALLOC(ctx, e->alpha, e->n * t) || MC_ALLOC(ctx, e->shift, e->n)) {
        mc_evidence_close(e);
        return MERCER_MEMORY;
    }
    *out = e;
    return MERCER_OK;
}

mercer_status mc_evidence_open_estimated(mercer_ctx *ctx, const mc_problem *p, uint64_t seed, mc_evidence **out) {
    *out = NULL;
    mc_evidence *e = NULL;
    MC_TRY(MC_ALLOC(ctx, e, 1));
    *e = (mc_evidence){.x = p->x, .n = p->n, .t = p->outputs, .estimated = p, .seed = seed};
    if (MC_ALLOC(ctx, e->alpha, e->n * e->t)) {
        mc_evidence_close(e);
        return MERCER_MEMORY;
    }
    *out = e;
    return MERCER_OK;
}

void mc_evidence_close(mc_evidence *e) {
    if (!e)
        return;
    mc_free(e->A);
    mc_free(e->alpha);
    mc_free(e->shift);
    mc_free(e);
}

void mc_evidence_lend(mc_evidence *e, const mc_gram *gram) {
    e->lent = gram;
}

static mercer_status form_covariance(mercer_ctx *ctx, mc_evidence *e, const mercer_kernel *kernel, double noise) {
    for (int64_t i = 0; i < e->n; i++)
        e->shift[i] = e->root ? noise / (e->root[i] * e->root[i]) : noise;
    mc_gram *own = NULL;
    if (!e->lent)
        MC_TRY(mc_gram_open(ctx, kernel, e->x, NULL, MERCER_F64, &own));
    const mc_matrix K = mc_gram_matrix(e->lent ? e->lent : own);
    const mercer_status status = K.packed(ctx, K.self, e->shift, e->A);
    mc_gram_close(own);
    return status;
}

/* From the factor L and alpha = A^-1 Y. */
static double value_of(const mc_evidence *e) {
    double fit = 0, logs = 0;
    for (int64_t i = 0; i < e->n * e->t; i++)
        fit += e->Y[i] * e->alpha[i];
    for (int64_t i = 0; i < e->n; i++)
        logs += log(e->A[mc_packed_place(e->n, i, i)]);
    return -0.5 * fit - (double)e->t * (logs + 0.5 * (double)e->n * log(6.28318530717958647692));
}

/* M_ij of a block, from the packed inverse and alpha. */
static void block_of(const void *self, int64_t i0, int64_t i1, int64_t j0, int64_t j1, double *out, int64_t ld) {
    const mc_evidence *e = self;
    for (int64_t i = i0; i < i1; i++)
        for (int64_t j = j0; j < j1; j++) {
            double m = -(double)e->t * e->A[i >= j ? mc_packed_place(e->n, i, j) : mc_packed_place(e->n, j, i)];
            for (int64_t k = 0; k < e->t; k++)
                m += e->alpha[i * e->t + k] * e->alpha[j * e->t + k];
            out[(i - i0) * ld + j - j0] = 0.5 * m;
        }
}

static double noise_slope(const mc_evidence *e, double noise) {
    double sum = 0, m;
    for (int64_t i = 0; i < e->n; i++) {
        block_of(e, i, i + 1, i, i + 1, &m, 1);
        sum += m * e->shift[i] / noise;
    }
    return sum;
}

static mercer_status estimate_value(mercer_ctx *ctx, mc_evidence *e, const mercer_kernel *kernel, double noise,
                                    double *value, double *gradient) {
    mc_evidence_estimate found;
    MC_TRY(mc_estimate_evidence(ctx, e->estimated, kernel, noise, e->seed, e->alpha, gradient, &found));
    *value = found.value;
    e->error = found.error;
    return MERCER_OK;
}

double mc_evidence_error(const mc_evidence *e) {
    return e->error;
}

mercer_status mc_evidence_value(mercer_ctx *ctx, mc_evidence *e, const mercer_kernel *kernel, double noise,
                                double *value, double *gradient) {
    int64_t bad;
    *value = -INFINITY;
    if (e->estimated)
        return estimate_value(ctx, e, kernel, noise, value, gradient);
    MC_TRY(form_covariance(ctx, e, kernel, noise));
    MC_TRY(mc_potrf(ctx, mc_packed(e->n, e->A), &bad));
    if (bad)
        return MERCER_OK;
    memcpy(e->alpha, e->Y, (size_t)(e->n * e->t) * sizeof *e->alpha);
    MC_TRY(mc_potrs(ctx, mc_packed(e->n, e->A), mc_row_major(e->alpha, e->n, e->t, e->t)));
    *value = value_of(e);
    if (!gradient)
        return MERCER_OK;
    MC_TRY(mc_potri(ctx, mc_packed(e->n, e->A)));
    MC_TRY(mc_gram_contract(ctx, kernel, e->x, block_of, e, gradient));
    gradient[kernel->slots] = noise_slope(e, noise);
    return MERCER_OK;
}

const double *mc_evidence_alpha(const mc_evidence *e) {
    return e->alpha;
}

/* Left out, row i has the mean y_i - a_i / B_ii and the variance 1 / B_ii, B = A^-1. */
mercer_status mc_evidence_leave_one_out(mercer_ctx *ctx, mc_evidence *e, double *density, double *rmse) {
    const mc_leave_out x = {.n = e->n, .outputs = e->t, .X = e->alpha, .step = e->t};
    double sum = 0, squares = 0;
    MC_TRY(mc_cholesky_inverse_diagonal(ctx, mc_packed(e->n, e->A), e->shift));
    for (int64_t i = 0; i < e->n; i++) {
        const double B = mc_leave_out_pivot(&x, i, e->shift[i], INFINITY);
        for (int64_t k = 0; k < e->t; k++) {
            const double error = e->alpha[i * e->t + k] / B;
            sum += 0.5 * (log(B / 6.28318530717958647692) - error * error * B);
            squares += error * error;
        }
    }
    const double count = (double)(e->n * e->t);
    *rmse = sqrt(squares / count);
    *density = sum / count;
    return MERCER_OK;
}
