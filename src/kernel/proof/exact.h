/* exact.h: is a symmetric matrix of doubles positive semidefinite? Answered for the matrix exactly as stored, or not at
   all. */
#ifndef MC_KERNEL_PROOF_EXACT_H
#define MC_KERNEL_PROOF_EXACT_H

#include "kernel/proof/interval.h"
#include <mercer.h>

typedef enum mc_psd { MC_PSD_YES, MC_PSD_NO, MC_PSD_UNSURE } mc_psd;

/* A is n x n, symmetric, finite. UNSURE only when it is singular, or nearly, and too large for exact elimination. */
mercer_status mc_psd_test(mercer_ctx *ctx, const double *A, int64_t n, mc_psd *out);
/* The same of a matrix of which the entries on and below the diagonal lie in these intervals: YES and NO are right for
   every such matrix. Singular ones are settled where the entries are single numbers and n is small. */
mercer_status mc_psd_test_intervals(mercer_ctx *ctx, const mc_interval *A, int64_t n, mc_psd *out);

#endif
