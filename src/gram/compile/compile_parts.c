/* compile_parts.c: see compile_parts.h. */
#include "gram/compile/compile_parts.h"
#include "base/memory.h"
#include "base/status.h"
#include "gram/features/form_factor.h"
#include "gram/pack/aligned_texts.h"
#include "gram/pack/string_features.h"
#include "kernel/language/node.h"
#include <math.h>
#include <string.h>

mercer_status mc_flatten_view(mercer_ctx *ctx, const mc_view *view, int64_t **out) {
    MC_TRY(MC_ALLOC(ctx, *out, view->d));
    for (int64_t j = 0; j < view->d; j++)
        (*out)[j] = mc_view_place(view, j);
    return MERCER_OK;
}

static bool same_columns(const mc_tile_part *a, const mc_tile_part *b) {
    return a->columns == b->columns && memcmp(a->column, b->column, (size_t)a->columns * sizeof *a->column) == 0;
}

static bool same_numbers(const double *a, const double *b, int64_t n) {
    return (!a && !b) || (a && b && memcmp(a, b, (size_t)n * sizeof *a) == 0);
}

static bool same_node(const mc_node *a, const mc_node *b) {
    return a == b || (a && b && mc_node_equal(a, b));
}

static bool same_part(const mc_tile_part *a, const mc_tile_part *b) {
    if (a->columns > 0 && isnan(a->weight[0]))
        return false; /* what the weights are is not known from their shares of the first */
    return a->kind == b->kind && a->feature == b->feature && a->exact == b->exact && same_columns(a, b)
           && same_numbers(a->weight, b->weight, a->columns) && same_numbers(a->period, b->period, a->columns)
           && a->matrix == b->matrix && same_node(a->precomputed, b->precomputed) && same_node(a->strings, b->strings);
}

void mc_tile_part_free(mc_tile_part *p) {
    mc_packed_points *const sides[] = {&p->left, &p->right};
    for (int s = 0; s < (p->shared ? 1 : 2); s++) {
        mc_free(sides[s]->values);
        mc_free(sides[s]->start);
        mc_free(sides[s]->coordinate);
        mc_string_features_release(sides[s]);
        mc_aligned_texts_free(sides[s]->aligned);
        mc_free(sides[s]->half);
        mc_free(sides[s]->norm2);
        mc_free(sides[s]->shift);
    }
    mc_free(p->column);
    mc_free(p->weight);
    mc_free(p->period);
    mc_factor_free(&p->factor);
    mc_free(p->length);
    mc_free(p->is_zero_column);
    mc_free(p->centre);
}

/* A weight whose square has left the range of doubles, or come so near to it that digits are lost, is none: the bounds
   see it, and the reference evaluator takes over. */
static double weight_or_nan(double weight) {
    return isnormal(weight) ? weight : NAN;
}

/* Weights relative to the first, whose value goes into the factor a: rbf(gamma=[1, 2]) and rbf(gamma=[3, 6]) share a
   part. A product over the columns has no factor to give them to. */
static mercer_status fill_part(mercer_ctx *ctx, mc_part_want *w, const mc_view *view, mc_tile_part *p) {
    *p = (mc_tile_part){.kind = w->kind,
                        .feature = w->feature,
                        .columns = view->d,
                        .matrix = w->matrix,
                        .precomputed = w->precomputed,
                        .strings = w->strings,
                        .exact = w->exact,
                        .scale = 1};
    MC_TRY(mc_flatten_view(ctx, view, &p->column));
    MC_TRY(MC_ALLOC(ctx, p->weight, view->d));
    const bool relative = w->weight && view->d && !mc_statistic_is_product(w->kind);
    const double first = relative ? weight_or_nan(w->to_weight(mc_value_at(w->weight, 0))) : 1;
    for (int64_t j = 0; j < view->d; j++)
        p->weight[j] = w->weight ? weight_or_nan(w->to_weight(mc_value_at(w->weight, j))) / first : 1;
    w->a *= first;
    if (!w->period)
        return MERCER_OK;
    MC_TRY(MC_ALLOC(ctx, p->period, view->d));
    MC_TRY(MC_ALLOC(ctx, p->length, view->d));
    for (int64_t j = 0; j < view->d; j++) {
        p->period[j] = mc_value_at(w->period, j);
        p->length[j] = mc_value_at(w->weight, j);
    }
    return MERCER_OK;
}

static mercer_status add_part(mercer_ctx *ctx, mc_tile_program *plan, mc_tile_part *fresh, int *out) {
    for (*out = 0; *out < plan->parts; (*out)++)
        if (same_part(&plan->part[*out], fresh)) {
            mc_tile_part_free(fresh);
            return MERCER_OK;
        }
    mc_tile_part *grown = mc_grow_block(ctx, plan->part, plan->parts + 1, sizeof *grown);
    if (!grown) {
        mc_tile_part_free(fresh);
        return MERCER_MEMORY;
    }
    plan->part = grown;
    plan->part[plan->parts++] = *fresh;
    return MERCER_OK;
}

mercer_status mc_tile_program_find_part(mercer_ctx *ctx, mc_tile_program *plan, mc_part_want *w, const mc_view *view,
                                        int *out) {
    mc_tile_part fresh;
    const mercer_status status = fill_part(ctx, w, view, &fresh);
    if (status) {
        mc_tile_part_free(&fresh);
        return status;
    }
    MC_TRY(add_part(ctx, plan, &fresh, out));
    mc_tile_part *p = &plan->part[*out];
    p->uses[w->use] = true;
    if (p->first == 0 && !p->exact)
        p->first = w->use == MC_USE_DISTANCE ? -2 * w->a : w->a; /* -|x - z|^2 / 2 is what the tiles have */
    return MERCER_OK;
}
