/* interval_functions.c: exp, log, tanh, sin and cos to 192 bits and more, log Gamma to 100, by series whose tails are
   bounded; acos and
   what lies in wide intervals by the C library, widened by more than its documented error.

   All series are summed from the far end, s <- c_n + t s, and start with an interval that holds what is left of them;
   every step rounds outwards, so the result holds the exact value whatever the number of terms. */
#include "kernel/proof/interval.h"
#include <float.h>
#include <math.h>

enum { WORK = 9, RESULT = 7 }; /* digits of 32 bits */
enum { LIBM_ULPS = 4 };        /* glibc documents at most 2 for the functions used here */

static mc_interval round_to_working(mc_interval a) {
    return mc_iv_round(&a, WORK);
}

static mc_interval round_to_result(mc_interval a) {
    return mc_iv_round(&a, RESULT);
}

static mc_interval divide_by_integer(mc_interval a, int n) {
    return mc_iv_div(a, mc_iv(n));
}

/* An increasing function from its values at the ends. */
static mc_interval apply_increasing(mc_interval f(const mc_big *), const mc_interval *a) {
    const mc_interval low = f(&a->low);
    if (mc_big_compare(&a->low, &a->high) == 0)
        return low;
    const mc_interval high = f(&a->high);
    return mc_iv_between(&low.low, &high.high);
}

/* ---- exp ---- */

/* exp(x) = exp(x / 2^k)^(2^k), and exp(r) = 1 + r (1 + r/2 (1 + ... r/n T)) with T in [1, 2] for 0 <= r < 1/2. */
static mc_interval exp_of_positive(const mc_big *x) {
    enum { TERMS = 15, SMALL = 16 };
    const int64_t top = mc_big_top(x);
    if (top > 40)
        return mc_iv_of(DBL_MAX, INFINITY);
    const int halvings = top > -SMALL ? (int)top + SMALL : 0;
    const mc_interval r = round_to_working(mc_iv_mul(mc_iv_between(x, x), mc_iv(ldexp(1, -halvings))));
    mc_interval s = mc_iv_of(1, 2);
    for (int n = TERMS; n >= 1; n--)
        s = round_to_working(mc_iv_add(mc_iv(1), divide_by_integer(mc_iv_mul(r, s), n)));
    for (int i = 0; i < halvings; i++)
        s = round_to_working(mc_iv_mul(s, s));
    return s;
}

static mc_interval exp_of_number(const mc_big *x) {
    if (x->sign == 0)
        return mc_iv(1);
    if (x->digits == 0)
        return x->sign > 0 ? mc_iv_between(x, x) : mc_iv(0);
    const mc_big size = x->sign > 0 ? *x : mc_big_negate(x);
    const mc_interval s = exp_of_positive(&size);
    return round_to_result(x->sign > 0 ? s : mc_iv_div(mc_iv(1), s));
}

mc_interval mc_iv_exp(mc_interval a) {
    return apply_increasing(exp_of_number, &a);
}

/* ---- log ---- */

/* In double, with the exponent apart. */
static double rough_log(const mc_big *a) {
    mc_big t = *a;
    t.exponent = 1 - t.digits;
    return log(mc_big_to_double(&t, MC_DOWN)) + 32 * log(2) * (double)(a->exponent + a->digits - 1);
}

/* log(t) for t near 1: 2 z (1 + w/3 + w^2/5 + ...) with z = (t - 1)/(t + 1), w = z^2; what is left is in [0, 1]. */
static mc_interval log_near_one(mc_interval t) {
    enum { TERMS = 8 };
    const mc_interval z = mc_iv_div(mc_iv_sub(t, mc_iv(1)), mc_iv_add(t, mc_iv(1))),
                      w = round_to_working(mc_iv_square(z));
    mc_interval s = mc_iv_of(0, 1);
    if (!(w.hi < 0x1p-40))
        return mc_iv_everything();
    for (int n = TERMS - 1; n >= 0; n--)
        s = round_to_working(mc_iv_add(divide_by_integer(mc_iv(1), 2 * n + 1), mc_iv_mul(w, s)));
    return mc_iv_mul(mc_iv_mul(mc_iv(2), z), s);
}

