/* node.c: trees of kernels: making, copying, comparing, freeing. Recursion is bounded by MC_DEPTH_MAX, which the parser
   enforces. */
#include "kernel/language/node.h"
#include "base/memory.h"
#include "base/status.h"
#include "kernel/language/function.h"
#include "kernel/language/user_function.h"
#include <math.h>
#include <string.h>

mercer_status mc_node_make(mercer_ctx *ctx, mc_kind kind, int64_t offset, mc_node **out) {
    MC_TRY(MC_ALLOC(ctx, *out, 1));
    (*out)->kind = kind;
    (*out)->offset = offset;
    return MERCER_OK;
}

mercer_status mc_node_make_number(mercer_ctx *ctx, double number, int64_t offset, mc_node **out) {
    MC_TRY(mc_node_make(ctx, MC_NUMBER, offset, out));
    (*out)->number = number;
    return MERCER_OK;
}

mercer_status mc_node_make_atom(mercer_ctx *ctx, mc_atom atom, int64_t offset, mc_node **out) {
    MC_TRY(mc_node_make(ctx, MC_ATOM, offset, out));
    (*out)->atom = atom;
    for (int i = 0; i < mc_atoms[atom].parameters; i++) {
        const double initial = mc_atoms[atom].parameter[i].initial;
        (*out)->parameter[i] =
            (mc_value){.kind = isnan(initial) ? MC_VALUE_AUTO : MC_VALUE_NUMBER, .number = initial, .offset = offset};
    }
    return MERCER_OK;
}

mercer_status mc_node_wrap(mercer_ctx *ctx, mc_kind kind, int64_t offset, mc_node **io) {
    mc_node *node = NULL;
    MC_TRY(mc_node_make(ctx, kind, offset, &node));
    node->child = mc_alloc(ctx, 1, sizeof *node->child);
    if (!node->child) {
        mc_node_free(node);
        return MERCER_MEMORY;
    }
    node->child[node->children++] = *io;
    *io = node;
    return MERCER_OK;
}

mercer_status mc_node_add(mercer_ctx *ctx, mc_node *parent, mc_node *child) {
    const int n = parent->children;
    if ((n & (n - 1)) == 0) { /* full: n is 0 or a power of two */
        mc_node **grown = mc_grow_block(ctx, parent->child, n ? 2 * n : 1, sizeof *grown);
        if (!grown) {
            mc_node_free(child);
            return MERCER_MEMORY;
        }
        parent->child = grown;
    }
    parent->child[parent->children++] = child;
    return MERCER_OK;
}

void mc_node_unwrap(mc_node **io, int i) {
    mc_node *kept = (*io)->child[i];
    (*io)->child[i] = NULL;
    mc_node_free(*io);
    *io = kept;
}

void mc_value_free(mc_value *value) {
    mc_free(value->numbers);
    mc_free(value->file);
    mc_user_release(value->user);
    *value = (mc_value){0};
}

void mc_node_free(mc_node *node) {
    if (!node)
        return;
    for (int i = 0; i < node->children; i++)
        mc_node_free(node->child[i]);
    for (int i = 0; i < MC_PARAMETERS_MAX; i++)
        mc_value_free(&node->parameter[i]);
    for (int64_t i = 0; node->column_name && i < node->columns; i++)
        mc_free(node->column_name[i]);
    mc_free(node->column_name);
    mc_free(node->column);
    mc_free(node->child);
    mc_function_free(node->function);
    mc_free(node);
}

static int64_t numbers_of(const mc_value *value) {
    return value->numbers ? value->rows * value->columns : 0;
}

mercer_status mc_value_copy(mercer_ctx *ctx, const mc_value *value, mc_value *out) {
    *out = *value;
    out->numbers = NULL;
    out->file = NULL;
    out->user = mc_user_keep(value->user);
    if (value->numbers) {
        MC_TRY(MC_ALLOC(ctx, out->numbers, numbers_of(value)));
        memcpy(out->numbers, value->numbers, (size_t)numbers_of(value) * sizeof(double));
    }
    if (value->file && !(out->file = mc_copy_text(ctx, value->file, strlen(value->file))))
        return MERCER_MEMORY;
    return MERCER_OK;
}

static mercer_status copy_columns(mercer_ctx *ctx, const mc_node *node, mc_node *out) {
    out->columns = node->columns;
    MC_TRY(MC_ALLOC(ctx, out->column, node->columns));
    memcpy(out->column, node->column, (size_t)node->columns * sizeof *node->column);
    if (!node->column_name)
        return MERCER_OK;
    MC_TRY(MC_ALLOC(ctx, out->column_name, node->columns));
    for (int64_t i = 0; i < node->columns; i++) {
        const char *name = node->column_name[i];
        if (name && !(out->column_name[i] = mc_copy_text(ctx, name, strlen(name))))
            return MERCER_MEMORY;
    }
    return MERCER_OK;
}

