/* classify_float32.c: which class wins, where nothing else is asked for: screened in float32, and confirmed in float64
   where floats cannot tell.

   The decision of a pair of classes is d = P_a + P_b + intercept, a product with the centres of each. In it the
   coefficients of a class have one sign, so that |P| is the sum of absolute values too, by which gram/operator/gram.h
   bounds the error of a product:

       |computed d - d| <= error_bound = sum over both classes of relative |P| + rest sum |coefficient|

   The side of a pair is sure where |d| is above its bound, and the winner is where no other class could have as many
   votes even if all pairs in doubt were its own. The other rows, few unless the multipliers are huge, are decided as
   mc_fitted_decide does. */
#include "base/ctx.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/status.h"
#include "base/workspace.h"
#include "data/table/data.h"
#include "gram/operator/gram.h"
#include "predict/feature_weights.h"
#include "predict/packed_cache.h"
#include <float.h>
#include <math.h>
#include <string.h>

enum { CHUNK = 512, MOST_OPEN = 4 }; /* one row in so many open: floats gain less than half */
static const double doubled = 1.001; /* what doubles are wrong by is not a thousandth of a float's bound */

typedef struct screening {
    const mc_fitted *f;
    const mercer_data *rows;
    int64_t decisions;
    double *decision, *error_bound; /* n x decisions */
    double *part;                   /* n x (classes - 1) */
    double *fixed;                  /* classes - 1 */
    int64_t *votes;                 /* of each thread, per class: votes that it has, and could have */
    int64_t *centre;                /* 0, 1, 2, ... */
    int64_t *out;
} screening;

int64_t mc_largest_index(const double *values, int64_t count) {
    int64_t best = 0;
    for (int64_t k = 1; k < count; k++)
        if (values[k] > values[best])
            best = k;
    return best;
}

/* ---- In double ---- */

typedef struct class_conclusion {
    const mc_fitted *f;
    double *values; /* n x decisions */
    int64_t *out;
} class_conclusion;

static void find_winners(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk, (void)thread;
    const class_conclusion *c = arg;
    const int64_t decisions = mc_form_decisions(c->f->form, c->f->outputs);
    for (int64_t i = begin; i < end; i++)
        c->out[i] = mc_fitted_winner(c->f, c->values + i * decisions);
}

