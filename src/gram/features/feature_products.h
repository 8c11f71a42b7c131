/* feature_products.h: K = Z Z' of a kernel with an explicit map, by products with Z, the n x D matrix whose rows are
   phi(x_i): n D operations for each right-hand side in place of n^2 d.

       mc_feature_products z;
       MC_TRY(mc_feature_products_open(ctx, kernel, x, keep, &z));
       MC_TRY(mc_feature_project(ctx, &z, t, V, W));                  W <- V'Z, t x D: weights of features
       MC_TRY(mc_feature_expand(ctx, &z, t, W, Y));                   Y <- Z W', n x t: their values at the rows
       mc_feature_products_close(&z);

   All results are the same bits on any number of threads; a value of mc_feature_expand does not depend on the rows
   beside it. */
#ifndef MC_GRAM_FEATURES_FEATURE_PRODUCTS_H
#define MC_GRAM_FEATURES_FEATURE_PRODUCTS_H

#include "kernel/evaluate/feature_map.h"

typedef struct mc_feature_products {
    const mercer_data *x;
    mc_features *map; /* NULL: the columns themselves are the features */
    int64_t n, D;
    const double *Z; /* n x D, row-major; NULL: rows are mapped as they are needed */
    double *own;     /* Z, where it was made for this */
} mc_feature_products;

/* MERCER_INVALID where the kernel has no explicit map on the columns of x. keep: Z is to lie in memory, for many
   products; dense rows of doubles that are their own features lie there already. */
mercer_status mc_feature_products_open(mercer_ctx *ctx, const mercer_kernel *kernel, const mercer_data *x, bool keep,
                                       mc_feature_products *out);
void mc_feature_products_close(mc_feature_products *z);
/* Bytes of the two together, at most, for so many right-hand sides. */
size_t mc_feature_products_bytes(mercer_ctx *ctx, const mercer_kernel *kernel, const mercer_data *x, bool keep,
                                 int64_t D, int64_t t);

mercer_status mc_feature_project(mercer_ctx *ctx, const mc_feature_products *z, int64_t t, const double *V, double *W);
mercer_status mc_feature_expand(mercer_ctx *ctx, const mc_feature_products *z, int64_t t, const double *W, double *Y);

/* out <- |phi(x_i)|^2 of rows that are their own features. */
mercer_status mc_feature_squares(mercer_ctx *ctx, const mc_feature_products *z, double *out);

/* Additions that follow one another in a sum over the rows, for its rounding. */
int64_t mc_feature_project_depth(const mc_feature_products *z, int64_t t);

#endif
