/* string_features.h: strings as points: the parts of p bytes that occur in them, counted. */
#ifndef MC_GRAM_PACK_STRING_FEATURES_H
#define MC_GRAM_PACK_STRING_FEATURES_H

#include "gram/compile/tile_program.h"

/* The dictionary of a spectrum part: every string of p bytes that occurs in the rows of x or z. Sets the coordinates of
   the part. */
mercer_status mc_string_features_open(mercer_ctx *ctx, mc_tile_part *part, const mercer_data *x, const mercer_data *z);
void mc_string_features_close(mc_tile_part *part);
/* The coordinates of row i, in the order they are met, and how often; seen: part->d zeros, which they are again
   afterwards. */
int64_t mc_string_features_row(const mc_tile_part *part, const mercer_data *data, int64_t i, double *seen,
                               int32_t *coordinate, double *count);
/* Bytes of text that a spectrum node reads, at most this many parts. */
int64_t mc_string_features_total(const mc_node *node, const mercer_data *data);

#endif
