/* public.c: the Gram matrix and its products, as mercer.h offers them: an operator opened for one call. */
#include "base/ctx.h"
#include "base/progress.h"
#include "base/status.h"
#include "gram/operator/gram.h"

mercer_status mercer_gram(mercer_ctx *ctx, const mercer_kernel *kernel, const mercer_data *data,
                          const mercer_data *other, double *out) {
    MC_NEED(ctx, kernel, data, out);
    mc_begin(ctx);
    mc_gram *gram = NULL;
    MC_TRY(other ? mc_gram_open(ctx, kernel, data, other, MERCER_F64, &gram)
                 : mc_gram_open_as_given(ctx, kernel, data, &gram));
    const int64_t n = mc_gram_rows(gram), m = mc_gram_columns(gram);
    mc_phase(ctx, "gram");
    const mercer_status status = mc_gram_block(ctx, gram, 0, n, 0, m, MERCER_F64, out, m);
    mc_gram_close(gram);
    return status;
}

mercer_status mercer_gram_apply(mercer_ctx *ctx, const mercer_kernel *kernel, const mercer_data *data,
                                const mercer_data *other, mercer_dtype precision, const double *v, int64_t t,
                                double *out) {
    MC_NEED(ctx, kernel, data, v, out);
    mc_begin(ctx);
    if (t < 1)
        return mc_fail(ctx, MERCER_INVALID, "gram_apply: t must be at least 1 column, got %lld", (long long)t);
    mc_gram *gram = NULL;
    MC_TRY(mc_gram_open(ctx, kernel, data, other, precision, &gram));
    mc_phase(ctx, "product");
    const mercer_status status = mc_gram_apply(ctx, gram, t, v, out);
    mc_gram_close(gram);
    return status;
}
