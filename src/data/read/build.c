/* build.c: data of the cells of a file: faults named, missing values dealt with, text one-hot or kept, target and
   weights apart, and the schema that lets the next file be read the same way. */
#include "base/memory.h"
#include "base/parallel.h"
#include "base/print.h"
#include "base/status.h"
#include "data/encode/labels.h"
#include "data/read/raw.h"
#include "data/table/strings.h"

enum { ROW_GRAIN = 1024 };

/* ---- Values ---- */

static bool makes_columns(const mc_file_column *c) {
    return c->kind == MC_COLUMN_NUMBER || c->kind == MC_COLUMN_LEVELS;
}

static int64_t encoded_width(const mc_file_column *c) {
    return c->kind == MC_COLUMN_NUMBER ? 1 : c->kind == MC_COLUMN_LEVELS ? c->levels : 0;
}

static int64_t count_columns(const mc_raw *raw) {
    int64_t d = 0;
    for (int64_t k = 0; k < raw->used; k++)
        d += encoded_width(&raw->column[raw->order[k]]);
    return d;
}

typedef struct table_filling {
    const mc_raw *raw;
    mercer_data *data;
    int64_t *first; /* per entry of order: its first data column */
} table_filling;

static void set_cell(mercer_data *data, int64_t i, int64_t j, double value) {
    if (data->dtype == MERCER_F32)
        ((float *)data->values)[i * data->d + j] = (float)value;
    else
        ((double *)data->values)[i * data->d + j] = value;
}

/* A missing level is no level: zeros. */
static void fill_rows(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk, (void)thread;
    const table_filling *f = arg;
    for (int64_t i = begin; i < end; i++)
        for (int64_t k = 0; k < f->raw->used; k++) {
            const mc_file_column *c = &f->raw->column[f->raw->order[k]];
            if (!makes_columns(c))
                continue;
            const double cell = c->cell[i * c->stride];
            if (c->kind == MC_COLUMN_NUMBER)
                set_cell(f->data, i, f->first[k], mc_cell_kind_of(cell) == MC_CELL_NUMBER ? cell : c->mean);
            else if (cell >= 0)
                set_cell(f->data, i, f->first[k] + (int64_t)cell, 1);
        }
}

static mercer_status fill_values(mercer_ctx *ctx, const mc_raw *raw, mercer_data *data) {
    table_filling f = {.raw = raw, .data = data};
    MC_TRY(MC_ALLOC(ctx, f.first, raw->used));
    for (int64_t k = 0, d = 0; k < raw->used; k++) {
        f.first[k] = d;
        d += encoded_width(&raw->column[raw->order[k]]);
    }
    const mercer_status status = mc_for(ctx, data->n, ROW_GRAIN, fill_rows, &f);
    mc_free(f.first);
    return status;
}

/* Numbers alone, in float64: the cells are the values already. */
static bool cells_are_values(const mc_raw *raw, mercer_dtype dtype) {
    for (int64_t j = 0; j < raw->columns; j++) {
        const mc_file_column *c = &raw->column[j];
        if (c->cell && (c->kind == MC_COLUMN_LEVELS || c->kind == MC_COLUMN_TEXT))
            return false;
    }
    return dtype == MERCER_F64;
}

static void fill_in_means(const mc_raw *raw) {
    for (int64_t j = 0; j < raw->columns; j++) {
        const mc_file_column *c = &raw->column[j];
        for (int64_t i = 0; c->kind == MC_COLUMN_NUMBER && c->missing > 0 && i < raw->n; i++)
            if (mc_cell_kind_of(c->cell[i * c->stride]) != MC_CELL_NUMBER)
                c->cell[i * c->stride] = c->mean;
    }
}

/* One-hot columns of a text with very many levels are the usual reason for a table that does not fit. */
static mercer_status check_table_memory(mercer_ctx *ctx, const mc_raw *raw, int64_t d, mercer_dtype dtype) {
    int64_t widest = -1;
    for (int64_t j = 0; j < raw->columns; j++)
        if (raw->column[j].levels > 1 && makes_columns(&raw->column[j])
            && (widest < 0 || raw->column[j].levels > raw->column[widest].levels))
            widest = j;
    const double bytes = (double)raw->n * (double)d * (double)mc_dtype_size(dtype);
    if (widest < 0 || bytes <= (double)mc_memory_left(ctx))
        return MERCER_OK;
    return mc_fail(ctx, MERCER_MEMORY,
                   "%s: one-hot text makes %lld columns, %.3g GiB, past the memory limit; %s alone has %lld distinct "
                   "values: keep it as text or leave it out",
                   raw->input->name, (long long)d, bytes / (1 << 30), mc_column_title(raw, widest).text,
                   (long long)raw->column[widest].levels);
}

