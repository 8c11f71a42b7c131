/* npy_load.c: the elements of an array into the cells of a table, in parallel and in bulk: a block of the file is read,
   converted and looked through for what is not finite, and then dealt out to the columns while it is in the cache.

   C order: a block is a stretch of the file; runs of columns that lie side by side in the table too are copied
   together. Fortran order: a block is BLOCK_ROWS rows of BLOCK_COLUMNS columns, transposed eight rows at a time. */
#include "base/memory.h"
#include "base/parallel.h"
#include "base/ranks.h"
#include "base/status.h"
#include "data/npy/npy.h"
#include "data/read/share_table.h"
#include <math.h>

enum { BLOCK_ROWS = 1024, BLOCK_COLUMNS = 32, BLOCK = BLOCK_ROWS * BLOCK_COLUMNS, TILE = 8 };

/* A subnormal is made of its digits: parallel bodies take it for zero otherwise. */
static void from_f4(const char *bytes, int64_t count, double *out) {
    for (int64_t i = 0; i < count; i++) {
        uint32_t bits;
        float v;
        memcpy(&bits, bytes + (size_t)i * sizeof bits, sizeof bits);
        memcpy(&v, &bits, sizeof v);
        const double tiny = (double)(int32_t)(bits & 0x7fffffu) * 0x1p-149;
        out[i] = bits & 0x7f800000u ? (double)v : bits >> 31 ? -tiny : tiny;
    }
}

#define FROM from_i1
#define TYPE int8_t
#include "data/npy/npy_from.inc.c"
#define FROM from_i2
#define TYPE int16_t
#include "data/npy/npy_from.inc.c"
#define FROM from_i4
#define TYPE int32_t
#include "data/npy/npy_from.inc.c"
#define FROM from_i8
#define TYPE int64_t
#include "data/npy/npy_from.inc.c"
#define FROM from_u1
#define TYPE uint8_t
#include "data/npy/npy_from.inc.c"
#define FROM from_u2
#define TYPE uint16_t
#include "data/npy/npy_from.inc.c"
#define FROM from_u4
#define TYPE uint32_t
#include "data/npy/npy_from.inc.c"
#define FROM from_u8
#define TYPE uint64_t
#include "data/npy/npy_from.inc.c"

typedef void convert(const char *bytes, int64_t count, double *out);

/* NULL: doubles, which are read where they are wanted. */
static convert *converter_of_dtype(const mc_npy_header *h) {
    static const struct {
        char kind;
        int size;
        convert *from;
    } table[] = {{'f', 4, from_f4}, {'i', 1, from_i1}, {'i', 2, from_i2}, {'i', 4, from_i4}, {'i', 8, from_i8},
                 {'u', 1, from_u1}, {'u', 2, from_u2}, {'u', 4, from_u4}, {'u', 8, from_u8}, {'b', 1, from_u1}};
    for (size_t k = 0; k < sizeof table / sizeof table[0]; k++)
        if (table[k].kind == h->kind && table[k].size == h->size)
            return table[k].from;
    return NULL;
}

/* Columns first .. first + count - 1 of the file, side by side in the table; cell NULL: not used. */
typedef struct column_run {
    int64_t first, count;
    double *cell;
    int64_t stride;
} column_run;

typedef struct loading {
    const mc_raw *raw;
    const mc_npy_header *header;
    convert *from;
    column_run *runs; /* at most a run a column */
    int64_t run_count;
    bool *special; /* threads x columns */
    char *bytes;   /* threads x BLOCK elements as they stand in the file */
    double *block; /* threads x BLOCK elements as doubles */
    int *error;    /* per chunk: of mc_input_piece */
    int64_t begin; /* elements, or rows, before those that this process reads */
} loading;

static void find_runs(loading *l) {
    for (int64_t j = 0; j < l->raw->columns; j++) {
        const mc_file_column *c = &l->raw->column[j];
        column_run *r = &l->runs[l->run_count - (j > 0)];
        const bool joins = j > 0 && (c->cell ? r->cell && c->cell == r->cell + r->count : !r->cell);
        if (joins)
            r->count++;
        else
            l->runs[l->run_count++] = (column_run){.first = j, .count = 1, .cell = c->cell, .stride = c->stride};
    }
}

