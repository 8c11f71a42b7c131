/* exact.h: is a symmetric matrix of doubles positive semidefinite? Answered for the matrix exactly as stored, or not at
   all. */
#ifndef MC_KERNEL_PROOF_EXACT_H
#define MC_KERNEL_PROOF_EXACT_H

#include <mercer.h>

typedef enum mc_psd { MC_PSD_YES, MC_PSD_NO, MC_PSD_UNSURE } mc_psd;

/* A is n x n, symmetric, finite. UNSURE only when it is singular, or nearly, and too large for exact elimination. */
mercer_status mc_psd_test(mercer_ctx *ctx, const double *A, int64_t n, mc_psd *out);

#endif
