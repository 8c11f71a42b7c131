/* gp_kernel.c: the kernel made ready to learn. */
#include "base/ctx.h"
#include "base/status.h"
#include "data/table/columns.h"
#include "kernel/language/localise.h"
#include "kernel/language/node.h"
#include "learn/gp/gp_learn.h"

/* Whether some number stands for all columns of the table. */
static bool has_shared_bandwidth(const mc_node *node) {
    for (int k = 0; node->kind == MC_ATOM && k < mc_atoms[node->atom].parameters; k++)
        if (mc_atoms[node->atom].parameter[k].vector && node->parameter[k].kind == MC_VALUE_NUMBER)
            return true;
    for (int i = 0; node->kind != MC_COLUMNS && i < node->children; i++)
        if (has_shared_bandwidth(node->child[i]))
            return true;
    return false;
}

/* A number for each of very many columns, most of which are 0 in every row, is nothing to learn. */
static mercer_status check_spread(mercer_ctx *ctx, const mercer_gp *set, const mc_problem *p) {
    if (!set->ard || !p->x->used || !has_shared_bandwidth(mc_kernel_shown(p->kernel)))
        return MERCER_OK;
    return mc_fail(
        ctx, MERCER_DATA,
        "gp: ard would learn a number for each of %lld columns, and %lld of them have values; choose columns, "
        "as in rbf[1, 5, 9], or leave ard out",
        (long long)mc_data_width(p->x), (long long)p->x->d - 1);
}

/* Numbers that stand for all columns in view become one number per column. */
static mercer_status spread_columns(mercer_ctx *ctx, mc_node *node, int64_t d) {
    if (node->kind == MC_COLUMNS)
        d = node->columns;
    for (int k = 0; node->kind == MC_ATOM && k < mc_atoms[node->atom].parameters; k++) {
        mc_value *value = &node->parameter[k];
        if (!mc_atoms[node->atom].parameter[k].vector || value->kind != MC_VALUE_NUMBER || d < 2)
            continue;
        const double number = value->number;
        value->kind = MC_VALUE_VECTOR;
        value->rows = 1;
        for (int64_t j = 0; j < d; j++)
            MC_TRY(mc_value_add(ctx, value, number));
    }
    for (int i = 0; i < node->children; i++)
        MC_TRY(spread_columns(ctx, node->child[i], d));
    return MERCER_OK;
}

static bool has_factor(const mercer_kernel *kernel) {
    for (int64_t i = 0; i < kernel->slots; i++)
        if (kernel->slot[i].parameter < 0)
            return true;
    return false;
}

/* *io becomes factor * *io. */
static mercer_status add_factor(mercer_ctx *ctx, double factor, mc_node **io) {
    mc_node *product = NULL, *number = NULL;
    MC_TRY(mc_node_make(ctx, MC_PRODUCT, -1, &product));
    mercer_status status = mc_node_make_number(ctx, factor, -1, &number);
    if (!status)
        status = mc_node_add(ctx, product, number);
    if (!status) {
        status = mc_node_add(ctx, product, *io); /* takes it over, on failure too */
        *io = NULL;
    }
    if (status) {
        mc_node_free(product);
        return status;
    }
    *io = product;
    return MERCER_OK;
}

/* The kernel with a factor and, if asked for, a length scale per column; *out is new. */
mercer_status mc_gp_extend_kernel(mercer_ctx *ctx, const mercer_gp *set, double variance, const mc_problem *p,
                                  mercer_kernel **out) {
    mc_node *root = NULL;
    MC_TRY(check_spread(ctx, set, p));
    MC_TRY(mc_node_copy(ctx, mc_kernel_shown(p->kernel), &root));
    mercer_status status = set->ard ? spread_columns(ctx, root, mc_data_width(p->x)) : MERCER_OK;
    if (!status && set->learn && !has_factor(p->kernel))
        status = add_factor(ctx, variance, &root);
    if (status) {
        mc_node_free(root);
        return status;
    }
    MC_TRY(mc_kernel_make(ctx, root, p->kernel->d, out));
    status = mc_kernel_localise(ctx, p->x, *out);
    if (status) {
        mercer_kernel_free(*out);
        *out = NULL;
    }
    return status;
}
