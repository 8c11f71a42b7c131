/* map_rows.c: the explicit map of a kernel over the rows of data, for everybody. */
#include "kernel/evaluate/feature_map.h"
#include "base/ctx.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "base/status.h"
#include "data/table/columns.h"

enum { ROWS = 64 };

typedef struct mapping {
    const mc_features *map;
    const mercer_data *data;
    double *scratch, *out;
    int64_t room; /* numbers of scratch a thread has */
} mapping;

static void map_rows(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk;
    const mapping *m = arg;
    double *row = m->scratch + thread * m->room;
    for (int64_t i = begin; i < end; i++) {
        mc_data_values(m->data, i, row);
        mc_features_row(m->map, row, row + m->data->d, m->out + i * mc_features_dimension(m->map));
    }
}

static mercer_status map_data(mercer_ctx *ctx, const mc_features *map, const mercer_data *data, double *out) {
    mapping m = {.map = map, .data = data, .out = out, .room = data->d + mc_features_scratch(map)};
    MC_TRY(MC_ALLOC(ctx, m.scratch, m.room * ctx->threads));
    mc_phase(ctx, "features");
    const mercer_status status = mc_for(ctx, data->n, ROWS, map_rows, &m);
    mc_free(m.scratch);
    return status;
}

static mercer_status features(mercer_ctx *ctx, const mercer_kernel *kernel, const mercer_data *data, double *out) {
    mercer_kernel *bound = NULL;
    mc_features *map = NULL;
    MC_TRY(mc_kernel_bind(ctx, kernel, data, &bound));
    mercer_status status = mc_features_open(ctx, bound->root, data->d, &map);
    if (!status)
        status = map_data(ctx, map, data, out);
    mc_features_close(map);
    mercer_kernel_free(bound);
    return status;
}

mercer_status mercer_features(mercer_ctx *ctx, const mercer_kernel *kernel, const mercer_data *data, double *out) {
    MC_NEED(ctx, kernel, data, out);
    mc_begin(ctx);
    if (!data->used)
        return features(ctx, kernel, data, out);
    mercer_data *all = NULL; /* features are numbered by all columns */
    MC_TRY(mc_data_spread(ctx, data, &all));
    const mercer_status status = features(ctx, kernel, all, out);
    mercer_data_free(all);
    return status;
}
