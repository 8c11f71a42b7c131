/* libsvm_text.c: LIBSVM text to CSR, in parallel.

   Every pair has one colon, so the colons of a piece of the text bound its values: each piece writes to its own
   stretch, and the stretches are then moved together. "qid:5" is read over, zeros are not stored, a comment runs from #
   to the end of the line.

   The data stay CSR when less than a quarter of the cells are non-zero; otherwise they become dense. */
#include "data/libsvm/libsvm_text.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/number_fast.h"
#include "base/parallel.h"
#include "base/status.h"
#include "data/encode/labels.h"
#include "data/read/gram_rows.h"
#include "data/read/raw.h"
#include "data/table/columns.h"
#include "data/table/strings.h"
#include <float.h>
#include <math.h>

enum { LOOK_LINES = 10, ROW_GRAIN = 1024 };
static const double dense_from = 0.25; /* share of non-zero cells */

static bool is_space(char c) {
    return c == ' ' || c == '\t' || c == '\r';
}

static bool is_end(char c) {
    return c == '\n' || c == '#';
}

static const char *skip_spaces(const char *p) {
    while (is_space(*p))
        p++;
    return p;
}

static mc_lines lines_of(const mc_input *input) {
    const bool mark = input->size >= 3 && memcmp(input->bytes, "\xef\xbb\xbf", 3) == 0;
    input->bytes[input->size] = '\n'; /* in the padding: every line ends */
    return (mc_lines){
        .begin = input->bytes + (mark ? 3 : 0), .end = input->bytes + input->size, .comment = '#', .counted = ':'};
}

/* A token of the form index:value or qid:value. */
static bool looks_like_pair(const char *p, const char *end) {
    const char *colon = p;
    double value;
    while (*colon >= '0' && *colon <= '9')
        colon++;
    if (colon == p && strncmp(p, "qid", 3) == 0)
        colon += 3;
    const char *after = colon > p && *colon == ':' ? mc_number_read(colon + 1, end, &value) : NULL;
    return after && (is_space(*after) || is_end(*after));
}

/* A label or several, then pairs or nothing; *pairs: whether there was one. */
static bool looks_like_line(const char *p, const char *end, bool *pairs) {
    double value;
    p = mc_number_read(skip_spaces(p), end, &value);
    while (p && *p == ',')
        p = mc_number_read(p + 1, end, &value);
    if (!p || !(is_space(*p) || is_end(*p)))
        return false;
    p = skip_spaces(p);
    if (is_end(*p))
        return true;
    *pairs = true;
    return looks_like_pair(p, end);
}

bool mc_libsvm_looks(const mc_input *input) {
    const mc_lines lines = lines_of(input);
    bool pairs = false;
    const char *p = mc_record_skip(&lines, lines.begin);
    for (int k = 0; k < LOOK_LINES && p < lines.end; k++) {
        if (!looks_like_line(p, lines.end, &pairs))
            return false;
        p = mc_record_skip(&lines, mc_record_end(&lines, p));
    }
    return pairs;
}

/* ---- What one line says ---- */

typedef enum fault {
    NO_FAULT,
    NO_LABEL,
    MANY_LABELS,
    BAD_LABEL,
    BAD_INDEX,
    ZERO_INDEX,
    BIG_INDEX,
    BEYOND,
    NOT_INCREASING,
    NO_VALUE,
    BAD_VALUE,
    NOT_FINITE,
    NOT_FLOAT,
} fault;

typedef struct piece {
    fault fault;
    const char *place;   /* of the fault */
    const char *rounded; /* the first label that its double does not tell from others; NULL: none */
    int64_t index, before;
    int64_t stored;  /* values written */
    int64_t columns; /* the largest index */
} piece;

