/* string_features.h: strings as points: the parts of p bytes that occur in them, counted. */
#ifndef MC_GRAM_PACK_STRING_FEATURES_H
#define MC_GRAM_PACK_STRING_FEATURES_H

#include "gram/compile/tile_program.h"

/* Both sides of a spectrum part as compressed rows of counts (start, coordinate, count), z being x when both are one;
   sets the coordinates of the part. */
mercer_status mc_string_features_open(mercer_ctx *ctx, mc_tile_part *part, const mercer_data *x, const mercer_data *z);
/* What a spectrum node may find in these rows, at most: its parts, and of them the most in a panel of so many rows. */
int64_t mc_string_features_total(const mc_node *node, const mercer_data *data);
int64_t mc_string_features_widest(const mc_node *node, const mercer_data *data, int64_t width);
/* Bytes that so many parts take at most while they are numbered, and until the points are laid out. */
size_t mc_string_features_bytes(const mc_node *node, int64_t parts);

#endif
