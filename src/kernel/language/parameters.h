/* parameters.h: the numbers of an expression that can be learned, and their names. */
#ifndef MC_KERNEL_LANGUAGE_PARAMETERS_H
#define MC_KERNEL_LANGUAGE_PARAMETERS_H

#include "kernel/language/kernel.h"

/* Fill in the slots of a kernel from its tree, with their names. */
mercer_status mc_slots_fill(mercer_ctx *ctx, mercer_kernel *kernel);
/* Slots of one value of an atom: none for what is open, a range, a choice or a whole number. */
int64_t mc_slots_of_value(const mc_node *atom, int parameter);

/* A range or a set, in the order they are printed. */
typedef struct mc_open_value {
    const mc_value *value;
    const mc_atom_row *atom;
    const mc_parameter_row *parameter;
} mc_open_value;

/* How many there are; writes at most capacity. */
int64_t mc_kernel_open_values(const mercer_kernel *kernel, mc_open_value *out, int64_t capacity);
/* The same kernel with one number for each of them. Not bound. */
mercer_status mc_kernel_choose(mercer_ctx *ctx, const mercer_kernel *kernel, const double *numbers,
                               mercer_kernel **out);

#endif
