/* matern_bessel.c: with s = sqrt(2 nu) r the general Matern function is

     f = 2^(1-nu)/Gamma(nu) s^nu K_nu(s) = 1/Gamma(nu) times the integral of w = exp(nu t - e^t - (s^2/4) e^-t)

   over all t: no power over- or underflows, no two factors meet that lose what they had. The integrand is analytic in
   the strip |Im t| < pi/2, so that the trapezoidal rule of step h is wrong by a share of about exp(-2 pi a/h) /
   cos(a)^nu for every a below pi/2: with h = 1/16 below 1e-16 for nu up to 100. All terms are positive: nothing
   cancels. The sum starts at the largest term and goes both ways until terms no longer count.

   -f'(s)/s is half of it with nu - 1 in the exponent. The derivative with respect to nu, s being fixed, has t - psi(nu)
   beside w, psi the logarithmic derivative of Gamma. */
#include "kernel/evaluate/matern_bessel.h"
#include <math.h>

bool mc_matern_is_elementary(double nu) {
    return nu == 0.5 || nu == 1.5 || nu == 2.5;
}

static const double STEP = 0.0625, ENOUGH = 1e-18;

/* The sum of w and that of (t - shift) w. */
typedef struct two_sums {
    double plain, first;
} two_sums;

/* From t = k h on, in steps of by h. |t - shift| keeps the second sum going as long as the first. */
static void add_terms(double order, double q, double shift, double k, double by, two_sums *sums) {
    double term, largest = 0;
    do {
        const double t = STEP * k, w = exp(order * t - exp(t) - (q > 0 ? q * exp(-t) : 0));
        sums->plain += w;
        sums->first += (t - shift) * w;
        term = w * (1 + fabs(t - shift));
        largest = fmax(largest, term);
        k += by;
    } while (term > ENOUGH * largest);
}

/* The integrals of exp(order t - e^t - q e^-t), alone and times t - shift; where the first is largest e^t is the larger
   root of e^2t = order e^t + q. */
static two_sums matern_integrals(double order, double q, double shift) {
    const double root = hypot(order, 2 * sqrt(q)), peak = order > 0 ? (order + root) / 2 : 2 * q / (root - order);
    const double k = round(log(peak) / STEP);
    two_sums sums = {0};
    add_terms(order, q, shift, k, 1, &sums);
    add_terms(order, q, shift, k - 1, -1, &sums);
    return (two_sums){STEP * sums.plain, STEP * sums.first};
}

/* (1 + s) exp(-s) and the like underflow with their exponential. */
enum { FAR = 800 };
static const double LEAST = 1e-150; /* squares of less are 0 */

/* 1 - Gamma(1 - nu)/Gamma(1 + nu) (s/2)^(2 nu), what is left out being a few s^2. */
static double value_near_zero(double nu, double s) {
    return nu < 1 && s > 0 ? 1 - tgamma(1 - nu) / tgamma(1 + nu) * pow(s / 2, 2 * nu) : 1;
}

double mc_matern_value(double nu, double s) {
    if (mc_matern_is_elementary(nu)) {
        const double front = nu == 0.5 ? 1 : nu == 1.5 ? 1 + s : 1 + s + s * s / 3;
        return s > FAR ? 0 : front * exp(-s);
    }
    if (s < LEAST)
        return value_near_zero(nu, s);
    return s > FAR ? 0 : isfinite(s) ? fmin(1, matern_integrals(nu, s * s / 4, 0).plain / tgamma(nu)) : NAN;
}

double mc_matern_slope(double nu, double s) {
    if (nu == 0.5)
        return s > 0 && s <= FAR ? exp(-s) / s : 0;
    if (mc_matern_is_elementary(nu))
        return s > FAR ? 0 : (nu == 1.5 ? 1 : (1 + s) / 3) * exp(-s);
    if (s < LEAST)
        return nu > 1 ? 0.5 / (nu - 1) : 0;
    return s > FAR ? 0 : 0.5 * matern_integrals(nu - 1, s * s / 4, 0).plain / tgamma(nu);
}

/* psi(x) = psi(x + n) - 1/x - ... - 1/(x + n - 1), and Stirling's series from 10 on. */
static double digamma_of(double x) {
    double sum = 0;
    for (; x < 10; x++)
        sum -= 1 / x;
    const double q = 1 / (x * x);
    return sum + log(x) - 0.5 / x
           - q * (1.0 / 12 - q * (1.0 / 120 - q * (1.0 / 252 - q * (1.0 / 240 - q * (1.0 / 132 - q * 691.0 / 32760)))));
}

double mc_matern_nu_slope(double nu, double s) {
    if (s < LEAST || s > FAR)
        return 0;
    return matern_integrals(nu, s * s / 4, digamma_of(nu)).first / tgamma(nu)
           - mc_matern_slope(nu, s) * s * s / (2 * nu);
}
