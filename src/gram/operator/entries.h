/* entries.h: a Gram matrix as mc_entries, for methods that read a few of its columns. */
#ifndef MC_GRAM_OPERATOR_ENTRIES_H
#define MC_GRAM_OPERATOR_ENTRIES_H

#include "gram/operator/gram.h"
#include "linalg/matrix.h"

typedef struct mc_gram_source {
    const mercer_kernel *kernel;
    const mercer_data *x;
    const mc_gram *gram; /* of kernel and x, symmetric */
} mc_gram_source;

/* source must outlive it. */
mc_entries mc_gram_entries(const mc_gram_source *source);
/* Bytes that pairs takes for count rows while it runs. */
size_t mc_gram_pairs_bytes(mercer_ctx *ctx, const mc_gram_source *source, int64_t count);

/* The products of a symmetric Gram matrix as an operator. */
mc_operator mc_gram_operator(const mc_gram *gram);

#endif
