/* check_precomputed.h: a matrix in place of a kernel is looked at before anything is fitted to it. */
#ifndef MC_PROBLEM_CHECK_PRECOMPUTED_H
#define MC_PROBLEM_CHECK_PRECOMPUTED_H

#include <mercer.h>

/* For kernels with precomputed: the rows are numbered and the matrix is symmetric (MERCER_DATA), and the Gram matrix of
   the rows has no eigenvalue below zero beyond rounding (MERCER_NOT_A_KERNEL, with the least one). For those with a
   function of the program: it is symmetric on a few rows. OK at once for other kernels. */
mercer_status mc_precomputed_check(mercer_ctx *ctx, const mercer_kernel *kernel, const mercer_data *x, bool offered);

#endif
