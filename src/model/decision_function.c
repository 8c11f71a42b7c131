/* decision_function.c: decisions of models as functions of H, the space of the kernel.

       f = sum_i alpha_i k(x_i, .),  g = sum_j beta_j k(z_j, .):    <f, g> = alpha' K(X, Z) beta,   |f - g|^2 = <f - g,
       f - g>

   A function given by weights of explicit features has the inner product of weights with another such, and sum_j beta_j
   f(z_j) with g. The intercept is no part of f. Two functions live in the same space when their kernels are the same
   expression on columns scaled the same way. */
#include "base/ctx.h"
#include "base/memory.h"
#include "base/status.h"
#include "gram/operator/gram.h"
#include "kernel/language/kernel.h"
#include "predict/feature_weights.h"
#include "model/widen.h"
#include <math.h>
#include <string.h>

/* One decision of a model. */
typedef struct function {
    const mc_fitted *f;
    int64_t decision;
} function;

static mercer_status check_one(mercer_ctx *ctx, function a) {
    const int64_t count = mc_form_decisions(a.f->form, a.f->outputs);
    if (a.f->form == MC_NEIGHBOURS || a.f->fourier)
        return mc_fail(ctx, MERCER_INVALID,
                       "function: what %s by %s predicts is no function in the space of its kernel",
                       a.f->report.machine, a.f->report.solver);
    if (a.decision < 0 || a.decision >= count)
        return mc_fail(ctx, MERCER_INVALID, "function: decision %lld of a model that has %lld, counted from 0",
                       (long long)a.decision, (long long)count);
    return MERCER_OK;
}

static bool same_scale(const mc_scale *a, const mc_scale *b) {
    if (a->kind != b->kind || a->kind == MC_SCALE_NONE)
        return a->kind == b->kind;
    const size_t bytes = (size_t)a->d * sizeof(double);
    return a->d == b->d && memcmp(a->shift, b->shift, bytes) == 0 && memcmp(a->factor, b->factor, bytes) == 0;
}

static mercer_status check_pair(mercer_ctx *ctx, function a, function b) {
    if (mc_data_width(a.f->centres) != mc_data_width(b.f->centres))
        return mc_fail(ctx, MERCER_INVALID,
                       "function: one model has %lld columns and the other %lld: they live in different spaces",
                       (long long)mc_data_width(a.f->centres), (long long)mc_data_width(b.f->centres));
    if (strcmp(a.f->kernel->text, b.f->kernel->text) != 0)
        return mc_fail(ctx, MERCER_INVALID, "function: the kernels are %s and %s: functions of different spaces",
                       a.f->kernel->text, b.f->kernel->text);
    if (!same_scale(&a.f->scale, &b.f->scale))
        return mc_fail(ctx, MERCER_INVALID,
                       "function: the models scale their columns differently (%s, %s); fit both with --scale none",
                       a.f->report.scale, b.f->report.scale);
    return MERCER_OK;
}

static bool same_rows(const mercer_data *x, const mercer_data *z) {
    return x == z
           || (x->n == z->n && x->dtype == z->dtype && !x->row_start && !z->row_start
               && memcmp(x->values, z->values, (size_t)(x->n * x->d) * mc_dtype_size(x->dtype)) == 0);
}

/* alpha' K(X, Z) beta; scratch: rows of X. */
static mercer_status kernel_bilinear_form(mercer_ctx *ctx, const mercer_kernel *kernel, const mercer_data *x,
                                          const double *alpha, const mercer_data *z, const double *beta,
                                          double *scratch, double *out) {
    mc_gram *gram = NULL;
    long double sum = 0;
    *out = 0;
    if (x->n == 0 || z->n == 0)
        return MERCER_OK;
    MC_TRY(mc_gram_open(ctx, kernel, x, x == z ? NULL : z, MERCER_F64, &gram));
    const mercer_status status = mc_gram_apply(ctx, gram, 1, beta, scratch);
    mc_gram_close(gram);
    for (int64_t i = 0; i < x->n && !status; i++)
        sum += (long double)alpha[i] * scratch[i];
    *out = (double)sum;
    return status;
}

static void take_coefficients(function a, double *out) {
    for (int64_t i = 0; i < a.f->centres->n; i++)
        out[i] = mc_fitted_coefficient(a.f, i, a.decision);
}

static const double *weights_of(function a) {
    return a.f->primal ? a.f->primal + a.decision * a.f->features : NULL;
}

