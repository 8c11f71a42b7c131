/* intercept.c: bounds on the intercept from a bound on the function.

   Strong convexity says how far f is from the optimal f*, and nothing of b. But b* is a minimum of the convex function
   phi(b) = sum_i l_i(f*(x_i) + b) + slope b, so that phi'(b* -) <= 0 <= phi'(b* +). Slopes of l_i rise with F and
   f*(x_i) lies within f(x_i) +- doubt_i: where

       sum_i l_i'(f(x_i) + doubt_i + b +) + slope < 0,   phi falls at b whatever f* is, and b* > b,
       sum_i l_i'(f(x_i) - doubt_i + b -) + slope > 0,   phi rises, and b* < b.

   Both sums rise with b. Steps away from the intercept in question, leaping until the sign is certain and then
   narrowed,
   enclose every b*. The sums are believed where they exceed their rounding; that of F widens the doubt. */
#include "certify/intercept.h"
#include <float.h>
#include <math.h>
#include <stdbool.h>

/* Every look goes over all rows: leaps of 16 come near the place in a third of the looks that doubling takes. */
enum { LEAP = 16, LEAPS = 32, LOOKS = 8 };
static const double PRECISE = 0.05; /* of a bound */
enum { BLOCK = 128, LANES = 8 };    /* rows at a time; sums of them that do not wait for each other */

/* Their sum and that of their sizes, each to within BLOCK / LANES + LANES roundings of the latter. */
static void add_slopes(const double *slope, int64_t count, long double *sum, long double *size) {
    double part[LANES] = {0}, sizes[LANES] = {0};
    const int64_t whole = count / LANES * LANES;
    for (int64_t i = 0; i < whole; i += LANES)
        for (int k = 0; k < LANES; k++) {
            part[k] += slope[i + k];
            sizes[k] += fabs(slope[i + k]);
        }
    for (int64_t i = whole; i < count; i++) {
        part[i - whole] += slope[i];
        sizes[i - whole] += fabs(slope[i]);
    }
    for (int k = 0; k < LANES; k++) {
        *sum += part[k];
        *size += sizes[k];
    }
}

/* Whether one is a constraint, broken for certain. */
static bool some_broken(const double *slope, int64_t count, int side) {
    bool broken = false;
    for (int64_t i = 0; i < count; i++)
        broken |= side * slope[i] == -INFINITY;
    return broken;
}

/* Below 0: every optimal intercept is certain to lie above (side 1), or below (-1), this place. */
static double margin_at(const mc_intercept *p, double at, int side) {
    long double sum = p->slope, size = fabs(p->slope);
    double f[BLOCK], doubt[BLOCK], slope[BLOCK];
    for (int64_t begin = 0; begin < p->n; begin += BLOCK) {
        const int64_t count = p->n - begin < BLOCK ? p->n - begin : BLOCK;
        p->values(p->self, begin, count, f, doubt);
        for (int64_t i = 0; i < count; i++)
            f[i] += side * (doubt[i] + 4 * DBL_EPSILON * (fabs(f[i]) + fabs(at) + doubt[i])) + at;
        p->slopes(p->self, begin, count, f, side, slope);
        if (some_broken(slope, count, side))
            return -INFINITY;
        add_slopes(slope, count, &sum, &size);
    }
    return (double)(side * sum + (48 * (long double)DBL_EPSILON + (long double)p->n * LDBL_EPSILON) * size);
}

/* A place in a bracket: where the line between its ends crosses 0, a little to the certain side; the middle where there
   is no such line. */
static double place_between(double less, double step, double open, double certain) {
    const double share = open / (open - certain);
    return less + (step - less) * (isfinite(share) ? fmin(fmax(1.02 * share, 0.04), 0.96) : 0.5);
}

/* A step to that side beyond which no optimal intercept lies. An end of the bracket that stays twice counts for half
   (the Illinois rule). */
static double reach_of(const mc_intercept *p, int side, double first) {
    double step = first, less = 0, open = INFINITY, certain = margin_at(p, p->b - side * step, side);
    int k = 0, stays = 0;
    for (; k < LEAPS && !(certain < 0); k++) {
        less = step;
        open = certain;
        step *= LEAP;
        certain = margin_at(p, p->b - side * step, side);
    }
    if (k == LEAPS)
        return INFINITY;
    for (k = 0; k < LOOKS && step - less > PRECISE * step; k++) {
        const double middle = place_between(less, step, open, certain), here = margin_at(p, p->b - side * middle, side);
        const bool sure = here < 0;
        stays = sure ? (stays > 0 ? stays : 0) + 1 : (stays < 0 ? stays : 0) - 1;
        open = sure ? (stays > 1 ? open / 2 : open) : here;
        certain = sure ? here : (stays < -1 ? certain / 2 : certain);
        *(sure ? &step : &less) = middle;
    }
    return step;
}

/* Where to look first: no bound is much less than the least doubt. */
static double first_step(const mc_intercept *p) {
    double least = INFINITY, size = fabs(p->b), f[BLOCK], doubt[BLOCK];
    for (int64_t begin = 0; begin < p->n; begin += BLOCK) {
        const int64_t count = p->n - begin < BLOCK ? p->n - begin : BLOCK;
        p->values(p->self, begin, count, f, doubt);
        for (int64_t i = 0; i < count; i++) {
            size = fmax(size, fabs(f[i]));
            least = fmin(least, doubt[i]);
        }
    }
    return fmax(least, DBL_EPSILON * size + DBL_MIN);
}

double mc_intercept_bound(const mc_intercept *p) {
    const double first = first_step(p);
    return isfinite(first) ? fmax(reach_of(p, 1, first), reach_of(p, -1, first)) : INFINITY;
}
