/* npy.c: reading a .npy array as a table, and writing a matrix as one. */
#include "data/npy/npy.h"
#include "data/npy/npy_write.h"
#include "base/ctx.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/print.h"
#include "base/status.h"
#include <math.h>

enum { HEAD = 1 << 20 }; /* of a plain file; a header of NumPy's is far shorter */

static mercer_status refuse_text(mercer_ctx *ctx, const mc_raw *raw) {
    for (int64_t j = 0; j < raw->columns; j++)
        if (raw->column[j].kind == MC_COLUMN_LEVELS || raw->column[j].kind == MC_COLUMN_TEXT)
            return mc_fail(ctx, MERCER_DATA, "%s holds numbers, but its column %lld should be text", raw->input->name,
                           (long long)j + 1);
    return MERCER_OK;
}

static mercer_status read_header(mercer_ctx *ctx, const mc_input *input, mc_npy_header *header) {
    if (input->bytes)
        return mc_npy_parse(ctx, input, input->size, header);
    mc_input head = {.name = input->name, .fd = -1, .size = input->total < HEAD ? input->total : HEAD};
    head.bytes = mc_alloc_unset(ctx, head.size, 1);
    MC_TRY(head.bytes ? MERCER_OK : MERCER_MEMORY);
    const int error = mc_input_piece(input, 0, head.bytes, head.size);
    const mercer_status status =
        error ? mc_input_fail(ctx, input, error) : mc_npy_parse(ctx, &head, input->total, header);
    mc_free(head.bytes);
    return status;
}

/* The first row whose label, an integer of the file, shares its double with others; -1: none. */
static int64_t find_rounded_label(const mc_npy_header *h, const mc_raw *raw, int64_t *column) {
    for (*column = 0; *column < raw->columns; ++*column) {
        const mc_file_column *c = &raw->column[*column];
        for (int64_t i = 0; h->size == 8 && h->kind != 'f' && c->cell && c->names && i < raw->n; i++)
            if (fabs(c->cell[i * c->stride]) >= 0x1p53)
                return i;
    }
    return -1;
}

static mercer_status build_npy_table(mercer_ctx *ctx, const mc_reading *reading, const mc_npy_header *h, mc_raw *raw,
                                     mercer_data **out) {
    int64_t column = 0;
    const int64_t row = find_rounded_label(h, raw, &column);
    MC_TRY(mc_raw_build(ctx, reading, raw, out));
    if (row < 0 || (*out)->classes == 0)
        return MERCER_OK;
    mercer_data_free(*out);
    *out = NULL;
    return mc_fail(ctx, MERCER_DATA,
                   "%s, row %lld, %s: a label of 2^53 or more is not told from its neighbours as a double; number the "
                   "classes from 0, or write them as text in CSV",
                   raw->input->name, (long long)row + 1, mc_column_title(raw, column).text);
}

static mercer_status read_table(mercer_ctx *ctx, const mc_reading *reading, mc_raw *raw, mercer_data **out) {
    mc_npy_header header;
    MC_TRY(read_header(ctx, raw->input, &header));
    if (reading->set->header == MERCER_HEADER_YES)
        return mc_fail(ctx, MERCER_INVALID, "%s is an array of numpy, which has no header", raw->input->name);
    raw->n = header.n;
    raw->columns = header.m;
    MC_TRY(MC_ALLOC(ctx, raw->column, raw->columns));
    MC_TRY(MC_ALLOC(ctx, raw->order, raw->columns));
    MC_TRY(mc_roles_find(ctx, reading, raw));
    MC_TRY(refuse_text(ctx, raw));
    MC_TRY(mc_raw_allocate(ctx, raw));
    MC_TRY(mc_npy_load(ctx, &header, raw));
    bool again = false;
    MC_TRY(mc_raw_classify(ctx, reading, raw, &again));
    return build_npy_table(ctx, reading, &header, raw, out);
}

mercer_status mc_npy_read(mercer_ctx *ctx, const mc_input *input, const mc_reading *reading, mercer_data **out) {
    mc_raw raw = {.input = input};
    const mercer_status status = read_table(ctx, reading, &raw, out);
    mc_raw_close(&raw);
    return status;
}

/* ---- Writing ---- */

/* The header is padded with spaces so that the elements begin at a multiple of 64. */
static size_t make_header(char *out, size_t capacity, int64_t n, int64_t m) {
    enum { START = 10 };
    const int length =
        mc_print(out + START, capacity - START, "{'descr': '<f8', 'fortran_order': False, 'shape': (%lld, %lld), }",
                 (long long)n, (long long)m);
    const size_t total = (START + (size_t)length + 1 + 63) / 64 * 64;
    memset(out + START + length, ' ', total - START - (size_t)length);
    out[total - 1] = '\n';
    memcpy(out, "\x93NUMPY\x01\x00", 8);
    out[8] = (char)((total - START) & 255);
    out[9] = (char)((total - START) >> 8);
    return total;
}

static mercer_status write_all(mercer_ctx *ctx, mc_output *output, const double *values, int64_t n, int64_t m) {
    char header[256];
    MC_TRY(mc_output_write(ctx, output, header, make_header(header, sizeof header, n, m)));
    return mc_output_write(ctx, output, values, (size_t)(n * m) * sizeof *values);
}

mercer_status mc_npy_write(mercer_ctx *ctx, const char *path, const double *values, int64_t n, int64_t m) {
    MC_NEED(ctx, path, values);
    mc_begin_call(ctx);
    if (n < 0 || m < 0 || (m > 0 && n > INT64_MAX / 8 / m))
        return mc_fail(ctx, MERCER_INVALID, "npy: cannot write %lld x %lld values", (long long)n, (long long)m);
    mc_output *output = NULL;
    MC_TRY(mc_output_open(ctx, path, &output));
    const mercer_status status = write_all(ctx, output, values, n, m);
    if (status) {
        mc_output_abandon(output);
        return status;
    }
    return mc_output_commit(ctx, output);
}
