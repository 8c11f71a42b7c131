/* cpu.c: instruction sets by cpuid, never by model name: a table filled from exact CPU models falls back silently on
   the next model. */
#include "base/cpu.h"
#include "base/status.h"
#include <stdlib.h>
#include <string.h>

static const char *const names[MC_ISA_COUNT] = {"portable", "avx2", "avx512"};

const char *mc_isa_name(mc_isa isa) {
    return names[isa];
}

#if defined(__x86_64__)
bool mc_isa_runs(mc_isa isa) {
    const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl")
                        && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq");
    return isa == MC_PORTABLE || (isa == MC_AVX2 && avx2) || (isa == MC_AVX512 && avx512);
}

bool mc_isa_bytes(mc_isa isa) {
    return isa == MC_AVX512 && mc_isa_runs(isa) && __builtin_cpu_supports("avx512vnni");
}
#else
bool mc_isa_bytes(mc_isa isa) {
    (void)isa;
    return false;
}

bool mc_isa_runs(mc_isa isa) {
    return isa == MC_PORTABLE;
}
#endif

mercer_status mc_isa_choose(mercer_ctx *ctx, const char *name, mc_isa *out) {
    if (!name)
        name = getenv("MERCER_ISA");
    *out = MC_PORTABLE;
    for (int i = 0; i < MC_ISA_COUNT; i++)
        if (mc_isa_runs((mc_isa)i) && (!name || strcmp(name, names[i]) == 0))
            *out = (mc_isa)i;
    if (name && strcmp(name, names[*out]) != 0)
        return mc_fail(
            ctx, MERCER_INVALID,
            "isa '%s' is unknown or this machine cannot run it; give portable, avx2 or avx512, or leave it out", name);
    return MERCER_OK;
}
