/* npy_header.c: the header of a .npy file: six magic bytes, a version, a length, and a Python dictionary with the keys
   descr, fortran_order and shape. Nothing it claims is believed before it is compared with the size of the file. */
#include "base/status.h"
#include "data/npy/npy.h"

enum { MAGIC = 6, DIMENSIONS = 8 };

typedef struct header_cursor {
    const char *p, *end;
} header_cursor;

typedef struct fields {
    const char *descr;
    int64_t descr_length;
    int fortran;    /* -1: not seen */
    int dimensions; /* -1: not seen */
    int64_t shape[DIMENSIONS];
} fields;

bool mc_npy_looks(const char *bytes, int64_t size) {
    return size >= MAGIC && memcmp(bytes, "\x93NUMPY", MAGIC) == 0;
}

static char peek_past_blanks(header_cursor *c) {
    while (c->p < c->end && (*c->p == ' ' || *c->p == '\n'))
        c->p++;
    return c->p < c->end ? *c->p : '\0';
}

static bool accept_char(header_cursor *c, char wanted) {
    if (peek_past_blanks(c) != wanted)
        return false;
    c->p++;
    return true;
}

static bool read_string(header_cursor *c, const char **text, int64_t *length) {
    const char quote = peek_past_blanks(c);
    if (quote != '\'' && quote != '"')
        return false;
    *text = ++c->p;
    while (c->p < c->end && *c->p != quote)
        c->p++;
    *length = c->p - *text;
    return c->p++ < c->end;
}

static bool accept_word(header_cursor *c, const char *word) {
    const size_t length = strlen(word);
    peek_past_blanks(c);
    if ((size_t)(c->end - c->p) < length || memcmp(c->p, word, length) != 0)
        return false;
    c->p += length;
    return true;
}

static bool read_count(header_cursor *c, int64_t *out) {
    int64_t v = 0;
    if (peek_past_blanks(c) < '0' || *c->p > '9')
        return false;
    for (; c->p < c->end && *c->p >= '0' && *c->p <= '9'; c->p++)
        if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, *c->p - '0', &v))
            return false;
    accept_char(c, 'L'); /* written by Python 2 */
    *out = v;
    return true;
}

static bool read_shape(header_cursor *c, fields *f) {
    if (!accept_char(c, '('))
        return false;
    for (f->dimensions = 0; !accept_char(c, ')'); f->dimensions++) {
        if (f->dimensions == DIMENSIONS || !read_count(c, &f->shape[f->dimensions]))
            return false;
        if (!accept_char(c, ',') && peek_past_blanks(c) != ')')
            return false;
    }
    return true;
}

static bool read_field(header_cursor *c, fields *f) {
    const char *key;
    int64_t length;
    if (!read_string(c, &key, &length) || !accept_char(c, ':'))
        return false;
    if (length == 5 && memcmp(key, "descr", 5) == 0)
        return read_string(c, &f->descr, &f->descr_length);
    if (length == 13 && memcmp(key, "fortran_order", 13) == 0) {
        f->fortran = accept_word(c, "True");
        return f->fortran || accept_word(c, "False");
    }
    return length == 5 && memcmp(key, "shape", 5) == 0 && read_shape(c, f);
}

static bool read_fields(header_cursor c, fields *f) {
    if (!accept_char(&c, '{'))
        return false;
    while (!accept_char(&c, '}'))
        if (!read_field(&c, f) || (!accept_char(&c, ',') && peek_past_blanks(&c) != '}'))
            return false;
    return f->descr && f->fortran >= 0 && f->dimensions >= 0;
}

/* The dictionary's text; false when the file is too short for it. */
static bool find_text(const mc_input *input, header_cursor *text, int64_t *offset) {
    const unsigned char *b = (const unsigned char *)input->bytes;
    if (input->size < 10 || b[6] < 1 || b[6] > 3)
        return false;
    const int64_t wide = b[6] > 1, start = wide ? 12 : 10;
    int64_t length = b[8] | b[9] << 8;
    if (wide && input->size >= 12)
        length |= (int64_t)b[10] << 16 | (int64_t)b[11] << 24;
    *offset = start + length;
    *text = (header_cursor){.p = input->bytes + start, .end = input->bytes + *offset};
    return *offset <= input->size;
}

static mercer_status set_type(mercer_ctx *ctx, const mc_input *input, const fields *f, mc_npy_header *out) {
    static const char known[][4] = {"<f4", "<f8", "<i2", "<i4", "<i8", "<u2", "<u4", "<u8", "|i1", "|u1", "|b1"};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (f->descr_length == 3 && memcmp(f->descr, known[i], 3) == 0) {
            out->kind = known[i][1];
            out->size = known[i][2] - '0';
            return MERCER_OK;
        }
    return mc_fail(ctx, MERCER_DATA,
                   "%s holds elements of type '%s'; save them as float32, float64 or an integer type, little-endian",
                   input->name, mc_quote_of(f->descr, f->descr_length).text);
}

static mercer_status set_shape(mercer_ctx *ctx, const mc_input *input, int64_t total, const fields *f,
                               mc_npy_header *out) {
    if (f->dimensions < 1 || f->dimensions > 2)
        return mc_fail(ctx, MERCER_DATA, "%s holds an array of %d dimensions; a table has one or two", input->name,
                       f->dimensions);
    out->n = f->shape[0];
    out->m = f->dimensions == 2 ? f->shape[1] : 1;
    out->fortran = f->fortran;
    const int64_t present = total - out->offset;
    int64_t bytes;
    const bool over =
        __builtin_mul_overflow(out->n, out->m, &bytes) || __builtin_mul_overflow(bytes, (int64_t)out->size, &bytes);
    if (over || bytes > present)
        return mc_fail(
            ctx, MERCER_DATA,
            "%s: its header promises %lld x %lld elements of %d bytes, but only %lld bytes follow; it is cut off",
            input->name, (long long)out->n, (long long)out->m, out->size, (long long)present);
    if (bytes < present)
        return mc_fail(ctx, MERCER_DATA, "%s: %lld bytes follow the array its header describes", input->name,
                       (long long)(present - bytes));
    if (out->n == 0 || out->m == 0)
        return mc_fail(ctx, MERCER_DATA, "%s is empty: its shape is %lld x %lld", input->name, (long long)out->n,
                       (long long)out->m);
    return MERCER_OK;
}

mercer_status mc_npy_parse(mercer_ctx *ctx, const mc_input *input, int64_t total, mc_npy_header *out) {
    *out = (mc_npy_header){0};
    header_cursor text;
    fields f = {.fortran = -1, .dimensions = -1};
    if (!mc_npy_looks(input->bytes, input->size) || !find_text(input, &text, &out->offset) || !read_fields(text, &f))
        return mc_fail(
            ctx, MERCER_DATA,
            "%s: the header of a .npy file (versions 1 to 3) with descr, fortran_order and shape was expected",
            input->name);
    MC_TRY(set_type(ctx, input, &f, out));
    return set_shape(ctx, input, total, &f, out);
}
