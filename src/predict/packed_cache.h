/* packed_cache.h: what predictions make of the centres of a model, kept from one to the next: operators on them, for
   packing the centres is nearly all the work of deciding one row, or the weights of features they sum up to.

       mc_packed_cache *cache = NULL;
       MC_TRY(mc_packed_cache_open(ctx, count, &cache));            one place for every product of a prediction; all
       empty
       gram = mc_packed_cache_find(cache, k);                        NULL until somebody has filled the place
       if (!mc_packed_cache_put(ctx, cache, k, centres, gram)) ...  what was not taken remains the caller's

   A place is filled once and never changed, so threads may share a model: the first to fill it wins. */
#ifndef MC_PREDICT_PACKED_CACHE_H
#define MC_PREDICT_PACKED_CACHE_H

#include "gram/operator/gram.h"
#include "predict/point_index.h"

enum { MC_PACKED_CACHE_ROWS = 64 }; /* few rows: with any centres the packing matters */
/* Whether packing the centres is a good part of the work of deciding so many rows of d columns. */
static inline bool mc_packed_cache_pays(int64_t rows, int64_t centres, int64_t d) {
    return rows <= MC_PACKED_CACHE_ROWS || (double)rows * (double)centres * (double)(d + 16) <= 4e6;
}

typedef struct mc_packed_cache mc_packed_cache;

mercer_status mc_packed_cache_open(mercer_ctx *ctx, int64_t count, mc_packed_cache **out);
void mc_packed_cache_free(mc_packed_cache *cache);
const mc_gram *mc_packed_cache_find(const mc_packed_cache *cache, int64_t k); /* cache may be NULL */
/* centres NULL: they live as long as the model does. Nothing is kept that would take more than a quarter of the memory
   left. */
bool mc_packed_cache_put(mercer_ctx *ctx, mc_packed_cache *cache, int64_t k, mercer_data *centres, mc_gram *gram);
/* Weights of explicit features that stand for the centres, before anybody else sees the cache, which has them from now
   on; NULL: there are none, and *features is left alone. */
void mc_packed_cache_keep_weights(mc_packed_cache *cache, double *weights, int64_t features);
const double *mc_packed_cache_weights(const mc_packed_cache *cache, int64_t *features);

/* The index of the centres of a search by distance, kept as operators are; NULL: there is none. */
const mc_point_index *mc_packed_cache_points(const mc_packed_cache *cache);
bool mc_packed_cache_keep_points(mercer_ctx *ctx, mc_packed_cache *cache, mc_point_index *index);
/* Rows that were asked for so far, these included, whether an index is worth making; those alone without a cache. */
int64_t mc_packed_cache_asked(mc_packed_cache *cache, int64_t rows);

#endif
