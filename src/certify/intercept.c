/* intercept.c: bounds on the intercept from a bound on the function.

   Strong convexity says how far f is from the optimal f*, and nothing of b. But b* is a minimum of the convex function
   phi(b) = sum_i l_i(f*(x_i) + b) + slope b, so that phi'(b* -) <= 0 <= phi'(b* +). Slopes of l_i rise with F and
   f*(x_i) lies within f(x_i) +- doubt_i: where

       sum_i l_i'(f(x_i) + doubt_i + b +) + slope < 0,   phi falls at b whatever f* is, and b* > b,
       sum_i l_i'(f(x_i) - doubt_i + b -) + slope > 0,   phi rises, and b* < b.

   Both sums rise with b. Steps away from the intercept in question, doubled until the sign is certain and then halved,
   enclose every b*. The sums are believed where they exceed their rounding; that of F widens the doubt. */
#include "certify/intercept.h"
#include <float.h>
#include <math.h>
#include <stdbool.h>

/* Every look goes over all rows: leaps of 16 come near the place in a third of the looks that doubling takes. */
enum { LEAP = 16, LEAPS = 32, NARROWINGS = 2, HALVINGS = 6 };

/* Whether every optimal intercept is certain to lie above (side 1), or below (-1), this place. */
static bool is_certain(const mc_intercept *p, double at, int side) {
    long double sum = p->slope, size = fabs(p->slope);
    for (int64_t i = 0; i < p->n; i++) {
        double doubt, low, high;
        const double f = p->value(p->self, i, &doubt);
        doubt += 4 * DBL_EPSILON * (fabs(f) + fabs(at) + doubt);
        p->slopes(p->self, i, f + side * doubt + at, &low, &high);
        const double slope = side > 0 ? high : low;
        if (isinf(slope) && side * slope < 0)
            return true; /* a constraint, broken for certain */
        sum += slope;
        size += fabs(slope);
    }
    return side * sum < -(16 * (long double)DBL_EPSILON + (long double)p->n * LDBL_EPSILON) * size;
}

/* A step to that side beyond which no optimal intercept lies. */
static double reach_of(const mc_intercept *p, int side, double first) {
    double step = first, less = 0;
    int k = 0;
    for (; k < LEAPS && !is_certain(p, p->b - side * step, side); k++) {
        less = step;
        step *= LEAP;
    }
    if (k == LEAPS)
        return INFINITY;
    for (k = 0; k < NARROWINGS + HALVINGS; k++) {
        const double middle = k < NARROWINGS ? sqrt(less) * sqrt(step) : less + (step - less) / 2;
        if (middle > less && middle < step)
            *(is_certain(p, p->b - side * middle, side) ? &step : &less) = middle;
    }
    return step;
}

/* Where to look first: no bound is much less than the least doubt. */
static double first_step(const mc_intercept *p) {
    double least = INFINITY, size = fabs(p->b);
    for (int64_t i = 0; i < p->n; i++) {
        double doubt;
        size = fmax(size, fabs(p->value(p->self, i, &doubt)));
        least = fmin(least, doubt);
    }
    return fmax(least, DBL_EPSILON * size + DBL_MIN);
}

double mc_intercept_bound(const mc_intercept *p) {
    const double first = first_step(p);
    return isfinite(first) ? fmax(reach_of(p, 1, first), reach_of(p, -1, first)) : INFINITY;
}
