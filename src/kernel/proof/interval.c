/* interval.c: the four operations, roots and powers, each end rounded outwards, and the bound that tells 0 from what is
   near. See interval.h. */
#include "kernel/proof/interval.h"
#include "base/extremes.h"
#include <math.h>

/* ---- making ---- */

static mc_interval interval_between(const mc_big *low, const mc_big *high) {
    return (mc_interval){mc_big_to_double(low, MC_DOWN), mc_big_to_double(high, MC_UP), *low, *high, {0}};
}

mc_interval mc_iv_between(const mc_big *low, const mc_big *high) {
    return mc_big_compare(low, high) <= 0 ? interval_between(low, high) : mc_iv_everything();
}

mc_interval mc_iv_of(double lo, double hi) {
    if (!(lo <= hi))
        return mc_iv_everything();
    return (mc_interval){lo, hi, mc_big_of(lo), mc_big_of(hi), {0}};
}

mc_interval mc_iv(double value) {
    return mc_iv_of(value, value);
}

mc_interval mc_iv_everything(void) {
    return mc_iv_of(-INFINITY, INFINITY);
}

mc_interval mc_iv_round(const mc_interval *a, int digits) {
    const mc_big low = mc_big_round(&a->low, digits, MC_DOWN), high = mc_big_round(&a->high, digits, MC_UP);
    return interval_between(&low, &high);
}

static mc_big smaller_big(const mc_big *a, const mc_big *b) {
    return mc_big_compare(a, b) <= 0 ? *a : *b;
}

static mc_big larger_big(const mc_big *a, const mc_big *b) {
    return mc_big_compare(a, b) >= 0 ? *a : *b;
}

mc_interval mc_iv_hull(mc_interval a, mc_interval b) {
    const mc_big low = smaller_big(&a.low, &b.low), high = larger_big(&a.high, &b.high);
    return interval_between(&low, &high);
}

/* ---- comparing ---- */

bool mc_iv_is_point(mc_interval a) {
    return a.lo == a.hi;
}

bool mc_iv_is_zero(const mc_interval *a) {
    return a->low.sign == 0 && a->high.sign == 0;
}

static bool is_one_number(const mc_interval *a) {
    return mc_big_is_finite(&a->low) && mc_big_is_finite(&a->high) && mc_big_compare(&a->low, &a->high) == 0;
}

bool mc_iv_equal(const mc_interval *a, const mc_interval *b) {
    if (mc_iv_is_zero(a) && mc_iv_is_zero(b))
        return true;
    if (a->hi < b->lo || b->hi < a->lo)
        return false;
    const mc_interval difference = mc_iv_sub(*a, *b);
    return mc_iv_is_zero(&difference);
}

bool mc_iv_at_least(mc_interval a, mc_interval b) {
    return mc_big_compare(&a.low, &b.high) >= 0 || mc_iv_equal(&a, &b);
}

/* ---- how near to 0 a number can be ---- */

/* Beyond these, more bits would be needed than there are. */
enum { DEGREE_MAX = 64, BITS_MAX = 1 << 20 };

static mc_separation checked_separation(int64_t degree, int64_t u, int64_t l, int64_t shift) {
    if (degree < 1 || degree > DEGREE_MAX || u > BITS_MAX || l > BITS_MAX || shift > BITS_MAX)
        return (mc_separation){0};
    return (mc_separation){(int)degree, (int)u, (int)l, (int)shift};
}

/* A single point is a whole number divided by a power of 2. */
static mc_separation separation_of(const mc_interval *a) {
    if (a->apart.degree || !is_one_number(a))
        return a->apart;
    if (a->low.sign == 0)
        return (mc_separation){.degree = 1};
    const int64_t shift = mc_max_count(0, -mc_big_low(&a->low));
    return checked_separation(1, mc_big_top(&a->low) + shift, 0, shift);
}

static mc_separation of_sum(mc_separation a, mc_separation b) {
    const int64_t shift = mc_max_count(a.shift, b.shift);
    return checked_separation((int64_t)a.degree * b.degree,
                              1 + mc_max_count(a.u + b.l + shift - a.shift, b.u + a.l + shift - b.shift),
                              (int64_t)a.l + b.l, shift);
}

static mc_separation of_product(mc_separation a, mc_separation b) {
    return checked_separation((int64_t)a.degree * b.degree, (int64_t)a.u + b.u, (int64_t)a.l + b.l,
                              (int64_t)a.shift + b.shift);
}

static mc_separation of_quotient(mc_separation a, mc_separation b) {
    return checked_separation((int64_t)a.degree * b.degree, (int64_t)a.u + b.l + b.shift, (int64_t)a.l + b.u, a.shift);
}

