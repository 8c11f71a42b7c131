/* string_features.h: texts as points: the features that occur in them, added up. */
#ifndef MC_GRAM_PACK_STRING_FEATURES_H
#define MC_GRAM_PACK_STRING_FEATURES_H

#include "gram/compile/tile_program.h"

/* Both sides of a part of texts as compressed rows (start, coordinate, weight), z being x when both are one; sets the
   coordinates of the part. */
mercer_status mc_string_features_open(mercer_ctx *ctx, mc_tile_part *part, const mercer_data *x, const mercer_data *z);
/* What an atom of texts may find in these rows, at most: features, and of them the most in a panel of so many rows. */
int64_t mc_string_features_total(const mc_node *node, const mercer_data *data);
int64_t mc_string_features_widest(const mc_node *node, const mercer_data *data, int64_t width);
/* Bytes that so many features take at most while they are numbered, and until the points are laid out. */
size_t mc_string_features_bytes(const mc_node *node, int64_t features);

#endif
