/* make.c: data from arrays in memory. Everything is checked before it is kept: shape, CSR structure, and that every
   number is finite; the first fault in row order is named. */
#include "base/ctx.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/print.h"
#include "base/sized.h"
#include "base/status.h"
#include "data/table/columns.h"
#include "data/encode/labels.h"
#include "data/table/strings.h"
#include <math.h>
#include <string.h>

enum { ROW_GRAIN = 1024 };

static mercer_status check_shape(mercer_ctx *ctx, const mercer_table *t) {
    if (t->n < 1 || t->d < 0)
        return mc_fail(ctx, MERCER_INVALID,
                       "a table needs at least one row and no negative number of columns, got n = %lld, d = %lld",
                       (long long)t->n, (long long)t->d);
    if (t->dtype != MERCER_F32 && t->dtype != MERCER_F64)
        return mc_fail(ctx, MERCER_INVALID, "dtype must be MERCER_F32 or MERCER_F64, got %d", (int)t->dtype);
    if (!t->values && t->d > 0 && !(t->row_start && t->row_start[t->n] == 0))
        return mc_fail(ctx, MERCER_INVALID, "values is NULL for %lld columns", (long long)t->d);
    if (!t->row_start && (t->column || (t->stride && t->stride < t->d)))
        return mc_fail(ctx, MERCER_INVALID,
                       "dense values need stride 0 or at least d = %lld (got %lld), and no column array",
                       (long long)t->d, (long long)t->stride);
    if (t->outputs < 0 || (t->target == NULL) != (t->outputs == 0))
        return mc_fail(ctx, MERCER_INVALID, "target and outputs go together: target is %s and outputs is %lld",
                       t->target ? "given" : "NULL", (long long)t->outputs);
    if (t->texts < 0 || (t->text == NULL) != (t->texts == 0) || (t->text_names && !t->texts))
        return mc_fail(ctx, MERCER_INVALID, "text and texts go together: text is %s and texts is %lld",
                       t->text ? "given" : "NULL", (long long)t->texts);
    if (t->target && t->labels)
        return mc_fail(ctx, MERCER_INVALID, "a table has a target or labels, not both");
    return MERCER_OK;
}

static mercer_status check_row_of_csr(mercer_ctx *ctx, const mercer_table *t, int64_t i) {
    for (int64_t k = t->row_start[i]; k < t->row_start[i + 1]; k++) {
        const int32_t j = t->column[k], before = k > t->row_start[i] ? t->column[k - 1] : -1;
        if (j < 0 || j >= t->d)
            return mc_fail(ctx, MERCER_INVALID, "row %lld has column index %d, outside [0, %lld)", (long long)i + 1, j,
                           (long long)t->d);
        if (j <= before)
            return mc_fail(ctx, MERCER_INVALID,
                           "row %lld has column index %d after %d; indices must increase within a row",
                           (long long)i + 1, j, before);
    }
    return MERCER_OK;
}

static mercer_status check_csr(mercer_ctx *ctx, const mercer_table *t) {
    if (t->row_start[0] != 0)
        return mc_fail(ctx, MERCER_INVALID, "row_start begins with %lld instead of 0", (long long)t->row_start[0]);
    for (int64_t i = 0; i < t->n; i++)
        if (t->row_start[i + 1] < t->row_start[i])
            return mc_fail(ctx, MERCER_INVALID, "row_start falls from %lld to %lld at row %lld",
                           (long long)t->row_start[i], (long long)t->row_start[i + 1], (long long)i + 1);
    if (t->d > INT32_MAX)
        return mc_fail(ctx, MERCER_INVALID, "CSR data have at most %d columns, got %lld", INT32_MAX, (long long)t->d);
    if (!t->column && t->row_start[t->n] > 0)
        return mc_fail(ctx, MERCER_INVALID, "column is NULL for %lld stored values", (long long)t->row_start[t->n]);
    for (int64_t i = 0; i < t->n; i++)
        MC_TRY(check_row_of_csr(ctx, t, i));
    return MERCER_OK;
}

typedef struct table_copy {
    const mercer_table *table;
    mercer_data *data;
    int64_t *bad; /* per chunk: the first value that is not finite, counted over the stored values; -1: none */
} table_copy;

enum { LANES = 8, LOOK = 512 };

static bool is_not_finite(mercer_dtype dtype, const void *values, int64_t k) {
    return !isfinite(dtype == MERCER_F64 ? ((const double *)values)[k] : (double)((const float *)values)[k]);
}

