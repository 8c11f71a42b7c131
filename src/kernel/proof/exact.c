/* exact.c: positive semidefiniteness without rounding.

   First LDL' in interval arithmetic, which settles every matrix that is not nearly singular. Otherwise, for small n,
   elimination in whole numbers: the doubles are scaled by one power of two to integers, and Bareiss' fraction-free step

       a_ij <- (a_kk a_ij - a_ik a_kj) / previous pivot

   stays in integers, each of them a minor of A. The pivot is any positive diagonal entry left; a negative one says no;
   when all that are left are zero, A is positive semidefinite exactly when everything left is zero. Numbers have sign
   and magnitude in 32-bit digits, the lowest first. Exact division goes digit by digit from the low end: q = a / b
   modulo 2^32 is a_0 times the inverse of b_0.

   Bareiss, Mathematics of Computation 22 (1968); Jebelean, J. Symbolic Computation 15 (1993). */
#include "kernel/proof/exact.h"
#include "base/memory.h"
#include "base/status.h"
#include "kernel/proof/outward.h"
#include <math.h>
#include <string.h>

enum { DIGITS = 192, EXACT_ROWS_MAX = 32, INTERVAL_ROWS_MAX = 512 };

typedef struct whole {
    int sign, digits; /* digits 0: the number 0 */
    uint32_t digit[DIGITS];
} whole;

static void trim_leading_zeros(whole *a) {
    while (a->digits > 0 && a->digit[a->digits - 1] == 0)
        a->digits--;
    a->sign = a->digits ? a->sign : 0;
}

static int compare_magnitude(const whole *a, const whole *b) {
    if (a->digits != b->digits)
        return a->digits < b->digits ? -1 : 1;
    for (int i = a->digits - 1; i >= 0; i--)
        if (a->digit[i] != b->digit[i])
            return a->digit[i] < b->digit[i] ? -1 : 1;
    return 0;
}

/* r = |a| - |b| for |a| >= |b|. */
static void subtract_magnitude(const whole *a, const whole *b, whole *r) {
    int64_t borrow = 0;
    for (int i = 0; i < a->digits; i++) {
        const int64_t t = (int64_t)a->digit[i] - (i < b->digits ? b->digit[i] : 0) - borrow;
        r->digit[i] = (uint32_t)t;
        borrow = t < 0;
    }
    r->digits = a->digits;
}

static bool add_magnitude(const whole *a, const whole *b, whole *r) {
    const int most = a->digits > b->digits ? a->digits : b->digits;
    uint64_t carry = 0;
    if (most + 1 > DIGITS)
        return false;
    for (int i = 0; i < most; i++) {
        carry += (uint64_t)(i < a->digits ? a->digit[i] : 0) + (i < b->digits ? b->digit[i] : 0);
        r->digit[i] = (uint32_t)carry;
        carry >>= 32;
    }
    r->digit[most] = (uint32_t)carry;
    r->digits = most + 1;
    return true;
}

static bool subtract_wholes(const whole *a, const whole *b, whole *r) {
    if (a->sign * b->sign <= 0) {
        r->sign = a->sign ? a->sign : -b->sign;
        if (!add_magnitude(a, b, r))
            return false;
    } else {
        const bool swap = compare_magnitude(a, b) < 0;
        subtract_magnitude(swap ? b : a, swap ? a : b, r);
        r->sign = swap ? -a->sign : a->sign;
    }
    trim_leading_zeros(r);
    return true;
}

static bool multiply_wholes(const whole *a, const whole *b, whole *r) {
    if (a->digits + b->digits > DIGITS)
        return false;
    memset(r->digit, 0, (size_t)(a->digits + b->digits) * sizeof *r->digit);
    for (int i = 0; i < a->digits; i++) {
        uint64_t carry = 0;
        for (int j = 0; j < b->digits; j++) {
            carry += (uint64_t)a->digit[i] * b->digit[j] + r->digit[i + j];
            r->digit[i + j] = (uint32_t)carry;
            carry >>= 32;
        }
        r->digit[i + b->digits] = (uint32_t)carry;
    }
    r->digits = a->digits + b->digits;
    r->sign = a->sign * b->sign;
    trim_leading_zeros(r);
    return true;
}

