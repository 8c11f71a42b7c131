/* csv.h: comma, tab or semicolon separated text. */
#ifndef MC_DATA_CSV_CSV_H
#define MC_DATA_CSV_CSV_H

#include "data/read/raw.h"

mercer_status mc_csv_read(mercer_ctx *ctx, const mc_input *input, const mc_reading *reading, mercer_data **out);

/* A large plain file of numbers alone, read in pieces that are parsed while they are near: the file itself is never
   held whole. *done stays false when the file is not that simple; it is then read the other way, which also finds the
   words for what is wrong. */
mercer_status mc_csv_stream(mercer_ctx *ctx, const mc_input *input, const mc_reading *reading, bool *done,
                            mercer_data **out);

/* What stopped the filling of rows. */
typedef struct mc_csv_halt {
    enum { MC_CSV_GOOD, MC_CSV_BAD_CELL, MC_CSV_RAGGED } why;
    mc_cell cell;
} mc_csv_halt;

/* What the inner loop needs of a column, close together. */
typedef struct mc_csv_slot {
    double *cell;
    int64_t stride;
    bool number; /* may be read as a number straight away */
} mc_csv_slot;
mercer_status mc_csv_slots(mercer_ctx *ctx, const mc_raw *raw, mc_csv_slot **out);

typedef struct mc_csv_fill {
    const mc_raw *raw;
    const mc_csv_slot *slot;
    const char *end; /* of the text; a newline stands there */
    bool *special;   /* per column: a cell that is not a number was seen */
} mc_csv_fill;

/* The record at p, which fills this row. */
typedef struct mc_csv_cursor {
    const char *p;
    int64_t row;
    mc_csv_halt halt;
} mc_csv_cursor;

/* Fill one row, or two from different places; the cursors move to the lines and rows after. False: see halt, of either
   cursor. */
bool mc_csv_fill_record(const mc_csv_fill *fill, mc_csv_cursor *at);
bool mc_csv_fill_pair(const mc_csv_fill *fill, mc_csv_cursor *one, mc_csv_cursor *two);

/* csv_head.c: settle delimiter, columns, names, header and which columns look like text, from the first records. */
char mc_csv_delimiter(const mc_lines *lines, const char *name);
mercer_status mc_csv_head(mercer_ctx *ctx, const mc_reading *reading, mc_raw *raw);
/* Cells of the record at p; its faults are not looked at. */
int64_t mc_csv_count(const mc_raw *raw, const char *p);
/* A record with another number of fields than the first. */
mercer_status mc_csv_fail_ragged(mercer_ctx *ctx, const mc_raw *raw, const char *record);
mercer_status mc_csv_fail_cell(mercer_ctx *ctx, const mc_raw *raw, const mc_cell *cell);

#endif
