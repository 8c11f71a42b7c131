/* packed_cache.c: places that are filled once, by whoever comes first; see packed_cache.h. */
#include "predict/packed_cache.h"
#include "base/memory.h"
#include "base/status.h"
#include "data/table/data.h"
#include <stdatomic.h>

enum { EMPTY, BUSY, FULL }; /* BUSY for good: what was offered cannot be kept */

typedef struct cache_place {
    atomic_int state;
    mercer_data *centres;
    mc_gram *gram;
} cache_place;

struct mc_packed_cache {
    int64_t count;
    cache_place *place;
    double *weights;
    int64_t features;
    _Atomic(mc_point_index *) points;
    atomic_int_fast64_t asked;
};

mercer_status mc_packed_cache_open(mercer_ctx *ctx, int64_t count, mc_packed_cache **out) {
    mc_packed_cache *cache = NULL;
    *out = NULL;
    MC_TRY(MC_ALLOC(ctx, cache, 1));
    cache->count = count;
    if (MC_ALLOC(ctx, cache->place, count)) {
        mc_free(cache);
        return MERCER_MEMORY;
    }
    for (int64_t k = 0; k < count; k++)
        atomic_init(&cache->place[k].state, EMPTY);
    *out = cache;
    return MERCER_OK;
}

void mc_packed_cache_free(mc_packed_cache *cache) {
    if (!cache)
        return;
    for (int64_t k = 0; k < cache->count; k++) {
        mc_gram_close(cache->place[k].gram);
        mercer_data_free(cache->place[k].centres);
    }
    mc_free(cache->place);
    mc_free(cache->weights);
    mc_point_index_close(atomic_load(&cache->points));
    mc_free(cache);
}

void mc_packed_cache_keep_weights(mc_packed_cache *cache, double *weights, int64_t features) {
    cache->weights = weights;
    cache->features = features;
}

const double *mc_packed_cache_weights(const mc_packed_cache *cache, int64_t *features) {
    if (cache && cache->weights)
        *features = cache->features;
    return cache ? cache->weights : NULL;
}

const mc_gram *mc_packed_cache_find(const mc_packed_cache *cache, int64_t k) {
    return cache && atomic_load_explicit(&cache->place[k].state, memory_order_acquire) == FULL ? cache->place[k].gram
                                                                                               : NULL;
}

static bool cache_fits_memory(mercer_ctx *ctx, const mc_gram *gram, const mercer_data *centres) {
    const double bytes = (double)mc_gram_keep_packed_bytes(gram)
                         + (centres ? (double)centres->n * (double)centres->d * sizeof(double) : 0);
    return bytes <= 0.25 * (double)mc_memory_left(ctx);
}

bool mc_packed_cache_put(mercer_ctx *ctx, mc_packed_cache *cache, int64_t k, mercer_data *centres, mc_gram *gram) {
    int seen = EMPTY;
    if (!cache || !cache_fits_memory(ctx, gram, centres)
        || !atomic_compare_exchange_strong(&cache->place[k].state, &seen, BUSY))
        return false;
    if (!mc_gram_keep_packed(gram))
        return false;
    cache->place[k].centres = centres;
    cache->place[k].gram = gram;
    atomic_store_explicit(&cache->place[k].state, FULL, memory_order_release);
    return true;
}

const mc_point_index *mc_packed_cache_points(const mc_packed_cache *cache) {
    return cache ? atomic_load_explicit(&cache->points, memory_order_acquire) : NULL;
}

bool mc_packed_cache_keep_points(mercer_ctx *ctx, mc_packed_cache *cache, mc_point_index *index) {
    mc_point_index *none = NULL;
    return cache && (double)index->work.size <= 0.25 * (double)mc_memory_left(ctx)
           && atomic_compare_exchange_strong(&cache->points, &none, index);
}

int64_t mc_packed_cache_asked(mc_packed_cache *cache, int64_t rows) {
    return cache ? atomic_fetch_add_explicit(&cache->asked, rows, memory_order_relaxed) + rows : rows;
}
