/* posterior.c: what a Gaussian process knows at new rows: standard deviations and whole functions drawn at random.

   A = K + diag(noise) = L L' over the centres. At rows X*, with V = L^-1 k(X, X*):
       variance   k(x, x) - |v|^2 for each row, 0 where rounding makes it negative
       samples    mean + C z,  C C' = k(X*, X*) - V'V,  z standard normal
   The covariance of m rows gets the least shift of its diagonal, a multiple of its own rounding error, that lets it be
   factored. */
#include "backend/device.h"
#include "base/ctx.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "base/rng.h"
#include "base/status.h"
#include "gram/operator/gram.h"
#include "model/widen.h"
#include "linalg/cholesky.h"
#include "linalg/dense.h"
#include "plan/cost.h"
#include <math.h>
#include <string.h>

enum { BLOCK = 256 }; /* rows taken together: n x BLOCK numbers of scratch */

struct mercer_posterior {
    const mercer_model *model;
    double *L; /* packed */
};

/* The factor made on a device and copied here, where the posterior may outlive the context; *done: there was one. */
static mercer_status factor_on_device(mercer_ctx *ctx, const mercer_posterior *p, mc_gram *gram, int64_t *bad,
                                      bool *done) {
    const int64_t n = p->model->f.centres->n;
    const double bytes = (double)(mc_packed_count(n) + 32 * n) * sizeof(double) + 1e8;
    mc_device *device = NULL;
    mc_dense L = {0};
    MC_TRY(mc_gram_place_algebra(ctx, gram, mc_factor_work((double)n), bytes, &device));
    if (!device)
        return MERCER_OK;
    mercer_status status = mc_dense_allocate(ctx, device, MC_PACKED, MERCER_F64, n, n, &L);
    MC_THEN(status, mc_gram_write(ctx, gram, NULL, p->model->f.noise, L));
    MC_THEN(status, mc_potrf(ctx, L, bad));
    MC_THEN(status, mc_dense_copy(ctx, L, mc_packed(n, p->L)));
    mc_dense_free(&L);
    *done = !status;
    return status && mc_device_leaves_it(ctx, device, status) ? MERCER_OK : status;
}

static mercer_status factor_here(mercer_ctx *ctx, const mercer_posterior *p, const mc_gram *gram, int64_t *bad) {
    MC_TRY(mc_gram_packed(ctx, gram, p->model->f.noise, p->L));
    mc_begin_phase(ctx, "factor");
    return mc_potrf(ctx, mc_packed(p->model->f.centres->n, p->L), bad);
}

static mercer_status factor_gram(mercer_ctx *ctx, mercer_posterior *p) {
    const mc_fitted *f = &p->model->f;
    const int64_t n = f->centres->n;
    mc_gram *gram = NULL;
    int64_t bad = 0;
    bool done = false;
    MC_TRY(MC_ALLOC(ctx, p->L, mc_packed_count(n)));
    MC_TRY(mc_gram_open(ctx, f->kernel, f->centres, NULL, MERCER_F64, &gram));
    mercer_status status = factor_on_device(ctx, p, gram, &bad, &done);
    if (!done)
        MC_THEN(status, factor_here(ctx, p, gram, &bad));
    mc_gram_close(gram);
    MC_TRY(status);
    return bad ? mc_fail(ctx, MERCER_NUMERIC,
                         "posterior: K + noise is not positive definite in double precision; fit with more noise")
               : MERCER_OK;
}

mercer_status mercer_posterior_open(mercer_ctx *ctx, const mercer_model *model, mercer_posterior **out) {
    MC_CLEAR(out);
    MC_NEED(ctx, model, out);
    mc_begin_call(ctx);
    if (!model->f.noise)
        return mc_fail(ctx, MERCER_INVALID,
                       "posterior: a %s model has no uncertainty of its predictions; fit with the machine gp",
                       model->f.report.machine);
    mercer_posterior *p = NULL;
    MC_TRY(MC_ALLOC(ctx, p, 1));
    p->model = model;
    const mercer_status status = factor_gram(ctx, p);
    if (status) {
        mercer_posterior_free(p);
        return status;
    }
    *out = p;
    return MERCER_OK;
}

void mercer_posterior_free(mercer_posterior *posterior) {
    if (posterior)
        mc_free(posterior->L);
    mc_free(posterior);
}

/* V <- L^-1 k(X, rows), n x m row-major; rows are scaled already. */
static mercer_status whiten_cross_gram(mercer_ctx *ctx, const mercer_posterior *p, const mercer_data *rows, double *V) {
    const mc_fitted *f = &p->model->f;
    const int64_t n = f->centres->n;
    mc_gram *gram = NULL;
    MC_TRY(mc_gram_open(ctx, f->kernel, f->centres, rows, MERCER_F64, &gram));
    mercer_status status = mc_gram_block(ctx, gram, 0, n, 0, rows->n, MERCER_F64, V, rows->n);
    mc_gram_close(gram);
    MC_THEN(status, mc_trtrs(ctx, mc_packed(n, p->L), false, mc_row_major(V, n, rows->n, rows->n)));
    return status;
}

