/* lines.c: two parallel passes. The first counts quotes, so that every piece knows whether it begins inside a quoted
   field (an odd number stands before it); the second counts records. Where quotes are misused the count is wrong only
   after the misuse, which the parser, going in order, reports first. */
#include "data/read/lines.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/status.h"
#include <string.h>

typedef struct line_scan {
    mc_lines *lines;
    mc_line_counts *tally;
    bool *inside; /* per piece: begins between quotes */
    int64_t *rows;
} line_scan;

static const char *piece_begin(const mc_lines *l, int64_t k) {
    return l->begin + k * l->piece;
}

const char *mc_piece_end(const mc_lines *l, int64_t k) {
    return k + 1 < l->pieces ? piece_begin(l, k + 1) : l->end;
}

/* Bytes are compared and summed sixteen at a time by the compiler as long as the sums fit a byte. */
static void tally_block(const char *p, int64_t size, char counted, mc_line_counts *t) {
    uint8_t quotes = 0, newlines = 0, others = 0, zeros = 0;
    for (int64_t i = 0; i < size; i++) {
        quotes = (uint8_t)(quotes + (p[i] == '"'));
        newlines = (uint8_t)(newlines + (p[i] == '\n'));
        others = (uint8_t)(others + (p[i] == counted));
        zeros |= p[i] == 0;
    }
    t->quotes += quotes;
    t->newlines += newlines;
    t->counted += others;
    t->zero |= zeros;
}

mc_line_counts mc_count_lines(const char *p, const char *end, char counted) {
    enum { BLOCK = 240 };
    mc_line_counts t = {0};
    for (; p < end; p += BLOCK)
        tally_block(p, end - p < BLOCK ? end - p : BLOCK, counted, &t);
    return t;
}

static const char *quoted_end(const char *p, const char *end, bool inside) {
    for (; p < end; p++) {
        if (*p == '"')
            inside = !inside;
        else if (*p == '\n' && !inside)
            return p + 1;
    }
    return end;
}

static const char *plain_end(const char *p, const char *end) {
    const char *newline = p < end ? memchr(p, '\n', (size_t)(end - p)) : NULL;
    return newline ? newline + 1 : end;
}

const char *mc_record_end(const mc_lines *l, const char *p) {
    return l->quotes ? quoted_end(p, l->end, false) : plain_end(p, l->end);
}

/* The first record between p, which begins a line, and stop; stop when there is none. */
static const char *skip_until(const mc_lines *l, const char *p, const char *stop) {
    while (p < stop) {
        const char *q = p;
        while (q < l->end && (*q == ' ' || *q == '\r' || (*q == '\t' && l->counted != '\t')))
            q++;
        if (q < l->end && *q != '\n' && !(l->comment && *q == l->comment))
            return p;
        p = plain_end(q, l->end);
    }
    return stop;
}

const char *mc_record_skip(const mc_lines *l, const char *p) {
    return skip_until(l, p, l->end);
}

const char *mc_record_from(const mc_lines *l, const char *p, const char *stop, bool begins) {
    if (!begins)
        p = plain_end(p, stop);
    return p < stop ? skip_until(l, p, stop) : stop;
}

/* The first record that begins in piece k. No piece looks past its own end: a line may be as long as the file. */
static const char *first_record(const mc_lines *l, int64_t k, bool inside) {
    const char *p = piece_begin(l, k), *stop = mc_piece_end(l, k);
    if (!l->quotes)
        return mc_record_from(l, p, stop, k == 0 || p[-1] == '\n');
    if (k > 0 && (p[-1] != '\n' || inside))
        p = quoted_end(p, stop, inside);
    return p < stop ? skip_until(l, p, stop) : stop;
}

static void count_piece(const line_scan *s, int64_t k) {
    const mc_lines *l = s->lines;
    const char *stop = mc_piece_end(l, k), *p = l->first[k] = first_record(l, k, s->inside[k]);
    int64_t rows = 0;
    for (; p < stop; rows++)
        p = mc_record_skip(l, mc_record_end(l, p));
    s->rows[k] = rows;
}

static void tally_pieces(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk, (void)thread;
    const line_scan *s = arg;
    for (int64_t k = begin; k < end; k++) {
        s->tally[k] = mc_count_lines(piece_begin(s->lines, k), mc_piece_end(s->lines, k), s->lines->counted);
        count_piece(s, k); /* while the bytes are near */
    }
}

