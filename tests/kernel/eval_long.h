/* eval_long.h: k(x, z) in extended precision with a bound on its error, written from the formulas and not from the
   library: the referee of verdicts and of values.

   Numbers are quadruple precision (113 bits) where the compiler and its library have it, else long double. */
#ifndef TEST_EVAL_LONG_H
#define TEST_EVAL_LONG_H

#include "kernel/language/kernel.h"

#ifdef HAVE_QUADMATH
__extension__ typedef __float128 real;
#else
typedef long double real;
#endif

/* A value, how far off it may be, and how far off the same formula computed in double may be. NaN: the definition has
   no value there, or the referee cannot tell. */
typedef struct wide {
    real v, e, f;
} wide;

wide eval_wide(const mc_node *node, const double *x, const double *z, int64_t d);
/* sum_ij w_i w_j k(x_i, x_j) */
wide form_wide(const mc_node *node, int64_t count, int64_t d, const double *points, const double *weights);

/* The values alone. */
long double eval_long(const mc_node *node, const double *x, const double *z, int64_t d);
long double form_long(const mc_node *node, const mercer_witness *w);

#endif
