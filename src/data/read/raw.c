/* raw.c: room for the cells of a file, what kinds of cells each column has, and how a cell is named in a message.

   A column with text and numbers is text when at least half of its cells are text, or when its numbers look like names
   of classes (whole, at most 20 distinct, at most a fifth of the rows); otherwise its first text cell is a mistake, and
   an error. So it is when that cell is a number but for its commas, such as 1,5: nobody means that as a name. */
#include "data/read/raw.h"
#include "base/ctx.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/parallel.h"
#include "base/print.h"
#include "base/status.h"
#include "data/encode/dict.h"
#include "data/encode/labels.h"
#include <stdarg.h>

static bool is_input(const mc_file_column *c) {
    return c->kind != MC_COLUMN_TARGET && c->kind != MC_COLUMN_WEIGHT;
}

static mercer_status allocate_rows(mercer_ctx *ctx, int64_t n, int64_t d, double **rows) {
    const size_t size = (size_t)d * sizeof **rows;
    double *grown = *rows ? mc_grow_block(ctx, *rows, n, size) : mc_alloc_unset(ctx, n, size);
    MC_TRY(grown ? MERCER_OK : MERCER_MEMORY);
    *rows = grown;
    return MERCER_OK;
}

mercer_status mc_raw_allocate(mercer_ctx *ctx, mc_raw *raw) {
    raw->dx = raw->dy = 0;
    for (int64_t k = 0; k < raw->used; k++) {
        const mc_file_column *c = &raw->column[raw->order[k]];
        raw->dx += is_input(c) && !c->skip;
        raw->dy += !is_input(c) && !c->skip;
    }
    MC_TRY(allocate_rows(ctx, raw->n, raw->dx, &raw->x));
    MC_TRY(allocate_rows(ctx, raw->n, raw->dy, &raw->y));
    double *x = raw->x, *y = raw->y;
    for (int64_t k = 0; k < raw->used; k++) {
        mc_file_column *c = &raw->column[raw->order[k]];
        if (c->skip)
            continue;
        c->cell = is_input(c) ? x++ : y++;
        c->stride = is_input(c) ? raw->dx : raw->dy;
    }
    return MERCER_OK;
}

void mc_raw_close(mc_raw *raw) {
    for (int64_t j = 0; raw->column && j < raw->columns; j++) {
        mc_free(raw->column[j].name);
        mc_free(raw->column[j].level);
    }
    mc_free(raw->column);
    mc_free(raw->order);
    mc_free(raw->origin);
    mc_free(raw->unused);
    mc_free(raw->x);
    mc_free(raw->y);
    *raw = (mc_raw){0};
}

mc_cell mc_raw_cell(const mc_raw *raw, const mc_file_column *column, int64_t row) {
    mc_cell cell;
    const char *place = raw->input->bytes + mc_cell_place(column->cell[row * column->stride]);
    mc_cell_scan(place, raw->lines->end, raw->delimiter, &cell);
    return cell;
}

/* Where the cell of this row and column begins in the text. */
static const char *place_of(const mc_raw *raw, int64_t row, int64_t column) {
    const char *p = mc_record_at(raw->lines, row + raw->header);
    mc_cell cell;
    for (int64_t j = 0; j < column; j++)
        p = mc_cell_scan(p, raw->lines->end, raw->delimiter, &cell) + 1;
    while (*p == ' ')
        p++;
    return p;
}

mercer_status mc_raw_fail(mercer_ctx *ctx, const mc_raw *raw, int64_t row, int64_t column, const char *format, ...) {
    char sentence[MC_MESSAGE_SIZE];
    va_list args;
    va_start(args, format);
    mc_vprint(sentence, sizeof sentence, format, args);
    va_end(args);
    const mc_title title = mc_column_title(raw, column);
    row = raw->origin ? raw->origin[row] : row;
    if (!raw->lines)
        return mc_fail_at(ctx, MERCER_DATA, row + 1, "%s, row %lld, %s: %s", raw->input->name, (long long)row + 1,
                          title.text, sentence);
    const int64_t line = mc_line_of(raw->input, place_of(raw, row, column));
    return mc_fail_at(ctx, MERCER_DATA, line, "%s, line %lld, %s: %s", raw->input->name, (long long)line, title.text,
                      sentence);
}

static void count_kinds(const mc_raw *raw, mc_file_column *c) {
    int64_t count[MC_CELL_KINDS] = {0};
    for (int64_t i = 0; i < raw->n; i++)
        count[mc_cell_kind_of(c->cell[i * c->stride])]++;
    c->numbers = count[MC_CELL_NUMBER];
    c->missing = count[MC_CELL_MISSING];
    c->infinite = count[MC_CELL_INFINITE];
    c->texts = count[MC_CELL_TEXT];
    c->longs = count[MC_CELL_LONG];
}

static void count_column(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk, (void)thread;
    mc_raw *raw = arg;
    for (int64_t j = begin; j < end; j++) {
        mc_file_column *c = &raw->column[j];
        c->longs = 0;
        if (c->special)
            count_kinds(raw, c);
        else
            c->numbers = raw->n;
    }
}

