/* eval_extended.h: k(x, z) in long double with a bound on its own error, for checks that doubles are too coarse for. */
#ifndef MC_KERNEL_EVALUATE_EVAL_EXTENDED_H
#define MC_KERNEL_EVALUATE_EVAL_EXTENDED_H

#include "kernel/evaluate/view.h"

typedef struct mc_extended {
    long double value, error; /* |value - k(x, z)| <= error; infinite or NaN: nothing is known */
} mc_extended;

mc_extended mc_eval_extended(const mc_node *node, const mc_view *view, const double *x, const double *z);

#endif
