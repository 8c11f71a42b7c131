/* check_conditional.h: the rules about conditionally positive functions; see checker.h. */
#ifndef MC_KERNEL_PROOF_CHECK_CONDITIONAL_H
#define MC_KERNEL_PROOF_CHECK_CONDITIONAL_H

#include "kernel/proof/checker.h"

rule_holds mc_verify_bernstein;        /* psi of power, log, multiquadric is conditionally negative */
rule_holds mc_verify_conditional_atom; /* and minus it is conditionally positive */
rule_holds mc_verify_centred;          /* and centred at the origin it is a kernel */
rule_holds mc_verify_thin_plate;       /* conditionally positive of order 2 */
rule_holds mc_verify_conditional_sum;  /* of kernels, conditionally positive functions and numbers of any sign */
rule_holds mc_verify_conditional_multiple;
rule_holds mc_verify_conditional_columns;
rule_holds mc_verify_conditional_bernstein;
rule_holds mc_verify_inverse_conditional;
rule_holds mc_verify_exp_conditional; /* exp of a conditionally positive function is a kernel, with all its powers */

#endif
