/* decision.c: decisions of many rows at once, through the tile engine.

   With centres kept class by class, the decision on the pair (a, b) is (K(x, centres of a) alpha_a)_(column b - 1) +
   (K(x, centres of b) alpha_b)_(column a): one product per class, of classes - 1 columns, serves all its pairs. Where
   there are weights of explicit features, they decide. */
#include "base/memory.h"
#include "base/status.h"
#include "data/table/data.h"
#include "gram/features/fourier.h"
#include "predict/fitted.h"
#include "predict/packed_cache.h"
#include "predict/neighbours.h"
#include "predict/feature_weights.h"
#include <float.h>
#include <math.h>
#include <string.h>

enum { FOURIER_ROWS = 256 };

static void add_intercepts(const mc_fitted *f, int64_t n, int64_t decisions, double *out) {
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < decisions; k++)
            out[i * decisions + k] += f->intercept[k];
}

/* ---- Products ---- */

/* The centres of one class, of which pairs take products; those of all classes are the model's own. */
static mercer_status take_class(mercer_ctx *ctx, const mc_fitted *f, int64_t c, mercer_data **out) {
    return mc_data_range(ctx, f->centres, f->class_start[c], f->class_start[c + 1], out);
}

/* The operator of rows and centres; *own: centres made for it, NULL where the model's serve. */
static mercer_status open_anew(mercer_ctx *ctx, const mc_fitted *f, int64_t c, const mercer_data *rows,
                               mercer_data **own, mc_gram **out) {
    if (c >= 0)
        MC_TRY(take_class(ctx, f, c, own));
    return mc_gram_open(ctx, f->kernel, rows, *own ? *own : f->centres, MERCER_F64, out);
}

/* out <- K(rows, centres of class c) alpha; c < 0: all centres. */
static mercer_status kernel_product(mercer_ctx *ctx, const mc_fitted *f, int64_t c, const mercer_data *rows,
                                    const double *alpha, int64_t width, double *out, mc_product_error *error) {
    const int64_t place = c < 0 ? 0 : c;
    const bool kept = mc_packed_cache_pays(rows->n, f->centres->n, rows->d);
    const mc_gram *packed = kept ? mc_packed_cache_find(f->packed_cache, place) : NULL;
    mercer_data *own = NULL;
    mc_gram *gram = NULL;
    mercer_status status = packed ? mc_gram_open_reusing(ctx, packed, rows, &gram) : MERCER_OK;
    if (!status && !gram)
        status = open_anew(ctx, f, c, rows, &own, &gram);
    MC_THEN(status, mc_gram_apply(ctx, gram, width, alpha, out));
    if (error && gram)
        mc_gram_raise_error(gram, width, error);
    if (status || packed || !kept || !mc_packed_cache_put(ctx, f->packed_cache, place, own, gram)) {
        mc_gram_close(gram);
        mercer_data_free(own);
    }
    return status;
}

/* ---- Their error ---- */

/* Of the product with the centres of class c; c < 0: all. */
static mercer_status measure_product(mercer_ctx *ctx, const mc_fitted *f, int64_t c, const mercer_data *rows,
                                     int64_t width, mc_product_error *error) {
    mercer_data *own = NULL;
    mc_gram *gram = NULL;
    const mercer_status status = open_anew(ctx, f, c, rows, &own, &gram);
    if (!status)
        mc_gram_raise_error(gram, width, error);
    mc_gram_close(gram);
    mercer_data_free(own);
    return status;
}

mercer_status mc_decision_error(mercer_ctx *ctx, const mc_fitted *f, const mercer_data *rows, mc_product_error *error) {
    *error = (mc_product_error){0};
    if (f->form != MC_PAIRS || f->outputs == 2)
        return f->centres->n == 0 ? MERCER_OK
                                  : measure_product(ctx, f, -1, rows, mc_form_decisions(f->form, f->outputs), error);
    for (int64_t c = 0; c < f->outputs; c++)
        if (f->class_start[c + 1] > f->class_start[c])
            MC_TRY(measure_product(ctx, f, c, rows, f->outputs - 1, error));
    error->sum += DBL_EPSILON; /* the two classes of a pair are added */
    return MERCER_OK;
}

/* ---- Pairs ---- */

void mc_pairs_add_class(int64_t classes, int64_t c, int64_t n, const double *part, double *out) {
    const int64_t width = classes - 1, decisions = classes * width / 2;
    for (int64_t other = 0; other < classes; other++) {
        if (other == c)
            continue;
        const mc_pair_part at = mc_pair_part_of(classes, c, other);
        for (int64_t i = 0; i < n; i++)
            out[i * decisions + at.decision] += part[i * width + at.column];
    }
}

