/* spare_blocks.c: places that are filled in turn, each by one exchange of a pointer. */
#include "base/spare_blocks.h"
#include <stdbool.h>
#include <stdlib.h>

#if defined(__SANITIZE_ADDRESS__)
#define WATCHED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WATCHED 1
#endif
#endif
#ifndef WATCHED
#define WATCHED 0 /* 1: a sanitizer looks for uses of freed blocks, which must be freed then */
#endif

static bool is_about(size_t held, size_t size) {
    return held >= size && held - size <= size / 32;
}

/* The place is emptied; NULL: it was empty. */
static void *empty_place(mc_spare_blocks *spare, size_t i, size_t *size) {
    void *block = atomic_exchange(&spare->place[i].block, NULL);
    if (block) {
        *size = *(const size_t *)block;
        atomic_fetch_sub(&spare->bytes, *size);
    }
    return block;
}

/* In place i, whose block is freed. */
static void fill_place(mc_spare_blocks *spare, size_t i, void *block, size_t size) {
    *(size_t *)block = size;
    atomic_fetch_add(&spare->bytes, size);
    atomic_store(&spare->place[i].size, size);
    void *before = atomic_exchange(&spare->place[i].block, block);
    if (before) {
        atomic_fetch_sub(&spare->bytes, *(const size_t *)before);
        free(before);
    }
}

void *mc_spare_take(mc_spare_blocks *spare, size_t size, size_t *got) {
    if (size < MC_SPARE_LEAST || size > MC_SPARE_LARGEST || atomic_load(&spare->bytes) < size)
        return NULL;
    for (size_t i = 0; i < MC_SPARE_PLACES; i++) {
        if (!is_about(atomic_load(&spare->place[i].size), size))
            continue;
        void *block = empty_place(spare, i, got);
        if (block && is_about(*got, size))
            return block;
        if (block) /* another thread has put it there meanwhile */
            fill_place(spare, i, block, *got);
    }
    return NULL;
}

static void free_place(mc_spare_blocks *spare, size_t i) {
    size_t size;
    free(empty_place(spare, i, &size));
}

void mc_spare_put(mc_spare_blocks *spare, void *block, size_t size) {
    if (WATCHED || size < MC_SPARE_LEAST || size > MC_SPARE_LARGEST) {
        free(block);
        return;
    }
    fill_place(spare, atomic_fetch_add(&spare->next, 1) % MC_SPARE_PLACES, block, size);
    for (int i = 0; i < MC_SPARE_PLACES && atomic_load(&spare->bytes) > MC_SPARE_MOST; i++)
        free_place(spare, atomic_fetch_add(&spare->next, 1) % MC_SPARE_PLACES);
}

void mc_spare_clear(mc_spare_blocks *spare) {
    for (size_t i = 0; i < MC_SPARE_PLACES; i++)
        free_place(spare, i);
}
