/* check_taylor.h: the rules about power series with remainders (D3). */
#ifndef MC_KERNEL_PROOF_CHECK_TAYLOR_H
#define MC_KERNEL_PROOF_CHECK_TAYLOR_H

#include "kernel/proof/checker.h"

rule_holds mc_verify_outweighed; /* a sum of power series in one kernel (D4) */
rule_holds mc_verify_taylor;     /* a sum with functions by their first terms and what is left */
rule_holds mc_verify_remainder;  /* what is left is a kernel */

#endif
