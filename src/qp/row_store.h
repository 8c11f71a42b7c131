/* row_store.h: rows of K in single precision, kept from one use to the next, as many as were allowed.

   No row is put out to let another in: the variables that move first are those that move to the end, and a row that
   finds no place is computed where it is used, as all are without a store. */
#ifndef MC_QP_ROW_STORE_H
#define MC_QP_ROW_STORE_H

#include <mercer.h>

typedef struct mc_row_store mc_row_store;

/* Room for `most` rows of at most `width` entries, taken piece by piece as rows come. */
mercer_status mc_row_store_open(mercer_ctx *ctx, int64_t width, int64_t most, mc_row_store **out);
void mc_row_store_close(mc_row_store *store);
/* Forget all rows, those of another matrix; the memory stays. */
void mc_row_store_clear(mc_row_store *store);

const float *mc_row_store_row(const mc_row_store *store, int64_t row); /* NULL: not kept */
/* *out <- a place for the row, which counts as kept from now on; NULL when there is none left, or little memory. */
mercer_status mc_row_store_add(mercer_ctx *ctx, mc_row_store *store, int64_t row, float **out);

#endif
