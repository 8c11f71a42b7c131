/* csv_stream.c: the short way for the file that is most of what is read: large, plain, numbers in every column used and
   no quotes.

   The head of the file tells delimiter, header and roles. Then the file goes by in batches of 16 MiB: small enough to
   stay near, and few, since all threads wait for the last one at the end of each. The pieces of a batch are read in
   parallel, and the newlines in each are counted: one record begins behind every newline, and one at the start of the
   file. Now the rows of each piece are known, and the pieces are parsed in parallel, straight into the table. A batch
   is read with a tail, so that its last record is whole. The text is never held whole, and gone over once: the table is
   all there is.

   Ranks have a run of the file's bytes each, and tell each other the rows that begin in it (data/read/share_table.c).

   How many rows the table will need is told by the first batch, with a little to spare; when that is too little, room
   is made.

   Anything unexpected (a quote, a cell that is not a number, a ragged record, a blank line, a line longer than the
   tail, a file that changes, no memory for the guess) ends the attempt, and the file is read the general way. */
#include "base/ctx.h"
#include "base/extremes.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "base/ranks.h"
#include "base/status.h"
#include "data/csv/csv.h"
#include "data/read/read.h"
#include "data/read/share_table.h"

enum { HEAD = 1 << 20, PIECE = 1 << 18, PIECES = 64 };

typedef struct streaming {
    const mc_input *input;
    mc_raw *raw;
    mc_csv_slot *slot;
    int64_t piece;      /* bytes of one; PIECES of them are a batch */
    int64_t total;      /* bytes of the file, without blanks at its end */
    int64_t from, end;  /* those of this process */
    char *text;         /* the batch and its tail */
    int64_t at, size;   /* where the batch begins in the file; its bytes */
    int64_t tail;       /* bytes behind them */
    bool *special;      /* threads x columns */
    int64_t delimiters; /* in the batches so far */
    int64_t rows;       /* records in the batches so far */
    int64_t capacity;   /* rows the table has room for */
    mc_line_counts tally[PIECES];
    int64_t row[PIECES + 1]; /* the first record of each piece */
    bool failed[PIECES];
} streaming;

static void load_piece(void *arg, int64_t k, int64_t begin, int64_t end, int thread) {
    (void)thread;
    streaming *s = arg;
    char *p = s->text + begin;
    const int64_t tail = end == s->size ? s->tail : 0;
    s->failed[k] = mc_input_piece(s->input, s->at + begin, p, end - begin + tail) != 0;
    if (!s->failed[k]) {
        s->tally[k] = mc_count_lines(p, s->text + end, s->raw->delimiter);
        s->failed[k] = s->tally[k].quotes || s->tally[k].zero;
    }
}

static bool any_flag_set(const bool *flag, int64_t count) {
    for (int64_t i = 0; i < count; i++)
        if (flag[i])
            return true;
    return false;
}

static int64_t batch_of(const streaming *s) {
    return s->piece * PIECES;
}

/* A record may be so long and still be whole in the batch it begins in. */
static int64_t tail_of(const streaming *s) {
    return 2 * s->piece;
}

/* A rank that has not the head of the file numbers its rows from 0 all the same. */
static int64_t rows_before(const streaming *s) {
    return s->from ? s->raw->header : 0;
}

/* The batch at this place; *good: nothing unexpected in it, and its records are numbered. */
static mercer_status load_batch(mercer_ctx *ctx, streaming *s, int64_t at, bool *good) {
    s->at = at;
    s->size = mc_min_count(batch_of(s), s->end - at);
    s->tail = mc_min_count(tail_of(s), s->total - at - s->size);
    const int64_t pieces = mc_chunk_count(s->size, s->piece), columns = s->raw->columns;
    MC_TRY(mc_for(ctx, s->size, s->piece, load_piece, s));
    char *end = s->text + s->size + s->tail;
    memset(end, 0, MC_INPUT_PAD);
    *end = '\n';
    for (int64_t k = 0; k < pieces; k++) {
        s->row[k] = s->rows;
        s->rows += s->tally[k].newlines + (at + k == 0);
        s->delimiters += s->tally[k].counted;
    }
    s->row[pieces] = s->rows;
    /* The delimiters must do for all records but the last, which may go on in the next batch: otherwise there would be
       room for cells that are not in the file. */
    const int64_t records = s->rows - rows_before(s);
    *good = !any_flag_set(s->failed, pieces) && (columns == 1 || records - 1 <= s->delimiters / (columns - 1));
    return MERCER_OK;
}