static mercer_status make_values(mercer_ctx *ctx, const mercer_read *set, mc_raw *raw, mercer_data **out) {
    const int64_t d = count_columns(raw);
    if (!cells_are_values(raw, set->dtype)) {
        MC_TRY(check_table_memory(ctx, raw, d, set->dtype));
        MC_TRY(mc_data_new(ctx, raw->n, d, set->dtype, -1, out));
        return fill_values(ctx, raw, *out);
    }
    MC_TRY(mc_data_new(ctx, 0, d, set->dtype, -1, out));
    fill_in_means(raw);
    mc_free((*out)->values);
    (*out)->values = raw->x;
    (*out)->n = raw->n;
    raw->x = NULL;
    return MERCER_OK;
}

/* ---- Target and weights ---- */

static int64_t count_kind(const mc_raw *raw, mc_column_kind kind) {
    int64_t count = 0;
    for (int64_t j = 0; j < raw->columns; j++)
        count += raw->column[j].cell && raw->column[j].kind == kind;
    return count;
}

/* The columns of this kind as n x count doubles, in the order of the schema. */
static mercer_status gather_columns(mercer_ctx *ctx, const mc_raw *raw, mc_column_kind kind, double **out) {
    const int64_t count = count_kind(raw, kind);
    MC_TRY(MC_ALLOC(ctx, *out, raw->n * count));
    for (int64_t k = 0, t = 0; k < raw->used; k++) {
        const mc_file_column *c = &raw->column[raw->order[k]];
        if (!c->cell || c->kind != kind)
            continue;
        for (int64_t i = 0; i < raw->n; i++)
            (*out)[i * count + t] = c->cell[i * c->stride];
        t++;
    }
    return MERCER_OK;
}

static mc_file_column *find_target(const mc_raw *raw) {
    for (int64_t j = 0; j < raw->columns; j++)
        if (raw->column[j].cell && raw->column[j].kind == MC_COLUMN_TARGET)
            return &raw->column[j];
    return NULL;
}

/* A target of text: its levels are the classes. */
static mercer_status take_levels(mercer_ctx *ctx, const mc_raw *raw, mc_file_column *c, mercer_data *data) {
    MC_TRY(MC_ALLOC(ctx, data->class_of, data->n));
    for (int64_t i = 0; i < raw->n; i++)
        data->class_of[i] = (int32_t)c->cell[i * c->stride];
    data->label = c->level;
    data->classes = c->levels;
    c->level = NULL;
    c->levels = 0;
    return MERCER_OK;
}

static mercer_status make_target(mercer_ctx *ctx, const mc_reading *reading, const mc_raw *raw, mercer_data *data) {
    mc_file_column *c = find_target(raw);
    if (!c)
        return MERCER_OK;
    if (c->text)
        return take_levels(ctx, raw, c, data);
    double *value = NULL;
    MC_TRY(gather_columns(ctx, raw, MC_COLUMN_TARGET, &value));
    return mc_target_of_numbers(ctx, reading->schema ? MERCER_TARGET_NUMBER : reading->set->kind, value,
                                count_kind(raw, MC_COLUMN_TARGET), data);
}

static mercer_status make_weights(mercer_ctx *ctx, const mc_raw *raw, mercer_data *data) {
    if (count_kind(raw, MC_COLUMN_WEIGHT) == 0)
        return MERCER_OK;
    MC_TRY(gather_columns(ctx, raw, MC_COLUMN_WEIGHT, &data->weight));
    return mc_weights_check(ctx, data->weight, data->n);
}

/* ---- Names and schema ---- */

/* Columns without a name are called after their place in the file (the first file, when this is a later one). */
static int column_name(const mc_reading *reading, const mc_raw *raw, int64_t k, int64_t level, char *out,
                       size_t capacity) {
    const mc_file_column *c = &raw->column[raw->order[k]];
    char place[32];
    const bool later = c->like && !c->like->name && reading->schema->count > 0;
    mc_print(place, sizeof place, "x%lld", (long long)(later ? c->like - reading->schema->column : k) + 1);
    const char *given = c->like ? c->like->name : c->name, *name = given ? given : place;
    return c->kind == MC_COLUMN_NUMBER ? mc_print(out, capacity, "%s", name)
                                       : mc_print(out, capacity, "%s=%s", name, c->level[level]);
}

