/* form.h: the matrix A of the kernel x'Az. */
#ifndef MC_KERNEL_FORM_H
#define MC_KERNEL_FORM_H

#include "kernel/kernel.h"

/* Fails at offset unless A is square, finite and symmetric; sets A->number to its rank (-1: not positive semidefinite). */
mercer_status mc_form_check(mercer_ctx *ctx, mc_value *A, int64_t offset);

#endif
