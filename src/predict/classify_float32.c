/* classify_float32.c: which class wins, where nothing else is asked for: screened in float32, and confirmed in float64
   where floats cannot tell.

   The decision of a pair of classes is d = P_a + P_b + intercept, a product with the centres of each. In it the
   coefficients of a class have one sign, so that |P| is the sum of absolute values too, by which gram/operator/gram.h
   bounds the error of a product:

       |computed d - d| <= error_bound = sum over both classes of relative |P| + rest sum |coefficient|

   The side of a pair is sure where |d| is above its bound, and the winner is where no other class could have as many
   votes even if all pairs in doubt were its own. The other rows, few unless the multipliers are huge, are decided as
   mc_fitted_decide does. */
#include "base/memory.h"
#include "base/status.h"
#include "data/table/data.h"
#include "gram/operator/gram.h"
#include "predict/feature_weights.h"
#include "predict/packed_cache.h"
#include <float.h>
#include <math.h>
#include <string.h>

enum { MOST_OPEN = 4 };              /* one row in so many: floats gain less than half */
static const double doubled = 1.001; /* what doubles are wrong by is not a thousandth of a float's bound */

typedef struct screening {
    const mc_fitted *f;
    const mercer_data *rows;
    int64_t decisions;
    double *decision, *error_bound; /* n x decisions */
    double *part;                   /* n x (classes - 1) */
    int64_t *least, *most;          /* per class: votes that it has, and could have */
} screening;

int64_t mc_largest_index(const double *values, int64_t count) {
    int64_t best = 0;
    for (int64_t k = 1; k < count; k++)
        if (values[k] > values[best])
            best = k;
    return best;
}

/* ---- In double ---- */

static mercer_status classify_float64(mercer_ctx *ctx, const mc_fitted *f, const mercer_data *rows, int64_t *out) {
    const int64_t decisions = mc_form_decisions(f->form, f->outputs);
    double *values = NULL;
    MC_TRY(MC_ALLOC(ctx, values, rows->n * decisions + f->outputs));
    double *concluded = values + rows->n * decisions;
    const mercer_status status = mc_fitted_decide(ctx, f, rows, values, NULL);
    for (int64_t i = 0; i < rows->n && !status; i++) {
        mc_fitted_conclude(f, values + i * decisions, concluded);
        out[i] = mc_largest_index(concluded, f->outputs);
    }
    mc_free(values);
    return status;
}

/* Rows whose class is still -1. */
static mercer_status decide_open(mercer_ctx *ctx, const mc_fitted *f, const mercer_data *rows, int64_t count,
                                 int64_t *out) {
    int64_t *ids = NULL;
    mercer_data *open = NULL;
    MC_TRY(MC_ALLOC(ctx, ids, 2 * count));
    for (int64_t i = 0, k = 0; i < rows->n; i++)
        if (out[i] < 0)
            ids[k++] = i;
    mercer_status status = mc_data_take(ctx, rows, ids, count, &open);
    MC_THEN(status, classify_float64(ctx, f, open, ids + count));
    for (int64_t k = 0; k < count && !status; k++)
        out[ids[k]] = ids[count + k];
    mercer_data_free(open);
    mc_free(ids);
    return status;
}

/* ---- In floats ---- */

/* Whether the coefficients of every class have the sign of its side in all pairs; a model from elsewhere may have
   others. */
static bool has_signs_by_class(const mc_fitted *f) {
    const int64_t width = f->outputs - 1;
    for (int64_t c = 0; c < f->outputs; c++)
        for (int64_t i = f->class_start[c]; i < f->class_start[c + 1]; i++)
            for (int64_t k = 0; k < width; k++)
                if (k < c ? f->alpha[i * width + k] > 0 : f->alpha[i * width + k] < 0)
                    return false;
    return true;
}

static double coefficient_mass(const mc_fitted *f, int64_t c, int64_t column) {
    double sum = 0;
    for (int64_t i = f->class_start[c]; i < f->class_start[c + 1]; i++)
        sum += fabs(f->alpha[i * (f->outputs - 1) + column]);
    return sum;
}

static void add_class(const screening *l, const mc_gram *gram, int64_t c) {
    const int64_t classes = l->f->outputs, width = classes - 1;
    double relative, rest;
    mc_gram_product_terms(gram, width, &relative, &rest);
    for (int64_t other = 0; other < classes; other++) {
        if (other == c)
            continue;
        const mc_pair_part at = mc_pair_part_of(classes, c, other);
        const double fixed = rest * coefficient_mass(l->f, c, at.column);
        for (int64_t i = 0; i < l->rows->n; i++)
            l->error_bound[i * l->decisions + at.decision] +=
                doubled * (relative * fabs(l->part[i * width + at.column]) + fixed);
    }
    mc_pairs_add_class(classes, c, l->rows->n, l->part, l->decision);
}

