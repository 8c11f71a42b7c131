/* block.c: pieces of K written out: rectangles, listed rows, the diagonal, the packed triangle. A square of a symmetric
   K is evaluated on one side of its diagonal only and mirrored. */
#include "base/ctx.h"
#include "base/parallel.h"
#include "base/status.h"
#include "gram/operator/entry_fault.h"
#include <math.h>
#include <string.h>

enum {
    COLUMN_PANELS = 40, /* of one task: rows are packed once for as many columns */
    GROUPS = 60,        /* of rows */
    /* at least, where rows and columns suffice: groups of one task share its panels while they are near */
    TASKS = 32,
    WRITTEN = 8 /* groups that a thread by itself writes and turns over while they are near */
};

/* A rectangle of K to write: rows[0 .. count-1] or i0 .. against columns j0 .. j1 - 1. */
typedef struct rectangle {
    const mc_gram *gram;
    const int64_t *rows;
    int64_t i0, count, j0, j1, ld;
    mercer_dtype dtype;
    void *out;
    void *const *scattered; /* one place per row, in place of out and ld; NULL: none */
    int16_t *low;           /* what floats round off, in units of 1/per_unit, laid out as out is; NULL: it is lost */
    double per_unit;
    bool mirror; /* rows and columns are the same range: what is below the diagonal is copied from above */
    int64_t group_rows, column_tasks;
    mc_tile_workspace *space; /* per thread */
} rectangle;

static double real_at(const mc_gram *g, const void *values, int64_t at) {
    return g->precision == MERCER_F32 ? (double)((const float *)values)[at] : ((const double *)values)[at];
}

/* The number of row i of a rectangle in K. */
static int64_t row_of(const rectangle *r, int64_t i) {
    return r->rows ? r->rows[i] : r->i0 + i;
}

/* n doubles as floats, from column j0 + at on; what floats cannot hold is a fault. */
static void narrow_run(const rectangle *r, int64_t i, int64_t at, const double *values, int64_t n, float *out) {
    for (int64_t k = 0; k < n; k++)
        out[k] = (float)values[k];
    for (int64_t k = 0; r->gram->fault && k < n; k++)
        if (!isfinite(out[k]))
            mc_fault_note(r->gram, row_of(r, i), r->j0 + at + k);
}

/* A few hundred bytes: a call of a library would cost as much as they do. */
static void copy_bytes(char *to, const char *from, int64_t bytes) {
    int64_t at = 0;
    for (; at + 64 <= bytes; at += 64)
        memcpy(to + at, from + at, 64);
    memcpy(to + at, from + at, (size_t)(bytes - at));
}

/* n reals to row i of out from column at on, in its own type. */
static void copy_run(const rectangle *r, int64_t i, int64_t at, const void *values, int64_t from, int64_t n) {
    const int64_t size = mc_real_size(r->gram);
    char *row = r->scattered ? r->scattered[i] : (char *)r->out + i * r->ld * (int64_t)(r->dtype == MERCER_F64 ? 8 : 4);
    if (r->gram->precision == r->dtype)
        copy_bytes(row + at * size, (const char *)values + from * size, n * size);
    else if (r->dtype == MERCER_F64)
        for (int64_t k = 0; k < n; k++)
            ((double *)(void *)row)[at + k] = (double)((const float *)values)[from + k];
    else
        narrow_run(r, i, at, (const double *)values + from, n, (float *)(void *)row + at);
}

/* n doubles as floats and what these round off. */
static void split_run(const rectangle *r, int64_t at, const double *values, int64_t n) {
    float *high = (float *)r->out + at;
    int16_t *low = r->low + at;
    for (int64_t k = 0; k < n; k++) {
        high[k] = (float)values[k];
        low[k] = (int16_t)(int32_t)((values[k] - (double)high[k]) * r->per_unit);
    }
}

typedef struct rows_written {
    const rectangle *rectangle;
    int64_t begin; /* place of the first loaded row in the rectangle */
} rows_written;

