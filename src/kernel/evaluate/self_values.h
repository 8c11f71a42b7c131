/* self_values.h: k(x, x) of texts, counted once for all rows. The reference evaluator has no memory to count the parts
   of a long text in one pass; a loop over rows gives it these values, which are the same numbers, and the time is in
   proportion to the length of the texts. */
#ifndef MC_KERNEL_EVALUATE_SELF_VALUES_H
#define MC_KERNEL_EVALUATE_SELF_VALUES_H

#include "kernel/evaluate/view.h"

typedef struct mc_self_values mc_self_values;

/* Of all atoms of texts in the tree; *out stays NULL where there is none, or spectra alone and no text so long. */
mercer_status mc_self_values_open(mercer_ctx *ctx, const mc_node *root, const mercer_data *data, mc_self_values **out);
void mc_self_values_close(mc_self_values *self);
/* The value of an atom in a row; false: it is not known. */
bool mc_self_value(const mc_self_values *self, const mc_node *atom, int64_t row, double *out);

#endif