/* The root of U / (2^s L) is the root of U L 2^(s mod 2), divided by 2^((s + 1) / 2) L. */
static mc_separation of_root(mc_separation a) {
    return checked_separation(2 * (int64_t)a.degree, ((int64_t)a.u + a.l + 2) / 2, a.l, ((int64_t)a.shift + 1) / 2);
}

static mc_separation of_power(mc_separation a, double n) {
    return n > BITS_MAX ? (mc_separation){0}
                        : checked_separation(a.degree, a.u * (int64_t)n, a.l * (int64_t)n, a.shift * (int64_t)n);
}

static bool is_below(const mc_big *a, int64_t exponent) {
    return a->sign == 0 || (a->digits > 0 && mc_big_top(a) <= exponent);
}

/* The interval with its bound, and 0 where it can be nothing else. */
static mc_interval with_bound(mc_interval a, mc_separation s) {
    const int64_t bound = -((s.degree - 1) * (int64_t)s.u + s.l + s.shift);
    a.apart = s;
    return s.degree && a.low.sign <= 0 && a.high.sign >= 0 && is_below(&a.low, bound) && is_below(&a.high, bound)
               ? mc_iv(0)
               : a;
}

/* ---- the four operations ---- */

mc_interval mc_iv_add(mc_interval a, mc_interval b) {
    if (mc_iv_is_zero(&a) || mc_iv_is_zero(&b))
        return mc_iv_is_zero(&a) ? b : a;
    const mc_big low = mc_big_add(&a.low, &b.low, MC_DOWN), high = mc_big_add(&a.high, &b.high, MC_UP);
    return with_bound(interval_between(&low, &high), of_sum(separation_of(&a), separation_of(&b)));
}

mc_interval mc_iv_neg(mc_interval a) {
    return (mc_interval){-a.hi, -a.lo, mc_big_negate(&a.high), mc_big_negate(&a.low), a.apart};
}

mc_interval mc_iv_sub(mc_interval a, mc_interval b) {
    return mc_iv_add(a, mc_iv_neg(b));
}

typedef mc_big operation(const mc_big *a, const mc_big *b, mc_rounding side);

/* The least and the largest of what the ends give. */
static mc_interval over_ends(operation *f, const mc_interval *a, const mc_interval *b) {
    const mc_big *const x[] = {&a->low, &a->low, &a->high, &a->high};
    const mc_big *const y[] = {&b->low, &b->high, &b->low, &b->high};
    mc_big low = f(x[0], y[0], MC_DOWN), high = f(x[0], y[0], MC_UP);
    for (int i = 1; i < 4; i++) {
        const mc_big down = f(x[i], y[i], MC_DOWN), up = f(x[i], y[i], MC_UP);
        low = smaller_big(&low, &down);
        high = larger_big(&high, &up);
    }
    return interval_between(&low, &high);
}

static mc_interval multiply_intervals(const mc_interval *a, const mc_interval *b) {
    if (a->low.sign < 0 || b->low.sign < 0)
        return over_ends(mc_big_multiply, a, b);
    const mc_big low = mc_big_multiply(&a->low, &b->low, MC_DOWN), high = mc_big_multiply(&a->high, &b->high, MC_UP);
    return interval_between(&low, &high);
}

mc_interval mc_iv_mul(mc_interval a, mc_interval b) {
    if (mc_iv_is_zero(&a) || mc_iv_is_zero(&b))
        return mc_iv(0); /* also 0 * infinity: the infinity stands for arbitrarily large numbers */
    return with_bound(multiply_intervals(&a, &b), of_product(separation_of(&a), separation_of(&b)));
}

static mc_interval divide_intervals(const mc_interval *a, const mc_interval *b) {
    if (a->low.sign < 0 || b->low.sign < 0)
        return over_ends(mc_big_divide, a, b);
    const mc_big low = mc_big_divide(&a->low, &b->high, MC_DOWN), high = mc_big_divide(&a->high, &b->low, MC_UP);
    return interval_between(&low, &high);
}

mc_interval mc_iv_div(mc_interval a, mc_interval b) {
    if (b.low.sign <= 0 && b.high.sign >= 0)
        return mc_iv_everything();
    return with_bound(divide_intervals(&a, &b), of_quotient(separation_of(&a), separation_of(&b)));
}

mc_interval mc_iv_abs(mc_interval a) {
    if (a.low.sign >= 0)
        return a;
    const mc_interval minus = mc_iv_neg(a);
    const mc_big zero = {0}, high = larger_big(&minus.high, &a.high);
    return a.high.sign <= 0 ? minus : interval_between(&zero, &high);
}

