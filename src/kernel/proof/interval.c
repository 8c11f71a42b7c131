/* interval.c: ends of an interval rounded outwards without touching the rounding mode.

   Let s = fl(a + b). Two-sum (Knuth) gives the exact error e = (a + b) - s, so the lower end is s when e >= 0 and the
   double below s otherwise. Products, quotients and roots do the same with the remainder a fused multiply-add delivers,
   which is exact unless it underflows; results near the underflow threshold are therefore always widened. Upper ends
   are minus the lower end of the negation. */
#include "kernel/proof/interval.h"
#include <float.h>
#include <math.h>

enum { LIBM_ULPS = 4 }; /* glibc documents at most 2 for the functions used here */
static const double TINY = 0x1p-900;

mc_interval mc_iv(double value) {
    return isnan(value) ? mc_iv_everything() : (mc_interval){value, value};
}

mc_interval mc_iv_of(double lo, double hi) {
    return lo <= hi ? (mc_interval){lo, hi} : mc_iv_everything();
}

mc_interval mc_iv_everything(void) {
    return (mc_interval){-INFINITY, INFINITY};
}

mc_interval mc_iv_hull(mc_interval a, mc_interval b) {
    return (mc_interval){fmin(a.lo, b.lo), fmax(a.hi, b.hi)};
}

bool mc_iv_is_point(mc_interval a) {
    return a.lo == a.hi;
}

bool mc_iv_equal_points(mc_interval a, mc_interval b) {
    return mc_iv_is_point(a) && mc_iv_is_point(b) && a.lo == b.lo;
}

static double down(double x) {
    return nextafter(x, -INFINITY);
}

/* A result that overflowed to +infinity is still above every finite double; NaN (infinity - infinity) tells nothing. */
static double lower_of_infinite(double x, bool finite_operands) {
    if (isnan(x))
        return -INFINITY;
    return x > 0 && finite_operands ? DBL_MAX : x;
}

static double add_down(double a, double b) {
    const double s = a + b;
    if (!isfinite(s))
        return lower_of_infinite(s, isfinite(a) && isfinite(b));
    const double t = s - a, error = (a - (s - t)) + (b - t);
    return error < 0 ? down(s) : s;
}

static double mul_down(double a, double b) {
    if (a == 0 || b == 0)
        return 0; /* also 0 * infinity: the infinity stands for arbitrarily large numbers */
    const double p = a * b;
    if (!isfinite(p))
        return lower_of_infinite(p, isfinite(a) && isfinite(b));
    return fabs(p) < TINY || fma(a, b, -p) < 0 ? down(p) : p;
}

static double div_down(double a, double b) {
    if (a == 0 || (isinf(b) && isfinite(a)))
        return 0;
    const double q = a / b;
    if (!isfinite(q))
        return lower_of_infinite(q, isfinite(a) && b != 0);
    const double rest = fma(-q, b, a); /* the exact quotient is q + rest / b */
    return fabs(a) < TINY || fabs(q) < TINY || (rest < 0) != (b < 0) ? down(q) : q;
}

static double add_up(double a, double b) {
    return -add_down(-a, -b);
}

static double mul_up(double a, double b) {
    return -mul_down(-a, b);
}

static double div_up(double a, double b) {
    return -div_down(-a, b);
}

mc_interval mc_iv_add(mc_interval a, mc_interval b) {
    return (mc_interval){add_down(a.lo, b.lo), add_up(a.hi, b.hi)};
}

mc_interval mc_iv_neg(mc_interval a) {
    return (mc_interval){-a.hi, -a.lo};
}

mc_interval mc_iv_sub(mc_interval a, mc_interval b) {
    return mc_iv_add(a, mc_iv_neg(b));
}

mc_interval mc_iv_mul(mc_interval a, mc_interval b) {
    const double lo =
        fmin(fmin(mul_down(a.lo, b.lo), mul_down(a.lo, b.hi)), fmin(mul_down(a.hi, b.lo), mul_down(a.hi, b.hi)));
    const double hi = fmax(fmax(mul_up(a.lo, b.lo), mul_up(a.lo, b.hi)), fmax(mul_up(a.hi, b.lo), mul_up(a.hi, b.hi)));
    return (mc_interval){lo, hi};
}

mc_interval mc_iv_div(mc_interval a, mc_interval b) {
    if (b.lo <= 0 && b.hi >= 0)
        return mc_iv_everything();
    const double lo =
        fmin(fmin(div_down(a.lo, b.lo), div_down(a.lo, b.hi)), fmin(div_down(a.hi, b.lo), div_down(a.hi, b.hi)));
    const double hi = fmax(fmax(div_up(a.lo, b.lo), div_up(a.lo, b.hi)), fmax(div_up(a.hi, b.lo), div_up(a.hi, b.hi)));
    return (mc_interval){lo, hi};
}

mc_interval mc_iv_abs(mc_interval a) {
    if (a.lo >= 0)
        return a;
    return a.hi <= 0 ? mc_iv_neg(a) : (mc_interval){0, fmax(-a.lo, a.hi)};
}

mc_interval mc_iv_square(mc_interval a) {
    const mc_interval b = mc_iv_abs(a);
    return mc_iv_mul(b, b);
}

