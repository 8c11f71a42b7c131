/* right_sides.h: right-hand sides on their way to a device, in the tiles' precision, each brought near 1 by a power of
   two; and what it made of them on their way back.

       MC_TRY(mc_right_sides_measure(ctx, m, &r));             r has V, its leading dimension and how many there are
       MC_TRY(mc_right_sides_load(ctx, &r, j0, m, room));      t vectors of m numbers, from row j0 of V on
       ...
       s = mc_right_sides_unload(ctx, &r, n, sums, Y);         t vectors of n sums to the rows of Y */
#ifndef MC_GRAM_DEVICE_RIGHT_SIDES_H
#define MC_GRAM_DEVICE_RIGHT_SIDES_H

#include "gram/device/device_program.h"

/* t at a time, the first `given` of them the caller's, the rest zeros. */
typedef struct mc_right_sides {
    int64_t t, given, ld;
    const double *V;
    mercer_dtype precision;
    double scale[MC_DEVICE_RIGHT_MOST];
} mc_right_sides;

/* How many are taken at a time where so many are left. */
static inline int64_t mc_right_sides_at_once(int64_t left) {
    return left > 4 ? MC_DEVICE_RIGHT_MOST : left > 2 ? 4 : left;
}

mercer_status mc_right_sides_measure(mercer_ctx *ctx, int64_t m, mc_right_sides *r);
mercer_status mc_right_sides_load(mercer_ctx *ctx, const mc_right_sides *r, int64_t j0, int64_t m, void *room);
mercer_status mc_right_sides_unload(mercer_ctx *ctx, const mc_right_sides *r, int64_t n, const double *sums, double *Y);

#endif
