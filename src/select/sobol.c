/* sobol.c: points of a Sobol sequence (Sobol, 1967) in the order of Gray codes, with the direction numbers of Joe and
   Kuo (2008), each coordinate scrambled in the manner of Owen (1995): every bit is flipped by a hash of the bits above
   it, so that the net stays a net and every seed gives another one. */
#include "base/hash.h"
#include "select/tune.h"

enum { BITS = 32 };

/* Degree and coefficients of the primitive polynomial, and the first direction numbers, of dimensions 2, 3, ... */
static const struct {
    unsigned degree, coefficients, m[7];
} rows[MC_SOBOL_MOST - 1] = {
    {1, 0, {1}},
    {2, 1, {1, 3}},
    {3, 1, {1, 3, 1}},
    {3, 2, {1, 1, 1}},
    {4, 1, {1, 1, 3, 3}},
    {4, 4, {1, 3, 5, 13}},
    {5, 2, {1, 1, 5, 5, 17}},
    {5, 4, {1, 1, 5, 5, 5}},
    {5, 7, {1, 1, 7, 11, 19}},
    {5, 11, {1, 1, 5, 1, 1}},
    {5, 13, {1, 1, 1, 3, 11}},
};

static void direction_numbers(int64_t j, uint32_t v[BITS]) {
    for (unsigned k = 0; k < BITS; k++)
        v[k] = (uint32_t)1 << (BITS - 1 - k);
    if (j == 0)
        return;
    const unsigned s = rows[j - 1].degree, a = rows[j - 1].coefficients;
    for (unsigned k = 0; k < BITS; k++) {
        if (k < s) {
            v[k] = rows[j - 1].m[k] << (BITS - 1 - k);
            continue;
        }
        v[k] = v[k - s] ^ (v[k - s] >> s);
        for (unsigned i = 1; i < s; i++)
            v[k] ^= (a >> (s - 1 - i) & 1) ? v[k - i] : 0;
    }
}

static uint32_t scramble_owen(uint64_t seed, int64_t j, uint32_t x) {
    uint32_t out = 0;
    for (unsigned k = 0; k < BITS; k++) {
        const uint64_t above[4] = {seed, (uint64_t)j, k, k ? x >> (BITS - k) : 0};
        const uint32_t flip = (uint32_t)(mc_hash(0, above, sizeof above) >> 63);
        out |= ((x >> (BITS - 1 - k) & 1) ^ flip) << (BITS - 1 - k);
    }
    return out;
}

void mc_sobol_point(uint64_t seed, int64_t i, int64_t d, double *out) {
    const uint64_t gray = (uint64_t)i ^ ((uint64_t)i >> 1);
    for (int64_t j = 0; j < d; j++) {
        uint32_t v[BITS], x = 0;
        direction_numbers(j, v);
        for (unsigned k = 0; k < BITS; k++)
            x ^= (gray >> k & 1) ? v[k] : 0;
        out[j] = ((double)scramble_owen(seed, j, x) + 0.5) / 4294967296.0;
    }
}
