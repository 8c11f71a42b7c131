/* number.c: decimal text to the nearest double, ties to even, whatever its length.

   The text is w 10^q with w its first nineteen significant digits. number_fast.h has the two fast ways; digits past the
   nineteenth put the number between w and w + 1, and when both round to one double, that is it. What is left is settled
   by exact integers (decimal.c).

   No state of the C library is involved, so the locale does not matter, and no subnormal meets floating-point
   arithmetic. */
#include "base/number.h"
#include "base/number_fast.h"
#include "base/print.h"
#include <math.h>

const double mc_power_of_ten[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                  1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

typedef struct digit_scan {
    const char *first, *last; /* of the digits, a point among them */
    uint64_t w;
    int64_t q;       /* the power of ten of the last digit */
    int64_t dropped; /* digits after those of w */
} digit_scan;

static const char *skip_digits(const char *p, const char *end) {
    while (p < end && mc_is_digit(*p))
        p++;
    return p;
}

/* w from the first digit that is not zero on. */
static void first_digits(digit_scan *s) {
    const char *p = s->first;
    while (p < s->last && (*p == '0' || *p == '.'))
        p++;
    s->first = p;
    s->w = 0;
    s->dropped = 0;
    for (int64_t taken = 0; p < s->last; p++) {
        if (*p == '.')
            continue;
        if (taken < MC_NUMBER_DIGITS)
            s->w = 10 * s->w + (uint64_t)(*p - '0');
        s->dropped += taken++ >= MC_NUMBER_DIGITS;
    }
}

/* After the sign. NULL when no digit is there. */
static const char *scan_number(const char *p, const char *end, digit_scan *s) {
    s->first = p;
    s->q = 0;
    p = skip_digits(p, end);
    int64_t digits = p - s->first;
    if (p < end && *p == '.') {
        const char *fraction = p + 1;
        p = skip_digits(fraction, end);
        s->q = fraction - p;
        digits -= s->q;
    }
    if (digits == 0)
        return NULL;
    s->last = p;
    if (p < end && (*p | 0x20) == 'e')
        p = mc_read_exponent(p, end, &s->q);
    first_digits(s);
    return p;
}

static uint64_t round_number(const digit_scan *s) {
    const int64_t q = s->q + s->dropped;
    if (s->w <= (uint64_t)1 << 53 && q >= -MC_NUMBER_TENS && q <= MC_NUMBER_TENS && !s->dropped)
        return mc_one_rounding(s->w, q);
    bool certain, above = true;
    const uint64_t bits = mc_table_product(s->w, q, &certain);
    const uint64_t next = s->dropped ? mc_table_product(s->w + 1, q, &above) : bits;
    if (certain && above && bits == next)
        return bits;
    return mc_decimal_round(s->first, s->last, s->q, bits);
}

const char *mc_number_read(const char *text, const char *end, double *out) {
    const bool negative = text < end && *text == '-', positive = text < end && *text == '+';
    digit_scan s;
    const char *stop = scan_number(text + (negative | positive), end, &s);
    if (!stop)
        return NULL;
    const uint64_t bits = (s.w ? round_number(&s) : 0) | (uint64_t)negative << 63;
    memcpy(out, &bits, sizeof bits);
    return stop;
}

/* ---- Numbers as names ---- */

enum { WHOLE = 310 }; /* digits of the largest double */

/* The digits of a number from the first to the last that is not zero; -1: more than capacity of them. */
static int64_t significant_digits(const digit_scan *s, char *digits, int64_t capacity) {
    int64_t count = 0, kept = 0;
    for (const char *p = s->first; p < s->last; p++) {
        if (*p == '.')
            continue;
        if (count < capacity)
            digits[count] = *p;
        count++;
        kept = *p != '0' ? count : kept;
    }
    return kept <= capacity ? kept : -1;
}

/* Whether these are the first digits of the double rounded to `of` of them, and only zeros follow. The C library writes
   them exactly; its decimal point, which depends on the locale, is passed over. */
static bool prints_as_digits(double value, int of, const char *digits, int64_t count) {
    char text[WHOLE + 16];
    mc_print(text, sizeof text, "%.*e", of - 1, value);
    int64_t found = 0;
    for (const char *p = text; *p && *p != 'e'; p++)
        if (mc_is_digit(*p) && *p != (found++ < count ? *digits++ : '0'))
            return false;
    return found >= count;
}

bool mc_number_survives(const char *text, const char *end) {
    enum { MOST_DIGITS = 40, SAFE_POWER = -290 }; /* fifteen digits survive among normal doubles */
    const uint64_t safe = 1000000000000000;
    char digits[MOST_DIGITS];
    double value = 0;
    digit_scan s;
    if (!scan_number(text + (*text == '-' || *text == '+'), end, &s))
        return false;
    if (s.w < safe && !s.dropped && s.q > SAFE_POWER && s.q <= 0)
        return true;
    const int64_t count = significant_digits(&s, digits, MOST_DIGITS);
    mc_number_read(text, end, &value);
    if (count <= 0 || isinf(value))
        return count == 0;
    return prints_as_digits(fabs(value), value == floor(value) ? WHOLE : (int)count, digits, count);
}
