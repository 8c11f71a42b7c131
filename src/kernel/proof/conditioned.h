/* conditioned.h: kernels less what their value at 0 says of them. */
#ifndef MC_KERNEL_PROOF_CONDITIONED_H
#define MC_KERNEL_PROOF_CONDITIONED_H

#include "kernel/proof/term.h"

/* The term is k(x, z) - c f(x) f(z) + others where f(x) = s k(x, 0) and c s^2 k(0, 0) <= 1, on rows of d columns (0: of
   any number). *others NULL: nothing. false: it is not seen to be so. */
bool mc_conditioned_parts(mc_pool *pool, const mc_term *term, int64_t d, const mc_term **k, const mc_term **others);

#endif
