/* loss_workspace.h: what the Newton steps of one fit share, between loss_workspace.c, loss_newton_step.c,
   loss_surrogate.c, loss_start.c and loss_precondition.c. */
#ifndef MC_LEARN_LOSS_LOSS_WORKSPACE_H
#define MC_LEARN_LOSS_LOSS_WORKSPACE_H

#include "base/workspace.h"
#include "gram/operator/gram.h"
#include "gram/lowrank/lowrank.h"
#include "gram/store/stored.h"
#include "learn/loss/loss_primal.h"
#include "learn/loss/loss_solver.h"

typedef struct mc_loss_precondition mc_loss_precondition;

/* Of columns up to so many; keeps a copy of f. */
mercer_status mc_loss_precondition_open(mercer_ctx *ctx, const mc_lowrank *f, int64_t columns,
                                        mc_loss_precondition **out);
void mc_loss_precondition_close(mc_loss_precondition *s);
size_t mc_loss_precondition_bytes(mercer_ctx *ctx, int64_t n, int64_t rank, int64_t columns);
/* Every e-th row alone, until told otherwise: n is then that of these. */
void mc_loss_precondition_subsample(mc_loss_precondition *s, int64_t every);
/* For the system of t at these roots; then applied as often as wanted. */
mercer_status mc_loss_precondition_set(mercer_ctx *ctx, mc_loss_precondition *s, const mc_loss_task *t,
                                       const double *root);
mercer_status mc_loss_precondition_apply(mercer_ctx *ctx, const mc_loss_precondition *s, const double *V, double *Y);
/* Where K is F F', in one column: whether the system can be solved at once, for two right-hand sides, X <- (lambda I +
   S K S)^-1 X and KSX <- K S X of that (n x 2 both), and the S it was set for. */
enum { MC_LOSS_RHS = 2 };
bool mc_loss_precondition_solves(const mc_loss_precondition *s);
mercer_status mc_loss_precondition_solve(mercer_ctx *ctx, const mc_loss_precondition *s, double *X, double *KSX);
const double *mc_loss_precondition_roots(const mc_loss_precondition *s);
/* F F' itself; columns up to those it was opened for. */
mc_matrix mc_loss_precondition_matrix(const mc_loss_precondition *s);

struct mc_loss_workspace {
    const mc_problem *p;
    int64_t n, columns, rank;
    double least, fits; /* as in mc_loss_demand */
    /* by F F' of K, beside the least lambda and beside the one now; infinite without a factor */
    double missed_least, missed;
    mc_loss_primal *primal; /* NULL: the steps are in alpha; otherwise nothing below is there */
    mc_gram *fast, *exact;
    mc_stored *stored;
    mc_matrix K; /* for the steps */
    mc_loss_precondition *inverse;
    bool set;                              /* inverse is that of an earlier step of the task now being solved */
    double *whole;                         /* conjugate gradients of few rows: K */
    double *packed, *A;                    /* Cholesky: K, and the system */
    int64_t *active, actives;              /* the rows of the system */
    double *tau, *rest, *u, *V, *X, *sums; /* X: four of them */
    mc_work vectors, triangles;            /* that these and those of Cholesky lie in */
    mc_loss_mean mean;
    const mc_loss_task *task; /* the system now being solved */
    const double *root;
};

/* loss_surrogate.c: Newton's method on F F'. */
mercer_status mc_loss_solve_surrogate(mercer_ctx *ctx, mc_loss_workspace *workspace, mc_loss_task *t, double aim);

/* loss_start.c: from nothing to a point from which F F' is soon solved; t->warm: it was found. */
mercer_status mc_loss_find_start(mercer_ctx *ctx, mc_loss_workspace *workspace, mc_loss_task *t);
size_t mc_loss_find_start_bytes(int64_t n, int64_t k);

#endif
