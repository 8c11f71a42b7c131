/* evaluate_rows.h: a number for every row of a table, by the reference evaluator: k(x, x), or a function of x. */
#ifndef MC_KERNEL_EVALUATE_EVALUATE_ROWS_H
#define MC_KERNEL_EVALUATE_EVALUATE_ROWS_H

#include "kernel/evaluate/view.h"

/* Of the row x, all of whose columns `row` sees. */
typedef double mc_row_value(const void *arg, const mc_view *row, const double *x);

/* out[i] of the first count rows. root: the expression whose values of texts with themselves (self_values.h) are known
   to row. */
mercer_status mc_evaluate_rows(mercer_ctx *ctx, const mc_node *root, const mercer_data *data, int64_t count,
                               mc_row_value *value, const void *arg, double *out);

#endif