typedef struct libsvm_filling {
    const mc_lines *lines;
    mercer_dtype dtype;
    int64_t limit;  /* columns of a model that can have no others; 0: any */
    int64_t least;  /* columns there are at least */
    int64_t serial; /* 1: index 0 is the first column, the number of a row of a Gram matrix */
    bool over; /* index 0 is read over: the model is one of LIBSVM's with a precomputed kernel, which needs it not */
    int64_t *first; /* per piece: where its stretch of values begins */
    piece *piece;
    double *value;
    int32_t *column;
    double *label;  /* per row */
    int64_t *count; /* per row: values stored */
} libsvm_filling;

static const char *stop_at(piece *s, fault why, const char *place) {
    s->fault = why;
    s->place = place;
    return NULL;
}

static bool is_word(const char *p, const char *word) {
    while (*word && (*p | 0x20) == *word) {
        p++;
        word++;
    }
    return !*word;
}

static const char *any_number(const char *p, const char *end, double *out) {
    const char *after = mc_number_fast(p, end, out);
    return after ? after : mc_number_read(p, end, out);
}

/* A number that ends at a space or the end of the line. */
static const char *read_number(piece *s, const char *p, const char *end, fault otherwise, double *out) {
    const char *after = any_number(p, end, out);
    if (after && !isinf(*out) && (is_space(*after) || is_end(*after)))
        return after;
    const char *digits = p + (*p == '-' || *p == '+');
    const bool infinite = (after && isinf(*out)) || is_word(digits, "inf") || is_word(digits, "nan");
    return stop_at(s, infinite ? NOT_FINITE : otherwise, p);
}

static const char *read_label(piece *s, const char *p, const char *end, double *out) {
    const char *after = any_number(p, end, out);
    if (after && *after == ',')
        return stop_at(s, MANY_LABELS, p);
    if (after && *after == ':')
        return stop_at(s, NO_LABEL, p);
    after = read_number(s, p, end, BAD_LABEL, out);
    if (after && !s->rounded && !mc_number_survives(p, after))
        s->rounded = p;
    return after;
}

/* The index before a colon; qid gives -1. */
static const char *read_index(const libsvm_filling *f, piece *s, const char *p, int64_t *out) {
    const char *start = p;
    int64_t index = 0;
    for (; *p >= '0' && *p <= '9'; p++)
        index = index <= INT32_MAX ? 10 * index + (*p - '0') : index;
    if (p == start && is_word(p, "qid:")) {
        *out = -1;
        return p + 4;
    }
    s->index = index;
    if (p == start || *p != ':')
        return stop_at(s, p > start && (is_space(*p) || is_end(*p)) ? NO_VALUE : BAD_INDEX, start);
    if (index == 0 && f->over) {
        *out = -1;
        return p + 1;
    }
    if (index < 1 - f->serial || index > INT32_MAX - 1)
        return stop_at(s, index ? BIG_INDEX : ZERO_INDEX, start);
    *out = index;
    return p + 1;
}

static void store_entry(const libsvm_filling *f, piece *s, int64_t at, int64_t index, double value) {
    if (value != 0 || !f->least)
        s->columns = index + f->serial > s->columns ? index + f->serial : s->columns;
    if (value != 0) {
        f->value[at + s->stored] = value;
        f->column[at + s->stored++] = (int32_t)(index - 1 + f->serial);
    }
}

/* One line into its row; NULL on a fault. */
static const char *fill_row(const libsvm_filling *f, piece *s, int64_t at, int64_t row, const char *p) {
    const char *end = f->lines->end;
    const int64_t stored = s->stored;
    int64_t before = -f->serial;
    s->index = 0;
    p = read_label(s, skip_spaces(p), end, &f->label[row]);
    while (p && !is_end(*(p = skip_spaces(p)))) {
        const char *pair = p;
        int64_t index = 0;
        double value = 0;
        p = read_index(f, s, p, &index);
        if (p)
            p = read_number(s, p, end, BAD_VALUE, &value);
        if (!p)
            return NULL;
        if (index < 0)
            continue; /* qid */
        s->before = before;
        s->index = index;
        if (index <= before)
            return stop_at(s, NOT_INCREASING, pair);
        if (f->dtype == MERCER_F32 && fabs(value) > (double)FLT_MAX)
            return stop_at(s, NOT_FLOAT, pair);
        if (f->limit && value != 0 && index + f->serial > f->limit)
            return stop_at(s, BEYOND, pair);
        store_entry(f, s, at, index, value);
        before = index;
    }
    f->count[row] = s->stored - stored;
    return p;
}

