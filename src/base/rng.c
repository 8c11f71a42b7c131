/* rng.c: Philox 4x32 with ten rounds, and the few distributions built on it. */
#include "base/rng.h"
#include "base/portable_math.h"
#include <math.h>
#include <string.h>

void mc_philox_block(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]) {
    uint32_t c[4], k0 = key[0], k1 = key[1];
    memcpy(c, counter, sizeof c);
    for (int round = 0; round < 10; round++) {
        const uint64_t p = (uint64_t)0xD2511F53u * c[0], q = (uint64_t)0xCD9E8D57u * c[2];
        const uint32_t next[4] = {(uint32_t)(q >> 32) ^ c[1] ^ k0, (uint32_t)q, (uint32_t)(p >> 32) ^ c[3] ^ k1,
                                  (uint32_t)p};
        memcpy(c, next, sizeof c);
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    memcpy(out, c, sizeof c);
}

/* The item fills the upper half of the counter, the stream is mixed into the seed; the lower half counts blocks. */
mc_rng mc_rng_at(uint64_t seed, mc_stream stream, uint64_t item) {
    const uint64_t key = seed ^ ((uint64_t)stream * 0x9E3779B97F4A7C15u);
    return (mc_rng){.key = {(uint32_t)key, (uint32_t)(key >> 32)},
                    .counter = {0, 0, (uint32_t)item, (uint32_t)(item >> 32)}};
}

uint32_t mc_rng_u32(mc_rng *rng) {
    if (rng->left == 0) {
        mc_philox_block(rng->counter, rng->key, rng->block);
        rng->left = 4;
        if (++rng->counter[0] == 0)
            rng->counter[1]++;
    }
    return rng->block[4 - rng->left--];
}

uint64_t mc_rng_u64(mc_rng *rng) {
    const uint64_t high = mc_rng_u32(rng);
    return high << 32 | mc_rng_u32(rng);
}

double mc_rng_uniform(mc_rng *rng) {
    return (double)(mc_rng_u64(rng) >> 11) * 0x1p-53;
}

/* Box and Muller; the second value is dropped so that every normal costs the same number of words. */
double mc_rng_normal(mc_rng *rng) {
    const double u = 1.0 - mc_rng_uniform(rng), v = mc_rng_uniform(rng);
    return sqrt(-2.0 * mc_portable_math_log(u)) * mc_portable_math_cos_turns(v);
}

int64_t mc_rng_below(mc_rng *rng, int64_t bound) {
    const uint64_t b = (uint64_t)bound, reject = -b % b; /* 2^64 mod b */
    uint64_t x;
    do
        x = mc_rng_u64(rng);
    while (x < reject);
    return (int64_t)(x % b);
}

void mc_rng_shuffle(mc_rng *rng, int64_t *items, int64_t n) {
    for (int64_t i = 0; i < n; i++)
        items[i] = i;
    for (int64_t i = n - 1; i > 0; i--) {
        const int64_t j = mc_rng_below(rng, i + 1), t = items[i];
        items[i] = items[j];
        items[j] = t;
    }
}
