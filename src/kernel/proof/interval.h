/* interval.h: arithmetic on closed intervals that surely hold the exact result, for side conditions of proofs and for
   witnesses.

   The rounding mode is never touched: each operation is done to nearest, its error is found exactly (two-sum, fused
   multiply-add), and the end moves to the next double only when the exact value lies beyond it. So what is exact stays
   a single point: 2 - 1 - 1 is [0, 0]. Elementary functions are the C library's, widened by more than their documented
   error.

   Where an operation is not defined (the logarithm of a negative number) the result is everything, from which nothing
   follows. */
#ifndef MC_KERNEL_PROOF_INTERVAL_H
#define MC_KERNEL_PROOF_INTERVAL_H

#include <stdbool.h>
#include <stdint.h>

typedef struct mc_interval {
    double lo, hi;
} mc_interval;

mc_interval mc_iv(double value);
mc_interval mc_iv_of(double lo, double hi);
mc_interval mc_iv_everything(void);
mc_interval mc_iv_hull(mc_interval a, mc_interval b);
bool mc_iv_is_point(mc_interval a);
bool mc_iv_equal_points(mc_interval a, mc_interval b); /* both single points, and the same one */

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
mc_interval mc_iv_exp(mc_interval a);
mc_interval mc_iv_log(mc_interval a);
mc_interval mc_iv_sin(mc_interval a);
mc_interval mc_iv_cos(mc_interval a);
mc_interval mc_iv_acos(mc_interval a); /* of what lies in [-1, 1] */
mc_interval mc_iv_tanh(mc_interval a);
mc_interval mc_iv_pi(void);

#endif
