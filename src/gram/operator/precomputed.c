/* precomputed.c: values from elsewhere, strip by strip.

   A matrix: rows are a serial number and then values, and k(x, z) stands in the row of x in the column that z's number
   names. Where z has none, as when rows to predict stand on the right, it is read in the row of z instead: k is
   symmetric.

   A whole expression that no tile serves: the reference evaluator is asked for every pair, with its two rows.

   An atom that no tile serves: both sides are kept as below, and the reference evaluator is asked for every pair.

   A function of the program: both sides are kept as plain rows of doubles, the columns in view one after the other, and
   every strip is one call. What a value is not known for, or is NaN, becomes a fault with the place of the pair, the
   first by rows of all threads: the same message on any number of them. */
#include "gram/operator/precomputed.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/status.h"
#include "gram/operator/entry_fault.h"
#include "kernel/evaluate/eval_conditional.h"
#include "kernel/evaluate/row_sets.h"
#include "kernel/language/atoms.h"
#include "kernel/language/node.h"
#include "kernel/language/user_function.h"
#include <math.h>
#include <string.h>

static bool is_user(const mc_tile_part *p) {
    return !p->by_reference && p->precomputed->atom == MC_USER;
}

bool mc_part_is_pairwise(const mc_tile_part *p) {
    return p->precomputed && !p->by_reference && p->precomputed->atom != MC_USER
           && p->precomputed->atom != MC_PRECOMPUTED;
}

/* Its rows are kept, the columns in view one after the other. */
static bool keeps_rows(const mc_tile_part *p) {
    return is_user(p) || mc_part_is_pairwise(p);
}

bool mc_gram_has_precomputed(const mc_gram *g) {
    for (int i = 0; i < g->plan.parts; i++)
        if (g->plan.part[i].precomputed)
            return true;
    return false;
}

/* The rows of the sets of both sides are kept. */
static bool keeps_sets(const mc_tile_part *p) {
    return mc_part_is_pairwise(p) && mc_node_reads_sets(p->precomputed);
}

/* ---- One side ---- */

/* The data column that the serial number of a row names; -1: it has none. */
static int32_t named_column(const mc_tile_part *p, const mercer_data *data, int64_t i) {
    const double serial = mc_data_value(data, i, p->column[0]);
    return serial >= 1 && serial < (double)p->columns && serial == floor(serial) ? (int32_t)p->column[(int64_t)serial]
                                                                                 : -1;
}

static double largest_value(const mc_tile_part *p, const mercer_data *data) {
    double most = 0;
    for (int64_t i = 0; i < data->n; i++)
        for (int64_t j = 1; j < p->columns; j++)
            most = fmax(most, fabs(mc_data_value(data, i, p->column[j])));
    return most;
}

/* What bounds |k(x, z)| when that of both sides is added: k(x, x) where it is a kernel. */
static double reach_of_row(const mc_node *node, const mc_view *view, const double *row) {
    double square[3];
    if (mc_atoms[node->atom].order == 0 || mc_atom_is_centred(node))
        return fabs(mc_eval_in_view(node, view, row, row));
    mc_squares_of(view, row, row, square);
    return mc_conditional_reach(node, square[0]);
}

static double largest_self(const mc_tile_part *p, const mercer_data *data, double *row) {
    const mc_view view = {.d = keeps_sets(p) ? data->d : p->columns, .column = keeps_sets(p) ? NULL : p->column};
    double most = 0;
    for (int64_t i = 0; i < data->n; i++) {
        mc_data_row(data, i, row);
        most = fmax(most, reach_of_row(p->precomputed, &view, row));
    }
    return most;
}

mercer_status mc_precomputed_measure(mercer_ctx *ctx, const mc_gram *g, const mc_tile_part *p, mc_packed_points *pack,
                                     const mercer_data *data) {
    (void)g;
    double *row = NULL;
    pack->n = data->n;
    MC_TRY(MC_ALLOC(ctx, pack->norm2, pack->n));
    MC_TRY(MC_ALLOC(ctx, pack->shift, pack->n));
    if (p->by_reference)
        return MERCER_OK;
    MC_TRY(MC_ALLOC(ctx, row, mc_data_row_width(data)));
    pack->norm2_max = keeps_rows(p) ? largest_self(p, data, row) : largest_value(p, data);
    mc_free(row);
    return MERCER_OK;
}

static mercer_status keep_rows(mercer_ctx *ctx, const mc_tile_part *p, mc_packed_points *pack,
                               const mercer_data *data) {
    double *row = NULL, *values = NULL;
    MC_TRY(MC_ALLOC(ctx, row, data->d));
    pack->values = values = mc_alloc(ctx, data->n * p->columns, sizeof *values);
    for (int64_t i = 0; values && i < data->n; i++) {
        mc_data_values(data, i, row);
        for (int64_t j = 0; j < p->columns; j++)
            values[i * p->columns + j] = row[p->column[j]];
    }
    mc_free(row);
    return values ? MERCER_OK : MERCER_MEMORY;
}

