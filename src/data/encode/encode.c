/* encode.c: text in the cells of a file. A column of levels gets the sorted list of its distinct strings, and each cell
   the place of its own; a missing cell stays missing. Columns of kept text become strings of the data. */
#include "base/memory.h"
#include "base/status.h"
#include "base/suggest.h"
#include "data/encode/dict.h"
#include "data/encode/labels.h"
#include "data/read/raw.h"
#include "data/table/strings.h"
#include "base/number.h"

/* The number of the string in a cell: added to the dictionary, or looked up and -1 when it is not there. */
static mercer_status cell_id(const mc_raw *raw, const mc_file_column *c, int64_t i, mc_dict *dict, mc_text *text,
                             bool add, int64_t *id) {
    const mc_cell cell = mc_raw_cell(raw, c, i);
    const char *bytes = cell.begin;
    int64_t length = cell.end - cell.begin;
    if (cell.quoted) {
        mc_cell_text(&cell, text);
        MC_TRY(text->status);
        bytes = text->bytes;
        length = text->length;
    }
    if (add)
        return mc_dict_add(dict, bytes, length, id);
    *id = mc_dict_find(dict, bytes, length);
    return MERCER_OK;
}

static mercer_status fail_unseen(mercer_ctx *ctx, const mc_raw *raw, int64_t i, int64_t j, char *const *known,
                                 int64_t count, const char *what) {
    const mc_cell cell = mc_raw_cell(raw, &raw->column[j], i);
    const mc_quote seen = mc_quote_of(cell.begin, cell.end - cell.begin);
    const char *near =
        mc_suggest_name(cell.begin, (size_t)(cell.end - cell.begin), (const char *const *)known, (long)count);
    if (near)
        return mc_raw_fail(ctx, raw, i, j, "'%s' is a %s the model has not seen; did you mean '%s'?", seen.text, what,
                           mc_quote_of(near, (int64_t)strlen(near)).text);
    return mc_raw_fail(ctx, raw, i, j, "'%s' is a %s the model has not seen; it knows %lld, such as '%s'", seen.text,
                       what, (long long)count, count ? mc_quote_of(known[0], (int64_t)strlen(known[0])).text : "");
}

/* Cells to numbers of the dictionary; known: its strings when no new one may appear. */
static mercer_status number_cells(mercer_ctx *ctx, const mc_raw *raw, int64_t j, mc_dict *dict, char *const *known,
                                  const char *what) {
    const mc_file_column *c = &raw->column[j];
    mc_text text = mc_text_open(ctx);
    mercer_status status = MERCER_OK;
    for (int64_t i = 0; i < raw->n && !status; i++) {
        double *cell = &c->cell[i * c->stride];
        int64_t id = -1;
        if (mc_cell_kind_of(*cell) != MC_CELL_TEXT)
            continue; /* missing, and so it stays */
        status = cell_id(raw, c, i, dict, &text, !known, &id);
        if (!status && id < 0)
            status = fail_unseen(ctx, raw, i, j, known, dict->count, what);
        if (!status)
            *cell = (double)id;
    }
    mc_text_close(&text);
    return status;
}

static mercer_status encode_afresh(mercer_ctx *ctx, const mc_raw *raw, int64_t j, mc_dict *dict) {
    mc_file_column *c = &raw->column[j];
    MC_TRY(number_cells(ctx, raw, j, dict, NULL, "value"));
    int64_t *rank = NULL;
    MC_TRY(MC_ALLOC(ctx, rank, dict->count));
    const mercer_status status = mc_dict_sorted(dict, &c->level, rank);
    for (int64_t i = 0; i < raw->n && !status; i++) {
        double *cell = &c->cell[i * c->stride];
        if (mc_cell_kind_of(*cell) == MC_CELL_NUMBER)
            *cell = (double)rank[(int64_t)*cell];
    }
    c->levels = status ? 0 : dict->count;
    mc_free(rank);
    return status;
}

