/* stored.h: half of a symmetric Gram matrix kept in memory as floats: an operator at the speed of memory.

       mc_stored *k = NULL;
       MC_TRY(mc_stored_open(ctx, gram, t, fine, &k));
       const mc_operator K = mc_stored_operator(k);
       mc_stored_close(k); */
#ifndef MC_GRAM_STORE_STORED_H
#define MC_GRAM_STORE_STORED_H

#include "gram/operator/gram.h"
#include "linalg/matrix.h"

typedef struct mc_stored mc_stored;

/* Bytes for n rows and products of up to t columns. */
size_t mc_stored_bytes(int64_t n, int64_t t, bool fine);
/* Evaluates every pair once; gram may be closed afterwards. fine, for a gram of doubles: what floats round off is kept
   too, where a bound on the entries is known. */
mercer_status mc_stored_open(mercer_ctx *ctx, const mc_gram *gram, int64_t t, bool fine, mc_stored **out);
void mc_stored_close(mc_stored *k);
/* Its apply takes at most t columns at a time. The entries are floats, the arithmetic is double. */
mc_operator mc_stored_operator(const mc_stored *k);
/* The same with V rounded to floats and most of the arithmetic in float: nearly twice as fast where there are many
   columns. */
mc_operator mc_stored_swift_operator(const mc_stored *k);
/* Rows, pairs and the diagonal; rows as floats. */
mc_entries mc_stored_entries(const mc_stored *k);

bool mc_stored_is_fine(const mc_stored *k);
/* K as gram had it, but for mc_stored_entry_error in every entry, which the rounding of reading it is part of. */
mc_operator mc_stored_fine_operator(const mc_stored *k);
double mc_stored_entry_error(const mc_stored *k);

#endif
