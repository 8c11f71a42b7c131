/* big_float.c: sums, products and quotients of numbers in base 2^32, rounded to one side. See big_float.h.

   Results are made in a longer buffer and cut: what is cut off is not 0, so the number moves away from 0 by a unit of
   its last digit where the side asks for it. Division is Knuth's Algorithm D (The Art of Computer Programming 2,
   4.3.1). */
#include "kernel/proof/big_float.h"
#include <float.h>
#include <math.h>
#include <string.h>

enum { BUFFER = 2 * MC_BIG_DIGITS + 10 };
static const int64_t EXPONENT_MAX = (int64_t)1 << 40;

static mc_big big_infinity(int sign) {
    return (mc_big){.sign = sign};
}

bool mc_big_is_finite(const mc_big *a) {
    return a->sign == 0 || a->digits > 0;
}

mc_big mc_big_negate(const mc_big *a) {
    mc_big r = *a;
    r.sign = -r.sign;
    return r;
}

int64_t mc_big_top(const mc_big *a) {
    return 32 * (a->exponent + a->digits) - __builtin_clz(a->digit[a->digits - 1]);
}

int64_t mc_big_low(const mc_big *a) {
    return 32 * a->exponent + __builtin_ctz(a->digit[0]);
}

/* ---- rounding ---- */

/* 2^(32 exponent), the sign as given. */
static mc_big big_unit(int sign, int64_t exponent) {
    return (mc_big){.sign = sign, .digits = 1, .exponent = exponent, .digit = {1}};
}

/* One unit of the first digit away from 0. */
static mc_big step_away(const mc_big *a) {
    mc_big r = *a;
    int i = 0;
    while (i < r.digits && ++r.digit[i] == 0)
        i++;
    if (i == r.digits)
        return big_unit(r.sign, r.exponent + r.digits);
    r.digits -= i; /* the digits below have become zeros */
    r.exponent += i;
    memmove(r.digit, r.digit + i, (size_t)r.digits * sizeof *r.digit);
    memset(r.digit + r.digits, 0, (size_t)(MC_BIG_DIGITS - r.digits) * sizeof *r.digit);
    return r;
}

static mc_big within_exponents(const mc_big *a, mc_rounding side) {
    const bool away = a->sign * (int)side > 0;
    if (a->exponent > EXPONENT_MAX)
        return away ? big_infinity(a->sign) : big_unit(a->sign, EXPONENT_MAX);
    if (a->exponent >= -EXPONENT_MAX)
        return *a;
    const int64_t above = a->exponent + a->digits;
    return away ? big_unit(a->sign, above < -EXPONENT_MAX ? -EXPONENT_MAX : above) : (mc_big){0};
}

static mc_big round_buffer_to_big(int sign, const uint32_t *buffer, int count, int64_t exponent, int most,
                                  mc_rounding side) {
    int low = 0;
    while (count > 0 && buffer[count - 1] == 0)
        count--;
    while (low < count && buffer[low] == 0)
        low++;
    if (low == count)
        return (mc_big){0};
    const bool inexact = count - low > most;
    low = inexact ? count - most : low;
    while (buffer[low] == 0 && !(inexact && sign * (int)side > 0))
        low++;
    mc_big r = {.sign = sign, .digits = count - low, .exponent = exponent + low};
    memcpy(r.digit, buffer + low, (size_t)r.digits * sizeof *r.digit);
    if (inexact && sign * (int)side > 0)
        r = step_away(&r);
    return within_exponents(&r, side);
}

mc_big mc_big_round(const mc_big *a, int digits, mc_rounding side) {
    return a->digits <= digits ? *a : round_buffer_to_big(a->sign, a->digit, a->digits, a->exponent, digits, side);
}

/* ---- doubles ---- */

mc_big mc_big_of(double v) {
    if (v == 0)
        return (mc_big){0};
    if (isinf(v))
        return big_infinity(v < 0 ? -1 : 1);
    int e;
    const uint64_t m = (uint64_t)ldexp(frexp(fabs(v), &e), 53);
    const int low = e - 53, place = low >= 0 ? low / 32 : -((31 - low) / 32), rest = low - 32 * place;
    const uint64_t above = rest ? m >> (64 - rest) : 0, below = m << rest;
    const uint32_t buffer[3] = {(uint32_t)below, (uint32_t)(below >> 32), (uint32_t)above};
    return round_buffer_to_big(v < 0 ? -1 : 1, buffer, 3, place, MC_BIG_DIGITS, MC_DOWN);
}

