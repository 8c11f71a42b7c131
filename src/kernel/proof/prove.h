/* prove.h: the search for a derivation. */
#ifndef MC_KERNEL_PROOF_PROVE_H
#define MC_KERNEL_PROOF_PROVE_H

#include "kernel/proof/derivation.h"

/* Look for a derivation of the goal, that root is a kernel or conditionally positive, on R^d (0: for every d). *found
   says whether there is one; then its last line is the claim and every line is used. Otherwise *stuck is the smallest
   part that no rule proves. The derivation borrows root's nodes. Close it in either case. */
mercer_status mc_find_derivation(mercer_ctx *ctx, mc_judgement goal, const mc_node *root, int64_t d, mc_derivation *out,
                                 bool *found, const mc_term **stuck);
void mc_derivation_close(mc_derivation *derivation);

#endif
