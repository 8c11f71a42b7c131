/* fold_order.h: the rows of a problem sorted by the fold they leave in. */
#ifndef MC_LEARN_COMMON_FOLD_ORDER_H
#define MC_LEARN_COMMON_FOLD_ORDER_H

#include <mercer.h>

typedef struct mc_fold_order {
    const int64_t *fold; /* of each row of the data */
    int64_t n;           /* rows that count */
    int64_t *place;      /* n: the row of the data that row i is */
    int64_t *order;      /* n, and n more for sorting: rows by fold */
    int64_t largest;     /* rows of the largest fold */
} mc_fold_order;

/* MERCER_INVALID when all rows are in one fold. Close it after a failure too. */
mercer_status mc_fold_order_open(mercer_ctx *ctx, const mercer_data *data, const int64_t *fold, int64_t n,
                                 mc_fold_order *out);
void mc_fold_order_close(mc_fold_order *order);
/* The end of the fold that begins at the given place of the order. */
int64_t mc_fold_end(const mc_fold_order *f, int64_t begin);

#endif