static void write_strip(void *arg, const mc_strip *strip) {
    const rows_written *w = arg;
    const rectangle *r = w->rectangle;
    const int64_t rows = r->gram->ops->rows, width = r->gram->ops->columns;
    for (int64_t k = 0; k < rows && strip->group * rows + k < strip->space->count; k++) {
        const int64_t i = w->begin + strip->group * rows + k;
        for (int64_t p = 0; p < strip->panels; p++) {
            const int64_t first = (strip->panel + p) * width, j = first > r->j0 ? first : r->j0;
            const int64_t end = first + width < r->j1 ? first + width : r->j1,
                          from = (p * rows + k) * width + j - first;
            const int64_t skip = r->mirror && j < r->i0 + i ? (r->i0 + i < end ? r->i0 + i - j : end - j) : 0;
            if (r->low)
                split_run(r, i * r->ld + j - r->j0, (const double *)strip->values + from, end - j);
            else
                copy_run(r, i, j + skip - r->j0, strip->values, from + skip, end - j - skip);
        }
    }
}

/* Task (row group, run of columns), with the space of whoever computes it. */
static void fill_task(const rectangle *r, int64_t chunk, mc_tile_workspace *space) {
    const mc_gram *g = r->gram;
    const int64_t width = g->ops->columns, first = chunk / r->column_tasks * r->group_rows;
    const int64_t count = first + r->group_rows < r->count ? r->group_rows : r->count - first;
    int64_t p0 = r->j0 / width + chunk % r->column_tasks * COLUMN_PANELS;
    const int64_t last = mc_chunk_count(r->j1, width), p1 = p0 + COLUMN_PANELS < last ? p0 + COLUMN_PANELS : last;
    if (r->mirror && p0 < (r->i0 + first) / width)
        p0 = (r->i0 + first) / width;
    if (p0 >= p1)
        return;
    mc_tile_workspace_rows(g, space, r->rows ? r->rows + first : NULL, r->i0 + first, count);
    rows_written w = {.rectangle = r, .begin = first};
    mc_tile_workspace_walk(g, space, 0, space->groups, p0, p1, write_strip, &w);
}

static void fill_rectangle(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)begin, (void)end;
    const rectangle *r = arg;
    fill_task(r, chunk, &r->space[thread]);
}

/* ---- The other side of the diagonal ---- */

enum { SQUARE = 64 }; /* rows and columns turned over at once: both sides stay in the first cache */

typedef double two_doubles __attribute__((vector_size(16)));
typedef float two_floats __attribute__((vector_size(8)));

static void turn_two_doubles(const double *from, int64_t ld, double *to, int64_t to_ld) {
    two_doubles x, y;
    memcpy(&x, from, sizeof x);
    memcpy(&y, from + ld, sizeof y);
    const two_doubles first = __builtin_shufflevector(x, y, 0, 2), second = __builtin_shufflevector(x, y, 1, 3);
    memcpy(to, &first, sizeof first);
    memcpy(to + to_ld, &second, sizeof second);
}

/* to[b * to_ld + a] <- from[a * ld + b], two by two; what two do not divide, one by one. */
static void turn_doubles(const double *from, int64_t ld, int64_t rows, int64_t columns, double *to, int64_t to_ld) {
    for (int64_t b = 0; b + 2 <= columns; b += 2)
        for (int64_t a = 0; a + 2 <= rows; a += 2)
            turn_two_doubles(from + a * ld + b, ld, to + b * to_ld + a, to_ld);
    for (int64_t b = 0; rows % 2 && b < columns; b++)
        to[b * to_ld + rows - 1] = from[(rows - 1) * ld + b];
    for (int64_t a = 0; columns % 2 && a < rows; a++)
        to[(columns - 1) * to_ld + a] = from[a * ld + columns - 1];
}

