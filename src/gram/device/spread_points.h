/* spread_points.h: compressed rows as full ones on a device. */
#ifndef MC_GRAM_DEVICE_SPREAD_POINTS_H
#define MC_GRAM_DEVICE_SPREAD_POINTS_H

#include "backend/device.h"
#include "gram/operator/operator_state.h"

/* The points of one side of a sparse part, in panels with all coordinates, at `to`. */
mercer_status mc_device_spread_points(mercer_ctx *ctx, mc_device *device, const mc_gram *gram, const mc_tile_part *part,
                                      const mc_packed_points *pack, mc_address to);

#endif
