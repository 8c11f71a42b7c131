/* dispatch.h: the loops that are compiled once per instruction set, picked at run time. A new processor is one row of
   dispatch.c. */
#ifndef MC_BACKEND_DISPATCH_H
#define MC_BACKEND_DISPATCH_H

#include "backend/batch_smo_body.h"
#include "backend/smo_body.h"
#include "backend/symv_f32.h"
#include "backend/tile.h"

typedef struct mc_bodies {
    const mc_tile_ops *tile; /* by precision */
    const mc_symv_f32_body *symv_f32;
    const mc_smo_body *smo;             /* by precision of K */
    const mc_batch_smo_body *batch_smo; /* by precision of K */
} mc_bodies;

const mc_bodies *mc_bodies_of(mc_isa isa);

#endif