/* <f, g>, f by weights and g by coefficients of rows. */
static mercer_status inner_mixed(mercer_ctx *ctx, function f, function g, double *out) {
    const int64_t n = g.f->centres->n;
    double *scratch = NULL;
    long double sum = 0;
    MC_TRY(MC_ALLOC(ctx, scratch, 2 * n));
    take_coefficients(g, scratch);
    const mercer_status status = mc_weights_apply(ctx, f.f->kernel, 1, weights_of(f), g.f->centres, scratch + n);
    for (int64_t j = 0; j < n && !status; j++)
        sum += (long double)scratch[j] * scratch[n + j];
    mc_free(scratch);
    *out = (double)sum;
    return status;
}

/* <v, w>, or |v - w|^2. */
static double of_weights(function a, function b, bool difference) {
    const double *v = weights_of(a), *w = weights_of(b);
    long double sum = 0;
    for (int64_t j = 0; j < a.f->features; j++)
        sum += difference ? (long double)(v[j] - w[j]) * (v[j] - w[j]) : (long double)v[j] * w[j];
    return (double)sum;
}

static mercer_status inner_product(mercer_ctx *ctx, function a, function b, double *out) {
    if (a.f->primal && b.f->primal) {
        *out = of_weights(a, b, false);
        return MERCER_OK;
    }
    if (a.f->primal || b.f->primal)
        return a.f->primal ? inner_mixed(ctx, a, b, out) : inner_mixed(ctx, b, a, out);
    const mercer_data *x = a.f->centres, *z = b.f->centres;
    double *scratch = NULL;
    MC_TRY(MC_ALLOC(ctx, scratch, 2 * x->n + z->n));
    take_coefficients(a, scratch);
    take_coefficients(b, scratch + x->n);
    const mercer_status status =
        kernel_bilinear_form(ctx, a.f->kernel, x, scratch, z, scratch + x->n, scratch + x->n + z->n, out);
    mc_free(scratch);
    return status;
}

/* On the same rows the coefficients are subtracted first, so that close functions cost no digits. */
static mercer_status distance_same_rows(mercer_ctx *ctx, function a, function b, double *square) {
    const int64_t n = a.f->centres->n;
    double *scratch = NULL;
    MC_TRY(MC_ALLOC(ctx, scratch, 2 * n));
    take_coefficients(a, scratch);
    for (int64_t i = 0; i < n; i++)
        scratch[i] -= mc_fitted_coefficient(b.f, i, b.decision);
    const mercer_status status =
        kernel_bilinear_form(ctx, a.f->kernel, a.f->centres, scratch, a.f->centres, scratch, scratch + n, square);
    mc_free(scratch);
    return status;
}

static mercer_status squared_function_distance(mercer_ctx *ctx, function a, function b, double *square) {
    double aa = 0, ab = 0, bb = 0;
    if (a.f->primal && b.f->primal) {
        *square = of_weights(a, b, true);
        return MERCER_OK;
    }
    if (!a.f->primal && !b.f->primal && same_rows(a.f->centres, b.f->centres))
        return distance_same_rows(ctx, a, b, square);
    MC_TRY(inner_product(ctx, a, a, &aa));
    MC_TRY(inner_product(ctx, a, b, &ab));
    MC_TRY(inner_product(ctx, b, b, &bb));
    *square = aa - 2 * ab + bb;
    return MERCER_OK;
}

typedef mercer_status measure(mercer_ctx *ctx, function a, function b, double *out);

/* What is asked of two functions, which keep the same columns then. */
static mercer_status compare_functions(mercer_ctx *ctx, const mercer_model *f, int64_t i, const mercer_model *g,
                                       int64_t j, measure *ask, double *out) {
    mc_matched m[2];
    MC_TRY(check_one(ctx, (function){&f->f, i}));
    MC_TRY(check_one(ctx, (function){&g->f, j}));
    MC_TRY(mc_models_unite(ctx, f, g, m));
    const function a = {&m[0].model->f, i}, b = {&m[1].model->f, j};
    mercer_status status = check_pair(ctx, a, b);
    if (!status)
        status = ask(ctx, a, b, out);
    mc_matched_free(&m[0]);
    mc_matched_free(&m[1]);
    return status;
}

mercer_status mercer_model_inner(mercer_ctx *ctx, const mercer_model *f, int64_t i, const mercer_model *g, int64_t j,
                                 double *out) {
    MC_NEED(ctx, f, g, out);
    mc_begin_call(ctx);
    *out = NAN;
    return compare_functions(ctx, f, i, g, j, inner_product, out);
}

mercer_status mercer_model_distance(mercer_ctx *ctx, const mercer_model *f, int64_t i, const mercer_model *g, int64_t j,
                                    double *out) {
    MC_NEED(ctx, f, g, out);
    mc_begin_call(ctx);
    double square = 0;
    *out = NAN;
    MC_TRY(compare_functions(ctx, f, i, g, j, squared_function_distance, &square));
    *out = sqrt(fmax(square, 0));
    return MERCER_OK;
}