/* Room for the rows so far, and as many more as the rest of the file will bring if it goes on like this. *good: the
   guess fits. */
static mercer_status reserve_rows(mercer_ctx *ctx, streaming *s, bool *good) {
    const int64_t seen = s->at + s->size - s->from;
    if (s->rows <= s->capacity)
        return MERCER_OK;
    const double rest = (double)s->rows * ((double)(s->end - s->from - seen) / (double)seen),
                 rows = (double)s->rows + rest * 33 / 32;
    *good = rows * (double)s->raw->columns * sizeof(double) < (double)mc_memory_left(ctx);
    if (!*good)
        return MERCER_OK;
    s->raw->n = s->capacity = (int64_t)rows;
    MC_TRY(mc_raw_allocate(ctx, s->raw));
    mc_free(s->slot);
    return mc_csv_slots(ctx, s->raw, &s->slot);
}

/* The first record of piece k, behind its first newline. */
static mc_csv_cursor first_record(const streaming *s, int64_t k) {
    const char *p = s->text + k * s->piece;
    mc_csv_cursor c = {.row = s->row[k] - s->raw->header};
    if (s->at + k > 0) {
        const char *newline = memchr(p, '\n', (size_t)mc_min_count(s->piece, s->size - k * s->piece));
        c.p = newline ? newline + 1 : p;
        return c;
    }
    c.p = p + (memcmp(p, "\xef\xbb\xbf", 3) == 0 ? 3 : 0);
    if (s->raw->header) {
        const char *newline = memchr(c.p, '\n', (size_t)(s->size - (c.p - p)));
        c.p = newline ? newline + 1 : c.p; /* none: the file has changed, and the names will not pass for numbers */
        c.row++;
    }
    return c;
}

/* Two pieces, a record of each in turn. Whether every record is whole and of the right length: the newline after the
   tail is ours, and ends a record only at the end of the file. */
static bool fill_two(const streaming *s, int64_t k, int64_t pieces, const mc_csv_fill *fill) {
    const int64_t header = s->raw->header, stop = s->row[k + 1] - header;
    const int64_t stop_other = k + 1 < pieces ? s->row[k + 2] - header : stop;
    mc_csv_cursor one = first_record(s, k), two = one;
    two.row = stop_other;
    if (k + 1 < pieces)
        two = first_record(s, k + 1);
    bool good = true;
    while (good && one.row < stop && two.row < stop_other)
        good = mc_csv_fill_pair(fill, &one, &two);
    while (good && one.row < stop)
        good = mc_csv_fill_record(fill, &one);
    while (good && two.row < stop_other)
        good = mc_csv_fill_record(fill, &two);
    const bool at_end = s->at + s->size + s->tail == s->total;
    return good && (at_end || (one.p <= fill->end && two.p <= fill->end));
}

static void fill_pieces(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    streaming *s = arg;
    const int64_t pieces = mc_chunk_count(s->size, s->piece);
    const mc_csv_fill fill = {.raw = s->raw,
                              .slot = s->slot,
                              .end = s->text + s->size + s->tail,
                              .special = s->special + thread * s->raw->columns};
    for (int64_t k = begin; k < end; k += 2)
        s->failed[chunk] = !fill_two(s, k, pieces, &fill);
}

static mercer_status fill_batch(mercer_ctx *ctx, streaming *s, bool *good) {
    const int64_t pieces = mc_chunk_count(s->size, s->piece);
    MC_TRY(reserve_rows(ctx, s, good));
    if (!*good)
        return MERCER_OK;
    MC_TRY(mc_for(ctx, pieces, 2, fill_pieces, s));
    *good = !any_flag_set(s->failed, mc_chunk_count(pieces, 2))
            && !any_flag_set(s->special, mercer_threads(ctx) * s->raw->columns);
    return MERCER_OK;
}

static mercer_status allocate_stream(mercer_ctx *ctx, streaming *s) {
    MC_TRY(MC_ALLOC(ctx, s->special, mercer_threads(ctx) * s->raw->columns));
    s->text = mc_alloc_unset(ctx, mc_min_count(batch_of(s) + tail_of(s), s->total) + MC_INPUT_PAD, 1);
    return s->text ? MERCER_OK : MERCER_MEMORY;
}

