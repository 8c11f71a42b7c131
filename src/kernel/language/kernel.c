/* kernel.c: the kernel as an object: a tree, its text, and what is still open in it. */
#include "base/ctx.h"
#include "base/memory.h"
#include "base/status.h"
#include "kernel/language/fits.h"
#include "kernel/language/node.h"
#include "kernel/language/parse.h"
#include "kernel/language/simplify.h"
#include "kernel/language/parameters.h"
#include "kernel/evaluate/spectrum_kernel.h"

static bool has_kind(const mc_node *node, mc_value_kind a, mc_value_kind b) {
    for (int i = 0; node->kind == MC_ATOM && i < mc_atoms[node->atom].parameters; i++)
        if (node->parameter[i].kind == a || node->parameter[i].kind == b)
            return true;
    return false;
}

bool mc_node_open(const mc_node *node) {
    for (int64_t i = 0; node->kind == MC_COLUMNS && i < node->columns; i++)
        if (node->column[i] < 0)
            return true;
    const bool wordless = mc_node_reads_text(node) && node->parameter[MC_TEXT_COLUMN].kind != MC_VALUE_TEXT;
    return wordless || has_kind(node, MC_VALUE_AUTO, MC_VALUE_FILE);
}

bool mc_node_ranges(const mc_node *node) {
    return has_kind(node, MC_VALUE_RANGE, MC_VALUE_SET);
}

static mercer_status fill_derived_fields(mercer_ctx *ctx, mercer_kernel *kernel) {
    MC_TRY(mc_node_print(ctx, kernel->root, &kernel->text));
    MC_TRY(mc_slots_fill(ctx, kernel));
    MC_TRY(mc_texts_list(ctx, kernel->root, &kernel->texts));
    kernel->open = mc_node_any(kernel->root, mc_node_open);
    kernel->ranges = mc_node_any(kernel->root, mc_node_ranges);
    return MERCER_OK;
}

mercer_status mc_kernel_make(mercer_ctx *ctx, mc_node *root, int64_t d, mercer_kernel **out) {
    *out = NULL;
    mercer_kernel *kernel = mc_alloc(ctx, 1, sizeof *kernel);
    if (!kernel) {
        mc_node_free(root);
        return MERCER_MEMORY;
    }
    kernel->root = root;
    kernel->d = d;
    const mercer_status status = fill_derived_fields(ctx, kernel);
    if (status)
        mercer_kernel_free(kernel);
    else
        *out = kernel;
    return status;
}

void mc_kernel_take_local(mercer_kernel *kernel, mc_node *local) {
    if (kernel->shown)
        mc_node_free(kernel->root);
    else
        kernel->shown = kernel->root;
    kernel->root = local;
    mc_list_slots(local, kernel->slot, kernel->slots); /* parameters are those of the tree that computes */
}

mercer_status mc_kernel_wrap(mercer_ctx *ctx, mc_node *root, mercer_kernel **out) {
    *out = NULL;
    const mercer_status status = mc_simplify_expression(ctx, &root);
    if (!status)
        return mc_kernel_make(ctx, root, 0, out);
    mc_node_free(root);
    return status;
}

mercer_status mc_kernel_parse(mercer_ctx *ctx, const char *text, mc_users users, mercer_kernel **out) {
    *out = NULL;
    mc_node *root = NULL;
    MC_TRY(mc_parse_expression(ctx, text, users, &root));
    return mc_kernel_wrap(ctx, root, out);
}

mercer_status mercer_kernel_parse(mercer_ctx *ctx, const char *text, mercer_kernel **out) {
    MC_CLEAR(out);
    MC_NEED(ctx, text, out);
    mc_begin_call(ctx);
    return mc_kernel_parse(ctx, text, (mc_users){0}, out);
}

mercer_status mercer_kernel_parse_with(mercer_ctx *ctx, const char *text, const mercer_user_kernel *users, int count,
                                       mercer_kernel **out) {
    MC_CLEAR(out);
    MC_NEED(ctx, text, out);
    mc_begin_call(ctx);
    MC_TRY(mc_users_check(ctx, (mc_users){users, count}));
    return mc_kernel_parse(ctx, text, (mc_users){users, count}, out);
}

bool mc_kernel_linear(const mercer_kernel *kernel) {
    const mc_node *root = mc_node_bare(kernel->root);
    return root->kind == MC_ATOM && root->atom == MC_LINEAR;
}

static bool is_precomputed(const mc_node *node) {
    return node->kind == MC_ATOM && node->atom == MC_PRECOMPUTED;
}

bool mc_kernel_precomputed(const mercer_kernel *kernel) {
    return mc_node_any(kernel->root, is_precomputed);
}

void mercer_kernel_reading(const mercer_kernel *kernel, mercer_read *set) {
    if (!kernel || !set)
        return;
    set->gram = mc_kernel_precomputed(kernel);
    if (kernel->texts)
        set->text = kernel->texts;
}

void mercer_kernel_free(mercer_kernel *kernel) {
    if (!kernel)
        return;
    mc_node_free(kernel->root);
    mc_node_free(kernel->shown);
    mc_free(kernel->text);
    mc_free(kernel->slot);
    mc_free(kernel->slot_names);
    mc_free(kernel->slot_name);
    mc_free(kernel->texts);
    mc_free(kernel);
}

const char *mercer_kernel_text(const mercer_kernel *kernel) {
    if (!kernel)
        return NULL;
    return kernel->text;
}

mercer_status mercer_kernel_value(mercer_ctx *ctx, const mercer_kernel *kernel, const double *x, const double *z,
                                  int64_t d, double *out) {
    MC_NEED(ctx, kernel, x, z, out);
    mc_begin_call(ctx);
    MC_TRY(mc_kernel_check_ready(ctx, kernel, d));
    MC_TRY(mc_kernel_check_point(ctx, kernel, x, d, "x"));
    MC_TRY(mc_kernel_check_point(ctx, kernel, z, d, "z"));
    *out = mc_eval_kernel(mc_kernel_shown(kernel), x, z, d);
    return MERCER_OK;
}