static void fill_pieces(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk;
    (void)thread;
    const libsvm_filling *f = arg;
    for (int64_t k = begin; k < end; k++) {
        piece s = {.fault = NO_FAULT};
        const char *p = f->lines->first[k];
        for (int64_t row = f->lines->row[k]; row < f->lines->row[k + 1] && !s.fault; row++) {
            p = fill_row(f, &s, f->first[k], row, p);
            if (p)
                p = mc_record_skip(f->lines, mc_record_end(f->lines, p));
        }
        f->piece[k] = s;
    }
}

/* ---- Faults in words ---- */

static mercer_status fail_piece(mercer_ctx *ctx, const mc_input *input, const piece *s, int64_t limit) {
    const char *end = s->place;
    while (!is_space(*end) && *end != '\n')
        end++;
    const mc_quote seen = mc_quote_of(s->place, end - s->place);
    const long long index = s->index, before = s->before;
    switch (s->fault) {
    case NO_LABEL: return mc_fail_line(ctx, input, s->place, "expected a label, found '%s'", seen.text);
    case MANY_LABELS:
        return mc_fail_line(ctx, input, s->place, "'%s' gives a row several labels; Mercer takes one label per row",
                            seen.text);
    case BAD_LABEL: return mc_fail_line(ctx, input, s->place, "expected a number as label, found '%s'", seen.text);
    case BAD_INDEX: return mc_fail_line(ctx, input, s->place, "expected index:value, found '%s'", seen.text);
    case ZERO_INDEX: return mc_fail_line(ctx, input, s->place, "index 0 in '%s'; indices begin at 1", seen.text);
    case BIG_INDEX: return mc_fail_line(ctx, input, s->place, "the index in '%s' is past %d", seen.text, INT32_MAX - 1);
    case BEYOND:
        return mc_fail_line(ctx, input, s->place,
                            "'%s' has index %lld, but the table that the model was fitted to has %lld columns",
                            seen.text, index, (long long)limit);
    case NOT_INCREASING:
        return mc_fail_line(ctx, input, s->place, "index %lld stands after index %lld; indices must increase", index,
                            before);
    case NO_VALUE: return mc_fail_line(ctx, input, s->place, "expected ':' and a value after index %lld", index);
    case BAD_VALUE:
        return mc_fail_line(ctx, input, s->place, "the value of index %lld, '%s', is not a number", index, seen.text);
    case NOT_FINITE:
        if (!index)
            return mc_fail_line(ctx, input, s->place, "the label '%s' is not finite", seen.text);
        return mc_fail_line(ctx, input, s->place, "the value '%s' of index %lld is not finite", seen.text, index);
    case NOT_FLOAT:
        return mc_fail_line(ctx, input, s->place, "'%s' is out of the range of float32; read it as float64", seen.text);
    case NO_FAULT: break;
    }
    return MERCER_OK;
}

static mercer_status report_first_fault(mercer_ctx *ctx, const mc_input *input, const libsvm_filling *f) {
    for (int64_t k = 0; k < f->lines->pieces; k++)
        if (f->piece[k].fault)
            return fail_piece(ctx, input, &f->piece[k], f->limit - f->serial);
    return MERCER_OK;
}

/* ---- From stretches to data ---- */

typedef struct moving {
    const libsvm_filling *f;
    mercer_data *data;
} moving;

