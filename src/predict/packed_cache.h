/* packed_cache.h: operators on the centres of a model, kept from one prediction of few rows to the next: packing the
   centres is nearly all the work of deciding one row.

       mc_packed_cache *cache = NULL;
       MC_TRY(mc_packed_cache_open(ctx, count, &cache));            one place for every product of a prediction; all
       empty
       gram = mc_packed_cache_find(cache, k);                        NULL until somebody has filled the place
       if (!mc_packed_cache_put(ctx, cache, k, centres, gram)) ...  what was not taken remains the caller's

   A place is filled once and never changed, so threads may share a model: the first to fill it wins. */
#ifndef MC_PREDICT_PACKED_CACHE_H
#define MC_PREDICT_PACKED_CACHE_H

#include "gram/operator/gram.h"

enum { MC_PACKED_CACHE_ROWS = 64 }; /* few rows: for more the packing does not matter */

typedef struct mc_packed_cache mc_packed_cache;

mercer_status mc_packed_cache_open(mercer_ctx *ctx, int64_t count, mc_packed_cache **out);
void mc_packed_cache_free(mc_packed_cache *cache);
const mc_gram *mc_packed_cache_find(const mc_packed_cache *cache, int64_t k); /* cache may be NULL */
/* centres NULL: they live as long as the model does. Nothing is kept that would take more than a quarter of the memory
   left. */
bool mc_packed_cache_put(mercer_ctx *ctx, mc_packed_cache *cache, int64_t k, mercer_data *centres, mc_gram *gram);

#endif
