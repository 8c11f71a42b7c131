/* feature_numbering.h: features of texts numbered in the order they are met, exactly. */
#ifndef MC_KERNEL_EVALUATE_FEATURE_NUMBERING_H
#define MC_KERNEL_EVALUATE_FEATURE_NUMBERING_H

#include "kernel/evaluate/text_features.h"

typedef struct mc_numbered_feature {
    uint64_t key, group;
    int64_t last_seen; /* where the caller met it last; -1: nowhere yet */
} mc_numbered_feature;
typedef struct mc_numbered_bytes {
    const char *at;
    size_t length;
} mc_numbered_bytes;

/* Open addressing with linear probing. */
typedef struct mc_feature_numbering {
    mercer_ctx *ctx;
    bool exact;    /* key and group tell features apart: there are no bytes */
    int32_t *slot; /* number of a feature, from 1; 0: free */
    int64_t slots; /* a power of two, twice the capacity */
    int64_t count, capacity;
    mc_numbered_feature *entry; /* of each number */
    mc_numbered_bytes *bytes;   /* of each number */
} mc_feature_numbering;

/* Their numbers, from 0; a new one has -1 in last_seen. Of many at a time the table is asked for all at once. */
mercer_status mc_number_features(mc_feature_numbering *numbering, const mc_text_feature *feature, int64_t count,
                                 int32_t *out);
void mc_forget_features(mc_feature_numbering *numbering); /* the memory stays */
void mc_close_numbering(mc_feature_numbering *numbering);
/* Bytes that so many features take at most while they are numbered. */
size_t mc_numbering_bytes(bool exact, int64_t features);

#endif
