/* feature_numbering.c: a table of features by open addressing, which grows by doubling. */
#include "kernel/evaluate/feature_numbering.h"
#include "base/memory.h"
#include "base/status.h"
#include "base/workspace.h"
#include "kernel/evaluate/spectrum_kernel.h"
#include <string.h>

enum { CAPACITY = 256, TOGETHER = 64 }; /* features that there is room for at first; that are looked up at once */

static uint64_t first_slot(const mc_feature_numbering *n, uint64_t key, uint64_t group) {
    return mc_part_hash(key ^ group * 0xA0761D6478BD642Fu) & (uint64_t)(n->slots - 1);
}

static void fill_slots(mc_feature_numbering *n) {
    for (int64_t id = 0; id < n->count; id++) {
        uint64_t s = first_slot(n, n->entry[id].key, n->entry[id].group);
        while (n->slot[s])
            s = (s + 1) & (uint64_t)(n->slots - 1);
        n->slot[s] = (int32_t)id + 1;
    }
}

static mercer_status grow_entries(mc_feature_numbering *n, int64_t capacity) {
    mc_numbered_feature *entry = mc_grow_block(n->ctx, n->entry, capacity, sizeof *entry);
    MC_TRY(entry ? MERCER_OK : MERCER_MEMORY);
    n->entry = entry;
    if (n->exact)
        return MERCER_OK;
    mc_numbered_bytes *bytes = mc_grow_block(n->ctx, n->bytes, capacity, sizeof *bytes);
    MC_TRY(bytes ? MERCER_OK : MERCER_MEMORY);
    n->bytes = bytes;
    return MERCER_OK;
}

static mercer_status grow_numbering(mc_feature_numbering *n) {
    const int64_t capacity = n->capacity ? 2 * n->capacity : CAPACITY;
    if (capacity > INT32_MAX)
        return mc_fail(n->ctx, MERCER_MEMORY, "the texts have more than %lld different features", (long long)n->count);
    MC_TRY(grow_entries(n, capacity));
    mc_free(n->slot);
    n->slot = NULL;
    MC_TRY(MC_ALLOC(n->ctx, n->slot, 2 * capacity));
    n->slots = 2 * capacity;
    n->capacity = capacity;
    fill_slots(n);
    return MERCER_OK;
}

static bool is_same(const mc_feature_numbering *n, int32_t id, const mc_text_feature *f) {
    const mc_numbered_feature *known = &n->entry[id];
    return known->key == f->key && known->group == f->group
           && (n->exact || (n->bytes[id].length == f->length && memcmp(n->bytes[id].at, f->at, f->length) == 0));
}

static int32_t number_of(mc_feature_numbering *n, const mc_text_feature *f, uint64_t s) {
    while (n->slot[s] && !is_same(n, n->slot[s] - 1, f))
        s = (s + 1) & (uint64_t)(n->slots - 1);
    if (!n->slot[s]) {
        n->entry[n->count] = (mc_numbered_feature){.key = f->key, .group = f->group, .last_seen = -1};
        if (!n->exact)
            n->bytes[n->count] = (mc_numbered_bytes){f->at, f->length};
        n->slot[s] = (int32_t)++n->count;
    }
    return n->slot[s] - 1;
}

mercer_status mc_number_features(mc_feature_numbering *n, const mc_text_feature *f, int64_t count, int32_t *out) {
    uint64_t slot[TOGETHER];
    for (int64_t begin = 0; begin < count; begin += TOGETHER) {
        const int64_t some = count - begin < TOGETHER ? count - begin : TOGETHER;
        while (n->count + some > n->capacity)
            MC_TRY(grow_numbering(n));
        for (int64_t k = 0; k < some; k++) {
            slot[k] = first_slot(n, f[begin + k].key, f[begin + k].group);
            __builtin_prefetch(&n->slot[slot[k]], 1);
        }
        for (int64_t k = 0; k < some; k++)
            if (n->slot[slot[k]])
                __builtin_prefetch(&n->entry[n->slot[slot[k]] - 1], 1);
        for (int64_t k = 0; k < some; k++)
            out[begin + k] = number_of(n, &f[begin + k], slot[k]);
    }
    return MERCER_OK;
}

void mc_forget_features(mc_feature_numbering *n) {
    n->count = 0;
    if (n->slot)
        memset(n->slot, 0, (size_t)n->slots * sizeof *n->slot);
}

void mc_close_numbering(mc_feature_numbering *n) {
    mc_free(n->slot);
    mc_free(n->entry);
    mc_free(n->bytes);
}

/* Growing doubles, and the old block goes only when the new one is there. */
size_t mc_numbering_bytes(bool exact, int64_t features) {
    const size_t each = 2 * sizeof(int32_t) + sizeof(mc_numbered_feature) + (exact ? 0 : sizeof(mc_numbered_bytes));
    return mc_work_need(3 * (features + CAPACITY + TOGETHER), each) + 8 * MC_ALIGN;
}
