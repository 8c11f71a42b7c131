/* data.c: the table itself: making an empty one, freeing it, and what it can be asked. */
#include "data/table/data.h"
#include "data/table/attached.h"
#include "base/memory.h"
#include "base/status.h"
#include "data/table/columns.h"
#include "data/table/strings.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    NUMBERED_COLUMNS = 1 << 16
}; /* wider nameless data carry no invented names: a sparse file may claim 2^31 columns */

size_t mc_dtype_size(mercer_dtype dtype) {
    return dtype == MERCER_F32 ? sizeof(float) : sizeof(double);
}

typedef void *allocator(mercer_ctx *ctx, int64_t count, size_t size);

static mercer_status new_values(mercer_ctx *ctx, mercer_data *data, int64_t nonzero, allocator *get) {
    const size_t size = mc_dtype_size(data->dtype);
    if (nonzero < 0) {
        if (data->d > INT64_MAX / 16)
            return mc_fail(ctx, MERCER_MEMORY, "memory: %lld columns are more than any table can hold",
                           (long long)data->d);
        data->values = get(ctx, data->n, (size_t)data->d * size);
        return data->values ? MERCER_OK : MERCER_MEMORY;
    }
    data->values = get(ctx, nonzero, size);
    data->row_start = mc_alloc(ctx, data->n + 1, sizeof *data->row_start);
    data->column = mc_alloc(ctx, nonzero, sizeof *data->column);
    return data->values && data->row_start && data->column ? MERCER_OK : MERCER_MEMORY;
}

static mercer_status new_data(mercer_ctx *ctx, int64_t n, int64_t d, mercer_dtype dtype, int64_t nonzero,
                              allocator *get, mercer_data **out) {
    *out = NULL;
    mercer_data *data = NULL;
    MC_TRY(MC_ALLOC(ctx, data, 1));
    data->n = n;
    data->d = d;
    data->dtype = dtype;
    const mercer_status status = new_values(ctx, data, nonzero, get);
    if (status)
        mercer_data_free(data);
    else
        *out = data;
    return status;
}

mercer_status mc_data_new(mercer_ctx *ctx, int64_t n, int64_t d, mercer_dtype dtype, int64_t nonzero,
                          mercer_data **out) {
    return new_data(ctx, n, d, dtype, nonzero, mc_alloc, out);
}

mercer_status mc_data_new_unset(mercer_ctx *ctx, int64_t n, int64_t d, mercer_dtype dtype, int64_t nonzero,
                                mercer_data **out) {
    return new_data(ctx, n, d, dtype, nonzero, mc_alloc_unset, out);
}

/* "y", "y2", "y3", ... */
static char **target_names(mercer_ctx *ctx, int64_t count) {
    char **names = mc_strings_numbered(ctx, "y", count);
    if (names)
        names[0][1] = '\0'; /* the first is plain "y" */
    return names;
}

mercer_status mc_data_finish(mercer_ctx *ctx, mercer_data *data) {
    const int64_t targets = data->classes ? 1 : data->outputs;
    if (targets > 0 && !data->target_name && !(data->target_name = target_names(ctx, targets)))
        return MERCER_MEMORY;
    if (data->name || data->numbered || mc_data_width(data) > NUMBERED_COLUMNS)
        return MERCER_OK;
    data->numbered = mc_strings_numbered(ctx, "x", data->d);
    return data->numbered ? MERCER_OK : MERCER_MEMORY;
}

void mercer_data_free(mercer_data *data) {
    if (!data)
        return;
    void *const blocks[] = {data->borrowed ? NULL : data->values,
                            data->row_start,
                            data->column,
                            data->target,
                            data->label,
                            data->class_of,
                            data->weight,
                            data->name,
                            data->text,
                            data->target_name,
                            data->numbered,
                            data->place,
                            data->unused,
                            data->used,
                            data->attached_row};
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++)
        mc_free(blocks[i]);
    mc_attached_release(data->attached);
    mc_schema_free(&data->schema);
    mc_free(data);
}

