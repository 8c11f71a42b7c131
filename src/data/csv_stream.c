/* csv_stream.c: the short way for the file that is most of what is read: large, plain, numbers in every column used and no quotes.

   The head of the file tells delimiter, header and roles. Then two passes of parallel pieces, each piece read from the file into a
   buffer of its thread and dealt with while it is in the cache: the first counts the records that begin in it, the second fills their rows.
   A piece is read with a tail, so that its last record is whole. The file is never held in memory: the table is all there is.

   Anything unexpected (a quote, a cell that is not a number, a ragged record, a line longer than the tail, a file that changes) ends the
   attempt, and the file is read the general way. */
#include "base/ctx.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/status.h"
#include "data/csv.h"
#include "data/read.h"

enum { SMALLEST = 4 << 20, HEAD = 1 << 20, PIECE = 1 << 20, TAIL = 1 << 16 };

typedef struct streaming {
    const mc_input *input;
    mc_raw *raw;
    mc_csv_slot *slot;
    char *buffer;  /* threads x ROOM */
    bool *special; /* threads x columns */
    int64_t pieces;
    int64_t *rows; /* per piece: records that begin in it; then their first number */
    int64_t *delimiters;
    bool *failed; /* per piece */
} streaming;

enum { ROOM = 1 + PIECE + TAIL + MC_INPUT_PAD };

/* A piece in the buffer of a thread. */
typedef struct piece {
    mc_lines lines;           /* over the piece and its tail */
    const char *first, *stop; /* the first record, and where the piece ends and its tail begins */
    bool last;
} piece;

static bool load_piece(const streaming *s, int64_t k, int thread, piece *out) {
    const int64_t before = k > 0, at = k * PIECE - before, left = s->input->total - at;
    const int64_t size = left < before + PIECE + TAIL ? left : before + PIECE + TAIL;
    char *buffer = s->buffer + (int64_t)thread * ROOM;
    if (mc_input_piece(s->input, at, buffer, size))
        return false;
    memset(buffer + size, 0, MC_INPUT_PAD);
    buffer[size] = '\n';
    char *begin = buffer + before;
    if (k == 0 && size >= 3 && memcmp(begin, "\xef\xbb\xbf", 3) == 0)
        begin += 3;
    out->last = k == s->pieces - 1;
    out->lines = (mc_lines){.begin = begin, .end = buffer + size, .counted = s->raw->delimiter};
    out->stop = out->last ? buffer + size : buffer + before + PIECE;
    out->first = mc_record_from(&out->lines, begin, out->stop, k == 0 || buffer[0] == '\n');
    return true;
}

static void count_pieces(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk;
    const streaming *s = arg;
    for (int64_t k = begin; k < end; k++) {
        piece p;
        s->failed[k] = !load_piece(s, k, thread, &p);
        if (s->failed[k])
            continue;
        const mc_tally t = mc_tally_of(p.lines.begin, p.stop, s->raw->delimiter);
        s->failed[k] = t.quotes || t.zero;
        s->delimiters[k] = t.counted;
        s->rows[k] = 0;
        for (const char *r = p.first; r < p.stop; s->rows[k]++)
            r = mc_record_skip(&p.lines, mc_record_end(&p.lines, r));
    }
}

/* Whether every record is whole, of the right length, and all numbers. */
static bool fill_piece(const streaming *s, int64_t k, int thread) {
    piece p;
    mc_csv_halt halt = {.why = MC_CSV_FINE};
    if (!load_piece(s, k, thread, &p))
        return false;
    const char *r = p.first;
    bool *special = s->special + thread * s->raw->columns;
    for (int64_t row = s->rows[k]; row < s->rows[k + 1]; row++) {
        if (r >= p.stop)
            return false; /* fewer than before: the file has changed */
        if (row < s->raw->header)
            r = mc_record_end(&p.lines, r);
        else
            r = mc_csv_fill_record(s->raw, s->slot, row - s->raw->header, r, p.lines.end, special, &halt);
        if (halt.why || (r > p.lines.end && !p.last))
            return false; /* the newline at the end is ours, not the file's */
        r = mc_record_skip(&p.lines, r);
    }
    return r >= p.stop;
}

static void fill_pieces(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk;
    const streaming *s = arg;
    for (int64_t k = begin; k < end; k++)
        s->failed[k] = !fill_piece(s, k, thread);
}

static bool any(const bool *flag, int64_t count) {
    for (int64_t i = 0; i < count; i++)
        if (flag[i])
            return true;
    return false;
}

/* Rows are counted, added up, and fit the delimiters there are. */
static bool number_rows(const streaming *s, int64_t *total) {
    int64_t delimiters = 0;
    *total = 0;
    for (int64_t k = 0; k < s->pieces; k++) {
        const int64_t rows = s->rows[k];
        s->rows[k] = *total;
        *total += rows;
        delimiters += s->delimiters[k];
    }
    s->rows[s->pieces] = *total;
    return !any(s->failed, s->pieces) && (s->raw->columns == 1 || *total <= delimiters / (s->raw->columns - 1));
}