static void to_host_order(char *bytes, int size, int64_t count) {
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    for (int64_t i = 0; i < count; i++, bytes += size)
        for (int b = 0; b < size / 2; b++) {
            const char kept = bytes[b];
            bytes[b] = bytes[size - 1 - b];
            bytes[size - 1 - b] = kept;
        }
#else
    (void)bytes, (void)size, (void)count;
#endif
}

/* Elements first .. first + count - 1 of the file as doubles; what mc_input_piece says. */
static int fetch_elements(const loading *l, int64_t first, int64_t count, int thread, double *out) {
    const mc_npy_header *h = l->header;
    char *bytes = l->from ? l->bytes + (int64_t)thread * BLOCK * h->size : (char *)out;
    const int error = mc_input_piece(l->raw->input, h->offset + first * h->size, bytes, count * h->size);
    if (error)
        return error;
    to_host_order(bytes, h->size, count);
    if (l->from)
        l->from(bytes, count, out);
    return 0;
}

/* Whether some exponent has all its bits set; written so that the compiler takes several at a time. */
static bool some_not_finite(const double *v, int64_t count) {
    uint64_t any = 0;
    for (int64_t i = 0; i < count; i++) {
        uint64_t bits;
        memcpy(&bits, &v[i], sizeof bits);
        any |= (bits & 0x7fffffffffffffffu) + 0x0010000000000000u; /* carries into the sign */
    }
    return any >> 63;
}

/* A NaN is a missing value, as in CSV. column: of the first element; the next is step columns on. */
static void box_not_finite(const loading *l, double *v, int64_t count, int64_t column, int64_t step, bool *special) {
    for (int64_t i = 0; i < count; i++) {
        if (isfinite(v[i]))
            continue;
        special[(column + i * step) % l->raw->columns] = true;
        v[i] = mc_cell_box(isnan(v[i]) ? MC_CELL_MISSING : MC_CELL_INFINITE, 0);
    }
}

static void box_special_values(const loading *l, double *v, int64_t count, int64_t column, int64_t step, int thread) {
    if (l->header->kind == 'f' && some_not_finite(v, count))
        box_not_finite(l, v, count, column, step, l->special + (int64_t)thread * l->raw->columns);
}

/* ---- C order ---- */

static void copy_run(const column_run *r, int64_t row, int64_t column, int64_t count, const double *v) {
    if (!r->cell)
        return;
    double *to = r->cell + row * r->stride + (column - r->first);
    if (count == 1)
        *to = *v;
    else
        memcpy(to, v, (size_t)count * sizeof *v);
}

/* The stretch of elements [first, end), which begins and ends anywhere in a row. */
static void deal_out(const loading *l, int64_t first, int64_t end, const double *v) {
    const int64_t m = l->raw->columns;
    int64_t row = first / m, column = first % m, k = 0;
    while (l->runs[k].first + l->runs[k].count <= column)
        k++;
    while (first < end) {
        const column_run *r = &l->runs[k];
        const int64_t left = r->first + r->count - column, count = left < end - first ? left : end - first;
        copy_run(r, row, column, count, v);
        v += count;
        first += count;
        column += count;
        if (++k == l->run_count) {
            k = column = 0;
            row++;
        }
    }
}

/* All columns used, in their order, and nothing else in the table: the block is read where it belongs. */
static bool in_place(const loading *l) {
    return l->run_count == 1 && l->runs[0].cell && l->runs[0].stride == l->raw->columns;
}

static void load_stretch(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    const loading *l = arg;
    begin += l->begin;
    end += l->begin;
    double *v = in_place(l) ? l->runs[0].cell + begin : l->block + (int64_t)thread * BLOCK;
    l->error[chunk] = fetch_elements(l, begin, end - begin, thread, v);
    if (l->error[chunk])
        return;
    box_special_values(l, v, end - begin, begin % l->raw->columns, 1, thread);
    if (!in_place(l))
        deal_out(l, begin, end, v);
}

/* ---- Fortran order ---- */