static mercer_status gram_diagonal(mercer_ctx *ctx, const mercer_posterior *p, const mercer_data *rows, double *out) {
    mc_gram *gram = NULL;
    MC_TRY(mc_gram_open(ctx, p->model->f.kernel, rows, NULL, MERCER_F64, &gram));
    const mercer_status status = mc_gram_diagonal(ctx, gram, out);
    mc_gram_close(gram);
    return status;
}

static mercer_status std_of(mercer_ctx *ctx, const mercer_posterior *p, const mercer_data *rows, double *V,
                            double *out) {
    const int64_t n = p->model->f.centres->n, m = rows->n;
    MC_TRY(whiten_cross_gram(ctx, p, rows, V));
    MC_TRY(gram_diagonal(ctx, p, rows, out));
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < m; j++)
            out[j] -= V[i * m + j] * V[i * m + j];
    for (int64_t j = 0; j < m; j++)
        out[j] = sqrt(fmax(0, out[j]));
    return MERCER_OK;
}

/* The rows begin .. end-1, scaled as the training rows were. */
static mercer_status scaled_rows(mercer_ctx *ctx, const mercer_posterior *p, const mercer_data *data, int64_t begin,
                                 int64_t end, mercer_data **out) {
    mercer_data *taken = NULL;
    *out = NULL;
    MC_TRY(mc_data_range(ctx, data, begin, end, &taken));
    const mercer_status status = mc_scale_apply(ctx, &p->model->f.scale, taken, out);
    mercer_data_free(taken);
    return status;
}

static mercer_status std_of_all(mercer_ctx *ctx, const mercer_posterior *posterior, const mercer_data *data,
                                double *out) {
    mc_begin_phase(ctx, "uncertainty");
    double *V = NULL;
    mercer_status status = MC_ALLOC(ctx, V, posterior->model->f.centres->n * (data->n < BLOCK ? data->n : BLOCK));
    for (int64_t begin = 0; begin < data->n && !status; begin += BLOCK) {
        const int64_t end = begin + BLOCK < data->n ? begin + BLOCK : data->n;
        mercer_data *rows = NULL;
        mc_set_phase_span(ctx, (double)begin / (double)data->n, (double)end / (double)data->n);
        status = scaled_rows(ctx, posterior, data, begin, end, &rows);
        MC_THEN(status, std_of(ctx, posterior, rows, V, out + begin));
        mercer_data_free(rows);
    }
    mc_free(V);
    return status;
}

mercer_status mercer_posterior_std(mercer_ctx *ctx, const mercer_posterior *posterior, const mercer_data *data,
                                   double *out) {
    MC_NEED(ctx, posterior, data, out);
    mc_begin_call(ctx);
    mc_matched m;
    MC_TRY(mc_match_columns(ctx, posterior->model, data, true, &m));
    const mercer_posterior p = {.model = m.model, .L = posterior->L};
    const mercer_status status = std_of_all(ctx, &p, m.rows, out);
    mc_matched_free(&m);
    return status;
}

/* ---- Samples ---- */

typedef struct covariance_taking {
    int64_t n, m;
    const double *V;
    double *C;
} covariance_taking;

/* C <- C - V'V, columns [begin, end) of the packed lower half. */
static void take_products(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk, (void)thread;
    const covariance_taking *t = arg;
    for (int64_t j = begin; j < end; j++)
        for (int64_t i = j; i < t->m; i++) {
            double sum = 0;
            for (int64_t k = 0; k < t->n; k++)
                sum += t->V[k * t->m + i] * t->V[k * t->m + j];
            t->C[mc_packed_place(t->m, i, j)] -= sum;
        }
}

/* C, packed: the lower half of k(X*, X*) - V'V. */
static mercer_status posterior_covariance(mercer_ctx *ctx, const mercer_posterior *p, const mercer_data *rows,
                                          const double *V, double *C) {
    const int64_t n = p->model->f.centres->n, m = rows->n;
    mc_gram *gram = NULL;
    MC_TRY(mc_gram_open(ctx, p->model->f.kernel, rows, NULL, MERCER_F64, &gram));
    const mercer_status status = mc_gram_packed(ctx, gram, NULL, C);
    mc_gram_close(gram);
    MC_TRY(status);
    covariance_taking t = {n, m, V, C};
    return mc_for(ctx, m, 1, take_products, &t);
}

/* C -> its factor, with the diagonal raised by a growing multiple of rounding until that is possible. Where k(x, x) is
   so small that no shift is above 0, there is nothing to draw. */
