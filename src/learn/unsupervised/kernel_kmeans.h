/* kernel_kmeans.h: kernel k-means, for callers inside the library. */
#ifndef MC_LEARN_UNSUPERVISED_KERNEL_KMEANS_H
#define MC_LEARN_UNSUPERVISED_KERNEL_KMEANS_H

#include <mercer.h>

mercer_status mc_clusters_check(mercer_ctx *ctx, const mercer_clustering *set, int64_t n);
/* set is checked. */
mercer_status mc_kernel_kmeans(mercer_ctx *ctx, const mercer_kernel *kernel, const mercer_data *data,
                               const mercer_clustering *set, int64_t *group, mercer_clusters *out);

#endif