mc_interval mc_iv_square(mc_interval a) {
    return mc_iv_power(a, 2);
}

mc_interval mc_iv_min(mc_interval a, mc_interval b) {
    const mc_big low = smaller_big(&a.low, &b.low), high = smaller_big(&a.high, &b.high);
    return interval_between(&low, &high);
}

mc_interval mc_iv_max(mc_interval a, mc_interval b) {
    const mc_big low = larger_big(&a.low, &b.low), high = larger_big(&a.high, &b.high);
    return interval_between(&low, &high);
}

/* ---- roots ---- */

/* Near enough to the root of a for Heron's steps: a = t 2^(64 k), t taken as a double. */
static mc_big rough_root(const mc_big *a) {
    mc_big t = *a;
    const int64_t k = (a->exponent + a->digits - 1) / 2;
    t.exponent -= 2 * k;
    mc_big s = mc_big_of(sqrt(mc_big_to_double(&t, MC_DOWN)));
    s.exponent += k;
    return s;
}

/* The root lies between any s > 0 and a / s. */
static mc_interval root_of_number(const mc_big *a) {
    enum { STEPS = 5 }; /* from 50 right bits to 1,600 */
    if (a->sign <= 0 || a->digits == 0)
        return interval_between(a, a);
    const mc_big half = mc_big_of(0.5);
    mc_big s = rough_root(a), other = mc_big_divide(a, &s, MC_UP);
    for (int i = 0; i < STEPS && mc_big_compare(&s, &other) != 0; i++) {
        const mc_big sum = mc_big_add(&s, &other, MC_UP);
        s = mc_big_multiply(&sum, &half, MC_UP);
        other = mc_big_divide(a, &s, MC_UP);
    }
    const mc_big down = mc_big_divide(a, &s, MC_DOWN), low = smaller_big(&s, &down), high = larger_big(&s, &other);
    return interval_between(&low, &high);
}

mc_interval mc_iv_sqrt(mc_interval a) {
    if (a.high.sign < 0)
        return mc_iv_everything();
    const mc_big zero = {0}, from = larger_big(&a.low, &zero);
    const mc_interval low = root_of_number(&from), high = root_of_number(&a.high);
    return with_bound(interval_between(&low.low, &high.high), of_root(separation_of(&a)));
}

/* ---- powers ---- */

/* a^n for a >= 0, by squaring. */
static mc_interval whole_power(mc_interval a, double n) {
    mc_interval r = mc_iv(1);
    for (; n >= 1; n = floor(n / 2)) {
        if (fmod(n, 2) == 1)
            r = multiply_intervals(&r, &a);
        a = multiply_intervals(&a, &a);
    }
    return r;
}

static mc_interval signed_power(mc_interval a, double n) {
    if (a.low.sign >= 0)
        return whole_power(a, n);
    if (fmod(n, 2) == 0)
        return whole_power(mc_iv_abs(a), n);
    const mc_interval zero = mc_iv(0);
    const mc_interval below = whole_power(mc_iv_max(mc_iv_neg(a), zero), n), above = whole_power(mc_iv_max(a, zero), n);
    return mc_iv_sub(above, below);
}

/* a^p for p = whole + eighths: products of square roots, about which more is known than about other powers. */
static mc_interval power_of_roots(mc_interval a, double p) {
    mc_interval r = mc_iv_power(a, floor(p)), root = a;
    for (double rest = p - floor(p); rest > 0; rest = fmod(2 * rest, 1)) {
        root = mc_iv_sqrt(root);
        if (2 * rest >= 1)
            r = mc_iv_mul(r, root);
    }
    return r;
}

static mc_interval real_power(mc_interval a, double p) {
    const mc_interval zero = mc_iv(0);
    if (mc_iv_is_point(a) && (a.lo == 0 || a.lo == 1))
        return a;
    const mc_interval upper = mc_iv_exp(mc_iv_mul(mc_iv(p), mc_iv_log(a)));
    return a.low.sign > 0 ? upper : mc_iv_hull(zero, upper);
}

mc_interval mc_iv_power(mc_interval a, double exponent) {
    if (exponent < 0)
        return mc_iv_div(mc_iv(1), mc_iv_power(a, -exponent));
    if (exponent == floor(exponent))
        return with_bound(signed_power(a, exponent), of_power(separation_of(&a), exponent));
    if (a.low.sign < 0)
        return mc_iv_everything();
    return 8 * exponent == floor(8 * exponent) ? power_of_roots(a, exponent) : real_power(a, exponent);
}
