/* loss_start.c: where the surrogate for K (loss_surrogate.c) begins. The first steps from nothing are long ways to a
   place that some of the rows know nearly as well as all: the problem is solved roughly for every e-th row, each
   counted e times, at an e-th of the cost. Its coefficients, on those rows alone, are a start for all, provided that
   the objective is lower there than at nothing. */
#include "base/status.h"
#include "base/workspace.h"
#include "learn/loss/loss_workspace.h"
#include <string.h>

enum { EVERY = 8, ENOUGH = 16, STEPS = 10 }; /* ENOUGH: rows for a column of the factor */
static const double ROUGH = 1e-3;            /* relative gap: a part of the rows knows no better */

/* 1: no part of the rows would do. */
static int64_t row_stride(const mc_loss_workspace *workspace, const mc_loss_task *t) {
    const int64_t most = t->n / (ENOUGH * (workspace->rank + 1));
    return t->own || most < 2 ? 1 : most < EVERY ? most : EVERY;
}

/* Of the part, n and k are given. */
typedef struct beginning {
    mc_loss_task part;
    double *y, *cost, *b;
} beginning;

static void lay_out_workspace(mc_work *work, void *self) {
    beginning *x = self;
    mc_loss_task *part = &x->part;
    x->y = mc_work_take(work, part->n, sizeof(double));
    x->cost = mc_work_take(work, part->n, sizeof(double));
    part->alpha = mc_work_take(work, part->n * part->k, sizeof(double));
    part->f = mc_work_take(work, part->n * part->k, sizeof(double));
    part->b = mc_work_take(work, part->k, sizeof(double));
    x->b = mc_work_take(work, part->k, sizeof(double));
}

/* With every second row. */
size_t mc_loss_find_start_bytes(int64_t n, int64_t k) {
    return mc_slices_bytes(lay_out_workspace, &(beginning){.part = {.n = n / 2 + 1, .k = k}});
}

static void take_rows(const mc_loss_task *t, int64_t e, beginning *x) {
    mc_loss_task *part = &x->part;
    part->y = x->y;
    part->cost = x->cost;
    part->iterations_max = STEPS;
    for (int64_t i = 0; i < part->n; i++) {
        x->y[i] = t->y[i * e];
        x->cost[i] = (double)e * t->cost[i * e];
    }
    memset(part->alpha, 0, (size_t)(part->n * t->k) * sizeof(double));
    memset(part->f, 0, (size_t)(part->n * t->k) * sizeof(double));
    memcpy(part->b, t->b, (size_t)t->k * sizeof(double));
}

static mercer_status solve_part(mercer_ctx *ctx, mc_loss_workspace *workspace, int64_t e, mc_loss_task *part) {
    const int64_t n = workspace->n;
    workspace->n = part->n;
    mc_loss_precondition_subsample(workspace->inverse, e);
    const mercer_status status = mc_loss_solve_surrogate(ctx, workspace, part, ROUGH);
    mc_loss_precondition_subsample(workspace->inverse, 1);
    workspace->n = n;
    return status;
}

static double primal_objective(const mc_loss_task *t) {
    double energy = 0;
    for (int64_t i = 0; i < t->n * t->k; i++)
        energy += t->alpha[i] * t->f[i];
    return mc_loss_sum(t, t->f, t->b) + t->lambda / 2 * energy;
}

/* alpha is zero before. */
static mercer_status adopt_subset_solution(mercer_ctx *ctx, const mc_loss_workspace *workspace, mc_loss_task *t,
                                           int64_t e, const mc_loss_task *part, double *b) {
    const mc_matrix stand_in = mc_loss_precondition_matrix(workspace->inverse);
    const size_t row = (size_t)t->k * sizeof(double), all = (size_t)t->n * row;
    const double nothing = primal_objective(t);
    memcpy(b, t->b, row);
    memcpy(t->b, part->b, row);
    for (int64_t i = 0; i < part->n; i++)
        memcpy(t->alpha + i * e * t->k, part->alpha + i * t->k, row);
    MC_TRY(stand_in.apply(ctx, stand_in.self, t->k, t->alpha, t->f));
    t->warm = primal_objective(t) < nothing;
    mc_log_message(ctx, "%s: begun with every %lldth row%s", t->loss->name, (long long)e,
                   t->warm ? "" : ", which led nowhere");
    if (t->warm)
        return MERCER_OK;
    memset(t->alpha, 0, all);
    memset(t->f, 0, all);
    memcpy(t->b, b, row);
    return MERCER_OK;
}

mercer_status mc_loss_find_start(mercer_ctx *ctx, mc_loss_workspace *workspace, mc_loss_task *t) {
    const int64_t e = row_stride(workspace, t);
    mc_work work;
    beginning x = {.part = *t};
    if (e == 1)
        return MERCER_OK;
    x.part.n = (t->n + e - 1) / e;
    MC_TRY(mc_work_lay(ctx, &work, lay_out_workspace, &x));
    take_rows(t, e, &x);
    mercer_status status = solve_part(ctx, workspace, e, &x.part);
    MC_THEN(status, adopt_subset_solution(ctx, workspace, t, e, &x.part, x.b));
    mc_work_close(&work);
    return status;
}
