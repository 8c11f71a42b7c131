/* evidence.c: the evidence and its gradient from one factorisation: n^3/3 operations for the value, 2n^3/3 more for the
   inverse, and one pass over the pairs for all derivatives (gram/gradient/contract.c). */
#include "learn/gp/evidence.h"
#include "base/memory.h"
#include "base/status.h"
#include "data/table/data.h"
#include "backend/device.h"
#include "gram/gradient/contract_device.h"
#include "gram/operator/gram.h"
#include "kernel/language/kernel.h"
#include "learn/common/leave_out.h"
#include "learn/gp/evidence_estimate.h"
#include "linalg/cholesky.h"
#include "plan/cost.h"
#include <math.h>
#include <string.h>

struct mc_evidence {
    const mercer_data *x;
    mc_gram *lent;
    int64_t n, t;
    const double *Y, *root;
    mc_dense A;                  /* packed, here or on a device: the matrix, its factor, then its inverse */
    double *alpha;               /* n x t */
    double *shift;               /* n: the noise of each row; then the diagonal of the inverse */
    double *diagonal;            /* n: of the factor, or of the inverse */
    bool stays_here;             /* a device has failed, or was full */
    const mc_problem *estimated; /* NULL: it is computed */
    uint64_t seed;
    double error;
    mc_work work;
};

static void lay_out_evidence(mc_work *work, void *self) {
    mc_evidence *e = self;
    e->alpha = mc_work_take(work, e->n * e->t, sizeof *e->alpha);
    if (e->estimated)
        return;
    e->shift = mc_work_take(work, e->n, sizeof *e->shift);
    e->diagonal = mc_work_take(work, e->n, sizeof *e->diagonal);
}

size_t mc_evidence_bytes(int64_t n, int64_t t) {
    return sizeof(mc_evidence) + (size_t)mc_packed_count(n) * sizeof(double)
           + mc_slices_bytes(lay_out_evidence, &(mc_evidence){.n = n, .t = t}) + 6 * MC_ALIGN;
}

static mercer_status allocate_evidence(mercer_ctx *ctx, mc_evidence made, mc_evidence **out) {
    *out = NULL;
    mc_evidence *e = NULL;
    MC_TRY(MC_ALLOC(ctx, e, 1));
    *e = made;
    if (mc_work_lay(ctx, &e->work, lay_out_evidence, e)) {
        mc_free(e);
        return MERCER_MEMORY;
    }
    *out = e;
    return MERCER_OK;
}

mercer_status mc_evidence_open(mercer_ctx *ctx, const mercer_data *x, int64_t t, const double *Y, const double *root,
                               mc_evidence **out) {
    return allocate_evidence(ctx, (mc_evidence){.x = x, .n = x->n, .t = t, .Y = Y, .root = root}, out);
}

mercer_status mc_evidence_open_estimated(mercer_ctx *ctx, const mc_problem *p, uint64_t seed, mc_evidence **out) {
    const mc_evidence made = {.x = p->x, .n = p->n, .t = p->outputs, .estimated = p, .seed = seed};
    return allocate_evidence(ctx, made, out);
}

void mc_evidence_close(mc_evidence *e) {
    if (!e)
        return;
    mc_dense_free(&e->A);
    mc_work_close(&e->work);
    mc_free(e);
}

void mc_evidence_lend(mc_evidence *e, mc_gram *gram) {
    e->lent = gram;
}

double mc_evidence_device_bytes(int64_t n, int64_t t) {
    return ((double)mc_packed_count(n) + (double)n * (double)(3 * t + 80)) * sizeof(double) + 1e8;
}

double mc_evidence_operations(int64_t n, bool searching) {
    enum { EVALUATIONS = 20 }; /* that a search makes, at least */
    return searching ? EVALUATIONS * 3 * mc_factor_work((double)n) : mc_factor_work((double)n);
}

/* Memory for the matrix, where it will be worked on. */
static mercer_status choose_place(mercer_ctx *ctx, mc_evidence *e, const mercer_kernel *kernel, mc_gram *gram,
                                  bool searching) {
    struct mc_device *device = NULL;
    const bool held = e->A.device && e->A.a;
    if (held) /* its own memory is no obstacle */
        mc_dense_free(&e->A);
    if (!e->stays_here && mc_device_contracts(kernel, e->x))
        MC_TRY(mc_gram_place_algebra(ctx, gram, mc_evidence_operations(e->n, searching),
                                     mc_evidence_device_bytes(e->n, e->t), &device));
    if (e->A.a && e->A.device == device)
        return MERCER_OK;
    mc_dense_free(&e->A);
    return mc_dense_allocate(ctx, device, MC_PACKED, MERCER_F64, e->n, e->n, &e->A);
}

static mercer_status form_covariance(mercer_ctx *ctx, mc_evidence *e, const mercer_kernel *kernel, double noise,
                                     bool searching) {
    for (int64_t i = 0; i < e->n; i++)
        e->shift[i] = e->root ? noise / (e->root[i] * e->root[i]) : noise;
    mc_gram *own = NULL;
    if (!e->lent)
        MC_TRY(mc_gram_open(ctx, kernel, e->x, NULL, MERCER_F64, &own));
    mc_gram *gram = e->lent ? e->lent : own;
    mercer_status status = choose_place(ctx, e, kernel, gram, searching);
    MC_THEN(status, mc_gram_write(ctx, gram, NULL, e->shift, e->A));
    mc_gram_close(own);
    return status;
}

