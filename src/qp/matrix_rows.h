/* matrix_rows.h: what a decomposition method sees of a symmetric matrix K: its diagonal, and any rows on request.
   Stored, cached, computed. */
#ifndef MC_QP_MATRIX_ROWS_H
#define MC_QP_MATRIX_ROWS_H

#include <mercer.h>

typedef struct mc_matrix_rows mc_matrix_rows;
struct mc_matrix_rows {
    int64_t n;
    mercer_dtype dtype; /* of the entries */
    int64_t most;       /* rows that one call may ask for; at least 2 */
    const double *diagonal;
    /* out[k] <- row ids[k], valid until the next call. ids are distinct. */
    mercer_status (*take)(mercer_ctx *ctx, const mc_matrix_rows *rows, const int64_t *ids, int64_t count,
                          const void **out);
    const void *self;   /* for take alone */
    const void *stored; /* K, row-major, ld entries from row to row, where all of it lies in memory; or NULL */
    int64_t ld;
};

/* f <- f + sum over k of c_k K(ids[k], .), sums in double and in this order on any number of threads. count is at most
   rows->most; scratch holds count pointers. */
mercer_status mc_rows_add(mercer_ctx *ctx, const mc_matrix_rows *rows, const int64_t *ids, const double *c,
                          int64_t count, const void **scratch, double *f);

/* A square K that lies in memory, row-major, ld entries from row to row; diagonal as above. */
mc_matrix_rows mc_rows_stored(int64_t n, mercer_dtype dtype, const void *K, int64_t ld, const double *diagonal);

#endif
