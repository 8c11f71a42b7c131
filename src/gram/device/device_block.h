/* device_block.h: blocks of K that a device keeps, in double. */
#ifndef MC_GRAM_DEVICE_DEVICE_BLOCK_H
#define MC_GRAM_DEVICE_DEVICE_BLOCK_H

#include "gram/device/device_gram.h"
#include "linalg/dense.h"

/* A <- S K S + diag(shift) on the device of op: packed, of a symmetric K, or all of K by columns. root: n, the
   diagonal of S, NULL: 1; shift: n, NULL: 0. Both are the caller's. */
mercer_status mc_device_gram_write(mercer_ctx *ctx, mc_device_gram *op, const double *root, const double *shift,
                                   mc_dense A);
/* The lower half of a symmetric K into that of A, by columns. */
mercer_status mc_device_gram_write_lower(mercer_ctx *ctx, const mc_device_gram *op, mc_dense A);

#endif
