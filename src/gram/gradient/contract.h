/* contract.h: sum_ij M_ij dk(x_i, x_j)/dtheta for every parameter theta of a kernel at once: what the gradient of a
   Gaussian process's evidence needs. */
#ifndef MC_GRAM_GRADIENT_CONTRACT_H
#define MC_GRAM_GRADIENT_CONTRACT_H

#include "kernel/language/kernel.h"

/* A symmetric matrix by blocks: out[(i - i0) * ld + j - j0] <- M_ij, asked for with i0 >= j0 only. Called from many
 * threads. */
typedef void mc_block_source(const void *self, int64_t i0, int64_t i1, int64_t j0, int64_t j1, double *out, int64_t ld);

/* kernel must be bound to the columns of x. gradient: kernel->slots numbers, in the order of mc_list_slots. */
mercer_status mc_gram_contract(mercer_ctx *ctx, const mercer_kernel *kernel, const mercer_data *x,
                               mc_block_source *block, const void *self, double *gradient);

/* What it takes while it runs, at most. */
size_t mc_gram_contract_bytes(const mercer_ctx *ctx, const mercer_kernel *kernel, const mercer_data *x);

#endif
