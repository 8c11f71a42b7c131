/* dispatch.h: the loops that are compiled once per instruction set, picked at run time. A new processor is a row of
   dispatch.c and one of dispatch_qp.c. */
#ifndef MC_BACKEND_DISPATCH_H
#define MC_BACKEND_DISPATCH_H

#include "backend/few_columns.h"
#include "backend/nearest.h"
#include "backend/symv_f32.h"
#include "backend/tile.h"

typedef struct mc_bodies {
    const mc_tile_ops *tile; /* by precision */
    const mc_symv_f32_body *symv_f32;
    mc_nearest_body *const *nearest;
    const mc_few_columns_body *few_columns;
} mc_bodies;

const mc_bodies *mc_bodies_of(mc_isa isa);

#endif
