/* portable_math.c: Taylor series after exact or nearly exact range reduction. */
#include "base/portable_math.h"
#include <math.h>
#include <stdint.h>
#include <string.h>

static const double pi = 3.14159265358979323846, ln2 = 0.69314718055994530942;

/* sum of (-1)^k x^(2k + start) / (2k + start)!, from the last term back; |x| <= pi/4 */
static double taylor_sin_cos(double x, int start) {
    double sum = 1;
    for (int k = 20 + start; k > start; k -= 2)
        sum = 1 - sum * (x * x) / (double)(k * (k - 1));
    return start ? x * sum : sum;
}

/* The part of a turn in [-1/8, 1/8] and the quarter it is counted from; both exact. */
static double reduce_to_quarter_turn(double turns, int *which) {
    turns -= floor(turns);
    const double q = floor(4 * turns + 0.5);
    *which = (int)q & 3;
    return turns - q / 4;
}

double mc_portable_math_sin_turns(double turns) {
    int which;
    const double x = 2 * pi * reduce_to_quarter_turn(turns, &which), v = taylor_sin_cos(x, which % 2 ? 0 : 1);
    return which < 2 ? v : -v;
}

double mc_portable_math_cos_turns(double turns) {
    int which;
    const double x = 2 * pi * reduce_to_quarter_turn(turns, &which), v = taylor_sin_cos(x, which % 2 ? 1 : 0);
    return which == 1 || which == 2 ? -v : v;
}

double mc_portable_math_sin(double x) {
    return mc_portable_math_sin_turns(x / (2 * pi));
}

double mc_portable_math_cos(double x) {
    return mc_portable_math_cos_turns(x / (2 * pi));
}

/* 2 atanh(s) / s or, alternating, atan(s) / s: sum of (+-s^2)^k / (2k + 1) */
static double odd_series(double square) {
    double sum = 0;
    for (int k = 27; k >= 1; k -= 2)
        sum = 1.0 / k + square * sum;
    return sum;
}

/* x = m 2^e with m in [0.7, 1.4]; log m = 2 atanh((m - 1) / (m + 1)) */
double mc_portable_math_log(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    int e = (int)(bits >> 52) - 1022;
    bits = (bits & 0xfffffffffffffu) | (uint64_t)1022 << 52;
    double m;
    memcpy(&m, &bits, sizeof m);
    if (m < 0.70710678118654752440) {
        m *= 2;
        e--;
    }
    const double s = (m - 1) / (m + 1);
    return 2 * s * odd_series(s * s) + (double)e * ln2;
}

/* Two halvings of the angle bring |x| below 0.2. */
double mc_portable_math_atan(double x) {
    const double a = fabs(x), inside = a > 1 ? 1 / a : a;
    const double half = inside / (1 + sqrt(1 + inside * inside)), fourth = half / (1 + sqrt(1 + half * half));
    const double angle = 4 * fourth * odd_series(-(fourth * fourth)), whole = a > 1 ? pi / 2 - angle : angle;
    return x < 0 ? -whole : whole;
}
