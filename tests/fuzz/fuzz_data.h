/* fuzz_data.h: what the three data targets share: read any bytes, and hold what comes out to what must be true.

   - A failure has a message and a status that blames the input, the settings or the memory limit.
   - Data that were read are whole: finite, in order, named, labelled.
   - Cut into tiny pieces, the text reads the same.
   - Read once more under the schema just found, the bytes give the same data. */
#ifndef FUZZ_DATA_H
#define FUZZ_DATA_H

#include "data/table/data.h"
#include "data/read/read.h"
#include "must.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_failure(const mercer_ctx *ctx, mercer_status status) {
    must(status == MERCER_DATA || status == MERCER_INVALID || status == MERCER_MEMORY, mercer_status_name(status));
    must(strlen(mercer_message(ctx)) > 10, "a failure says why");
}

static void check_values(const mercer_data *data) {
    must(mc_first_not_finite(data->dtype, data->values, mercer_data_stored(data)) < 0, "all values are finite");
    for (int64_t i = 0; data->row_start && i < data->n; i++)
        for (int64_t k = data->row_start[i]; k < data->row_start[i + 1]; k++)
            must(data->column[k] >= 0 && data->column[k] < data->d
                     && (k == data->row_start[i] || data->column[k] > data->column[k - 1]),
                 "columns of a row increase");
    for (int64_t k = 0; data->target && k < data->n * data->outputs; k++)
        must(isfinite(data->target[k]), "targets are finite");
    for (int64_t i = 0; data->weight && i < data->n; i++)
        must(data->weight[i] >= 0, "weights are not negative");
}

static void check_names(const mercer_data *data) {
    for (int64_t j = 0; j < data->d && j < 1000; j++)
        must(mercer_data_column_name(data, j) != NULL, "columns have names");
    for (int64_t k = 1; k < data->classes; k++)
        must(strcmp(data->label[k - 1], data->label[k]) != 0, "labels differ");
    for (int64_t i = 0; data->class_of && i < data->n; i++)
        must(data->class_of[i] >= 0 && data->class_of[i] < data->classes, "every class has a label");
    for (int64_t k = 0; k < data->n * data->texts; k++)
        must(data->text[k] != NULL, "kept text is there");
    if (data->schema.count)
        must(mc_schema_columns(&data->schema) == data->d, "the schema makes the columns");
}

static void check_same(const mercer_data *a, const mercer_data *b, const char *what) {
    must(a->n == b->n && a->d == b->d && a->outputs == b->outputs && a->classes == b->classes, what);
    must(!a->row_start == !b->row_start && mercer_data_stored(a) == mercer_data_stored(b), what);
    must(memcmp(a->values, b->values, (size_t)mercer_data_stored(a) * mc_dtype_size(a->dtype)) == 0, what);
    if (a->target)
        must(memcmp(a->target, b->target, (size_t)(a->n * a->outputs) * sizeof *a->target) == 0, what);
    if (a->class_of)
        must(memcmp(a->class_of, b->class_of, (size_t)a->n * sizeof *a->class_of) == 0, what);
}

/* Settings that follow from the size, so that a seed file is only itself. */
static mercer_read settings_for(size_t size) {
    static const char *const targets[] = {NULL, NULL, "", "1", "1,2", "y", "2"};
    mercer_read set = mercer_read_defaults();
    set.missing = (mercer_missing)(size % 3);
    set.kind = (mercer_target)(size / 3 % 4);
    set.target = targets[size / 12 % 7];
    set.dtype = size % 5 ? MERCER_F64 : MERCER_F32;
    set.text = size % 11 ? NULL : "2";
    set.weights = size % 13 ? NULL : "1";
    return set;
}

static mercer_ctx *open_small(void) {
    mercer_options options = mercer_options_defaults();
    options.memory_limit = 64 << 20;
    options.threads = 1;
    mercer_ctx *ctx = NULL;
    if (mercer_open(&options, &ctx))
        abort();
    return ctx;
}

static void read_again(mercer_ctx *ctx, const uint8_t *bytes, size_t size, const char *name, mc_reading reading,
                       const mercer_data *expected) {
    mercer_data *data = NULL;
    reading.piece = 7;
    must(mc_data_parse_as(ctx, bytes, (int64_t)size, name, &reading, &data) == MERCER_OK, mercer_message(ctx));
    check_same(expected, data, "tiny pieces read the same");
    mercer_data_free(data);
    reading.schema = &expected->schema;
    reading.d = expected->d;
    reading.classes = expected->classes;
    reading.labels = expected->label;
    mercer_read set = *reading.set;
    set.weights = NULL; /* found by the schema */
    reading.set = &set;
    must(mc_data_parse_as(ctx, bytes, (int64_t)size, name, &reading, &data) == MERCER_OK, mercer_message(ctx));
    check_same(expected, data, "read under its own schema, the same");
    mercer_data_free(data);
}

static int fuzz_data(const uint8_t *bytes, size_t size, const char *name) {
    mercer_ctx *ctx = open_small();
    const mercer_read set = settings_for(size);
    const mc_reading reading = {.set = &set};
    mercer_data *data = NULL;
    const mercer_status status = mc_data_parse_as(ctx, bytes, (int64_t)size, name, &reading, &data);
    if (status) {
        check_failure(ctx, status);
        must(data == NULL, "no data after a failure");
    } else {
        check_values(data);
        check_names(data);
        read_again(ctx, bytes, size, name, reading, data);
    }
    mercer_data_free(data);
    mercer_close(ctx);
    return 0;
}

#endif
