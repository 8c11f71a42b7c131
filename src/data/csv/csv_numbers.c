/* csv_numbers.c: see csv_numbers.h. Rows are made a batch at a time, a chunk of them into a buffer of its own, and the
   buffers written in order. */
#include "data/csv/csv_numbers.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "base/status.h"
#include <string.h>

enum {
    CELL = 32,            /* bytes of a number and what stands after it, at most */
    CHUNK_CELLS = 2048,   /* numbers of a chunk, where a row has no more */
    BATCH_CELLS = 1 << 18 /* and of a batch */
};

typedef struct written_rows {
    const mc_csv_block *block;
    int64_t blocks, cells; /* cells: of a row */
    int64_t first, grain;  /* rows: of the batch, and of a chunk */
    char *text;            /* of all chunks, cells * CELL bytes to a row */
    size_t *size;          /* of each */
} written_rows;

static char *write_row(const written_rows *w, int64_t i, char *at) {
    for (int64_t b = 0; b < w->blocks; b++)
        for (int64_t j = 0; j < w->block[b].width; j++) {
            mc_number_text(w->block[b].values[i * w->block[b].stride + j], at);
            at += strlen(at);
            *at++ = ',';
        }
    at[-1] = '\n';
    return at;
}

static void write_chunk(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)thread;
    const written_rows *w = arg;
    char *const text = w->text + begin * w->cells * CELL, *at = text;
    const unsigned flushed = mc_keep_subnormals();
    for (int64_t i = begin; i < end; i++)
        at = write_row(w, w->first + i, at);
    mc_restore_subnormals(flushed);
    w->size[chunk] = (size_t)(at - text);
}

static int64_t at_least_one(int64_t rows) {
    return rows > 1 ? rows : 1;
}

static void write_batch(mercer_ctx *ctx, written_rows *w, int64_t rows, FILE *out) {
    mc_for(ctx, rows, w->grain, write_chunk, w); /* which nothing stops: see below */
    for (int64_t chunk = 0; chunk < mc_chunk_count(rows, w->grain); chunk++)
        fwrite(w->text + chunk * w->grain * w->cells * CELL, 1, w->size[chunk], out);
}

mercer_status mc_csv_numbers(mercer_ctx *ctx, int64_t n, const mc_csv_block *block, int64_t blocks, FILE *out) {
    written_rows w = {.block = block, .blocks = blocks};
    for (int64_t b = 0; b < blocks; b++)
        w.cells += block[b].width;
    const int64_t cells = at_least_one(w.cells), most = at_least_one(BATCH_CELLS / cells), batch = n < most ? n : most;
    w.grain = at_least_one(CHUNK_CELLS / cells);
    mercer_status status = (w.text = mc_alloc_unset(ctx, batch * cells, CELL)) ? MERCER_OK : MERCER_MEMORY;
    MC_THEN(status, MC_ALLOC(ctx, w.size, mc_chunk_count(batch, w.grain) + 1));
    mc_set_phase_span(ctx, 1, 1);
    mc_shield_from_stop(ctx, true);
    for (; !status && w.first < n; w.first += batch)
        write_batch(ctx, &w, n - w.first < batch ? n - w.first : batch, out);
    mc_shield_from_stop(ctx, false);
    mc_free(w.text);
    mc_free(w.size);
    return status;
}
