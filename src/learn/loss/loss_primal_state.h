/* loss_primal_state.h: what stands behind mc_loss_primal, for loss_primal.c and its factors and conjugate gradients. */
#ifndef MC_LEARN_LOSS_LOSS_PRIMAL_STATE_H
#define MC_LEARN_LOSS_LOSS_PRIMAL_STATE_H

#include "base/workspace.h"
#include "gram/features/feature_products.h"
#include "learn/loss/loss_primal.h"

enum {
    MC_LOSS_PRIMAL_ROWS = 256,   /* of Z at a time */
    MC_LOSS_PRIMAL_PASS = 12,    /* features at which all rows of a preconditioner cost a pass over Z */
    MC_LOSS_PRIMAL_PATIENCE = 10 /* steps with one for all classes before their own are thought of */
};

struct mc_loss_primal {
    mc_feature_products z;
    int64_t n, D, columns, segments; /* segments: of sums of matrices */
    int64_t k, P, M;                 /* of the task now: classes, features of a class with the intercept, unknowns */
    bool dense;                      /* H is factored, not the preconditioner */
    bool kept;                       /* the factor is that of an earlier H */
    bool shared;                     /* all classes have the factor of the first, that of their mean */
    bool apart;                      /* which has taken more steps than factors of their own would have cost */
    const mc_loss_task *of;          /* of this task */
    int64_t first, extra; /* steps of conjugate gradients with a new factor, and what they are more with it kept */
    double lambda;
    const double *root;        /* n x k: of W; borrowed */
    double *H;                 /* segments x M x M, or segments x P x P; the first becomes the factor, or k of P x P */
    double *factors;           /* k x P x P, by conjugate gradients */
    int64_t *row;              /* n, of which some count for a preconditioner, */
    double *factor;            /* n: with these */
    double *part;              /* segments x M */
    double *x, *r, *q, *p, *y; /* M each: class by class the weights, then the intercept */
    double *scratch;           /* per thread: MC_LOSS_PRIMAL_ROWS x (P + k) */
    int64_t scratch_each;
    mc_work work;
};

/* loss_primal.c: into how many segments sums of so many numbers over the rows are cut, each row costing so much. */
int64_t mc_loss_primal_segments(int64_t n, double each, int64_t numbers);
/* loss_primal_factor.c: of H, or of every class; a class takes every so many-th row. */
mercer_status mc_loss_primal_factor_dense(mercer_ctx *ctx, mc_loss_primal *s);
mercer_status mc_loss_primal_factor_classes(mercer_ctx *ctx, mc_loss_primal *s);
int64_t mc_loss_primal_stride(const mc_loss_primal *s);
/* What the factors of all classes, each its own, cost in products with H. */
double mc_loss_primal_factors_in_products(const mc_loss_primal *s);
/* loss_primal_cg.c: x <- H^-1 r, r the right-hand side and then what is left of it; accuracy and least as in
   mc_loss_primal_solve. */
mercer_status mc_loss_primal_solve_cg(mercer_ctx *ctx, mc_loss_primal *s, double accuracy, double least);

#endif
