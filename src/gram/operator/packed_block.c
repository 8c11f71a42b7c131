/* packed_block.c: the triangle of a symmetric K in rectangular full packed format. */
#include "base/ctx.h"
#include "base/parallel.h"
#include "base/status.h"
#include "gram/operator/entry_fault.h"
#include "gram/operator/rectangle.h"

/* Column c of the packed rectangle, h = ceil(n/2) columns of length n (n odd) or n + 1 (even): K(i, h..i) of one row i
   of the second half, then K(c, c..n-1). */
typedef struct triangle {
    const mc_gram *gram;
    const double *shift;
    double *out;
    int64_t n, h, even, ld;
    mc_tile_workspace *space;
} triangle;

typedef struct part_written {
    const triangle *triangle;
    int64_t first; /* row of K that was loaded first */
    bool lower;    /* rows of the second half: columns h .. i; otherwise columns i .. n - 1 */
} part_written;

static void write_packed(void *arg, const mc_strip *strip) {
    const part_written *w = arg;
    const triangle *t = w->triangle;
    const int64_t rows = t->gram->ops->rows, width = t->gram->ops->columns;
    for (int64_t k = 0; k < rows && strip->group * rows + k < strip->space->count; k++) {
        const int64_t i = w->first + strip->group * rows + k;
        const int64_t low = w->lower ? t->h : i, high = w->lower ? i + 1 : t->n;
        const int64_t base = w->lower ? (i - t->h + 1 - t->even) * t->ld - t->h : i * t->ld + t->even;
        for (int64_t p = 0; p < strip->panels; p++) {
            const int64_t first = (strip->panel + p) * width, begin = first > low ? first : low;
            const int64_t end = first + width < high ? first + width : high;
            for (int64_t j = begin; j < end; j++)
                t->out[base + j] = mc_tile_value_at(t->gram, strip->values, (p * rows + k) * width + j - first);
        }
        if (t->shift && i / width >= strip->panel && i / width < strip->panel + strip->panels)
            t->out[base + i] += t->shift[i];
    }
}

static void pack_part(triangle *t, mc_tile_workspace *space, int64_t first, int64_t count, bool lower) {
    const int64_t width = t->gram->ops->columns;
    const int64_t p0 = (lower ? t->h : first) / width, p1 = mc_chunk_count(lower ? first + count : t->n, width);
    if (count <= 0)
        return;
    part_written w = {.triangle = t, .first = first, .lower = lower};
    mc_tile_workspace_rows(t->gram, space, NULL, first, count);
    mc_tile_workspace_walk(t->gram, space, 0, space->groups, p0, p1, write_packed, &w);
}

/* Columns begin .. end - 1 of the packed rectangle. */
static void fill_packed(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk;
    triangle *t = arg;
    const int64_t row = begin + t->h - 1 + t->even, low = row > t->h ? row : t->h;
    pack_part(t, &t->space[thread], begin, end - begin, false);
    pack_part(t, &t->space[thread], low, end + t->h - 1 + t->even - low, true);
}

mercer_status mc_gram_packed(mercer_ctx *ctx, const mc_gram *gram, const double *shift, double *out) {
    const int64_t n = gram->x->n, even = n % 2 == 0;
    triangle t = {.gram = gram, .shift = shift, .out = out, .n = n, .h = (n + 1) / 2, .even = even, .ld = n + even};
    mc_work work;
    const int64_t groups = mc_block_groups(gram->ops, mc_tile_workspace_groups(gram), t.h, 1);
    MC_TRY(mc_tile_workspaces_open(ctx, gram, ctx->threads, groups, &work, &t.space));
    const mercer_status status = mc_for(ctx, t.h, groups * gram->ops->rows, fill_packed, &t);
    mc_work_close(&work);
    return status ? status : mc_fault_report(ctx, gram);
}
