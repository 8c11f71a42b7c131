/* matrix.h: what a solver sees of a symmetric matrix: a table of functions over something of its own. Computed on the
   fly, kept in memory, low rank, a matrix or a function of the calling program; on a device or spread over machines: a
   solver cannot tell.

   What an implementation cannot do is NULL. Who asks for what:

       apply                     iterative/pcg.c, linalg/lanczos.c, linalg/krylov.c, the losses, principal components
       rows, pairs, diagonal     gram/lowrank
       block, add, add_at        qp/active_set.c
       view                      the other solvers of qp, over the part of K that an active set has
       packed                    factorisations of all of K
       errors                    what is promised of an answer
       bytes                     who asks for a large block, and must know whether there is room

   The functions mc_matrix_... below answer from what lies in memory where an implementation has no function of its own.
   */
#ifndef MC_LINALG_MATRIX_H
#define MC_LINALG_MATRIX_H

#include "linalg/dense.h"

/* How wrong a sum of columns is. */
typedef struct mc_sum_error {
    double *bound; /* n: grows by a bound on the error of each sum; NULL: nobody asks */
    double reach;  /* becomes the largest sum of |c_k K(ids[k], i)|, where that is known; infinite before */
} mc_sum_error;

/* How wrong computed values are, whatever the roundings were. |computed K_ij - K_ij| is at most entry, and at most
   relative |K_ij| + rest. Of a product K c, one of t, it is at most product_relative S_i + product_rest sum |c|, where
   S_i is the product with |c| as it is computed, and product_relative is 0 where nothing is known of S_i. */
typedef struct mc_matrix_errors {
    double size; /* |K_ij| is at most this; infinite where nothing is known */
    double entry, relative, rest;
    double product_relative, product_rest;
} mc_matrix_errors;

typedef struct mc_matrix {
    int64_t n;
    const void *self; /* the first argument of every function, after the context */

    /* Y <- K V, n x t, row-major. */
    mercer_status (*apply)(mercer_ctx *ctx, const void *self, int64_t t, const double *V, double *Y);
    /* f <- f + sum over k of c_k K(ids[k], .), entries of this precision. ids rise. sum_error, as it was before, may
       grow; NULL: nobody asks. */
    mercer_status (*add)(mercer_ctx *ctx, const void *self, mercer_dtype precision, const int64_t *ids, const double *c,
                         int64_t count, double *f, mc_sum_error *sum_error);
    /* f_i <- sum over k of c_k K(ids[k], i) in double at the listed rows alone. Both lists rise. */
    mercer_status (*add_at)(mercer_ctx *ctx, const void *self, const int64_t *ids, const double *c, int64_t count,
                            const int64_t *rows, int64_t rows_count, double *f, mc_sum_error *sum_error);

    /* out <- K(ids, ids), count x count, row-major. ids rise. */
    mercer_status (*block)(mercer_ctx *ctx, const void *self, mercer_dtype dtype, const int64_t *ids, int64_t count,
                           void *out);
    /* out[r * ld + j - begin] <- K(ids[r], j), begin <= j < end: of rows, which are columns. */
    mercer_status (*rows)(mercer_ctx *ctx, const void *self, mercer_dtype dtype, const int64_t *ids, int64_t count,
                          int64_t begin, int64_t end, void *out, int64_t ld);
    /* out[a * count + b] <- K(ids[a], ids[b]) in double, ids in any order and perhaps twice. */
    mercer_status (*pairs)(mercer_ctx *ctx, const void *self, const int64_t *ids, int64_t count, double *out);
    mercer_status (*diagonal)(mercer_ctx *ctx, const void *self, double *out);
    /* The lower half, packed (linalg/dense.h), with shift_i added on the diagonal; shift NULL: nothing. */
    mercer_status (*packed)(mercer_ctx *ctx, const void *self, const double *shift, double *out);
    /* With t columns to a product. */
    mc_matrix_errors (*errors)(const void *self, int64_t t);
    /* Bytes at most that block or pairs of count rows take while they run, beside out. */
    size_t (*bytes)(mercer_ctx *ctx, const void *self, mercer_dtype dtype, int64_t count);

    /* What lies in memory, for solvers that step from row to row: in the precision dtype. */
    mercer_dtype dtype;
    mc_dense whole;     /* all of K; a NULL: it does not */
    const double *diag; /* n: the diagonal; NULL: it does not */
    /* out[k] <- where row ids[k] lies, until the next call; ids are distinct. */
    mercer_status (*view)(mercer_ctx *ctx, const void *self, const int64_t *ids, int64_t count, const void **out);
    /* these entries are what K is: sums of them leave no error of their own, and add_at is not asked for */
    bool exact_entries;
} mc_matrix;

/* A square K that lies in memory, row-major, ld entries from row to row; diag as above. */
mc_matrix mc_matrix_square(int64_t n, mercer_dtype dtype, const void *K, int64_t ld, const double *diag);
/* The handle to such a K. */
mc_dense mc_matrix_whole(int64_t n, mercer_dtype dtype, const void *K, int64_t ld);

/* Where rows lie: of whole, or as view says. */
mercer_status mc_matrix_view(mercer_ctx *ctx, const mc_matrix *K, const int64_t *ids, int64_t count, const void **out);
/* f <- f + sum over k of c_k K(ids[k], .) over rows that lie in memory, sums in double and in this order on any number
   of threads; scratch holds count pointers. */
mercer_status mc_matrix_add_rows(mercer_ctx *ctx, const mc_matrix *K, const int64_t *ids, const double *c,
                                 int64_t count, const void **scratch, double *f);

/* The functions above, or their answers from rows that lie in memory (then in the precision they have). */
mercer_status mc_matrix_add(mercer_ctx *ctx, const mc_matrix *K, mercer_dtype precision, const int64_t *ids,
                            const double *c, int64_t count, double *f, mc_sum_error *sum_error);
mercer_status mc_matrix_block(mercer_ctx *ctx, const mc_matrix *K, mercer_dtype dtype, const int64_t *ids,
                              int64_t count, void *out);
mercer_status mc_matrix_rows(mercer_ctx *ctx, const mc_matrix *K, mercer_dtype dtype, const int64_t *ids, int64_t count,
                             int64_t begin, int64_t end, void *out, int64_t ld);
mercer_status mc_matrix_pairs(mercer_ctx *ctx, const mc_matrix *K, const int64_t *ids, int64_t count, double *out);
mercer_status mc_matrix_diagonal(mercer_ctx *ctx, const mc_matrix *K, double *out);
size_t mc_matrix_bytes(mercer_ctx *ctx, const mc_matrix *K, mercer_dtype dtype, int64_t count);

#endif
