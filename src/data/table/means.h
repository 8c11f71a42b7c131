/* means.h: means of the columns of a table. */
#ifndef MC_DATA_TABLE_MEANS_H
#define MC_DATA_TABLE_MEANS_H

#include "data/table/data.h"

/* Rows of d numbers; scratch has room for one. What is NaN is no number. */
typedef struct mc_row_block {
    int64_t n, d;
    const double *(*row)(const void *self, int64_t i, double *scratch);
    const void *self;
} mc_row_block;

/* out_j <- share_j times the sum of column j, share_j being 1 / numbers in it: no finite column overflows. The same
   bits for any number of threads. */
mercer_status mc_column_means(mercer_ctx *ctx, const mc_row_block *rows, const double *share, double *out);

/* The columns of schema whose mean is not known (NaN), from the rows of data. */
mercer_status mc_schema_means(mercer_ctx *ctx, const mercer_data *data, mc_schema *schema);

#endif