static void shift_right(whole *a, int bits) {
    const int words = bits / 32, rest = bits % 32;
    for (int i = 0; i + words < a->digits; i++) {
        const uint64_t high = i + words + 1 < a->digits ? a->digit[i + words + 1] : 0;
        a->digit[i] = (uint32_t)((high << 32 | a->digit[i + words]) >> rest);
    }
    a->digits -= words;
    trim_leading_zeros(a);
}

static int trailing_zeros(const whole *a) {
    int i = 0;
    while (a->digit[i] == 0)
        i++;
    return 32 * i + __builtin_ctz(a->digit[i]);
}

static uint32_t inverse_modulo_word(uint32_t odd) {
    uint32_t x = odd; /* right to 3 bits; every step doubles them */
    for (int i = 0; i < 4; i++)
        x *= 2 - odd * x;
    return x;
}

/* a <- a / b, known to be exact. */
static void divide_exactly(whole *a, whole b) {
    if (a->digits == 0)
        return;
    const int zeros = trailing_zeros(&b), sign = a->sign * b.sign;
    shift_right(a, zeros);
    shift_right(&b, zeros);
    const uint32_t inv = inverse_modulo_word(b.digit[0]);
    for (int i = 0; i < a->digits; i++) { /* the quotient's digit i takes the place of a's */
        const uint32_t q = a->digit[i] * inv;
        uint64_t carry = 0;
        for (int j = 0; i + j < a->digits; j++) {
            carry += (uint64_t)q * (j < b.digits ? b.digit[j] : 0);
            const uint32_t low = (uint32_t)carry, before = a->digit[i + j];
            a->digit[i + j] = before - low;
            carry = (carry >> 32) + (before < low);
        }
        a->digit[i] = q;
    }
    a->sign = sign;
    trim_leading_zeros(a);
}

/* ---- the test ---- */

static int lowest_bit(double v) {
    int e;
    const int64_t m = (int64_t)ldexp(frexp(fabs(v), &e), 53);
    return e - 53 + __builtin_ctzll((unsigned long long)m);
}

/* v 2^-scale, a whole number. */
static bool to_whole(double v, int scale, whole *out) {
    *out = (whole){0};
    if (v == 0)
        return true;
    int e;
    const uint64_t m = (uint64_t)ldexp(frexp(fabs(v), &e), 53);
    const int shift = e - 53 - scale, low = shift < 0 ? 0 : shift; /* shift < 0: the bits below are zeros */
    const uint64_t bits = shift < 0 ? m >> -shift : m;
    if (low / 32 + 3 > DIGITS)
        return false;
    const unsigned rest = (unsigned)low % 32;
    out->digit[low / 32] = (uint32_t)(bits << rest);
    out->digit[low / 32 + 1] = (uint32_t)(bits >> (32 - rest) & 0xffffffffu);
    out->digit[low / 32 + 2] = rest ? (uint32_t)(bits >> (64 - rest)) : 0;
    out->digits = low / 32 + 3;
    out->sign = v < 0 ? -1 : 1;
    trim_leading_zeros(out);
    return true;
}

typedef struct elimination {
    int n;
    whole *a;    /* n x n */
    whole *work; /* 3: two products and the previous pivot */
    bool gone[EXACT_ROWS_MAX];
} elimination;

static whole *elimination_entry(const elimination *s, int i, int j) {
    return &s->a[i * s->n + j];
}

/* The row of a positive diagonal entry left; -1: none; -2: there is a negative one. */
static int find_pivot(const elimination *s) {
    int found = -1;
    for (int i = 0; i < s->n; i++) {
        if (s->gone[i])
            continue;
        if (elimination_entry(s, i, i)->sign < 0)
            return -2;
        if (elimination_entry(s, i, i)->sign > 0 && found < 0)
            found = i;
    }
    return found;
}