static void turn_two_floats(const float *from, float *to, int64_t ld) {
    two_floats x, y;
    memcpy(&x, from, sizeof x);
    memcpy(&y, from + ld, sizeof y);
    const two_floats first = __builtin_shufflevector(x, y, 0, 2), second = __builtin_shufflevector(x, y, 1, 3);
    memcpy(to, &first, sizeof first);
    memcpy(to + ld, &second, sizeof second);
}

static void turn_one(const rectangle *r, int64_t i, int64_t j) {
    if (r->dtype == MERCER_F64)
        ((double *)r->out)[j * r->ld + i] = ((const double *)r->out)[i * r->ld + j];
    else
        ((float *)r->out)[j * r->ld + i] = ((const float *)r->out)[i * r->ld + j];
}

/* Rows i .. i + rows - 1 and columns j .. of a square above the diagonal. */
static void turn_square(const rectangle *r, int64_t i, int64_t rows, int64_t j, int64_t columns) {
    const int64_t ld = r->ld;
    if (r->dtype == MERCER_F64) {
        turn_doubles((const double *)r->out + i * ld + j, ld, rows, columns, (double *)r->out + j * ld + i, ld);
        return;
    }
    for (int64_t b = j; b + 2 <= j + columns; b += 2)
        for (int64_t a = i; a + 2 <= i + rows; a += 2)
            turn_two_floats((const float *)r->out + a * ld + b, (float *)r->out + b * ld + a, ld);
    for (int64_t b = j; rows % 2 && b < j + columns; b++)
        turn_one(r, i + rows - 1, b);
    for (int64_t a = i; columns % 2 && a < i + rows; a++)
        turn_one(r, a, j + columns - 1);
}

/* The square on the diagonal itself. */
static void turn_diagonal(const rectangle *r, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++)
        for (int64_t j = i + 1; j < end; j++)
            turn_one(r, i, j);
}

/* Rows begin .. end-1 below the diagonal, from the columns above it. */
static void turn_over(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk, (void)thread;
    const rectangle *r = arg;
    for (int64_t i = 0; i < begin; i += SQUARE)
        turn_square(r, i, i + SQUARE < begin ? SQUARE : begin - i, begin, end - begin);
    turn_diagonal(r, begin, end);
}

int64_t mc_block_column_tasks(const mc_tile_ops *ops, int64_t j0, int64_t j1) {
    return mc_chunk_count(mc_chunk_count(j1, ops->columns) - j0 / ops->columns, COLUMN_PANELS);
}

int64_t mc_block_groups(const mc_tile_ops *ops, int64_t suits, int64_t count, int64_t column_tasks) {
    const int64_t best = suits < GROUPS ? suits : GROUPS, each = TASKS * ops->rows;
    const int64_t share = count / each * column_tasks + count % each * column_tasks / each;
    return share < 1 ? 1 : share < best ? share : best;
}

/* A sparse panel is unpacked for each task that meets it: there a task has many rows, and the columns make the tasks.
   */
static int64_t groups_for(const mc_gram *g, int64_t count, int64_t column_tasks) {
    if (mc_gram_sparse(g))
        return count < GROUPS * g->ops->rows ? mc_chunk_count(count, g->ops->rows) : GROUPS;
    return mc_block_groups(g->ops, mc_tile_workspace_groups(g), count, column_tasks);
}

size_t mc_gram_block_bytes(mercer_ctx *ctx, const mc_gram *gram) {
    return (size_t)ctx->threads
               * (mc_tile_workspace_bytes(gram, groups_for(gram, INT64_MAX, 1)) + sizeof(mc_tile_workspace))
           + 4 * MC_ALIGN;
}

static mercer_status run_rectangle(mercer_ctx *ctx, rectangle *r) {
    if (r->count <= 0 || r->j1 <= r->j0)
        return MERCER_OK;
    const mc_gram *g = r->gram;
    r->column_tasks = mc_block_column_tasks(g->ops, r->j0, r->j1);
    const int64_t groups = groups_for(g, r->count, r->column_tasks);
    mc_work work;
    MC_TRY(mc_tile_workspaces_open(ctx, g, ctx->threads, groups, &work, &r->space));
    r->group_rows = groups * g->ops->rows;
    mercer_status status = mc_for(ctx, mc_chunk_count(r->count, r->group_rows) * r->column_tasks, 1, fill_rectangle, r);
    mc_work_close(&work);
    status = status ? status : mc_fault_report(ctx, g);
    return !status && r->mirror ? mc_for(ctx, r->count, SQUARE, turn_over, r) : status;
}

