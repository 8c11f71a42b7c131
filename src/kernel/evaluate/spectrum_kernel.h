/* spectrum_kernel.h: kernels on text columns. */
#ifndef MC_KERNEL_EVALUATE_SPECTRUM_KERNEL_H
#define MC_KERNEL_EVALUATE_SPECTRUM_KERNEL_H

#include "kernel/language/kernel.h"
#include <string.h>

/* The parts of p bytes of a text, one after the other; the key of a part follows from that of the one before, so that
   a step costs the same whatever p is. */
#define MC_LONG_BASE 0x9E3779B97F4A7C15u /* longer parts are hashed by a polynomial with this odd base, modulo 2^64 */
enum { MC_PART_EXACT = 8 };              /* parts up to so many bytes are equal where their keys are */
typedef struct mc_part_walk {
    const char *at;
    int64_t left; /* parts from here on, this one included; 0: it is past the end */
    size_t p;
    uint64_t key, base, first_weight;
} mc_part_walk;

mc_part_walk mc_parts_of(const char *text, size_t p);

static inline void mc_part_next(mc_part_walk *w) {
    if (--w->left <= 0)
        return;
    w->key = (w->key - w->first_weight * (unsigned char)w->at[0]) * w->base + (unsigned char)w->at[w->p];
    w->at++;
}

static inline bool mc_part_equal(const mc_part_walk *w, const char *part) {
    return w->p <= MC_PART_EXACT || memcmp(w->at, part, w->p) == 0;
}

static inline uint64_t mc_part_hash(uint64_t key) {
    key *= 0xD6E8FEB86659FD93u;
    return key ^ key >> 32;
}

/* Different parts and how often each occurs. */
typedef struct mc_counted_part {
    uint64_t key;
    const char *at;
    uint64_t count;
} mc_counted_part;
typedef struct mc_part_tally {
    uint32_t *slot; /* at least four for each part that is counted: places in part from 1, 0 is free */
    mc_counted_part *part;
    int64_t slots, count;
} mc_part_tally;

/* Count the next parts, so many at most, anew. */
void mc_parts_count(mc_part_tally *tally, mc_part_walk *walk, int64_t most);
double mc_parts_self(const mc_part_tally *tally); /* sum of the squares of the counts */

static inline bool mc_node_reads_text(const mc_node *node) {
    return node->kind == MC_ATOM && mc_atoms[node->atom].text;
}

/* The value is an inner product of features (text_features.h). */
static inline bool mc_node_has_features(const mc_node *node) {
    return mc_node_reads_text(node) && node->atom != MC_MEAN_MAP;
}

/* Sum over all strings s of p bytes of how often s occurs in x times how often in z. */
double mc_spectrum_value(const char *x, const char *z, size_t p);

/* The names of the text columns that the tree reads, each once, separated by commas; NULL: none. */
mercer_status mc_texts_list(mercer_ctx *ctx, const mc_node *root, char **out);
/* Fill in which texts of the data are meant. */
mercer_status mc_texts_bind(mercer_ctx *ctx, mc_node *root, const mercer_data *data);
/* The data have the texts. */
mercer_status mc_texts_check(mercer_ctx *ctx, const mc_node *root, const mercer_data *data);

#endif
