/* extended_product.h: K V in long double, each entry with a bound on its own error: a second look at a residual that
   doubles cannot tell from their rounding. */
#ifndef MC_CERTIFY_EXTENDED_PRODUCT_H
#define MC_CERTIFY_EXTENDED_PRODUCT_H

#include <mercer.h>

/* Whether t products take no longer than about a factorisation of K, nor, with the bytes beside them, more memory than
   is left. */
bool mc_extended_pays(const mercer_ctx *ctx, const mercer_data *x, int64_t t, size_t beside);
/* Bytes that it takes. */
size_t mc_extended_bytes(int64_t n, int64_t d, int64_t t);
/* out <- K V and error <- what it can be wrong by, both n x t; V: n x t. error is infinite where the kernel has parts
   whose values cannot be had in long double. */
mercer_status mc_extended_product(mercer_ctx *ctx, const mercer_kernel *kernel, const mercer_data *x, int64_t t,
                                  const double *V, long double *out, double *error);

#endif
