/* ranges_of_kernel.h: the numbers of an expression that are left to tuning, and the expression with numbers in their
   place. */
#ifndef MC_KERNEL_LANGUAGE_RANGES_OF_KERNEL_H
#define MC_KERNEL_LANGUAGE_RANGES_OF_KERNEL_H

#include "kernel/language/kernel.h"

/* A range or a set, in the order they are printed. */
typedef struct mc_open_value {
    const mc_value *value;
    const mc_atom_row *atom;
    const mc_parameter_row *parameter;
} mc_open_value;

/* How many there are; writes at most room. */
int64_t mc_kernel_open_values(const mercer_kernel *kernel, mc_open_value *out, int64_t room);
/* The same kernel with one number for each of them. Not bound. */
mercer_status mc_kernel_choose(mercer_ctx *ctx, const mercer_kernel *kernel, const double *numbers,
                               mercer_kernel **out);

#endif