/* Zero times anything finite is zero, whatever else: in lanes, so that the sums do not wait for each other. */
static bool all_finite(mercer_dtype dtype, const void *values, int64_t begin, int64_t count) {
    double lane[LANES] = {0}, sum = 0;
    const double *wide = (const double *)values + begin;
    const float *narrow = (const float *)values + begin;
    for (int64_t k = 0; k + LANES <= count; k += LANES)
        for (int q = 0; q < LANES; q++)
            lane[q] += 0 * (dtype == MERCER_F64 ? wide[k + q] : (double)narrow[k + q]);
    for (int64_t k = count / LANES * LANES; k < count; k++)
        sum += 0 * (dtype == MERCER_F64 ? wide[k] : (double)narrow[k]);
    for (int q = 0; q < LANES; q++)
        sum += lane[q];
    return sum == 0;
}

int64_t mc_first_not_finite(mercer_dtype dtype, const void *values, int64_t count) {
    for (int64_t begin = 0; begin < count; begin += LOOK) {
        const int64_t some = count - begin < LOOK ? count - begin : LOOK;
        if (all_finite(dtype, values, begin, some))
            continue;
        for (int64_t k = begin; k < begin + some; k++)
            if (is_not_finite(dtype, values, k))
                return k;
    }
    return -1;
}

/* Copy rows begin .. end-1, unless they are borrowed, and look at each value. */
static void copy_rows(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)thread;
    const table_copy *c = arg;
    const mercer_table *t = c->table;
    const size_t size = mc_dtype_size(t->dtype);
    const int64_t d = t->d, stride = t->stride ? t->stride : d;
    for (int64_t i = begin; i < end && d > 0 && !c->data->borrowed; i++)
        memcpy((char *)c->data->values + (size_t)(i * d) * size, (const char *)t->values + (size_t)(i * stride) * size,
               (size_t)d * size);
    const char *rows = d > 0 ? (const char *)c->data->values + (size_t)(begin * d) * size : NULL;
    const int64_t bad = d > 0 ? mc_first_not_finite(t->dtype, rows, (end - begin) * d) : -1;
    c->bad[chunk] = bad < 0 ? -1 : begin * d + bad;
}

static mercer_status fail_value(mercer_ctx *ctx, const mercer_table *t, int64_t i, int64_t j) {
    char name[64] = "";
    if (t->names && t->names[j])
        mc_print(name, sizeof name, " ('%.48s')", t->names[j]);
    return mc_fail(ctx, MERCER_DATA,
                   "the value in row %lld, column %lld%s is not finite; replace NaN and infinities first",
                   (long long)i + 1, (long long)j + 1, name);
}

static mercer_status copy_dense(mercer_ctx *ctx, const mercer_table *t, mercer_data *data) {
    const int64_t chunks = mc_chunk_count(t->n, ROW_GRAIN);
    table_copy c = {.table = t, .data = data};
    MC_TRY(MC_ALLOC(ctx, c.bad, chunks));
    mercer_status status = mc_for(ctx, t->n, ROW_GRAIN, copy_rows, &c);
    for (int64_t k = 0; k < chunks && !status; k++)
        if (c.bad[k] >= 0)
            status = fail_value(ctx, t, c.bad[k] / t->d, c.bad[k] % t->d);
    mc_free(c.bad);
    return status;
}

static mercer_status copy_csr(mercer_ctx *ctx, const mercer_table *t, mercer_data *data) {
    const int64_t stored = t->row_start[t->n];
    memcpy(data->row_start, t->row_start, (size_t)(t->n + 1) * sizeof *t->row_start);
    if (!stored)
        return MERCER_OK;
    memcpy(data->values, t->values, (size_t)stored * mc_dtype_size(t->dtype));
    memcpy(data->column, t->column, (size_t)stored * sizeof *t->column);
    const int64_t k = mc_first_not_finite(t->dtype, data->values, stored);
    if (k < 0)
        return MERCER_OK;
    int64_t i = 0;
    while (t->row_start[i + 1] <= k)
        i++;
    return fail_value(ctx, t, i, t->column[k]);
}

static mercer_status copy_target(mercer_ctx *ctx, const mercer_table *t, mercer_data *data) {
    if (t->labels)
        return mc_classes_of_strings(ctx, t->labels, data);
    if (!t->target)
        return MERCER_OK;
    if (t->outputs > INT64_MAX / t->n)
        return mc_fail(ctx, MERCER_INVALID, "outputs is %lld, which no memory can hold", (long long)t->outputs);
    const int64_t total = t->n * t->outputs;
    MC_TRY(MC_ALLOC(ctx, data->target, total));
    memcpy(data->target, t->target, (size_t)total * sizeof *t->target);
    data->outputs = t->outputs;
    const int64_t k = mc_first_not_finite(MERCER_F64, t->target, total);
    if (k >= 0)
        return mc_fail(ctx, MERCER_DATA, "the target of row %lld (output %lld) is not finite",
                       (long long)(k / t->outputs) + 1, (long long)(k % t->outputs) + 1);
    return MERCER_OK;
}