int64_t mc_data_row_number(const mercer_data *data, int64_t i) {
    return (data->place ? data->place[i] : data->first + i) + 1;
}

void mc_data_strip(mercer_data *data) {
    void *const blocks[] = {data->target, data->class_of, data->weight};
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++)
        mc_free(blocks[i]);
    data->target = NULL;
    data->class_of = NULL;
    data->weight = NULL;
}

void mc_data_drop_attached(mercer_data *data) {
    mc_attached_release(data->attached);
    mc_free(data->attached_row);
    data->attached = NULL;
    data->attached_row = NULL;
}

void mc_data_drop_texts(mercer_data *data) {
    mc_data_drop_attached(data);
    mc_free(data->text);
    data->text = NULL;
    data->texts = 0;
}

double mc_data_value(const mercer_data *data, int64_t i, int64_t j) {
    if (!data->row_start)
        return mc_stored_value(data, i * data->d + j);
    const int64_t begin = data->row_start[i],
                  place = mc_find_column(data->column + begin, data->row_start[i + 1] - begin, j);
    return place < 0 ? 0.0 : mc_stored_value(data, begin + place);
}

static bool has_row(const mercer_data *data, int64_t row) {
    return row >= 0 && row < data->n;
}

int64_t mercer_data_rows(const mercer_data *data) {
    if (!data)
        return 0;
    return data->n;
}

int64_t mercer_data_columns(const mercer_data *data) {
    if (!data)
        return 0;
    return mc_data_width(data);
}

int64_t mercer_data_outputs(const mercer_data *data) {
    if (!data)
        return 0;
    return data->outputs;
}

int64_t mercer_data_classes(const mercer_data *data) {
    if (!data)
        return 0;
    return data->classes;
}

bool mercer_data_is_sparse(const mercer_data *data) {
    if (!data)
        return false;
    return data->row_start != NULL;
}

int64_t mercer_data_stored(const mercer_data *data) {
    if (!data)
        return 0;
    return data->row_start ? data->row_start[data->n] : data->n * data->d;
}

const char *mercer_data_column_name(const mercer_data *data, int64_t column) {
    if (!data)
        return NULL;
    if (column < 0 || column >= mc_data_width(data))
        return NULL;
    return data->name ? data->name[column] : data->numbered ? data->numbered[column] : "x";
}

const char *mercer_data_label(const mercer_data *data, int64_t k) {
    if (!data)
        return NULL;
    return k >= 0 && k < data->classes ? data->label[k] : NULL;
}

double mercer_data_weight(const mercer_data *data, int64_t row) {
    if (!data)
        return NAN;
    return data->weight && has_row(data, row) ? data->weight[row] : 1;
}

int64_t mercer_data_class(const mercer_data *data, int64_t row) {
    if (!data)
        return 0;
    return data->class_of && has_row(data, row) ? data->class_of[row] : -1;
}

double mercer_data_target(const mercer_data *data, int64_t row, int64_t output) {
    if (!data)
        return NAN;
    const bool inside = data->target && has_row(data, row) && output >= 0 && output < data->outputs;
    return inside ? data->target[row * data->outputs + output] : NAN;
}

const char *mercer_data_target_name(const mercer_data *data, int64_t output) {
    if (!data)
        return NULL;
    const int64_t count = data->classes ? 1 : data->outputs;
    return data->target_name && output >= 0 && output < count ? data->target_name[output] : NULL;
}

const char *mercer_data_unused(const mercer_data *data) {
    return data ? data->unused : NULL;
}

int64_t mercer_data_missing(const mercer_data *data) {
    if (!data)
        return 0;
    return data->missing;
}