static mercer_status decide_class(mercer_ctx *ctx, const mc_fitted *f, int64_t c, const mercer_data *rows, double *part,
                                  double *out, mc_product_error *error) {
    const int64_t width = f->outputs - 1;
    MC_TRY(kernel_product(ctx, f, c, rows, f->alpha + f->class_start[c] * width, width, part, error));
    mc_pairs_add_class(f->outputs, c, rows->n, part, out);
    return MERCER_OK;
}

static mercer_status decide_pairs(mercer_ctx *ctx, const mc_fitted *f, const mercer_data *rows, double *out,
                                  mc_product_error *error) {
    double *part = NULL;
    MC_TRY(MC_ALLOC(ctx, part, rows->n * (f->outputs - 1)));
    mercer_status status = MERCER_OK;
    for (int64_t c = 0; c < f->outputs && !status; c++)
        if (f->class_start[c + 1] > f->class_start[c])
            status = decide_class(ctx, f, c, rows, part, out, error);
    mc_free(part);
    return status;
}

/* ---- Random Fourier features ---- */

static void add_features(const double *psi, int64_t m, const double *alpha, int64_t outputs, double *out) {
    for (int64_t j = 0; j < m; j++)
        for (int64_t k = 0; k < outputs; k++)
            out[k] += psi[j] * alpha[j * outputs + k];
}

static mercer_status decide_fourier(mercer_ctx *ctx, const mc_fitted *f, const mercer_data *rows, double *out) {
    mc_fourier *fourier = NULL;
    double *psi = NULL;
    const int64_t m = f->centres->n, outputs = f->outputs;
    MC_TRY(mc_fourier_from_rows(ctx, f->centres, &fourier));
    mercer_status status = MC_ALLOC(ctx, psi, FOURIER_ROWS * m);
    for (int64_t begin = 0; !status && begin < rows->n; begin += FOURIER_ROWS) {
        const int64_t end = begin + FOURIER_ROWS < rows->n ? begin + FOURIER_ROWS : rows->n;
        status = mc_fourier_rows(ctx, fourier, rows, begin, end, psi);
        for (int64_t i = begin; !status && i < end; i++)
            add_features(psi + (i - begin) * m, m, f->alpha, outputs, out + i * outputs);
    }
    mc_free(psi);
    mc_fourier_close(fourier);
    return status;
}

/* ---- The whole ---- */

mercer_status mc_fitted_decide(mercer_ctx *ctx, const mc_fitted *f, const mercer_data *rows, double *out,
                               mc_product_error *error) {
    const int64_t decisions = mc_form_decisions(f->form, f->outputs);
    int64_t features;
    const double *weights = mc_fitted_weights(f, &features);
    memset(out, 0, (size_t)(rows->n * decisions) * sizeof *out);
    mercer_status status = MERCER_OK;
    if (weights) {
        status = mc_weights_apply(ctx, f->kernel, decisions, weights, rows, out);
    } else if (f->fourier) {
        status = decide_fourier(ctx, f, rows, out);
    } else if (f->form == MC_NEIGHBOURS) {
        status = mc_neighbours_decide(ctx, f, rows, out);
    } else if (f->form == MC_PAIRS && f->outputs > 2) {
        status = decide_pairs(ctx, f, rows, out, error);
    } else if (f->centres->n > 0) {
        status = kernel_product(ctx, f, -1, rows, f->alpha, decisions, out, error);
    }
    MC_TRY(status);
    add_intercepts(f, rows->n, decisions, out);
    return mc_finite_values(ctx, rows, decisions, out);
}

/* A decision of exactly zero goes to the second class of a pair and to the outside of a region: the sides are kept
   apart by the least number there is. */
static void two_sides(double first, double *a, double *b) {
    const double value = first == 0 ? -DBL_TRUE_MIN : first;
    *a = value;
    *b = -value;
}

void mc_fitted_conclude(const mc_fitted *f, const double *decision, double *out) {
    if (f->form == MC_VALUES || f->form == MC_NEIGHBOURS) {
        memcpy(out, decision, (size_t)f->outputs * sizeof *out);
    } else if (f->form == MC_REGION) {
        two_sides(decision[0], &out[1], &out[0]);
    } else if (f->outputs == 2) {
        two_sides(decision[0], &out[0], &out[1]);
    } else {
        for (int64_t c = 0; c < f->outputs; c++)
            out[c] = (double)mc_pair_votes(f->outputs, decision, c);
    }
}

int64_t mc_fitted_winner(const mc_fitted *f, const double *decision) {
    if (f->form == MC_VALUES || f->form == MC_NEIGHBOURS)
        return mc_largest_index(decision, f->outputs);
    if (f->form == MC_REGION)
        return decision[0] > 0;
    if (f->outputs == 2)
        return !(decision[0] > 0);
    return mc_pair_winner(f->outputs, decision);
}
