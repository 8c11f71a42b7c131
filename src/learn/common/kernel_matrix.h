/* kernel_matrix.h: K of some rows as the quadratic programs of qp/active_set.h see it: blocks and products by the tile
   engine, and rows that are kept where they cost more to compute than to keep. */
#ifndef MC_LEARN_COMMON_KERNEL_MATRIX_H
#define MC_LEARN_COMMON_KERNEL_MATRIX_H

#include "gram/operator/gram.h"
#include "qp/active_set.h"
#include "qp/row_store.h"

enum { MC_KERNEL_BATCH = 4096 }; /* rows multiplied at once */

typedef struct mc_kernel_matrix {
    const mercer_kernel *kernel;
    const mercer_data *x;
    mc_row_store *store; /* of rows of this K, borrowed; NULL: none are stored */
    mc_gram *gram;       /* of x with itself in single precision, for them and for products; NULL: neither */
    double *product;     /* n */
} mc_kernel_matrix;

/* Borrows all; close in any case. products: many in single precision are to come, which then share one packing of the
   rows. */
mercer_status mc_kernel_matrix_open(mercer_ctx *ctx, const mercer_kernel *kernel, const mercer_data *x,
                                    mc_row_store *store, bool products, mc_kernel_matrix *out);
void mc_kernel_matrix_close(mc_kernel_matrix *m);
mc_matrix mc_kernel_matrix_view(const mc_kernel_matrix *m, mercer_dtype dtype, const double *diagonal);

/* All of K, for quadratic programs solved one after the other along a path; NULL where there is no room for it beside
   what else is needed. */
mercer_status mc_kernel_matrix_store(mercer_ctx *ctx, const mc_matrix *matrix, void **out);

/* f_i <- sum over k of c_k K(ids[k], i) from the rows kept, and error_i >= |f_i - that sum in exact arithmetic|.
   *known: there was room for all of the rows; otherwise nothing is written. */
mercer_status mc_kernel_matrix_product_error(mercer_ctx *ctx, const mc_kernel_matrix *m, const int64_t *ids,
                                             const double *c, int64_t count, double *f, double *error, bool *known);

#endif
