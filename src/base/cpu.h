/* cpu.h: which instruction sets this build has bodies for and this machine can run. */
#ifndef MC_BASE_CPU_H
#define MC_BASE_CPU_H

#include <mercer.h>

/* In the order of preference: a later one is tried first. */
typedef enum mc_isa { MC_PORTABLE, MC_AVX2, MC_AVX512, MC_ISA_COUNT } mc_isa;

const char *mc_isa_name(mc_isa isa);
bool mc_isa_runs(mc_isa isa);
/* Whether its bodies can multiply bytes on this machine. */
bool mc_isa_bytes(mc_isa isa);
/* name, else $MERCER_ISA, else the best that runs; an unknown or impossible name is an error. */
mercer_status mc_isa_choose(mercer_ctx *ctx, const char *name, mc_isa *out);

/* The value of OPENBLAS_CORETYPE with which this program would run faster if it were started with it (OpenBLAS falls
   back to very old kernels on a processor it does not know); NULL when all is well. */
const char *mc_blas_better_core(void);

#endif
