/* feature_weights.c: values of functions given by their weights: the row through the map, then inner products. The
   linear kernel's map is the row itself, which need not be written out. */
#include "predict/feature_weights.h"
#include "base/ctx.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/status.h"
#include "data/table/data.h"
#include "kernel/evaluate/feature_map.h"

enum { ROW_GRAIN = 64 };

typedef struct applying {
    const mercer_data *rows;
    const mc_features *map;
    int64_t count, D;
    const double *W;
    double *scratch, *out;
    int64_t scratch_each; /* numbers of scratch a thread has */
} applying;

static double dot_dense(const mercer_data *x, int64_t i, const double *w) {
    double sum = 0;
    for (int64_t j = 0; j < x->d; j++)
        sum += w[j] * mc_stored_value(x, i * x->d + j);
    return sum;
}

static double dot_sparse(const mercer_data *x, int64_t i, const double *w) {
    double sum = 0;
    for (int64_t k = x->row_start[i]; k < x->row_start[i + 1]; k++)
        sum += w[x->column[k]] * mc_stored_value(x, k);
    return sum;
}

static void apply_linear(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk;
    (void)thread;
    const applying *a = arg;
    for (int64_t i = begin; i < end; i++)
        for (int64_t k = 0; k < a->count; k++) {
            const double *w = a->W + k * a->rows->d;
            a->out[i * a->count + k] = a->rows->row_start ? dot_sparse(a->rows, i, w) : dot_dense(a->rows, i, w);
        }
}

static void apply_mapped(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk;
    const applying *a = arg;
    double *phi = a->scratch + thread * a->scratch_each, *row = phi + a->D;
    for (int64_t i = begin; i < end; i++) {
        mc_data_values(a->rows, i, row);
        mc_features_row(a->map, row, row + a->rows->d, phi);
        for (int64_t k = 0; k < a->count; k++) {
            double sum = 0;
            for (int64_t j = 0; j < a->D; j++)
                sum += a->W[k * a->D + j] * phi[j];
            a->out[i * a->count + k] = sum;
        }
    }
}

static mercer_status apply_map(mercer_ctx *ctx, const mercer_kernel *kernel, applying *a) {
    mc_features *map = NULL;
    MC_TRY(mc_features_open(ctx, kernel->root, a->rows->d, &map));
    a->map = map;
    a->D = mc_features_dimension(map);
    a->scratch_each = a->D + a->rows->d + mc_features_scratch(map);
    mercer_status status = MC_ALLOC(ctx, a->scratch, a->scratch_each * ctx->threads);
    if (!status)
        status = mc_for(ctx, a->rows->n, ROW_GRAIN, apply_mapped, a);
    mc_free(a->scratch);
    mc_features_close(map);
    return status;
}

mercer_status mc_weights_apply(mercer_ctx *ctx, const mercer_kernel *kernel, int64_t count, const double *W,
                               const mercer_data *rows, double *out) {
    applying a = {.rows = rows, .count = count, .W = W, .out = out};
    if (mc_kernel_linear(kernel))
        return mc_for(ctx, rows->n, ROW_GRAIN, apply_linear, &a);
    return apply_map(ctx, kernel, &a);
}
