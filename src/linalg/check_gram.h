/* check_gram.h: facts about a Gram matrix, for callers inside the library. */
#ifndef MC_LINALG_CHECK_GRAM_H
#define MC_LINALG_CHECK_GRAM_H

#include <mercer.h>

/* mercer_gram_check. */
mercer_status mc_gram_facts(mercer_ctx *ctx, const double *K, int64_t n, mercer_gram_facts *out);

#endif