static mercer_status factor_covariance(mercer_ctx *ctx, int64_t m, double scale, const double *C, double *L) {
    const int64_t count = mc_packed_count(m);
    const double least = (double)m * 0x1p-50 * scale;
    int64_t bad = !(least == 0);
    if (!bad)
        memset(L, 0, (size_t)count * sizeof *L);
    for (double shift = least; bad; shift *= 10) {
        memcpy(L, C, (size_t)count * sizeof *L);
        for (int64_t i = 0; i < m; i++)
            L[mc_packed_place(m, i, i)] += shift;
        MC_TRY(mc_potrf(ctx, mc_packed(m, L), &bad));
        if (bad && !(shift <= 1e-3 * scale && isfinite(scale)))
            return mc_fail(ctx, MERCER_NUMERIC, "posterior: the covariance at these rows is not positive semidefinite");
    }
    return MERCER_OK;
}

static mercer_status add_random_draws(mercer_ctx *ctx, const double *L, int64_t m, int64_t count, uint64_t seed,
                                      double *z, double *out) {
    for (int64_t s = 0; s < count; s++) {
        MC_TRY(mc_report_progress(ctx, (double)s / (double)count));
        mc_rng rng = mc_rng_at(seed, MC_STREAM_POSTERIOR, (uint64_t)s);
        for (int64_t i = 0; i < m; i++)
            z[i] = mc_rng_normal(&rng);
        for (int64_t i = 0; i < m; i++)
            for (int64_t j = 0; j <= i; j++)
                out[i * count + s] += L[mc_packed_place(m, i, j)] * z[j];
    }
    return MERCER_OK;
}

/* out holds the means; add the draws. */
static mercer_status sample_posterior(mercer_ctx *ctx, const mercer_posterior *p, const mercer_data *rows,
                                      int64_t count, uint64_t seed, double *out) {
    const int64_t n = p->model->f.centres->n, m = rows->n, packed = mc_packed_count(m);
    double *V = NULL, *C = NULL, *L = NULL, *z = NULL, scale = 0;
    mercer_status status = MC_ALLOC(ctx, V, n * m);
    MC_THEN(status, MC_ALLOC(ctx, C, packed));
    MC_THEN(status, MC_ALLOC(ctx, L, packed));
    MC_THEN(status, MC_ALLOC(ctx, z, m));
    MC_THEN(status, whiten_cross_gram(ctx, p, rows, V));
    MC_THEN(status, gram_diagonal(ctx, p, rows, z));
    for (int64_t i = 0; i < m && !status; i++)
        scale = fmax(scale, z[i]);
    MC_THEN(status, posterior_covariance(ctx, p, rows, V, C));
    MC_THEN(status, factor_covariance(ctx, m, scale, C, L));
    MC_THEN(status, add_random_draws(ctx, L, m, count, seed, z, out));
    double *all[] = {V, C, L, z};
    for (int i = 0; i < 4; i++)
        mc_free(all[i]);
    return status;
}

static mercer_status sample_all(mercer_ctx *ctx, const mercer_posterior *posterior, const mercer_data *data,
                                int64_t output, int64_t count, uint64_t seed, double *out) {
    const int64_t outputs = posterior->model->f.outputs;
    double *mean = NULL;
    mercer_data *rows = NULL;
    MC_TRY(MC_ALLOC(ctx, mean, data->n * outputs));
    mercer_status status = mc_model_predict(ctx, posterior->model, data, mean);
    for (int64_t i = 0; i < data->n && !status; i++)
        for (int64_t s = 0; s < count; s++)
            out[i * count + s] = mean[i * outputs + output];
    mc_free(mean);
    MC_THEN(status, scaled_rows(ctx, posterior, data, 0, data->n, &rows));
    MC_THEN(status, sample_posterior(ctx, posterior, rows, count, seed, out));
    mercer_data_free(rows);
    return status;
}

mercer_status mercer_posterior_sample(mercer_ctx *ctx, const mercer_posterior *posterior, const mercer_data *data,
                                      int64_t output, int64_t count, uint64_t seed, double *out) {
    MC_NEED(ctx, posterior, data, out);
    mc_begin_call(ctx);
    const int64_t outputs = posterior->model->f.outputs;
    if (output < 0 || output >= outputs || count < 0)
        return mc_fail(ctx, MERCER_INVALID, "posterior: output %lld of %lld, %lld samples", (long long)output,
                       (long long)outputs, (long long)count);
    mc_matched m;
    MC_TRY(mc_match_columns(ctx, posterior->model, data, true, &m));
    const mercer_posterior p = {.model = m.model, .L = posterior->L};
    const mercer_status status = sample_all(ctx, &p, m.rows, output, count, seed, out);
    mc_matched_free(&m);
    return status;
}
