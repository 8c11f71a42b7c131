/* row_cache.h: rows of K kept in a bounded number of bytes, computed when they are first asked for, the longest unused given up first.

   The columns are cut into pieces (one per class). A row is kept piece by piece: what two classes need of it is computed for them and
   serves every other pair that meets the class. mc_row_cache_view looks at one or two pieces as a matrix of its own. */
#ifndef MC_SOLVE_ROW_CACHE_H
#define MC_SOLVE_ROW_CACHE_H

#include "solve/rows.h"

/* Where the entries come from. */
typedef struct mc_row_source {
    int64_t n;
    mercer_dtype dtype;
    const double *diagonal;
    /* out[k][j - j0] <- K(ids[k], j), j0 <= j < j1. */
    mercer_status (*fill)(mercer_ctx *ctx, const void *self, const int64_t *ids, int64_t count, int64_t j0, int64_t j1, void *const *out);
    const void *self;
} mc_row_source;

typedef struct mc_row_cache mc_row_cache;

/* start: pieces + 1 columns, 0 first and n last, borrowed. bytes: for the rows themselves; at least two rows must fit. */
mercer_status mc_row_cache_open(mercer_ctx *ctx, const mc_row_source *source, int64_t pieces, const int64_t *start, size_t bytes,
                                mc_row_cache **out);
void mc_row_cache_close(mc_row_cache *cache);
/* Entries computed so far. */
int64_t mc_row_cache_computed(const mc_row_cache *cache);

/* The principal submatrix of piece a and piece b (b < 0: all columns). It lives as long as *view and the cache. */
typedef struct mc_row_view {
    mc_row_cache *cache;
    int64_t a, b;
    double *diagonal;
} mc_row_view;
mercer_status mc_row_view_open(mercer_ctx *ctx, mc_row_cache *cache, int64_t a, int64_t b, mc_row_view *view, mc_rows *out);
void mc_row_view_close(mc_row_view *view);

#endif
