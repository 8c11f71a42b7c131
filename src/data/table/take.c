/* take.c: some rows of a table as a table of their own. Labels and classes keep their numbers even where a class has no
 * row left. */
#include "base/ctx.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/status.h"
#include "data/table/data.h"
#include "data/table/attached.h"
#include "data/table/strings.h"
#include <string.h>

enum { ROW_GRAIN = 1024 };

typedef struct row_taking {
    const mercer_data *from;
    mercer_data *to;
    const int64_t *rows;
} row_taking;

static int64_t source_row(const row_taking *t, int64_t i) {
    return t->rows ? t->rows[i] : i;
}

static void take_dense(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk;
    (void)thread;
    const row_taking *t = arg;
    const size_t row = (size_t)t->from->d * mc_dtype_size(t->from->dtype);
    for (int64_t i = begin; i < end; i++)
        memcpy((char *)t->to->values + (size_t)i * row, (const char *)t->from->values + (size_t)source_row(t, i) * row,
               row);
}

static void take_csr(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk;
    (void)thread;
    const row_taking *t = arg;
    const size_t size = mc_dtype_size(t->from->dtype);
    for (int64_t i = begin; i < end; i++) {
        const int64_t from = t->from->row_start[source_row(t, i)], to = t->to->row_start[i],
                      count = t->to->row_start[i + 1] - to;
        memcpy((char *)t->to->values + (size_t)to * size, (const char *)t->from->values + (size_t)from * size,
               (size_t)count * size);
        memcpy(t->to->column + to, t->from->column + from, (size_t)count * sizeof *t->to->column);
    }
}

void mc_data_move_values(mercer_data *from, mercer_data *to) {
    mercer_data old = *to;
    to->n = from->n;
    to->dtype = from->dtype;
    to->values = from->values;
    to->borrowed = from->borrowed;
    to->row_start = from->row_start;
    to->column = from->column;
    from->values = old.values;
    from->borrowed = old.borrowed;
    from->row_start = old.row_start;
    from->column = old.column;
}

static int64_t count_stored(const row_taking *t, int64_t count) {
    int64_t stored = 0;
    for (int64_t i = 0; i < count; i++)
        stored += t->from->row_start[source_row(t, i) + 1] - t->from->row_start[source_row(t, i)];
    return stored;
}

static mercer_status take_values(mercer_ctx *ctx, row_taking *t) {
    mercer_data *to = t->to;
    if (!to->row_start)
        return to->d ? mc_for(ctx, to->n, ROW_GRAIN, take_dense, t) : MERCER_OK;
    for (int64_t i = 0; i < to->n; i++) {
        const int64_t *start = &t->from->row_start[source_row(t, i)];
        to->row_start[i + 1] = to->row_start[i] + start[1] - start[0];
    }
    return mc_for(ctx, to->n, ROW_GRAIN, take_csr, t);
}

/* Rows of width elements of size bytes; NULL stays NULL. */
static mercer_status take_array(mercer_ctx *ctx, const row_taking *t, const void *from, int64_t width, size_t size,
                                void **to) {
    if (!from)
        return MERCER_OK;
    const size_t row = (size_t)width * size;
    *to = mc_alloc(ctx, t->to->n, row);
    for (int64_t i = 0; *to && i < t->to->n; i++)
        memcpy((char *)*to + (size_t)i * row, (const char *)from + (size_t)source_row(t, i) * row, row);
    return *to ? MERCER_OK : MERCER_MEMORY;
}

static mercer_status copy_used(mercer_ctx *ctx, const mercer_data *from, mercer_data *to) {
    if (!from->used)
        return MERCER_OK;
    MC_TRY(MC_ALLOC(ctx, to->used, from->d));
    memcpy(to->used, from->used, (size_t)from->d * sizeof *to->used);
    return MERCER_OK;
}

static mercer_status copy_list(mercer_ctx *ctx, char *const *from, int64_t count, char ***to) {
    if (from)
        *to = mc_strings_copy(ctx, (const char *const *)from, count);
    return from && !*to ? MERCER_MEMORY : MERCER_OK;
}

/* The same knowledge, of these rows. */
static mercer_status share_attached(mercer_ctx *ctx, const row_taking *t) {
    const mercer_data *from = t->from;
    if (!from->attached)
        return MERCER_OK;
    MC_TRY(MC_ALLOC(ctx, t->to->attached_row, t->to->n));
    for (int64_t i = 0; i < t->to->n; i++)
        t->to->attached_row[i] = from->attached_row ? from->attached_row[source_row(t, i)] : source_row(t, i);
    t->to->attached = mc_attached_share(from->attached);
    return MERCER_OK;
}

