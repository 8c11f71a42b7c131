/* principal.h: a principal submatrix of K as rows of its own: some rows and the same columns, copied together on first use. */
#ifndef MC_SOLVE_PRINCIPAL_H
#define MC_SOLVE_PRINCIPAL_H

#include "base/work.h"
#include "solve/rows.h"

typedef struct mc_principal {
    const mc_rows *whole;
    int64_t n;
    const int64_t *id;   /* its rows in the whole, increasing */
    char *K;             /* n x n of the whole's precision, filled row by row */
    bool *filled;
    double *diagonal;
    int64_t *wanted, *target; /* one batch of rows to copy: where from and where to */
    const void **piece;
} mc_principal;

/* Bytes it takes. */
size_t mc_principal_bytes(const mc_rows *whole, int64_t n);
/* id is borrowed. On failure nothing is held. */
mercer_status mc_principal_open(mercer_ctx *ctx, const mc_rows *whole, const int64_t *id, int64_t n, mc_principal *out);
void mc_principal_close(mc_principal *part);
mc_rows mc_principal_rows(const mc_principal *part);

#endif
