/* entry_fault.c: which pair of rows has a kernel value that is no number, and what helps. */
#include "gram/operator/entry_fault.h"
#include "base/memory.h"
#include "base/status.h"
#include "gram/operator/precomputed.h"
#include "kernel/language/node.h"
#include <float.h>
#include <math.h>

static const double FAR = 1e30; /* floats hold it, squares of it fit a double */

mercer_status mc_fault_open(mercer_ctx *ctx, mc_gram *g, double reach) {
    g->fault = NULL;
    if (reach <= FAR && !mc_gram_has_precomputed(g))
        return MERCER_OK;
    MC_TRY(MC_ALLOC(ctx, g->fault, 1));
    atomic_init(&g->fault->pair, INT64_MAX);
    return MERCER_OK;
}

void mc_fault_note(const mc_gram *g, int64_t i, int64_t j) {
    const int64_t pair = i * g->z->n + j;
    int64_t seen = atomic_load(&g->fault->pair);
    while (pair < seen && !atomic_compare_exchange_weak(&g->fault->pair, &seen, pair))
        ;
}

/* Without a branch, so that it runs in lanes. */
static bool all_finite(const mc_gram *g, const void *values, int64_t count) {
    int bad = 0;
    if (g->precision == MERCER_F32)
        for (int64_t k = 0; k < count; k++)
            bad |= !(fabsf(((const float *)values)[k]) <= FLT_MAX);
    else
        for (int64_t k = 0; k < count; k++)
            bad |= !(fabs(((const double *)values)[k]) <= DBL_MAX);
    return !bad;
}

static bool is_finite(const mc_gram *g, const void *values, int64_t at) {
    return g->precision == MERCER_F32 ? isfinite(((const float *)values)[at]) : isfinite(((const double *)values)[at]);
}

void mc_fault_watch(const mc_gram *g, const mc_strip *s) {
    const int64_t rows = g->ops->rows, width = g->ops->columns, first = s->panel * width;
    if (!g->fault || all_finite(g, s->values, s->panels * rows * width))
        return;
    for (int64_t at = 0; at < s->panels * rows * width; at++) {
        const int64_t j = first + at / (rows * width) * width + at % width;
        if (!is_finite(g, s->values, at)) /* columns past the end repeat the last */
            mc_fault_note(g, s->space->row[s->group * rows + at / width % rows], j < g->z->n ? j : g->z->n - 1);
    }
}

/* ---- In words ---- */

/* The value as the reference evaluator has it. */
static mercer_status evaluate_reference_entry(mercer_ctx *ctx, const mc_gram *g, int64_t i, int64_t j, double *out) {
    const int64_t width = mc_data_row_width(g->x);
    double *rows = NULL;
    MC_TRY(MC_ALLOC(ctx, rows, width + mc_data_row_width(g->z))); /* they may differ in their texts */
    mc_data_row(g->x, i, rows);
    mc_data_row(g->z, j, rows + width);
    *out = mc_eval_kernel(g->kernel->root, rows, rows + width, g->x->d);
    mc_free(rows);
    return MERCER_OK;
}

static bool takes_root(const mc_node *node) {
    const bool poly = node->kind == MC_ATOM && node->atom == MC_POLY;
    const double power = node->kind == MC_POWER ? node->number : poly ? node->parameter[0].number : 1;
    return power != floor(power);
}

static mercer_status fail_pair(mercer_ctx *ctx, const mc_gram *g, int64_t i, int64_t j) {
    double value = NAN;
    MC_TRY(evaluate_reference_entry(ctx, g, i, j, &value));
    if (mc_gram_has_precomputed(g) && !g->by_reference && !isinf(value))
        MC_TRY(mc_precomputed_fail(ctx, g, i, j));
    const long long x = (long long)mc_data_row_number(g->x, i), z = (long long)mc_data_row_number(g->z, j);
    const char *where = g->symmetric ? "" : " of the other rows";
    const char *values = mc_gram_has_precomputed(g) && !g->by_reference ? "the values" : "the columns";
    if (isnan(value) && mc_node_any(g->kernel->root, takes_root))
        return mc_fail(ctx, MERCER_NUMERIC,
                       "the kernel of row %lld and row %lld%s has no value: a power that is not whole, of a number "
                       "below 0; take a whole exponent",
                       x, z, where);
    if (isnan(value))
        return mc_fail(
            ctx, MERCER_NUMERIC,
            "the kernel of row %lld and row %lld%s has no value: it is what is left of numbers beyond those "
            "that a double holds, or a function (weigh, gibbs, logarithmic, arcsin) has none there; scale %s "
            "down",
            x, z, where, values);
    return mc_fail(ctx, MERCER_NUMERIC,
                   "the kernel of row %lld and row %lld%s is %g, beyond the numbers that %s holds; take a kernel with "
                   "a smaller factor or exponent, or scale %s down",
                   x, z, where, value, isfinite(value) ? "single precision" : "a double", values);
}

mercer_status mc_fault_report(mercer_ctx *ctx, const mc_gram *g) {
    const int64_t pair = g->fault ? atomic_exchange(&g->fault->pair, INT64_MAX) : INT64_MAX;
    return pair == INT64_MAX ? MERCER_OK : fail_pair(ctx, g, pair / g->z->n, pair % g->z->n);
}

mercer_status mc_fault_diagonal(mercer_ctx *ctx, const mc_gram *g, const double *diagonal) {
    for (int64_t i = 0; g->fault && i < g->x->n; i++)
        if (!isfinite(diagonal[i]))
            return fail_pair(ctx, g, i, i);
    return MERCER_OK;
}