static mercer_status copy_weights(mercer_ctx *ctx, const mercer_table *t, mercer_data *data) {
    if (!t->weights)
        return MERCER_OK;
    MC_TRY(MC_ALLOC(ctx, data->weight, t->n));
    memcpy(data->weight, t->weights, (size_t)t->n * sizeof *t->weights);
    return mc_weights_check(ctx, data->weight, t->n);
}

mercer_status mc_weights_check(mercer_ctx *ctx, const double *weights, int64_t n) {
    bool positive = false;
    for (int64_t i = 0; i < n; i++) {
        if (!(weights[i] >= 0) || isinf(weights[i]))
            return mc_fail(ctx, MERCER_DATA, "the weight of row %lld must be finite and not negative, got %g",
                           (long long)i + 1, weights[i]);
        positive |= weights[i] > 0;
    }
    return positive ? MERCER_OK
                    : mc_fail(ctx, MERCER_DATA, "all %lld weights are zero; give at least one row a weight above 0",
                              (long long)n);
}

static mercer_status name_columns(mercer_ctx *ctx, const mercer_table *t, mercer_data *data) {
    for (int64_t j = 0; j < t->d; j++)
        if (!t->names[j])
            return mc_fail(ctx, MERCER_INVALID, "the name of column %lld is NULL", (long long)j + 1);
    data->name = mc_strings_copy(ctx, t->names, t->d);
    return data->name ? MERCER_OK : MERCER_MEMORY;
}

static mercer_status copy_texts(mercer_ctx *ctx, const mercer_table *t, mercer_data *data) {
    if (!t->texts)
        return MERCER_OK;
    for (int64_t i = 0; i < t->n * t->texts; i++)
        if (!t->text[i])
            return mc_fail(ctx, MERCER_INVALID, "text %lld of row %lld is NULL", (long long)(i % t->texts) + 1,
                           (long long)(i / t->texts) + 1);
    data->text = mc_strings_copy(ctx, t->text, t->n * t->texts);
    data->texts = data->text ? t->texts : 0;
    return data->text ? MERCER_OK : MERCER_MEMORY;
}

static mercer_status copy_table(mercer_ctx *ctx, const mercer_table *t, mercer_data *data) {
    MC_TRY(t->row_start ? copy_csr(ctx, t, data) : copy_dense(ctx, t, data));
    MC_TRY(copy_target(ctx, t, data));
    MC_TRY(copy_weights(ctx, t, data));
    if (t->names)
        MC_TRY(name_columns(ctx, t, data));
    MC_TRY(copy_texts(ctx, t, data));
    if (!t->names && !t->text_names)
        MC_TRY(mc_data_compact(ctx, data));
    MC_TRY(mc_data_finish(ctx, data));
    return t->names || t->text_names ? mc_schema_of_names(ctx, data, t->text_names) : MERCER_OK;
}

static mercer_status new_table(mercer_ctx *ctx, const mercer_table *t, mercer_data **out) {
    const bool whole = !t->row_start && t->d > 0 && (t->stride == 0 || t->stride == t->d);
    if (!t->borrow || !whole)
        return mc_data_new_unset(ctx, t->n, t->d, t->dtype, t->row_start ? t->row_start[t->n] : -1, out);
    MC_TRY(MC_ALLOC(ctx, *out, 1));
    **out = (mercer_data){.n = t->n, .d = t->d, .dtype = t->dtype, .values = (void *)t->values, .borrowed = true};
    return MERCER_OK;
}

mercer_status mc_data_make(mercer_ctx *ctx, const mercer_table *table, mercer_data **out) {
    *out = NULL;
    MC_TRY(check_shape(ctx, table));
    if (table->row_start)
        MC_TRY(check_csr(ctx, table));
    mercer_data *data = NULL;
    MC_TRY(new_table(ctx, table, &data));
    const mercer_status status = copy_table(ctx, table, data);
    if (status)
        mercer_data_free(data);
    else
        *out = data;
    return status;
}

mercer_status mercer_data_make(mercer_ctx *ctx, const mercer_table *table, mercer_data **out) {
    MC_CLEAR(out);
    MC_NEED(ctx, table, out);
    mc_begin_call(ctx);
    mercer_table whole = {0};
    MC_TRY(mc_sized_read(ctx, "mercer_table", table, &whole, sizeof whole));
    return mc_data_make(ctx, &whole, out);
}
