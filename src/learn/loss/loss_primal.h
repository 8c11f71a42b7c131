/* loss_primal.h: smooth losses in the weights of explicit features, for kernels that have a map of few dimensions. */
#ifndef MC_LEARN_LOSS_LOSS_PRIMAL_H
#define MC_LEARN_LOSS_LOSS_PRIMAL_H

#include "learn/loss/loss_solver.h"
#include "problem/problem.h"

typedef struct mc_loss_primal mc_loss_primal;

/* How many features there are to solve in; 0: the kernel has no explicit map, or one of more dimensions than pay. */
int64_t mc_loss_primal_features(const mc_problem *p);
/* In D explicit features, however they came about: without Z itself. */
size_t mc_loss_primal_system_bytes(mercer_ctx *ctx, int64_t n, int64_t D, int64_t columns);
size_t mc_loss_primal_bytes(mercer_ctx *ctx, const mc_problem *p, int64_t columns);
mercer_status mc_loss_primal_open(mercer_ctx *ctx, const mc_problem *p, int64_t columns, mc_loss_primal **out);
/* The same on every stride-th row, copied. */
mercer_status mc_loss_primal_sample(mercer_ctx *ctx, const mc_loss_primal *s, int64_t stride, mc_loss_primal **out);
void mc_loss_primal_close(mc_loss_primal *s);

/* ---- Systems ---- */

/* Of a task the weights stand class by class, those of the features and then the intercept, where there is one. */
int64_t mc_loss_primal_unknowns(const mc_loss_primal *s, const mc_loss_task *t);
/* H at these roots (problem/loss.h), which are borrowed, made ready for the systems to come. */
mercer_status mc_loss_primal_set(mercer_ctx *ctx, mc_loss_primal *s, const mc_loss_task *t, const double *root);
/* U <- H^-1 G, to a relative accuracy; and, where least > 0, as far as the square of the residual times the largest
   eigenvalue of H is at most that. */
mercer_status mc_loss_primal_solve(mercer_ctx *ctx, mc_loss_primal *s, const double *G, double accuracy, double least,
                                   double *U);
/* e <- W e, of one row. */
void mc_loss_primal_curve(int64_t k, const double *root, double *e);
/* w <- (Z, 1)' V, n x k; F <- Z w without the intercepts. */
mercer_status mc_loss_primal_project(mercer_ctx *ctx, const mc_loss_primal *s, const mc_loss_task *t, const double *V,
                                     double *w);
mercer_status mc_loss_primal_expand(mercer_ctx *ctx, const mc_loss_primal *s, const mc_loss_task *t, const double *w,
                                    double *F);

/* ---- The whole (loss_primal_newton.c): as mc_loss_newton ---- */

mercer_status mc_loss_primal_newton(mercer_ctx *ctx, mc_loss_primal *s, mc_loss_task *t, double aim);
size_t mc_loss_primal_newton_bytes(int64_t n, int64_t D, int64_t k);
/* What the part of n rows is copied to that the first steps see. */
size_t mc_loss_primal_part_bytes(int64_t n, int64_t k);

#endif
