/* blas.c: what the linear algebra library says of itself, and what to tell it.

   OpenBLAS chooses its kernels by the exact model of the processor. On a model newer than the library it falls back to
   kernels of 2004: measured on a 2023 server with Debian's 0.3.21, dgemm at 12 GFLOP/s a core where the AVX-512 kernels
   reach 69. The variable OPENBLAS_CORETYPE cures it, but it is read when the library is loaded, so a program must be
   started with it: the command starts itself again, others are told. */
#include "base/cpu.h"
#include <mercer.h>
#include <string.h>

/* Looked up weakly: any other BLAS links as well. */
extern char *openblas_get_config(void) __attribute__((weak));
extern char *openblas_get_corename(void) __attribute__((weak));

const char *mercer_blas(void) {
    return openblas_get_config ? openblas_get_config() : "a library that does not tell its name";
}

/* Whether the kernels OpenBLAS chose use the instruction set. */
static bool uses(const char *core, mc_isa isa) {
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
    if (mc_isa_runs(MC_AVX512) && !uses(core, MC_AVX512))
        return "SkylakeX";
    return mc_isa_runs(MC_AVX2) && !uses(core, MC_AVX2) ? "Haswell" : NULL;
}
