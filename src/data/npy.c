/* npy.c: reading a .npy array as a table, and writing a matrix as one. A NaN is a missing value, as in CSV. */
#include "data/npy.h"
#include "base/ctx.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/status.h"
#include <math.h>
#include <stdio.h>

enum { ROW_GRAIN = 4096 };

typedef struct loading {
    const mc_raw *raw;
    const mc_npy_header *header;
    bool *special; /* threads x columns */
} loading;

/* The element at p, little-endian on disk. Integers past 2^53 are rounded. */
static double load(const mc_npy_header *h, const char *p) {
    uint64_t bits = 0;
    for (int b = 0; b < h->size; b++)
        bits |= (uint64_t)(unsigned char)p[b] << (8 * b);
    if (h->kind == 'f' && h->size == 8) {
        double v;
        memcpy(&v, &bits, sizeof v);
        return v;
    }
    if (h->kind == 'f') {
        const uint32_t half = (uint32_t)bits;
        float v;
        memcpy(&v, &half, sizeof v);
        return (double)v;
    }
    const int unused = 64 - 8 * h->size;
    return h->kind == 'i' ? (double)((int64_t)(bits << unused) >> unused) : (double)bits;
}

static void load_cell(const loading *l, int64_t i, int64_t j, bool *special) {
    const mc_npy_header *h = l->header;
    const mc_file_column *c = &l->raw->column[j];
    const int64_t k = h->fortran ? j * h->n + i : i * h->m + j;
    const double v = load(h, l->raw->input->bytes + h->offset + k * h->size);
    const bool finite = isfinite(v);
    special[j] |= !finite;
    if (c->cell)
        c->cell[i * c->stride] = finite ? v : mc_cell_box(isnan(v) ? MC_CELL_MISSING : MC_CELL_INFINITE, 0);
}

/* In the order of the file, so that it is read straight through. */
static void load_rows(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk;
    const loading *l = arg;
    bool *special = l->special + thread * l->raw->columns;
    if (l->header->fortran) {
        for (int64_t j = 0; j < l->raw->columns; j++)
            for (int64_t i = begin; i < end; i++)
                load_cell(l, i, j, special);
    } else {
        for (int64_t i = begin; i < end; i++)
            for (int64_t j = 0; j < l->raw->columns; j++)
                load_cell(l, i, j, special);
    }
}

static mercer_status load_cells(mercer_ctx *ctx, const mc_npy_header *header, mc_raw *raw) {
    loading l = {.raw = raw, .header = header};
    MC_TRY(MC_ALLOC(ctx, l.special, mercer_threads(ctx) * raw->columns));
    const mercer_status status = mc_for(ctx, raw->n, ROW_GRAIN, load_rows, &l);
    for (int64_t j = 0; j < raw->columns; j++)
        for (int t = 0; t < mercer_threads(ctx); t++)
            raw->column[j].special |= l.special[t * raw->columns + j];
    mc_free(l.special);
    return status;
}

static mercer_status refuse_text(mercer_ctx *ctx, const mc_raw *raw) {
    for (int64_t j = 0; j < raw->columns; j++)
        if (raw->column[j].kind == MC_COLUMN_LEVELS || raw->column[j].kind == MC_COLUMN_TEXT)
            return mc_fail(ctx, MERCER_DATA, "%s holds numbers, but its column %lld should be text", raw->input->name,
                           (long long)j + 1);
    return MERCER_OK;
}

static mercer_status read_table(mercer_ctx *ctx, const mc_reading *reading, mc_raw *raw, mercer_data **out) {
    mc_npy_header header;
    MC_TRY(mc_npy_parse(ctx, raw->input, &header));
    raw->n = header.n;
    raw->columns = header.m;
    MC_TRY(MC_ALLOC(ctx, raw->column, raw->columns));
    MC_TRY(MC_ALLOC(ctx, raw->order, raw->columns));
    MC_TRY(mc_roles_find(ctx, reading, raw));
    MC_TRY(refuse_text(ctx, raw));
    MC_TRY(mc_raw_room(ctx, raw));
    MC_TRY(load_cells(ctx, &header, raw));
    bool again = false;
    MC_TRY(mc_raw_classify(ctx, reading, raw, &again));
    return mc_raw_build(ctx, reading, raw, out);
}

mercer_status mc_npy_read(mercer_ctx *ctx, const mc_input *input, const mc_reading *reading, mercer_data **out) {
    mc_raw raw = {.input = input};
    const mercer_status status = read_table(ctx, reading, &raw, out);
    mc_raw_close(&raw);
    return status;
}

/* ---- Writing ---- */

/* The header is padded with spaces so that the elements begin at a multiple of 64. */
static size_t make_header(char *out, size_t room, int64_t n, int64_t m) {
    enum { START = 10 };
    const int length =
        snprintf(out + START, room - START, "{'descr': '<f8', 'fortran_order': False, 'shape': (%lld, %lld), }",
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

mercer_status mercer_npy_write(mercer_ctx *ctx, const char *path, const double *values, int64_t n, int64_t m) {
    mc_begin(ctx);
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