/* Fills *out as it goes, so that the caller can free what there is when it fails. */
static mercer_status copy_into(mercer_ctx *ctx, const mc_node *node, mc_node **out) {
    MC_TRY(mc_node_make(ctx, node->kind, node->offset, out));
    mc_node *copy = *out;
    copy->number = node->number;
    copy->atom = node->atom;
    copy->series = node->series;
    for (int i = 0; i < MC_PARAMETERS_MAX; i++)
        MC_TRY(mc_value_copy(ctx, &node->parameter[i], &copy->parameter[i]));
    if (node->function)
        MC_TRY(mc_function_copy(ctx, node->function, &copy->function));
    if (node->kind == MC_COLUMNS)
        MC_TRY(copy_columns(ctx, node, copy));
    for (int i = 0; i < node->children; i++) {
        MC_TRY(mc_node_add(ctx, copy, NULL));
        MC_TRY(copy_into(ctx, node->child[i], &copy->child[i]));
    }
    return MERCER_OK;
}

mercer_status mc_node_copy(mercer_ctx *ctx, const mc_node *node, mc_node **out) {
    *out = NULL;
    const mercer_status status = copy_into(ctx, node, out);
    if (status) {
        mc_node_free(*out);
        *out = NULL;
    }
    return status;
}

static bool same_text(const char *a, const char *b) {
    return a && b ? strcmp(a, b) == 0 : a == b;
}

bool mc_value_equal(const mc_value *a, const mc_value *b) {
    if (a->kind != b->kind || a->rows != b->rows || a->columns != b->columns || !same_text(a->file, b->file)
        || a->user != b->user)
        return false;
    if (a->kind == MC_VALUE_NUMBER && a->number != b->number)
        return false;
    if (a->kind == MC_VALUE_RANGE && (a->low != b->low || a->high != b->high))
        return false;
    for (int64_t i = 0; i < numbers_of(a); i++)
        if (a->numbers[i] != b->numbers[i])
            return false;
    return true;
}

mercer_status mc_value_add(mercer_ctx *ctx, mc_value *value, double number) {
    const int64_t n = numbers_of(value);
    if ((n & (n - 1)) == 0) { /* full: n is 0 or a power of two */
        double *grown = mc_grow_block(ctx, value->numbers, n ? 2 * n : 1, sizeof *grown);
        if (!grown)
            return MERCER_MEMORY;
        value->numbers = grown;
    }
    value->rows = 1;
    value->numbers[value->columns++] = number;
    return MERCER_OK;
}

double mc_value_at(const mc_value *value, int64_t j) {
    return value->kind == MC_VALUE_VECTOR ? value->numbers[j] : value->number;
}

static bool same_columns(const mc_node *a, const mc_node *b) {
    if (a->columns != b->columns)
        return false;
    for (int64_t i = 0; i < a->columns; i++)
        if (a->column[i] != b->column[i]
            || !same_text(a->column_name ? a->column_name[i] : NULL, b->column_name ? b->column_name[i] : NULL))
            return false;
    return true;
}

static bool same_atom(const mc_node *a, const mc_node *b) {
    if (a->atom != b->atom)
        return false;
    for (int i = 0; i < mc_atoms[a->atom].parameters; i++)
        if (!mc_value_equal(&a->parameter[i], &b->parameter[i]))
            return false;
    if (a->atom == MC_GIBBS)
        return mc_function_equal(a->function, b->function);
    return !mc_atoms[a->atom].text || mc_value_equal(&a->parameter[MC_TEXT_COLUMN], &b->parameter[MC_TEXT_COLUMN]);
}

bool mc_node_equal(const mc_node *a, const mc_node *b) {
    if (a->kind != b->kind || a->children != b->children || a->number != b->number)
        return false;
    if (a->kind == MC_ATOM && !same_atom(a, b))
        return false;
    if (a->kind == MC_SERIES && a->series != b->series)
        return false;
    if (a->kind == MC_COLUMNS && !same_columns(a, b))
        return false;
    if (a->kind == MC_WEIGH && !mc_function_equal(a->function, b->function))
        return false;
    for (int i = 0; i < a->children; i++)
        if (!mc_node_equal(a->child[i], b->child[i]))
            return false;
    return true;
}

const mc_node *mc_node_bare(const mc_node *node) {
    const bool once = node->kind == MC_PRODUCT && node->children == 2 && node->child[0]->kind == MC_NUMBER
                      && node->child[0]->number == 1;
    return once ? node->child[1] : node;
}

bool mc_node_any(const mc_node *node, bool (*yes)(const mc_node *)) {
    if (yes(node))
        return true;
    for (int i = 0; i < node->children; i++)
        if (mc_node_any(node->child[i], yes))
            return true;
    return false;
}
