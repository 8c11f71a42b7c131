/* eval_special.h: values of atoms that are more than one sum over columns. Straight from the formulas of atoms.c, for
   the reference evaluator. */
#ifndef MC_KERNEL_EVALUATE_EVAL_SPECIAL_H
#define MC_KERNEL_EVALUATE_EVAL_SPECIAL_H

#include "kernel/evaluate/view.h"
#include "kernel/language/node.h"

double mc_eval_tanimoto(const mc_node *node, const mc_view *view, const double *x, const double *z);
double mc_eval_additive_chi2(const mc_node *node, const mc_view *view, const double *x, const double *z);
double mc_eval_wendland(const mc_node *node, const mc_view *view, const double *x, const double *z);
double mc_eval_sinc(const mc_node *node, const mc_view *view, const double *x, const double *z);
double mc_eval_brownian(const mc_node *node, const mc_view *view, const double *x, const double *z);
double mc_eval_spline(const mc_node *node, const mc_view *view, const double *x, const double *z);
double mc_eval_gibbs(const mc_node *node, const mc_view *view, const double *x, const double *z);
double mc_eval_rbf_form(const mc_node *node, const mc_view *view, const double *x, const double *z);

/* The function of wendland at the distance q, and -f'(q)/q, 0 where that is infinite. */
double mc_wendland_value(double k, double dimension, double q);
double mc_wendland_slope(double k, double dimension, double q);
/* sin(pi t)/(pi t) and its derivative. */
double mc_sinc_value(double t);
double mc_sinc_slope(double t);

#endif
