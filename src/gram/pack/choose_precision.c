/* choose_precision.c: float or double, and the method for |x - z|^2, by the error bounds of
   gram/operator/bound.c on the points as they were measured; the reference evaluator where no tile keeps them. */
#include "gram/pack/pack.h"
#include "backend/dispatch.h"
#include "base/ctx.h"
#include "base/memory.h"
#include "base/status.h"
#include "gram/compile/line_vectors.h"
#include "gram/operator/entry_fault.h"
#include <math.h>

#define MC_DIRECT_COLUMNS 16 /* up to here direct differences cost less than a second look */
/* of what the rows of a pair make of the kernel: what tiles of doubles may be wrong by */
static const double WORST_SHARE = 1e-5;

/* Short rows go by differences, long ones take a second look where it matters; compressed rows have the norms only. */
static void set_distance_methods(mc_tile_program *plan, bool careful) {
    for (int i = 0; i < plan->parts; i++) {
        mc_tile_part *p = &plan->part[i];
        const bool uncertain =
            !p->sparse && !(p->uint8_unit > 0) && (p->uses[MC_USE_DISTANCE] || p->uses[MC_USE_ANGLE]);
        const bool doubtful = (careful || p->exact) && uncertain && p->kind == MC_DOT;
        p->distance_method = !doubtful                                             ? MC_DISTANCE_NORMS
                             : p->d <= MC_DIRECT_COLUMNS && !p->uses[MC_USE_ANGLE] ? MC_DISTANCE_DIRECT
                                                                                   : MC_DISTANCE_GUARDED;
    }
}

/* Floats hold every value on the way, and every number that the lines have of their own. */
static bool fits_floats(const mc_tile_program *plan, const mc_bound *all, double reach) {
    bool fits = reach < 1e30 && all->size > 1e-25;
    for (int i = 0; i < plan->lines; i++) {
        const mc_tile_line *line = &plan->line[i];
        const double alpha = line->part >= 0 ? fabs(line->a / mc_part_unit(&plan->part[line->part])) : 1;
        fits &= alpha < 1e20 && (alpha > 1e-20 || alpha == 0) && fabs(line->step.p) < 1e30
                && fabs(line->step.coefficient) < 1e30;
    }
    return fits;
}

/* A quotient of sums is as large as ever where the sums are too small for the numbers of a precision. */
static bool ratios_fit(const mc_tile_program *plan, mercer_dtype precision) {
    const double least = precision == MERCER_F32 ? 1e-25 : 1e-290;
    for (int i = 0; i < plan->lines; i++) {
        const mc_tile_part *p = plan->line[i].part >= 0 ? &plan->part[plan->line[i].part] : NULL;
        if (plan->line[i].step.function == MC_RATIO && fmin(p->left.least2, p->right.least2) < least)
            return false;
    }
    return true;
}

/* In this precision, by these distance methods, every entry is as near as the tolerance wants, relative to what its own
   rows make of it, and nothing on the way can leave the range of numbers. */
static bool try_precision(mc_gram *g, const mc_tile_ops *tile, mercer_dtype precision, bool careful, double tolerance,
                          mc_bound *temporary) {
    set_distance_methods(&g->plan, careful);
    g->precision = precision;
    double reach;
    const mc_bound likely = mc_tile_program_bound(&g->plan, &tile[precision], false, temporary, &reach);
    const bool fits =
        ratios_fit(&g->plan, precision) && (precision == MERCER_F64 || fits_floats(&g->plan, &likely, reach));
    return fits && reach < 1e300 && likely.share <= tolerance;
}

/* One line only takes the distance, and takes it as it stands. */
static bool reads_bare(const mc_tile_program *plan, int part) {
    int count = 0;
    bool as_it_is = true;
    for (int i = 0; i < plan->lines; i++) {
        const mc_tile_line *line = &plan->line[i];
        if (line->part == part && line->use == MC_USE_DISTANCE) {
            count++;
            as_it_is &= line->vector == MC_VECTOR_NONE && -2 * line->a == mc_part_unit(&plan->part[part]);
        }
    }
    return count == 1 && as_it_is;
}

/* Strips: the temporaries, then what each part gives its lines. The guarded distance may take the place of the dot
   product. */
