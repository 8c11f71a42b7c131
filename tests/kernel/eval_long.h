/* eval_long.h: k(x, z) in long double, written from the formulas and not from the library: the referee of witnesses. */
#ifndef TEST_EVAL_LONG_H
#define TEST_EVAL_LONG_H

#include "kernel/kernel.h"

long double eval_long(const mc_node *node, const double *x, const double *z, int64_t d);
/* sum_ij w_i w_j k(x_i, x_j) */
long double form_long(const mc_node *node, const mercer_witness *w);

#endif
