/* fits.c: an expression against the columns it is to be used on: do they exist, are there as many as its vectors and
   matrices have numbers, and do the values lie where the atoms are defined. */
#include "kernel/language/fits.h"
#include "base/memory.h"
#include "base/status.h"
#include "data/table/columns.h"
#include "kernel/language/node.h"
#include "kernel/evaluate/row_sets.h"
#include "kernel/evaluate/spectrum_kernel.h"
#include "kernel/language/user_function.h"

static mercer_status fail_count(mercer_ctx *ctx, const mc_node *node, const char *what, int64_t has, int64_t d) {
    return mc_fail_at(ctx, MERCER_DATA, node->offset, "%s's %s is for %lld columns, but there %s %lld in view",
                      mc_atoms[node->atom].name, what, (long long)has, d == 1 ? "is" : "are", (long long)d);
}

static mercer_status atom_fits(mercer_ctx *ctx, const mc_node *node, int64_t d) {
    for (int i = 0; i < mc_atoms[node->atom].parameters; i++) {
        const mc_value *value = &node->parameter[i];
        const bool sized = value->kind == MC_VALUE_VECTOR || value->kind == MC_VALUE_MATRIX;
        if (sized && value->columns != d)
            return fail_count(ctx, node, mc_atoms[node->atom].parameter[i].name, value->columns, d);
    }
    return MERCER_OK;
}

/* What atoms with values from elsewhere ask of the columns in view. */
static mercer_status external_atom_fits(mercer_ctx *ctx, const mc_node *node, const mc_view *view) {
    if (node->atom == MC_PRECOMPUTED && view->d < 2)
        return mc_fail_at(ctx, MERCER_DATA, node->offset,
                          "precomputed takes a column of serial numbers and then the matrix, but there %s",
                          view->d ? "is 1 column" : "are no columns");
    if (node->atom == MC_USER && view->d > MC_USER_COLUMNS && !mc_view_is_run(view))
        return mc_fail_at(ctx, MERCER_DATA, node->offset,
                          "user takes at most %d columns that do not follow each other, not %lld", MC_USER_COLUMNS,
                          (long long)view->d);
    return MERCER_OK;
}

static mercer_status fail_column(mercer_ctx *ctx, const mc_node *node, int64_t column, int64_t d) {
    return mc_fail_at(ctx, MERCER_DATA, node->offset, "the kernel asks for column %lld, but there %s %lld",
                      (long long)column + 1, d == 1 ? "is" : "are", (long long)d);
}

static mercer_status function_fits(mercer_ctx *ctx, const mc_node *node, const mc_function *f, int64_t d) {
    if (!f)
        return MERCER_OK;
    if (f->kind == MC_F_COLUMN && f->column >= d)
        return fail_column(ctx, node, f->column, d);
    MC_TRY(function_fits(ctx, node, f->child[0], d));
    return function_fits(ctx, node, f->child[1], d);
}

mercer_status mc_columns_fit(mercer_ctx *ctx, const mc_node *node, int64_t d) {
    for (int64_t i = 0; i < node->columns; i++)
        if (node->column[i] >= d)
            return fail_column(ctx, node, node->column[i], d);
    return MERCER_OK;
}

static mercer_status fits_in_view(mercer_ctx *ctx, const mc_node *node, const mc_view *view) {
    const int64_t d = view->d;
    mc_view inner = *view;
    if (mc_node_reads_sets(node))
        return node->parameter[MC_SET_COLUMNS].kind == MC_VALUE_NUMBER
                   ? mc_node_fits(ctx, node->child[0], (int64_t)node->parameter[MC_SET_COLUMNS].number)
                   : MERCER_OK;
    if (node->kind == MC_ATOM)
        MC_TRY(atom_fits(ctx, node, d));
    if (node->kind == MC_ATOM && mc_atoms[node->atom].opaque)
        MC_TRY(external_atom_fits(ctx, node, view));
    MC_TRY(function_fits(ctx, node, node->function, d));
    if (node->kind == MC_COLUMNS) {
        MC_TRY(mc_columns_fit(ctx, node, d));
        inner = mc_view_columns(view, node);
    }
    for (int i = 0; i < node->children; i++)
        MC_TRY(fits_in_view(ctx, node->child[i], &inner));
    return MERCER_OK;
}

mercer_status mc_node_fits(mercer_ctx *ctx, const mc_node *node, int64_t d) {
    return fits_in_view(ctx, node, &(mc_view){.d = d});
}

