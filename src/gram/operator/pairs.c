/* pairs.c: single entries of K by the tiles, to the same bits as blocks of it have: an entry is summed up in its own
   lane, whatever stands beside it. Entries of one panel of columns are made together, as many rows at a time as a tile
   has. */
#include "base/parallel.h"
#include "base/status.h"
#include "gram/operator/entry_fault.h"

enum { GRAIN = 256 };

typedef struct pairs {
    const mc_gram *gram;
    const int64_t *row, *column;
    double *out;
    mc_tile_space *space; /* per thread */
} pairs;

typedef struct run {
    const pairs *p;
    int64_t begin;
} run;

static void pick(void *arg, const mc_strip *strip) {
    const run *r = arg;
    const mc_gram *g = r->p->gram;
    const int64_t width = g->ops->columns;
    for (int64_t k = 0; k < strip->space->count; k++) {
        const int64_t at = k * width + r->p->column[r->begin + k] - strip->panel * width;
        r->p->out[r->begin + k] = g->precision == MERCER_F32 ? (double)((const float *)strip->values)[at]
                                                             : ((const double *)strip->values)[at];
    }
}

static void fill(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk;
    const pairs *p = arg;
    const mc_gram *g = p->gram;
    mc_tile_space *space = &p->space[thread];
    for (int64_t from = begin, to; from < end; from = to) {
        const int64_t panel = p->column[from] / g->ops->columns;
        for (to = from + 1; to < end && to - from < g->ops->rows && p->column[to] / g->ops->columns == panel;)
            to++;
        mc_tile_space_rows(g, space, p->row + from, 0, to - from);
        run r = {p, from};
        mc_tile_space_walk(g, space, 0, 1, panel, panel + 1, pick, &r);
    }
}

mercer_status mc_gram_pairs(mercer_ctx *ctx, const mc_gram *gram, const int64_t *row, const int64_t *column,
                            int64_t count, double *out) {
    pairs p = {.gram = gram, .row = row, .column = column, .out = out};
    mc_work work;
    MC_TRY(mc_tile_spaces_open(ctx, gram, mc_for_threads(ctx, mc_chunks(count, GRAIN)), 1, &work, &p.space));
    const mercer_status status = mc_for(ctx, count, GRAIN, fill, &p);
    mc_work_close(&work);
    return status ? status : mc_fault_report(ctx, gram);
}
