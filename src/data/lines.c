/* lines.c: two parallel passes. The first counts quotes, so that every piece knows whether it begins inside a quoted
   field (an odd number stands before it); the second counts records. Where quotes are misused the count is wrong only
   after the misuse, which the parser, going in order, reports first. */
#include "data/lines.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/status.h"
#include <string.h>

typedef struct tally {
    int64_t quotes, counted;
    bool zero;
} tally;

typedef struct scan {
    mc_lines *lines;
    tally *tally;
    bool *inside; /* per piece: begins between quotes */
    int64_t *rows;
} scan;

static const char *piece_begin(const mc_lines *l, int64_t k) {
    return l->begin + k * MC_LINES_PIECE;
}

const char *mc_piece_end(const mc_lines *l, int64_t k) {
    return k + 1 < l->pieces ? piece_begin(l, k + 1) : l->end;
}

/* Bytes are compared and summed sixteen at a time by the compiler as long as the sums fit a byte. */
static void tally_block(const char *p, int64_t size, char counted, tally *t) {
    uint8_t quotes = 0, others = 0, zeros = 0;
    for (int64_t i = 0; i < size; i++) {
        quotes = (uint8_t)(quotes + (p[i] == '"'));
        others = (uint8_t)(others + (p[i] == counted));
        zeros |= p[i] == 0;
    }
    t->quotes += quotes;
    t->counted += others;
    t->zero |= zeros;
}

static void tally_pieces(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk;
    (void)thread;
    const scan *s = arg;
    for (int64_t k = begin; k < end; k++) {
        tally t = {0};
        const char *stop = mc_piece_end(s->lines, k);
        for (const char *p = piece_begin(s->lines, k); p < stop; p += 240)
            tally_block(p, stop - p < 240 ? stop - p : 240, s->lines->counted, &t);
        s->tally[k] = t;
    }
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

static const char *line_end(const mc_lines *l, const char *p, bool inside) {
    return l->quotes ? quoted_end(p, l->end, inside) : plain_end(p, l->end);
}

const char *mc_record_end(const mc_lines *l, const char *p) {
    return line_end(l, p, false);
}

const char *mc_record_skip(const mc_lines *l, const char *p) {
    while (p < l->end) {
        const char *q = p;
        while (q < l->end && (*q == ' ' || *q == '\r' || (*q == '\t' && l->counted != '\t')))
            q++;
        if (q < l->end && *q != '\n' && !(l->comment && *q == l->comment))
            return p;
        p = plain_end(q, l->end);
    }
    return l->end;
}

/* The first record that begins in piece k: after the first newline outside quotes from the byte before the piece on. */
static const char *first_record(const mc_lines *l, int64_t k, bool inside) {
    const char *p = piece_begin(l, k);
    if (k > 0)
        p = p[-1] == '\n' && !inside ? p : line_end(l, p, inside);
    p = mc_record_skip(l, p);
    return p < mc_piece_end(l, k) ? p : mc_piece_end(l, k);
}

static void count_rows(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk;
    (void)thread;
    const scan *s = arg;
    for (int64_t k = begin; k < end; k++) {
        const char *p = s->lines->first[k] = first_record(s->lines, k, s->inside[k]), *stop = mc_piece_end(s->lines, k);
        int64_t rows = 0;
        for (; p < stop; rows++)
            p = mc_record_skip(s->lines, mc_record_end(s->lines, p));
        s->rows[k] = rows;
    }
}

/* Whether each piece begins between quotes; a zero byte ends the matter. */
static mercer_status settle_quotes(mercer_ctx *ctx, const mc_input *input, scan *s) {
    mc_lines *l = s->lines;
    int64_t quotes = 0;
    for (int64_t k = 0; k < l->pieces; k++) {
        if (s->tally[k].zero) {
            const char *p = memchr(piece_begin(l, k), 0, (size_t)(mc_piece_end(l, k) - piece_begin(l, k)));
            return mc_fail_line(ctx, input, p, "a zero byte; this is not a text file");
        }
        s->inside[k] = l->quotes && quotes % 2;
        quotes += s->tally[k].quotes;
        l->count[k] = s->tally[k].counted;
    }
    l->quotes &= quotes > 0;
    return MERCER_OK;
}

static mercer_status find(mercer_ctx *ctx, const mc_input *input, scan *s) {
    mc_lines *l = s->lines;
    MC_TRY(mc_for(ctx, l->pieces, 1, tally_pieces, s));
    MC_TRY(settle_quotes(ctx, input, s));
    MC_TRY(mc_for(ctx, l->pieces, 1, count_rows, s));
    for (int64_t k = 0; k < l->pieces; k++)
        l->row[k + 1] = l->row[k] + s->rows[k];
    l->rows = l->row[l->pieces];
    return MERCER_OK;
}

mercer_status mc_lines_find(mercer_ctx *ctx, const mc_input *input, mc_lines *l) {
    l->pieces = mc_chunks(l->end - l->begin, MC_LINES_PIECE);
    scan s = {.lines = l};
    mercer_status status = MERCER_MEMORY;
    if (MC_ALLOC(ctx, l->first, l->pieces) == MERCER_OK && MC_ALLOC(ctx, l->row, l->pieces + 1) == MERCER_OK
        && MC_ALLOC(ctx, l->count, l->pieces) == MERCER_OK && MC_ALLOC(ctx, s.tally, l->pieces) == MERCER_OK
        && MC_ALLOC(ctx, s.inside, l->pieces) == MERCER_OK && MC_ALLOC(ctx, s.rows, l->pieces) == MERCER_OK)
        status = find(ctx, input, &s);
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
