/* interval.h: arithmetic on closed intervals that surely hold the exact result, for side conditions of proofs and for
   witnesses.

   Ends have up to 512 bits (big_float.h), so that sums and products of a few doubles stay single points, and a root or
   an exponential is known to 192 bits or more: enough to tell 0.1*3 from 0.3 and exp(3) from any double next to it.

   What bits alone never tell is that a difference is 0: sqrt(2)^2 - 2 would stay a tiny interval around it. So a number
   made of doubles by + - * / and square roots carries a bound below which it cannot be without being 0
   (mc_separation), and is 0 once it is known to lie below.

   Where an operation is not defined (the logarithm of a negative number) the result is everything, from which nothing
   follows. */
#ifndef MC_KERNEL_PROOF_INTERVAL_H
#define MC_KERNEL_PROOF_INTERVAL_H

#include "kernel/language/kernel.h"
#include "kernel/proof/big_float.h"

/* The number is U / (2^shift L) with algebraic integers U and L of degree `degree` at most, all conjugates of which are
   below 2^u and 2^l in size: not being 0 it is at least 2^-((degree - 1) u + l + shift). Burnikel, Funke, Mehlhorn,
   Schirra, Schmitt, A separation bound for real algebraic expressions, ESA 2001. degree 0: no such bound is known. */
typedef struct mc_separation {
    int degree, u, l, shift;
} mc_separation;

typedef struct mc_interval {
    double lo, hi; /* the ends, rounded outwards */
    mc_big low, high;
    mc_separation apart;
} mc_interval;

mc_interval mc_iv(double value);
mc_interval mc_iv_of(double lo, double hi);
mc_interval mc_iv_everything(void);
mc_interval mc_iv_hull(mc_interval a, mc_interval b);
bool mc_iv_is_point(mc_interval a); /* a double */
bool mc_iv_is_zero(const mc_interval *a);
bool mc_iv_equal(const mc_interval *a, const mc_interval *b); /* surely one and the same number */
bool mc_iv_at_least(mc_interval a, mc_interval b);            /* surely a >= b */

mc_interval mc_iv_add(mc_interval a, mc_interval b);
mc_interval mc_iv_sub(mc_interval a, mc_interval b);
mc_interval mc_iv_mul(mc_interval a, mc_interval b);
mc_interval mc_iv_div(mc_interval a, mc_interval b);
mc_interval mc_iv_neg(mc_interval a);
mc_interval mc_iv_abs(mc_interval a);
mc_interval mc_iv_square(mc_interval a);
mc_interval mc_iv_sqrt(mc_interval a); /* ends below 0 by rounding count as 0; entirely below: everything */
mc_interval mc_iv_min(mc_interval a, mc_interval b);
mc_interval mc_iv_max(mc_interval a, mc_interval b);
mc_interval mc_iv_power(mc_interval a, double exponent);

/* interval_functions.c */
mc_interval mc_iv_exp(mc_interval a);
mc_interval mc_iv_log(mc_interval a);
mc_interval mc_iv_sin(mc_interval a);
mc_interval mc_iv_cos(mc_interval a);
mc_interval mc_iv_acos(mc_interval a); /* of what lies in [-1, 1] */
mc_interval mc_iv_tanh(mc_interval a);
/* Ends beyond where the series converges count as the end of that; entirely beyond: everything. */
mc_interval mc_iv_series(mc_series series, mc_interval a);
mc_interval mc_series_coefficient(mc_series series, int n); /* of t^n */
mc_interval mc_iv_log_gamma(mc_interval a);                 /* of what lies above 0 */
mc_interval mc_iv_pi(void);

/* For the two files: an interval of its ends alone, and one with ends of at most so many digits. */
mc_interval mc_iv_between(const mc_big *low, const mc_big *high);
mc_interval mc_iv_round(const mc_interval *a, int digits);

#endif
