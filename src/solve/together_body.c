/* together_body.c: the bodies of the instruction set in use. */
#include "solve/together_body.h"

const mc_together_body *mc_together_body_of(mc_isa isa, mercer_dtype dtype) {
    static const mc_together_body *const bodies[MC_ISA_COUNT] = {
        [MC_PORTABLE] = mc_together_portable,
#if defined(__x86_64__)
        [MC_AVX2] = mc_together_avx2,
        [MC_AVX512] = mc_together_avx512,
#endif
    };
    return &bodies[isa][dtype];
}
