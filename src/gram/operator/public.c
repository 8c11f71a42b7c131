/* public.c: the Gram matrix and its products, as mercer.h offers them: an operator opened for one call. */
#include "base/ctx.h"
#include "base/progress.h"
#include "base/status.h"
#include "data/table/columns.h"
#include "gram/operator/gram.h"
#include "kernel/language/fits.h"
#include "kernel/language/localise.h"

/* The operator of two tables that keep the same columns, with a kernel in the numbers of these. */
typedef struct opened {
    mc_aligned rows;
    mercer_kernel *bound; /* NULL: the kernel that was given will do */
    mc_gram *gram;
} opened;

static mercer_status bind(mercer_ctx *ctx, const mercer_kernel *kernel, const mercer_data *data,
                          const mercer_data *other, opened *o) {
    const bool all = !data->used && !(other && other->used);
    o->rows = (mc_aligned){.x = data, .z = other};
    if (all && !kernel->shown)
        return MERCER_OK;
    MC_TRY(mc_kernel_check_ready(ctx, kernel, mc_data_width(data)));
    MC_TRY(mc_align(ctx, kernel, data, other, &o->rows));
    return mc_kernel_bind(ctx, kernel, o->rows.x, &o->bound);
}

static void close(opened *o) {
    mc_gram_close(o->gram);
    mercer_kernel_free(o->bound);
    mc_aligned_free(&o->rows);
}

mercer_status mercer_gram(mercer_ctx *ctx, const mercer_kernel *kernel, const mercer_data *data,
                          const mercer_data *other, double *out) {
    MC_NEED(ctx, kernel, data, out);
    mc_begin(ctx);
    opened o = {0};
    mercer_status status = bind(ctx, kernel, data, other, &o);
    const mercer_kernel *k = o.bound ? o.bound : kernel;
    if (!status)
        status = other ? mc_gram_open(ctx, k, o.rows.x, o.rows.z, MERCER_F64, &o.gram)
                       : mc_gram_open_as_given(ctx, k, o.rows.x, &o.gram);
    if (!status) {
        const int64_t n = mc_gram_rows(o.gram), m = mc_gram_columns(o.gram);
        mc_phase(ctx, "gram");
        status = mc_gram_block(ctx, o.gram, 0, n, 0, m, MERCER_F64, out, m);
    }
    close(&o);
    return status;
}

mercer_status mercer_gram_apply(mercer_ctx *ctx, const mercer_kernel *kernel, const mercer_data *data,
                                const mercer_data *other, mercer_dtype precision, const double *v, int64_t t,
                                double *out) {
    MC_NEED(ctx, kernel, data, v, out);
    mc_begin(ctx);
    if (t < 1)
        return mc_fail(ctx, MERCER_INVALID, "gram_apply: t must be at least 1 column, got %lld", (long long)t);
    opened o = {0};
    mercer_status status = bind(ctx, kernel, data, other, &o);
    if (!status)
        status = mc_gram_open(ctx, o.bound ? o.bound : kernel, o.rows.x, o.rows.z, precision, &o.gram);
    if (!status) {
        mc_phase(ctx, "product");
        status = mc_gram_apply(ctx, o.gram, t, v, out);
    }
    close(&o);
    return status;
}
