/* feature_map.h: the explicit map phi with k(x, z) = <phi(x), phi(z)>, for kernels whose space has finite dimension.

       mc_features *map = NULL;
       MC_TRY(mc_features_open(ctx, kernel->root, d, &map));   MERCER_INVALID when there is no such map
       mc_features_row(map, x, scratch, phi);                  scratch: mc_features_scratch(map) doubles of each thread
       mc_features_close(map);

   How many there are, and how exact: feature_count.c. */
#ifndef MC_KERNEL_EVALUATE_FEATURE_MAP_H
#define MC_KERNEL_EVALUATE_FEATURE_MAP_H

#include "kernel/language/kernel.h"

typedef struct mc_features mc_features;

enum { MC_FEATURES_MOST = 1 << 24 }; /* no map is larger than this */

/* The dimension of phi on d columns; -1: infinite, or larger than limit, or the kernel is not one (a negative term). */
int64_t mc_features_count(const mc_node *node, int64_t d, int64_t limit);
/* C(D + p - 1, p): monomials of degree p in D variables; -1 above the limit. */
int64_t mc_count_monomials(int64_t D, int64_t p, int64_t limit);
/* What a computed phi(x) of d columns can be wrong by, in units of u |phi(x)|. */
double mc_rounding_of_features(const mc_node *node, int64_t d);

mercer_status mc_features_open(mercer_ctx *ctx, const mc_node *root, int64_t d, mc_features **out);
void mc_features_close(mc_features *map);
int64_t mc_features_dimension(const mc_features *map);
int64_t mc_features_scratch(const mc_features *map);
double mc_features_rounding(const mc_features *map);
void mc_features_row(const mc_features *map, const double *x, double *scratch, double *phi);
/* phi of every row: n x dimension. */
mercer_status mc_features_of_rows(mercer_ctx *ctx, const mc_features *map, const mercer_data *data, double *out);

#endif
