/* narrow_product.h: products of rows of doubles with few columns or many: by the bodies of backend/few_columns.h, which
   read the rows where they lie, or by a product of BLAS, which copies them first and needs many columns to make up for
   it. What is chosen depends on the shape and the instruction set alone. */
#ifndef MC_LINALG_NARROW_PRODUCT_H
#define MC_LINALG_NARROW_PRODUCT_H

#include "backend/few_columns.h"

/* Y <- A V. */
void mc_narrow_product(mc_isa isa, const mc_few_columns *p);
/* Z <- Z + A'U. */
void mc_narrow_transposed_product(mc_isa isa, const mc_few_columns *p);

#endif
