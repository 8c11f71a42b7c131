/* sweep.c: the bodies of the instruction set in use. */
#include "gram/sweep.h"

const mc_sweep_body *mc_sweep_of(mc_isa isa) {
    static const mc_sweep_body *const bodies[MC_ISA_COUNT] = {
        [MC_PORTABLE] = &mc_sweep_portable,
#if defined(__x86_64__)
        [MC_AVX2] = &mc_sweep_avx2,
        [MC_AVX512] = &mc_sweep_avx512,
#endif
    };
    return bodies[isa];
}
