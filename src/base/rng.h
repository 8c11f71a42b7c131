/* rng.h: counter-based random numbers (Philox 4x32-10; Salmon, Moraes, Dror and Shaw, 2011).

   mc_rng_at(seed, stream, item) is a generator of its own for every item, so item i draws the same numbers whatever
   thread meets it and however many were drawn before. */
#ifndef MC_BASE_RNG_H
#define MC_BASE_RNG_H

#include <stdint.h>

/* One stream per use, so that two uses of one seed never share numbers. Never renumber: seeds in the wild depend on it.
   */
typedef enum mc_stream {
    MC_STREAM_TEST,
    MC_STREAM_GENERATE,
    MC_STREAM_FOLDS,
    MC_STREAM_PIVOTS,
    MC_STREAM_REFUTE,
    MC_STREAM_LANCZOS,
    MC_STREAM_RESTARTS,
    MC_STREAM_POSTERIOR,
    MC_STREAM_ORDER,
    MC_STREAM_FOURIER,
    MC_STREAM_SAMPLE,
    MC_STREAM_TUNE,
    MC_STREAM_PERMUTE,
    MC_STREAM_CLUSTERS,
    MC_STREAM_PROBES
} mc_stream;

typedef struct mc_rng {
    uint32_t key[2], counter[4], block[4];
    int left; /* words of block not yet handed out */
} mc_rng;

mc_rng mc_rng_at(uint64_t seed, mc_stream stream, uint64_t item);
uint32_t mc_rng_u32(mc_rng *rng);
uint64_t mc_rng_u64(mc_rng *rng);
double mc_rng_uniform(mc_rng *rng); /* in [0, 1), 53 bits */
double mc_rng_normal(mc_rng *rng);
int64_t mc_rng_below(mc_rng *rng, int64_t bound); /* in [0, bound), exactly uniform */
/* A permutation of 0 .. n-1. */
void mc_rng_shuffle(mc_rng *rng, int64_t *items, int64_t n);

/* The bare function: ten rounds on a counter under a key. */
void mc_philox_block(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]);

#endif