static mercer_status take_room(mercer_ctx *ctx, streaming *s) {
    MC_TRY(MC_ALLOC(ctx, s->rows, s->pieces + 1));
    MC_TRY(MC_ALLOC(ctx, s->delimiters, s->pieces));
    MC_TRY(MC_ALLOC(ctx, s->failed, s->pieces));
    MC_TRY(MC_ALLOC(ctx, s->special, mercer_threads(ctx) * s->raw->columns));
    s->buffer = mc_alloc_unset(ctx, (int64_t)mercer_threads(ctx) * ROOM, 1);
    return s->buffer ? MERCER_OK : MERCER_MEMORY;
}

/* Cells of all rows; *done: all of them are numbers. */
static mercer_status fill_rows(mercer_ctx *ctx, streaming *s, bool *done) {
    int64_t records = 0;
    MC_TRY(take_room(ctx, s));
    MC_TRY(mc_for(ctx, s->pieces, 1, count_pieces, s));
    if (!number_rows(s, &records))
        return MERCER_OK;
    s->raw->n = records - s->raw->header;
    MC_TRY(mc_raw_room(ctx, s->raw));
    MC_TRY(mc_csv_slots(ctx, s->raw, &s->slot));
    MC_TRY(mc_for(ctx, s->pieces, 1, fill_pieces, s));
    *done = !any(s->failed, s->pieces) && !any(s->special, mercer_threads(ctx) * s->raw->columns);
    return MERCER_OK;
}

static bool all_numbers(const mc_raw *raw) {
    for (int64_t j = 0; j < raw->columns; j++)
        if (raw->column[j].text && !raw->column[j].skip)
            return false;
    return true;
}

/* Delimiter, columns, header and roles from the head of the file; *simple: every column used looks like numbers. */
static mercer_status read_head(mercer_ctx *ctx, const mc_reading *reading, mc_raw *raw, bool *simple) {
    raw->columns = mc_csv_count(raw, mc_record_at(raw->lines, 0));
    MC_TRY(MC_ALLOC(ctx, raw->column, raw->columns));
    MC_TRY(MC_ALLOC(ctx, raw->order, raw->columns));
    MC_TRY(mc_csv_head(ctx, reading, raw));
    MC_TRY(mc_roles_find(ctx, reading, raw));
    *simple = all_numbers(raw);
    return MERCER_OK;
}

static mercer_status stream(mercer_ctx *ctx, const mc_input *input, const mc_reading *reading, mc_raw *raw, bool *done,
                            mercer_data **out) {
    bool simple = false, filled = false, again = false;
    MC_TRY(read_head(ctx, reading, raw, &simple));
    if (!simple)
        return MERCER_OK;
    streaming s = {.input = input, .raw = raw, .pieces = mc_chunks(input->total, PIECE)};
    mercer_status status = fill_rows(ctx, &s, &filled);
    void *const blocks[] = {s.rows, s.delimiters, s.failed, s.special, s.buffer, s.slot};
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++)
        mc_free(blocks[i]);
    if (status || !filled)
        return status;
    raw->lines = NULL; /* there is no text to name a place in: a fault is found again the other way */
    status = mc_raw_classify(ctx, reading, raw, &again);
    if (!status)
        status = mc_raw_build(ctx, reading, raw, out);
    *done = !status;
    return status;
}

/* The first megabyte, up to its last newline. */
static mercer_status load_head(mercer_ctx *ctx, const mc_input *input, mc_input *head) {
    *head = (mc_input){.name = input->name, .fd = -1, .size = HEAD};
    head->bytes = mc_alloc(ctx, HEAD + MC_INPUT_PAD, 1);
    MC_TRY(head->bytes ? MERCER_OK : MERCER_MEMORY);
    if (mc_input_piece(input, 0, head->bytes, HEAD))
        head->size = 0;
    while (head->size > 0 && head->bytes[head->size - 1] != '\n')
        head->size--;
    return MERCER_OK;
}

/* Failures of the attempt are not failures of the reading, unless there is no memory left or the caller wants to stop. */
static mercer_status settle(mercer_ctx *ctx, mercer_status status, bool *done) {
    if (status == MERCER_OK || status == MERCER_MEMORY || status == MERCER_CANCELLED || status == MERCER_TIME)
        return status;
    ctx->message[0] = '\0';
    ctx->offset = -1;
    *done = false;
    return MERCER_OK;
}

mercer_status mc_csv_stream(mercer_ctx *ctx, const mc_input *input, const mc_reading *reading, bool *done,
                            mercer_data **out) {
    *done = false;
    if (!input->plain_file || input->total < SMALLEST)
        return MERCER_OK;
    mc_input head;
    mercer_status status = load_head(ctx, input, &head);
    mc_lines lines = {.begin = head.bytes, .end = head.bytes + head.size, .quotes = true};
    mc_raw raw = {.input = &head, .lines = &lines};
    if (!status && head.size > 0 && mc_is_csv(&head)) {
        head.bytes[head.size] = '\n';
        lines.begin += head.size >= 3 && memcmp(head.bytes, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
        lines.counted = raw.delimiter = mc_csv_delimiter(&lines, input->name);
        status = mc_lines_find(ctx, &head, &lines);
        if (!status && !lines.quotes && lines.rows > 1)
            status = stream(ctx, input, reading, &raw, done, out);
        mc_lines_close(&lines);
    }
    mc_raw_close(&raw);
    mc_free(head.bytes);
    return settle(ctx, status, done);
}
