/* euclidean.h: the nearest rows by Euclidean distance, for kernels that fall with it: they order the rows alike, and
   the distance keeps apart what k(x, z), next to 0, does not. */
#ifndef MC_PREDICT_EUCLIDEAN_H
#define MC_PREDICT_EUCLIDEAN_H

#include <mercer.h>

struct mc_packed_cache;

typedef struct mc_neighbour {
    double square; /* of the distance */
    int64_t at;
} mc_neighbour;

/* Of equal distances the earlier row is the nearer. */
static inline bool mc_is_farther(mc_neighbour a, mc_neighbour b) {
    return a.square > b.square || (a.square == b.square && a.at > b.at);
}

/* Whether the k nearest of these are found by distance: dense rows, a kernel of all columns (linear, rbf, exponential,
   matern, rq). */
bool mc_is_euclidean(const mercer_kernel *kernel, const mercer_data *rows, const mercer_data *centres, int64_t k);
size_t mc_euclidean_bytes(mercer_ctx *ctx, int64_t n, const mercer_data *centres, int64_t k);
/* out: n x k, the nearest first, with squares of distances in the coordinates that the kernel weighs. The first rows
   asked for meet all centres; for more an index is made of these, and kept in the cache (which may be NULL). */
mercer_status mc_euclidean_nearest(mercer_ctx *ctx, const mercer_kernel *kernel, const mercer_data *rows,
                                   const mercer_data *centres, int64_t k, struct mc_packed_cache *cache,
                                   mc_neighbour *out);

#endif
