/* smo_body.c: the bodies of the instruction set in use. */
#include "solve/smo_body.h"

const mc_smo_body *mc_smo_body_of(mc_isa isa, mercer_dtype dtype) {
    static const mc_smo_body *const bodies[MC_ISA_COUNT] = {
        [MC_PORTABLE] = mc_smo_portable,
#if defined(__x86_64__)
        [MC_AVX2] = mc_smo_avx2,
        [MC_AVX512] = mc_smo_avx512,
#endif
    };
    return &bodies[isa][dtype];
}
