/* dict.h: distinct strings, numbered in the order they are met, then sorted the way labels are: numbers by value, text
 * by bytes. */
#ifndef MC_DATA_ENCODE_DICT_H
#define MC_DATA_ENCODE_DICT_H

#include "base/text.h"

typedef struct mc_dict_entry {
    uint64_t hash;
    int64_t offset, length; /* in bytes.bytes */
} mc_dict_entry;

typedef struct mc_dict {
    mercer_ctx *ctx;
    int64_t count, capacity, slots; /* slots: a power of two, at least 2 count */
    int64_t *slot;                  /* entry number + 1; 0: free */
    mc_dict_entry *entry;
    mc_text bytes;
} mc_dict;

mc_dict mc_dict_open(mercer_ctx *ctx);
void mc_dict_close(mc_dict *dict);
/* The number of this string, added when it is new. */
mercer_status mc_dict_add(mc_dict *dict, const char *bytes, int64_t length, int64_t *id);
/* -1 when it was never added. */
int64_t mc_dict_find(const mc_dict *dict, const char *bytes, int64_t length);
/* The strings in label order as one list; rank[id] (count entries, may be NULL) is the place of each. */
mercer_status mc_dict_sorted(const mc_dict *dict, char ***list, int64_t *rank);

#endif
