/* dispatch.c: the bodies of every instruction set, in one table. */
#include "backend/dispatch.h"

static const mc_bodies bodies[MC_ISA_COUNT] = {
    [MC_PORTABLE] = {mc_tile_portable, &mc_symv_f32_portable, mc_smo_portable, mc_batch_smo_portable},
#if defined(__x86_64__)
    [MC_AVX2] = {mc_tile_avx2, &mc_symv_f32_avx2, mc_smo_avx2, mc_batch_smo_avx2},
    [MC_AVX512] = {mc_tile_avx512, &mc_symv_f32_avx512, mc_smo_avx512, mc_batch_smo_avx512},
#endif
};

const mc_bodies *mc_bodies_of(mc_isa isa) {
    return &bodies[isa];
}
