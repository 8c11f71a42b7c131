/* extended_product.h: K V in long double, each entry with a bound on its own error: a second look at a residual that
   doubles cannot tell from their rounding. */
#ifndef MC_CERTIFY_EXTENDED_PRODUCT_H
#define MC_CERTIFY_EXTENDED_PRODUCT_H

#include "base/workspace.h"

/* value: K V, error: what it can be wrong by, both n x t. known: all errors are finite; not so where the kernel has
   parts whose values cannot be had in long double. */
typedef struct mc_extended_product {
    mc_work work;
    long double *value;
    double *error;
    bool known;
} mc_extended_product;

/* Whether t products take no longer than about a factorisation of K, nor more memory than is left. */
bool mc_extended_pays(const mercer_ctx *ctx, const mercer_kernel *kernel, const mercer_data *x, int64_t t);
/* V: n x t. On failure nothing is held. */
mercer_status mc_extended_product_open(mercer_ctx *ctx, const mercer_kernel *kernel, const mercer_data *x, int64_t t,
                                       const double *V, mc_extended_product *out);
void mc_extended_product_close(mc_extended_product *again);

#endif
