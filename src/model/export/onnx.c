/* onnx.c: a model as an ONNX graph that takes raw rows: X, rows x columns of double.

       X -> a mean where a number is missing -> scaling -> decisions d -> outputs

   label (text) and scores, and probabilities where the machine has them, for classes; prediction for numbers. Support
   vector machines with a kernel of LIBSVM decide by the operators of ai.onnx.ml, in float (onnx_svm.c); all else, and
   they too when asked, by standard operators in double:

       sums over rows      d = K(X, centres) alpha + b
       weights             d = X W + b
       fourier             d = (cos(X omega), sin(X omega)) alpha + b
       neighbours          squares k(x,x) + k(z,z) - 2 K, the least k of them, what their rows say */
#include "model/export/onnx.h"
#include "base/memory.h"
#include "base/status.h"
#include "data/table/columns.h"
#include "data/table/data.h"
#include "kernel/language/kernel.h"
#include "kernel/language/node.h"
#include "predict/neighbours.h"
#include "model/export/centre_rows.h"
#include <float.h>
#include <math.h>
#include <string.h>

/* ---- Preprocessing ---- */

static bool has_means(const mercer_data *x) {
    for (int64_t c = 0; c < x->schema.count; c++)
        if (x->schema.column[c].kind == MC_COLUMN_NUMBER && isfinite(x->schema.column[c].mean))
            return true;
    return false;
}

/* What stands in for a missing number of each column; NaN for columns that are no numbers of a file. */
static void means_of(const mercer_data *x, double *mean) {
    int64_t at = 0;
    for (int64_t j = 0; j < x->d; j++)
        mean[j] = NAN;
    for (int64_t c = 0; c < x->schema.count && at < x->d; c++) {
        const mc_column *column = &x->schema.column[c];
        if (column->kind == MC_COLUMN_NUMBER) {
            mean[at++] = column->mean;
        } else if (column->kind == MC_COLUMN_LEVELS) {
            at += column->levels;
        }
    }
}

static int fill_missing(mc_onnx *g, const mercer_data *x, int rows) {
    double *mean = NULL;
    if (!has_means(x))
        return rows;
    if (MC_ALLOC(g->ctx, mean, x->d)) {
        g->status = MERCER_MEMORY;
        return rows;
    }
    means_of(x, mean);
    const int filled = mc_onnx_choose(g, mc_onnx_unary(g, "IsNaN", rows), mc_onnx_row(g, mean, x->d), rows);
    mc_free(mean);
    return filled;
}

static int onnx_scaled_rows(mc_onnx *g, const mc_scale *s, int64_t d, int rows) {
    if (s->shift)
        rows = mc_onnx_binary(g, "Sub", rows, mc_onnx_row(g, s->shift, d));
    return s->factor ? mc_onnx_binary(g, "Mul", rows, mc_onnx_row(g, s->factor, d)) : rows;
}

/* ---- Decisions ---- */

/* Numbers of every centre side by side, written by a function. */
static mercer_status gather_centre_numbers(mercer_ctx *ctx, const mc_fitted *f, int64_t rows, int64_t width,
                                           mc_fill_row *of, double **out) {
    MC_TRY(MC_ALLOC(ctx, *out, rows * width));
    for (int64_t i = 0; i < rows; i++)
        of(f, i, width, *out + i * width);
    return MERCER_OK;
}

static int add_intercept(mc_onnx *g, const mc_fitted *f, int64_t decisions, int sum) {
    return mc_onnx_binary(g, "Add", sum, mc_onnx_row(g, f->intercept, decisions));
}

static mercer_status decide_rows(mc_onnx *g, const mc_fitted *f, int64_t decisions, int x, int *out) {
    const int64_t n = f->centres->n, d = f->centres->d;
    double *Z = NULL, *alpha = NULL;
    mercer_status status = gather_centre_numbers(g->ctx, f, n, d, mc_row_of_centre, &Z);
    MC_THEN(status, gather_centre_numbers(g->ctx, f, n, decisions, mc_row_of_coefficients, &alpha));
    int K = 0;
    MC_THEN(status, mc_onnx_kernel(g, f->kernel->root, x, Z, n, d, &K));
    if (!status)
        *out = add_intercept(g, f, decisions, mc_onnx_product(g, K, mc_onnx_table(g, alpha, n, decisions)));
    mc_free(alpha);
    mc_free(Z);
    return status;
}

