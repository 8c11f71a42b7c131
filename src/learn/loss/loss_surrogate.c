/* loss_surrogate.c: smooth losses with few products with K. A factor F F' = K - E of low rank stands in for it:
   Newton's method on

       min over alpha and b of  sum_i c_i l(y_i, (F F'alpha)_i + s_i + b) + lambda/2 alpha'F F'alpha

   costs n r operations where it would cost n^2. One product with K then shows what the surrogate missed, s = E alpha,
   and the problem is solved again with that shift: at a fixed point F F'alpha + s = K alpha, and the conditions of the
   true optimum hold. The distance falls by a factor of about |E| c l''/lambda a round, the gap by its square. It ends
   when the gap is small enough, when the ratio of the last two says that one more round brought it there (the
   certificate will tell), or when rounds bring too little and Newton's method on K itself takes over. */
#include "base/progress.h"
#include "base/status.h"
#include "base/workspace.h"
#include "learn/loss/loss_workspace.h"
#include <math.h>
#include <string.h>

enum { ROUNDS = 12 };
static const double WORTH = 0.2;   /* of the gap may be left after a round, for another to be worth its product */
static const double CLOSE = 0.5;   /* what the surrogate misses beside lambda: beyond, it only shows where to begin */
static const double SURE = 0.05;   /* of the aim: a forecast below needs no product */
static const double CLOSER = 1e-3; /* of the gap, to which the surrogate is solved */

typedef struct corrected {
    int64_t n, k;
    double *f, *shift; /* n x k */
} corrected;

static void lay_out_corrected(mc_work *work, void *self) {
    corrected *c = self;
    c->f = mc_work_take(work, c->n * c->k, sizeof *c->f);
    c->shift = mc_work_take(work, c->n * c->k, sizeof *c->shift);
}

size_t mc_loss_correct_bytes(int64_t n, int64_t k) {
    return mc_slices_bytes(lay_out_corrected, &(corrected){.n = n, .k = k}) + mc_loss_find_start_bytes(n, k);
}

mercer_status mc_loss_solve_surrogate(mercer_ctx *ctx, mc_loss_workspace *workspace, mc_loss_task *t, double aim) {
    const mc_matrix K = workspace->K;
    workspace->K = mc_loss_precondition_matrix(workspace->inverse);
    const mercer_status status = mc_loss_newton(ctx, workspace, t, aim, false);
    workspace->K = K;
    return status;
}

/* The gap of the point that the surrogate led to, by a product: f <- K alpha, shift <- K alpha - F F'alpha. */
static mercer_status compare_with_kernel(mercer_ctx *ctx, mc_loss_workspace *workspace, mc_loss_task *t, double *f,
                                         double *shift, double *gap, double *size) {
    const mc_matrix stand_in = mc_loss_precondition_matrix(workspace->inverse);
    MC_TRY(mc_loss_product(ctx, workspace, t->k, false, t->alpha, f));
    MC_TRY(stand_in.apply(ctx, stand_in.self, t->k, t->alpha, t->f));
    t->shift = NULL;
    *gap = mc_loss_gap(t, t->alpha, f);
    *size = mc_loss_sum(t, f, t->b);
    t->shift = shift;
    for (int64_t i = 0; i < t->n * t->k; i++) {
        *size += t->lambda / 2 * t->alpha[i] * f[i];
        shift[i] = f[i] - t->f[i];
    }
    return MERCER_OK;
}

static mercer_status iterate_surrogate(mercer_ctx *ctx, mc_loss_workspace *workspace, mc_loss_task *t, double aim,
                                       double *f, double *shift, bool *arrived) {
    double before = INFINITY, gap = INFINITY, size = 1, goal = sqrt(aim), forecast = INFINITY;
    for (int round = 0; round < ROUNDS; round++, before = gap) {
        MC_TRY(mc_loss_solve_surrogate(ctx, workspace, t, goal));
        if (forecast <= SURE * aim * size) {
            for (int64_t i = 0; i < t->n * t->k; i++)
                f[i] = t->f[i] + shift[i];
            *arrived = true;
            return MERCER_OK;
        }
        MC_TRY(compare_with_kernel(ctx, workspace, t, f, shift, &gap, &size));
        mc_log_message(ctx, "%s: gap %.3g after %d products", t->loss->name, gap, round + 1);
        *arrived = gap <= aim * size;
        MC_TRY(mc_progress_step(ctx, -1, (mc_watch){"relative gap", gap / size, aim}));
        if (*arrived || workspace->missed > CLOSE || !(gap <= WORTH * before))
            return MERCER_OK;
        forecast = isfinite(before) ? gap * (gap / before) : INFINITY;
        goal = fmin(goal, fmax(0.5 * SURE * aim, CLOSER * gap / size));
    }
    return MERCER_OK;
}

/* The start as the surrogate sees it, and what that misses. */
static mercer_status stand_in_start(mercer_ctx *ctx, mc_loss_workspace *workspace, mc_loss_task *t, double *f,
                                    double *shift) {
    const mc_matrix stand_in = mc_loss_precondition_matrix(workspace->inverse);
    memcpy(f, t->f, (size_t)(t->n * t->k) * sizeof *f);
    MC_TRY(stand_in.apply(ctx, stand_in.self, t->k, t->alpha, t->f));
    for (int64_t i = 0; i < t->n * t->k; i++)
        shift[i] = f[i] - t->f[i];
    return MERCER_OK;
}

mercer_status mc_loss_correct(mercer_ctx *ctx, mc_loss_workspace *workspace, mc_loss_task *t, double aim,
                              bool *arrived) {
    mc_work work;
    *arrived = false;
    corrected c = {.n = t->n, .k = t->k};
    MC_TRY(mc_work_lay(ctx, &work, lay_out_corrected, &c));
    double *const f = c.f, *const shift = c.shift;
    memset(shift, 0, (size_t)(t->n * t->k) * sizeof *shift);
    t->shift = shift;
    mercer_status status =
        t->warm ? stand_in_start(ctx, workspace, t, f, shift) : mc_loss_find_start(ctx, workspace, t);
    workspace->set = false;
    MC_THEN(status, iterate_surrogate(ctx, workspace, t, aim, f, shift, arrived));
    t->shift = NULL;
    if (!status)
        memcpy(t->f, f, (size_t)(t->n * t->k) * sizeof *f);
    mc_work_close(&work);
    return status;
}