void mc_data_values(const mercer_data *data, int64_t row, double *out) {
    if (!data->row_start && data->dtype == MERCER_F64) {
        memcpy(out, (const double *)data->values + row * data->d, (size_t)data->d * sizeof *out);
        return;
    }
    if (!data->row_start) {
        for (int64_t j = 0; j < data->d; j++)
            out[j] = (double)((const float *)data->values)[row * data->d + j];
        return;
    }
    memset(out, 0, (size_t)data->d * sizeof *out);
    for (int64_t k = data->row_start[row]; k < data->row_start[row + 1]; k++)
        out[data->column[k]] = mc_stored_value(data, k);
}

void mercer_data_row(const mercer_data *data, int64_t row, double *out) {
    if (!data || !out)
        return;
    if (!has_row(data, row))
        return;
    if (!data->used) {
        mc_data_values(data, row, out);
        return;
    }
    memset(out, 0, (size_t)mc_data_width(data) * sizeof *out);
    for (int64_t k = data->row_start[row]; k < data->row_start[row + 1]; k++)
        out[mc_data_column(data, data->column[k])] = mc_stored_value(data, k);
}

int64_t mercer_data_row_stored(const mercer_data *data, int64_t row, int64_t *column, double *value) {
    if (!data || !has_row(data, row))
        return 0;
    const int64_t begin = data->row_start ? data->row_start[row] : row * data->d;
    const int64_t count = data->row_start ? data->row_start[row + 1] - begin : data->d;
    for (int64_t k = 0; k < count; k++) {
        if (column)
            column[k] = data->row_start ? mc_data_column(data, data->column[begin + k]) : k;
        if (value)
            value[k] = mc_stored_value(data, begin + k);
    }
    return count;
}

int64_t mercer_data_texts(const mercer_data *data) {
    if (!data)
        return 0;
    return data->texts;
}

const char *mercer_data_text(const mercer_data *data, int64_t row, int64_t k) {
    if (!data)
        return NULL;
    return has_row(data, row) && k >= 0 && k < data->texts ? data->text[row * data->texts + k] : NULL;
}

/* ---- Texts ---- */

_Static_assert(sizeof(const char *) <= sizeof(double), "the address of a text stands in the place of a number");

int64_t mc_data_row_width(const mercer_data *data) {
    return data->d + data->texts;
}

void mc_data_row(const mercer_data *data, int64_t row, double *out) {
    mc_data_values(data, row, out);
    for (int64_t k = 0; k < data->texts; k++)
        memcpy(out + data->d + k, &data->text[row * data->texts + k], sizeof *data->text);
}

const char *mc_row_text(const double *row, int64_t at) {
    const char *text;
    memcpy(&text, row + at, sizeof text);
    return text;
}

/* The place in the file of the k-th text column; -1: not known. */
static int64_t place_of_text(const mercer_data *data, int64_t k) {
    for (int64_t j = 0; j < data->schema.count; j++)
        if (data->schema.column[j].kind == MC_COLUMN_TEXT && k-- == 0)
            return j;
    return -1;
}

int64_t mc_data_text_place(const mercer_data *data, int64_t k) {
    return data->schema.count ? place_of_text(data, k) : k;
}

const char *mc_data_text_name(const mercer_data *data, int64_t k) {
    const int64_t place = place_of_text(data, k);
    return place < 0 ? NULL : data->schema.column[place].name;
}

int64_t mc_data_text_find(const mercer_data *data, const char *name) {
    for (int64_t k = 0; k < data->texts; k++) {
        const char *known = mc_data_text_name(data, k);
        if (known && strcmp(known, name) == 0)
            return k;
    }
    char *end;
    const int64_t place = strtoll(name, &end, 10) - 1;
    for (int64_t k = 0; !*end && k < data->texts; k++)
        if (place == mc_data_text_place(data, k))
            return k;
    return -1;
}

const char *mercer_data_text_name(const mercer_data *data, int64_t k) {
    if (!data)
        return NULL;
    return k >= 0 && k < data->texts ? mc_data_text_name(data, k) : NULL;
}