/* The 53 bits from the top on; *inexact: there are more. */
static uint64_t leading_bits(const mc_big *a, bool *inexact) {
    uint64_t t = 0;
    const int n = a->digits, zeros = __builtin_clz(a->digit[n - 1]);
    for (int i = n - 1; i >= n - 3; i--) {
        const uint64_t digit = i >= 0 ? a->digit[i] : 0;
        const int at = 32 * (i - (n - 2)) + zeros; /* where the digit's lowest bit goes */
        t |= at >= 0 ? digit << at : digit >> -at;
    }
    *inexact = (t & 0x7ff) != 0 || n > 3 || (n == 3 && zeros < 32 && (a->digit[0] << zeros) != 0);
    return t >> 11;
}

double mc_big_to_double(const mc_big *a, mc_rounding side) {
    if (a->digits == 0)
        return a->sign ? copysign(INFINITY, a->sign) : 0;
    bool inexact;
    const uint64_t bits = leading_bits(a, &inexact);
    const int64_t place = mc_big_top(a) - 53;
    const int e = place > 9999 ? 9999 : place < -9999 ? -9999 : (int)place;
    double v = ldexp((double)bits, e);
    const bool away = a->sign * (int)side > 0;
    if (isinf(v))
        return copysign(away ? INFINITY : DBL_MAX, a->sign);
    const double back = ldexp(v, -e); /* not bits where v is subnormal */
    v = back > (double)bits ? nextafter(v, 0) : v;
    if (away && (inexact || ldexp(v, -e) != (double)bits))
        v = nextafter(v, INFINITY);
    return copysign(v, a->sign);
}

/* ---- sums ---- */

int mc_big_compare(const mc_big *a, const mc_big *b) {
    if (!mc_big_is_finite(a) || !mc_big_is_finite(b)) {
        const int x = mc_big_is_finite(a) ? 0 : a->sign, y = mc_big_is_finite(b) ? 0 : b->sign;
        return (x > y) - (x < y);
    }
    const mc_big minus = mc_big_negate(b), difference = mc_big_add(a, &minus, MC_DOWN);
    return difference.sign; /* rounded, but never to 0: a difference has no lower digit than its parts */
}

/* a without what lies below place, to the side. */
static mc_big above_place(const mc_big *a, int64_t place, mc_rounding side) {
    const bool away = a->sign * (int)side > 0;
    if (a->exponent >= place)
        return *a;
    if (a->exponent + a->digits <= place)
        return away ? big_unit(a->sign, place) : (mc_big){0};
    return mc_big_round(a, (int)(a->exponent + a->digits - place), side);
}

static void add_signed_digits(const mc_big *a, int64_t low, int64_t *sums) {
    for (int i = 0; i < a->digits; i++)
        sums[a->exponent - low + i] += a->sign * (int64_t)a->digit[i];
}

/* Digits of the number that sums has; false, and those of its complement, when it is negative. */
static bool carry_through(const int64_t *sums, int count, int sign, uint32_t *buffer) {
    int64_t carry = 0;
    for (int i = 0; i < count; i++) {
        const int64_t v = sign * sums[i] + carry;
        buffer[i] = (uint32_t)(v & 0xffffffff);
        carry = (v - (int64_t)buffer[i]) / ((int64_t)1 << 32);
    }
    return carry >= 0;
}

static mc_big add_finite(const mc_big *a, const mc_big *b, mc_rounding side) {
    const int64_t top_a = a->exponent + a->digits, top_b = b->exponent + b->digits, top = top_a > top_b ? top_a : top_b;
    const mc_big x = above_place(a, top - (BUFFER - 2), side), y = above_place(b, top - (BUFFER - 2), side);
    if (x.sign == 0 || y.sign == 0)
        return x.sign ? x : y;
    const int64_t low = x.exponent < y.exponent ? x.exponent : y.exponent;
    const int count = (int)(top - low) + 1;
    int64_t sums[BUFFER] = {0};
    uint32_t buffer[BUFFER];
    add_signed_digits(&x, low, sums);
    add_signed_digits(&y, low, sums);
    int sign = 1;
    if (!carry_through(sums, count, 1, buffer)) {
        sign = -1;
        carry_through(sums, count, -1, buffer);
    }
    return round_buffer_to_big(sign, buffer, count, low, MC_BIG_DIGITS, side);
}

mc_big mc_big_add(const mc_big *a, const mc_big *b, mc_rounding side) {
    const bool whole_a = mc_big_is_finite(a), whole_b = mc_big_is_finite(b);
    if (!whole_a && !whole_b)
        return big_infinity(a->sign == b->sign ? a->sign : (int)side);
    if (!whole_a || b->sign == 0)
        return *a;
    if (!whole_b || a->sign == 0)
        return *b;
    return add_finite(a, b, side);
}

/* ---- products and quotients ---- */

