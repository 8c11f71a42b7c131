/* line_vectors.c: the argument of a line is alpha strip_ij + row_i + column_j. With S the statistic of the expression
   and unit the factor it carries in the tile:

     <x, z>     S = (strip + <m, x> + <m, z> + |m|^2) / unit          points are centred at m; strip is their dot
     product
     |x - z|^2  S = (|x|^2 + |z|^2 - 2 strip) / unit, or -2 strip / unit of a strip of distances, or strip / unit by
     direct differences
     sums       S = strip / unit; for compressed rows |x|_1 + |z|_1 - 2 strip and sum x + sum z - 4 strip (absolute,
     chi)

   so that alpha is the factor of strip and the rest goes to the vectors, constants in equal halves: rows and columns
   may be exchanged without a bit changing. */
#include "gram/compile/line_vectors.h"
#include "base/ctx.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/sort.h"
#include "base/status.h"
#include "gram/compile/matern_table.h"
#include "kernel/evaluate/evaluate_rows.h"
#include <math.h>
#include <string.h>

/* ---- From nodes ---- */

static double norm_power(const mc_view *view, const double *x, double power) {
    double largest = 0, sum = 0;
    for (int64_t j = 0; j < view->d; j++)
        largest = fmax(largest, fabs(mc_view_at(view, x, j)));
    for (int64_t j = 0; j < view->d && largest > 0; j++)
        sum += (mc_view_at(view, x, j) / largest) * (mc_view_at(view, x, j) / largest);
    return pow(largest * sqrt(sum), power);
}

/* 1/sqrt|v| with the sign of v: the product of two is positive where the reference evaluator's denominator has a value.
   */
static double inverse_root(double v) {
    return v > 0 ? 1 / sqrt(v) : v < 0 ? -1 / sqrt(-v) : 0;
}

static double row_factor(const void *arg, const mc_view *row, const double *x) {
    const mc_tile_line *line = arg;
    const mc_view view = {.d = line->columns, .column = line->column, .parent = row};
    if (line->vector == MC_VECTOR_NORMALIZE)
        return inverse_root(mc_eval_in_view(line->node->child[0], &view, x, x));
    if (line->vector == MC_VECTOR_NORM || line->vector == MC_VECTOR_POWER)
        return (line->vector == MC_VECTOR_POWER ? -1 : 1) * norm_power(&view, x, line->power);
    if (line->vector == MC_VECTOR_ORIGIN)
        return norm_power(&view, x, 1) > 0;
    const double f = mc_function_in_view(line->node->function, &view, x);
    return line->vector == MC_VECTOR_WEIGH ? f : f > 0 && f * f > 0 ? f * f : NAN;
}

static mercer_status node_vector(mercer_ctx *ctx, const mc_tile_line *line, const mercer_data *data, double **out) {
    MC_TRY(MC_ALLOC(ctx, *out, data->n));
    return mc_evaluate_rows(ctx, line->node, data, data->n, row_factor, line, *out);
}

/* ---- Equality ---- */

/* Rows of both sides, numbered 0 .. n + m - 1, compared on the columns in view. */
typedef struct both_sides {
    const mc_gram *gram;
    const mc_tile_line *line;
} both_sides;

static double value_of(const both_sides *b, int64_t item, int64_t k) {
    const int64_t n = b->gram->x->n;
    return item < n ? mc_data_value(b->gram->x, item, b->line->column[k])
                    : mc_data_value(b->gram->z, item - n, b->line->column[k]);
}

static int compare_rows(const void *arg, int64_t a, int64_t b) {
    const both_sides *sides = arg;
    for (int64_t k = 0; k < sides->line->columns; k++) {
        const double u = value_of(sides, a, k), v = value_of(sides, b, k);
        if (u != v)
            return u < v ? -1 : 1;
    }
    return 0;
}

/* Equal rows get equal numbers, from 0. */
static void number_groups(const both_sides *b, const int64_t *items, int64_t count, double *left, double *right) {
    double group = 0;
    for (int64_t s = 0; s < count; s++) {
        if (s > 0 && compare_rows(b, items[s - 1], items[s]) != 0)
            group++;
        if (items[s] < b->gram->x->n)
            left[items[s]] = group;
        else
            right[items[s] - b->gram->x->n] = group;
    }
}

