/* loss_machine.h: a machine with a convex loss while it learns, between loss_machine.c, loss_result.c and
   loss_path.c. */
#ifndef MC_LEARN_LOSS_LOSS_MACHINE_H
#define MC_LEARN_LOSS_LOSS_MACHINE_H

#include "certify/loss_certificate.h"
#include "learn/common/driver.h"
#include "learn/loss/loss_solver.h"

/* Set by the caller: loss, own, set, least, fits. The rest is zero at first. */
typedef struct mc_loss_landmarks mc_loss_landmarks;
typedef struct mc_loss_machine {
    const mc_loss *loss;
    const mercer_own_loss *own; /* NULL: the loss is one of ours */
    const mercer_loss *set;
    double least_lambda, fits; /* the least lambda there will be; how many fits (0: one) */
    double lambda;             /* of the moment */
    mc_problem p;
    mc_loss_landmarks *landmarks; /* NULL: all functions are looked among */
    const mc_problem *solved;     /* p, or that of the landmarks */
    int64_t classes, count;
    mc_loss_task *task;
    double *block; /* y, cost, alpha, f and b of all tasks */
    double *cost;
    int64_t *place; /* of the rows of weight, in the data as they came */
    mc_loss_workspace *workspace;
    mc_loss_qp *qp;
    mc_loss_method method; /* of smooth losses */
    mc_loss_findings *found;
} mc_loss_machine;

mc_driver mc_loss_driver(mc_loss_machine *m);

/* What solves it, and the bytes of that at most; k: columns of a task, p->outputs being those of all. */
mc_loss_method mc_loss_method_of(mercer_ctx *ctx, const mc_loss *loss, const mercer_loss *set, const mc_problem *p);
size_t mc_loss_method_bytes(mercer_ctx *ctx, const mercer_loss *set, const mc_problem *p, int64_t k,
                            mc_loss_method method);

/* loss_cost.c: what that will take, for the planner (plan/forecast.h). */
void mc_loss_rank_solvers(mercer_ctx *ctx, const void *settings, const mc_problem *p, mc_solver_options *out);
mercer_status mc_loss_price(mercer_ctx *ctx, const void *settings, const mc_problem *p, mc_solver_options *options);

/* Whether every task keeps to the tolerance. */
bool mc_loss_is_good(const mc_loss_machine *m);

/* loss_result.c: the model and its report, from the tasks. */
mercer_status mc_loss_keep_expansion(mercer_ctx *ctx, const mc_loss_machine *m, mc_fitted *f);
void mc_loss_write_report(const mc_loss_machine *m, mercer_status stopped, const mc_fitted *f, mercer_report *r);

/* loss_path.c: the next lambda of a path. */
void mc_loss_turn(void *self, double lambda, bool first);

#endif
