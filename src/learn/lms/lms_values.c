/* lms_values.c: the fitted values that LMS corrects, by features, by a stored K, or by rows of K computed when they are
   needed.

   With an explicit map the state of the method is theta = sum_j alpha_j phi(x_j): a step on row i adds step (y_i -
   f(x_i)) phi(x_i) to it, which is the same as adding step (y_i - f(x_i)) to alpha_i. Both are kept while it runs, so
   that the steps are the same whichever way is taken; the model is theta then, and keeps no row. Sums run in one order
   on any number of threads. */
#include "base/memory.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "base/status.h"
#include "base/workspace.h"
#include "data/table/data.h"
#include "gram/operator/gram.h"
#include "kernel/evaluate/feature_map.h"
#include "learn/lms/lms.h"
#include "linalg/dense.h"
#include <string.h>

enum {
    ROW_GRAIN = 64,
    PART_GRAIN = 1024,
    LANES = 8,
    PRODUCTS = 1 << 16 /* numbers multiplied, below which a chunk is not worth another thread */
};

const char *const mc_lms_names[MC_LMS_SOLVERS] = {
    [MC_LMS_FEATURES] = "features", [MC_LMS_STORED] = "stored", [MC_LMS_STREAMED] = "streamed"};

/* ---- Opening ---- */

/* phi of every row; *out is new. */
static mercer_status map_data(mercer_ctx *ctx, const mc_features *map, const mercer_data *x, double **out) {
    MC_TRY(MC_ALLOC(ctx, *out, x->n * mc_features_dimension(map)));
    return mc_features_of_rows(ctx, map, x, *out);
}

static mercer_status open_features(mercer_ctx *ctx, const mc_problem *p, const mercer_data *held, mc_lms_values *v) {
    mc_features *map = NULL;
    MC_TRY(mc_features_open(ctx, p->kernel->root, p->x->d, &map));
    v->width = mc_features_dimension(map);
    mercer_status status = map_data(ctx, map, p->x, &v->left);
    if (!status && held)
        status = map_data(ctx, map, held, &v->right);
    mc_features_close(map);
    MC_TRY(status);
    MC_TRY(MC_ALLOC(ctx, v->theta, v->width * v->t));
    return MC_ALLOC(ctx, v->part, v->width * v->t * mc_chunk_count(v->n, PART_GRAIN));
}

/* All of K(x, z), z NULL for x itself; *out is new. */
static mercer_status store_kernel_values(mercer_ctx *ctx, const mc_problem *p, const mercer_data *x,
                                         const mercer_data *z, double **out) {
    const int64_t columns = z ? z->n : x->n;
    mc_gram *gram = NULL;
    *out = mc_alloc_unset(ctx, x->n * columns, sizeof **out);
    if (!*out)
        return MERCER_MEMORY;
    MC_TRY(mc_gram_open(ctx, p->kernel, x, z, MERCER_F64, &gram));
    const mercer_status status = mc_gram_block(ctx, gram, 0, x->n, 0, columns, MERCER_F64, *out, columns);
    mc_gram_close(gram);
    return status;
}

static mercer_status open_stored(mercer_ctx *ctx, const mc_problem *p, const mercer_data *held, mc_lms_values *v) {
    MC_TRY(store_kernel_values(ctx, p, p->x, NULL, &v->left));
    return held ? store_kernel_values(ctx, p, held, p->x, &v->right) : MERCER_OK;
}

static mercer_status open_streamed(mercer_ctx *ctx, const mc_problem *p, const mercer_data *held, mc_lms_values *v) {
    MC_TRY(MC_ALLOC(ctx, v->left, MC_LMS_BLOCK * v->n));
    MC_TRY(mc_gram_open(ctx, p->kernel, p->x, NULL, MERCER_F64, &v->gram));
    return held ? mc_gram_open(ctx, p->kernel, held, p->x, MERCER_F64, &v->across) : MERCER_OK;
}