/* From the factor L and alpha = A^-1 Y. */
static double value_of(const mc_evidence *e) {
    double fit = 0, logs = 0;
    for (int64_t i = 0; i < e->n * e->t; i++)
        fit += e->Y[i] * e->alpha[i];
    for (int64_t i = 0; i < e->n; i++)
        logs += log(e->diagonal[i]);
    return -0.5 * fit - (double)e->t * (logs + 0.5 * (double)e->n * log(6.28318530717958647692));
}

/* M_ij of a block, from the packed inverse and alpha. */
static void block_of(const void *self, int64_t i0, int64_t i1, int64_t j0, int64_t j1, double *out, int64_t ld) {
    const mc_evidence *e = self;
    const double *A = e->A.a;
    for (int64_t i = i0; i < i1; i++)
        for (int64_t j = j0; j < j1; j++) {
            double m = -(double)e->t * A[i >= j ? mc_packed_place(e->n, i, j) : mc_packed_place(e->n, j, i)];
            for (int64_t k = 0; k < e->t; k++)
                m += e->alpha[i * e->t + k] * e->alpha[j * e->t + k];
            out[(i - i0) * ld + j - j0] = 0.5 * m;
        }
}

/* From the diagonal of the inverse. */
static double noise_slope(const mc_evidence *e, double noise) {
    double sum = 0;
    for (int64_t i = 0; i < e->n; i++) {
        double m = -(double)e->t * e->diagonal[i];
        for (int64_t k = 0; k < e->t; k++)
            m += e->alpha[i * e->t + k] * e->alpha[i * e->t + k];
        sum += 0.5 * m * e->shift[i] / noise;
    }
    return sum;
}

static mercer_status contract_on_device(mercer_ctx *ctx, const mc_evidence *e, const mercer_kernel *kernel,
                                        double *gradient) {
    double *half = NULL;
    MC_TRY(MC_ALLOC(ctx, half, e->n * e->t));
    for (int64_t i = 0; i < e->n * e->t; i++)
        half[i] = 0.5 * e->alpha[i];
    const mc_contract_matrix M = {
        .A = e->A, .factor = -0.5 * (double)e->t, .terms = e->t, .left = e->alpha, .right = half};
    const mercer_status status = mc_device_contract(ctx, e->A.device, kernel, e->x, &M, gradient);
    mc_free(half);
    return status;
}

static mercer_status find_gradient(mercer_ctx *ctx, mc_evidence *e, const mercer_kernel *kernel, double noise,
                                   double *gradient) {
    MC_TRY(mc_potri(ctx, e->A));
    MC_TRY(mc_dense_diagonal(ctx, e->A, e->diagonal));
    MC_TRY(e->A.device ? contract_on_device(ctx, e, kernel, gradient)
                       : mc_gram_contract(ctx, kernel, e->x, block_of, e, gradient));
    gradient[kernel->slots] = noise_slope(e, noise);
    return MERCER_OK;
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

static mercer_status compute_value(mercer_ctx *ctx, mc_evidence *e, const mercer_kernel *kernel, double noise,
                                   double *value, double *gradient) {
    int64_t bad;
    MC_TRY(form_covariance(ctx, e, kernel, noise, gradient != NULL));
    MC_TRY(mc_potrf(ctx, e->A, &bad));
    if (bad)
        return MERCER_OK;
    memcpy(e->alpha, e->Y, (size_t)(e->n * e->t) * sizeof *e->alpha);
    MC_TRY(mc_potrs(ctx, e->A, mc_row_major(e->alpha, e->n, e->t, e->t)));
    MC_TRY(mc_dense_diagonal(ctx, e->A, e->diagonal));
    *value = value_of(e);
    return gradient ? find_gradient(ctx, e, kernel, noise, gradient) : MERCER_OK;
}

static mercer_status value_where_possible(mercer_ctx *ctx, mc_evidence *e, const mercer_kernel *kernel, double noise,
                                          double *value, double *gradient) {
    if (e->estimated)
        return estimate_value(ctx, e, kernel, noise, value, gradient);
    const mercer_status status = compute_value(ctx, e, kernel, noise, value, gradient);
    if (!status || !e->A.device || !mc_device_leaves_it(ctx, e->A.device, status))
        return status;
    e->stays_here = true;
    *value = -INFINITY;
    return compute_value(ctx, e, kernel, noise, value, gradient);
}

mercer_status mc_evidence_value(mercer_ctx *ctx, mc_evidence *e, const mercer_kernel *kernel, double noise,
                                double *value, double *gradient) {
    *value = -INFINITY;
    const mercer_status status = value_where_possible(ctx, e, kernel, noise, value, gradient);
    if (!gradient || status != MERCER_NUMERIC)
        return status;
    *value = -INFINITY; /* parameters at which K has a value that no double holds: a search goes elsewhere */
    return MERCER_OK;
}

const double *mc_evidence_alpha(const mc_evidence *e) {
    return e->alpha;
}

/* Left out, row i has the mean y_i - a_i / B_ii and the variance 1 / B_ii, B = A^-1. */
mercer_status mc_evidence_leave_one_out(mercer_ctx *ctx, mc_evidence *e, double *density, double *rmse) {
    const mc_leave_out x = {.n = e->n, .outputs = e->t, .X = e->alpha, .step = e->t};
    double sum = 0, squares = 0;
    MC_TRY(mc_cholesky_inverse_diagonal(ctx, e->A, e->shift));
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
