/* number.c: decimal text to the nearest double, ties to even.

   The text is w 10^q with w its first 19 significant digits. Three ways, from fast to sure:
   1. w < 2^53 and |q| <= 22: w and 10^|q| are doubles, so one product or quotient rounds once (Clinger, 1990).
   2. w 5^q from a table of 5^q to 128 bits: the product is known to within two units of its 128th bit, and unless those two units
      decide the rounding the answer is certain (Lemire, "Number parsing at a gigabyte per second", 2021, after Eisel).
   3. Exact integers (decimal.c).
   Digits past the nineteenth put the number between w and w + 1; when both round to one double, that is it.

   No state of the C library is involved, so the locale does not matter; only way 1 uses floating point, and never a subnormal. */
#include "base/number.h"
#include "base/decimal.h"
#include <string.h>

enum { DIGITS = 19, EXPONENT_MAX = 1 << 30 };

static const double power_of_ten[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                      1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

typedef struct scan {
    const char *first, *last; /* of the digits, a point among them */
    uint64_t w;
    int64_t q;       /* the power of ten of the last digit */
    int64_t dropped; /* digits after those of w */
} scan;

static bool is_digit(char c) {
    return (unsigned char)(c - '0') < 10;
}

static bool eight_digits(uint64_t v) {
    return ((v & 0xf0f0f0f0f0f0f0f0u) | (((v + 0x0606060606060606u) & 0xf0f0f0f0f0f0f0f0u) >> 4)) == 0x3333333333333333u;
}

/* Pairs, then fours, then eight: three multiplications. */
static uint64_t value_of_eight(uint64_t v) {
    v = (v & 0x0f0f0f0f0f0f0f0fu) * 2561 >> 8;
    v = (v & 0x00ff00ff00ff00ffu) * 6553601 >> 16;
    return (v & 0x0000ffff0000ffffu) * 42949672960001u >> 32;
}

/* The first character in the lowest byte, whatever the machine. */
static uint64_t load_eight(const char *p) {
    uint64_t v;
    memcpy(&v, p, sizeof v);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    v = __builtin_bswap64(v);
#endif
    return v;
}

/* Digits from p on join w, which wraps around when there are too many: then it is built again. */
static inline const char *run_of_digits(const char *p, const char *end, uint64_t *w) {
    uint64_t v;
    while (end - p >= 8 && eight_digits(v = load_eight(p))) {
        *w = *w * 100000000 + value_of_eight(v);
        p += 8;
    }
    for (; p < end && is_digit(*p); p++)
        *w = 10 * *w + (uint64_t)(*p - '0');
    return p;
}

/* More than nineteen digits: take w from the first that is not zero on. */
static void first_digits(scan *s) {
    const char *p = s->first;
    while (p < s->last && (*p == '0' || *p == '.'))
        p++;
    s->first = p;
    s->w = 0;
    for (int64_t taken = 0; p < s->last; p++) {
        if (*p == '.')
            continue;
        if (taken < DIGITS)
            s->w = 10 * s->w + (uint64_t)(*p - '0');
        s->dropped += taken++ >= DIGITS;
    }
}

static inline const char *read_exponent(const char *p, const char *end, int64_t *q) {
    const char *digits = p + 1;
    if (digits < end && (*digits == '-' || *digits == '+'))
        digits++;
    if (digits >= end || !is_digit(*digits))
        return p; /* the number ends before the e */
    int64_t e = 0;
    const char *stop = digits;
    for (; stop < end && is_digit(*stop); stop++)
        e = e < EXPONENT_MAX ? 10 * e + (*stop - '0') : e;
    *q += p[1] == '-' ? -e : e;
    return stop;
}

/* After the sign. NULL when no digit is there. */
static inline const char *scan_number(const char *p, const char *end, scan *s) {
    s->first = p;
    s->w = 0;
    s->q = 0;
    s->dropped = 0;
    p = run_of_digits(p, end, &s->w);
    int64_t digits = p - s->first;
    if (p < end && *p == '.') {
        const char *fraction = p + 1;
        p = run_of_digits(fraction, end, &s->w);
        s->q = fraction - p;
        digits += p - fraction;
    }
    if (digits == 0)
        return NULL;
    s->last = p;
    if (p < end && (*p | 0x20) == 'e')
        p = read_exponent(p, end, &s->q);
    if (digits > DIGITS)
        first_digits(s);
    return p;
}

/* Bits of a double near w 10^q; certain: of the nearest. w is not zero. */
static uint64_t product(uint64_t w, int64_t q, bool *certain) {
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
    const int64_t biased = cut + (q * 1741647 >> 19) + 2 - zeros + 1075; /* 1741647 / 2^19: log2(10), exact in this range */
    if (biased <= 0) { /* subnormal: left to exact integers, starting here */
        *certain = false;
        return biased > -52 ? m >> (2 - biased) : 0;
    }
    const bool may_carry = below == ones && rest >= UINT64_MAX - 1, may_tie = m & 1 && below == 0 && rest == 0;
    *certain = !may_carry && !may_tie;
    const uint64_t M = (m >> 1) + (m & 1); /* a carry into 2^53 moves the exponent by itself */
    const uint64_t bits = ((uint64_t)biased << 52) + (M - ((uint64_t)1 << 52));
    return bits < (uint64_t)0x7ff << 52 ? bits : (uint64_t)0x7ff << 52;
}

static uint64_t round_number(const scan *s) {
    bool certain, above = true;
    const int64_t q = s->q + s->dropped;
    const uint64_t bits = product(s->w, q, &certain), next = s->dropped ? product(s->w + 1, q, &above) : bits;
    if (certain && above && bits == next)
        return bits;
    return mc_decimal_round(s->first, s->last, s->q, bits);
}

const char *mc_number_read(const char *text, const char *end, double *out) {
    const bool signs = text < end && (*text == '-' || *text == '+');
    const bool negative = signs && *text == '-';
    scan s;
    const char *stop = scan_number(text + signs, end, &s);
    if (!stop)
        return NULL;
    if (s.w <= (uint64_t)1 << 53 && s.q >= -22 && s.q <= 22 && !s.dropped) {
        const double w = (double)s.w, v = s.q < 0 ? w / power_of_ten[-s.q] : w * power_of_ten[s.q];
        *out = negative ? -v : v;
        return stop;
    }
    uint64_t bits = s.w ? round_number(&s) : 0;
    bits |= (uint64_t)negative << 63;
    memcpy(out, &bits, sizeof bits);
    return stop;
}