mercer_status mc_lms_values_open(mercer_ctx *ctx, const mc_problem *p, const mercer_data *held, mc_lms_solver solver,
                                 mc_lms_values *out) {
    static mercer_status (*const open[MC_LMS_SOLVERS])(mercer_ctx *, const mc_problem *, const mercer_data *,
                                                       mc_lms_values *) = {
        [MC_LMS_FEATURES] = open_features, [MC_LMS_STORED] = open_stored, [MC_LMS_STREAMED] = open_streamed};
    *out = (mc_lms_values){.solver = solver, .n = p->n, .held = held ? held->n : 0, .width = p->n, .t = p->outputs};
    const mercer_status status = open[solver](ctx, p, held, out);
    if (status)
        mc_lms_values_close(out);
    return status;
}

void mc_lms_values_close(mc_lms_values *v) {
    mc_gram_close(v->gram);
    mc_gram_close(v->across);
    double *const blocks[] = {v->left, v->right, v->theta, v->part};
    for (int i = 0; i < 4; i++)
        mc_free(blocks[i]);
    *v = (mc_lms_values){0};
}

size_t mc_lms_values_bytes(mc_lms_solver solver, int64_t n, int64_t held, int64_t t, int64_t D, int threads) {
    const size_t rim = 8 * MC_ALIGN;
    if (solver == MC_LMS_STREAMED)
        return mc_work_need(MC_LMS_BLOCK * n, 8) + rim;
    if (solver == MC_LMS_STORED)
        return mc_work_need(n * n, 8) + mc_work_need(held * n, 8) + rim;
    return mc_work_need((n + held) * D, 8) + mc_work_need(D * t * (1 + mc_chunk_count(n, PART_GRAIN)), 8)
           + mc_work_need(8 * (D + n) * threads, 8) + rim;
}

/* ---- Products ---- */

void mc_lms_row_times(int64_t n, int64_t t, const double *row, const double *V, double *out) {
    if (t == 1) {
        double lane[LANES] = {0};
        int64_t j = 0;
        for (; j + LANES <= n; j += LANES)
            for (int64_t l = 0; l < LANES; l++)
                lane[l] += row[j + l] * V[j + l];
        for (; j < n; j++)
            lane[0] += row[j] * V[j];
        out[0] = ((lane[0] + lane[1]) + (lane[2] + lane[3])) + ((lane[4] + lane[5]) + (lane[6] + lane[7]));
        return;
    }
    memset(out, 0, (size_t)t * sizeof *out);
    for (int64_t j = 0; j < n; j++)
        for (int64_t k = 0; k < t; k++)
            out[k] += row[j] * V[j * t + k];
}

typedef struct lms_product {
    const double *A, *V; /* rows x width, width x t */
    int64_t width, t;
    double *out;
} lms_product;

/* out <- A V, V and out of t columns. */
static void multiply_columns(mc_dense A, const double *V, int64_t t, double *out) {
    const mc_dense B = mc_row_major(V, A.columns, t, t), C = mc_row_major(out, A.rows, t, t);
    if (t == 1)
        mc_gemv(1, A, B, 0, C);
    else
        mc_gemm(1, A, B, 0, C);
}

static void times_rows(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk;
    (void)thread;
    const lms_product *p = arg;
    multiply_columns(mc_row_major(p->A + begin * p->width, end - begin, p->width, p->width), p->V, p->t,
                     p->out + begin * p->t);
}

static void gather_rows(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)thread;
    const lms_product *p = arg;
    const mc_dense rows = mc_row_major(p->A + begin * p->width, end - begin, p->width, p->width);
    multiply_columns(mc_transposed(rows), p->V + begin * p->t, p->t, p->out + chunk * p->width * p->t);
}

/* theta <- sum_i alpha_i phi(x_i). */
static mercer_status gather_feature_weights(mercer_ctx *ctx, const mc_lms_values *v, int64_t t, const double *alpha) {
    lms_product p = {.A = v->left, .V = alpha, .width = v->width, .t = t, .out = v->part};
    MC_TRY(mc_for(ctx, v->n, PART_GRAIN, gather_rows, &p));
    const int64_t size = v->width * t;
    memset(v->theta, 0, (size_t)size * sizeof *v->theta);
    for (int64_t c = 0; c < mc_chunk_count(v->n, PART_GRAIN); c++)
        for (int64_t j = 0; j < size; j++)
            v->theta[j] += v->part[c * size + j];
    return MERCER_OK;
}