static mercer_status keep_sets(mercer_ctx *ctx, const mc_tile_part *p, mc_packed_points *pack,
                               const mercer_data *data) {
    mc_row_sets sets;
    const double columns = p->precomputed->parameter[MC_SET_COLUMNS].number;
    MC_TRY(mc_row_sets_read(ctx, p->precomputed, data, (int64_t)columns, &sets));
    pack->start = sets.begin;
    pack->values = sets.values;
    return MERCER_OK;
}

mercer_status mc_precomputed_lay_out(mercer_ctx *ctx, const mc_gram *g, const mc_tile_part *p, mc_packed_points *pack,
                                     const mercer_data *data) {
    pack->panels = mc_chunk_count(pack->n, g->ops->columns);
    pack->half =
        mc_alloc(ctx, pack->panels * g->ops->columns, g->precision == MERCER_F32 ? sizeof(float) : sizeof(double));
    if (!pack->half)
        return MERCER_MEMORY;
    if (p->by_reference)
        return MERCER_OK;
    if (keeps_sets(p))
        return keep_sets(ctx, p, pack, data);
    if (keeps_rows(p))
        return keep_rows(ctx, p, pack, data);
    MC_TRY(MC_ALLOC(ctx, pack->coordinate, pack->n));
    for (int64_t i = 0; i < pack->n; i++)
        pack->coordinate[i] = named_column(p, data, i);
    return MERCER_OK;
}

/* ---- Strips ---- */

static void store_real(const mc_gram *g, void *out, int64_t at, double v) {
    if (g->precision == MERCER_F32)
        ((float *)out)[at] = (float)v;
    else
        ((double *)out)[at] = v;
}

/* The value of rows i and j from whichever row has it. */
static double looked_up(const mc_gram *g, const mc_tile_part *p, int64_t i, int64_t j) {
    const int32_t in_x = p->right.coordinate[j], in_z = p->left.coordinate[i];
    return in_x >= 0 ? mc_data_value(g->x, i, in_x) : in_z >= 0 ? mc_data_value(g->z, j, in_z) : NAN;
}

/* Where a strip stands. */
typedef struct strip_place {
    const int64_t *row;
    int64_t first, count; /* columns; those past the end of the data repeat the last */
} strip_place;

/* Value of the r-th row and the c-th column, to its place in the micro-tiles. */
static void set_strip_value(const mc_gram *g, const strip_place *s, int64_t r, int64_t c, double v, void *out) {
    const int64_t rows = g->ops->rows, width = g->ops->columns, j = s->first + c < g->z->n ? s->first + c : g->z->n - 1;
    if (isnan(v) && !(g->symmetric && s->row[r] == j)) /* the reference evaluator has the diagonal */
        mc_fault_note(g, s->row[r], j);
    store_real(g, out, (c / width * rows + r) * width + c % width, v);
}

static void matrix_strip(const mc_gram *g, const mc_tile_part *p, const strip_place *s, void *out) {
    for (int64_t r = 0; r < g->ops->rows; r++)
        for (int64_t c = 0; c < s->count; c++)
            set_strip_value(g, s, r, c, looked_up(g, p, s->row[r], s->first + c < g->z->n ? s->first + c : g->z->n - 1),
                            out);
}

/* scratch: the rows of the group, then the values. */
static void function_strip(const mc_gram *g, const mc_tile_part *p, const strip_place *s, double *scratch, void *out) {
    const int64_t rows = g->ops->rows, d = p->columns,
                  there = g->z->n - s->first < s->count ? g->z->n - s->first : s->count;
    double *values = scratch + rows * d;
    for (int64_t r = 0; r < rows; r++)
        memcpy(scratch + r * d, (const double *)p->left.values + s->row[r] * d, (size_t)d * sizeof *scratch);
    const bool done = mc_user_fill(p->precomputed->parameter[0].user, d, rows, scratch, there,
                                   (const double *)p->right.values + s->first * d, values);
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < s->count; c++)
            set_strip_value(g, s, r, c, done ? values[r * there + (c < there ? c : there - 1)] : NAN, out);
}

/* scratch: a row of each side. */
static void reference_strip(const mc_gram *g, const mc_tile_part *p, const strip_place *s, double *scratch, void *out) {
    double *z = scratch + mc_data_row_width(g->x);
    for (int64_t c = 0; c < s->count; c++) {
        const int64_t j = s->first + c < g->z->n ? s->first + c : g->z->n - 1;
        mc_data_row(g->z, j, z);
        for (int64_t r = 0; r < g->ops->rows; r++) {
            mc_data_row(g->x, s->row[r], scratch);
            set_strip_value(g, s, r, c, mc_eval_kernel(p->precomputed, scratch, z, g->x->d), out);
        }
    }
}