static mercer_status encode_known(mercer_ctx *ctx, const mc_raw *raw, int64_t j, mc_dict *dict, char *const *known,
                                  int64_t count, const char *what) {
    mc_file_column *c = &raw->column[j];
    for (int64_t k = 0; k < count; k++) {
        int64_t id = 0;
        MC_TRY(mc_dict_add(dict, known[k], (int64_t)strlen(known[k]), &id));
    }
    MC_TRY(number_cells(ctx, raw, j, dict, known, what));
    c->level = mc_strings_copy(ctx, (const char *const *)known, count);
    c->levels = count;
    return c->level ? MERCER_OK : MERCER_MEMORY;
}

static mercer_status encode_column(mercer_ctx *ctx, const mc_reading *reading, const mc_raw *raw, int64_t j) {
    const mc_file_column *c = &raw->column[j];
    mc_dict dict = mc_dict_open(ctx);
    mercer_status status = MERCER_OK;
    if (c->kind == MC_COLUMN_LEVELS)
        status = c->like ? encode_known(ctx, raw, j, &dict, c->like->level, c->like->levels, "value")
                         : encode_afresh(ctx, raw, j, &dict);
    else
        status = reading->classes ? encode_known(ctx, raw, j, &dict, reading->labels, reading->classes, "class")
                                  : encode_afresh(ctx, raw, j, &dict);
    mc_dict_close(&dict);
    return status;
}

/* A target of numbers whose values are known classes. */
static mercer_status encode_numbers(mercer_ctx *ctx, const mc_reading *reading, const mc_raw *raw, int64_t j) {
    mc_file_column *c = &raw->column[j];
    int64_t bad = -1;
    MC_TRY(mc_classes_known(ctx, reading->labels, reading->classes, c->cell, raw->n, c->stride, &bad));
    char text[32];
    if (bad >= 0)
        return mc_raw_fail(ctx, raw, bad, j, "%s is a class the model has not seen; it knows %lld, such as '%s'",
                           mc_number_text(c->cell[bad * c->stride], text), (long long)reading->classes,
                           reading->labels[0]);
    c->level = mc_strings_copy(ctx, (const char *const *)reading->labels, reading->classes);
    c->levels = reading->classes;
    c->text = true;
    return c->level ? MERCER_OK : MERCER_MEMORY;
}

mercer_status mc_raw_encode(mercer_ctx *ctx, const mc_reading *reading, mc_raw *raw) {
    for (int64_t j = 0; j < raw->columns; j++) {
        const mc_file_column *c = &raw->column[j];
        if (c->cell && c->text && c->kind != MC_COLUMN_TEXT)
            MC_TRY(encode_column(ctx, reading, raw, j));
        else if (c->cell && c->kind == MC_COLUMN_TARGET && reading->classes > 0)
            MC_TRY(encode_numbers(ctx, reading, raw, j));
    }
    return MERCER_OK;
}

static bool is_kept(const mc_raw *raw, int64_t k) {
    return raw->column[raw->order[k]].kind == MC_COLUMN_TEXT;
}

static mc_cell kept_cell(const mc_raw *raw, int64_t k, int64_t row) {
    const mc_cell cell = mc_raw_cell(raw, &raw->column[raw->order[k]], row);
    return mc_cell_untrimmed(&cell);
}

mercer_status mc_raw_keep_text(mercer_ctx *ctx, const mc_raw *raw, mercer_data *data) {
    int64_t bytes = 0;
    for (int64_t k = 0; k < raw->used; k++) {
        data->texts += is_kept(raw, k);
        for (int64_t i = 0; is_kept(raw, k) && i < raw->n; i++) {
            const mc_cell cell = kept_cell(raw, k, i);
            bytes += cell.end - cell.begin + 1;
        }
    }
    if (data->texts == 0)
        return MERCER_OK;
    char *next = NULL, **string = data->text = mc_strings_new(ctx, raw->n * data->texts, bytes, &next);
    for (int64_t i = 0; string && i < raw->n; i++)
        for (int64_t k = 0; k < raw->used; k++) {
            if (!is_kept(raw, k))
                continue;
            const mc_cell cell = kept_cell(raw, k, i);
            *string++ = next;
            next += mc_cell_copy(&cell, next) + 1;
        }
    return data->text ? MERCER_OK : MERCER_MEMORY;
}
