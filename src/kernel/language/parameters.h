/* parameters.h: the numbers of an expression that can be learned, and their names. */
#ifndef MC_KERNEL_LANGUAGE_PARAMETERS_H
#define MC_KERNEL_LANGUAGE_PARAMETERS_H

#include "kernel/language/kernel.h"

/* Fill in the slots of a kernel from its tree, with their names. */
mercer_status mc_slots_fill(mercer_ctx *ctx, mercer_kernel *kernel);
/* Slots of one value of an atom: none for what is open, a range, a choice or a whole number. */
int64_t mc_slots_of_value(const mc_node *atom, int parameter);

#endif