static mc_interval log_of_number(const mc_big *a) {
    const mc_big one = mc_big_of(1);
    if (a->sign == 0)
        return mc_iv_of(-INFINITY, -DBL_MAX);
    if (a->digits == 0 || mc_big_compare(a, &one) == 0)
        return a->digits ? mc_iv(0) : mc_iv_between(a, a);
    const mc_interval y = mc_iv(rough_log(a));
    const mc_interval near = round_to_working(mc_iv_mul(mc_iv_between(a, a), mc_iv_exp(mc_iv_neg(y))));
    return round_to_result(mc_iv_add(y, log_near_one(near)));
}

mc_interval mc_iv_log(mc_interval a) {
    return a.low.sign < 0 ? mc_iv_everything() : apply_increasing(log_of_number, &a);
}

/* ---- tanh ---- */

/* (exp(2x) - 1)/(exp(2x) + 1); for small x between x - x^3/3 and x. */
static mc_interval tanh_of_positive(const mc_big *x) {
    const mc_interval a = mc_iv_between(x, x), one = mc_iv(1);
    if (x->digits && mc_big_top(x) < -60) {
        const mc_interval below = mc_iv_sub(a, divide_by_integer(mc_iv_power(a, 3), 3));
        return mc_iv_between(&below.low, x);
    }
    if (x->digits == 0 || mc_big_top(x) > 40)
        return mc_iv_of(1 - DBL_EPSILON, 1);
    const mc_interval e = mc_iv_exp(mc_iv_mul(mc_iv(2), a));
    return mc_iv_min(mc_iv_sub(one, mc_iv_div(mc_iv(2), mc_iv_add(e, one))), one);
}

static mc_interval tanh_of_number(const mc_big *x) {
    const mc_big size = x->sign < 0 ? mc_big_negate(x) : *x;
    if (x->sign == 0)
        return mc_iv(0);
    const mc_interval t = tanh_of_positive(&size);
    return x->sign > 0 ? t : mc_iv_neg(t);
}

mc_interval mc_iv_tanh(mc_interval a) {
    return apply_increasing(tanh_of_number, &a);
}

/* ---- sin, cos ---- */

mc_interval mc_iv_pi(void) {
    mc_big low = {1,
                  11,
                  -10,
                  {0x38d01377, 0x452821e6, 0xec4e6c89, 0x082efa98, 0x299f31d0, 0xa4093822, 0x03707344, 0x13198a2e,
                   0x85a308d3, 0x243f6a88, 3}};
    mc_big high = low;
    high.digit[0]++;
    return mc_iv_between(&low, &high);
}

/* 1 - w/(a (a+1)) (1 - w/((a+2) (a+3)) (1 - ...)) for w < 2; what is left of it is in [0, 1]. */
static mc_interval alternating_series(mc_interval w, int a) {
    enum { TERMS = 24 };
    mc_interval s = mc_iv_of(0, 1);
    for (int n = TERMS - 1; n >= 0; n--) {
        const int first = a + 2 * n;
        s = round_to_working(mc_iv_sub(mc_iv(1), divide_by_integer(mc_iv_mul(w, s), first * (first + 1))));
    }
    return s;
}

static mc_interval clamp_to_unit(mc_interval a) {
    return mc_iv_max(mc_iv_min(a, mc_iv(1)), mc_iv(-1));
}

/* sin(r + quarters pi/2) */
static mc_interval sine_of_reduced(mc_interval r, double quarters) {
    const int turn = (int)(quarters - 4 * floor(quarters / 4));
    const mc_interval w = round_to_working(mc_iv_square(r));
    const mc_interval v = turn % 2 ? alternating_series(w, 1) : mc_iv_mul(r, alternating_series(w, 2));
    return clamp_to_unit(round_to_result(turn < 2 ? v : mc_iv_neg(v)));
}