static void move_piece(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk;
    (void)thread;
    const moving *m = arg;
    const libsvm_filling *f = m->f;
    for (int64_t k = begin; k < end; k++) {
        int64_t from = f->first[k];
        for (int64_t i = f->lines->row[k]; i < f->lines->row[k + 1]; i++)
            for (int64_t c = 0; c < f->count[i]; c++, from++)
                if (m->data->row_start) {
                    mc_store_value(m->data, m->data->row_start[i] + c, f->value[from]);
                    m->data->column[m->data->row_start[i] + c] = f->column[from];
                } else {
                    mc_store_value(m->data, i * m->data->d + f->column[from], f->value[from]);
                }
    }
}

static mercer_status make_values(mercer_ctx *ctx, const char *name, const libsvm_filling *f, mercer_data **out) {
    int64_t stored = 0, d = f->least;
    for (int64_t k = 0; k < f->lines->pieces; k++) {
        stored += f->piece[k].stored;
        d = f->piece[k].columns > d ? f->piece[k].columns : d;
    }
    const int64_t n = f->lines->rows;
    if (d == 0)
        return mc_fail(ctx, MERCER_DATA, "%s has labels and no index:value pair", name);
    const bool dense = (double)stored >= dense_from * (double)n * (double)d;
    MC_TRY(mc_data_new(ctx, n, d, f->dtype, dense ? -1 : stored, out));
    for (int64_t i = 0; i < n && !dense; i++)
        (*out)->row_start[i + 1] = (*out)->row_start[i] + f->count[i];
    moving m = {.f = f, .data = *out};
    return mc_for(ctx, f->lines->pieces, 1, move_piece, &m);
}

/* A file to predict must begin its lines with some label. One that the model does not know is of a class of its own, of
   no other name. */
static mercer_status take_classes(mercer_ctx *ctx, const mc_reading *reading, const double *label, mercer_data *data) {
    const char **list = NULL;
    bool unknown = false;
    MC_TRY(MC_ALLOC(ctx, data->class_of, data->n));
    for (int64_t i = 0; i < data->n; i++) {
        data->class_of[i] = (int32_t)label[i];
        unknown |= data->class_of[i] == reading->classes;
    }
    MC_TRY(MC_ALLOC(ctx, list, reading->classes + 1));
    for (int64_t k = 0; k < reading->classes; k++)
        list[k] = reading->labels[k];
    list[reading->classes] = "(unknown)";
    data->classes = reading->classes + unknown;
    data->label = mc_strings_copy(ctx, list, data->classes);
    mc_free(list);
    return data->label ? MERCER_OK : MERCER_MEMORY;
}

static mercer_status make_target(mercer_ctx *ctx, const mc_reading *reading, libsvm_filling *f, mercer_data *data) {
    const mercer_read *set = reading->set;
    if (set->kind == MERCER_TARGET_NONE || (set->target && !*set->target))
        return MERCER_OK;
    double *label = f->label;
    if (reading->classes == 0) {
        f->label = NULL; /* taken over */
        return mc_target_of_numbers(ctx, reading->schema ? MERCER_TARGET_NUMBER : set->kind, label, 1, data);
    }
    MC_TRY(mc_classes_known(ctx, reading->labels, reading->classes, label, data->n, 1, NULL));
    return take_classes(ctx, reading, label, data);
}

/* Labels are numbers here, and a class is its number. */
static mercer_status check_labels(mercer_ctx *ctx, const mc_input *input, const libsvm_filling *f,
                                  const mercer_data *data) {
    for (int64_t k = 0; k < f->lines->pieces && data->classes > 0; k++) {
        const char *p = f->piece[k].rounded, *end = p;
        while (p && !is_space(*end) && !is_end(*end))
            end++;
        if (p)
            return mc_fail_line(ctx, input, p,
                                "the label '%s' is not told from its neighbours as a double; number the classes from "
                                "0, or write them as "
                                "text in CSV",
                                mc_quote_of(p, end - p).text);
    }
    return MERCER_OK;
}