/* rows x columns, turned. */
static mercer_status transposed_table(mc_onnx *g, const double *table, int64_t rows, int64_t columns, int *out) {
    double *other = NULL;
    MC_TRY(MC_ALLOC(g->ctx, other, rows * columns));
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++)
            other[j * rows + i] = table[i * columns + j];
    *out = mc_onnx_table(g, other, columns, rows);
    mc_free(other);
    return MERCER_OK;
}

static mercer_status decide_weights(mc_onnx *g, const mc_fitted *f, int64_t decisions, int x, int *out) {
    int W = 0;
    MC_TRY(transposed_table(g, f->primal, decisions, f->features, &W));
    *out = add_intercept(g, f, decisions, mc_onnx_product(g, x, W));
    return MERCER_OK;
}

/* The frequencies stand in the first half of the centres, and again in the second. */
static mercer_status decide_fourier_features(mc_onnx *g, const mc_fitted *f, int64_t decisions, int x, int *out) {
    const int64_t count = f->centres->n / 2, d = f->centres->d;
    double *omega = NULL;
    int table = 0;
    MC_TRY(gather_centre_numbers(g->ctx, f, count, d, mc_row_of_centre, &omega));
    const mercer_status status = transposed_table(g, omega, count, d, &table);
    mc_free(omega);
    MC_TRY(status);
    const int angles = mc_onnx_product(g, x, table);
    const int cos_sin = mc_onnx_concat(g, mc_onnx_unary(g, "Cos", angles), mc_onnx_unary(g, "Sin", angles), 1);
    *out =
        add_intercept(g, f, decisions, mc_onnx_product(g, cos_sin, mc_onnx_table(g, f->alpha, 2 * count, decisions)));
    return MERCER_OK;
}

/* ---- Neighbours ---- */

/* Squared distances to the centres, rows x n; what is no more than the error of the difference counts as 0. */
static mercer_status squared_kernel_distances(mc_onnx *g, const mc_fitted *f, double noise, const double *Z, int x,
                                              int *out) {
    const int64_t n = f->centres->n, d = f->centres->d;
    int K = 0, own = 0;
    double *diagonal = NULL;
    MC_TRY(mc_onnx_kernel(g, f->kernel->root, x, Z, n, d, &K));
    MC_TRY(mc_onnx_diagonal(g, f->kernel->root, x, d, &own));
    MC_TRY(MC_ALLOC(g->ctx, diagonal, n));
    for (int64_t i = 0; i < n; i++)
        diagonal[i] = mc_eval_kernel(f->kernel->root, Z + i * d, Z + i * d, d);
    const int sum = mc_onnx_binary(g, "Add", own, mc_onnx_row(g, diagonal, n));
    mc_free(diagonal);
    const int square = mc_onnx_binary(g, "Sub", sum, mc_onnx_binary(g, "Add", K, K));
    const int share = mc_onnx_binary(g, "Mul", sum, mc_onnx_number(g, 4 * DBL_EPSILON));
    const int least = mc_onnx_binary(g, "Add", share, mc_onnx_number(g, noise));
    *out = mc_onnx_choose(g, mc_onnx_binary(g, "Greater", square, least), square, mc_onnx_number(g, 0));
    return MERCER_OK;
}

/* The k least of each row and where they stand: two values. */
static int nearest_centres(mc_onnx *g, int64_t k, int square) {
    mc_text attributes = mc_text_open(g->ctx);
    mc_onnx_put_integer(&attributes, "largest", 0);
    return mc_onnx_node(g, NULL, "TopK", 2, (const int[]){square, mc_onnx_integers(g, &k, 1)}, 2, &attributes);
}

/* What a neighbour counts: 1 / distance; where the nearest stands at distance zero those at zero count, and they alone.
   */
static int inverse_distance_weights(mc_onnx *g, int square) {
    const int zero = mc_onnx_number(g, 0), one = mc_onnx_number(g, 1);
    const int first = mc_onnx_gather(g, square, mc_onnx_integers(g, (const int64_t[]){0}, 1), 1);
    const int at_zero = mc_onnx_cast(g, mc_onnx_binary(g, "Equal", square, zero), MC_ONNX_DOUBLE);
    const int far = mc_onnx_binary(g, "Div", one, mc_onnx_unary(g, "Sqrt", square));
    return mc_onnx_choose(g, mc_onnx_binary(g, "Equal", first, zero), at_zero, far);
}

/* The rows of alpha that the neighbours have, rows x k x (outputs + 1), added up; the last column is the weight that
   divides. */
