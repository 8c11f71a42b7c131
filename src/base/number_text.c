/* number_text.c: a double as the shortest decimal that reads back to it, the nearest to it of that length.

   v = c 2^q rounds from every decimal between the midpoints to its neighbours. With k = floor(log10(2^q)) two multiples
   of 10^k and at most one of 10^(k+1) lie between them. All are compared with v in units of 10^k / 4, where products
   with a 128-bit power of ten, rounded to odd, order exactly as the true values do (Giulietti, "The Schubfach way to
   render doubles", 2020). */
#include "base/decimal.h"
#include "base/number.h"
#include <math.h>
#include <mercer.h>
#include <string.h>

typedef struct shortest {
    uint64_t digits;
    int exponent; /* v = digits 10^exponent */
} shortest;

static int floor_log2_power10(int e) {
    return (int)((int64_t)e * 1741647 >> 19);
}

/* floor(log10(2^e)), or of 3/4 2^e: below a power of two the neighbour is only half as far. */
static int floor_log10_power2(int e, bool closer) {
    return (int)(((int64_t)e * 1262611 - (closer ? 524031 : 0)) >> 22);
}

/* 10^k in 128 bits rounded up: what the table has cut off counts as one more. */
static mc_u128 power_up(int k) {
    const uint64_t *five = mc_power_of_five[k - MC_POWER_LOW];
    const bool exact = k >= 0 && k <= 55;
    return ((mc_u128)five[0] << 64 | five[1]) + !exact;
}

/* The upper 64 of 192 bits; the lowest is set when something was cut off, so that order survives. */
static uint64_t round_to_odd(mc_u128 g, uint64_t c) {
    const uint64_t low = (uint64_t)((mc_u128)(uint64_t)g * c >> 64);
    const mc_u128 y = (mc_u128)(uint64_t)(g >> 64) * c + low;
    return (uint64_t)(y >> 64) | ((uint64_t)y > 1);
}

static shortest shortest_decimal(uint64_t c, int q, bool closer) {
    const int k = floor_log10_power2(q, closer), h = q + floor_log2_power10(-k) + 1;
    const mc_u128 g = power_up(-k);
    const uint64_t odd = c & 1; /* an odd significand does not own its boundaries */
    const uint64_t v = round_to_odd(g, 4 * c << h);
    const uint64_t low = round_to_odd(g, (4 * c - 2 + closer) << h) + odd,
                   high = round_to_odd(g, (4 * c + 2) << h) - odd;
    const uint64_t s = v / 4, tens = s / 10;
    const bool down10 = low <= 40 * tens, up10 = 40 * tens + 40 <= high;
    if (s >= 10 && down10 != up10)
        return (shortest){tens + up10, k + 1};
    const bool down = low <= 4 * s, up = 4 * s + 4 <= high;
    if (down != up)
        return (shortest){s + up, k};
    const uint64_t middle = 4 * s + 2;
    return (shortest){s + (v > middle || (v == middle && s & 1)), k};
}

static shortest shortest_of_double(double v) {
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    const uint64_t fraction = bits & 0xfffffffffffffu;
    const int biased = (int)(bits >> 52 & 0x7ff);
    if (biased)
        return shortest_decimal(fraction | (uint64_t)1 << 52, biased - 1075, fraction == 0 && biased > 1);
    return shortest_decimal(fraction, -1074, false);
}

/* Digits backwards from end; returns the first. */
static char *put_digits(char *end, uint64_t digits) {
    do
        *--end = (char)('0' + digits % 10);
    while (digits /= 10);
    return end;
}

static char *append_bytes(char *to, const char *from, int count) {
    memcpy(to, from, (size_t)count);
    return to + count;
}

static char *put_zeros(char *to, int count) {
    memset(to, '0', (size_t)count);
    return to + count;
}

/* count digits with the point after the first `point` of them, which may be none or past the end. */
static char *put_plain(char *to, const char *digits, int count, int point) {
    if (point <= 0)
        return append_bytes(put_zeros(append_bytes(to, "0.", 2), -point), digits, count);
    if (point >= count)
        return put_zeros(append_bytes(to, digits, count), point - count);
    return append_bytes(append_bytes(append_bytes(to, digits, point), ".", 1), digits + point, count - point);
}

static char *put_scientific(char *to, const char *digits, int count, int exponent) {
    to = append_bytes(to, digits, 1);
    if (count > 1)
        to = append_bytes(append_bytes(to, ".", 1), digits + 1, count - 1);
    to = append_bytes(to, exponent < 0 ? "e-" : "e", exponent < 0 ? 2 : 1);
    char buffer[8], *first = put_digits(buffer + 8, (uint64_t)(exponent < 0 ? -exponent : exponent));
    return append_bytes(to, first, (int)(buffer + 8 - first));
}

const char *mc_number_text(double value, char text[32]) {
    if (!text)
        return NULL;
    char *to = text, buffer[24];
    if (signbit(value) && !isnan(value))
        *to++ = '-';
    value = fabs(value);
    if (!isfinite(value) || value == 0) {
        strcpy(to, isnan(value) ? "nan" : value > 0 ? "inf" : "0");
        return text;
    }
    shortest s = shortest_of_double(value);
    for (; s.digits % 10 == 0; s.digits /= 10)
        s.exponent++;
    const char *digits = put_digits(buffer + 24, s.digits);
    const int count = (int)(buffer + 24 - digits), point = count + s.exponent;
    to = point > -4 && point <= 16 ? put_plain(to, digits, count, point) : put_scientific(to, digits, count, point - 1);
    *to = '\0';
    return text;
}
