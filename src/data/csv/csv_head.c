/* csv_head.c: what the first records of CSV text tell: the delimiter, the number of columns, whether the first record
   is a header, and which columns hold text.

   Delimiter: the first of tab, semicolon and comma that stands equally often, and at least once, in each of the first
   ten records (outside quotes); otherwise the comma. A name ending in .tsv settles it.

   Header: the first record is one when none of its cells is a number and
     - some column has text there and numbers in the records after it, or
     - no column has numbers, its cells are distinct and none of them occurs again in its own column, or
     - a column is asked for by a name that stands there.
   Judged on the first thousand records (fewer when they are very wide). */
#include "base/memory.h"
#include "base/status.h"
#include "data/csv/csv.h"
#include "data/encode/labels.h"
#include <stdio.h>

enum { DELIMITER_RECORDS = 10, SAMPLE_RECORDS = 1000, SAMPLE_CELLS = 1 << 20, TITLES_COMPARED = 1000 };

/* How often c stands in the record at p outside quotes. */
static int64_t count_outside(const mc_lines *lines, const char *p, char c) {
    const char *end = mc_record_end(lines, p);
    int64_t count = 0;
    bool inside = false;
    for (; p < end; p++) {
        inside ^= *p == '"';
        count += *p == c && !inside;
    }
    return count;
}

static bool is_delimiter(const mc_lines *lines, char c) {
    const char *p = mc_record_skip(lines, lines->begin);
    const int64_t count = count_outside(lines, p, c);
    for (int k = 1; k < DELIMITER_RECORDS && p < lines->end; k++) {
        p = mc_record_skip(lines, mc_record_end(lines, p));
        if (p < lines->end && count_outside(lines, p, c) != count)
            return false;
    }
    return count > 0;
}

static bool ends_with(const char *name, const char *ending) {
    const size_t n = strlen(name), k = strlen(ending);
    return n >= k && strcmp(name + n - k, ending) == 0;
}

char mc_csv_delimiter(const mc_lines *lines, const char *name) {
    static const char candidates[] = {'\t', ';', ','};
    if (ends_with(name, ".tsv") || ends_with(name, ".tsv.gz"))
        return '\t';
    for (size_t i = 0; i < sizeof candidates; i++)
        if (is_delimiter(lines, candidates[i]))
            return candidates[i];
    return ',';
}

int64_t mc_csv_count(const mc_raw *raw, const char *p) {
    int64_t count = 1;
    mc_cell cell;
    for (p = mc_cell_scan(p, raw->lines->end, raw->delimiter, &cell); *p == raw->delimiter && !cell.fault; count++)
        p = mc_cell_scan(p + 1, raw->lines->end, raw->delimiter, &cell);
    return count;
}

mercer_status mc_csv_fail_ragged(mercer_ctx *ctx, const mc_raw *raw, const char *record) {
    const bool comment = *mc_record_at(raw->lines, 0) == '#';
    return mc_fail_line(ctx, raw->input, record, "%lld %s where the first record has %lld%s",
                        (long long)mc_csv_count(raw, record), mc_csv_count(raw, record) == 1 ? "field" : "fields",
                        (long long)raw->columns,
                        comment ? "; that one begins with #: CSV has no lines of comment, so take them out" : "");
}

mercer_status mc_csv_fail_cell(mercer_ctx *ctx, const mc_raw *raw, const mc_cell *cell) {
    static const char *const sentence[] = {
        [MC_CELL_STRAY_QUOTE] = "a double quote stands inside a field that does not begin with one; quote the whole "
                                "field and double the quotes inside",
        [MC_CELL_OPEN_QUOTE] = "the double quote that opens here is never closed",
        [MC_CELL_RETURN] = "a carriage return stands inside a field; where lines end with carriage returns alone, "
                           "replace them by newlines (tr '\\r' '\\n')",
        [MC_CELL_AFTER_QUOTE] = "text follows the closing double quote; a quote inside a quoted field is written twice",
    };
    return mc_fail_line(ctx, raw->input, cell->begin, "%s", sentence[cell->fault]);
}