mc_big mc_big_multiply(const mc_big *a, const mc_big *b, mc_rounding side) {
    uint32_t buffer[BUFFER] = {0};
    if (a->sign == 0 || b->sign == 0)
        return (mc_big){0};
    if (a->digits == 0 || b->digits == 0)
        return big_infinity(a->sign * b->sign);
    for (int i = 0; i < a->digits; i++) {
        uint64_t carry = 0;
        for (int j = 0; j < b->digits; j++) {
            carry += (uint64_t)a->digit[i] * b->digit[j] + buffer[i + j];
            buffer[i + j] = (uint32_t)carry;
            carry >>= 32;
        }
        buffer[i + b->digits] = (uint32_t)carry;
    }
    return round_buffer_to_big(a->sign * b->sign, buffer, a->digits + b->digits, a->exponent + b->exponent,
                               MC_BIG_DIGITS, side);
}

static void shift_left(const uint32_t *from, int count, int bits, uint32_t *to) {
    uint64_t carry = 0;
    for (int i = 0; i < count; i++) {
        carry |= (uint64_t)from[i] << bits;
        to[i] = (uint32_t)carry;
        carry >>= 32;
    }
    to[count] = (uint32_t)carry;
}

/* u (m + 1 digits from there) -= q v; true when that went below 0. */
static bool subtract_multiple(uint32_t *u, const uint32_t *v, int m, uint64_t q) {
    uint64_t carry = 0, borrow = 0;
    for (int i = 0; i <= m; i++) {
        carry += i < m ? q * v[i] : 0;
        const uint64_t t = (uint64_t)u[i] - (uint32_t)carry - borrow;
        u[i] = (uint32_t)t;
        borrow = t >> 63;
        carry >>= 32;
    }
    return borrow != 0;
}

static void add_back(uint32_t *u, const uint32_t *v, int m) {
    uint64_t carry = 0;
    for (int i = 0; i <= m; i++) {
        carry += (uint64_t)u[i] + (i < m ? v[i] : 0);
        u[i] = (uint32_t)carry;
        carry >>= 32;
    }
}

/* The next digit of u / v, at most too large by 2 before it is corrected; v's highest bit is set. */
static uint32_t quotient_digit(uint32_t *u, const uint32_t *v, int m) {
    const uint64_t two = (uint64_t)u[m] << 32 | u[m - 1];
    uint64_t q = two / v[m - 1];
    q = q > 0xffffffff ? 0xffffffff : q;
    if (subtract_multiple(u, v, m, q))
        do {
            add_back(u, v, m);
            q--;
        } while (u[m] > 0x7fffffff); /* still below 0 */
    return (uint32_t)q;
}

/* q = u / v for one digit v, the lowest of q kept for what is left over. */
static void divide_by_digit(const uint32_t *u, int n, uint32_t v, uint32_t *q) {
    uint64_t rest = 0;
    for (int i = n - 1; i >= 0; i--) {
        rest = rest << 32 | u[i];
        q[i + 1] = (uint32_t)(rest / v);
        rest %= v;
    }
    q[0] = rest != 0;
}

static void divide_digits(uint32_t *u, int n, const uint32_t *v, int m, uint32_t *q) {
    for (int i = n - m; i >= 0; i--)
        q[i + 1] = quotient_digit(u + i, v, m);
    for (int i = 0; i < m; i++)
        q[0] |= u[i] != 0;
}

/* Seventeen digits or more of the quotient, and below them a 1 for what is left over. */
static mc_big divide_finite(const mc_big *a, const mc_big *b, mc_rounding side) {
    enum { DIGITS = MC_BIG_DIGITS + 1 };
    const int m = b->digits, pad = a->digits < DIGITS + m ? DIGITS + m - a->digits : 0, n = a->digits + pad;
    const int bits = __builtin_clz(b->digit[m - 1]);
    uint32_t u[BUFFER + MC_BIG_DIGITS] = {0}, v[MC_BIG_DIGITS + 1], q[BUFFER] = {0};
    shift_left(a->digit, a->digits, bits, u + pad);
    shift_left(b->digit, m, bits, v);
    if (m == 1)
        divide_by_digit(u, n + 1, v[0], q);
    else
        divide_digits(u, n, v, m, q);
    return round_buffer_to_big(a->sign * b->sign, q, n - m + 2, a->exponent - pad - b->exponent - 1, MC_BIG_DIGITS,
                               side);
}

mc_big mc_big_divide(const mc_big *a, const mc_big *b, mc_rounding side) {
    if (a->sign == 0 || (a->digits > 0 && b->digits == 0))
        return (mc_big){0};
    return a->digits == 0 ? big_infinity(a->sign * b->sign) : divide_finite(a, b, side);
}
