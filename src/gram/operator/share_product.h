/* share_product.h: the tasks of a product with K, shared by ranks (base/ranks.h). */
#ifndef MC_GRAM_OPERATOR_SHARE_PRODUCT_H
#define MC_GRAM_OPERATOR_SHARE_PRODUCT_H

#include "gram/tile/multiply.h"

/* Whether there are ranks to share it with, and work enough. */
bool mc_product_is_shared(const mercer_ctx *ctx, const mc_product *p);
/* After it was opened, with what success: whether all ranks begin it. */
mercer_status mc_product_begin_shared(mercer_ctx *ctx, const mc_product *p, mercer_status opened);
/* Y before it is scaled back, on every rank, with the bits that one rank alone gives it. */
mercer_status mc_product_share(mercer_ctx *ctx, const mc_product *p);
/* Bytes that this takes, at most; 0 where nothing is shared. */
size_t mc_product_share_bytes(const mercer_ctx *ctx, const mc_product_size *size, int64_t t);

#endif
