/* ridge_path_folds.h: errors of folds left out for many lambdas, from one eigendecomposition. */
#ifndef MC_LEARN_RIDGE_RIDGE_PATH_FOLDS_H
#define MC_LEARN_RIDGE_RIDGE_PATH_FOLDS_H

#include "learn/common/fold_order.h"

typedef struct mc_path_folds {
    const mc_fold_order *by;
    int64_t outputs, columns;
    bool intercept;
    const double *root; /* n: s; NULL: all 1 */
    double *rows;       /* largest x n: the rows of U in the fold */
    double *scaled;     /* largest x n: those times sqrt(h) */
    double *C;          /* largest x largest: C_FF, lower half */
    double *part;       /* the same packed */
    double *E;          /* largest x outputs */
    int64_t count;      /* lambdas at a time, at most */
    int64_t *starts;    /* small folds: where each begins in the order; at most n */
    double *room;       /* and what a thread needs for one of them */
    double *each;       /* and their squares, n x lambdas at a time */
    double *left;       /* lambdas x n x outputs: residuals, where they are wanted; NULL otherwise */
} mc_path_folds;

/* count: lambdas at a time. */
size_t mc_path_folds_bytes(const mercer_ctx *ctx, int64_t n, int64_t largest, int64_t outputs, int64_t count);
/* f->by, outputs, columns, intercept and root are given. Close it after a failure too. */
mercer_status mc_path_folds_open(mercer_ctx *ctx, int64_t count, mc_path_folds *f);
void mc_path_folds_close(mc_path_folds *f);

/* For count lambdas: U (n x n, column-major), H (n x count): 1 / (m + lambda), all positive; back (n x count x
   columns): beta, then z. squares[l] <- the sum of the squared residuals times weights under lambda l; NaN where a fold
   breaks down. */
mercer_status mc_path_folds_errors(mercer_ctx *ctx, const mc_path_folds *f, const double *U, const double *H,
                                   const double *back, int64_t count, double *squares);

#endif