static mercer_status multiply_by_kernel(mercer_ctx *ctx, const mc_lms_values *v, const double *A, int64_t rows,
                                        int64_t t, const double *alpha, double *F) {
    if (v->solver == MC_LMS_FEATURES)
        MC_TRY(gather_feature_weights(ctx, v, t, alpha));
    lms_product p = {.A = A, .V = v->solver == MC_LMS_FEATURES ? v->theta : alpha, .width = v->width, .t = t, .out = F};
    const int64_t grain = PRODUCTS / (p.width * t + 1);
    return mc_for(ctx, rows, grain > ROW_GRAIN ? grain : ROW_GRAIN, times_rows, &p);
}

mercer_status mc_lms_apply(mercer_ctx *ctx, const mc_lms_values *v, int64_t t, const double *alpha, double *F) {
    return v->solver == MC_LMS_STREAMED ? mc_gram_apply(ctx, v->gram, t, alpha, F)
                                        : multiply_by_kernel(ctx, v, v->left, v->n, t, alpha, F);
}

mercer_status mc_lms_apply_held(mercer_ctx *ctx, const mc_lms_values *v, const double *alpha, double *F) {
    return v->solver == MC_LMS_STREAMED ? mc_gram_apply(ctx, v->across, v->t, alpha, F)
                                        : multiply_by_kernel(ctx, v, v->right, v->held, v->t, alpha, F);
}

mercer_status mc_lms_weights(mercer_ctx *ctx, const mc_lms_values *v, const double *alpha, double *weights) {
    MC_TRY(gather_feature_weights(ctx, v, v->t, alpha));
    for (int64_t j = 0; j < v->width; j++)
        for (int64_t k = 0; k < v->t; k++)
            weights[k * v->width + j] = v->theta[j * v->t + k];
    return MERCER_OK;
}

/* ---- One sample at a time ---- */

/* f holds the values on row i; its coefficients move, and theta where there is one. */
static void step_on(const mc_lms_values *v, const mc_lms_pass *p, int64_t i) {
    const double w = p->root ? p->root[i] * p->root[i] : 1;
    for (int64_t k = 0; k < v->t; k++) {
        const double move = p->step * w * (p->Y[i * v->t + k] - p->f[k]);
        p->alpha[i * v->t + k] += move;
        for (int64_t j = 0; v->theta && j < v->width; j++)
            v->theta[j * v->t + k] += move * v->left[i * v->width + j];
    }
}

static int64_t row_at(const mc_lms_pass *p, int64_t place) {
    return p->order ? p->order[place] : place;
}

static mercer_status step_block_of_rows(mercer_ctx *ctx, const mc_lms_values *v, const mc_lms_pass *p, int64_t begin,
                                        int64_t end) {
    int64_t ids[MC_LMS_BLOCK];
    for (int64_t b = begin; b < end; b++)
        ids[b - begin] = row_at(p, b);
    if (v->solver == MC_LMS_STREAMED)
        MC_TRY(mc_gram_take(ctx, v->gram, ids, end - begin, MERCER_F64, v->left, v->n));
    for (int64_t b = 0; b < end - begin; b++) {
        const double *row = v->left + (v->solver == MC_LMS_STREAMED ? b : ids[b]) * v->width;
        mc_lms_row_times(v->width, v->t, row, v->theta ? v->theta : p->alpha, p->f);
        step_on(v, p, ids[b]);
    }
    return mc_report_progress(ctx, -1);
}

mercer_status mc_lms_one_by_one(mercer_ctx *ctx, const mc_lms_values *v, const mc_lms_pass *p) {
    if (v->solver == MC_LMS_FEATURES)
        MC_TRY(gather_feature_weights(ctx, v, v->t, p->alpha));
    for (int64_t begin = 0; begin < v->n; begin += MC_LMS_BLOCK)
        MC_TRY(step_block_of_rows(ctx, v, p, begin, begin + MC_LMS_BLOCK < v->n ? begin + MC_LMS_BLOCK : v->n));
    return MERCER_OK;
}
