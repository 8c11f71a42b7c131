/* number_fast.h: decimal text to the nearest double, the way almost every number goes, written to be inlined into a
   reader's loop.

   The text is w 10^q with at most nineteen digits in w. 1. w < 2^53 and |q| <= 22: w and 10^|q| are doubles, so one
   product or quotient rounds once (Clinger, 1990). 2. w 5^q from a table of 5^q to 128 bits: the product is known to
   within two units of its 128th bit, and unless those two units
      decide the rounding the answer is certain (Lemire, "Number parsing at a gigabyte per second", 2021, after Eisel).
   What neither settles is left to number.c. */
#ifndef MC_BASE_NUMBER_FAST_H
#define MC_BASE_NUMBER_FAST_H

#include "base/decimal.h"
#include "base/number.h"
#include <string.h>

enum { MC_NUMBER_DIGITS = 19, MC_NUMBER_TENS = 22 };

extern const double mc_power_of_ten[MC_NUMBER_TENS + 1];

static inline bool mc_is_digit(char c) {
    return (unsigned char)(c - '0') < 10;
}

/* The decimal value of eight bytes 0 to 9, the first in the lowest: pairs, then fours, then eight. */
static inline uint64_t mc_eight_digits(uint64_t digits) {
    digits = digits * 2561 >> 8;
    digits = (digits & 0x00ff00ff00ff00ffu) * 6553601 >> 16;
    return (digits & 0x0000ffff0000ffffu) * 42949672960001u >> 32;
}

/* Digits from p on join w, which wraps around when there are too many. Up to eight at a time and without a branch on
   how many: those before the first other character are moved to the top of the word, so that zeros lead. Reads up to
   eight bytes past them. */
static inline const char *mc_read_digits(const char *p, uint64_t *w) {
    static const uint64_t shift_of[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000};
    for (;; p += 8) {
        uint64_t v;
        memcpy(&v, p, sizeof v);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
        v = __builtin_bswap64(v);
#endif
        v ^= 0x3030303030303030u; /* a digit is its value now */
        const uint64_t others = ((v + 0x7676767676767676u) | v) & 0x8080808080808080u;
        if (!others) {
            *w = *w * 100000000 + mc_eight_digits(v);
            continue;
        }
        const int bit = __builtin_ctzll(others), count = bit / 8; /* bit = 8 count + 7 */
        if (count == 0)
            return p;
        *w = *w * shift_of[count] + mc_eight_digits(v << ((7 - bit) & 63));
        return p + count;
    }
}

/* Bits of w 10^q where both factors are doubles: one operation, one rounding. */
static inline uint64_t mc_one_rounding(uint64_t w, int64_t q) {
    const double x = (double)(int64_t)w, v = q < 0 ? x / mc_power_of_ten[-q] : x * mc_power_of_ten[q];
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

/* Bits of a double near w 10^q; *certain: of the nearest. w is not zero. */
static inline uint64_t mc_table_product(uint64_t w, int64_t q, bool *certain) {
    *certain = true;
    if (q < MC_POWER_LOW)
        return 0; /* below half the smallest subnormal */
    if (q > 308)
        return (uint64_t)0x7ff << 52;
    const int zeros = __builtin_clzll(w);
    const uint64_t *five = mc_power_of_five[q - MC_POWER_LOW];
    const mc_u128 high = (mc_u128)(w << zeros) * five[0], low = (mc_u128)(w << zeros) * five[1];
    const mc_u128 P = high + (uint64_t)(low >> 64); /* the exact product lies in [P, P + 2) */
    const uint64_t top = (uint64_t)(P >> 64), rest = (uint64_t)P;
    const int cut = 9 + (int)(top >> 63); /* leaves 53 bits and the one that rounds */
    const uint64_t ones = ((uint64_t)1 << cut) - 1, below = top & ones, m = top >> cut;
    const int64_t biased =
        cut + (q * 1741647 >> 19) + 2 - zeros + 1075; /* 1741647 / 2^19: log2(10), exact in this range */
    if (biased <= 0) {                                /* subnormal: left to exact integers, starting here */
        *certain = false;
        return biased > -52 ? m >> (2 - biased) : 0;
    }
    /* The two units may carry into m, or break a tie; written without branches on bits that are random. */
    const bool may_carry = ((below ^ ones) | (rest < UINT64_MAX - 1)) == 0, may_tie = ((~m & 1) | below | rest) == 0;
    *certain = !(may_carry | may_tie);
    const uint64_t M = (m >> 1) + (m & 1); /* a carry into 2^53 moves the exponent by itself */
    const uint64_t bits = ((uint64_t)biased << 52) + (M - ((uint64_t)1 << 52));
    return bits < (uint64_t)0x7ff << 52 ? bits : (uint64_t)0x7ff << 52;
}

/* The exponent after an e at p; p itself when none is there. */
static inline const char *mc_read_exponent(const char *p, const char *end, int64_t *q) {
    enum { LARGEST = 1 << 30 }; /* past every double */
    const char *digits = p + 1;
    if (digits < end && (*digits == '-' || *digits == '+'))
        digits++;
    int64_t e = 0;
    const char *stop = digits;
    for (; stop < end && mc_is_digit(*stop); stop++)
        e = e < LARGEST ? 10 * e + (*stop - '0') : e;
    *q += p[1] == '-' ? -e : e;
    return stop > digits ? stop : p;
}

/* A number at the start of [text, end) as mc_number_read, where sixteen bytes may be read from end on and the one there
   is not part of a number. NULL: this way does not settle it; it may be a number all the same. Never an infinity. */
static inline const char *mc_number_fast(const char *text, const char *end, double *out) {
    const uint64_t negative = *text == '-';
    const char *first = text + (negative | (*text == '+')), *p;
    uint64_t w = 0, bits;
    bool certain = true;
    if (first[1] == '.'
        && mc_is_digit(first[0])) { /* one digit before the point: most numbers that were scaled or measured */
        w = (uint64_t)(first[0] - '0');
        p = first + 1;
    } else {
        p = mc_read_digits(first, &w);
    }
    int64_t digits = p - first, q = 0;
    if (*p == '.') {
        const char *fraction = p + 1;
        p = mc_read_digits(fraction, &w);
        q = fraction - p;
        digits -= q;
    }
    if (digits < 1 || digits > MC_NUMBER_DIGITS)
        return NULL;
    if ((*p | 0x20) == 'e')
        p = mc_read_exponent(p, end, &q);
    if (w <= (uint64_t)1 << 53 && q >= -MC_NUMBER_TENS && q <= MC_NUMBER_TENS)
        bits = mc_one_rounding(w, q);
    else if (w == 0)
        return NULL;
    else
        bits = mc_table_product(w, q, &certain);
    if (!certain || bits == (uint64_t)0x7ff << 52)
        return NULL;
    bits |= negative << 63; /* not a branch: signs of data are random */
    memcpy(out, &bits, sizeof bits);
    return p;
}

#endif
