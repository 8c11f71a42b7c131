/* conditioned.h: kernels less what their value at 0 says of them. */
#ifndef MC_KERNEL_PROOF_CONDITIONED_H
#define MC_KERNEL_PROOF_CONDITIONED_H

#include "kernel/proof/term.h"

/* The term is k(x, z) - c f(x) f(z) where f(x) = s k(x, 0) and c s^2 k(0, 0) <= 1, on rows of d columns (0: of any
   number): this k. NULL: it is not seen to be. */
const mc_term *mc_conditioned_rest(mc_pool *pool, const mc_term *term, int64_t d);

#endif
