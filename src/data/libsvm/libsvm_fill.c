/* libsvm_fill.c: see libsvm_fill.h. */
#include "data/libsvm/libsvm_fill.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/number_fast.h"
#include "base/parallel.h"
#include "base/status.h"
#include "data/read/gram_rows.h"
#include <float.h>
#include <math.h>

static const char *skip_spaces(const char *p) {
    while (mc_libsvm_is_space(*p))
        p++;
    return p;
}

mc_lines mc_libsvm_lines_of(const mc_input *input) {
    const bool mark = input->size >= 3 && memcmp(input->bytes, "\xef\xbb\xbf", 3) == 0;
    input->bytes[input->size] = '\n'; /* in the padding: every line ends */
    return (mc_lines){
        .begin = input->bytes + (mark ? 3 : 0), .end = input->bytes + input->size, .comment = '#', .counted = ':'};
}

mc_libsvm_filling mc_libsvm_filling_of(const mc_reading *reading, const mc_lines *lines) {
    mc_libsvm_filling f = {.lines = lines, .dtype = reading->set->dtype, .serial = mc_reads_serial(reading)};
    if (reading->schema) {
        f.limit = reading->d > 0 && (reading->schema->count || f.serial) ? reading->d : 0;
        f.least = reading->d > 0 ? reading->d : -reading->d;
        f.over = reading->d < 0 && !f.serial;
    }
    return f;
}

static const char *stop_at(mc_libsvm_piece *s, mc_libsvm_fault why, const char *place) {
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
static const char *read_number(mc_libsvm_piece *s, const char *p, const char *end, mc_libsvm_fault otherwise,
                               double *out) {
    const char *after = any_number(p, end, out);
    if (after && !isinf(*out) && (mc_libsvm_is_space(*after) || mc_libsvm_is_end(*after)))
        return after;
    const char *digits = p + (*p == '-' || *p == '+');
    const bool infinite = (after && isinf(*out)) || is_word(digits, "inf") || is_word(digits, "nan");
    return stop_at(s, infinite ? MC_LIBSVM_NOT_FINITE : otherwise, p);
}

static const char *read_label(mc_libsvm_piece *s, const char *p, const char *end, double *out) {
    const char *after = any_number(p, end, out);
    if (after && *after == ',')
        return stop_at(s, MC_LIBSVM_MANY_LABELS, p);
    if (after && *after == ':')
        return stop_at(s, MC_LIBSVM_NO_LABEL, p);
    after = read_number(s, p, end, MC_LIBSVM_BAD_LABEL, out);
    if (after && !s->rounded && !mc_number_survives(p, after))
        s->rounded = p;
    return after;
}

/* The index before a colon; qid gives -1. */
static const char *read_index(const mc_libsvm_filling *f, mc_libsvm_piece *s, const char *p, int64_t *out) {
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
        return stop_at(
            s, p > start && (mc_libsvm_is_space(*p) || mc_libsvm_is_end(*p)) ? MC_LIBSVM_NO_VALUE : MC_LIBSVM_BAD_INDEX,
            start);
    if (index == 0 && f->over) {
        *out = -1;
        return p + 1;
    }
    if (index < 1 - f->serial || index > INT32_MAX - 1)
        return stop_at(s, index ? MC_LIBSVM_BIG_INDEX : MC_LIBSVM_ZERO_INDEX, start);
    *out = index;
    return p + 1;
}

static void store_entry(const mc_libsvm_filling *f, mc_libsvm_piece *s, int64_t at, int64_t index, double value) {
    if (value != 0 || !f->least)
        s->columns = index + f->serial > s->columns ? index + f->serial : s->columns;
    if (value != 0) {
        f->value[at + s->stored] = value;
        f->column[at + s->stored++] = (int32_t)(index - 1 + f->serial);
    }
}

/* One line into its row; NULL on a fault. */
static const char *fill_row(const mc_libsvm_filling *f, mc_libsvm_piece *s, int64_t at, int64_t row, const char *p) {
    const char *end = f->lines->end;
    const int64_t stored = s->stored;
    int64_t before = -f->serial;
    s->index = 0;
    p = read_label(s, skip_spaces(p), end, &f->label[row]);
    while (p && !mc_libsvm_is_end(*(p = skip_spaces(p)))) {
        const char *pair = p;
        int64_t index = 0;
        double value = 0;
        p = read_index(f, s, p, &index);
        if (p)
            p = read_number(s, p, end, MC_LIBSVM_BAD_VALUE, &value);
        if (!p)
            return NULL;
        if (index < 0)
            continue; /* qid */
        s->before = before;
        s->index = index;
        if (index <= before)
            return stop_at(s, MC_LIBSVM_NOT_INCREASING, pair);
        if (f->dtype == MERCER_F32 && fabs(value) > (double)FLT_MAX)
            return stop_at(s, MC_LIBSVM_NOT_FLOAT, pair);
        if (f->limit && value != 0 && index + f->serial > f->limit)
            return stop_at(s, MC_LIBSVM_BEYOND, pair);
        store_entry(f, s, at, index, value);
        before = index;
    }
    f->count[row] = s->stored - stored;
    return p;
}

static void fill_pieces(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk;
    (void)thread;
    const mc_libsvm_filling *f = arg;
    for (int64_t k = begin; k < end; k++) {
        mc_libsvm_piece s = {.fault = MC_LIBSVM_NO_FAULT};
        const char *p = f->lines->first[k];
        for (int64_t row = f->lines->row[k]; row < f->lines->row[k + 1] && !s.fault; row++) {
            p = fill_row(f, &s, f->first[k], row, p);
            if (p)
                p = mc_record_skip(f->lines, mc_record_end(f->lines, p));
        }
        f->piece[k] = s;
    }
}

static int64_t count_colons(const char *p, const char *end) {
    int64_t count = 0;
    for (; p < end; p++)
        count += *p == ':';
    return count;
}

static mercer_status allocate_filling(mercer_ctx *ctx, mc_libsvm_filling *f) {
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
    f->column = mc_alloc_unset(ctx, colons + 1, sizeof *f->column); /* they travel in pairs: libsvm_share.c */
    MC_TRY(f->value && f->column ? MERCER_OK : MERCER_MEMORY);
    MC_TRY(MC_ALLOC(ctx, f->label, l->rows));
    return MC_ALLOC(ctx, f->count, l->rows);
}

mercer_status mc_libsvm_fill(mercer_ctx *ctx, mc_libsvm_filling *f) {
    MC_TRY(allocate_filling(ctx, f));
    return mc_for(ctx, f->lines->pieces, 1, fill_pieces, f);
}

void mc_libsvm_close(mc_libsvm_filling *f) {
    void *const blocks[] = {f->first, f->piece, f->value, f->column, f->label, f->count};
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++)
        mc_free(blocks[i]);
}
