/* block_writer.c: squares and rows of K that threads write each by itself. */
#include "gram/operator/entry_fault.h"
#include "gram/operator/rectangle.h"

enum { WRITTEN = 8 }; /* groups that a thread by itself writes and turns over while they are near */

static int64_t writer_groups(const mc_gram *gram) {
    const int64_t suits = mc_tile_workspace_groups(gram);
    return suits < WRITTEN ? suits : WRITTEN;
}

static mc_gram_writer lay_out_writer(const mc_gram *gram, mc_work *work) {
    mc_tile_workspace counted;
    const mc_gram_writer writer = {gram, mc_work_take(work, 1, sizeof *writer.space)};
    mc_tile_workspace_lay_out(gram, writer_groups(gram), work, writer.space ? writer.space : &counted);
    return writer;
}

size_t mc_gram_writer_bytes(const mc_gram *gram) {
    mc_work counted = {0};
    lay_out_writer(gram, &counted);
    return counted.used;
}

mc_gram_writer mc_gram_writer_open(const mc_gram *gram, mc_work *work) {
    return lay_out_writer(gram, work);
}

static void write_rectangle(const mc_gram_writer *writer, mc_rectangle *r) {
    r->column_tasks = r->j1 > r->j0 ? mc_block_column_tasks(r->gram->ops, r->j0, r->j1) : 0;
    r->group_rows = r->count;
    for (int64_t task = 0; task < r->column_tasks; task++)
        mc_rectangle_fill_task(r, task, writer->space);
}

typedef struct block_square {
    const mc_gram_writer *writer;
    int runs;
    const int64_t *first, *count;
    mc_rectangle whole;
} block_square;

/* Rows from row s of run a on, the at-th of all, against the columns from their diagonal on; and what that gives of the
   columns below. */
static void write_slab(const block_square *q, int a, int64_t s, int64_t at) {
    const int64_t most = writer_groups(q->writer->gram) * q->writer->gram->ops->rows, left = q->count[a] - s;
    const int64_t rows = left < most ? left : most, n = q->whole.count, end = at + rows;
    int64_t column = at;
    for (int b = a; b < q->runs; b++) {
        const int64_t skipped = b == a ? s : 0;
        mc_rectangle r = {.gram = q->writer->gram,
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
    mc_rectangle_turn_diagonal(&q->whole, at, end);
    for (int64_t j = end; j < n; j += MC_TURNED_SQUARE)
        mc_rectangle_turn_square(&q->whole, at, rows, j, j + MC_TURNED_SQUARE < n ? MC_TURNED_SQUARE : n - j);
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
        mc_rectangle r = {.gram = writer->gram,
                          .i0 = first[0] + s,
                          .count = count[0] - s < step ? count[0] - s : step,
                          .j0 = first[1],
                          .j1 = first[1] + count[1],
                          .dtype = MERCER_F64,
                          .out = out + s * ld,
                          .ld = ld};
        write_rectangle(writer, &r);
        for (int64_t j = 0; j < count[1]; j += MC_TURNED_SQUARE)
            mc_turn_doubles(out + s * ld + j, ld, r.count,
                            j + MC_TURNED_SQUARE < count[1] ? MC_TURNED_SQUARE : count[1] - j,
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
        mc_rectangle r = {.gram = writer->gram,
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
