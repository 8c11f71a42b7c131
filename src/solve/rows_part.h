/* rows_part.h: a principal submatrix of K as rows of its own: some rows and the same columns, copied together on first use. */
#ifndef MC_SOLVE_ROWS_PART_H
#define MC_SOLVE_ROWS_PART_H

#include "base/work.h"
#include "solve/rows.h"

typedef struct mc_part {
    const mc_rows *whole;
    int64_t n;
    const int64_t *id;   /* its rows in the whole, increasing */
    char *K;             /* n x n of the whole's precision, filled row by row */
    bool *filled;
    double *diagonal;
    int64_t *wanted, *target; /* one batch of rows to copy: where from and where to */
    const void **piece;
} mc_part;

/* Bytes it takes. */
size_t mc_part_bytes(const mc_rows *whole, int64_t n);
/* id is borrowed. On failure nothing is held. */
mercer_status mc_part_open(mercer_ctx *ctx, const mc_rows *whole, const int64_t *id, int64_t n, mc_part *out);
void mc_part_close(mc_part *part);
mc_rows mc_part_rows(const mc_part *part);

#endif
