/* gram_rows.h: rows of a Gram matrix. */
#ifndef MC_DATA_READ_GRAM_ROWS_H
#define MC_DATA_READ_GRAM_ROWS_H

#include "data/read/raw.h"

/* Whether this reading is of rows of a Gram matrix, which have a first column of serial numbers. */
bool mc_reads_serial(const mc_reading *reading);
/* Numbers the rows of data just read: see mercer_read.gram. */
mercer_status mc_data_serial(mercer_ctx *ctx, const mc_reading *reading, const char *name, mercer_data *data);

#endif
