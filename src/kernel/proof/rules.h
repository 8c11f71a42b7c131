/* rules.h: derivations in words. */
#ifndef MC_KERNEL_PROOF_RULES_H
#define MC_KERNEL_PROOF_RULES_H

#include "kernel/proof/derivation.h"

/* The rule's id, the same as in the manual: "S1". */
const char *mc_rule_id(const mc_proof_line *line);
/* "exp(2*linear) is a kernel" */
void mc_line_claim(const mc_proof_line *line, mc_text *out);
/* "exp of a kernel is one, its power series has no negative coefficient"; without the numbers of the lines it uses. */
mercer_status mc_line_because(mc_derivation *derivation, const mc_proof_line *line, mc_text *out);

#endif