static int neighbour_vote(mc_onnx *g, const mc_fitted *f, int first) {
    const int64_t width = f->outputs + 1;
    int said = mc_onnx_gather(g, mc_onnx_table(g, f->alpha, f->centres->n, width), first + 1, 0);
    if (f->by_distance) {
        const int q = mc_onnx_binary(g, "Unsqueeze", inverse_distance_weights(g, first),
                                     mc_onnx_integers(g, (const int64_t[]){2}, 1));
        said = mc_onnx_binary(g, "Mul", said, q);
    }
    const int sum = mc_onnx_sum(g, said, 1, false);
    const int ends[] = {sum, mc_onnx_integers(g, (const int64_t[]){0}, 1), mc_onnx_integers(g, &f->outputs, 1),
                        mc_onnx_integers(g, (const int64_t[]){1}, 1)};
    const int weight = mc_onnx_gather(g, sum, mc_onnx_integers(g, &f->outputs, 1), 1);
    return mc_onnx_binary(g, "Div", mc_onnx_node(g, NULL, "Slice", 4, ends, 1, NULL), weight);
}

static mercer_status decide_neighbours(mc_onnx *g, const mc_fitted *f, int64_t decisions, int x, int *out) {
    (void)decisions;
    double noise = 0, *Z = NULL;
    int square = 0;
    MC_TRY(mc_neighbours_noise(g->ctx, f, &noise));
    mercer_status status = gather_centre_numbers(g->ctx, f, f->centres->n, f->centres->d, mc_row_of_centre, &Z);
    MC_THEN(status, squared_kernel_distances(g, f, noise, Z, x, &square));
    mc_free(Z);
    if (!status)
        *out = neighbour_vote(g, f, nearest_centres(g, f->report.neighbors, square));
    return status;
}

/* ---- What the decisions conclude to ---- */

/* The votes of pairs: for each of them 1 goes to its first class or to its second. */
static int pairwise_votes(mc_onnx *g, const mc_fitted *f, int decisions) {
    const int64_t classes = f->outputs, pairs = mc_form_decisions(f->form, classes);
    double *move = NULL, *second = NULL;
    if (MC_ALLOC(g->ctx, move, pairs * classes) || MC_ALLOC(g->ctx, second, classes)) {
        g->status = MERCER_MEMORY;
        mc_free(move);
        return 0;
    }
    for (int64_t p = 0; p < pairs; p++) {
        int64_t a, b;
        mc_pair_classes(classes, p, &a, &b);
        move[p * classes + a] = 1;
        move[p * classes + b] = -1;
        second[b]++;
    }
    const int won = mc_onnx_cast(g, mc_onnx_binary(g, "Greater", decisions, mc_onnx_number(g, 0)), MC_ONNX_DOUBLE);
    const int moved = mc_onnx_product(g, won, mc_onnx_table(g, move, pairs, classes));
    const int out = mc_onnx_binary(g, "Add", moved, mc_onnx_row(g, second, classes));
    mc_free(move);
    mc_free(second);
    return out;
}

static bool has_two_classes(const mc_fitted *f) {
    return f->form == MC_REGION || (f->form == MC_PAIRS && f->outputs == 2);
}

int64_t mc_onnx_scores(const mc_fitted *f) {
    return has_two_classes(f) ? 2 : mc_form_decisions(f->form, f->outputs);
}

static int scores_of(mc_onnx *g, const mc_fitted *f, int decisions) {
    if (has_two_classes(f)) {
        const int other = mc_onnx_unary(g, "Neg", decisions);
        return f->form == MC_REGION ? mc_onnx_concat(g, other, decisions, 1) : mc_onnx_concat(g, decisions, other, 1);
    }
    return decisions;
}

/* The place of the class of every row. Of two sides 0 goes to the second of a pair and to the outside, which is the
   first. */
static int place_of(mc_onnx *g, const mc_fitted *f, int decisions) {
    if (!has_two_classes(f)) {
        const int most = f->form == MC_PAIRS ? pairwise_votes(g, f, decisions) : decisions;
        mc_text attributes = mc_text_open(g->ctx);
        mc_onnx_put_integer(&attributes, "axis", 1);
        mc_onnx_put_integer(&attributes, "keepdims", 0);
        return mc_onnx_node(g, NULL, "ArgMax", 1, &most, 1, &attributes);
    }
    const int above = mc_onnx_binary(g, "Greater", decisions, mc_onnx_number(g, 0));
    const int second = f->form == MC_REGION ? above : mc_onnx_unary(g, "Not", above);
    return mc_onnx_sum(g, mc_onnx_cast(g, second, MC_ONNX_INT64), 1, false);
}

