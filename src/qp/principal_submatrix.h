/* principal_submatrix.h: a principal submatrix of K as rows of its own: some rows and the same columns, copied
   together. */
#ifndef MC_QP_PRINCIPAL_SUBMATRIX_H
#define MC_QP_PRINCIPAL_SUBMATRIX_H

#include "base/workspace.h"
#include "linalg/matrix.h"

typedef struct mc_principal {
    int64_t n;
    mercer_dtype dtype; /* the whole's */
    char *K;            /* n x n */
    double *diagonal;
    const void **row; /* where the rows of the whole lay */
    mc_work work;
} mc_principal;

/* Bytes it takes. */
size_t mc_principal_bytes(const mc_matrix *whole, int64_t n);
/* id: its rows in the whole, increasing. On failure nothing is held. */
mercer_status mc_principal_open(mercer_ctx *ctx, const mc_matrix *whole, const int64_t *id, int64_t n,
                                mc_principal *out);
void mc_principal_close(mc_principal *part);
mc_matrix mc_principal_rows(const mc_principal *part);

#endif
