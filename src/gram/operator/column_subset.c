/* column_subset.c: K of all rows against some columns, out of the operator of all against all, or of rows against
   others: the left side is borrowed, the points and vectors of the right are copied from it as they lie packed, so
   that nothing is measured, weighted or rounded again. What is given from elsewhere, which is more than points, is
   opened anew. */
#include "base/ctx.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/status.h"
#include "gram/operator/entry_fault.h"
#include "gram/pack/aligned_texts.h"
#include <math.h>
#include <string.h>

typedef struct column_subset {
    const mc_gram *whole;
    const int64_t *ids;
    int64_t count, padded;
    size_t real;
} column_subset;

/* Points past the end repeat the last one, as in pack.c. */
static int64_t id_at(const column_subset *c, int64_t j) {
    return c->ids[j < c->count ? j : c->count - 1];
}

static mercer_status copy_vector(mercer_ctx *ctx, const column_subset *c, const void *from, void **out) {
    MC_TRY((*out = mc_alloc_unset(ctx, c->padded, c->real)) ? MERCER_OK : MERCER_MEMORY);
    for (int64_t j = 0; j < c->padded; j++)
        memcpy((char *)*out + (size_t)j * c->real, (const char *)from + (size_t)id_at(c, j) * c->real, c->real);
    return MERCER_OK;
}

static void copy_point(const column_subset *c, const mc_tile_part *p, const mc_packed_points *from, int64_t j,
                       char *out) {
    const int64_t width = c->whole->ops->columns, i = id_at(c, j), elements = mc_part_elements(p);
    const int64_t size = mc_part_element(p, c->whole->precision), step = width * size;
    const char *source = (const char *)from->values + (i / width * width * elements + i % width) * size;
    out += (j / width * width * elements + j % width) * size;
    if (size == sizeof(float))
        for (int64_t k = 0; k < elements; k++)
            memcpy(out + k * step, source + k * step, sizeof(float));
    else
        for (int64_t k = 0; k < elements; k++)
            memcpy(out + k * step, source + k * step, sizeof(double));
}

static mercer_status copy_full(mercer_ctx *ctx, const column_subset *c, const mc_tile_part *p,
                               const mc_packed_points *from, mc_packed_points *to) {
    to->values = mc_alloc_unset(ctx, c->padded * mc_part_elements(p), (size_t)mc_part_element(p, c->whole->precision));
    MC_TRY(to->values ? MERCER_OK : MERCER_MEMORY);
    for (int64_t j = 0; j < c->padded; j++)
        copy_point(c, p, from, j, to->values);
    return MERCER_OK;
}

static mercer_status copy_sparse(mercer_ctx *ctx, const column_subset *c, const mc_packed_points *from,
                                 mc_packed_points *to) {
    MC_TRY(MC_ALLOC(ctx, to->start, c->count + 1));
    for (int64_t j = 0; j < c->count; j++)
        to->start[j + 1] = to->start[j] + from->start[c->ids[j] + 1] - from->start[c->ids[j]];
    MC_TRY(MC_ALLOC(ctx, to->coordinate, to->start[c->count]));
    MC_TRY((to->values = mc_alloc_unset(ctx, to->start[c->count], c->real)) ? MERCER_OK : MERCER_MEMORY);
    mc_pack_widest(to, c->whole->ops->columns);
    for (int64_t j = 0; j < c->count; j++) {
        const int64_t at = to->start[j], source = from->start[c->ids[j]], count = to->start[j + 1] - at;
        memcpy(to->coordinate + at, from->coordinate + source, (size_t)count * sizeof *to->coordinate);
        memcpy((char *)to->values + (size_t)at * c->real, (const char *)from->values + (size_t)source * c->real,
               (size_t)count * c->real);
    }
    return MERCER_OK;
}

