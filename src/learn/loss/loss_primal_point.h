/* loss_primal_point.h: where Newton's method in the weights stands, and the step from there. */
#ifndef MC_LEARN_LOSS_LOSS_PRIMAL_POINT_H
#define MC_LEARN_LOSS_LOSS_PRIMAL_POINT_H

#include "learn/loss/loss_primal.h"

typedef struct mc_primal_newton {
    mc_loss_primal *s;
    mc_loss_task *t;
    int64_t count, M, P;
    double *F, *g, *root, *E, *trial;      /* n x k; F: Z w */
    double *w, *G, *U, *trial_w;           /* M, intercepts included */
    double *b;                             /* k */
    double *found;                         /* n x k: coefficients on trial */
    mc_loss_mean mean;                     /* scratch alone */
    double loss, objective, promise, best; /* best: the gap of what the task holds */
    bool begun;                            /* at what a part of the rows led to */
} mc_primal_newton;

/* b <- the intercepts among the weights w. */
void mc_primal_newton_intercepts(const mc_primal_newton *s, const double *w, double *b);
/* The weights of the task's coefficients, and their objective. */
mercer_status mc_primal_newton_start(mercer_ctx *ctx, mc_primal_newton *s);
/* Slopes, roots and the gradient at (w, b). */
mercer_status mc_primal_newton_evaluate(mercer_ctx *ctx, mc_primal_newton *s, bool chord);
/* Along U, with E = Z U. *moved: whether the objective fell. */
mercer_status mc_primal_newton_search(mercer_ctx *ctx, mc_primal_newton *s, bool *moved);
/* To the weights in trial_w, where the objective of all rows is lower there. */
mercer_status mc_primal_newton_adopt(mercer_ctx *ctx, mc_primal_newton *s);

#endif