/* Rows of a block are close together in the table, so that a few of them stay in the cache while the columns go by. */
static void transpose_into_cells(const loading *l, int64_t row, int64_t rows, int64_t first, int64_t columns,
                                 const double *v) {
    for (int64_t t = 0; t < rows; t += TILE)
        for (int64_t j = 0; j < columns; j++) {
            const mc_file_column *c = &l->raw->column[first + j];
            for (int64_t i = t; c->cell && i < rows && i < t + TILE; i++)
                c->cell[(row + i) * c->stride] = v[j * BLOCK_ROWS + i];
        }
}

static void load_rows(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    const loading *l = arg;
    const int64_t m = l->raw->columns;
    begin += l->begin;
    end += l->begin;
    double *v = l->block + (int64_t)thread * BLOCK;
    for (int64_t first = 0; first < m && !l->error[chunk]; first += BLOCK_COLUMNS) {
        const int64_t columns = m - first < BLOCK_COLUMNS ? m - first : BLOCK_COLUMNS;
        for (int64_t j = 0; j < columns && !l->error[chunk]; j++) {
            double *column = v + j * BLOCK_ROWS;
            l->error[chunk] = fetch_elements(l, (first + j) * l->raw->n + begin, end - begin, thread, column);
            if (!l->error[chunk])
                box_special_values(l, column, end - begin, first + j, 0, thread);
        }
        if (!l->error[chunk])
            transpose_into_cells(l, begin, end - begin, first, columns, v);
    }
}

/* ---- All of it ---- */

static mercer_status allocate_loading(mercer_ctx *ctx, loading *l, int64_t chunks) {
    const int threads = mercer_threads(ctx);
    MC_TRY(MC_ALLOC(ctx, l->runs, l->raw->columns));
    MC_TRY(MC_ALLOC(ctx, l->special, threads * l->raw->columns));
    MC_TRY(MC_ALLOC(ctx, l->error, chunks));
    l->block = mc_alloc_unset(ctx, threads, BLOCK * sizeof *l->block);
    l->bytes = mc_alloc_unset(ctx, threads, l->from ? (size_t)(BLOCK * l->header->size) : 1);
    return l->block && l->bytes ? MERCER_OK : MERCER_MEMORY;
}

/* The rows from .. to - 1. */
static mercer_status load_array(mercer_ctx *ctx, loading *l, mc_raw *raw, int64_t from, int64_t to) {
    const int64_t each = l->header->fortran ? 1 : raw->columns, n = (to - from) * each,
                  grain = l->header->fortran ? BLOCK_ROWS : BLOCK;
    l->begin = from * each;
    MC_TRY(allocate_loading(ctx, l, mc_chunk_count(n, grain)));
    find_runs(l);
    MC_TRY(mc_for(ctx, n, grain, l->header->fortran ? load_rows : load_stretch, l));
    for (int64_t k = 0; k < mc_chunk_count(n, grain); k++)
        if (l->error[k])
            return mc_input_fail(ctx, raw->input, l->error[k]);
    for (int64_t j = 0; j < raw->columns; j++)
        for (int t = 0; t < mercer_threads(ctx); t++)
            raw->column[j].special |= l->special[t * raw->columns + j];
    return MERCER_OK;
}

/* Each rank reads a run of the rows; all of them get all. */
static mercer_status load_shared(mercer_ctx *ctx, loading *l, mc_raw *raw) {
    int64_t from, to;
    mc_share_run(ctx, raw->n, &from, &to);
    return mc_raw_share_in_place(ctx, raw, (uint64_t)raw->n, load_array(ctx, l, raw, from, to));
}

static bool worth_sharing(const mercer_ctx *ctx, const mc_raw *raw) {
    return mc_ranks_share(ctx) && !raw->input->bytes && raw->n * raw->columns >= (int64_t)BLOCK * mercer_ranks(ctx);
}

mercer_status mc_npy_load(mercer_ctx *ctx, const mc_npy_header *header, mc_raw *raw) {
    loading l = {.raw = raw, .header = header, .from = converter_of_dtype(header)};
    const mercer_status status =
        worth_sharing(ctx, raw) ? load_shared(ctx, &l, raw) : load_array(ctx, &l, raw, 0, raw->n);
    void *const blocks[] = {l.runs, l.special, l.error, l.block, l.bytes};
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++)
        mc_free(blocks[i]);
    return status;
}
