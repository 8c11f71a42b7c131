/* pivoted_cholesky.h: K = F F' to the last digits, where K has a low rank: few columns, a polynomial of few columns, a
   smooth kernel of rows that lie close together.

       mc_pivoted_cholesky low_rank = {0};
       MC_TRY(mc_pivoted_cholesky_open(ctx, n, diagonal, column, arg, most, &low_rank));
       if (low_rank.rank >= 0) ...
       mc_pivoted_cholesky_close(&low_rank); */
#ifndef MC_QP_PIVOTED_CHOLESKY_H
#define MC_QP_PIVOTED_CHOLESKY_H

#include "base/workspace.h"

/* Columns of F lie in panels of this width, row after row; those of the last one that are not F's are zero. */
enum { MC_PIVOTED_PANEL = 8 };

typedef struct mc_pivoted_cholesky {
    int64_t n, rank, panels; /* rank -1: it is above what was asked for, and there is no F */
    double *F;               /* F_ik at [(k / MC_PIVOTED_PANEL * n + i) * MC_PIVOTED_PANEL + k % MC_PIVOTED_PANEL] */
    mc_work work;            /* that it lies in, with what its growth took */
} mc_pivoted_cholesky;

/* out <- column i of K, n numbers, in double */
typedef mercer_status mc_column_of(mercer_ctx *ctx, const void *arg, int64_t i, double *out);

/* The rank is most at the highest. What is left of the diagonal is rounding beside its largest entry. */
mercer_status mc_pivoted_cholesky_open(mercer_ctx *ctx, int64_t n, const double *diagonal, mc_column_of *column,
                                       const void *arg, int64_t most, mc_pivoted_cholesky *out);
void mc_pivoted_cholesky_close(mc_pivoted_cholesky *low_rank);
size_t mc_pivoted_cholesky_bytes(int64_t n, int64_t rank);
/* out <- F F' x; scratch holds panels * MC_PIVOTED_PANEL numbers. */
mercer_status mc_pivoted_cholesky_multiply(mercer_ctx *ctx, const mc_pivoted_cholesky *low_rank, const double *x,
                                           double *scratch, double *out);

#endif
