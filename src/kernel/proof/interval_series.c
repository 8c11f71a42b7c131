/* interval_series.c: the functions of power_series.h in interval arithmetic, and the coefficients of their series. All
   of them are increasing from 0 on, logarithmic and arcsin everywhere; bessel_i0 is even. */
#include "kernel/proof/interval.h"
#include <float.h>
#include <math.h>

enum { WORK = 9 }; /* digits of 32 bits */

static mc_interval round_to_working(mc_interval a) {
    return mc_iv_round(&a, WORK);
}

/* ---- values at one number ---- */

/* asin(t) = 2 asin(t/sqrt(2 + 2 sqrt(1 - t^2))), twelve times, until the series has no more than a few terms:
   r (1 + w/6 + 3 w^2/40 + ...); what is left of it is in [0, 1] times the next power. */
static mc_interval arcsine_from_zero(mc_interval t) {
    enum { HALVINGS = 12, TERMS = 10 };
    const mc_interval one = mc_iv(1), two = mc_iv(2);
    mc_interval r = t;
    for (int i = 0; i < HALVINGS; i++) {
        const mc_interval cosine = mc_iv_sqrt(mc_iv_sub(one, mc_iv_square(r)));
        r = round_to_working(mc_iv_div(r, mc_iv_sqrt(mc_iv_add(two, mc_iv_mul(two, cosine)))));
    }
    const mc_interval w = round_to_working(mc_iv_square(r));
    mc_interval s = mc_iv_of(0, 1);
    for (int n = TERMS; n >= 0; n--)
        s = round_to_working(mc_iv_add(mc_series_coefficient(MC_ARCSIN, 2 * n + 1), mc_iv_mul(w, s)));
    return mc_iv_mul(mc_iv(ldexp(1, HALVINGS)), mc_iv_mul(r, s));
}

static mc_interval arcsine_of(mc_interval t) {
    if (mc_iv_is_zero(&t))
        return mc_iv(0);
    return t.high.sign > 0 ? arcsine_from_zero(t) : mc_iv_neg(arcsine_from_zero(mc_iv_neg(t)));
}

static mc_interval logarithmic_of(mc_interval t) {
    const mc_interval rest = mc_iv_sub(mc_iv(1), t);
    return mc_iv_is_zero(&rest) ? mc_iv_of(DBL_MAX, INFINITY) : mc_iv_neg(mc_iv_log(rest));
}

/* sum q^n/n!^2 = 1 + q/1 (1 + q/4 (1 + q/9 (1 + ...))), q = t^2/4; from n > |t| on what is left is in [1, 2]. */
static mc_interval bessel_of(mc_interval t) {
    const double size = fmax(fabs(t.lo), fabs(t.hi));
    if (!(size < 1000))
        return mc_iv_of(1, INFINITY);
    const mc_interval q = round_to_working(mc_iv_div(mc_iv_square(t), mc_iv(4)));
    mc_interval s = mc_iv_of(1, 2);
    for (int n = (int)(2 * size) + 60; n >= 1; n--)
        s = round_to_working(mc_iv_add(mc_iv(1), mc_iv_div(mc_iv_mul(q, s), mc_iv((double)n * n))));
    return s;
}

/* ---- intervals ---- */

/* From the values at both ends; f is increasing on [low, high]. */
static mc_interval between_ends(mc_interval f(mc_interval), mc_interval a, double low, double high) {
    const mc_interval inside = mc_iv_min(mc_iv_max(a, mc_iv(low)), mc_iv(high));
    if (a.lo > high || a.hi < low)
        return mc_iv_everything();
    const mc_interval first = f(mc_iv_between(&inside.low, &inside.low));
    if (mc_big_compare(&inside.low, &inside.high) == 0)
        return first;
    const mc_interval last = f(mc_iv_between(&inside.high, &inside.high));
    return mc_iv_between(&first.low, &last.high);
}

mc_interval mc_iv_series(mc_series series, mc_interval a) {
    if (series == MC_BESSEL_I0)
        return between_ends(bessel_of, mc_iv_abs(a), 0, INFINITY);
    return series == MC_ARCSIN ? between_ends(arcsine_of, a, -1, 1) : between_ends(logarithmic_of, a, -INFINITY, 1);
}

/* ---- coefficients ---- */

/* C(2k, k)/4^k */
static mc_interval central_binomial(int k) {
    mc_interval c = mc_iv(1);
    for (int i = 1; i <= k; i++)
        c = mc_iv_div(mc_iv_mul(c, mc_iv(2 * i - 1)), mc_iv(2 * i));
    return c;
}

/* 1/(4^m m!^2) */
static mc_interval bessel_coefficient(int m) {
    mc_interval c = mc_iv(1);
    for (int i = 1; i <= m; i++)
        c = mc_iv_div(c, mc_iv(4.0 * i * i));
    return c;
}

mc_interval mc_series_coefficient(mc_series series, int n) {
    if (series == MC_LOGARITHMIC)
        return n ? mc_iv_div(mc_iv(1), mc_iv(n)) : mc_iv(0);
    if (n % 2 != (series == MC_ARCSIN))
        return mc_iv(0);
    return series == MC_ARCSIN ? mc_iv_div(central_binomial(n / 2), mc_iv(n)) : bessel_coefficient(n / 2);
}