static void pairwise_strip(const mc_gram *g, const mc_tile_part *p, const strip_place *s, void *out) {
    const mc_view view = {.d = p->columns};
    const double *x = p->left.values, *z = p->right.values;
    for (int64_t r = 0; r < g->ops->rows; r++)
        for (int64_t c = 0; c < s->count; c++) {
            const int64_t j = s->first + c < g->z->n ? s->first + c : g->z->n - 1;
            const double *row = x + s->row[r] * p->columns;
            set_strip_value(g, s, r, c, mc_eval_in_view(p->precomputed, &view, row, z + j * p->columns), out);
        }
}

static double set_value(const mc_tile_part *p, int64_t i, int64_t j) {
    const mc_node *node = p->precomputed;
    const int64_t d = (int64_t)node->parameter[MC_SET_COLUMNS].number, *x = p->left.start + i, *z = p->right.start + j;
    return mc_mean_map_value(node, x[1] - x[0], (const double *)p->left.values + x[0] * d, z[1] - z[0],
                             (const double *)p->right.values + z[0] * d);
}

static void sets_strip(const mc_gram *g, const mc_tile_part *p, const strip_place *s, void *out) {
    for (int64_t r = 0; r < g->ops->rows; r++)
        for (int64_t c = 0; c < s->count; c++) {
            const int64_t j = s->first + c < g->z->n ? s->first + c : g->z->n - 1;
            set_strip_value(g, s, r, c, set_value(p, s->row[r], j), out);
        }
}

int64_t mc_precomputed_reals(const mc_gram *g, const mc_tile_part *p) {
    const int64_t rows = p->by_reference ? mc_data_row_width(g->x) + mc_data_row_width(g->z) : 0;
    const int64_t doubles = is_user(p) ? g->ops->rows * p->columns + mc_strip_reals(g) : rows;
    return doubles * (int64_t)sizeof(double) / mc_real_size(g);
}

void mc_precomputed_strip(const mc_gram *g, const mc_tile_workspace *space, int part, int64_t group, int64_t panel,
                          int64_t panels, void *out) {
    const mc_tile_part *p = &g->plan.part[part];
    const strip_place s = {
        .row = space->row + group * g->ops->rows, .first = panel * g->ops->columns, .count = panels * g->ops->columns};
    if (p->by_reference)
        reference_strip(g, p, &s, (double *)(void *)space->b[part], out);
    else if (keeps_sets(p))
        sets_strip(g, p, &s, out);
    else if (mc_part_is_pairwise(p))
        pairwise_strip(g, p, &s, out);
    else if (is_user(p))
        function_strip(g, p, &s, (double *)(void *)space->b[part], out);
    else
        matrix_strip(g, p, &s, out);
}

/* ---- Faults in words ---- */

/* rows: a row of each side. */
static bool is_known(const mc_gram *g, const mc_tile_part *p, int64_t i, int64_t j, const double *x, const double *z) {
    const mc_view view = {.d = p->columns, .column = p->column};
    if (is_user(p))
        return !isnan(mc_user_value(p->precomputed->parameter[0].user, &view, x, z));
    return !isnan(looked_up(g, p, i, j)) || (g->symmetric && i == j && mc_data_value(g->x, i, p->column[0]) < 0);
}

/* The part whose own value is not known; NULL: all of them are, and the kernel makes no number of them. */
static mercer_status find_unknown(mercer_ctx *ctx, const mc_gram *g, int64_t i, int64_t j, const mc_tile_part **out) {
    double *x = NULL;
    MC_TRY(MC_ALLOC(ctx, x, g->x->d + g->z->d));
    mc_data_values(g->x, i, x);
    mc_data_values(g->z, j, x + g->x->d);
    for (int k = 0; k < g->plan.parts && !*out; k++) {
        const mc_tile_part *p = &g->plan.part[k];
        if (p->precomputed && !p->by_reference && !mc_part_is_pairwise(p) && !is_known(g, p, i, j, x, x + g->x->d))
            *out = p;
    }
    mc_free(x);
    return MERCER_OK;
}

mercer_status mc_precomputed_fail(mercer_ctx *ctx, const mc_gram *g, int64_t i, int64_t j) {
    const mc_tile_part *part = NULL;
    MC_TRY(find_unknown(ctx, g, i, j, &part));
    if (!part)
        return MERCER_OK;
    const mc_node *node = part->precomputed;
    const long long x = (long long)mc_data_row_number(g->x, i), z = (long long)mc_data_row_number(g->z, j);
    if (node->atom == MC_USER)
        return mc_fail(ctx, MERCER_NUMERIC, "user(\"%.80s\"): the function gave no number for row %lld and row %lld",
                       node->parameter[0].file, x, z);
    if (g->symmetric && i == j)
        return mc_fail(ctx, MERCER_DATA,
                       "precomputed: k(x,x) of row %lld is not known, and it is needed here: its first column must "
                       "hold its serial number, "
                       "or -k(x,x)",
                       x);
    return mc_fail(ctx, MERCER_DATA,
                   "precomputed: the value for row %lld and row %lld is not in the data: one of them must have a "
                   "serial number from 1 "
                   "to %lld in its first column",
                   x, z, (long long)part->columns - 1);
}
