/* localise.c: an expression in the numbers of the columns that a table keeps (data/table/columns.h).

   What an expression says of single columns stands in lists as k[1, 5] and in weights as x[7]. Only those outside of
   every list count columns of the table; those inside count what the list has chosen and stay. A column that the table
   does not keep is 0 in every row, as the blank column is that stands in for it: a list keeps its length, and with it
   the vectors and matrices that go by it. */
#include "kernel/language/localise.h"
#include "base/memory.h"
#include "base/status.h"
#include "data/table/columns.h"
#include "kernel/language/node.h"
#include "kernel/evaluate/row_sets.h"

static bool is_sized(const mc_value *value) {
    return value->kind == MC_VALUE_VECTOR || value->kind == MC_VALUE_MATRIX || value->kind == MC_VALUE_FILE
           || value->kind == MC_VALUE_USER;
}

static bool sees_all(const mc_node *node) {
    if (node->kind == MC_COLUMNS || mc_node_reads_sets(node))
        return false;
    if (node->kind == MC_ATOM && (node->atom == MC_PRECOMPUTED || node->atom == MC_GIBBS))
        return true;
    for (int i = 0; node->kind == MC_ATOM && i < mc_atoms[node->atom].parameters; i++)
        if (is_sized(&node->parameter[i]))
            return true;
    for (int i = 0; i < node->children; i++)
        if (sees_all(node->child[i]))
            return true;
    return false;
}

bool mc_kernel_sees_all(const mercer_kernel *kernel) {
    return sees_all(mc_kernel_shown(kernel));
}

static bool function_names_columns(const mc_function *f) {
    return f && (f->kind == MC_F_COLUMN || function_names_columns(f->child[0]) || function_names_columns(f->child[1]));
}

static bool names_columns(const mc_node *node) {
    return node->kind == MC_COLUMNS || function_names_columns(node->function);
}

static void renumber_function(mc_function *f, const mercer_data *data) {
    if (!f)
        return;
    if (f->kind == MC_F_COLUMN)
        f->column = mc_data_place(data, f->column);
    renumber_function(f->child[0], data);
    renumber_function(f->child[1], data);
}

static void renumber_columns(mc_node *node, const mercer_data *data) {
    renumber_function(node->function, data);
    for (int64_t i = 0; node->kind == MC_COLUMNS && i < node->columns; i++)
        node->column[i] = mc_data_place(data, node->column[i]);
    for (int i = 0; node->kind != MC_COLUMNS && !mc_node_reads_sets(node) && i < node->children; i++)
        renumber_columns(node->child[i], data);
}

mercer_status mc_kernel_localise(mercer_ctx *ctx, const mercer_data *data, mercer_kernel *kernel) {
    mc_node *local = NULL;
    if (data->used && mc_kernel_sees_all(kernel))
        return mc_fail(ctx, MERCER_DATA,
                       "the kernel %.200s has numbers for each of %lld columns, and the table keeps %lld", kernel->text,
                       (long long)mc_data_width(data), (long long)data->d);
    if (!data->used || !mc_node_any(mc_kernel_shown(kernel), names_columns))
        return MERCER_OK;
    MC_TRY(mc_node_copy(ctx, mc_kernel_shown(kernel), &local));
    renumber_columns(local, data);
    mc_kernel_take_local(kernel, local);
    return MERCER_OK;
}

/* ---- Tables for a kernel ---- */

static mercer_status spread_table(mercer_ctx *ctx, const mercer_data **io, mercer_data **own) {
    if (!*io || !(*io)->used)
        return MERCER_OK;
    MC_TRY(mc_data_spread(ctx, *io, own));
    *io = *own;
    return MERCER_OK;
}

/* Tables of another number of columns stay as they are: whoever asked has a word for that. */
static mercer_status unite_columns(mercer_ctx *ctx, mc_aligned *a) {
    if (!a->z || mc_kept_same(a->x, a->z) || mc_data_width(a->x) != mc_data_width(a->z))
        return MERCER_OK;
    mc_kept both = {0};
    MC_TRY(mc_kept_union(ctx, a->x, a->z, &both));
    mercer_status status = mc_data_onto(ctx, a->x, &both, &a->own[0]);
    if (!status)
        status = mc_data_onto(ctx, a->z, &both, &a->own[1]);
    mc_free(both.used);
    if (!status) {
        a->x = a->own[0];
        a->z = a->own[1];
    }
    return status;
}

static mercer_status align_tables(mercer_ctx *ctx, const mercer_kernel *kernel, mc_aligned *a) {
    if (!a->x->used && !(a->z && a->z->used))
        return MERCER_OK;
    if (!mc_kernel_sees_all(kernel))
        return unite_columns(ctx, a);
    MC_TRY(spread_table(ctx, &a->x, &a->own[0]));
    return spread_table(ctx, &a->z, &a->own[1]);
}

mercer_status mc_align_tables(mercer_ctx *ctx, const mercer_kernel *kernel, const mercer_data *x, const mercer_data *z,
                              mc_aligned *out) {
    *out = (mc_aligned){.x = x, .z = z};
    const mercer_status status = align_tables(ctx, kernel, out);
    if (status)
        mc_aligned_free(out);
    return status;
}

void mc_aligned_free(mc_aligned *aligned) {
    mercer_data_free(aligned->own[0]);
    mercer_data_free(aligned->own[1]);
    *aligned = (mc_aligned){0};
}
