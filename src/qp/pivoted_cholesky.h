/* pivoted_cholesky.h: K = F F' to the last digits, where K has a low rank: few columns, a polynomial of few columns, a
   smooth kernel of rows that lie close together.

       mc_thin thin = {0};
       MC_TRY(mc_thin_open(ctx, n, diagonal, column, arg, most, &thin));
       if (thin.rank >= 0) ...
       mc_thin_close(&thin); */
#ifndef MC_QP_PIVOTED_CHOLESKY_H
#define MC_QP_PIVOTED_CHOLESKY_H

#include <mercer.h>

/* Columns of F lie in panels of this width, row after row; those of the last one that are not F's are zero. */
enum { MC_THIN = 8 };

typedef struct mc_thin {
    int64_t n, rank, panels; /* rank -1: it is above what was asked for, and there is no F */
    double *F;               /* F_ik at [(k / MC_THIN * n + i) * MC_THIN + k % MC_THIN] */
} mc_thin;

/* out <- column i of K, n numbers, in double */
typedef mercer_status mc_column_of(mercer_ctx *ctx, const void *arg, int64_t i, double *out);

/* The rank is most at the highest. What is left of the diagonal is rounding beside its largest entry. */
mercer_status mc_thin_open(mercer_ctx *ctx, int64_t n, const double *diagonal, mc_column_of *column, const void *arg,
                           int64_t most, mc_thin *out);
void mc_thin_close(mc_thin *thin);
size_t mc_thin_bytes(int64_t n, int64_t rank);
/* out <- F F' x; scratch holds panels * MC_THIN numbers. */
mercer_status mc_thin_multiply(mercer_ctx *ctx, const mc_thin *thin, const double *x, double *scratch, double *out);

#endif
