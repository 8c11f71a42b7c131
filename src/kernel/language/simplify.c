/* simplify.c: the canonical tree, from the leaves up. Each rule meets a node whose children are simple and leaves one
   that is.

     k^1 = k                  k^0 = 1                (k^a)^b = k^(ab) for whole a, b     (c*k)^p = c^p*k^p for whole p
     exp(0) = 1               c^p = the number       weigh(c, k) = c^2*k                 c[...] = c
     (k[inner])[outer]        one list of columns    (c*k)[...] = c*k[...]               normalize(k[...]) =
     normalize(k)[...]
     normalize(normalize(k)) = normalize(k)          normalize(c*k) = sign(c)*normalize(k)
     normalize(linear) = cosine                      normalize(k) = k when k(x, x) = 1

   Sums and products are in collect.c. A number is computed only where nothing is rounded (fold_numbers.h). */
#include "kernel/language/simplify.h"
#include "base/memory.h"
#include "base/status.h"
#include "kernel/language/fold_numbers.h"
#include "kernel/language/node.h"

/* *io becomes the number v. */
static mercer_status replace_by_number(mercer_ctx *ctx, mc_node **io, double v) {
    mc_node *number = NULL;
    MC_TRY(mc_node_make_number(ctx, v, (*io)->offset, &number));
    mc_node_free(*io);
    *io = number;
    return MERCER_OK;
}

static mercer_status simplify_number(mercer_ctx *ctx, mc_node **io) {
    (void)ctx;
    if ((*io)->number == 0)
        (*io)->number = 0; /* no minus zero */
    return MERCER_OK;
}

/* *io becomes c times itself. */
static mercer_status multiply_by_number(mercer_ctx *ctx, mc_node **io, double c) {
    mc_node *number = NULL;
    MC_TRY(mc_node_wrap(ctx, MC_PRODUCT, (*io)->offset, io));
    MC_TRY(mc_node_make_number(ctx, c, (*io)->offset, &number));
    MC_TRY(mc_node_add(ctx, *io, number));
    return mc_collect_product(ctx, io);
}

static mercer_status simplify_power(mercer_ctx *ctx, mc_node **io);

/* (c*k)^p = c^p * k^p */
static mercer_status pull_factor(mercer_ctx *ctx, mc_node **io) {
    mc_node *power = *io;
    const double c = mc_get_factor(power->child[0]);
    double cp;
    if (!mc_has_factor(power->child[0]) || !mc_is_whole(power->number) || !mc_fold_power(c, power->number, &cp))
        return MERCER_OK;
    MC_TRY(mc_set_factor(ctx, &power->child[0], 1));
    MC_TRY(simplify_power(ctx, io));
    return c == -1 && cp == 1 ? MERCER_OK : multiply_by_number(ctx, io, cp);
}

static mercer_status simplify_power(mercer_ctx *ctx, mc_node **io) {
    mc_node *node = *io, *child = node->child[0];
    const double p = node->number;
    double v;
    if (p == 1) {
        mc_node_unwrap(io, 0);
        return MERCER_OK;
    }
    if (p == 0)
        return replace_by_number(ctx, io, 1);
    if (child->kind == MC_NUMBER)
        return mc_fold_power(child->number, p, &v) ? replace_by_number(ctx, io, v) : MERCER_OK;
    if (child->kind == MC_POWER && mc_is_whole(p) && mc_is_whole(child->number) && mc_is_whole(p * child->number)) {
        child->number *= p;
        mc_node_unwrap(io, 0);
        return MERCER_OK;
    }
    return pull_factor(ctx, io);
}

static mercer_status simplify_exp(mercer_ctx *ctx, mc_node **io) {
    const mc_node *child = (*io)->child[0];
    return child->kind == MC_NUMBER && child->number == 0 ? replace_by_number(ctx, io, 1) : MERCER_OK;
}

/* f(0) = c_0 */
static mercer_status simplify_series(mercer_ctx *ctx, mc_node **io) {
    const mc_node *child = (*io)->child[0];
    return child->kind == MC_NUMBER && child->number == 0 ? replace_by_number(ctx, io, (*io)->series == MC_BESSEL_I0)
                                                          : MERCER_OK;
}

static mercer_status simplify_weigh(mercer_ctx *ctx, mc_node **io) {
    mc_node *node = *io;
    const mc_function *f = node->function;
    double c2;
    if (f->kind != MC_F_NUMBER || !mc_fold_product(f->number, f->number, &c2))
        return MERCER_OK;
    mc_node_unwrap(io, 0);
    return c2 == 1 ? MERCER_OK : multiply_by_number(ctx, io, c2);
}

