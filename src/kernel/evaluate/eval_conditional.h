/* eval_conditional.h: functions of the distance that are positive on weights that sum to zero: power, log,
   multiquadric, thin_plate. */
#ifndef MC_KERNEL_EVALUATE_EVAL_CONDITIONAL_H
#define MC_KERNEL_EVALUATE_EVAL_CONDITIONAL_H

#include "kernel/evaluate/view.h"
#include "kernel/language/node.h"

double mc_eval_conditional(const mc_node *node, const mc_view *view, const double *x, const double *z);
/* psi of the squared distance s, with psi(0) = 0: k(x, z) is k(x, x) - psi, of thin_plate too. */
double mc_conditional_psi(const mc_node *node, double s);
/* Its derivative with respect to the parameter that is learned: length_scale of log, c of multiquadric. */
double mc_conditional_slope(const mc_node *node, int parameter, double s);
/* k(x, x) of the atom as it is written, not centred. */
double mc_conditional_peak(const mc_node *node);
/* Of an atom that is not centred: |k(x, z)| is at most the sum of this for |x|^2 and for |z|^2. */
double mc_conditional_reach(const mc_node *node, double norm2);
/* |x - z|^p, and |x|^p where z is NULL: numbers wherever they are in range, also where the square is not. */
double mc_distance_power(const mc_view *view, const double *x, const double *z, double p);
/* |x|^2, |z|^2 and |x - z|^2. */
void mc_squares_of(const mc_view *view, const double *x, const double *z, double *out);

#endif
