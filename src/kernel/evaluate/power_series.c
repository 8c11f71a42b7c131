/* power_series.c: see power_series.h. */
#include "kernel/evaluate/power_series.h"
#include <math.h>

static const double half_pi = 1.57079632679489661923;

static double logarithmic_of(double t) {
    return t < 1 ? -log1p(-t) : NAN;
}

static double logarithmic_slope(double t) {
    return 1 / (1 - t);
}

static double arcsine_of(double t) {
    return fabs(t) <= 1 ? asin(t) : fabs(t) <= MC_ARCSIN_MOST ? copysign(half_pi, t) : NAN;
}

/* At the ends, where it is infinite, 0: nothing is learned from a pair that cannot be closer. */
static double arcsine_slope(double t) {
    return fabs(t) < 1 ? 1 / sqrt((1 - t) * (1 + t)) : 0;
}

/* All terms are positive: sum (t^2/4)^n/n!^2 for I0, times (t/2)/(n + 1) each for its derivative I1. */
static double bessel_sum(double t, int order) {
    const double q = t / 2 * (t / 2);
    double sum = 0, term = order ? t / 2 : 1;
    for (int n = 1; fabs(term) > 0x1p-54 * fabs(sum) && isfinite(term); n++) {
        sum += term;
        term *= q / n / (n + order);
    }
    return sum + term;
}

static double bessel_i0(double t) {
    return bessel_sum(t, 0);
}

static double bessel_i1(double t) {
    return bessel_sum(t, 1);
}

const mc_series_row mc_series_rows[MC_SERIES_COUNT] = {
    [MC_LOGARITHMIC] = {"logarithmic", NULL, "< 1", logarithmic_of, logarithmic_slope, "logarithmic"},
    [MC_ARCSIN] = {"arcsin", "asin", "<= 1", arcsine_of, arcsine_slope, "arcsine"},
    [MC_BESSEL_I0] = {"bessel_i0", NULL, NULL, bessel_i0, bessel_i1, "bessel_i0"},
};
