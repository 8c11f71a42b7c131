/* write.c: data as CSV: a header, then the input columns, kept text, weights and the target, in that order. What could
   be misread is quoted: delimiters, quotes, newlines, spaces at the ends, and words that stand for missing values. */
#include "base/ctx.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/progress.h"
#include "base/status.h"
#include "base/text.h"
#include "data/csv/cell.h"
#include "data/table/columns.h"

enum { FLUSH_BYTES = 1 << 20 };

typedef struct writing {
    const mercer_data *data;
    mc_output *output;
    mc_text text;
    double *row; /* a value for each column */
} writing;

static bool needs_quotes(const char *text) {
    const size_t length = strlen(text);
    const mc_cell cell = {.begin = text, .end = text + length};
    double value;
    return strpbrk(text, ",;\t\"\r\n") || length == 0 || text[0] == ' ' || text[length - 1] == ' '
           || mc_cell_read(&cell, &value) == MC_CELL_MISSING;
}

static void add_cell(mc_text *out, const char *text) {
    if (!needs_quotes(text)) {
        mc_text_bytes(out, text, (int64_t)strlen(text));
        return;
    }
    mc_text_bytes(out, "\"", 1);
    for (; *text; text++)
        mc_text_bytes(out, *text == '"' ? "\"\"" : text, *text == '"' ? 2 : 1);
    mc_text_bytes(out, "\"", 1);
}

static void add_comma(mc_text *out, bool *first) {
    if (!*first)
        mc_text_bytes(out, ",", 1);
    *first = false;
}

/* The name of the k-th text column kept: the file's, where there was a header. */
static const char *text_name(const mercer_data *data, int64_t k) {
    for (int64_t j = 0; j < data->schema.count; j++)
        if (data->schema.column[j].kind == MC_COLUMN_TEXT && k-- == 0)
            return data->schema.column[j].name;
    return NULL;
}

static void add_header(mc_text *out, const mercer_data *data) {
    bool first = true;
    for (int64_t j = 0; j < mc_data_width(data); j++) {
        add_comma(out, &first);
        if (data->name || data->numbered)
            add_cell(out, mercer_data_column_name(data, j));
        else
            mc_text_add(out, "x%lld", (long long)j + 1);
    }
    for (int64_t k = 0; k < data->texts; k++) {
        add_comma(out, &first);
        const char *name = text_name(data, k);
        if (name)
            add_cell(out, name);
        else
            mc_text_add(out, "text%lld", (long long)k + 1);
    }
    if (data->weight) {
        add_comma(out, &first);
        add_cell(out, "weight");
    }
    for (int64_t k = 0; k < (data->classes ? 1 : data->outputs); k++) {
        add_comma(out, &first);
        add_cell(out, mercer_data_target_name(data, k));
    }
    mc_text_bytes(out, "\n", 1);
}

static void add_number(mc_text *out, double value, bool *first) {
    add_comma(out, first);
    mc_text_number(out, value);
}

static void add_row(const writing *w, mc_text *out, int64_t i) {
    const mercer_data *data = w->data;
    bool first = true;
    mercer_data_row(data, i, w->row);
    for (int64_t j = 0; j < mc_data_width(data); j++)
        add_number(out, w->row[j], &first);
    for (int64_t k = 0; k < data->texts; k++) {
        add_comma(out, &first);
        add_cell(out, data->text[i * data->texts + k]);
    }
    if (data->weight)
        add_number(out, data->weight[i], &first);
    if (data->class_of) {
        add_comma(out, &first);
        add_cell(out, data->label[data->class_of[i]]);
    }
    for (int64_t k = 0; k < data->outputs; k++)
        add_number(out, data->target[i * data->outputs + k], &first);
    mc_text_bytes(out, "\n", 1);
}

static mercer_status flush_text(mercer_ctx *ctx, writing *w) {
    MC_TRY(w->text.status);
    MC_TRY(mc_output_write(ctx, w->output, w->text.bytes, (size_t)w->text.length));
    w->text.length = 0;
    return MERCER_OK;
}

static mercer_status write_rows(mercer_ctx *ctx, writing *w) {
    mc_begin_phase(ctx, "write");
    add_header(&w->text, w->data);
    for (int64_t i = 0; i < w->data->n; i++) {
        add_row(w, &w->text, i);
        if (w->text.length < FLUSH_BYTES && !w->text.status)
            continue;
        MC_TRY(flush_text(ctx, w));
        MC_TRY(mc_report_progress(ctx, (double)i / (double)w->data->n));
    }
    return flush_text(ctx, w);
}

mercer_status mercer_data_write(mercer_ctx *ctx, const mercer_data *data, const char *path) {
    MC_NEED(ctx, data);
    mc_begin_call(ctx);
    writing w = {.data = data, .text = mc_text_open(ctx)};
    MC_TRY(MC_ALLOC(ctx, w.row, mc_data_width(data)));
    mercer_status status = mc_output_open(ctx, path ? path : "-", &w.output);
    if (!status) {
        status = write_rows(ctx, &w);
        if (status)
            mc_output_abandon(w.output);
        else
            status = mc_output_commit(ctx, w.output);
    }
    mc_text_close(&w.text);
    mc_free(w.row);
    return status;
}