static mercer_status number_equal_rows(mercer_ctx *ctx, const mc_gram *g, mc_tile_line *line) {
    const int64_t count = g->x->n + (g->symmetric ? 0 : g->z->n);
    const both_sides b = {.gram = g, .line = line};
    int64_t *items = NULL;
    MC_TRY(MC_ALLOC(ctx, line->row_double, g->x->n));
    line->col_double = line->row_double;
    if (!g->symmetric && MC_ALLOC(ctx, line->col_double, g->z->n) != MERCER_OK)
        return MERCER_MEMORY;
    MC_TRY(MC_ALLOC(ctx, items, 2 * count));
    for (int64_t i = 0; i < count; i++)
        items[i] = i;
    mc_sort(items, items + count, count, compare_rows, &b);
    number_groups(&b, items, count, line->row_double, line->col_double);
    mc_free(items);
    return MERCER_OK;
}

static mercer_status measure_columns(mercer_ctx *ctx, const mc_gram *g, mc_tile_line *line) {
    if (!g->symmetric)
        MC_TRY(node_vector(ctx, line, g->z, &line->col_double));
    else
        line->col_double = line->row_double;
    line->col_max = mc_largest_magnitude(line->col_double, g->z->n);
    line->col_least = mc_least_magnitude(line->col_double, g->z->n);
    return MERCER_OK;
}

static mercer_status measure_line(mercer_ctx *ctx, mc_gram *g, mc_tile_line *line, const mc_tile_line *reused) {
    if (line->vector == MC_VECTOR_IDENTITY)
        return number_equal_rows(ctx, g, line);
    MC_TRY(node_vector(ctx, line, g->x, &line->row_double));
    line->row_max = mc_largest_magnitude(line->row_double, g->x->n);
    line->row_least = mc_least_magnitude(line->row_double, g->x->n);
    if (!reused)
        return measure_columns(ctx, g, line);
    line->col_max = reused->col_max;
    line->col_least = reused->col_least;
    return MERCER_OK;
}

mercer_status mc_vectors_measure(mercer_ctx *ctx, mc_gram *g) {
    for (int i = 0; i < g->plan.lines; i++)
        if (g->plan.line[i].vector != MC_VECTOR_NONE)
            MC_TRY(measure_line(ctx, g, &g->plan.line[i], mc_packed_cache_line(g, i)));
    return MERCER_OK;
}

/* ---- In the tile's precision ---- */

/* v_i = by_norm |x_i|^2 + by_shift <m, x_i> + constant */
typedef struct recipe {
    double alpha, by_norm, by_shift, constant;
} recipe;

static recipe recipe_of(const mc_tile_line *line, const mc_tile_part *p) {
    const double a = line->a / mc_part_unit(p), half = 0.5 * line->c;
    switch (line->use) {
    case MC_USE_DOT: return (recipe){.alpha = a, .by_shift = a, .constant = 0.5 * a * p->centre2 + half};
    case MC_USE_DISTANCE:
        if (p->norms_in_line)
            return (recipe){.alpha = -2 * a, .by_norm = a, .constant = half};
        return (recipe){.alpha = p->distance_method == MC_DISTANCE_DIRECT ? a : -2 * a, .constant = half};
    case MC_USE_SUM:
        if (line->step.function == MC_RATIO)
            return (recipe){.alpha = a, .by_norm = a};
        if (p->sparse && (p->kind == MC_ABSOLUTE || p->kind == MC_CHI))
            return (recipe){.alpha = p->kind == MC_ABSOLUTE ? -2 * a : -4 * a, .by_norm = a, .constant = half};
        return (recipe){.alpha = a, .constant = half};
    default: return (recipe){.alpha = 1};
    }
}

static void store_real(const mc_gram *g, void *out, int64_t i, double v) {
    if (g->precision == MERCER_F32)
        ((float *)out)[i] = (float)v;
    else
        ((double *)out)[i] = v;
}

/* Points past the end repeat the last one: what they give is thrown away, but it is a number like the others. */
static int64_t clamp_index(int64_t i, int64_t n) {
    return i < n ? i : n - 1;
}

/* A whole number that MC_EQUAL compares as such. */
static void put_whole(const mc_gram *g, void *out, int64_t i, double v) {
    if (g->precision == MERCER_F32)
        ((int32_t *)out)[i] = (int32_t)v;
    else
        ((int64_t *)out)[i] = (int64_t)v;
}

static int64_t padded_length(const mc_gram *g, int64_t n) {
    return mc_chunk_count(n, g->ops->columns) * g->ops->columns;
}

static mercer_status new_vector(mercer_ctx *ctx, const mc_gram *g, int64_t n, void **out) {
    *out = mc_alloc(ctx, padded_length(g, n), g->precision == MERCER_F32 ? sizeof(float) : sizeof(double));
    return *out ? MERCER_OK : MERCER_MEMORY;
}

