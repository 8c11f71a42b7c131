/* dispatch_qp.c: the bodies of every instruction set that solve quadratic programs and minimise losses. */
#include "backend/dispatch_qp.h"

static const mc_qp_bodies bodies[MC_ISA_COUNT] = {
    [MC_PORTABLE] = {mc_smo_portable, mc_batch_smo_portable, &mc_loss_portable},
#if defined(__x86_64__)
    [MC_AVX2] = {mc_smo_avx2, mc_batch_smo_avx2, &mc_loss_avx2},
    [MC_AVX512] = {mc_smo_avx512, mc_batch_smo_avx512, &mc_loss_avx512},
#endif
};

const mc_qp_bodies *mc_qp_bodies_of(mc_isa isa) {
    return &bodies[isa];
}