mercer_status mc_kernel_check_ready(mercer_ctx *ctx, const mercer_kernel *kernel, int64_t d) {
    if (kernel->ranges)
        return mc_fail(ctx, MERCER_INVALID, "the kernel %s has ranges: tune chooses from them; give numbers here",
                       kernel->text);
    if (kernel->open)
        return mc_fail(ctx, MERCER_INVALID,
                       "the kernel %s leaves a bandwidth, a column name or a matrix to the data: bind it to data first",
                       kernel->text);
    if (kernel->d > 0 && kernel->d != d)
        return mc_fail(ctx, MERCER_DATA, "the kernel is bound to %lld columns, but there %s %lld", (long long)kernel->d,
                       d == 1 ? "is" : "are", (long long)d);
    return mc_node_fits(ctx, mc_kernel_shown(kernel), d);
}

/* The first of the columns in view that some atom wants to be without sign and for which bad says yes; -1: none. */
typedef bool bad_column(const void *arg, int64_t column);

static int64_t find_bad(const mc_node *node, const mc_view *view, bad_column *bad, const void *arg) {
    if (mc_node_reads_sets(node))
        return -1; /* row_sets.c looks */
    if (node->kind == MC_ATOM && mc_atoms[node->atom].nonnegative)
        for (int64_t j = 0; j < view->d; j++)
            if (bad(arg, mc_view_place(view, j)))
                return mc_view_place(view, j);
    const mc_view inner = node->kind == MC_COLUMNS ? mc_view_columns(view, node) : *view;
    for (int i = 0; i < node->children; i++) {
        const int64_t column = find_bad(node->child[i], &inner, bad, arg);
        if (column >= 0)
            return column;
    }
    return -1;
}

static bool wants_nonnegative(const mc_node *node) {
    return node->kind == MC_ATOM && mc_atoms[node->atom].nonnegative;
}

/* Of an atom that takes no negative values. */
static const char *first_name(const mc_node *node) {
    if (node->kind == MC_ATOM && mc_atoms[node->atom].nonnegative)
        return mc_atoms[node->atom].name;
    for (int i = 0; i < node->children; i++)
        if (mc_node_any(node->child[i], wants_nonnegative))
            return first_name(node->child[i]);
    return "";
}

static bool is_negative(const void *arg, int64_t column) {
    return ((const double *)arg)[column] < 0;
}

int64_t mc_node_negative_column(const mc_node *node, const double *x, int64_t d) {
    return find_bad(node, &(mc_view){.d = d}, is_negative, x);
}

mercer_status mc_kernel_check_point(mercer_ctx *ctx, const mercer_kernel *kernel, const double *x, int64_t d,
                                    const char *name) {
    const mc_view all = {.d = d};
    if (kernel->texts)
        return mc_fail(ctx, MERCER_INVALID, "%.200s reads texts, which an array of numbers has not; ask mercer_gram",
                       kernel->text);
    const int64_t column = find_bad(mc_kernel_shown(kernel), &all, is_negative, x);
    if (column < 0)
        return MERCER_OK;
    return mc_fail(ctx, MERCER_DATA, "%s takes no negative values, but column %lld of %s is %g",
                   first_name(mc_kernel_shown(kernel)), (long long)column + 1, name, x[column]);
}

/* The first row with a negative value in each column, n for none. */
static void first_negative_rows(const mercer_data *data, int64_t *row) {
    for (int64_t j = 0; j < data->d; j++)
        row[j] = data->n;
    for (int64_t i = data->n - 1; i >= 0; i--) {
        const int64_t begin = data->row_start ? data->row_start[i] : i * data->d;
        const int64_t end = data->row_start ? data->row_start[i + 1] : begin + data->d;
        for (int64_t k = begin; k < end; k++)
            if (mc_stored_value(data, k) < 0)
                row[data->row_start ? data->column[k] : k - begin] = i;
    }
}

typedef struct negatives {
    const int64_t *row;
    int64_t n;
} negatives;

static bool has_negative(const void *arg, int64_t column) {
    const negatives *seen = arg;
    return seen->row[column] < seen->n;
}

static mercer_status check_signs(mercer_ctx *ctx, const mercer_kernel *kernel, const mercer_data *data, int64_t *row) {
    const mc_view all = {.d = data->d};
    first_negative_rows(data, row);
    const int64_t column = find_bad(kernel->root, &all, has_negative, &(negatives){row, data->n});
    if (column < 0)
        return MERCER_OK;
    return mc_fail(ctx, MERCER_DATA, "%s takes no negative values, but row %lld has one in column %lld",
                   first_name(kernel->root), (long long)row[column] + 1, (long long)mc_data_column(data, column) + 1);
}

mercer_status mc_kernel_check_data(mercer_ctx *ctx, const mercer_kernel *kernel, const mercer_data *data) {
    MC_TRY(mc_kernel_check_ready(ctx, kernel, mc_data_width(data)));
    MC_TRY(mc_texts_check(ctx, kernel->root, data));
    if (!mc_node_any(kernel->root, wants_nonnegative))
        return MERCER_OK;
    int64_t *row = NULL;
    MC_TRY(MC_ALLOC(ctx, row, data->d));
    const mercer_status status = check_signs(ctx, kernel, data, row);
    mc_free(row);
    return status;
}
