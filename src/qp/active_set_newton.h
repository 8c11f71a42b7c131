/* active_set_newton.h: Newton steps on the free variables, where SMO converges slowly: a large C, columns of very
   different size, many free ones. */
#ifndef MC_QP_ACTIVE_SET_NEWTON_H
#define MC_QP_ACTIVE_SET_NEWTON_H

#include "qp/smo.h"

/* beta is feasible and f = K beta before and after; the objective does not rise. rows are stored: all may be asked for
   at once. Nothing is done where too many variables are free, memory is short, the steps do not settle, or `worth`, a
   number of operations, would not do for the few factors that they take at least. *moved: whether beta has changed. */
size_t mc_active_set_newton_bytes(int64_t n, int64_t m); /* at most, for n rows and m variables */
mercer_status mc_active_set_newton(mercer_ctx *ctx, const mc_dual *dual, const mc_matrix *rows, double tolerance,
                                   double worth, double *beta, double *f, bool *moved);

#endif
