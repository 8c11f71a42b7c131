/* dispatch.c: the bodies of every instruction set that predictions need, in one table. Those of quadratic programs are
   in dispatch_qp.c, so that a program which only predicts links none of them. */
#include "backend/dispatch.h"

static const mc_bodies bodies[MC_ISA_COUNT] = {
    [MC_PORTABLE] = {mc_tile_portable, &mc_symv_f32_portable, &mc_nearest_portable, &mc_few_columns_portable},
#if defined(__x86_64__)
    [MC_AVX2] = {mc_tile_avx2, &mc_symv_f32_avx2, &mc_nearest_avx2, &mc_few_columns_avx2},
    [MC_AVX512] = {mc_tile_avx512, &mc_symv_f32_avx512, &mc_nearest_avx512, &mc_few_columns_avx512},
#endif
};

const mc_tile_accuracy mc_tile_cpu_accuracy = {
    .chains = 1,
    .function = {[MC_EXP2] = 10,
                 [MC_ROOT] = 8,
                 [MC_MATERN3] = 12,
                 [MC_MATERN5] = 16,
                 [MC_RATIONAL] = 8,
                 [MC_HYPERBOLIC] = 16,
                 [MC_COMPACT] = 64,
                 [MC_RATIO] = 4,
                 [MC_ARC0] = 16,
                 [MC_ARC1] = 32,
                 [MC_ARC2] = 64,
                 [MC_LOG_SERIES] = 16,
                 [MC_ARC_SINE] = 16,
                 [MC_BESSEL] = 24,
                 [MC_SCALE] = 4,
                 [MC_SCALE_SIGN] = 4},
    .power = {8, 40, 6},
    .inverse = {2, 16},
};

const mc_bodies *mc_bodies_of(mc_isa isa) {
    return &bodies[isa];
}
