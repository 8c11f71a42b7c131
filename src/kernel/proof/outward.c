/* outward.c: ends of an interval rounded outwards without touching the rounding mode.

   Let s = fl(a + b). Two-sum (Knuth) gives the exact error e = (a + b) - s, so the lower end is s when e >= 0 and the
   double below s otherwise. Products and quotients do the same with the remainder a fused multiply-add delivers, which
   is exact unless it underflows; results near the underflow threshold are therefore always widened. Upper ends are
   minus the lower end of the negation. */
#include "kernel/proof/outward.h"
#include <float.h>
#include <math.h>
#include <stdbool.h>

static const double TINY = 0x1p-900;

static double next_below(double x) {
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
    return error < 0 ? next_below(s) : s;
}

static double mul_down(double a, double b) {
    if (a == 0 || b == 0)
        return 0; /* also 0 * infinity: the infinity stands for arbitrarily large numbers */
    const double p = a * b;
    if (!isfinite(p))
        return lower_of_infinite(p, isfinite(a) && isfinite(b));
    return fabs(p) < TINY || fma(a, b, -p) < 0 ? next_below(p) : p;
}

static double div_down(double a, double b) {
    if (a == 0 || (isinf(b) && isfinite(a)))
        return 0;
    const double q = a / b;
    if (!isfinite(q))
        return lower_of_infinite(q, isfinite(a) && b != 0);
    const double rest = fma(-q, b, a); /* the exact quotient is q + rest / b */
    return fabs(a) < TINY || fabs(q) < TINY || (rest < 0) != (b < 0) ? next_below(q) : q;
}

static double mul_up(double a, double b) {
    return -mul_down(-a, b);
}

static double div_up(double a, double b) {
    return -div_down(-a, b);
}

mc_bounds mc_bounds_sub(mc_bounds a, mc_bounds b) {
    return (mc_bounds){add_down(a.lo, -b.hi), -add_down(-a.hi, b.lo)};
}

mc_bounds mc_bounds_mul(mc_bounds a, mc_bounds b) {
    const double lo =
        fmin(fmin(mul_down(a.lo, b.lo), mul_down(a.lo, b.hi)), fmin(mul_down(a.hi, b.lo), mul_down(a.hi, b.hi)));
    const double hi = fmax(fmax(mul_up(a.lo, b.lo), mul_up(a.lo, b.hi)), fmax(mul_up(a.hi, b.lo), mul_up(a.hi, b.hi)));
    return (mc_bounds){lo, hi};
}

mc_bounds mc_bounds_div(mc_bounds a, mc_bounds b) {
    if (b.lo <= 0 && b.hi >= 0)
        return (mc_bounds){-INFINITY, INFINITY};
    const double lo =
        fmin(fmin(div_down(a.lo, b.lo), div_down(a.lo, b.hi)), fmin(div_down(a.hi, b.lo), div_down(a.hi, b.hi)));
    const double hi = fmax(fmax(div_up(a.lo, b.lo), div_up(a.lo, b.hi)), fmax(div_up(a.hi, b.lo), div_up(a.hi, b.hi)));
    return (mc_bounds){lo, hi};
}
