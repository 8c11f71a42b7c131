#include "kernel/evaluate/evaluate_rows.h"
#include "base/ctx.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/status.h"
#include "data/table/data.h"
#include "kernel/evaluate/self_values.h"

typedef struct row_values {
    const mercer_data *data;
    mc_self_values *self;
    double *scratch; /* d per thread */
    mc_row_value *value;
    const void *arg;
    double *out;
} row_values;

static void evaluate_some(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk;
    const row_values *r = arg;
    double *x = r->scratch + thread * mc_data_row_width(r->data);
    for (int64_t i = begin; i < end; i++) {
        const mc_view all = {.d = r->data->d, .self = r->self, .row = i};
        mc_data_row(r->data, i, x);
        r->out[i] = r->value(r->arg, &all, x);
    }
}

mercer_status mc_evaluate_rows(mercer_ctx *ctx, const mc_node *root, const mercer_data *data, int64_t count,
                               mc_row_value *value, const void *arg, double *out) {
    row_values r = {.data = data, .value = value, .arg = arg, .out = out};
    mercer_status status = mc_self_values_open(ctx, root, data, &r.self);
    MC_THEN(status, MC_ALLOC(ctx, r.scratch, ctx->threads * mc_data_row_width(data)));
    MC_THEN(status, mc_for(ctx, count, 64, evaluate_some, &r));
    mc_free(r.scratch);
    mc_self_values_close(r.self);
    return status;
}