static mercer_status look_at_class(mercer_ctx *ctx, const screening *l, int64_t c) {
    const mc_fitted *f = l->f;
    const int64_t width = f->outputs - 1;
    mercer_data *centres = NULL;
    mc_gram *gram = NULL;
    if (f->class_start[c + 1] == f->class_start[c])
        return MERCER_OK;
    mercer_status status = mc_data_range(ctx, f->centres, f->class_start[c], f->class_start[c + 1], &centres);
    MC_THEN(status, mc_gram_open(ctx, f->kernel, l->rows, centres, MERCER_F32, &gram));
    MC_THEN(status, mc_gram_apply(ctx, gram, width, f->alpha + f->class_start[c] * width, l->part));
    if (!status)
        add_class(l, gram, c);
    mc_gram_close(gram);
    mercer_data_free(centres);
    return status;
}

static void count_votes(const screening *l, int64_t row) {
    const int64_t classes = l->f->outputs;
    memset(l->least, 0, (size_t)classes * sizeof *l->least);
    memset(l->most, 0, (size_t)classes * sizeof *l->most);
    for (int64_t a = 0, pair = 0; a < classes; a++)
        for (int64_t b = a + 1; b < classes; b++, pair++) {
            const int64_t at = row * l->decisions + pair, side = l->decision[at] > 0 ? a : b;
            const bool sure = fabs(l->decision[at]) > l->error_bound[at];
            l->least[side] += sure;
            l->most[a] += !sure || side == a;
            l->most[b] += !sure || side == b;
        }
}

/* The class that wins, whatever pairs in doubt say; -1: they matter. */
static int64_t sure_winner(const screening *l, int64_t row) {
    int64_t best = 0;
    count_votes(l, row);
    for (int64_t c = 1; c < l->f->outputs; c++)
        if (l->least[c] > l->least[best])
            best = c;
    for (int64_t c = 0; c < l->f->outputs; c++)
        if (c != best && (c < best ? l->most[c] >= l->least[best] : l->most[c] > l->least[best]))
            return -1;
    return best;
}

/* *open: rows whose class is left at -1. */
static mercer_status look_at_rows(mercer_ctx *ctx, screening *l, int64_t *open, int64_t *out) {
    const mc_fitted *f = l->f;
    for (int64_t i = 0; i < l->rows->n; i++)
        for (int64_t k = 0; k < l->decisions; k++) {
            l->decision[i * l->decisions + k] = f->intercept[k];
            l->error_bound[i * l->decisions + k] = 8 * DBL_EPSILON * fabs(f->intercept[k]);
        }
    for (int64_t c = 0; c < f->outputs; c++)
        MC_TRY(look_at_class(ctx, l, c));
    *open = 0;
    for (int64_t i = 0; i < l->rows->n; i++) {
        out[i] = sure_winner(l, i);
        *open += out[i] < 0;
    }
    return MERCER_OK;
}

static mercer_status look_first(mercer_ctx *ctx, const mc_fitted *f, const mercer_data *rows, int64_t *open,
                                int64_t *out) {
    screening l = {.f = f, .rows = rows, .decisions = mc_form_decisions(f->form, f->outputs)};
    mercer_status status = MC_ALLOC(ctx, l.decision, rows->n * (2 * l.decisions + f->outputs - 1));
    MC_THEN(status, MC_ALLOC(ctx, l.least, 2 * f->outputs));
    if (!status) {
        l.error_bound = l.decision + rows->n * l.decisions;
        l.part = l.error_bound + rows->n * l.decisions;
        l.most = l.least + f->outputs;
        status = look_at_rows(ctx, &l, open, out);
    }
    mc_free(l.least);
    mc_free(l.decision);
    return status;
}

/* ---- The whole ---- */

mercer_status mc_fitted_classify(mercer_ctx *ctx, const mc_fitted *f, const mercer_data *rows, bool *floats,
                                 int64_t *out) {
    int64_t open = 0, features;
    *floats = *floats && f->form == MC_PAIRS && !mc_fitted_weights(f, &features) && f->centres->n > 0
              && has_signs_by_class(f);
    if (!*floats || rows->n <= MC_PACKED_CACHE_ROWS)
        return classify_float64(ctx, f, rows, out);
    MC_TRY(look_first(ctx, f, rows, &open, out));
    *floats = open <= rows->n / MOST_OPEN;
    return open ? decide_open(ctx, f, rows, open, out) : MERCER_OK;
}