static mercer_status make_names(mercer_ctx *ctx, const mc_reading *reading, const mc_raw *raw, mercer_data *data) {
    const bool header = reading->schema ? reading->schema->header : raw->header;
    int64_t bytes = 0, levels = 0;
    for (int64_t k = 0; k < raw->used; k++)
        for (int64_t l = 0; l < encoded_width(&raw->column[raw->order[k]]); l++) {
            bytes += column_name(reading, raw, k, l, NULL, 0) + 1;
            levels += raw->column[raw->order[k]].kind == MC_COLUMN_LEVELS;
        }
    if (!header && levels == 0)
        return MERCER_OK; /* the data number their columns themselves */
    char *next = NULL;
    data->name = mc_strings_new(ctx, data->d, bytes, &next);
    for (int64_t k = 0, j = 0; data->name && k < raw->used; k++)
        for (int64_t l = 0; l < encoded_width(&raw->column[raw->order[k]]); l++) {
            data->name[j++] = next;
            const int length = column_name(reading, raw, k, l, next, (size_t)bytes) + 1;
            next += length;
            bytes -= length;
        }
    return data->name ? MERCER_OK : MERCER_MEMORY;
}

static mercer_status name_targets(mercer_ctx *ctx, const mc_raw *raw, mercer_data *data) {
    const char **name = NULL;
    const int64_t count = count_kind(raw, MC_COLUMN_TARGET);
    MC_TRY(MC_ALLOC(ctx, name, count));
    int64_t named = 0;
    for (int64_t k = 0; k < raw->used; k++) {
        const mc_file_column *c = &raw->column[raw->order[k]];
        if (c->cell && c->kind == MC_COLUMN_TARGET && c->name)
            name[named++] = c->name;
    }
    if (count > 0 && named == count)
        data->target_name = mc_strings_copy(ctx, name, count);
    mc_free(name);
    return named < count || count == 0 || data->target_name ? MERCER_OK : MERCER_MEMORY;
}

static mercer_status make_schema(mercer_ctx *ctx, const mc_raw *raw, mc_schema *schema) {
    schema->header = raw->header;
    MC_TRY(MC_ALLOC(ctx, schema->column, raw->used));
    for (; schema->count < raw->used; schema->count++) {
        mc_file_column *c = &raw->column[raw->order[schema->count]];
        schema->column[schema->count] = (mc_column){.name = c->name,
                                                    .kind = c->kind,
                                                    .levels = c->levels,
                                                    .level = c->level,
                                                    .mean = c->mean}; /* moved, not copied */
        c->name = NULL;
        c->level = NULL;
    }
    return MERCER_OK;
}

static mercer_status make_rest(mercer_ctx *ctx, const mc_reading *reading, mc_raw *raw, mercer_data *data) {
    data->missing = raw->missing;
    MC_TRY(make_target(ctx, reading, raw, data));
    MC_TRY(make_weights(ctx, raw, data));
    MC_TRY(mc_raw_keep_text(ctx, raw, data));
    data->reads_texts = data->texts > 0 && !reading->schema && mc_read_finds_text(reading->set);
    MC_TRY(make_names(ctx, reading, raw, data));
    MC_TRY(name_targets(ctx, raw, data));
    MC_TRY(reading->schema ? mc_schema_copy(ctx, reading->schema, &data->schema)
                           : make_schema(ctx, raw, &data->schema));
    return mc_data_finish(ctx, data);
}

mercer_status mc_raw_build(mercer_ctx *ctx, const mc_reading *reading, mc_raw *raw, mercer_data **out) {
    MC_TRY(mc_raw_check(ctx, reading, raw));
    MC_TRY(mc_raw_missing(ctx, reading, raw));
    MC_TRY(mc_raw_encode(ctx, reading, raw)); /* now: a level of dropped rows alone is none */
    mercer_data *data = NULL;
    mercer_status status = make_values(ctx, reading->set, raw, &data);
    MC_THEN(status, make_rest(ctx, reading, raw, data));
    if (status)
        mercer_data_free(data);
    else {
        data->unused = raw->unused;
        raw->unused = NULL;
        *out = data;
    }
    return status;
}