static double sqrt_side(double x, int side) {
    const double s = sqrt(x);
    if (x == 0 || isinf(x))
        return s;
    const double rest = fma(-s, s, x);
    return x < TINY || rest * side > 0 ? nextafter(s, side > 0 ? INFINITY : -INFINITY) : s;
}

mc_interval mc_iv_sqrt(mc_interval a) {
    if (a.hi < 0)
        return mc_iv_everything();
    return (mc_interval){sqrt_side(fmax(a.lo, 0), -1), sqrt_side(a.hi, 1)};
}

mc_interval mc_iv_min(mc_interval a, mc_interval b) {
    return (mc_interval){fmin(a.lo, b.lo), fmin(a.hi, b.hi)};
}

mc_interval mc_iv_max(mc_interval a, mc_interval b) {
    return (mc_interval){fmax(a.lo, b.lo), fmax(a.hi, b.hi)};
}

/* ---- elementary functions ---- */

static mc_interval widen(double lo, double hi, double floor, double ceiling) {
    for (int i = 0; i < LIBM_ULPS; i++) {
        lo = nextafter(lo, -INFINITY);
        hi = nextafter(hi, INFINITY);
    }
    return (mc_interval){fmax(lo, floor), fmin(hi, ceiling)};
}

/* An increasing function through its ends; exact where the argument is the point at which the function is known
   exactly. */
static mc_interval increasing(double f(double), mc_interval a, double known_at, double known, double floor,
                              double ceiling) {
    if (a.lo == known_at && a.hi == known_at)
        return mc_iv(known);
    mc_interval r = widen(f(a.lo), f(a.hi), floor, ceiling);
    if (a.lo >= known_at)
        r.lo = fmax(r.lo, known);
    if (a.hi <= known_at)
        r.hi = fmin(r.hi, known);
    return r;
}

mc_interval mc_iv_exp(mc_interval a) {
    return increasing(exp, a, 0, 1, 0, INFINITY);
}

mc_interval mc_iv_log(mc_interval a) {
    return a.lo < 0 ? mc_iv_everything() : increasing(log, a, 1, 0, -INFINITY, INFINITY);
}

mc_interval mc_iv_tanh(mc_interval a) {
    return increasing(tanh, a, 0, 0, -1, 1);
}

mc_interval mc_iv_pi(void) {
    return (mc_interval){0x1.921fb54442d18p+1, 0x1.921fb54442d19p+1};
}

/* |f'| <= 1, so the value at the middle is off by at most the half width. */
static mc_interval lipschitz(double f(double), mc_interval a) {
    const double middle = a.lo + (a.hi - a.lo) / 2, half = fmax(add_up(a.hi, -middle), add_up(middle, -a.lo));
    if (!(half < 4))
        return (mc_interval){-1, 1};
    const mc_interval r = widen(f(middle), f(middle), -1, 1);
    return (mc_interval){fmax(add_down(r.lo, -half), -1), fmin(add_up(r.hi, half), 1)};
}

mc_interval mc_iv_sin(mc_interval a) {
    return a.lo == 0 && a.hi == 0 ? mc_iv(0) : lipschitz(sin, a);
}

mc_interval mc_iv_cos(mc_interval a) {
    return a.lo == 0 && a.hi == 0 ? mc_iv(1) : lipschitz(cos, a);
}

mc_interval mc_iv_acos(mc_interval a) {
    const double lo = fmin(fmax(a.lo, -1), 1), hi = fmin(fmax(a.hi, -1), 1);
    mc_interval r = widen(acos(hi), acos(lo), 0, mc_iv_pi().hi);
    if (lo == 1)
        r.hi = 0;
    return r;
}

static mc_interval power_positive(mc_interval a, double p) {
    if (a.lo == a.hi && (a.lo == 0 || a.lo == 1))
        return a;
    const double at_lo = pow(a.lo, p), at_hi = pow(a.hi, p);
    return widen(fmin(at_lo, at_hi), fmax(at_lo, at_hi), 0, INFINITY);
}

/* Small whole powers by products, which stay exact when they can. */
static mc_interval power_small(mc_interval a, int n) {
    mc_interval r = mc_iv(1);
    for (int i = 0; i < n; i++)
        r = mc_iv_mul(r, a);
    return r;
}

static mc_interval power_whole(mc_interval a, double p) {
    const bool even = fmod(p, 2) == 0;
    const mc_interval b = even ? mc_iv_abs(a) : a;
    if (p <= 32)
        return power_small(b, (int)p);
    if (b.lo >= 0)
        return power_positive(b, p);
    const mc_interval low = power_positive(mc_iv(-b.lo), p), high = power_positive(mc_iv(fabs(b.hi)), p);
    return b.hi >= 0 ? (mc_interval){-low.hi, high.hi} : (mc_interval){-low.hi, -high.lo};
}

mc_interval mc_iv_power(mc_interval a, double exponent) {
    if (exponent < 0)
        return mc_iv_div(mc_iv(1), mc_iv_power(a, -exponent));
    if (exponent == floor(exponent))
        return power_whole(a, exponent);
    if (exponent == 0.5 && a.lo >= 0)
        return mc_iv_sqrt(a);
    if (a.lo < 0)
        return mc_iv_everything();
    return power_positive(a, exponent);
}