static mercer_status from_part(mercer_ctx *ctx, const mc_gram *g, recipe r, const mc_packed_points *pack, void **out) {
    MC_TRY(new_vector(ctx, g, pack->n, out));
    for (int64_t i = 0; i < padded_length(g, pack->n); i++) {
        const int64_t j = clamp_index(i, pack->n);
        store_real(g, *out, i, r.by_norm * pack->norm2[j] + r.by_shift * pack->shift[j] + r.constant);
    }
    return MERCER_OK;
}

static mercer_status from_double(mercer_ctx *ctx, const mc_gram *g, const mc_tile_line *line, const double *v,
                                 int64_t n, void **out) {
    MC_TRY(new_vector(ctx, g, n, out));
    for (int64_t i = 0; i < padded_length(g, n); i++)
        if (line->vector == MC_VECTOR_IDENTITY)
            put_whole(g, *out, i, v[clamp_index(i, n)]);
        else
            store_real(g, *out, i, v[clamp_index(i, n)]);
    return MERCER_OK;
}

/* The radial functions that take a root or a power want their argument positive. */
static bool wants_positive(mc_function_of_tile f) {
    return f == MC_ROOT || f == MC_MATERN3 || f == MC_MATERN5 || f == MC_RATIONAL || f == MC_COMPACT
           || f == MC_DISTANCE_POWER || f == MC_LOOKED_UP;
}

static mercer_status fill_part_line(mercer_ctx *ctx, const mc_gram *g, mc_tile_line *line, const mc_tile_line *reused) {
    const mc_tile_part *p = &g->plan.part[line->part];
    recipe r = recipe_of(line, p);
    if (wants_positive(line->step.function))
        r = (recipe){-r.alpha, -r.by_norm, -r.by_shift, -r.constant};
    line->step.alpha = r.alpha;
    if (line->step.function == MC_EXP2)
        line->step.degree = p->norms_in_line && line->use == MC_USE_DISTANCE && 0.5 * p->left.norm2_max <= MC_TILE_LIFT;
    if (r.by_norm == 0 && r.by_shift == 0 && r.constant == 0)
        return MERCER_OK;
    MC_TRY(from_part(ctx, g, r, &p->left, &line->row));
    if (p->shared || reused) {
        line->col = reused ? reused->col : line->row;
        return MERCER_OK;
    }
    return from_part(ctx, g, r, &p->right, &line->col);
}

static mercer_status fill_node_line(mercer_ctx *ctx, const mc_gram *g, mc_tile_line *line, const mc_tile_line *reused) {
    if (line->part >= 0)
        line->step.alpha = recipe_of(line, &g->plan.part[line->part]).alpha;
    MC_TRY(from_double(ctx, g, line, line->row_double, g->x->n, &line->row));
    if (g->symmetric || reused) {
        line->col = reused ? reused->col : line->row;
        return MERCER_OK;
    }
    return from_double(ctx, g, line, line->col_double, g->z->n, &line->col);
}

static mercer_status fill_table(mercer_ctx *ctx, const mc_gram *g, mc_tile_line *line, const mc_tile_line *reused) {
    if (line->step.function != MC_LOOKED_UP)
        return MERCER_OK;
    const mc_matern_range range = mc_matern_table_range(line->step.p, g->precision);
    if (reused)
        line->table = reused->table;
    else
        MC_TRY(mc_matern_table_make(ctx, line->step.p, g->precision, &line->table));
    line->step.table = line->table;
    line->step.first = range.first;
    line->step.pieces = range.pieces;
    return MERCER_OK;
}

static void free_doubles(mc_tile_line *line) {
    if (line->col_double != line->row_double)
        mc_free(line->col_double);
    mc_free(line->row_double);
    line->row_double = line->col_double = NULL;
}

mercer_status mc_vectors_fill(mercer_ctx *ctx, mc_gram *g) {
    for (int i = 0; i < g->plan.lines; i++) {
        mc_tile_line *line = &g->plan.line[i];
        if (line->vector != MC_VECTOR_NONE)
            MC_TRY(fill_node_line(ctx, g, line, mc_packed_cache_line(g, i)));
        else if (line->part >= 0)
            MC_TRY(fill_part_line(ctx, g, line, mc_packed_cache_line(g, i)));
        MC_TRY(fill_table(ctx, g, line, mc_packed_cache_line(g, i)));
        free_doubles(line);
        line->step.row = line->row;
        line->step.column = line->col;
    }
    return MERCER_OK;
}