mercer_status mc_gram_block(mercer_ctx *ctx, const mc_gram *gram, int64_t i0, int64_t i1, int64_t j0, int64_t j1,
                            mercer_dtype dtype, void *out, int64_t ld) {
    rectangle r = {.gram = gram,
                   .i0 = i0,
                   .count = i1 - i0,
                   .j0 = j0,
                   .j1 = j1,
                   .dtype = dtype,
                   .out = out,
                   .ld = ld,
                   .mirror = gram->symmetric && !gram->both_triangles && i0 == j0 && i1 == j1};
    return run_rectangle(ctx, &r);
}

/* ---- Squares that threads write each by itself ---- */

static int64_t writer_groups(const mc_gram *gram) {
    const int64_t suits = mc_tile_workspace_groups(gram);
    return suits < WRITTEN ? suits : WRITTEN;
}

size_t mc_gram_writer_bytes(const mc_gram *gram) {
    return mc_tile_workspace_bytes(gram, writer_groups(gram)) + mc_work_need(1, sizeof(mc_tile_workspace));
}

mc_gram_writer mc_gram_writer_open(const mc_gram *gram, mc_work *work) {
    const mc_gram_writer writer = {gram, mc_work_take(work, 1, sizeof *writer.space)};
    mc_tile_workspace_lay_out(gram, writer_groups(gram), work, writer.space);
    return writer;
}

static void write_rectangle(const mc_gram_writer *writer, rectangle *r) {
    r->column_tasks = r->j1 > r->j0 ? mc_block_column_tasks(r->gram->ops, r->j0, r->j1) : 0;
    r->group_rows = r->count;
    for (int64_t task = 0; task < r->column_tasks; task++)
        fill_task(r, task, writer->space);
}

typedef struct block_square {
    const mc_gram_writer *writer;
    int runs;
    const int64_t *first, *count;
    rectangle whole;
} block_square;

/* Rows from row s of run a on, the at-th of all, against the columns from their diagonal on; and what that gives of the
   columns below. */
static void write_slab(const block_square *q, int a, int64_t s, int64_t at) {
    const int64_t most = writer_groups(q->writer->gram) * q->writer->gram->ops->rows, left = q->count[a] - s;
    const int64_t rows = left < most ? left : most, n = q->whole.count, end = at + rows;
    int64_t column = at;
    for (int b = a; b < q->runs; b++) {
        const int64_t skipped = b == a ? s : 0;
        rectangle r = {.gram = q->writer->gram,
                       .i0 = q->first[a] + s,
                       .count = rows,
                       .j0 = q->first[b] + skipped,
                       .j1 = q->first[b] + q->count[b],
                       .dtype = MERCER_F64,
                       .out = (double *)q->whole.out + at * q->whole.ld + column,
                       .ld = q->whole.ld,
                       .mirror = a == b};
        write_rectangle(q->writer, &r);
        column += q->count[b] - skipped;
    }
    turn_diagonal(&q->whole, at, end);
    for (int64_t j = end; j < n; j += SQUARE)
        turn_square(&q->whole, at, rows, j, j + SQUARE < n ? SQUARE : n - j);
}

void mc_gram_write_square(const mc_gram_writer *writer, int runs, const int64_t *first, const int64_t *count,
                          double *out, int64_t ld) {
    block_square q = {writer, runs, first, count, {.dtype = MERCER_F64, .out = out, .ld = ld}};
    for (int a = 0; a < runs; a++)
        q.whole.count += count[a];
    const int64_t step = writer_groups(writer->gram) * writer->gram->ops->rows;
    for (int64_t a = 0, begin = 0; a < runs; begin += count[a++])
        for (int64_t s = 0; s < count[a]; s += step)
            write_slab(&q, (int)a, s, begin + s);
}