/* Cells of all rows; *done: all of them are numbers. */
static mercer_status fill_rows(mercer_ctx *ctx, streaming *s, bool *done) {
    MC_TRY(allocate_stream(ctx, s));
    bool good = true;
    const double bytes = (double)(s->end - s->from);
    s->rows = rows_before(s);
    for (int64_t at = s->from; at < s->end && good; at += batch_of(s)) {
        const double low = (double)(at - s->from) / bytes;
        const double high = (double)(mc_min_count(at + batch_of(s), s->end) - s->from) / bytes;
        mc_set_phase_span(ctx, low, low + (high - low) / 4);
        MC_TRY(load_batch(ctx, s, at, &good));
        mc_set_phase_span(ctx, low + (high - low) / 4, high);
        if (good)
            MC_TRY(fill_batch(ctx, s, &good));
    }
    s->raw->n = s->rows - s->raw->header;
    *done = good;
    return MERCER_OK;
}

/* Newlines and spaces at the end of the file make no record. */
static int64_t size_without_blanks(const mc_input *input) {
    enum { LOOK = 256 };
    char end[LOOK];
    int64_t blank = 0;
    if (mc_input_piece(input, input->total - LOOK, end, LOOK))
        return input->total;
    while (blank < LOOK
           && (end[LOOK - 1 - blank] == '\n' || end[LOOK - 1 - blank] == '\r' || end[LOOK - 1 - blank] == ' '))
        blank++;
    return input->total - blank;
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

static int64_t piece_of(const mc_reading *reading) {
    return reading->piece ? reading->piece : PIECE;
}

/* Each rank reads a run of bytes; all of them get all rows. */
static mercer_status stream_rows(mercer_ctx *ctx, streaming *s, bool *done) {
    if (!mc_ranks_share(ctx))
        return fill_rows(ctx, s, done);
    mc_share_run(ctx, s->total, &s->from, &s->end);
    const mercer_status status = fill_rows(ctx, s, done);
    return mc_raw_share(ctx, s->raw, (uint64_t)s->total, status, done);
}

static mercer_status stream_csv(mercer_ctx *ctx, const mc_input *input, const mc_reading *reading, mc_raw *raw,
                                bool *done, mercer_data **out) {
    bool simple = false, filled = false, again = false;
    MC_TRY(read_head(ctx, reading, raw, &simple));
    if (!simple)
        return MERCER_OK;
    streaming s = {.input = input, .raw = raw, .piece = piece_of(reading), .total = size_without_blanks(input)};
    s.end = s.total;
    mercer_status status = stream_rows(ctx, &s, &filled);
    mc_free(s.special);
    mc_free(s.text);
    mc_free(s.slot);
    if (status || !filled)
        return status;
    raw->lines = NULL; /* there is no text to name a place in: a fault is found again the other way */
    status = mc_raw_classify(ctx, reading, raw, &again);
    MC_THEN(status, mc_raw_build(ctx, reading, raw, out));
    *done = !status;
    return status;
}

/* Failures of the attempt are not failures of the reading, unless there is no memory left or the caller wants to stop.
   */
static mercer_status forgive_stream_failure(mercer_ctx *ctx, mercer_status status, bool *done) {
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
    if (!input->plain_file || input->total < piece_of(reading) * PIECES / 4) /* 4 MiB */
        return MERCER_OK;
    mc_input head;
    mercer_status status = mc_input_head(ctx, input, HEAD, &head);
    mc_lines lines = {.begin = head.bytes, .end = head.bytes ? head.bytes + head.size : NULL, .quotes = true};
    mc_raw raw = {.input = &head, .lines = &lines};
    if (!status && head.size > 0 && mc_is_csv(&head)) {
        head.bytes[head.size] = '\n';
        lines.begin += head.size >= 3 && memcmp(head.bytes, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
        lines.counted = raw.delimiter = mc_csv_delimiter(&lines, input->name);
        status = mc_lines_find(ctx, &head, &lines);
        if (!status && !lines.quotes && lines.rows > 1)
            status = stream_csv(ctx, input, reading, &raw, done, out);
        mc_lines_close(&lines);
    }
    mc_raw_close(&raw);
    mc_input_close(&head);
    return forgive_stream_failure(ctx, status, done);
}