static void count_pieces(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk, (void)thread;
    for (int64_t k = begin; k < end; k++)
        count_piece(arg, k);
}

/* Where a zero byte stands: the usual reasons by name. */
static mercer_status refuse_zero(mercer_ctx *ctx, const mc_input *input, const char *place) {
    const bool zip = input->size > 4 && memcmp(input->bytes, "PK\3\4", 4) == 0;
    const bool wide =
        input->size > 2 && (memcmp(input->bytes, "\xff\xfe", 2) == 0 || memcmp(input->bytes, "\xfe\xff", 2) == 0);
    if (zip)
        return mc_fail(ctx, MERCER_DATA,
                       "%s is a zip archive, as .npz and .xlsx files are; save the table as .npy or CSV", input->name);
    if (wide)
        return mc_fail(ctx, MERCER_DATA, "%s is UTF-16 text; convert it (iconv -f UTF-16 -t UTF-8)", input->name);
    return mc_fail_line(ctx, input, place, "a zero byte; this is not a text file");
}

/* Whether each piece begins between quotes; a zero byte ends the matter. */
static mercer_status settle_quotes(mercer_ctx *ctx, const mc_input *input, line_scan *s) {
    mc_lines *l = s->lines;
    int64_t quotes = 0;
    for (int64_t k = 0; k < l->pieces; k++) {
        if (s->tally[k].zero) {
            const char *p = memchr(piece_begin(l, k), 0, (size_t)(mc_piece_end(l, k) - piece_begin(l, k)));
            return refuse_zero(ctx, input, p);
        }
        s->inside[k] = l->quotes && quotes % 2;
        quotes += s->tally[k].quotes;
        l->count[k] = s->tally[k].counted;
    }
    l->quotes &= quotes > 0;
    return MERCER_OK;
}

static mercer_status find_rows(mercer_ctx *ctx, const mc_input *input, line_scan *s) {
    mc_lines *l = s->lines, plain = *l; /* shares the arrays */
    plain.quotes = false;
    s->lines = &plain;
    MC_TRY(mc_for(ctx, l->pieces, 1, tally_pieces, s));
    s->lines = l;
    MC_TRY(settle_quotes(ctx, input, s));
    if (l->quotes)
        MC_TRY(mc_for(ctx, l->pieces, 1, count_pieces, s));
    for (int64_t k = 0; k < l->pieces; k++)
        l->row[k + 1] = l->row[k] + s->rows[k];
    l->rows = l->row[l->pieces];
    return MERCER_OK;
}

mercer_status mc_lines_find(mercer_ctx *ctx, const mc_input *input, mc_lines *l) {
    l->piece = l->piece ? l->piece : MC_LINES_PIECE;
    l->pieces = mc_chunk_count(l->end - l->begin, l->piece);
    line_scan s = {.lines = l};
    mercer_status status = MERCER_MEMORY;
    if (MC_ALLOC(ctx, l->first, l->pieces) == MERCER_OK && MC_ALLOC(ctx, l->row, l->pieces + 1) == MERCER_OK
        && MC_ALLOC(ctx, l->count, l->pieces) == MERCER_OK && MC_ALLOC(ctx, s.tally, l->pieces) == MERCER_OK
        && MC_ALLOC(ctx, s.inside, l->pieces) == MERCER_OK && MC_ALLOC(ctx, s.rows, l->pieces) == MERCER_OK)
        status = find_rows(ctx, input, &s);
    mc_free(s.tally);
    mc_free(s.inside);
    mc_free(s.rows);
    if (status)
        mc_lines_close(l);
    return status;
}

void mc_lines_close(mc_lines *l) {
    mc_free(l->first);
    mc_free(l->row);
    mc_free(l->count);
    l->first = NULL;
    l->row = l->count = NULL;
}

const char *mc_record_at(const mc_lines *l, int64_t row) {
    int64_t k = 0;
    while (k + 1 < l->pieces && l->row[k + 1] <= row)
        k++;
    const char *p = l->first[k];
    for (int64_t i = l->row[k]; i < row; i++)
        p = mc_record_skip(l, mc_record_end(l, p));
    return p;
}
