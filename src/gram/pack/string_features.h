/* string_features.h: texts as points: the features that occur in them, added up. */
#ifndef MC_GRAM_PACK_STRING_FEATURES_H
#define MC_GRAM_PACK_STRING_FEATURES_H

#include "gram/compile/tile_program.h"

/* Both sides of a part of texts as compressed rows whose `start` is known, z being x when both are one; sets the
   coordinates of the part. */
mercer_status mc_string_features_open(mercer_ctx *ctx, mc_tile_part *part, const mercer_data *x, const mercer_data *z);
/* Row i while the points are not laid out yet; returns how many values it has. */
int64_t mc_string_features_row(const mc_packed_points *pack, const mercer_data *data, int64_t i, double *values,
                               int32_t **coordinate);
void mc_string_features_release(mc_packed_points *pack); /* the points are laid out */

/* What an atom of texts may find in these rows, at most: values, different coordinates, and bytes until the points are
   laid out. */
typedef struct mc_string_need {
    int64_t values, coordinates;
    size_t opening;
} mc_string_need;
mc_string_need mc_string_features_need(const mc_node *node, const mercer_data *x, const mercer_data *z);

#endif