static bool all_zero(const elimination *s) {
    for (int i = 0; i < s->n; i++)
        for (int j = 0; j < s->n; j++)
            if (!s->gone[i] && !s->gone[j] && elimination_entry(s, i, j)->sign)
                return false;
    return true;
}

/* Only rows and columns still left change, so column k can be read while the others are written. */
static bool eliminate_bareiss(elimination *s, int k) {
    whole *p = &s->work[0], *q = &s->work[1], *previous = &s->work[2];
    s->gone[k] = true;
    for (int i = 0; i < s->n; i++)
        for (int j = 0; j < s->n; j++) {
            if (s->gone[i] || s->gone[j])
                continue;
            if (!multiply_wholes(elimination_entry(s, k, k), elimination_entry(s, i, j), p)
                || !multiply_wholes(elimination_entry(s, i, k), elimination_entry(s, k, j), q)
                || !subtract_wholes(p, q, elimination_entry(s, i, j)))
                return false;
            divide_exactly(elimination_entry(s, i, j), *previous);
        }
    *previous = *elimination_entry(s, k, k);
    return true;
}

static mc_psd test_psd_by_bareiss(elimination *s) {
    for (;;) {
        const int k = find_pivot(s);
        if (k == -2)
            return MC_PSD_NO;
        if (k == -1)
            return all_zero(s) ? MC_PSD_YES : MC_PSD_NO;
        if (!eliminate_bareiss(s, k))
            return MC_PSD_UNSURE;
    }
}

static bool load_scaled_integers(elimination *s, const double *A) {
    int scale = 2000;
    for (int i = 0; i < s->n * s->n; i++)
        if (A[i] != 0 && lowest_bit(A[i]) < scale)
            scale = lowest_bit(A[i]);
    for (int i = 0; i < s->n * s->n; i++)
        if (!to_whole(A[i], scale, &s->a[i]))
            return false;
    s->work[2] = (whole){.sign = 1, .digits = 1, .digit = {1}};
    return true;
}

/* v 2^-scale, a whole number. */
static bool big_to_whole(const mc_big *v, int64_t scale, whole *out) {
    *out = (whole){0};
    if (v->sign == 0)
        return true;
    const int64_t shift = 32 * v->exponent - scale; /* below 0: as many zero bits are at the low end of v */
    const int64_t words = (shift >= 0 ? shift : shift - 31) / 32;
    const int rest = (int)(shift - 32 * words);
    for (int i = 0; i < v->digits; i++) {
        const uint64_t two = (uint64_t)v->digit[i] << rest;
        const int64_t at = words + i;
        if (at + 1 >= DIGITS || (at < 0 && (uint32_t)two) || (at + 1 < 0 && two))
            return false;
        if (at >= 0)
            out->digit[at] |= (uint32_t)two;
        if (at + 1 >= 0)
            out->digit[at + 1] |= (uint32_t)(two >> 32);
        out->digits = at + 2 > 0 ? (int)at + 2 : 0;
    }
    out->sign = v->sign;
    trim_leading_zeros(out);
    return true;
}

static bool is_single_number(const mc_interval *a) {
    return mc_big_is_finite(&a->low) && mc_big_is_finite(&a->high) && mc_big_compare(&a->low, &a->high) == 0;
}

/* The entry of the lower triangle. */
static const mc_interval *lower_entry(const mc_interval *A, int64_t n, int64_t i, int64_t j) {
    return &A[i > j ? i * n + j : j * n + i];
}

static bool load_scaled_numbers(elimination *s, const mc_interval *A) {
    int64_t scale = INT64_MAX;
    for (int i = 0; i < s->n * s->n; i++) {
        const mc_interval *a = lower_entry(A, s->n, i / s->n, i % s->n);
        if (!is_single_number(a))
            return false;
        if (a->low.sign && mc_big_low(&a->low) < scale)
            scale = mc_big_low(&a->low);
    }
    for (int i = 0; i < s->n * s->n; i++)
        if (!big_to_whole(&lower_entry(A, s->n, i / s->n, i % s->n)->low, scale, &s->a[i]))
            return false;
    s->work[2] = (whole){.sign = 1, .digits = 1, .digit = {1}};
    return true;
}

