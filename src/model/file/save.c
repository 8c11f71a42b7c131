/* save.c: a model as a file. The header is written by hand: every byte of it follows from the model, so the same model
   gives the same file. */
#include "base/ctx.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/print.h"
#include "base/status.h"
#include "base/text.h"
#include "data/table/data.h"
#include "kernel/language/kernel.h"
#include "model/file/crc64.h"
#include "model/file/format.h"
#include <math.h>
#include <stddef.h>
#include <string.h>

/* ---- JSON ---- */

static void add_list(mc_text *text, char *const *list, int64_t count) {
    mc_text_bytes(text, "[", 1);
    for (int64_t i = 0; i < count; i++) {
        if (i)
            mc_text_bytes(text, ",", 1);
        mc_text_quoted(text, list[i]);
    }
    mc_text_bytes(text, "]", 1);
}

static void add_real(mc_text *text, double value) {
    if (isnan(value))
        mc_text_add(text, "nan");
    else if (isinf(value))
        mc_text_add(text, value > 0 ? "inf" : "-inf");
    else
        mc_text_number(text, value);
}

/* ,"key":"value" */
static void add_pair(mc_text *text, const char *key, const char *value) {
    mc_text_add(text, ",\"%s\":", key);
    mc_text_quoted(text, value);
}

/* ,"key":"value" where the value is itself JSON: the metadata of the format are texts only. inner is used up. */
static void add_inner(mc_text *text, const char *key, mc_text *inner) {
    char *value = NULL;
    const mercer_status status = mc_text_take(inner, &value);
    if (status)
        text->status = status;
    else
        add_pair(text, key, value);
    mc_free(value);
}

/* ---- Metadata ---- */

static void add_field(mc_text *text, const mc_field *field, const mercer_report *report) {
    const void *at = (const char *)report + field->offset;
    if (field->kind == MC_FIELD_WORD) {
        add_pair(text, field->name, *(const char *const *)at);
        return;
    }
    mc_text_add(text, ",\"%s\":\"", field->name);
    if (field->kind == MC_FIELD_COUNT)
        mc_text_add(text, "%lld", (long long)*(const int64_t *)at);
    else
        add_real(text, *(const double *)at);
    mc_text_bytes(text, "\"", 1);
}

static void add_list_pair(mc_text *text, const char *key, char *const *list, int64_t count) {
    if (!list)
        return;
    mc_text inner = mc_text_open(text->ctx);
    add_list(&inner, list, count);
    add_inner(text, key, &inner);
}

static void add_column(mc_text *text, const mc_column *column) {
    mc_text_add(text, "{\"kind\":\"%s\"", mc_column_kind_names[column->kind]);
    if (column->name)
        add_pair(text, "name", column->name);
    mc_text_add(text, ",\"mean\":\"");
    add_real(text, column->mean);
    mc_text_bytes(text, "\"", 1);
    if (column->level) {
        mc_text_add(text, ",\"levels\":");
        add_list(text, column->level, column->levels);
    }
    mc_text_bytes(text, "}", 1);
}

static void add_schema(mc_text *text, const mc_schema *schema) {
    mc_text inner = mc_text_open(text->ctx);
    mc_text_add(&inner, "{\"header\":%s,%s\"columns\":[", schema->header ? "true" : "false",
                schema->serial ? "\"serial\":true," : "");
    for (int64_t i = 0; i < schema->count; i++) {
        if (i)
            mc_text_bytes(&inner, ",", 1);
        add_column(&inner, &schema->column[i]);
    }
    mc_text_add(&inner, "]}");
    add_inner(text, "schema", &inner);
}

static void add_metadata(mc_text *text, const mercer_model *model) {
    const mercer_data *x = model->f.centres;
    mc_text_add(text, MC_FORMAT_BEGIN "%s" MC_FORMAT_MIDDLE "0000000000000000\"",
                x->used ? MC_FORMAT_COLUMNS : MC_FORMAT_VERSION);
    for (int i = 0; i < MC_FIELDS; i++)
        if (mc_report_fields[i].offset != offsetof(mercer_report, log_evidence_error)
            || model->f.report.log_evidence_error > 0) /* files without it are those of every other process */
            add_field(text, &mc_report_fields[i], &model->f.report);
    add_pair(text, "settings", model->settings);
    if (model->search)
        add_pair(text, "search", model->search);
    if (model->stages)
        add_pair(text, "stages", model->stages);
    add_pair(text, "kernel", model->f.kernel->text);
    add_pair(text, "form", mc_form_names[model->f.form]);
    if (model->f.row)
        add_pair(text, "row", "kept");
    if (model->f.by_distance)
        add_pair(text, "weighting", "distance");
    if (model->f.box)
        add_pair(text, "box", "kept");
    if (model->f.primal)
        mc_text_add(text, ",\"primal\":\"kept\",\"features\":\"%lld\"", (long long)model->f.features);
    add_pair(text, "layout", x->row_start ? "sparse" : "dense");
    add_pair(text, "precision", x->dtype == MERCER_F64 ? "F64" : "F32");
    mc_text_add(text, ",\"centres\":\"%lld\",\"stored\":\"%lld\"", (long long)x->n, (long long)mercer_data_stored(x));
    if (x->used)
        mc_text_add(text, ",\"kept\":\"%lld\"", (long long)x->d);
    add_list_pair(text, "labels", x->label, x->classes);
    add_list_pair(text, "names", x->name, x->d);
    add_list_pair(text, "targets", x->target_name, x->classes ? 1 : x->outputs);
    if (x->texts)
        add_list_pair(text, "strings", x->text, x->n * x->texts);
    if (x->texts && x->n == 0) /* then the list does not tell */
        mc_text_add(text, ",\"texts\":\"%lld\"", (long long)x->texts);
    add_schema(text, &x->schema);
    mc_text_bytes(text, "}", 1);
}

