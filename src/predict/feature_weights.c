/* feature_weights.c: values of functions given by their weights, and weights of functions given by their centres: the
   row through the map, then inner products. */
#include "predict/feature_weights.h"
#include "base/memory.h"
#include "base/status.h"
#include "data/table/data.h"
#include "gram/features/feature_products.h"
#include "predict/packed_cache.h"

static const double MAPPED = 4; /* columns */

mercer_status mc_weights_apply(mercer_ctx *ctx, const mercer_kernel *kernel, int64_t count, const double *W,
                               const mercer_data *rows, double *out) {
    mc_feature_products z;
    MC_TRY(mc_feature_products_open(ctx, kernel, rows, false, &z));
    const mercer_status status = mc_feature_expand(ctx, &z, count, W, out);
    mc_feature_products_close(&z);
    return status;
}

/* The weights are not to be longer than the centres they replace; writing a feature counts for as much as reading a few
   columns. */
int64_t mc_weights_worth(const mc_fitted *f) {
    const mercer_data *x = f->centres;
    const double stored = (double)mercer_data_stored(x), decisions = (double)mc_form_decisions(f->form, f->outputs);
    if (f->primal || f->fourier || f->form == MC_NEIGHBOURS || !f->alpha || x->n == 0 || x->texts)
        return 0;
    if (mc_kernel_linear(f->kernel))
        return decisions * (double)x->d <= stored ? x->d : 0;
    const int64_t D = mc_features_count(f->kernel->root, x->d, x->n);
    return D > 0 && (decisions + MAPPED) * (double)D <= stored ? D : 0;
}

mercer_status mc_weights_sum(mercer_ctx *ctx, const mc_fitted *f, double *W) {
    const int64_t n = f->centres->n, decisions = mc_form_decisions(f->form, f->outputs);
    const bool pairs = f->form == MC_PAIRS && f->outputs > 2;
    mc_feature_products z;
    double *own = NULL;
    MC_TRY(mc_feature_products_open(ctx, f->kernel, f->centres, false, &z));
    mercer_status status = pairs ? MC_ALLOC(ctx, own, n * decisions) : MERCER_OK;
    for (int64_t i = 0; own && i < n; i++)
        for (int64_t k = 0; k < decisions; k++)
            own[i * decisions + k] = mc_fitted_coefficient(f, i, k);
    MC_THEN(status, mc_feature_project(ctx, &z, decisions, own ? own : f->alpha, W));
    mc_free(own);
    mc_feature_products_close(&z);
    return status;
}

const double *mc_fitted_weights(const mc_fitted *f, int64_t *features) {
    *features = f->features;
    return f->primal ? f->primal : mc_packed_cache_weights(f->packed_cache, features);
}