/* Whether the numbers of a mixed column look like names of classes. */
static mercer_status numbers_are_names(mercer_ctx *ctx, const mc_raw *raw, const mc_file_column *c, bool *yes) {
    double *value = NULL;
    MC_TRY(MC_ALLOC(ctx, value, c->numbers));
    int64_t count = 0;
    for (int64_t i = 0; i < raw->n; i++)
        if (mc_cell_kind_of(c->cell[i * c->stride]) == MC_CELL_NUMBER)
            value[count++] = c->cell[i * c->stride];
    *yes = mc_numbers_look_like_classes(value, count);
    mc_free(value);
    return MERCER_OK;
}

static bool first_text_has_commas(const mc_raw *raw, const mc_file_column *c) {
    for (int64_t i = 0; i < raw->n; i++)
        if (mc_cell_kind_of(c->cell[i * c->stride]) == MC_CELL_TEXT) {
            const mc_cell cell = mc_raw_cell(raw, c, i);
            return mc_cell_has_commas(&cell);
        }
    return false;
}

/* Numbers that their doubles would not tell apart, as numbers all the same. */
static void round_longs(const mc_raw *raw, mc_file_column *c) {
    for (int64_t i = 0; i < raw->n && c->longs; i++) {
        double *cell = &c->cell[i * c->stride];
        if (mc_cell_kind_of(*cell) != MC_CELL_LONG)
            continue;
        const mc_cell text = mc_raw_cell(raw, c, i);
        mc_number_read(text.begin, text.end, cell);
    }
    c->numbers += c->longs;
}

/* Names of classes that are numbers are kept as text where some of them would become one as doubles. */
static mercer_status longs_are_names(mercer_ctx *ctx, const mc_raw *raw, mc_file_column *c, bool *yes) {
    *yes = false;
    if (c->longs == 0)
        return MERCER_OK;
    round_longs(raw, c);
    *yes = c->classes;
    return *yes ? MERCER_OK : numbers_are_names(ctx, raw, c, yes);
}

static mercer_status becomes_text(mercer_ctx *ctx, const mc_reading *reading, const mc_raw *raw,
                                  const mc_file_column *c, bool *yes) {
    *yes = false;
    if (c->text || c->texts == 0 || c->number)
        return MERCER_OK;
    const bool classes =
        c->kind == MC_COLUMN_TARGET && (reading->set->kind == MERCER_TARGET_CLASS || reading->classes > 0);
    if (!classes && first_text_has_commas(raw, c))
        return MERCER_OK;
    *yes = classes || c->texts >= c->numbers;
    return *yes ? MERCER_OK : numbers_are_names(ctx, raw, c, yes);
}

/* ---- Free text ---- */

/* A column of text is free where its values are more than these, and more than a tenth of the rows: as levels they
   would say little of rows to come. */
enum { LEVELS_MOST = 50, ROWS_A_LEVEL = 10 };

bool mc_read_finds_text(const mercer_read *set) {
    return set->text && strcmp(set->text, "*") == 0;
}

static mercer_status count_values(const mc_raw *raw, const mc_file_column *c, int64_t most, mc_dict *dict) {
    for (int64_t i = 0; i < raw->n && dict->count <= most; i++) {
        int64_t id;
        if (mc_cell_kind_of(c->cell[i * c->stride]) != MC_CELL_TEXT)
            continue;
        const mc_cell cell = mc_raw_cell(raw, c, i);
        MC_TRY(mc_dict_add(dict, cell.begin, cell.end - cell.begin, &id));
    }
    return MERCER_OK;
}

static mercer_status is_free_text(mercer_ctx *ctx, const mc_raw *raw, const mc_file_column *c, bool *yes) {
    const int64_t share = raw->n / ROWS_A_LEVEL, most = share > LEVELS_MOST ? share : LEVELS_MOST;
    mc_dict dict = mc_dict_open(ctx);
    const mercer_status status = count_values(raw, c, most, &dict);
    *yes = dict.count > most;
    mc_dict_close(&dict);
    return status;
}

/* Cells of kept text begin elsewhere, before their spaces: they are read again. */
static mercer_status find_free_text(mercer_ctx *ctx, const mc_reading *reading, mc_raw *raw, bool *again) {
    for (int64_t j = 0; j < raw->columns && !reading->schema && mc_read_finds_text(reading->set); j++) {
        mc_file_column *c = &raw->column[j];
        bool yes = false;
        if (c->cell && c->kind == MC_COLUMN_LEVELS)
            MC_TRY(is_free_text(ctx, raw, c, &yes));
        if (yes)
            c->kind = MC_COLUMN_TEXT;
        *again |= yes;
    }
    return MERCER_OK;
}

mercer_status mc_raw_classify(mercer_ctx *ctx, const mc_reading *reading, mc_raw *raw, bool *again) {
    *again = false;
    MC_TRY(mc_for(ctx, raw->columns, 1, count_column, raw));
    for (int64_t j = 0; j < raw->columns; j++) {
        mc_file_column *c = &raw->column[j];
        bool text = false;
        MC_TRY(longs_are_names(ctx, raw, c, &text));
        if (!text)
            MC_TRY(becomes_text(ctx, reading, raw, c, &text));
        if (!text)
            continue;
        *again |= c->numbers > 0 || c->infinite > 0;
        c->text = true;
        if (c->kind == MC_COLUMN_NUMBER)
            c->kind = MC_COLUMN_LEVELS;
    }
    return *again ? MERCER_OK : find_free_text(ctx, reading, raw, again);
}