static mercer_status classify_float64(mercer_ctx *ctx, const mc_fitted *f, const mercer_data *rows, int64_t *out) {
    class_conclusion c = {.f = f, .out = out};
    MC_TRY(MC_ALLOC(ctx, c.values, rows->n * mc_form_decisions(f->form, f->outputs)));
    mercer_status status = mc_fitted_decide(ctx, f, rows, c.values, NULL);
    MC_THEN(status, mc_for(ctx, rows->n, CHUNK, find_winners, &c));
    mc_free(c.values);
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

static bool has_signs(const double *alpha, int64_t width, int64_t c) {
    for (int64_t k = 0; k < width; k++)
        if (k < c ? alpha[k] > 0 : alpha[k] < 0)
            return false;
    return true;
}

/* Whether the coefficients of every class have the sign of its side in all pairs; a model from elsewhere may have
   others. */
static bool has_signs_by_class(const mc_fitted *f) {
    const int64_t width = f->outputs - 1;
    for (int64_t c = 0; c < f->outputs; c++)
        for (int64_t i = f->class_start[c]; i < f->class_start[c + 1]; i++)
            if (!has_signs(f->alpha + i * width, width, c))
                return false;
    return true;
}

static double coefficient_mass(const mc_fitted *f, int64_t c, int64_t column) {
    double sum = 0;
    for (int64_t i = f->class_start[c]; i < f->class_start[c + 1]; i++)
        sum += fabs(f->alpha[i * (f->outputs - 1) + column]);
    return sum;
}

/* What the centres of class c add to the decisions of its pairs, and to their bounds. */
typedef struct addition {
    const screening *l;
    int64_t c;
    double relative;
    const double *fixed; /* classes - 1: the part of the bound that is the same for all rows */
} addition;

static void add_to_rows(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk, (void)thread;
    const addition *a = arg;
    const screening *l = a->l;
    const int64_t classes = l->f->outputs, width = classes - 1;
    for (int64_t other = 0; other < classes; other++) {
        if (other == a->c)
            continue;
        const mc_pair_part at = mc_pair_part_of(classes, a->c, other);
        for (int64_t i = begin; i < end; i++) {
            const double part = l->part[i * width + at.column];
            l->decision[i * l->decisions + at.decision] += part;
            l->error_bound[i * l->decisions + at.decision] +=
                doubled * (a->relative * fabs(part) + a->fixed[at.column]);
        }
    }
}

static mercer_status add_class(mercer_ctx *ctx, const screening *l, const mc_gram *gram, int64_t c) {
    addition a = {.l = l, .c = c, .fixed = l->fixed};
    double rest;
    mc_gram_product_terms(gram, l->f->outputs - 1, &a.relative, &rest);
    for (int64_t k = 0; k < l->f->outputs - 1; k++)
        l->fixed[k] = rest * coefficient_mass(l->f, c, k);
    return mc_for(ctx, l->rows->n, CHUNK, add_to_rows, &a);
}

/* Dense rows are packed once, for the centres of all classes; compressed ones are laid out with those they meet. */
static mercer_status open_all(mercer_ctx *ctx, const screening *l, mc_gram **whole) {
    *whole = NULL;
    if (l->rows->row_start || l->f->centres->row_start)
        return MERCER_OK;
    for (int64_t i = 0; i < l->f->centres->n; i++)
        l->centre[i] = i;
    return mc_gram_open(ctx, l->f->kernel, l->rows, l->f->centres, MERCER_F32, whole);
}

static mercer_status open_class(mercer_ctx *ctx, const screening *l, const mc_gram *whole, int64_t c, mercer_data **own,
                                mc_gram **gram) {
    const int64_t begin = l->f->class_start[c], end = l->f->class_start[c + 1];
    if (whole)
        return mc_gram_open_columns(ctx, whole, l->centre + begin, end - begin, gram);
    MC_TRY(mc_data_range(ctx, l->f->centres, begin, end, own));
    return mc_gram_open(ctx, l->f->kernel, l->rows, *own, MERCER_F32, gram);
}

static mercer_status look_at_class(mercer_ctx *ctx, const screening *l, const mc_gram *whole, int64_t c) {
    const mc_fitted *f = l->f;
    const int64_t width = f->outputs - 1;
    mercer_data *own = NULL;
    mc_gram *gram = NULL;
    if (f->class_start[c + 1] == f->class_start[c])
        return MERCER_OK;
    mercer_status status = open_class(ctx, l, whole, c, &own, &gram);
    MC_THEN(status, mc_gram_apply(ctx, gram, width, f->alpha + f->class_start[c] * width, l->part));
    MC_THEN(status, add_class(ctx, l, gram, c));
    mc_gram_close(gram);
    mercer_data_free(own);
    return status;
}

static void count_votes(const screening *l, int64_t row, int64_t *least, int64_t *most) {
    const int64_t classes = l->f->outputs;
    memset(least, 0, (size_t)classes * sizeof *least);
    memset(most, 0, (size_t)classes * sizeof *most);
    for (int64_t a = 0, pair = 0; a < classes; a++)
        for (int64_t b = a + 1; b < classes; b++, pair++) {
            const int64_t at = row * l->decisions + pair, side = l->decision[at] > 0 ? a : b;
            const bool sure = fabs(l->decision[at]) > l->error_bound[at];
            least[side] += sure;
            most[a] += !sure || side == a;
            most[b] += !sure || side == b;
        }
}

/* The class that wins, whatever pairs in doubt say; -1: they matter. */
static int64_t sure_winner(const screening *l, int64_t row, int64_t *least, int64_t *most) {
    int64_t best = 0;
    count_votes(l, row, least, most);
    for (int64_t c = 1; c < l->f->outputs; c++)
        if (least[c] > least[best])
            best = c;
    for (int64_t c = 0; c < l->f->outputs; c++)
        if (c != best && (c < best ? most[c] >= least[best] : most[c] > least[best]))
            return -1;
    return best;
}

static void begin_rows(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk, (void)thread;
    const screening *l = arg;
    for (int64_t i = begin; i < end; i++)
        for (int64_t k = 0; k < l->decisions; k++) {
            l->decision[i * l->decisions + k] = l->f->intercept[k];
            l->error_bound[i * l->decisions + k] = 8 * DBL_EPSILON * fabs(l->f->intercept[k]);
        }
}

static void conclude_rows(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk;
    const screening *l = arg;
    int64_t *least = l->votes + thread * 2 * l->f->outputs;
    for (int64_t i = begin; i < end; i++)
        l->out[i] = sure_winner(l, i, least, least + l->f->outputs);
}

static mercer_status look_at_rows(mercer_ctx *ctx, screening *l) {
    const mc_fitted *f = l->f;
    mc_gram *whole = NULL;
    mercer_status status = open_all(ctx, l, &whole);
    MC_THEN(status, mc_for(ctx, l->rows->n, CHUNK, begin_rows, l));
    for (int64_t c = 0; c < f->outputs; c++)
        MC_THEN(status, look_at_class(ctx, l, whole, c));
    mc_gram_close(whole);
    MC_THEN(status, mc_for(ctx, l->rows->n, CHUNK, conclude_rows, l));
    return status;
}

static void lay_out_screening(mc_work *work, int64_t threads, screening *l) {
    const int64_t n = l->rows->n, classes = l->f->outputs;
    l->decision = mc_work_take(work, n * l->decisions, sizeof(double));
    l->error_bound = mc_work_take(work, n * l->decisions, sizeof(double));
    l->part = mc_work_take(work, n * (classes - 1), sizeof(double));
    l->fixed = mc_work_take(work, classes - 1, sizeof(double));
    l->votes = mc_work_take(work, threads * 2 * classes, sizeof(int64_t));
    l->centre = mc_work_take(work, l->f->centres->n, sizeof(int64_t));
}

/* *open: rows whose class is left at -1. */
static mercer_status look_first(mercer_ctx *ctx, const mc_fitted *f, const mercer_data *rows, int64_t *open,
                                int64_t *out) {
    screening l = {.f = f, .rows = rows, .decisions = mc_form_decisions(f->form, f->outputs), .out = out};
    mc_work work = {0}, counted = {0};
    lay_out_screening(&counted, ctx->threads, &l);
    MC_TRY(mc_work_open(ctx, &work, counted.used));
    lay_out_screening(&work, ctx->threads, &l);
    const mercer_status status = look_at_rows(ctx, &l);
    *open = 0;
    for (int64_t i = 0; i < rows->n && !status; i++)
        *open += out[i] < 0;
    mc_work_close(&work);
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
