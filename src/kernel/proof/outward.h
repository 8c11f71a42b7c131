/* outward.h: intervals of doubles that surely hold the exact result, for long computations; interval.h is the sharper
   and slower way.

   The rounding mode is never touched: each operation is done to nearest, its error is found exactly (two-sum, fused
   multiply-add), and the end moves to the next double only when the exact value lies beyond it. */
#ifndef MC_KERNEL_PROOF_OUTWARD_H
#define MC_KERNEL_PROOF_OUTWARD_H

typedef struct mc_bounds {
    double lo, hi;
} mc_bounds;

mc_bounds mc_bounds_sub(mc_bounds a, mc_bounds b);
mc_bounds mc_bounds_mul(mc_bounds a, mc_bounds b);
mc_bounds mc_bounds_div(mc_bounds a, mc_bounds b); /* everything when b may be 0 */

#endif
