/* cached_product.h: the last product K V in double, of an iteration whose V may turn out to be the answer. It is
   made from the rows by the code that the check would make it with, so the check need not make it again: it takes it
   over where alpha is that V, bit for bit. Or it is read from a K that was made so and kept; some rows of the
   product are then made anew and compared. */
#ifndef MC_CERTIFY_CACHED_PRODUCT_H
#define MC_CERTIFY_CACHED_PRODUCT_H

#include "base/workspace.h"
#include "gram/operator/gram.h"
#include "linalg/matrix.h"

typedef struct mc_cached_product {
    const mc_gram *gram;
    mc_matrix K; /* that of gram, or one that stands for it */
    int64_t n, outputs;
    double entry, sum; /* error of one computed entry of K, and of adding up (mc_gram_sum_error) */
    bool filled;
    double *diagonal, *V, *KV; /* of K; n x outputs */
    mc_work work;
} mc_cached_product;

size_t mc_cached_product_bytes(int64_t n, int64_t outputs);
/* gram: of double precision, symmetric; needed until the last product. */
mercer_status mc_cached_product_open(mercer_ctx *ctx, const mc_gram *gram, int64_t outputs, mc_cached_product *out);
/* From now on products are those of K, which stands for gram and knows its errors. */
void mc_cached_product_use_matrix(mc_cached_product *cached, const mc_matrix *K);
/* The product with V = n x outputs, remembered, and some of its rows compared with those that gram gives: further apart
   than roundings explain is an error. Takes mc_cached_product_check_bytes beside what gram takes for a block. */
mercer_status mc_cached_product_compute(mercer_ctx *ctx, mc_cached_product *cached, const double *V);
size_t mc_cached_product_check_bytes(int64_t n);
/* K; what it gives for as many columns as there are outputs is remembered. */
mc_matrix mc_cached_product_matrix(mc_cached_product *cached);
void mc_cached_product_close(mc_cached_product *cached);

#endif
