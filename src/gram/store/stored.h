/* stored.h: half of a symmetric Gram matrix kept in memory as floats: an operator at the speed of memory.

       mc_stored *k = NULL;
       MC_TRY(mc_stored_open(ctx, gram, t, split, &k));
       const mc_matrix K = mc_stored_matrix(k);
       mc_stored_close(k); */
#ifndef MC_GRAM_STORE_STORED_H
#define MC_GRAM_STORE_STORED_H

#include "gram/operator/gram.h"
#include "linalg/matrix.h"

typedef struct mc_stored mc_stored;

/* Bytes for n rows and products of up to t columns. */
size_t mc_stored_bytes(int64_t n, int64_t t, bool split);
/* Evaluates every pair once; gram may be closed afterwards. split, for a gram of doubles: what floats round off is kept
   too, where a bound on the entries is known. */
mercer_status mc_stored_open(mercer_ctx *ctx, const mc_gram *gram, int64_t t, bool split, mc_stored **out);
void mc_stored_close(mc_stored *k);
/* Its apply takes at most t columns at a time. Products are those of the floats, in double; rows are floats, pairs and
   the diagonal as fine as they are kept. */
mc_matrix mc_stored_matrix(const mc_stored *k);
/* The same with V rounded to floats and most of the arithmetic in float: nearly twice as fast where there are many
   columns. */
mc_matrix mc_stored_reduced_matrix(const mc_stored *k);

bool mc_stored_is_split(const mc_stored *k);
/* K as gram had it, and how wrong that and keeping it make an entry, the rounding of reading it included. */
mc_matrix mc_stored_split_matrix(const mc_stored *k);

#endif