static int proba_of(mc_onnx *g, const mc_fitted *f, int scores) {
    return mc_onnx_unary(g, f->outputs == 2 ? "Sigmoid" : "Softmax", scores);
}

void mc_onnx_conclude(mc_onnx *g, const mercer_model *model, int decisions) {
    const mc_fitted *f = &model->f;
    if (!f->centres->classes) {
        mc_onnx_output(g, "prediction", decisions, MC_ONNX_DOUBLE, f->outputs);
        return;
    }
    const int scores = scores_of(g, f, decisions), labels = mc_onnx_strings(g, f->centres->label, f->outputs);
    mc_onnx_output(g, "label", mc_onnx_gather(g, labels, place_of(g, f, decisions), 0), MC_ONNX_STRING, 0);
    mc_onnx_output(g, "scores", scores, MC_ONNX_DOUBLE, mc_onnx_scores(f));
    if (mercer_model_has_proba(model))
        mc_onnx_output(g, "probabilities", proba_of(g, f, scores), MC_ONNX_DOUBLE, f->outputs);
}

/* ---- The whole ---- */

/* A model of weights per column. */
static bool has_weights(const mc_fitted *f) {
    return f->primal && strcmp(mercer_kernel_text(f->kernel), "linear") == 0;
}

static bool takes_columns(const mc_node *node) {
    return node->kind == MC_COLUMNS;
}

static bool is_atom(const mc_node *node) {
    return node->kind == MC_ATOM;
}

/* The bytes of the largest table are asked for before any is filled: those that the file has for certain, and what is
   held beside them while they are written: the numbers, their layout in the graph, and a copy of it. Kernels of some of
   the columns write these alone. */
mercer_status mc_onnx_check_size(mercer_ctx *ctx, const mercer_model *model, bool exact) {
    const mc_fitted *f = &model->f;
    const bool svm = !exact && mc_onnx_is_svm(model), weights = has_weights(f);
    const bool whole =
        weights || (mc_node_any(f->kernel->root, is_atom) && !mc_node_any(f->kernel->root, takes_columns));
    const int64_t rows = weights      ? mc_form_decisions(f->form, f->outputs)
                         : f->fourier ? f->centres->n / 2
                                      : f->centres->n;
    const double numbers = (double)rows * (double)mc_data_width(f->centres);
    if (whole && numbers * (svm ? 4 : 8) > INT32_MAX)
        return mc_onnx_fail_size(ctx, f, numbers * (svm ? 4 : 8));
    return mc_memory_check(ctx, (size_t)(numbers * (!whole ? 8 : svm ? 16 : 24)), "export: a graph of these rows");
}

static mercer_status check_onnx_export(mercer_ctx *ctx, const mc_fitted *f) {
    if (f->primal && f->centres->n == 0 && !has_weights(f))
        return mc_fail(ctx, MERCER_INVALID, "export: the model has no rows to sum over; fit with %s",
                       mc_rows_solver(f));
    if (!f->primal && f->centres->n == 0)
        return mc_fail(ctx, MERCER_INVALID, "export: the model has no rows to sum over (it is constant)");
    return MERCER_OK;
}

static mercer_status compose_onnx_graph(mc_onnx *g, const mercer_model *model, bool exact) {
    const mc_fitted *f = &model->f;
    const int x = onnx_scaled_rows(g, &f->scale, f->centres->d, fill_missing(g, f->centres, 0));
    if (!exact && mc_onnx_is_svm(model))
        return mc_onnx_svm(g, model, x);
    int decisions = 0;
    MC_TRY((has_weights(f)             ? decide_weights
            : f->fourier               ? decide_fourier_features
            : f->form == MC_NEIGHBOURS ? decide_neighbours
                                       : decide_rows)(g, f, mc_form_decisions(f->form, f->outputs), x, &decisions));
    mc_onnx_conclude(g, model, decisions);
    return MERCER_OK;
}

mercer_status mc_onnx_write(mercer_ctx *ctx, const mercer_model *model, bool exact, const char *path) {
    MC_TRY(check_onnx_export(ctx, &model->f));
    mc_onnx g = mc_onnx_open(ctx);
    mercer_status status = compose_onnx_graph(&g, model, exact);
    MC_THEN(status, mc_onnx_finish(&g, model, path));
    mc_onnx_close(&g);
    return status;
}
