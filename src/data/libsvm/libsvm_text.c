/* libsvm_text.c: LIBSVM text to CSR, in parallel.

   Every pair has one colon, so the colons of a piece of the text bound its values: each piece writes to its own
   stretch, and the stretches are then moved together. "qid:5" is read over, zeros are not stored, a comment runs from #
   to the end of the line.

   The data stay CSR when less than a quarter of the cells are non-zero; otherwise they become dense. */
#include "data/libsvm/libsvm_text.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/parallel.h"
#include "base/status.h"
#include "data/encode/labels.h"
#include "data/libsvm/libsvm_fill.h"
#include "data/read/raw.h"
#include "data/table/columns.h"
#include "data/table/strings.h"

enum { LOOK_LINES = 10, ROW_GRAIN = 1024 };
static const double dense_from = 0.25; /* share of non-zero cells */

static const char *skip_spaces(const char *p) {
    while (mc_libsvm_is_space(*p))
        p++;
    return p;
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
    return after && (mc_libsvm_is_space(*after) || mc_libsvm_is_end(*after));
}

/* A label or several, then pairs or nothing; *pairs: whether there was one. */
static bool looks_like_line(const char *p, const char *end, bool *pairs) {
    double value;
    p = mc_number_read(skip_spaces(p), end, &value);
    while (p && *p == ',')
        p = mc_number_read(p + 1, end, &value);
    if (!p || !(mc_libsvm_is_space(*p) || mc_libsvm_is_end(*p)))
        return false;
    p = skip_spaces(p);
    if (mc_libsvm_is_end(*p))
        return true;
    *pairs = true;
    return looks_like_pair(p, end);
}

bool mc_libsvm_looks(const mc_input *input) {
    const mc_lines lines = mc_libsvm_lines_of(input);
    bool pairs = false;
    const char *p = mc_record_skip(&lines, lines.begin);
    for (int k = 0; k < LOOK_LINES && p < lines.end; k++) {
        if (!looks_like_line(p, lines.end, &pairs))
            return false;
        p = mc_record_skip(&lines, mc_record_end(&lines, p));
    }
    return pairs;
}

/* ---- Faults in words ---- */

static mercer_status fail_piece(mercer_ctx *ctx, const mc_input *input, const mc_libsvm_piece *s, int64_t limit) {
    const char *end = s->place;
    while (!mc_libsvm_is_space(*end) && *end != '\n')
        end++;
    const mc_quote seen = mc_quote_of(s->place, end - s->place);
    const long long index = s->index, before = s->before;
    switch (s->fault) {
    case MC_LIBSVM_NO_LABEL: return mc_fail_line(ctx, input, s->place, "expected a label, found '%s'", seen.text);
    case MC_LIBSVM_MANY_LABELS:
        return mc_fail_line(ctx, input, s->place, "'%s' gives a row several labels; Mercer takes one label per row",
                            seen.text);
    case MC_LIBSVM_BAD_LABEL:
        return mc_fail_line(ctx, input, s->place, "expected a number as label, found '%s'", seen.text);
    case MC_LIBSVM_BAD_INDEX: return mc_fail_line(ctx, input, s->place, "expected index:value, found '%s'", seen.text);
    case MC_LIBSVM_ZERO_INDEX:
        return mc_fail_line(ctx, input, s->place, "index 0 in '%s'; indices begin at 1", seen.text);
    case MC_LIBSVM_BIG_INDEX:
        return mc_fail_line(ctx, input, s->place, "the index in '%s' is past %d", seen.text, INT32_MAX - 1);
    case MC_LIBSVM_BEYOND:
        return mc_fail_line(ctx, input, s->place,
                            "'%s' has index %lld, but the table that the model was fitted to has %lld columns",
                            seen.text, index, (long long)limit);
    case MC_LIBSVM_NOT_INCREASING:
        return mc_fail_line(ctx, input, s->place, "index %lld stands after index %lld; indices must increase", index,
                            before);
    case MC_LIBSVM_NO_VALUE:
        return mc_fail_line(ctx, input, s->place, "expected ':' and a value after index %lld", index);
    case MC_LIBSVM_BAD_VALUE:
        return mc_fail_line(ctx, input, s->place, "the value of index %lld, '%s', is not a number", index, seen.text);
    case MC_LIBSVM_NOT_FINITE:
        if (!index)
            return mc_fail_line(ctx, input, s->place, "the label '%s' is not finite", seen.text);
        return mc_fail_line(ctx, input, s->place, "the value '%s' of index %lld is not finite", seen.text, index);
    case MC_LIBSVM_NOT_FLOAT:
        return mc_fail_line(ctx, input, s->place, "'%s' is out of the range of float32; read it as float64", seen.text);
    case MC_LIBSVM_NO_FAULT: break;
    }
    return MERCER_OK;
}

