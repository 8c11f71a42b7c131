/* raw.h: a table as it stands in a file: for every file column what it is and its cells as doubles (cell.h says how
   other things than numbers are kept). The CSV and npy readers fill one; build.c makes data of it. */
#ifndef MC_DATA_READ_RAW_H
#define MC_DATA_READ_RAW_H

#include "data/csv/cell.h"
#include "data/table/data.h"
#include "data/read/lines.h"

/* What is asked of a reader. schema NULL: read afresh; otherwise as described at mc_data_read_like. */
typedef struct mc_reading {
    const mercer_read *set;
    const mc_schema *schema;
    int64_t d, classes;
    char *const *labels;
    int64_t
        /* bytes of text parsed in one go; 0: the usual. The result does not depend on it; the tests make it small */
        piece;
} mc_reading;

typedef struct mc_file_column {
    char *name; /* header cell; NULL: none */
    mc_column_kind kind;
    bool text;             /* every cell is taken as text */
    bool number;           /* a cell of text is an error */
    bool names;            /* a target whose numbers may be names of classes */
    bool classes;          /* and surely are */
    bool skip;             /* read over */
    const mc_column *like; /* the column of the schema it stands for; NULL: read afresh */
    double *cell;          /* of row i: cell[i * stride] */
    int64_t stride;
    bool special;                                     /* some cell is not a number */
    int64_t numbers, missing, infinite, texts, longs; /* cells of each kind */
    double mean;                                      /* of the numbers */
    int64_t levels;                                   /* text encoded: the cell is the place of its level, or missing */
    char **level;
} mc_file_column;

typedef struct mc_raw {
    const mc_input *input;
    const mc_lines *lines; /* NULL: not text, cells have no place */
    char delimiter;
    bool header;
    int64_t n, columns;
    mc_file_column *column;
    int64_t *order; /* file columns in the order of the schema; the data's columns follow it */
    int64_t used;   /* entries of order */
    double *x, *y;  /* cells of input columns (n x dx) and of target and weight columns (n x dy) */
    int64_t dx, dy;
    int64_t missing; /* cells, before rows were dropped */
    int64_t *origin; /* once rows were dropped: where each stood in the file */
    char *unused;    /* names of columns that the schema has not; NULL: none */
} mc_raw;

/* Set kind, text, skip, like and order of every column from the settings or the schema; names are given. */
mercer_status mc_roles_find(mercer_ctx *ctx, const mc_reading *reading, mc_raw *raw);
/* Room for the cells of n rows, and where each column's cells go. Called again with a larger n, the cells so far stay.
   */
mercer_status mc_raw_allocate(mercer_ctx *ctx, mc_raw *raw);
void mc_raw_close(mc_raw *raw);

/* Count the kinds of cells of every column. *again: numbers of a column turned out to be text, so the cells must be
 * read again. */
/* The reading looks for columns of free text by itself. */
bool mc_read_finds_text(const mercer_read *set);
mercer_status mc_raw_classify(mercer_ctx *ctx, const mc_reading *reading, mc_raw *raw, bool *again);
/* What mc_raw_build does, in order: name the first cell that cannot be used; drop rows or find means; give levels their
 * numbers. */
mercer_status mc_raw_check(mercer_ctx *ctx, const mc_reading *reading, const mc_raw *raw);
mercer_status mc_raw_missing(mercer_ctx *ctx, const mc_reading *reading, mc_raw *raw);
mercer_status mc_raw_encode(mercer_ctx *ctx, const mc_reading *reading, mc_raw *raw);
/* The text columns that are kept, as n x texts strings. */
mercer_status mc_raw_keep_text(mercer_ctx *ctx, const mc_raw *raw, mercer_data *data);
/* Data of a filled and classified table. The cells may be moved into it. */
mercer_status mc_raw_build(mercer_ctx *ctx, const mc_reading *reading, mc_raw *raw, mercer_data **out);

/* MERCER_DATA: where the cell is, then the sentence. */
mercer_status mc_raw_fail(mercer_ctx *ctx, const mc_raw *raw, int64_t row, int64_t column, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* "'name'" or "3", for messages. */
typedef struct mc_title {
    char text[80];
} mc_title;
mc_title mc_column_title(const mc_raw *raw, int64_t column);
/* The text cell of this row. */
mc_cell mc_raw_cell(const mc_raw *raw, const mc_file_column *column, int64_t row);

#endif
