/* norms.c: <x, x> of every packed point, summed up by the tiles in the order of any other pair, so that |x|^2 + |z|^2 -
   2<x, z> is exactly 0 for equal points: rows that are repeated have the same kernel, to the last bit, with each other
   as with themselves. */
#include "base/ctx.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/status.h"
#include "gram/tile/strip.h"

typedef struct selves {
    const mc_gram *gram; /* one side against itself */
    int64_t n;
    mc_tile_workspace *space;
    double **norm2;
} selves;

static void fill_panel(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)begin, (void)end;
    const selves *s = arg;
    mc_tile_workspace_self_products(s->gram, &s->space[thread], chunk, s->n, s->norm2);
}

/* -|x|^2/2, and what sums over compressed rows subtract from: |x|_1, and twice the sum of x x / (x + x). */
static void store_half_norms(const mc_gram *g, const mc_tile_part *p, mc_packed_points *pack, int64_t padded) {
    for (int64_t i = 0; i < pack->n && p->sparse && p->kind == MC_CHI; i++)
        pack->norm2[i] *= 2;
    for (int64_t i = 0; i < padded; i++) {
        const double half = -0.5 * pack->norm2[i < pack->n ? i : pack->n - 1];
        if (g->precision == MERCER_F32)
            ((float *)pack->half)[i] = (float)half;
        else
            ((double *)pack->half)[i] = half;
    }
}

/* The operator of one side with itself: the same packs, no lines. */
static void one_side(const mc_gram *g, bool right, mc_tile_part *part, double **norm2, mc_gram *self) {
    *self = *g;
    self->plan.part = part;
    self->plan.lines = 0;
    for (int i = 0; i < g->plan.parts; i++) {
        part[i] = g->plan.part[i];
        part[i].left = part[i].right = right ? part[i].right : part[i].left;
        norm2[i] = part[i].left.norm2;
    }
}

static mercer_status fill_side(mercer_ctx *ctx, mc_gram *g, bool right, mc_tile_part *part, double **norm2) {
    mc_gram self;
    one_side(g, right, part, norm2, &self);
    selves s = {.gram = &self, .n = right ? g->z->n : g->x->n, .norm2 = norm2};
    const int64_t panels = mc_chunk_count(s.n, g->ops->columns);
    mc_work work;
    MC_TRY(mc_tile_workspaces_open(ctx, &self, mc_for_threads(ctx, panels), g->ops->columns / g->ops->rows, &work,
                                   &s.space));
    const mercer_status status = mc_for(ctx, panels, 1, fill_panel, &s);
    mc_work_close(&work);
    for (int i = 0; i < g->plan.parts && !status; i++) {
        mc_tile_part *p = &g->plan.part[i];
        store_half_norms(g, p, right ? &p->right : &p->left, panels * g->ops->columns);
    }
    return status;
}

mercer_status mc_norms_fill(mercer_ctx *ctx, mc_gram *g) {
    mc_tile_part *part = NULL;
    double **norm2 = NULL;
    mercer_status status = MC_ALLOC(ctx, part, g->plan.parts);
    MC_THEN(status, MC_ALLOC(ctx, norm2, g->plan.parts));
    MC_THEN(status, fill_side(ctx, g, false, part, norm2));
    if (!status && !g->symmetric && !g->packed_from)
        status = fill_side(ctx, g, true, part, norm2);
    mc_free(part);
    mc_free(norm2);
    return status;
}