static mercer_status check_settings(mercer_ctx *ctx, const mc_input *input, const mercer_read *set, bool afresh) {
    if (afresh && set->target && *set->target)
        return mc_fail(ctx, MERCER_INVALID, "%s is LIBSVM text: its target is the label, not '%s'", input->name,
                       set->target);
    if (set->drop || set->header == MERCER_HEADER_YES)
        return mc_fail(ctx, MERCER_INVALID, "%s is LIBSVM text, which has no %s", input->name,
                       set->drop ? "columns to drop" : "header");
    if (set->weights || (afresh && set->text && !mc_read_finds_text(set)))
        return mc_fail(ctx, MERCER_INVALID, "%s is LIBSVM text, which has no column '%s'", input->name,
                       set->weights ? set->weights : set->text);
    return MERCER_OK;
}

static int64_t count_colons(const char *p, const char *end) {
    int64_t count = 0;
    for (; p < end; p++)
        count += *p == ':';
    return count;
}

static mercer_status allocate_filling(mercer_ctx *ctx, libsvm_filling *f) {
    const mc_lines *l = f->lines;
    MC_TRY(MC_ALLOC(ctx, f->first, l->pieces));
    MC_TRY(MC_ALLOC(ctx, f->piece, l->pieces));
    int64_t colons = 0;
    for (int64_t k = 0; k < l->pieces; k++) {
        f->first[k] =
            colons + count_colons(l->begin + k * l->piece, l->first[k]); /* those before belong to the piece before */
        colons += l->count[k];
    }
    f->value = mc_alloc_unset(ctx, colons, sizeof *f->value);
    f->column = mc_alloc_unset(ctx, colons, sizeof *f->column);
    MC_TRY(f->value && f->column ? MERCER_OK : MERCER_MEMORY);
    MC_TRY(MC_ALLOC(ctx, f->label, l->rows));
    return MC_ALLOC(ctx, f->count, l->rows);
}

static mercer_status read_lines(mercer_ctx *ctx, const mc_input *input, const mc_reading *reading, libsvm_filling *f,
                                mercer_data **data) {
    MC_TRY(allocate_filling(ctx, f));
    MC_TRY(mc_for(ctx, f->lines->pieces, 1, fill_pieces, f));
    MC_TRY(report_first_fault(ctx, input, f));
    MC_TRY(make_values(ctx, input->name, f, data));
    (*data)->open = true;
    MC_TRY(make_target(ctx, reading, f, *data));
    MC_TRY(check_labels(ctx, input, f, *data));
    if (!f->serial)
        MC_TRY(mc_data_compact(ctx, *data));
    return mc_data_finish(ctx, *data);
}

mercer_status mc_libsvm_read(mercer_ctx *ctx, const mc_input *input, const mc_reading *reading, mercer_data **out) {
    MC_TRY(check_settings(ctx, input, reading->set, !reading->schema));
    mc_lines lines = lines_of(input);
    lines.piece = reading->piece;
    MC_TRY(mc_lines_find(ctx, input, &lines));
    libsvm_filling f = {.lines = &lines, .dtype = reading->set->dtype, .serial = mc_reads_serial(reading)};
    if (reading->schema) {
        f.limit = reading->d > 0 && (reading->schema->count || f.serial) ? reading->d : 0;
        f.least = reading->d > 0 ? reading->d : -reading->d;
        f.over = reading->d < 0 && !f.serial;
    }
    mercer_data *data = NULL;
    mercer_status status =
        lines.rows ? read_lines(ctx, input, reading, &f, &data) : mc_fail(ctx, MERCER_DATA, "%s is empty", input->name);
    void *const blocks[] = {f.first, f.piece, f.value, f.column, f.label, f.count};
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++)
        mc_free(blocks[i]);
    mc_lines_close(&lines);
    if (status)
        mercer_data_free(data);
    else
        *out = data;
    return status;
}
