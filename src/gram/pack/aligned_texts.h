/* aligned_texts.h: texts laid out to be compared place by place. */
#ifndef MC_GRAM_PACK_ALIGNED_TEXTS_H
#define MC_GRAM_PACK_ALIGNED_TEXTS_H

#include "gram/compile/tile_program.h"

/* The texts of an atom, each from a boundary of 64 bytes on, with as many to read behind it as fill them up. */
typedef struct mc_aligned_texts {
    unsigned char *bytes;
    int64_t *at; /* where each begins */
    int64_t *length;
} mc_aligned_texts;

bool mc_part_aligned(const mc_tile_part *part); /* its values come from such texts */
mercer_status mc_aligned_texts_make(mercer_ctx *ctx, const mc_node *atom, const mercer_data *data,
                                    mc_aligned_texts **out);
/* Those listed. */
mercer_status mc_aligned_texts_take(mercer_ctx *ctx, const mc_aligned_texts *from, const int64_t *ids, int64_t count,
                                    mc_aligned_texts **out);
void mc_aligned_texts_free(mc_aligned_texts *texts);
size_t mc_aligned_texts_bytes(const mc_node *atom, const mercer_data *data);
/* One tile: the rows listed, as many as it has, against columns first, first + 1, ... of n. */
void mc_aligned_texts_tile(const mc_tile_part *part, const mc_tile_ops *ops, const int64_t *row, int64_t first,
                           int64_t n, void *out);

#endif