static mc_interval widen_by_libm_error(double lo, double hi) {
    for (int i = 0; i < LIBM_ULPS; i++) {
        lo = nextafter(lo, -INFINITY);
        hi = nextafter(hi, INFINITY);
    }
    return mc_iv_of(lo, hi);
}

/* The slope is at most 1 in size, so the value at the middle is off by at most the half width. */
static mc_interval sine_of_wide(const mc_interval *a, int quarters) {
    const double middle = a->lo + (a->hi - a->lo) / 2, value = quarters ? cos(middle) : sin(middle);
    const double half = fmax(mc_iv_sub(mc_iv(a->hi), mc_iv(middle)).hi, mc_iv_sub(mc_iv(middle), mc_iv(a->lo)).hi);
    if (!(half < 4))
        return mc_iv_of(-1, 1);
    return clamp_to_unit(mc_iv_add(widen_by_libm_error(value, value), mc_iv_of(-half, half)));
}

/* sin(a + quarters pi/2) */
static mc_interval sine_of_shifted(const mc_interval *a, int quarters) {
    const double turns = nearbyint(a->lo / 1.5707963267948966);
    if (!(a->hi - a->lo < 1e-3) || !(fabs(turns) < 1e9))
        return sine_of_wide(a, quarters);
    const mc_interval r = mc_iv_sub(*a, mc_iv_mul(mc_iv(turns / 2), mc_iv_pi()));
    return sine_of_reduced(turns == 0 ? *a : round_to_working(r), turns + quarters);
}

mc_interval mc_iv_sin(mc_interval a) {
    return sine_of_shifted(&a, 0);
}

mc_interval mc_iv_cos(mc_interval a) {
    return sine_of_shifted(&a, 1);
}

mc_interval mc_iv_acos(mc_interval a) {
    const double lo = fmin(fmax(a.lo, -1), 1), hi = fmin(fmax(a.hi, -1), 1);
    const mc_interval r = widen_by_libm_error(acos(hi), acos(lo));
    return lo == 1 ? mc_iv(0) : mc_iv_max(mc_iv_min(r, mc_iv_pi()), mc_iv(0));
}

/* ---- log Gamma ---- */

/* log Gamma(y) = (y - 1/2) log y - y + log(2 pi)/2 + sum_k B_2k/(2k (2k-1) y^(2k-1)); what a partial sum leaves out is
   between 0 and the next term. */
static mc_interval stirling(mc_interval y) {
    static const double top[] = {1, -1, 1, -1, 1, -691, 1, -3617, 43867, -174611},
                        bottom[] = {12, 360, 1260, 1680, 1188, 360360, 156, 122400, 244188, 125400};
    enum { TERMS = sizeof top / sizeof top[0] };
    const mc_interval t = mc_iv_div(mc_iv(1), y), w = mc_iv_square(t);
    mc_interval s = mc_iv_of(0, 14); /* the next is 77683/5796 */
    for (int k = TERMS - 1; k >= 0; k--)
        s = mc_iv_add(mc_iv_div(mc_iv(top[k]), mc_iv(bottom[k])), mc_iv_mul(w, s));
    const mc_interval front = mc_iv_mul(mc_iv_sub(y, mc_iv(0.5)), mc_iv_log(y));
    const mc_interval root = mc_iv_div(mc_iv_log(mc_iv_mul(mc_iv(2), mc_iv_pi())), mc_iv(2));
    return mc_iv_add(mc_iv_add(mc_iv_sub(front, y), root), mc_iv_mul(t, s));
}

mc_interval mc_iv_log_gamma(mc_interval a) {
    enum { FAR = 40 };
    mc_interval below = mc_iv(1);
    if (!(a.lo > 0))
        return mc_iv_everything();
    while (a.lo < FAR) {
        below = mc_iv_mul(below, a);
        a = mc_iv_add(a, mc_iv(1));
    }
    return round_to_result(mc_iv_sub(stirling(a), mc_iv_log(below)));
}
