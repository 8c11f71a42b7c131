/* form.h: the matrix A of the kernel x'Az. */
#ifndef MC_KERNEL_LANGUAGE_FORM_H
#define MC_KERNEL_LANGUAGE_FORM_H

#include "kernel/language/kernel.h"

/* Read the matrix of a FILE value: .npy or any other format of data, without a target. */
mercer_status mc_form_read(mercer_ctx *ctx, mc_value *A);

#endif
