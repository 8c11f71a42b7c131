/* matrix.h: what a solver sees of a matrix: its size and its products, or single entries. Stored, on the fly, low
   rank, anything. */
#ifndef MC_LINALG_MATRIX_H
#define MC_LINALG_MATRIX_H

#include <mercer.h>

typedef struct mc_operator {
    int64_t n;
    /* Y <- A V, n x t */
    mercer_status (*apply)(mercer_ctx *ctx, const void *self, int64_t t, const double *V, double *Y);
    mercer_status (*diagonal)(mercer_ctx *ctx, const void *self, double *out);
    const void *self;
} mc_operator;

/* A symmetric matrix entry by entry, for methods that read a few of its columns. */
typedef struct mc_entries {
    int64_t n;
    mercer_status (*diagonal)(mercer_ctx *ctx, const void *self, double *out);
    /* out[r * ld + j] <- K(rows[r], j): whole rows, which are columns. */
    mercer_status (*take)(mercer_ctx *ctx, const void *self, const int64_t *rows, int64_t count, float *out,
                          int64_t ld);
    /* out[a * count + b] <- K(rows[a], rows[b]). */
    mercer_status (*pairs)(mercer_ctx *ctx, const void *self, const int64_t *rows, int64_t count, double *out);
    const void *self;
} mc_entries;

#endif
