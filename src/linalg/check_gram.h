/* check_gram.h: facts about a Gram matrix, for callers inside the library. */
#ifndef MC_LINALG_CHECK_GRAM_H
#define MC_LINALG_CHECK_GRAM_H

#include <mercer.h>

/* mercer_gram_check. */
mercer_status mc_gram_facts(mercer_ctx *ctx, const double *K, int64_t n, mercer_gram_facts *out);
/* A sentence that names the first entry that is not a finite number. */
mercer_status mc_gram_finite(mercer_ctx *ctx, const double *K, int64_t n);
/* *most, which begins as 0, and pair <- the largest |K_ij - K_ji| and where it is; pair is left alone when that is 0.
   */
mercer_status mc_gram_asymmetry(mercer_ctx *ctx, const double *K, int64_t n, double *most, int64_t pair[2]);
/* mercer_gram_prove; what *out holds at first is: unknown, no pair. */
mercer_status mc_prove_gram(mercer_ctx *ctx, const double *K, int64_t n, double *weights, mercer_gram_proof *out);

#endif