static mercer_status test_psd_exactly(mercer_ctx *ctx, const double *A, int64_t n, mc_psd *out) {
    elimination s = {.n = (int)n};
    MC_TRY(MC_ALLOC(ctx, s.a, n * n + 3));
    s.work = s.a + n * n;
    *out = load_scaled_integers(&s, A) ? test_psd_by_bareiss(&s) : MC_PSD_UNSURE;
    mc_free(s.a);
    return MERCER_OK;
}

/* ---- intervals ---- */

/* All pivots of LDL' are surely positive, or one surely is not; S is overwritten. */
static mc_psd by_intervals(mc_bounds *S, int64_t n) {
    for (int64_t k = 0; k < n; k++) {
        const mc_bounds pivot = S[k * n + k];
        if (pivot.hi < 0)
            return MC_PSD_NO;
        if (!(pivot.lo > 0))
            return MC_PSD_UNSURE;
        for (int64_t i = k + 1; i < n; i++) {
            const mc_bounds l = mc_bounds_div(S[i * n + k], pivot);
            for (int64_t j = k + 1; j <= i; j++)
                S[i * n + j] = mc_bounds_sub(S[i * n + j], mc_bounds_mul(l, S[j * n + k]));
        }
    }
    return MC_PSD_YES;
}

mercer_status mc_psd_test(mercer_ctx *ctx, const double *A, int64_t n, mc_psd *out) {
    *out = MC_PSD_UNSURE;
    if (n > INTERVAL_ROWS_MAX)
        return MERCER_OK;
    mc_bounds *S = mc_alloc(ctx, n * n, sizeof *S);
    if (!S)
        return MERCER_MEMORY;
    for (int64_t i = 0; i < n * n; i++)
        S[i] = (mc_bounds){A[i], A[i]};
    *out = by_intervals(S, n);
    mc_free(S);
    return *out == MC_PSD_UNSURE && n <= EXACT_ROWS_MAX ? test_psd_exactly(ctx, A, n, out) : MERCER_OK;
}

/* ---- matrices of intervals ---- */

/* LDL' in intervals: NO when a pivot is surely negative, YES when all are surely positive. S is overwritten. */
static mc_psd by_wide_intervals(mc_interval *S, int64_t n) {
    for (int64_t k = 0; k < n; k++) {
        const mc_interval pivot = S[k * n + k];
        if (pivot.hi < 0)
            return MC_PSD_NO;
        if (!(pivot.lo > 0))
            return MC_PSD_UNSURE;
        for (int64_t i = k + 1; i < n; i++) {
            const mc_interval l = mc_iv_div(S[i * n + k], pivot);
            for (int64_t j = k + 1; j <= i; j++)
                S[i * n + j] = mc_iv_sub(S[i * n + j], mc_iv_mul(l, S[j * n + k]));
        }
    }
    return MC_PSD_YES;
}

static mercer_status test_numbers_exactly(mercer_ctx *ctx, const mc_interval *A, int64_t n, mc_psd *out) {
    elimination s = {.n = (int)n};
    MC_TRY(MC_ALLOC(ctx, s.a, n * n + 3));
    s.work = s.a + n * n;
    *out = load_scaled_numbers(&s, A) ? test_psd_by_bareiss(&s) : MC_PSD_UNSURE;
    mc_free(s.a);
    return MERCER_OK;
}

mercer_status mc_psd_test_intervals(mercer_ctx *ctx, const mc_interval *A, int64_t n, mc_psd *out) {
    *out = MC_PSD_UNSURE;
    mc_interval *S = mc_alloc(ctx, n * n, sizeof *S);
    if (!S)
        return MERCER_MEMORY;
    for (int64_t i = 0; i < n * n; i++)
        S[i] = A[i];
    *out = by_wide_intervals(S, n);
    mc_free(S);
    return *out == MC_PSD_UNSURE && n <= EXACT_ROWS_MAX ? test_numbers_exactly(ctx, A, n, out) : MERCER_OK;
}
