/* dict.c: open addressing with linear probing over 64-bit hashes; the strings lie end to end in one text. */
#include "data/encode/dict.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/sort.h"
#include "base/status.h"
#include "base/workspace.h"
#include "data/table/strings.h"
#include <math.h>
#include <string.h>

mc_dict mc_dict_open(mercer_ctx *ctx) {
    return (mc_dict){.ctx = ctx, .bytes = mc_text_open(ctx)};
}

void mc_dict_close(mc_dict *dict) {
    mc_free(dict->slot);
    mc_free(dict->entry);
    mc_text_close(&dict->bytes);
    *dict = (mc_dict){0};
}

/* Eight bytes a step: multiply, fold. */
static uint64_t hash_of(const char *bytes, int64_t length) {
    uint64_t h = 0x9E3779B97F4A7C15u ^ (uint64_t)length;
    for (; length >= 8; bytes += 8, length -= 8) {
        uint64_t word;
        memcpy(&word, bytes, 8);
        h = (h ^ word) * 0xD6E8FEB86659FD93u;
        h ^= h >> 32;
    }
    uint64_t word = 0;
    if (length)
        memcpy(&word, bytes, (size_t)length);
    h = (h ^ word) * 0xD6E8FEB86659FD93u;
    h ^= h >> 29;
    h *= 0xD6E8FEB86659FD93u;
    return h ^ h >> 32;
}

static bool entry_equals(const mc_dict *dict, int64_t id, uint64_t hash, const char *bytes, int64_t length) {
    const mc_dict_entry *e = &dict->entry[id];
    return e->hash == hash && e->length == length
           && (length == 0 || memcmp(dict->bytes.bytes + e->offset, bytes, (size_t)length) == 0);
}

/* The slot that holds the string, or the free one where it belongs. */
static int64_t place_of(const mc_dict *dict, uint64_t hash, const char *bytes, int64_t length) {
    int64_t s = (int64_t)(hash & (uint64_t)(dict->slots - 1));
    while (dict->slot[s] && !entry_equals(dict, dict->slot[s] - 1, hash, bytes, length))
        s = (s + 1) & (dict->slots - 1);
    return s;
}

int64_t mc_dict_find(const mc_dict *dict, const char *bytes, int64_t length) {
    return dict->slots ? dict->slot[place_of(dict, hash_of(bytes, length), bytes, length)] - 1 : -1;
}

static mercer_status grow_dict(mc_dict *dict) {
    const int64_t capacity = dict->capacity ? 2 * dict->capacity : 32;
    mc_dict_entry *entry = mc_grow_block(dict->ctx, dict->entry, capacity, sizeof *entry);
    if (!entry)
        return MERCER_MEMORY;
    dict->entry = entry;
    int64_t *slot = mc_alloc(dict->ctx, 2 * capacity, sizeof *slot);
    if (!slot)
        return MERCER_MEMORY;
    mc_free(dict->slot);
    dict->slot = slot;
    dict->slots = 2 * capacity;
    dict->capacity = capacity;
    for (int64_t id = 0; id < dict->count; id++) {
        int64_t s = (int64_t)(entry[id].hash & (uint64_t)(dict->slots - 1));
        while (slot[s])
            s = (s + 1) & (dict->slots - 1);
        slot[s] = id + 1;
    }
    return MERCER_OK;
}

mercer_status mc_dict_add(mc_dict *dict, const char *bytes, int64_t length, int64_t *id) {
    if (dict->count == dict->capacity)
        MC_TRY(grow_dict(dict));
    const uint64_t hash = hash_of(bytes, length);
    const int64_t s = place_of(dict, hash, bytes, length);
    *id = dict->slot[s] - 1;
    if (*id >= 0)
        return MERCER_OK;
    const int64_t offset = dict->bytes.length;
    mc_text_bytes(&dict->bytes, bytes, length);
    mc_text_bytes(&dict->bytes, "", 1);
    if (dict->bytes.status)
        return dict->bytes.status;
    *id = dict->count++;
    dict->entry[*id] = (mc_dict_entry){.hash = hash, .offset = offset, .length = length};
    dict->slot[s] = *id + 1;
    return MERCER_OK;
}

typedef struct sort_key {
    const char *text;
    double value; /* NaN: not a number */
} sort_key;

static int label_order(const void *arg, int64_t a, int64_t b) {
    const sort_key *x = (const sort_key *)arg + a, *y = (const sort_key *)arg + b;
    const bool x_text = isnan(x->value), y_text = isnan(y->value);
    if (x_text != y_text)
        return x_text ? 1 : -1;
    if (!x_text && x->value != y->value)
        return x->value < y->value ? -1 : 1;
    return strcmp(x->text, y->text);
}

static sort_key key_of(const mc_dict *dict, int64_t id) {
    const mc_dict_entry *e = &dict->entry[id];
    sort_key key = {.text = dict->bytes.bytes + e->offset, .value = NAN};
    const char *end = key.text + e->length;
    if (mc_number_read(key.text, end, &key.value) != end || !isfinite(key.value))
        key.value = NAN;
    return key;
}

mercer_status mc_dict_sorted(const mc_dict *dict, char ***list, int64_t *rank) {
    *list = NULL;
    const int64_t count = dict->count;
    mc_work w;
    sort_key *key = NULL;
    int64_t *order = NULL, *scratch = NULL;
    MC_TRY(MC_WORK_SLICES(dict->ctx, &w, MC_SLICE(key, count), MC_SLICE(order, count), MC_SLICE(scratch, count)));
    for (int64_t id = 0; id < count; id++) {
        key[id] = key_of(dict, id);
        order[id] = id;
    }
    mc_sort(order, scratch, count, label_order, key);
    char *next = NULL, **sorted = mc_strings_new(dict->ctx, count, dict->bytes.length, &next);
    for (int64_t k = 0; sorted && k < count; k++) {
        const size_t size = (size_t)dict->entry[order[k]].length + 1;
        sorted[k] = memcpy(next, key[order[k]].text, size);
        next += size;
        if (rank)
            rank[order[k]] = k;
    }
    mc_work_close(&w);
    *list = sorted;
    return sorted ? MERCER_OK : MERCER_MEMORY;
}