/* What a column of the first records holds. */
typedef struct glance {
    mc_cell first; /* in the first record */
    mc_cell_kind first_kind;
    bool repeats;                   /* the first cell occurs again */
    int64_t numbers, texts, others; /* below the first record */
} glance;

typedef struct record_sample {
    int64_t records, rows; /* rows: below the first record */
    glance *column;
    double *value; /* columns x records: the numbers of a column, in order */
} record_sample;

static bool same_cell(const mc_cell *a, const mc_cell *b) {
    const int64_t length = a->end - a->begin;
    return length == b->end - b->begin && memcmp(a->begin, b->begin, (size_t)length) == 0;
}

static void sample_cell(record_sample *s, int64_t record, int64_t j, const mc_cell *cell) {
    glance *g = &s->column[j];
    double value = 0;
    const mc_cell_kind kind = mc_cell_read(cell, &value);
    if (record == 0) {
        g->first = *cell;
        g->first_kind = kind;
        return;
    }
    g->repeats |= same_cell(cell, &g->first);
    if (kind == MC_CELL_NUMBER)
        s->value[j * s->records + g->numbers++] = value;
    g->texts += kind == MC_CELL_TEXT && !mc_cell_has_commas(cell);
    g->others += kind == MC_CELL_MISSING || kind == MC_CELL_INFINITE;
}

static mercer_status look_at_record(mercer_ctx *ctx, const mc_raw *raw, record_sample *s, int64_t record,
                                    const char *p) {
    for (int64_t j = 0; j < raw->columns; j++) {
        mc_cell cell;
        const char *stop = mc_cell_scan(p, raw->lines->end, raw->delimiter, &cell);
        if (cell.fault)
            return mc_csv_fail_cell(ctx, raw, &cell);
        if ((*stop != raw->delimiter) != (j == raw->columns - 1))
            return mc_csv_fail_ragged(ctx, raw, mc_record_at(raw->lines, record));
        sample_cell(s, record, j, &cell);
        p = stop + 1;
    }
    return MERCER_OK;
}

static mercer_status take_sample(mercer_ctx *ctx, const mc_raw *raw, record_sample *s) {
    const char *p = mc_record_at(raw->lines, 0);
    for (int64_t i = 0; i < s->records; i++) {
        MC_TRY(look_at_record(ctx, raw, s, i, p));
        p = mc_record_skip(raw->lines, mc_record_end(raw->lines, p));
    }
    s->rows = s->records - 1;
    return MERCER_OK;
}

static int64_t count_numbers_first(const mc_raw *raw, const record_sample *s) {
    int64_t count = 0;
    for (int64_t j = 0; j < raw->columns; j++)
        count += s->column[j].first_kind == MC_CELL_NUMBER || s->column[j].first_kind == MC_CELL_INFINITE;
    return count;
}

/* Columns of numbers under text, which is not one of them. */
static int64_t count_text_over_numbers(const mc_raw *raw, const record_sample *s) {
    int64_t count = 0;
    for (int64_t j = 0; j < raw->columns; j++) {
        const glance *g = &s->column[j];
        count += g->first_kind == MC_CELL_TEXT && g->numbers > 0 && g->texts == 0;
    }
    return count;
}

/* No numbers below, and the first record stands out from every column. A record of text alone, read afresh, is a header
 * without rows. */
static bool only_text_with_titles(const mc_raw *raw, const record_sample *s, bool afresh) {
    for (int64_t j = 0; j < raw->columns; j++) {
        const glance *g = &s->column[j];
        if (g->numbers > 0 || g->repeats || g->first_kind != MC_CELL_TEXT)
            return false;
        for (int64_t k = 0; k < j && j < TITLES_COMPARED; k++)
            if (same_cell(&g->first, &s->column[k].first))
                return false;
    }
    return s->rows > 0 || afresh;
}

