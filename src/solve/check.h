/* check.h: facts about a Gram matrix, for callers inside the library. */
#ifndef MC_SOLVE_CHECK_H
#define MC_SOLVE_CHECK_H

#include <mercer.h>

/* mercer_gram_check. */
mercer_status mc_gram_facts(mercer_ctx *ctx, const double *K, int64_t n, mercer_gram_facts *out);

#endif
