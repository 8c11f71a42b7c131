/* feature_panels.c: panels of feature rows. A row is written by one thread from the data alone: no bit depends on how
   many there are. */
#include "problem/feature_panels.h"
#include "base/ctx.h"
#include "base/progress.h"
#include "base/status.h"
#include "data/table/data.h"

enum { ROWS = 64 };

static void fill_rows(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk;
    const mc_panels *s = arg;
    double *row = s->scratch + thread * s->scratch_each;
    for (int64_t i = begin; i < end; i++) {
        double *z = s->Z + i * s->D;
        const double root = s->p->root ? s->p->root[s->begin + i] : 1;
        mc_data_values(s->p->x, s->begin + i, row);
        mc_features_row(s->map, row, row + s->p->x->d, z);
        for (int64_t j = 0; j < s->D; j++)
            z[j] = root * (z[j] - (s->mean ? s->mean[j] : 0));
    }
}

mercer_status mc_panels_run(mercer_ctx *ctx, mc_panels *s, const mc_pass *passes, int count, void *arg) {
    const int64_t n = s->p->n;
    mercer_status status = MERCER_OK;
    for (s->begin = 0; s->begin < n && !status; s->begin += s->height) {
        s->rows = n - s->begin < s->height ? n - s->begin : s->height;
        mc_set_phase_span(ctx, (double)s->begin / (double)n, (double)(s->begin + s->rows) / (double)n);
        status = mc_for(ctx, s->rows, ROWS, fill_rows, s);
        for (int k = 0; k < count && !status; k++)
            status = mc_for(ctx, passes[k].items ? passes[k].items : s->rows, passes[k].grain, passes[k].body, arg);
    }
    return status;
}

static void lay_out_panels(mc_work *work, void *self) {
    mc_panels *s = self;
    s->Z = mc_work_take(work, s->height * s->D, 8);
    s->scratch = mc_work_take(work, s->threads * s->scratch_each, 8);
}

size_t mc_panels_bytes(int64_t d, int64_t D, int64_t lanes, int threads, int64_t scratch) {
    return mc_slices_bytes(
        lay_out_panels,
        &(mc_panels){.height = lanes * MC_LANE, .D = D, .threads = threads, .scratch_each = d + scratch});
}

mercer_status mc_panels_open(mercer_ctx *ctx, const mc_problem *p, int64_t lanes, mc_panels *out) {
    *out = (mc_panels){.p = p, .height = lanes * MC_LANE, .threads = ctx->threads};
    MC_TRY(mc_features_open(ctx, p->kernel->root, p->x->d, &out->map));
    out->D = mc_features_dimension(out->map);
    out->scratch_each = p->x->d + mc_features_scratch(out->map);
    const mercer_status status = mc_work_lay(ctx, &out->work, lay_out_panels, out);
    if (status) {
        mc_features_close(out->map);
        *out = (mc_panels){0};
    }
    return status;
}

void mc_panels_close(mc_panels *panels) {
    mc_work_close(&panels->work);
    mc_features_close(panels->map);
}
