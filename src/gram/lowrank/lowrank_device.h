/* lowrank_device.h: the columns of a factor F on a device while it grows: what new ones lose to those before them, and
   the solve with the factor of their pivots, are made there; they come back as they are made. */
#ifndef MC_GRAM_LOWRANK_LOWRANK_DEVICE_H
#define MC_GRAM_LOWRANK_LOWRANK_DEVICE_H

#include "gram/lowrank/lowrank.h"

typedef struct mc_device_columns mc_device_columns;

/* The device of the context for growing f to so many columns; NULL: the processor does. */
mercer_status mc_device_columns_place(mercer_ctx *ctx, const mc_lowrank *f, int64_t rank, struct mc_device **out);
/* The columns that f has go there. */
mercer_status mc_device_columns_open(mercer_ctx *ctx, struct mc_device *device, const mc_lowrank *f,
                                     mc_device_columns **out);
void mc_device_columns_close(mc_device_columns *c);
/* The next count columns of f, which are those of K there: T <- (T - F B) L^-T; B, f->rank x count by rows, are the
   rows of F at their pivots, and L, by columns, the lower triangle of what is left there. */
mercer_status mc_device_columns_extend(mercer_ctx *ctx, mc_device_columns *c, const mc_lowrank *f, int64_t count,
                                       const float *B, const float *L);
/* After a fault: mc_device_leaves_it. */
bool mc_device_columns_leaves_it(mercer_ctx *ctx, const mc_device_columns *c, mercer_status status);

#endif