static mercer_status report_first_fault(mercer_ctx *ctx, const mc_input *input, const mc_libsvm_filling *f) {
    for (int64_t k = 0; k < f->lines->pieces; k++)
        if (f->piece[k].fault)
            return fail_piece(ctx, input, &f->piece[k], f->limit - f->serial);
    return MERCER_OK;
}

/* ---- From stretches to data ---- */

typedef struct moving {
    const mc_libsvm_filling *f;
    mercer_data *data;
} moving;

/* The c-th value of row i, which stands at from. */
static void move_value(const moving *m, int64_t i, int64_t c, int64_t from) {
    const mc_libsvm_filling *f = m->f;
    if (!m->data->row_start) {
        mc_store_value(m->data, i * m->data->d + f->column[from], f->value[from]);
        return;
    }
    mc_store_value(m->data, m->data->row_start[i] + c, f->value[from]);
    m->data->column[m->data->row_start[i] + c] = f->column[from];
}

static void move_piece(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk;
    (void)thread;
    const moving *m = arg;
    const mc_libsvm_filling *f = m->f;
    for (int64_t k = begin; k < end; k++) {
        int64_t from = f->first[k];
        for (int64_t i = f->lines->row[k]; i < f->lines->row[k + 1]; i++)
            for (int64_t c = 0; c < f->count[i]; c++, from++)
                move_value(m, i, c, from);
    }
}

static mercer_status make_values(mercer_ctx *ctx, const char *name, const mc_libsvm_filling *f, mercer_data **out) {
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

static mercer_status make_target(mercer_ctx *ctx, const mc_reading *reading, mc_libsvm_filling *f, mercer_data *data) {
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
static mercer_status check_labels(mercer_ctx *ctx, const mc_input *input, const mc_libsvm_filling *f,
                                  const mercer_data *data) {
    for (int64_t k = 0; k < f->lines->pieces && data->classes > 0; k++) {
        const char *p = f->piece[k].rounded, *end = p;
        while (p && !mc_libsvm_is_space(*end) && !mc_libsvm_is_end(*end))
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

mercer_status mc_libsvm_check(mercer_ctx *ctx, const mc_input *input, const mc_reading *reading) {
    const mercer_read *set = reading->set;
    const bool afresh = !reading->schema;
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

mercer_status mc_libsvm_data(mercer_ctx *ctx, const mc_input *input, const mc_reading *reading, mc_libsvm_filling *f,
                             mercer_data **out) {
    mercer_data *data = NULL;
    mercer_status status = make_values(ctx, input->name, f, &data);
    if (!status)
        data->open = true;
    MC_THEN(status, make_target(ctx, reading, f, data));
    MC_THEN(status, check_labels(ctx, input, f, data));
    if (!f->serial)
        MC_THEN(status, mc_data_compact(ctx, data));
    MC_THEN(status, mc_data_finish(ctx, data));
    if (status)
        mercer_data_free(data);
    else
        *out = data;
    return status;
}

static mercer_status read_lines(mercer_ctx *ctx, const mc_input *input, const mc_reading *reading, mc_libsvm_filling *f,
                                mercer_data **out) {
    MC_TRY(mc_libsvm_fill(ctx, f));
    MC_TRY(report_first_fault(ctx, input, f));
    return mc_libsvm_data(ctx, input, reading, f, out);
}

mercer_status mc_libsvm_read(mercer_ctx *ctx, const mc_input *input, const mc_reading *reading, mercer_data **out) {
    MC_TRY(mc_libsvm_check(ctx, input, reading));
    mc_lines lines = mc_libsvm_lines_of(input);
    lines.piece = reading->piece;
    MC_TRY(mc_lines_find(ctx, input, &lines));
    mc_libsvm_filling f = mc_libsvm_filling_of(reading, &lines);
    const mercer_status status =
        lines.rows ? read_lines(ctx, input, reading, &f, out) : mc_fail(ctx, MERCER_DATA, "%s is empty", input->name);
    mc_libsvm_close(&f);
    mc_lines_close(&lines);
    return status;
}
