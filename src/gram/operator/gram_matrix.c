/* gram_matrix.c: a Gram matrix computed on the fly, behind the interface that solvers see.

   K(I, I) for a short list I is the Gram matrix of those rows alone: they are taken out and opened as data of their
   own, in the precision asked for. */
#include "gram/operator/gram_matrix.h"
#include "base/memory.h"
#include "base/status.h"
#include "data/table/data.h"
#include "gram/operator/operator_state.h"

static mercer_status operator_apply(mercer_ctx *ctx, const void *self, int64_t t, const double *V, double *Y) {
    return mc_gram_apply(ctx, self, t, V, Y);
}

static mercer_status operator_diagonal(mercer_ctx *ctx, const void *self, double *out) {
    return mc_gram_diagonal(ctx, self, out);
}

static mercer_status operator_rows(mercer_ctx *ctx, const void *self, mercer_dtype dtype, const int64_t *ids,
                                   int64_t count, int64_t begin, int64_t end, void *out, int64_t ld) {
    return mc_gram_take_columns(ctx, self, ids, count, begin, end, dtype, out, ld);
}

static mercer_status operator_packed(mercer_ctx *ctx, const void *self, const double *shift, double *out) {
    return mc_gram_packed(ctx, self, shift, out);
}

static mc_matrix_errors operator_errors(const void *self, int64_t t) {
    mc_matrix_errors e = {.size = mc_gram_entry_size(self), .entry = mc_gram_entry_error(self)};
    mc_gram_entry_terms(self, &e.relative, &e.rest);
    mc_gram_product_terms(self, t, &e.product_relative, &e.product_rest);
    return e;
}

/* The values alone: names and schema have no part in a kernel. */
static mercer_data values_of(const mercer_data *x) {
    return (mercer_data){.n = x->n,
                         .d = x->d,
                         .used = x->used,
                         .dtype = x->dtype,
                         .values = x->values,
                         .row_start = x->row_start,
                         .column = x->column,
                         .texts = x->texts,
                         .text = x->text};
}

static mercer_status operator_block(mercer_ctx *ctx, const void *self, mercer_dtype dtype, const int64_t *ids,
                                    int64_t count, void *out) {
    const mc_gram *whole = self;
    mercer_data *few = NULL;
    mc_gram *gram = NULL;
    const mercer_data values = values_of(whole->x);
    MC_TRY(mc_data_take(ctx, &values, ids, count, &few));
    mercer_status status = mc_gram_open(ctx, whole->kernel, few, NULL, dtype, &gram);
    MC_THEN(status, mc_gram_block(ctx, gram, 0, count, 0, count, dtype, out, count));
    mc_gram_close(gram);
    mercer_data_free(few);
    return status;
}

static mercer_status operator_pairs(mercer_ctx *ctx, const void *self, const int64_t *ids, int64_t count, double *out) {
    return operator_block(ctx, self, MERCER_F64, ids, count, out);
}

static int64_t widest_row(const mercer_data *x) {
    int64_t widest = x->row_start ? 0 : x->d;
    for (int64_t i = 0; x->row_start && i < x->n; i++)
        if (x->row_start[i + 1] - x->row_start[i] > widest)
            widest = x->row_start[i + 1] - x->row_start[i];
    return widest;
}

/* The rows taken, with places of sparse values and numbered names, then their operator: that of data with fewer rows.
   */
size_t mc_gram_part_bytes(mercer_ctx *ctx, const mercer_kernel *kernel, const mercer_data *x, mercer_dtype precision,
                          int64_t count) {
    mercer_data few = values_of(x);
    few.n = count < x->n ? count : x->n;
    const size_t each = mc_dtype_size(x->dtype) + (x->row_start ? sizeof(int32_t) : 0);
    return (size_t)(count * widest_row(x)) * each + (size_t)(count + 1) * sizeof(int64_t) + (size_t)x->d * 32
           + 16 * MC_ALIGN + sizeof(mercer_data) + mc_gram_bytes(ctx, kernel, &few, NULL, precision, 0);
}

static size_t operator_bytes(mercer_ctx *ctx, const void *self, mercer_dtype dtype, int64_t count) {
    const mc_gram *gram = self;
    return mc_gram_part_bytes(ctx, gram->kernel, gram->x, dtype, count);
}

mc_matrix mc_gram_matrix(const mc_gram *gram) {
    return (mc_matrix){.n = mc_gram_rows(gram),
                       .self = gram,
                       .apply = operator_apply,
                       .block = operator_block,
                       .rows = operator_rows,
                       .pairs = operator_pairs,
                       .diagonal = operator_diagonal,
                       .packed = operator_packed,
                       .errors = operator_errors,
                       .bytes = operator_bytes,
                       .dtype = mc_gram_precision(gram)};
}
