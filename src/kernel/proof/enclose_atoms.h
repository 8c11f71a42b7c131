/* enclose_atoms.h: the values of single functions of the language in interval arithmetic; see enclose.c. */
#ifndef MC_KERNEL_PROOF_ENCLOSE_ATOMS_H
#define MC_KERNEL_PROOF_ENCLOSE_ATOMS_H

#include "kernel/evaluate/view.h"
#include "kernel/proof/interval.h"

mc_interval mc_enclose_atom(const mc_node *node, const mc_row_pair *p);
mc_interval mc_enclose_squared_norm(const mc_view *view, const double *x);
/* v / sqrt(a b); 0 where that has no value; everything when its sign cannot be told. */
mc_interval mc_enclose_quotient(mc_interval v, mc_interval a, mc_interval b);

#endif
