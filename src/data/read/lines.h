/* lines.h: where the records of a text begin, found in parallel. The text is cut into pieces of a fixed size; a record
   belongs to the piece it begins in. Blank lines, and lines of comment where the format has them, are not records. */
#ifndef MC_DATA_READ_LINES_H
#define MC_DATA_READ_LINES_H

#include "data/read/input.h"

typedef struct mc_lines {
    const char *begin, *end; /* a newline stands at end - 1 or at end */
    bool quotes;             /* a newline between double quotes does not end a record */
    char comment;            /* a record does not begin with this; 0: no comments */
    char counted;            /* a byte to count, such as the delimiter */
    int64_t piece;           /* bytes in a piece; 0: MC_LINES_PIECE */
    int64_t pieces, rows;
    const char **first; /* per piece: its first record, or end of the piece */
    int64_t *row;       /* per piece: the number of that record; pieces + 1 entries */
    int64_t *count;     /* per piece: how often `counted` stands in it */
} mc_lines;

enum { MC_LINES_PIECE = 1 << 19 };

/* begin, end, quotes, comment and counted are given. A zero byte is an error that names its line. */
mercer_status mc_lines_find(mercer_ctx *ctx, const mc_input *input, mc_lines *lines);
void mc_lines_close(mc_lines *lines);

/* What stands in a stretch of bytes: double quotes, newlines, a byte that is counted, and whether there is a zero. */
typedef struct mc_line_counts {
    int64_t quotes, newlines, counted;
    bool zero;
} mc_line_counts;
mc_line_counts mc_count_lines(const char *p, const char *end, char counted);

/* The first byte after the newline that ends the record at p. */
const char *mc_record_end(const mc_lines *lines, const char *p);
/* The first record at or after p, which begins a line; end when there is none. */
const char *mc_record_skip(const mc_lines *lines, const char *p);
/* The first record that begins between p and stop, or stop. A record begins at p when the byte before p ended a line.
   */
const char *mc_record_from(const mc_lines *lines, const char *p, const char *stop, bool begins);
/* The record with this number. */
const char *mc_record_at(const mc_lines *lines, int64_t row);
/* The last byte of piece k. */
const char *mc_piece_end(const mc_lines *lines, int64_t k);

#endif
