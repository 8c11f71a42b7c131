/* entries.c: rows, pairs and products of a Gram matrix behind the two interfaces that solvers see.

   K(I, I) for a short list I is the Gram matrix of those rows alone: they are taken out and opened as data of their
   own, in double. */
#include "gram/operator/entries.h"
#include "base/memory.h"
#include "base/status.h"
#include "data/table/data.h"

static mercer_status diagonal(mercer_ctx *ctx, const void *self, double *out) {
    return mc_gram_diagonal(ctx, ((const mc_gram_source *)self)->gram, out);
}

static mercer_status take(mercer_ctx *ctx, const void *self, const int64_t *rows, int64_t count, float *out,
                          int64_t ld) {
    return mc_gram_take(ctx, ((const mc_gram_source *)self)->gram, rows, count, MERCER_F32, out, ld);
}

/* The values alone: names and schema have no part in a kernel. */
static mercer_data values_of(const mercer_data *x) {
    return (mercer_data){.n = x->n,
                         .d = x->d,
                         .dtype = x->dtype,
                         .values = x->values,
                         .row_start = x->row_start,
                         .column = x->column,
                         .texts = x->texts,
                         .text = x->text};
}

static mercer_status pairs(mercer_ctx *ctx, const void *self, const int64_t *rows, int64_t count, double *out) {
    const mc_gram_source *source = self;
    mercer_data *few = NULL;
    mc_gram *gram = NULL;
    const mercer_data values = values_of(source->x);
    MC_TRY(mc_data_take(ctx, &values, rows, count, &few));
    mercer_status status = mc_gram_open(ctx, source->kernel, few, NULL, MERCER_F64, &gram);
    if (!status)
        status = mc_gram_block(ctx, gram, 0, count, 0, count, MERCER_F64, out, count);
    mc_gram_close(gram);
    mercer_data_free(few);
    return status;
}

mc_entries mc_gram_entries(const mc_gram_source *source) {
    return (mc_entries){.n = source->x->n, .diagonal = diagonal, .take = take, .pairs = pairs, .self = source};
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
size_t mc_gram_pairs_bytes(mercer_ctx *ctx, const mc_gram_source *source, int64_t count) {
    const mercer_data *x = source->x;
    mercer_data few = values_of(x);
    few.n = count < x->n ? count : x->n;
    const size_t each = mc_dtype_size(x->dtype) + (x->row_start ? sizeof(int32_t) : 0);
    return (size_t)(count * widest_row(x)) * each + (size_t)(count + 1) * sizeof(int64_t) + (size_t)x->d * 32
           + 16 * MC_ALIGN + sizeof(mercer_data) + mc_gram_bytes(ctx, source->kernel, &few, NULL, MERCER_F64, 1);
}

static mercer_status apply(mercer_ctx *ctx, const void *self, int64_t t, const double *V, double *Y) {
    return mc_gram_apply(ctx, self, t, V, Y);
}

static mercer_status gram_diagonal(mercer_ctx *ctx, const void *self, double *out) {
    return mc_gram_diagonal(ctx, self, out);
}

mc_operator mc_gram_operator(const mc_gram *gram) {
    return (mc_operator){.n = mc_gram_rows(gram), .apply = apply, .diagonal = gram_diagonal, .self = gram};
}