static bool has_title(const mc_raw *raw, const record_sample *s, const char *name, size_t length) {
    const mc_cell wanted = {.begin = name, .end = name + length};
    for (int64_t j = 0; j < raw->columns && length; j++)
        if (same_cell(&s->column[j].first, &wanted))
            return true;
    return false;
}

/* Whether the list, or one of the names in it between commas, stands in the first record. */
static bool names_a_column(const mc_raw *raw, const record_sample *s, const char *list) {
    if (!list || has_title(raw, s, list, strlen(list)))
        return list != NULL;
    for (const char *p = list; *p;) {
        const size_t length = strcspn(p, ",");
        if (has_title(raw, s, p, length))
            return true;
        p += length + (p[length] == ',');
    }
    return false;
}

static bool named_by_schema(const mc_raw *raw, const record_sample *s, const mc_schema *schema) {
    for (int64_t k = 0; schema && k < schema->count; k++) {
        const char *name = schema->column[k].name;
        if (name && has_title(raw, s, name, strlen(name)))
            return true;
    }
    return false;
}

/* Names may be numbers, such as years: then most must stand out. */
static bool is_header(const mc_raw *raw, const record_sample *s, const mc_reading *reading) {
    const int64_t numbers = count_numbers_first(raw, s), titles = count_text_over_numbers(raw, s);
    if (reading->set->header != MERCER_HEADER_AUTO)
        return reading->set->header == MERCER_HEADER_YES;
    if (numbers > 0)
        return titles > numbers;
    return titles > 0 || only_text_with_titles(raw, s, !reading->schema) || names_a_column(raw, s, reading->set->target)
           || names_a_column(raw, s, reading->set->weights) || names_a_column(raw, s, reading->set->text)
           || named_by_schema(raw, s, reading->schema);
}

static mercer_status keep_names(mercer_ctx *ctx, mc_raw *raw, const record_sample *s) {
    mc_text text = mc_text_open(ctx);
    mercer_status status = MERCER_OK;
    for (int64_t j = 0; j < raw->columns && !status; j++) {
        if (s->column[j].first.begin == s->column[j].first.end)
            continue;
        mc_cell_text(&s->column[j].first, &text);
        status = text.status;
        if (!status && !(raw->column[j].name = mc_copy_text(ctx, text.bytes, (size_t)text.length)))
            status = MERCER_MEMORY;
    }
    mc_text_close(&text);
    return status;
}

/* Text when at least half of the cells are, or when the numbers among them look like names of classes too. */
static void guess_text(mc_raw *raw, record_sample *s) {
    for (int64_t j = 0; j < raw->columns; j++) {
        glance *g = &s->column[j];
        if (!raw->header) {
            g->texts += g->first_kind == MC_CELL_TEXT && !mc_cell_has_commas(&g->first);
            if (g->first_kind == MC_CELL_NUMBER)
                mc_cell_read(&g->first, &s->value[j * s->records + g->numbers++]);
        }
        raw->column[j].text =
            g->texts > 0
            && (g->texts >= g->numbers || mc_numbers_look_like_classes(s->value + j * s->records, g->numbers));
    }
}

mercer_status mc_csv_head(mercer_ctx *ctx, const mc_reading *reading, mc_raw *raw) {
    const int64_t wide = SAMPLE_CELLS / raw->columns, most = wide < SAMPLE_RECORDS ? wide + 2 : SAMPLE_RECORDS;
    record_sample s = {.records = raw->lines->rows < most ? raw->lines->rows : most};
    mercer_status status = MERCER_MEMORY;
    if (MC_ALLOC(ctx, s.column, raw->columns) == MERCER_OK
        && MC_ALLOC(ctx, s.value, raw->columns * s.records) == MERCER_OK)
        status = take_sample(ctx, raw, &s);
    if (!status) {
        raw->header = is_header(raw, &s, reading);
        guess_text(raw, &s);
    }
    if (!status && raw->header)
        status = keep_names(ctx, raw, &s);
    mc_free(s.column);
    mc_free(s.value);
    return status;
}