static void number_strips(mc_tile_program *plan) {
    plan->strips = plan->temporaries;
    for (int i = 0; i < plan->parts; i++) {
        mc_tile_part *p = &plan->part[i];
        const bool from_dot = p->kind == MC_DOT && !(p->distance_method == MC_DISTANCE_DIRECT && !p->uses[MC_USE_DOT]);
        p->strip[MC_USE_DOT] = p->strip[MC_USE_SUM] = plan->strips++;
        p->norms_in_line = p->distance_method == MC_DISTANCE_NORMS && reads_bare(plan, i);
        const bool own = !p->norms_in_line && p->uses[MC_USE_DOT] && from_dot;
        p->strip[MC_USE_DISTANCE] = p->uses[MC_USE_DISTANCE] && own ? plan->strips++ : p->strip[MC_USE_DOT];
        p->strip[MC_USE_ANGLE] = p->uses[MC_USE_ANGLE] ? plan->strips++ : p->strip[MC_USE_DOT];
    }
    for (int i = 0; i < plan->lines; i++)
        if (plan->line[i].part >= 0)
            plan->line[i].step.source = plan->part[plan->line[i].part].strip[plan->line[i].use];
}

/* A root of a value that may be below 0 may have no value. */
static bool takes_roots(const mc_tile_program *plan) {
    for (int i = 0; i < plan->lines; i++)
        if (plan->line[i].step.function == MC_REAL_POWER && plan->line[i].step.degree == 0)
            return true;
    return false;
}

/* The cheapest distance method whose error bound is in keeping with the precision; where float cannot keep it, double;
   where no method of the tiles can, *found is false. */
static mercer_status choose_precision(mercer_ctx *ctx, mc_gram *g, mercer_dtype wanted, bool *found) {
    mc_bound *temporary = NULL;
    double reach;
    MC_TRY(MC_ALLOC(ctx, temporary, g->plan.temporaries));
    const mc_tile_ops *tile = mc_bodies_of(ctx->isa)->tile;
    *found = (wanted == MERCER_F32 && try_precision(g, tile, MERCER_F32, false, 1e-4, temporary))
             || (wanted == MERCER_F32 && try_precision(g, tile, MERCER_F32, true, 1e-3, temporary))
             || try_precision(g, tile, MERCER_F64, false, 1e-12, temporary)
             || try_precision(g, tile, MERCER_F64, true, WORST_SHARE, temporary);
    g->ops = &tile[g->precision];
    g->bound = mc_tile_program_bound(&g->plan, g->ops, true, temporary, &reach);
    mc_free(temporary);
    number_strips(&g->plan);
    return mc_fault_open(ctx, g, takes_roots(&g->plan) ? INFINITY : reach);
}

/* The bounds stay those of the tiles: the reference evaluator takes fewer roundings than they. */
static mercer_status leave_to_reference(mercer_ctx *ctx, mc_gram *g) {
    g->by_reference = true;
    if (g->packed_from)
        return MERCER_OK; /* another layout: reuse_packed.c sees it */
    mc_tile_program_free(&g->plan);
    mc_free(g->fault);
    g->fault = NULL;
    g->precision = MERCER_F64;
    g->ops = &mc_bodies_of(ctx->isa)->tile[g->precision];
    MC_TRY(mc_tile_program_by_reference(ctx, g->kernel->root, g->x->d, &g->plan));
    g->plan.part[0].shared = g->symmetric;
    MC_TRY(mc_gram_measure(ctx, g));
    number_strips(&g->plan);
    return mc_fault_open(ctx, g, INFINITY);
}

mercer_status mc_gram_choose(mercer_ctx *ctx, mc_gram *g, mercer_dtype precision) {
    bool found = false;
    MC_TRY(mc_tile_program_compile(ctx, g->kernel->root, g->x->d, &g->plan));
    for (int i = 0; i < g->plan.parts; i++)
        MC_TRY(mc_part_settle(ctx, g, &g->plan.part[i], mc_packed_cache_part(g, i), precision));
    MC_TRY(mc_gram_measure(ctx, g));
    MC_TRY(mc_vectors_measure(ctx, g));
    MC_TRY(choose_precision(ctx, g, precision, &found));
    return found || !g->plan.allows_reference ? MERCER_OK : leave_to_reference(ctx, g);
}
