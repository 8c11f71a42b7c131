/* reuse_packed.c: an operator whose right side was packed before, by one that is kept for that.

   Predictions are K(rows, centres) alpha with the same centres every time. Opened anew, an operator of one row spends
   nearly all its time on the centres. Here everything that depends on the rows alone is done as ever; of the right side
   the measures are taken over, and with them distance methods and precision are chosen by the same code. Where the
   choice comes out as it did for the kept operator its packs serve, and the operator is, to the bit, the one that
   mc_gram_open would have made; otherwise there is none, and the caller opens. */
#include "base/ctx.h"
#include "base/memory.h"
#include "base/status.h"
#include "gram/device/device_gram.h"
#include <string.h>

/* Compressed rows lay out both sides together, as do texts, values from elsewhere and numbers of equal rows; angles on
   circles, and rows times a factor, are bounded over both sides. */
bool mc_gram_right_stands_alone(const mc_gram *g) {
    for (int i = 0; i < g->plan.parts; i++) {
        const mc_tile_part *p = &g->plan.part[i];
        if (p->sparse || p->precomputed || p->strings || p->feature == MC_COS_SIN || p->feature == MC_FACTOR)
            return false;
    }
    for (int i = 0; i < g->plan.lines; i++)
        if (g->plan.line[i].vector == MC_VECTOR_IDENTITY)
            return false;
    return !g->by_reference && !g->symmetric && !g->packed_from && !g->is_view && !g->own_z && !g->z->row_start;
}

size_t mc_gram_keep_packed_bytes(const mc_gram *g) {
    size_t bytes = 0;
    for (int i = 0; i < g->plan.parts; i++)
        bytes += (size_t)g->plan.part[i].right.panels * (size_t)g->ops->columns * (size_t)(g->plan.part[i].d + 1)
                 * sizeof(double);
    return bytes + (size_t)g->plan.lines * (size_t)g->z->n * sizeof(double);
}

static void drop_left(mc_tile_part *p) {
    mc_free(p->left.values);
    mc_free(p->left.half);
    p->left = (mc_packed_points){0};
}

bool mc_gram_keep_packed(mc_gram *g) {
    if (!mc_gram_right_stands_alone(g))
        return false;
    mc_device_gram_close(g->there); /* which belongs to a context */
    g->there = NULL;
    for (int i = 0; i < g->plan.parts; i++)
        drop_left(&g->plan.part[i]);
    for (int i = 0; i < g->plan.lines; i++) {
        mc_free(g->plan.line[i].row);
        g->plan.line[i].row = NULL;
    }
    g->x = NULL;
    return true;
}

static bool same_part(const mc_tile_part *a, const mc_tile_part *b) {
    return a->sparse == b->sparse && a->distance_method == b->distance_method && a->norms_in_line == b->norms_in_line
           && a->d == b->d && a->columns == b->columns
           && memcmp(a->column, b->column, (size_t)a->columns * sizeof *a->column) == 0
           && memcmp(a->strip, b->strip, sizeof a->strip) == 0;
}

static bool same_layout(const mc_gram *g, const mc_gram *packed) {
    bool same = !g->by_reference && g->ops == packed->ops && g->precision == packed->precision;
    for (int i = 0; i < g->plan.parts && same; i++)
        same = same_part(&g->plan.part[i], &packed->plan.part[i]);
    return same;
}

void mc_gram_release_packed(mc_gram *g) {
    for (int i = 0; i < g->plan.parts; i++)
        g->plan.part[i].right = (mc_packed_points){0};
    for (int i = 0; i < g->plan.lines; i++)
        if (g->plan.line[i].col == g->packed_from->plan.line[i].col)
            g->plan.line[i].col = NULL;
    for (int i = 0; i < g->plan.lines; i++)
        if (g->plan.line[i].table == g->packed_from->plan.line[i].table)
            g->plan.line[i].table = NULL;
}

static mercer_status pack_if_same_layout(mercer_ctx *ctx, mc_gram *g, bool *same) {
    MC_TRY(mc_gram_choose(ctx, g, MERCER_F64));
    *same = same_layout(g, g->packed_from);
    return *same ? mc_gram_pack(ctx, g) : MERCER_OK;
}

mercer_status mc_gram_open_reusing(mercer_ctx *ctx, const mc_gram *packed, const mercer_data *x, mc_gram **out) {
    mc_gram *g = NULL;
    bool same = false;
    *out = NULL;
    if (x->row_start)
        return MERCER_OK;
    MC_TRY(mc_kernel_check_data(ctx, packed->kernel, x));
    MC_TRY(MC_ALLOC(ctx, g, 1));
    *g = (mc_gram){.kernel = packed->kernel, .x = x, .z = packed->z, .packed_from = packed};
    mercer_status status = pack_if_same_layout(ctx, g, &same);
    MC_THEN(status, same ? mc_gram_place(ctx, g, NULL) : MERCER_OK);
    if (status || !same)
        mc_gram_close(g);
    else
        *out = g;
    return status;
}
