/* csv.c: CSV text to cells, in parallel, and the order of the whole reading:

     lines (where records begin), head (delimiter, header, text columns), roles (target, weights), room, cells,
   classify, build.

   A piece of the text fills the rows of the records that begin in it, so the result does not depend on the number of
   threads. Room is taken only once the delimiters in the file are known to be enough for it: a record of a million
   commas costs nothing by itself. */
#include "data/csv/csv.h"
#include "base/ctx.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "base/status.h"

typedef struct csv_filling {
    mc_raw *raw;
    mc_csv_slot *slot;
    mc_csv_cursor *at; /* per piece: where it stopped */
    bool *special;     /* threads x columns: a cell that is not a number was seen */
} csv_filling;

static void fill_piece(const csv_filling *f, int64_t k, bool *special) {
    const mc_lines *lines = f->raw->lines;
    const mc_csv_fill fill = {.raw = f->raw, .slot = f->slot, .end = lines->end, .special = special};
    const int64_t header = f->raw->header, stop = lines->row[k + 1] - header;
    mc_csv_cursor *at = &f->at[k];
    *at = (mc_csv_cursor){.p = lines->first[k], .row = lines->row[k] - header};
    if (at->row < 0 && at->row < stop) {
        at->p = mc_record_skip(lines, mc_record_end(lines, at->p));
        at->row++;
    }
    while (at->row < stop) {
        if (!mc_csv_fill_record(&fill, at))
            return;
        at->p = mc_record_skip(lines, at->p);
    }
}

static void fill_pieces(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk;
    const csv_filling *f = arg;
    for (int64_t k = begin; k < end; k++)
        fill_piece(f, k, f->special + thread * f->raw->columns);
}

static mercer_status report_first_fault(mercer_ctx *ctx, const csv_filling *f) {
    for (int64_t k = 0; k < f->raw->lines->pieces; k++) {
        if (f->at[k].halt.why == MC_CSV_BAD_CELL)
            return mc_csv_fail_cell(ctx, f->raw, &f->at[k].halt.cell);
        if (f->at[k].halt.why == MC_CSV_RAGGED)
            return mc_csv_fail_ragged(ctx, f->raw, f->at[k].p);
    }
    return MERCER_OK;
}

static mercer_status fill_cells(mercer_ctx *ctx, mc_raw *raw) {
    csv_filling f = {.raw = raw};
    mercer_status status = mc_csv_slots(ctx, raw, &f.slot);
    MC_THEN(status, MC_ALLOC(ctx, f.at, raw->lines->pieces));
    MC_THEN(status, MC_ALLOC(ctx, f.special, mercer_threads(ctx) * raw->columns));
    MC_THEN(status, mc_for(ctx, raw->lines->pieces, 1, fill_pieces, &f));
    MC_THEN(status, report_first_fault(ctx, &f));
    for (int64_t j = 0; j < raw->columns && !status; j++) {
        raw->column[j].special = false;
        for (int t = 0; t < mercer_threads(ctx); t++)
            raw->column[j].special |= f.special[t * raw->columns + j];
    }
    mc_free(f.slot);
    mc_free(f.at);
    mc_free(f.special);
    return status;
}

/* n records of so many columns need n (columns - 1) delimiters; a file with fewer has a short record, which is looked
 * for. */
static mercer_status check_delimiters(mercer_ctx *ctx, const mc_raw *raw) {
    const mc_lines *l = raw->lines;
    int64_t found = 0;
    for (int64_t k = 0; k < l->pieces; k++)
        found += l->count[k];
    if (raw->columns == 1 || l->rows <= found / (raw->columns - 1))
        return MERCER_OK;
    const char *p = mc_record_at(l, 0);
    while (p < l->end && mc_csv_count(raw, p) == raw->columns)
        p = mc_record_skip(l, mc_record_end(l, p));
    return mc_csv_fail_ragged(ctx, raw, p);
}

static mercer_status read_cells(mercer_ctx *ctx, const mc_reading *reading, mc_raw *raw) {
    MC_TRY(mc_raw_allocate(ctx, raw));
    for (bool again = true; again;) {
        MC_TRY(fill_cells(ctx, raw));
        MC_TRY(mc_raw_classify(ctx, reading, raw, &again));
    }
    return MERCER_OK;
}

static mercer_status read_table(mercer_ctx *ctx, const mc_reading *reading, mc_raw *raw, mercer_data **out) {
    raw->columns = mc_csv_count(raw, mc_record_at(raw->lines, 0));
    MC_TRY(check_delimiters(ctx, raw));
    MC_TRY(MC_ALLOC(ctx, raw->column, raw->columns));
    MC_TRY(MC_ALLOC(ctx, raw->order, raw->columns));
    MC_TRY(mc_csv_head(ctx, reading, raw));
    raw->n = raw->lines->rows - raw->header;
    if (raw->n == 0)
        return mc_fail(ctx, MERCER_DATA, "%s holds a header and no rows", raw->input->name);
    MC_TRY(mc_roles_find(ctx, reading, raw));
    MC_TRY(read_cells(ctx, reading, raw));
    return mc_raw_build(ctx, reading, raw, out);
}

static mc_lines text_of(const mc_input *input) {
    const bool mark = input->size >= 3 && memcmp(input->bytes, "\xef\xbb\xbf", 3) == 0;
    input->bytes[input->size] = '\n'; /* in the padding: every record ends with a newline */
    return (mc_lines){.begin = input->bytes + (mark ? 3 : 0), .end = input->bytes + input->size, .quotes = true};
}

mercer_status mc_csv_read(mercer_ctx *ctx, const mc_input *input, const mc_reading *reading, mercer_data **out) {
    mc_lines lines = text_of(input);
    mc_raw raw = {.input = input, .lines = &lines};
    lines.counted = raw.delimiter = mc_csv_delimiter(&lines, input->name);
    lines.piece = reading->piece;
    MC_TRY(mc_lines_find(ctx, input, &lines));
    const mercer_status status =
        lines.rows ? read_table(ctx, reading, &raw, out) : mc_fail(ctx, MERCER_DATA, "%s is empty", input->name);
    mc_raw_close(&raw);
    mc_lines_close(&lines);
    return status;
}