static bool all_numbered(const mc_node *node) {
    for (int64_t i = 0; i < node->columns; i++)
        if (node->column[i] < 0)
            return false;
    return node->kind == MC_COLUMNS;
}

static bool lies_within(const mc_node *inner, const mc_node *outer) {
    for (int64_t i = 0; i < inner->columns; i++)
        if (inner->column[i] >= outer->columns)
            return false;
    return true;
}

static mercer_status simplify_columns(mercer_ctx *ctx, mc_node **io);

/* (c*k)[...] = c*k[...] */
static mercer_status pull_out(mercer_ctx *ctx, mc_node **io) {
    const double c = mc_get_factor((*io)->child[0]);
    MC_TRY(mc_set_factor(ctx, &(*io)->child[0], 1));
    MC_TRY(simplify_columns(ctx, io));
    return multiply_by_number(ctx, io, c);
}

/* (k[inner])[outer] sees the outer columns and picks the inner ones among them. */
static mercer_status simplify_columns(mercer_ctx *ctx, mc_node **io) {
    mc_node *outer = *io, *inner = outer->child[0];
    if (inner->kind == MC_NUMBER)
        return replace_by_number(ctx, io, inner->number);
    if (mc_has_factor(inner))
        return pull_out(ctx, io);
    if (inner->kind != MC_COLUMNS || !all_numbered(inner) || !all_numbered(outer) || !lies_within(inner, outer))
        return MERCER_OK;
    for (int64_t i = 0; i < inner->columns; i++)
        inner->column[i] = outer->column[inner->column[i]];
    mc_node_unwrap(io, 0);
    return MERCER_OK;
}

static mercer_status simplify_normalize(mercer_ctx *ctx, mc_node **io);

/* normalize(k[...]) = normalize(k)[...]: the two nodes change places. */
static mercer_status under_columns(mercer_ctx *ctx, mc_node **io) {
    mc_node *normalize = *io, *columns = normalize->child[0];
    normalize->child[0] = columns->child[0];
    columns->child[0] = normalize;
    *io = columns;
    MC_TRY(simplify_normalize(ctx, &columns->child[0]));
    return simplify_columns(ctx, io);
}

/* normalize(c*k) = sign(c) * normalize(k) */
static mercer_status drop_factor(mercer_ctx *ctx, mc_node **io) {
    mc_node *node = *io;
    const bool minus = mc_get_factor(node->child[0]) < 0;
    MC_TRY(mc_set_factor(ctx, &node->child[0], 1));
    MC_TRY(simplify_normalize(ctx, io));
    return minus ? multiply_by_number(ctx, io, -1) : MERCER_OK;
}

static mercer_status simplify_normalize(mercer_ctx *ctx, mc_node **io) {
    mc_node *child = (*io)->child[0];
    if (child->kind == MC_NUMBER)
        return replace_by_number(ctx, io, (child->number > 0) - (child->number < 0));
    if (child->kind == MC_COLUMNS)
        return under_columns(ctx, io);
    if (mc_has_factor(child))
        return drop_factor(ctx, io);
    if (child->kind == MC_ATOM && child->atom == MC_LINEAR)
        child->atom = MC_COSINE;
    const bool already = child->kind == MC_NORMALIZE || (child->kind == MC_ATOM && child->atom == MC_COSINE);
    if (already || mc_shape_of_node(child, 0).normalised)
        mc_node_unwrap(io, 0);
    return MERCER_OK;
}

static mercer_status (*const rules[])(mercer_ctx *, mc_node **) = {
    [MC_NUMBER] = simplify_number,       [MC_ATOM] = NULL,
    [MC_SUM] = mc_collect_sum,           [MC_PRODUCT] = mc_collect_product,
    [MC_POWER] = simplify_power,         [MC_EXP] = simplify_exp,
    [MC_NORMALIZE] = simplify_normalize, [MC_WEIGH] = simplify_weigh,
    [MC_COLUMNS] = simplify_columns,     [MC_SERIES] = simplify_series,
};

mercer_status mc_simplify_expression(mercer_ctx *ctx, mc_node **io) {
    for (int i = 0; i < (*io)->children; i++)
        MC_TRY(mc_simplify_expression(ctx, &(*io)->child[i]));
    return rules[(*io)->kind] ? rules[(*io)->kind](ctx, io) : MERCER_OK;
}