void mc_gram_write_between(const mc_gram_writer *writer, const int64_t first[2], const int64_t count[2], double *out,
                           int64_t ld, double *turned, int64_t turned_ld) {
    const int64_t step = writer_groups(writer->gram) * writer->gram->ops->rows;
    for (int64_t s = 0; s < count[0]; s += step) {
        rectangle r = {.gram = writer->gram,
                       .i0 = first[0] + s,
                       .count = count[0] - s < step ? count[0] - s : step,
                       .j0 = first[1],
                       .j1 = first[1] + count[1],
                       .dtype = MERCER_F64,
                       .out = out + s * ld,
                       .ld = ld};
        write_rectangle(writer, &r);
        for (int64_t j = 0; j < count[1]; j += SQUARE)
            turn_doubles(out + s * ld + j, ld, r.count, j + SQUARE < count[1] ? SQUARE : count[1] - j,
                         turned + j * turned_ld + s, turned_ld);
    }
}

/* Two groups: the columns, which come from a cache further away, are read once for both. */
int64_t mc_gram_writer_rows(const mc_gram *gram) {
    const int64_t rows = 2 * gram->ops->rows;
    return rows < MC_GRAM_WRITER_ROWS ? rows : MC_GRAM_WRITER_ROWS;
}

void mc_gram_write_rows(const mc_gram_writer *writer, const int64_t *rows, int64_t listed, int runs,
                        const int64_t *first, const int64_t *count, double *const *out) {
    void *to[MC_GRAM_WRITER_ROWS];
    int64_t column = 0;
    for (int a = 0; a < runs; column += count[a++]) {
        for (int64_t k = 0; k < listed; k++)
            to[k] = out[k] + column;
        rectangle r = {.gram = writer->gram,
                       .rows = rows,
                       .count = listed,
                       .j0 = first[a],
                       .j1 = first[a] + count[a],
                       .dtype = MERCER_F64,
                       .scattered = to};
        write_rectangle(writer, &r);
    }
}

mercer_status mc_gram_writers_report(mercer_ctx *ctx, const mc_gram *gram) {
    return mc_fault_report(ctx, gram);
}

mercer_status mc_gram_split(mercer_ctx *ctx, const mc_gram *gram, int64_t i0, int64_t i1, int64_t j0, int64_t j1,
                            double unit, float *high, int16_t *low, int64_t ld) {
    rectangle r = {.gram = gram,
                   .i0 = i0,
                   .count = i1 - i0,
                   .j0 = j0,
                   .j1 = j1,
                   .dtype = MERCER_F32,
                   .out = high,
                   .ld = ld,
                   .low = low,
                   .per_unit = 1 / unit};
    return run_rectangle(ctx, &r);
}

mercer_status mc_gram_take_columns(mercer_ctx *ctx, const mc_gram *gram, const int64_t *rows, int64_t count, int64_t j0,
                                   int64_t j1, mercer_dtype dtype, void *out, int64_t ld) {
    rectangle r = {
        .gram = gram, .rows = rows, .count = count, .j0 = j0, .j1 = j1, .dtype = dtype, .out = out, .ld = ld};
    return run_rectangle(ctx, &r);
}

mercer_status mc_gram_take(mercer_ctx *ctx, const mc_gram *gram, const int64_t *rows, int64_t count, mercer_dtype dtype,
                           void *out, int64_t ld) {
    return mc_gram_take_columns(ctx, gram, rows, count, 0, gram->z->n, dtype, out, ld);
}

mercer_status mc_gram_scatter(mercer_ctx *ctx, const mc_gram *gram, const int64_t *rows, int64_t count, int64_t j0,
                              int64_t j1, mercer_dtype dtype, void *const *out) {
    rectangle r = {.gram = gram, .rows = rows, .count = count, .j0 = j0, .j1 = j1, .dtype = dtype, .scattered = out};
    return run_rectangle(ctx, &r);
}

