/* prediction_bound.c: how far decisions at given rows can be from those of the exact optimum.

   The certificate bounds the function that was fitted: |d(x) - d*(x)| <= constant + slope sqrt(k(x, x)). On top comes
   what rounding does to d(x) as it is computed: with entry and sum those of the product (mc_gram_sum_error) and |k(x,
   z)| <= sqrt(k(x, x) k(z, z)),

       (1 + sum) entry sum_j |c_j| + sum sqrt(k(x, x)) sum_j |c_j| sqrt(k(x_j, x_j)),

   of weights of features mc_weights_error |w| sqrt(k(x, x)), and, where these were summed up from centres, the rounding
   of that; a unit of the result with its intercept in either case. */
#include "certify/prediction_bound.h"
#include "base/memory.h"
#include "base/status.h"
#include "data/table/data.h"
#include "gram/operator/gram.h"
#include "predict/fitted.h"
#include "predict/feature_weights.h"
#include <float.h>
#include <math.h>

static const double slack = 1.01; /* for what is of second order, roots of computed k(x, x) included */

/* What the error of one decision grows with: a part for all rows, and one that sqrt(k(x, x)) multiplies. */
typedef struct error_growth {
    double fixed, steep;
} error_growth;

static double length_of(const double *w, int64_t D) {
    long double square = 0;
    for (int64_t j = 0; j < D; j++)
        square += (long double)w[j] * w[j];
    return (double)sqrtl(square);
}

/* root: sqrt(k) of the centres. */
static error_growth growth_of(const mc_fitted *f, int64_t k, const double *root, mc_product_error error) {
    const int64_t n = f->centres->n;
    const double u = DBL_EPSILON / 2;
    long double mass = 0, reach = 0;
    for (int64_t i = 0; i < n; i++) {
        const double c = fabs(mc_fitted_coefficient(f, i, k));
        mass += c;
        reach += c * root[i];
    }
    const double b = 2 * u * fabs(f->intercept[k]);
    int64_t D;
    const double *weights = mc_fitted_weights(f, &D);
    if (!weights)
        return (error_growth){slack * (mc_product_doubt(error, (double)mass, 0) + b),
                              slack * (error.sum + 2 * u) * (double)reach};
    const double w = mc_weights_error(f->centres->d, D) * length_of(weights + k * D, D);
    const double mapped = mc_weights_error(f->centres->d, 0) + (double)(n + 2) * DBL_EPSILON;
    return (error_growth){slack * b, slack * (w + mapped * (double)reach)};
}

static void bound_rows(const mc_fitted *f, const error_growth *each, int64_t n, double *out) {
    const mercer_certificate *c = &f->report.certificate;
    for (int64_t i = 0; i < n; i++) {
        const double root = sqrt(fmax(0, out[i])); /* NaN: k(x, x) is not known */
        double worst = 0;
        for (int64_t k = 0; k < mc_form_decisions(f->form, f->outputs); k++)
            worst = fmax(worst, each[k].fixed + each[k].steep * root);
        const double all = c->prediction_error_constant + slack * c->prediction_error_slope * root + worst;
        out[i] = isnan(out[i]) || isnan(all) ? INFINITY : all;
    }
}

/* scratch: one for each centre. */
static mercer_status bound_block(mercer_ctx *ctx, const mc_fitted *f, const mercer_data *rows, error_growth *each,
                                 double *scratch, double *out) {
    mc_product_error error = {0};
    int64_t D;
    if (!mc_fitted_weights(f, &D))
        MC_TRY(mc_decision_error(ctx, f, rows, &error));
    MC_TRY(mc_kernel_diagonal(ctx, f->kernel, f->centres, scratch));
    for (int64_t i = 0; i < f->centres->n; i++)
        scratch[i] = sqrt(fmax(0, scratch[i]));
    for (int64_t k = 0; k < mc_form_decisions(f->form, f->outputs); k++)
        each[k] = growth_of(f, k, scratch, error);
    MC_TRY(mc_kernel_diagonal(ctx, f->kernel, rows, out));
    bound_rows(f, each, rows->n, out);
    return MERCER_OK;
}

mercer_status mc_fitted_bound(mercer_ctx *ctx, const mc_fitted *f, const mercer_data *rows, double *out) {
    const mercer_certificate *c = &f->report.certificate;
    error_growth *each = NULL;
    double *scratch = NULL;
    if (!isfinite(c->prediction_error_constant) || !isfinite(c->prediction_error_slope)) {
        for (int64_t i = 0; i < rows->n; i++)
            out[i] = INFINITY;
        return MERCER_OK;
    }
    MC_TRY(MC_ALLOC(ctx, each, mc_form_decisions(f->form, f->outputs)));
    mercer_status status = MC_ALLOC(ctx, scratch, f->centres->n);
    MC_THEN(status, bound_block(ctx, f, rows, each, scratch, out));
    mc_free(scratch);
    mc_free(each);
    return status;
}
