/* gram_matrix.h: a symmetric Gram matrix as solvers see it (linalg/matrix.h), computed on the fly. */
#ifndef MC_GRAM_OPERATOR_GRAM_MATRIX_H
#define MC_GRAM_OPERATOR_GRAM_MATRIX_H

#include "gram/operator/gram.h"
#include "linalg/matrix.h"

/* gram, and what that borrows, must outlive it. */
mc_matrix mc_gram_matrix(const mc_gram *gram);
/* Bytes that pairs takes for count rows of such a matrix while it runs. */
size_t mc_gram_part_bytes(mercer_ctx *ctx, const mercer_kernel *kernel, const mercer_data *x, mercer_dtype precision,
                          int64_t count);

#endif