static mercer_status copy_part(mercer_ctx *ctx, const column_subset *c, mc_tile_part *p) {
    const mc_packed_points from = p->right;
    p->shared = false;
    p->right = (mc_packed_points){.n = c->count,
                                  .panels = c->padded / c->whole->ops->columns,
                                  .norm2_max = from.norm2_max,
                                  .shift_max = from.shift_max};
    MC_TRY(copy_vector(ctx, c, from.half, &p->right.half));
    if (from.aligned)
        MC_TRY(mc_aligned_texts_take(ctx, from.aligned, c->ids, c->count, &p->right.aligned));
    return p->sparse ? copy_sparse(ctx, c, &from, &p->right) : copy_full(ctx, c, p, &from, &p->right);
}

/* The plan of the whole with right sides of its own, which alone are freed with it. */
static mercer_status copy_plan(mercer_ctx *ctx, const column_subset *c, mc_gram *g) {
    const mc_tile_program *from = &c->whole->plan;
    g->plan = (mc_tile_program){.temporaries = from->temporaries, .strips = from->strips};
    MC_TRY(MC_ALLOC(ctx, g->plan.part, from->parts));
    MC_TRY(MC_ALLOC(ctx, g->plan.line, from->lines));
    for (; g->plan.parts < from->parts;) {
        mc_tile_part *p = &g->plan.part[g->plan.parts++];
        *p = from->part[g->plan.parts - 1];
        MC_TRY(copy_part(ctx, c, p));
    }
    for (; g->plan.lines < from->lines;) {
        mc_tile_line *line = &g->plan.line[g->plan.lines++];
        *line = from->line[g->plan.lines - 1];
        const void *column = line->col;
        line->col = NULL;
        if (column)
            MC_TRY(copy_vector(ctx, c, column, &line->col));
        line->step.column = line->col;
    }
    return MERCER_OK;
}

void mc_gram_close_view(mc_gram *g) {
    for (int i = 0; i < g->plan.parts; i++) {
        mc_packed_points *right = &g->plan.part[i].right;
        mc_free(right->values);
        mc_free(right->half);
        mc_free(right->start);
        mc_free(right->coordinate);
        mc_aligned_texts_free(right->aligned);
    }
    for (int i = 0; i < g->plan.lines; i++)
        mc_free(g->plan.line[i].col);
    mc_free(g->plan.part);
    mc_free(g->plan.line);
}

static bool can_lend(const mc_gram *g) {
    for (int i = 0; i < g->plan.parts; i++)
        if (g->plan.part[i].precomputed)
            return false;
    return g->symmetric || mc_gram_right_stands_alone(g);
}

static mercer_status open_view(mercer_ctx *ctx, const mc_gram *whole, const int64_t *ids, int64_t count,
                               mercer_data *taken, mc_gram **out) {
    mc_gram *g = NULL;
    MC_TRY(MC_ALLOC(ctx, g, 1));
    *g = *whole;
    g->symmetric = false;
    g->is_view = true;
    g->z = taken;
    g->diagonal = NULL;
    g->fault = NULL;
    g->there = NULL;
    const int64_t width = whole->ops->columns;
    const column_subset c = {whole, ids, count, mc_chunk_count(count, width) * width, (size_t)mc_real_size(whole)};
    *out = g;
    MC_TRY(copy_plan(ctx, &c, g));
    MC_TRY(whole->fault ? mc_fault_open(ctx, g, INFINITY) : MERCER_OK);
    return whole->there ? mc_gram_place(ctx, g, whole->there) : MERCER_OK;
}

mercer_status mc_gram_open_columns(mercer_ctx *ctx, const mc_gram *whole, const int64_t *ids, int64_t count,
                                   mc_gram **out) {
    mercer_data *taken = NULL;
    *out = NULL;
    MC_TRY(mc_data_take(ctx, whole->z, ids, count, &taken));
    mercer_status status = can_lend(whole) && count > 0
                               ? open_view(ctx, whole, ids, count, taken, out)
                               : mc_gram_open(ctx, whole->kernel, whole->x, taken, whole->precision, out);
    if (*out)
        (*out)->own_z = taken;
    else
        mercer_data_free(taken);
    if (status) {
        mc_gram_close(*out);
        *out = NULL;
    }
    return status;
}