/* ---- The file ---- */

static void add_array(mc_text *text, const mc_array *a, size_t *offset) {
    const size_t end = *offset + mc_array_bytes(a);
    mc_text_add(text, ",\"%s\":{\"dtype\":\"%s\",\"shape\":[%lld", a->name, a->dtype, (long long)a->shape[0]);
    if (a->dims == 2)
        mc_text_add(text, ",%lld", (long long)a->shape[1]);
    mc_text_add(text, "],\"data_offsets\":[%zu,%zu]}", *offset, end);
    *offset = end;
}

/* Spaces at the end bring the arrays to a multiple of eight bytes. */
static mercer_status make_header(mercer_ctx *ctx, const mercer_model *model, const mc_array *arrays, char **out,
                                 size_t *length) {
    mc_text text = mc_text_open(ctx);
    size_t offset = 0;
    add_metadata(&text, model);
    for (int k = 0; k < MC_ARRAYS; k++)
        if (arrays[k].dtype)
            add_array(&text, &arrays[k], &offset);
    mc_text_bytes(&text, "}", 1);
    while (!text.status && text.length % 8)
        mc_text_bytes(&text, " ", 1);
    *length = (size_t)text.length;
    return mc_text_take(&text, out);
}

static void put_length(unsigned char bytes[8], uint64_t length) {
    for (int i = 0; i < 8; i++)
        bytes[i] = (unsigned char)(length >> 8 * i);
}

/* Sum everything, then write the sum into its place in the header. */
static void put_checksum(const mercer_model *model, const mc_array *arrays, const unsigned char *size, char *header,
                         size_t length) {
    mc_crc64 crc;
    mc_crc64_open(&crc);
    mc_crc64_add(&crc, size, 8);
    mc_crc64_add(&crc, header, length);
    for (int k = 0; k < MC_ARRAYS; k++)
        if (arrays[k].dtype)
            mc_crc64_add(&crc, mc_array_place(model, k), mc_array_bytes(&arrays[k]));
    char digits[MC_CHECKSUM_DIGITS + 1];
    mc_print(digits, sizeof digits, "%016llx", (unsigned long long)mc_crc64_value(&crc));
    memcpy(header + MC_CHECKSUM_PLACE, digits, MC_CHECKSUM_DIGITS);
}

/* A model as a file has it: eight bytes, the header, the arrays where they lie. */
typedef struct image {
    const mercer_model *model;
    mc_array arrays[MC_ARRAYS];
    unsigned char size[8];
    char *header;
    size_t length, bytes; /* of the header; of all arrays */
} image;

static mercer_status open_image(mercer_ctx *ctx, const mercer_model *model, image *out) {
    *out = (image){.model = model};
    const mc_model_shape shape = mc_model_shape_of(model);
    mc_model_arrays(&shape, out->arrays, &out->bytes); /* they lie in memory, so their size does not overflow */
    MC_TRY(make_header(ctx, model, out->arrays, &out->header, &out->length));
    put_length(out->size, out->length);
    put_checksum(model, out->arrays, out->size, out->header, out->length);
    return MERCER_OK;
}

/* The pieces of it in order, to a file or to memory. */
typedef mercer_status sink(mercer_ctx *ctx, void *to, const void *bytes, size_t size);

static mercer_status write_image(mercer_ctx *ctx, const image *m, sink *put, void *to) {
    MC_TRY(put(ctx, to, m->size, sizeof m->size));
    MC_TRY(put(ctx, to, m->header, m->length));
    for (int k = 0; k < MC_ARRAYS; k++)
        if (m->arrays[k].dtype)
            MC_TRY(put(ctx, to, mc_array_place(m->model, k), mc_array_bytes(&m->arrays[k])));
    return MERCER_OK;
}

static mercer_status put_to_file(mercer_ctx *ctx, void *to, const void *bytes, size_t size) {
    return mc_output_write(ctx, to, bytes, size);
}

static mercer_status put_to_memory(mercer_ctx *ctx, void *to, const void *bytes, size_t size) {
    (void)ctx;
    char **at = to;
    if (size)
        memcpy(*at, bytes, size);
    *at += size;
    return MERCER_OK;
}

static mercer_status save_image(mercer_ctx *ctx, const image *m, const char *path) {
    mc_output *output = NULL;
    MC_TRY(mc_output_open(ctx, path, &output));
    const mercer_status status = write_image(ctx, m, put_to_file, output);
    if (!status)
        return mc_output_commit(ctx, output);
    mc_output_abandon(output);
    return status;
}

mercer_status mercer_model_save(mercer_ctx *ctx, const mercer_model *model, const char *path) {
    MC_NEED(ctx, model, path);
    mc_begin_call(ctx);
    image m;
    MC_TRY(open_image(ctx, model, &m));
    const mercer_status status = save_image(ctx, &m, path);
    mc_free(m.header);
    return status;
}

mercer_status mercer_model_to_memory(mercer_ctx *ctx, const mercer_model *model, void *bytes, size_t capacity,
                                     size_t *size) {
    MC_NEED(ctx, model, size);
    mc_begin_call(ctx);
    image m;
    *size = 0;
    MC_TRY(open_image(ctx, model, &m));
    *size = sizeof m.size + m.length + m.bytes;
    char *at = bytes;
    mercer_status status = MERCER_OK;
    if (bytes && capacity < *size)
        status = mc_fail(ctx, MERCER_INVALID, "model: it takes %zu bytes and there is room for %zu", *size, capacity);
    else if (bytes)
        status = write_image(ctx, &m, put_to_memory, &at);
    mc_free(m.header);
    return status;
}
