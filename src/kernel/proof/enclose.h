/* enclose.h: k(x, z) in interval arithmetic. */
#ifndef MC_KERNEL_PROOF_ENCLOSE_H
#define MC_KERNEL_PROOF_ENCLOSE_H

#include "kernel/proof/interval.h"
#include "kernel/evaluate/view.h"
#include "kernel/language/kernel.h"

/* An interval that surely holds k(x, z) for the doubles x and z and the kernel's numbers taken exactly; everything
   where the kernel has no value. Nothing may be open. */
mc_interval mc_enclose_kernel(const mc_node *node, const double *x, const double *z, int64_t d);
/* enclose_text.c: the same for an atom of texts and two texts. */
mc_interval mc_enclose_texts(const mc_node *atom, const char *x, const char *z);
/* A function of weigh at the row x. */
mc_interval mc_enclose_function(const mc_function *f, const mc_view *view, const double *x);
/* The value of a function of weigh that does not depend on the point; false: it does, or it has no value. */
bool mc_enclose_constant(const mc_function *f, mc_interval *value);

#endif
