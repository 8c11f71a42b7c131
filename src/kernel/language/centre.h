/* centre.h: the kernel in place of a conditionally positive function, where coefficients sum to zero.

   Then sum_i a_i k(x_i, x) and sum_i a_i (k(x_i, x) - k(x_i, 0) - k(0, x) + k(0, 0)) differ by a constant, which an
   intercept takes, and a'Ka is the same for both: the machines are one, and the second has a kernel to certify it with.
   */
#ifndef MC_KERNEL_LANGUAGE_CENTRE_H
#define MC_KERNEL_LANGUAGE_CENTRE_H

#include "kernel/language/kernel.h"

/* power, log and multiquadric centred wherever they stand in a sum, alone or times a number that is not negative, and
   numbers below 0 left out there. *out is NULL where there is nothing of that. Not bound. */
mercer_status mc_kernel_centre(mercer_ctx *ctx, const mercer_kernel *kernel, mercer_kernel **out);

#endif
