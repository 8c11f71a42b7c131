/* cpu.c: instruction sets by cpuid, never by model name: a table filled from exact CPU models falls back silently on
   the next model. */
#include "base/cpu.h"
#include "base/status.h"
#include <mercer.h>
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

/* ---- The linear algebra library ---- */

/* What the linear algebra library says of itself, and what to tell it.

   OpenBLAS chooses its kernels by the exact model of the processor. On a model newer than the library it falls back to
   kernels of 2004: measured on a 2023 server with Debian's 0.3.21, dgemm at 12 GFLOP/s a core where the AVX-512 kernels
   reach 69. The variable OPENBLAS_CORETYPE cures it, but it is read when the library is loaded, so a program must be
   started with it: the command starts itself again, others are told. */

/* Looked up weakly: any other BLAS links as well. */
extern char *openblas_get_config(void) __attribute__((weak));
extern char *openblas_get_corename(void) __attribute__((weak));

const char *mercer_blas(void) {
    return openblas_get_config ? openblas_get_config() : "a library that does not tell its name";
}

/* Whether the kernels OpenBLAS chose use the instruction set. */
static bool core_uses_isa(const char *core, mc_isa isa) {
    static const char *const cores[MC_ISA_COUNT] = {
        [MC_AVX2] = "|Haswell|Zen|SkylakeX|Cooperlake|Sapphirerapids|",
        [MC_AVX512] = "|SkylakeX|Cooperlake|Sapphirerapids|",
    };
    const char *found = strstr(cores[isa], core);
    return found && found[-1] == '|' && found[strlen(core)] == '|';
}

const char *mc_blas_better_core(void) {
    const char *core = openblas_get_corename ? openblas_get_corename() : NULL;
    if (!core || !*core || strchr(core, '|'))
        return NULL;
    if (mc_isa_runs(MC_AVX512) && !core_uses_isa(core, MC_AVX512))
        return "SkylakeX";
    return mc_isa_runs(MC_AVX2) && !core_uses_isa(core, MC_AVX2) ? "Haswell" : NULL;
}
