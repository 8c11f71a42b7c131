/* bind.c: what an expression leaves to the data is filled in: column names become numbers, matrices are read from their
   files, default bandwidths come from the variance of the columns in view (the rules are in atoms.c). Then everything
   is checked against the columns there are. */
#include "base/ctx.h"
#include "base/memory.h"
#include "base/status.h"
#include "base/suggest.h"
#include "data/table/columns.h"
#include "kernel/language/fits.h"
#include "kernel/language/form.h"
#include "kernel/language/localise.h"
#include "kernel/language/moments.h"
#include "kernel/language/node.h"
#include "kernel/language/simplify.h"
#include "kernel/evaluate/row_sets.h"
#include "kernel/evaluate/spectrum_kernel.h"
#include <float.h>
#include <math.h>
#include <string.h>

/* ---- Column names ---- */

static mercer_status unknown_column(mercer_ctx *ctx, const mc_node *node, const char *name, const mercer_data *data) {
    const char *near =
        data->name ? mc_suggest_name(name, strlen(name), (const char *const *)data->name, data->d) : NULL;
    return mc_fail_at(ctx, MERCER_DATA, node->offset, "the data have no column '%.80s'%s%.80s%s", name,
                      near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

static int64_t column_of_name(const mercer_data *data, const char *name) {
    for (int64_t j = 0; j < data->d; j++)
        if (strcmp(mercer_data_column_name(data, j), name) == 0)
            return j;
    return -1;
}

static int64_t place_in_view(const mc_view *view, int64_t column) {
    if (!view->parent)
        return column;
    for (int64_t j = 0; j < view->d; j++)
        if (mc_view_place(view, j) == column)
            return j;
    return -1;
}

static mercer_status resolve_name(mercer_ctx *ctx, mc_node *node, int64_t i, const mercer_data *data,
                                  const mc_view *view) {
    const char *name = node->column_name[i];
    const int64_t column = column_of_name(data, name);
    if (column < 0)
        return unknown_column(ctx, node, name, data);
    node->column[i] = place_in_view(view, column);
    if (node->column[i] < 0)
        return mc_fail_at(ctx, MERCER_DATA, node->offset, "column '%.80s' is not among the columns in view", name);
    return MERCER_OK;
}

static mercer_status resolve_columns(mercer_ctx *ctx, mc_node *node, const mercer_data *data, const mc_view *view) {
    if (!node->column_name)
        return MERCER_OK;
    for (int64_t i = 0; i < node->columns; i++) {
        if (node->column_name[i])
            MC_TRY(resolve_name(ctx, node, i, data, view));
        mc_free(node->column_name[i]);
        node->column_name[i] = NULL;
    }
    mc_free(node->column_name);
    node->column_name = NULL;
    return mc_columns_distinct(ctx, node);
}

/* Walk with the columns in view. An index that does not exist ends it here: views below it would point nowhere. */
static mercer_status resolve_tree_columns(mercer_ctx *ctx, mc_node *node, const mercer_data *data,
                                          const mc_view *view) {
    mc_view inner = *view;
    if (mc_node_reads_sets(node))
        return MERCER_OK; /* the columns are those of other rows, which have no names */
    if (node->kind == MC_COLUMNS) {
        MC_TRY(resolve_columns(ctx, node, data, view));
        MC_TRY(mc_columns_fit(ctx, node, view->d));
        inner = mc_view_columns(view, node);
    }
    for (int i = 0; i < node->children; i++)
        MC_TRY(resolve_tree_columns(ctx, node->child[i], data, &inner));
    return MERCER_OK;
}

/* ---- Bandwidths ---- */

/* The bandwidths of atoms.c for m columns of variance v. */
static double default_width(mc_atom atom, double m, double v) {
    switch (atom) {
    case MC_RBF: return 1 / (m * v);
    case MC_LAPLACIAN: return 1 / (m * sqrt(v));
    case MC_EXPONENTIAL: return sqrt(2 / (m * v));
    case MC_WENDLAND: return 2 * sqrt(m * v); /* rows are sqrt(2 m v) apart, in the root of the mean square */
    default: return sqrt(m * v / 2);          /* matern, rq: a length scale */
    }
}

static bool columns_differ(const mc_moments *moments, const mc_view *view) {
    const mc_column_extremes e = mc_moments_extremes(moments, view);
    return e.least < e.greatest;
}

/* No bandwidth follows where the square of what the columns in view are, or differ by, is no double. */
static mercer_status fail_width(mercer_ctx *ctx, const mc_node *node, int i, const mc_moments *moments,
                                const mc_view *view) {
    const mc_column_extremes e = mc_moments_extremes(moments, view);
    const char *width = mc_atoms[node->atom].parameter[i].name, *atom = mc_atoms[node->atom].name;
    if (!isfinite(e.greatest * e.greatest + e.least * e.least))
        return mc_fail_at(ctx, MERCER_DATA, node->offset,
                          "column '%s' has the value %g, whose square no double holds, so that no %s follows from the "
                          "data; rescale the column, leave it out, take scale=standard, or give %s's %s",
                          mercer_data_column_name(moments->data, e.column),
                          e.greatest > -e.least ? e.greatest : e.least, width, atom, width);
    return mc_fail_at(ctx, MERCER_DATA, node->offset,
                      "the values lie between %g and %g, too near each other for a double to hold their variance, so "
                      "that no %s follows from the data; rescale the columns, take scale=standard, or give %s's %s",
                      e.least, e.greatest, width, atom, width);
}

/* Of columns that are constant, 1 stands for the variance. */
static mercer_status set_width(mercer_ctx *ctx, mc_node *node, int i, const mc_moments *moments, const mc_view *view) {
    const double variance = mc_moments_variance(moments, view);
    const double width = default_width(node->atom, (double)view->d, variance == 0 ? 1 : variance);
    if (!(width >= DBL_MIN && width <= DBL_MAX) || (variance == 0 && columns_differ(moments, view)))
        return fail_width(ctx, node, i, moments, view);
    node->parameter[i].kind = MC_VALUE_NUMBER;
    node->parameter[i].number = width;
    return MERCER_OK;
}

static mercer_status set_widths(mercer_ctx *ctx, mc_node *node, const mc_moments *moments, const mc_view *view) {
    for (int i = 0; node->kind == MC_ATOM && i < mc_atoms[node->atom].parameters; i++)
        if (node->parameter[i].kind == MC_VALUE_AUTO)
            MC_TRY(set_width(ctx, node, i, moments, view));
    const mc_view inner = node->kind == MC_COLUMNS ? mc_view_columns(view, node) : *view;
    for (int i = 0; i < node->children; i++)
        MC_TRY(set_widths(ctx, node->child[i], moments, &inner));
    return MERCER_OK;
}

static bool has_auto(const mc_node *node) {
    for (int i = 0; node->kind == MC_ATOM && i < mc_atoms[node->atom].parameters; i++)
        if (node->parameter[i].kind == MC_VALUE_AUTO)
            return true;
    return false;
}

static mercer_status fill_widths(mercer_ctx *ctx, mc_node *root, const mercer_data *data, const mc_view *all) {
    mc_moments moments;
    if (!mc_node_any(root, has_auto))
        return MERCER_OK;
    MC_TRY(mc_moments_find(ctx, data, &moments));
    const mercer_status status = set_widths(ctx, root, &moments, all);
    mc_moments_free(&moments);
    return status;
}

/* ---- Texts alone ---- */

/* An atom of numbers would see no column, and be the same for all rows. */
static mercer_status refuse_numbers(mercer_ctx *ctx, const mc_node *node, const mercer_data *data) {
    if (node->kind == MC_ATOM && !mc_atoms[node->atom].text && node->atom != MC_WHITE) {
        const char *name = mercer_data_text_name(data, 0);
        return mc_fail_at(ctx, MERCER_DATA, node->offset,
                          "%s reads columns of numbers, and the data have texts alone; take spectrum(p=3)[%.80s]",
                          mc_atoms[node->atom].name, name ? name : "1");
    }
    for (int i = 0; i < node->children && node->kind != MC_ATOM; i++)
        MC_TRY(refuse_numbers(ctx, node->child[i], data));
    return MERCER_OK;
}

/* ---- Sets of rows ---- */

/* The kernel of the rows against the rows of all sets. */
static mercer_status bind_to_rows(mercer_ctx *ctx, mc_node *mean_map, const mc_row_sets *sets) {
    mercer_data *rows = NULL;
    MC_TRY(mc_row_sets_table(ctx, sets, &rows));
    mercer_status status = mc_node_fits(ctx, mean_map->child[0], sets->columns);
    MC_THEN(status, fill_widths(ctx, mean_map->child[0], rows, &(mc_view){.d = sets->columns}));
    mercer_data_free(rows);
    return status;
}

static mercer_status bind_mean_map(mercer_ctx *ctx, mc_node *mean_map, const mercer_data *data) {
    mc_value *columns = &mean_map->parameter[MC_SET_COLUMNS];
    const bool known = columns->kind == MC_VALUE_NUMBER;
    mc_row_sets sets;
    MC_TRY(mc_row_sets_read(ctx, mean_map, data, known ? (int64_t)columns->number : 0, &sets));
    columns->kind = MC_VALUE_NUMBER;
    columns->number = (double)sets.columns;
    mercer_status status = bind_to_rows(ctx, mean_map, &sets);
    if (!status && !known && sets.begin[sets.n] == 0)
        status = mc_fail_at(ctx, MERCER_DATA, mean_map->offset, "mean_map: no set of '%.80s' has a row",
                            mean_map->parameter[MC_TEXT_COLUMN].file);
    mc_row_sets_free(&sets);
    return status;
}

static mercer_status bind_mean_maps(mercer_ctx *ctx, mc_node *node, const mercer_data *data) {
    if (mc_node_reads_sets(node))
        return bind_mean_map(ctx, node, data);
    for (int i = 0; i < node->children; i++)
        MC_TRY(bind_mean_maps(ctx, node->child[i], data));
    return MERCER_OK;
}

/* ---- All together ---- */

static mercer_status read_files(mercer_ctx *ctx, mc_node *node) {
    for (int i = 0; node->kind == MC_ATOM && i < mc_atoms[node->atom].parameters; i++)
        if (node->parameter[i].kind == MC_VALUE_FILE)
            MC_TRY(mc_form_read(ctx, &node->parameter[i]));
    for (int i = 0; i < node->children; i++)
        MC_TRY(read_files(ctx, node->child[i]));
    return MERCER_OK;
}

static mercer_status fill_from_data(mercer_ctx *ctx, mc_node **root, const mercer_data *data, bool open) {
    const mc_view all = {.d = mc_data_width(data)};
    MC_TRY(resolve_tree_columns(ctx, *root, data, &all));
    if (data->texts && all.d == 0)
        MC_TRY(refuse_numbers(ctx, *root, data));
    MC_TRY(read_files(ctx, *root));
    MC_TRY(mc_texts_bind(ctx, *root, data));
    MC_TRY(bind_mean_maps(ctx, *root, data));
    MC_TRY(mc_node_fits(ctx, *root, all.d));
    MC_TRY(fill_widths(ctx, *root, data, &all));
    return open ? mc_simplify_expression(ctx, root) : MERCER_OK;
}

static mercer_status bind_node(mercer_ctx *ctx, const mercer_kernel *kernel, const mercer_data *data,
                               mercer_kernel **out) {
    mc_node *root = NULL;
    *out = NULL;
    MC_TRY(mc_node_copy(ctx, mc_kernel_shown(kernel), &root));
    const mercer_status status = fill_from_data(ctx, &root, data, kernel->open);
    if (!status)
        return mc_kernel_make(ctx, root, mc_data_width(data), out);
    mc_node_free(root);
    return status;
}

mercer_status mc_kernel_bind(mercer_ctx *ctx, const mercer_kernel *kernel, const mercer_data *data,
                             mercer_kernel **out) {
    MC_TRY(bind_node(ctx, kernel, data, out));
    const mercer_status status = mc_kernel_localise(ctx, data, *out);
    if (status) {
        mercer_kernel_free(*out);
        *out = NULL;
    }
    return status;
}

mercer_status mercer_kernel_bind(mercer_ctx *ctx, const mercer_kernel *kernel, const mercer_data *data,
                                 mercer_kernel **out) {
    MC_CLEAR(out);
    MC_NEED(ctx, kernel, data, out);
    mc_begin_call(ctx);
    return bind_node(ctx, kernel, data, out);
}