mercer_status mc_gram_diagonal(mercer_ctx *ctx, const mc_gram *gram, double *out) {
    if (!gram->symmetric)
        return mc_fail(ctx, MERCER_INTERNAL, "the diagonal of a Gram operator that is not symmetric was asked for");
    memcpy(out, gram->diagonal, (size_t)gram->x->n * sizeof *out);
    return mc_fault_diagonal(ctx, gram, out);
}

/* ---- Packed ---- */

/* Column c of the packed rectangle, h = ceil(n/2) columns of length n (n odd) or n + 1 (even): K(i, h..i) of one row i
   of the second half, then K(c, c..n-1). */
typedef struct triangle {
    const mc_gram *gram;
    const double *shift;
    double *out;
    int64_t n, h, even, ld;
    mc_tile_workspace *space;
} triangle;

typedef struct part_written {
    const triangle *triangle;
    int64_t first; /* row of K that was loaded first */
    bool lower;    /* rows of the second half: columns h .. i; otherwise columns i .. n - 1 */
} part_written;

static void write_packed(void *arg, const mc_strip *strip) {
    const part_written *w = arg;
    const triangle *t = w->triangle;
    const int64_t rows = t->gram->ops->rows, width = t->gram->ops->columns;
    for (int64_t k = 0; k < rows && strip->group * rows + k < strip->space->count; k++) {
        const int64_t i = w->first + strip->group * rows + k;
        const int64_t low = w->lower ? t->h : i, high = w->lower ? i + 1 : t->n;
        const int64_t base = w->lower ? (i - t->h + 1 - t->even) * t->ld - t->h : i * t->ld + t->even;
        for (int64_t p = 0; p < strip->panels; p++) {
            const int64_t first = (strip->panel + p) * width, begin = first > low ? first : low;
            const int64_t end = first + width < high ? first + width : high;
            for (int64_t j = begin; j < end; j++)
                t->out[base + j] = real_at(t->gram, strip->values, (p * rows + k) * width + j - first);
        }
        if (t->shift && i / width >= strip->panel && i / width < strip->panel + strip->panels)
            t->out[base + i] += t->shift[i];
    }
}

static void pack_part(triangle *t, mc_tile_workspace *space, int64_t first, int64_t count, bool lower) {
    const int64_t width = t->gram->ops->columns;
    const int64_t p0 = (lower ? t->h : first) / width, p1 = mc_chunk_count(lower ? first + count : t->n, width);
    if (count <= 0)
        return;
    part_written w = {.triangle = t, .first = first, .lower = lower};
    mc_tile_workspace_rows(t->gram, space, NULL, first, count);
    mc_tile_workspace_walk(t->gram, space, 0, space->groups, p0, p1, write_packed, &w);
}

/* Columns begin .. end - 1 of the packed rectangle. */
static void fill_packed(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk;
    triangle *t = arg;
    const int64_t row = begin + t->h - 1 + t->even, low = row > t->h ? row : t->h;
    pack_part(t, &t->space[thread], begin, end - begin, false);
    pack_part(t, &t->space[thread], low, end + t->h - 1 + t->even - low, true);
}

mercer_status mc_gram_packed(mercer_ctx *ctx, const mc_gram *gram, const double *shift, double *out) {
    const int64_t n = gram->x->n, even = n % 2 == 0;
    triangle t = {.gram = gram, .shift = shift, .out = out, .n = n, .h = (n + 1) / 2, .even = even, .ld = n + even};
    mc_work work;
    const int64_t groups = mc_block_groups(gram->ops, mc_tile_workspace_groups(gram), t.h, 1);
    MC_TRY(mc_tile_workspaces_open(ctx, gram, ctx->threads, groups, &work, &t.space));
    const mercer_status status = mc_for(ctx, t.h, groups * gram->ops->rows, fill_packed, &t);
    mc_work_close(&work);
    return status ? status : mc_fault_report(ctx, gram);
}