static mercer_status take_all(mercer_ctx *ctx, row_taking *t) {
    const mercer_data *from = t->from;
    mercer_data *to = t->to;
    to->outputs = from->outputs;
    to->classes = from->classes;
    to->texts = from->texts;
    to->reads_texts = from->reads_texts;
    to->missing = from->missing;
    to->open = from->open;
    to->first = t->rows ? 0 : from->first;
    void *target = NULL, *class_of = NULL, *weight = NULL;
    mercer_status status = take_values(ctx, t);
    if (!status)
        status = take_array(ctx, t, from->target, from->outputs, sizeof *from->target, &target);
    if (!status)
        status = take_array(ctx, t, from->class_of, 1, sizeof *from->class_of, &class_of);
    if (!status)
        status = take_array(ctx, t, from->weight, 1, sizeof *from->weight, &weight);
    to->target = target;
    to->class_of = class_of;
    to->weight = weight;
    MC_TRY(status);
    MC_TRY(copy_used(ctx, from, to));
    MC_TRY(copy_list(ctx, from->label, from->classes, &to->label));
    MC_TRY(copy_list(ctx, from->name, from->d, &to->name));
    MC_TRY(copy_list(ctx, from->target_name, from->classes ? 1 : from->outputs, &to->target_name));
    if (from->text && !(to->text = mc_strings_take(ctx, from->text, from->texts, t->rows, to->n)))
        return MERCER_MEMORY;
    MC_TRY(share_attached(ctx, t));
    MC_TRY(mc_schema_copy(ctx, &from->schema, &to->schema));
    return mc_data_finish(ctx, to);
}

mercer_status mc_data_take(mercer_ctx *ctx, const mercer_data *data, const int64_t *rows, int64_t count,
                           mercer_data **out) {
    *out = NULL;
    row_taking t = {.from = data, .rows = rows};
    MC_TRY(mc_data_new_unset(ctx, count, data->d, data->dtype, data->row_start ? count_stored(&t, count) : -1, &t.to));
    const mercer_status status = take_all(ctx, &t);
    if (status)
        mercer_data_free(t.to);
    else
        *out = t.to;
    return status;
}

mercer_status mc_data_range(mercer_ctx *ctx, const mercer_data *data, int64_t begin, int64_t end, mercer_data **out) {
    int64_t *rows = NULL;
    *out = NULL;
    MC_TRY(MC_ALLOC(ctx, rows, end - begin));
    for (int64_t i = begin; i < end; i++)
        rows[i - begin] = i;
    const mercer_status status = mc_data_take(ctx, data, rows, end - begin, out);
    mc_free(rows);
    if (!status)
        (*out)->first = data->first + begin;
    return status;
}

static void scatter_rows(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk;
    (void)thread;
    const row_taking *t = arg;
    const size_t size = mc_dtype_size(t->from->dtype);
    for (int64_t i = begin; i < end; i++)
        for (int64_t k = t->from->row_start[i]; k < t->from->row_start[i + 1]; k++)
            memcpy((char *)t->to->values + (size_t)(i * t->to->d + t->from->column[k]) * size,
                   (const char *)t->from->values + (size_t)k * size, size);
}

mercer_status mc_data_densify(mercer_ctx *ctx, mercer_data *data) {
    if (!data->row_start)
        return MERCER_OK;
    mercer_data *dense = NULL;
    MC_TRY(mc_data_new(ctx, data->n, data->d, data->dtype, -1, &dense));
    row_taking t = {.from = data, .to = dense};
    const mercer_status status = mc_for(ctx, data->n, ROW_GRAIN, scatter_rows, &t);
    if (!status) {
        void *const values = data->values; /* the two swap their values; the rest of dense is empty */
        data->values = dense->values;
        dense->values = values;
        mc_free(data->row_start);
        mc_free(data->column);
        data->row_start = NULL;
        data->column = NULL;
    }
    mercer_data_free(dense);
    return status;
}

mercer_status mercer_data_take(mercer_ctx *ctx, const mercer_data *data, const int64_t *rows, int64_t count,
                               mercer_data **out) {
    MC_CLEAR(out);
    MC_NEED(ctx, data, out);
    mc_begin_call(ctx);
    if (count < 1 || (!rows && count > data->n))
        return mc_fail(ctx, MERCER_INVALID, "take: count must be at least 1%s, got %lld",
                       rows ? "" : " and at most the number of rows", (long long)count);
    for (int64_t i = 0; rows && i < count; i++)
        if (rows[i] < 0 || rows[i] >= data->n)
            return mc_fail(ctx, MERCER_INVALID, "take: rows[%lld] is %lld, outside [0, %lld)", (long long)i,
                           (long long)rows[i], (long long)data->n);
    return mc_data_take(ctx, data, rows, count, out);
}

mercer_status mercer_data_weigh(mercer_ctx *ctx, const mercer_data *data, const double *weights, mercer_data **out) {
    MC_CLEAR(out);
    MC_NEED(ctx, data, weights, out);
    mc_begin_call(ctx);
    MC_TRY(mc_weights_check(ctx, weights, data->n));
    mercer_data *copy = NULL;
    MC_TRY(mc_data_take(ctx, data, NULL, data->n, &copy));
    if (!copy->weight && MC_ALLOC(ctx, copy->weight, data->n) != MERCER_OK) {
        mercer_data_free(copy);
        return MERCER_MEMORY;
    }
    memcpy(copy->weight, weights, (size_t)data->n * sizeof *weights);
    *out = copy;
    return MERCER_OK;
}
