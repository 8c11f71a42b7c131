/* csv_numbers.h: rows of numbers as text, which all threads make: the shortest digits that read back cost more than
   many a prediction. */
#ifndef MC_DATA_CSV_CSV_NUMBERS_H
#define MC_DATA_CSV_CSV_NUMBERS_H

#include <mercer.h>
#include <stdio.h>

/* Columns of a table of numbers that stand side by side in memory: number j of row i is values[i * stride + j]. */
typedef struct mc_csv_block {
    const double *values;
    int64_t width, stride;
} mc_csv_block;

/* n rows of the blocks' columns, one block's after the other's, to out; in order, and to the end though the time may be
   over. MERCER_MEMORY: nothing was written. */
mercer_status mc_csv_numbers(mercer_ctx *ctx, int64_t n, const mc_csv_block *block, int64_t blocks, FILE *out);

#endif
