/* extremes.h: the smaller and the larger of two counts or sizes. */
#ifndef MC_BASE_EXTREMES_H
#define MC_BASE_EXTREMES_H

#include <stddef.h>
#include <stdint.h>

static inline int64_t mc_min_count(int64_t a, int64_t b) {
    return a < b ? a : b;
}

static inline int64_t mc_max_count(int64_t a, int64_t b) {
    return a > b ? a : b;
}

static inline size_t mc_min_size(size_t a, size_t b) {
    return a < b ? a : b;
}

static inline size_t mc_max_size(size_t a, size_t b) {
    return a > b ? a : b;
}

#endif
