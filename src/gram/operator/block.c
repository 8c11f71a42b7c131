/* block.c: pieces of K written out by all threads: rectangles, listed rows, the diagonal. A square of a symmetric K is
   evaluated on one side of its diagonal only and mirrored. */
#include "base/ctx.h"
#include "base/parallel.h"
#include "base/status.h"
#include "gram/operator/entry_fault.h"
#include "gram/operator/rectangle.h"
#include <string.h>

enum {
    GROUPS = 60, /* of rows */
    /* at least, where rows and columns suffice: groups of one task share its panels while they are near */
    TASKS = 32
};

static void fill_rectangle(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)begin, (void)end;
    const mc_rectangle *r = arg;
    mc_rectangle_fill_task(r, chunk, &r->space[thread]);
}

int64_t mc_block_column_tasks(const mc_tile_ops *ops, int64_t j0, int64_t j1) {
    return mc_chunk_count(mc_chunk_count(j1, ops->columns) - j0 / ops->columns, MC_BLOCK_COLUMN_PANELS);
}

int64_t mc_block_groups(const mc_tile_ops *ops, int64_t suits, int64_t count, int64_t column_tasks) {
    const int64_t best = suits < GROUPS ? suits : GROUPS, each = TASKS * ops->rows;
    const int64_t share = count / each * column_tasks + count % each * column_tasks / each;
    return share < 1 ? 1 : share < best ? share : best;
}

/* A sparse panel is unpacked for each task that meets it: there a task has many rows, and the columns make the tasks.
   */
static int64_t groups_for(const mc_gram *g, int64_t count, int64_t column_tasks) {
    if (mc_gram_sparse(g))
        return count < GROUPS * g->ops->rows ? mc_chunk_count(count, g->ops->rows) : GROUPS;
    return mc_block_groups(g->ops, mc_tile_workspace_groups(g), count, column_tasks);
}

size_t mc_gram_block_bytes(mercer_ctx *ctx, const mc_gram *gram) {
    return (size_t)ctx->threads
               * (mc_tile_workspace_bytes(gram, groups_for(gram, INT64_MAX, 1)) + sizeof(mc_tile_workspace))
           + 4 * MC_ALIGN;
}

static mercer_status run_rectangle(mercer_ctx *ctx, mc_rectangle *r) {
    if (r->count <= 0 || r->j1 <= r->j0)
        return MERCER_OK;
    const mc_gram *g = r->gram;
    r->column_tasks = mc_block_column_tasks(g->ops, r->j0, r->j1);
    const int64_t groups = groups_for(g, r->count, r->column_tasks);
    mc_work work;
    MC_TRY(mc_tile_workspaces_open(ctx, g, ctx->threads, groups, &work, &r->space));
    r->group_rows = groups * g->ops->rows;
    mercer_status status = mc_for(ctx, mc_chunk_count(r->count, r->group_rows) * r->column_tasks, 1, fill_rectangle, r);
    mc_work_close(&work);
    status = status ? status : mc_fault_report(ctx, g);
    return !status && r->mirror ? mc_for(ctx, r->count, MC_TURNED_SQUARE, mc_rectangle_turn_over, r) : status;
}

static mc_rectangle rectangle_of(const mc_gram *gram, int64_t i0, int64_t i1, int64_t j0, int64_t j1,
                                 mercer_dtype dtype, void *out, int64_t ld) {
    return (mc_rectangle){
        .gram = gram, .i0 = i0, .count = i1 - i0, .j0 = j0, .j1 = j1, .dtype = dtype, .out = out, .ld = ld};
}

mercer_status mc_gram_block(mercer_ctx *ctx, const mc_gram *gram, int64_t i0, int64_t i1, int64_t j0, int64_t j1,
                            mercer_dtype dtype, void *out, int64_t ld) {
    mc_rectangle r = rectangle_of(gram, i0, i1, j0, j1, dtype, out, ld);
    r.mirror = gram->symmetric && !gram->both_triangles && i0 == j0 && i1 == j1;
    return run_rectangle(ctx, &r);
}

mercer_status mc_gram_split(mercer_ctx *ctx, const mc_gram *gram, int64_t i0, int64_t i1, int64_t j0, int64_t j1,
                            double unit, float *high, int16_t *low, int64_t ld) {
    mc_rectangle r = rectangle_of(gram, i0, i1, j0, j1, MERCER_F32, high, ld);
    r.low = low;
    r.per_unit = 1 / unit;
    return run_rectangle(ctx, &r);
}

mercer_status mc_gram_take_columns(mercer_ctx *ctx, const mc_gram *gram, const int64_t *rows, int64_t count, int64_t j0,
                                   int64_t j1, mercer_dtype dtype, void *out, int64_t ld) {
    mc_rectangle r = {
        .gram = gram, .rows = rows, .count = count, .j0 = j0, .j1 = j1, .dtype = dtype, .out = out, .ld = ld};
    return run_rectangle(ctx, &r);
}

mercer_status mc_gram_take(mercer_ctx *ctx, const mc_gram *gram, const int64_t *rows, int64_t count, mercer_dtype dtype,
                           void *out, int64_t ld) {
    return mc_gram_take_columns(ctx, gram, rows, count, 0, gram->z->n, dtype, out, ld);
}

mercer_status mc_gram_scatter(mercer_ctx *ctx, const mc_gram *gram, const int64_t *rows, int64_t count, int64_t j0,
                              int64_t j1, mercer_dtype dtype, void *const *out) {
    mc_rectangle r = {.gram = gram, .rows = rows, .count = count, .j0 = j0, .j1 = j1, .dtype = dtype, .scattered = out};
    return run_rectangle(ctx, &r);
}

mercer_status mc_gram_diagonal(mercer_ctx *ctx, const mc_gram *gram, double *out) {
    if (!gram->symmetric)
        return mc_fail(ctx, MERCER_INTERNAL, "the diagonal of a Gram operator that is not symmetric was asked for");
    memcpy(out, gram->diagonal, (size_t)gram->x->n * sizeof *out);
    return mc_fault_diagonal(ctx, gram, out);
}
