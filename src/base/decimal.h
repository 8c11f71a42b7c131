/* decimal.h: what both directions between decimal text and doubles rest on: powers of five, and exact rounding. */
#ifndef MC_BASE_DECIMAL_H
#define MC_BASE_DECIMAL_H

#include <stdint.h>

__extension__ typedef unsigned __int128 mc_u128;

/* [q - MC_POWER_LOW]: the upper and lower 64 bits of 5^q 2^k, rounded down, with k such that they lie in [2^127,
   2^128). The range is what doubles need. The table is made when the library is built. */
enum { MC_POWER_LOW = -342, MC_POWER_HIGH = 324 };
extern const uint64_t mc_power_of_five[][2];

/* The digits in [text, end), a point among them skipped, times 10^exponent; the first digit is not zero. guess: the
   bits of a double within a few units of the answer. Returns the bits of the nearest double, ties to even; infinity
   past the largest. */
uint64_t mc_decimal_round(const char *text, const char *end, int64_t exponent, uint64_t guess);

#endif
