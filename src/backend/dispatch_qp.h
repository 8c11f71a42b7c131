/* dispatch_qp.h: the loops of SMO and of losses, compiled once per instruction set and picked at run time. */
#ifndef MC_BACKEND_DISPATCH_QP_H
#define MC_BACKEND_DISPATCH_QP_H

#include "backend/batch_smo_body.h"
#include "backend/loss_body.h"
#include "backend/smo_body.h"

typedef struct mc_qp_bodies {
    const mc_smo_body *smo;             /* by precision of K */
    const mc_batch_smo_body *batch_smo; /* by precision of K */
    const mc_loss_body *loss;
} mc_qp_bodies;

const mc_qp_bodies *mc_qp_bodies_of(mc_isa isa);

#endif
