/* lms_steps.c: the steps of LMS, how long they are and when they end.

   W = diag(w), M = W^1/2 K W^1/2, sigma its largest eigenvalue.

       batch    alpha <- alpha + step W (y - K alpha)             converges for 0 < step < 2 / sigma; step = 1 / sigma
       unless given
       sample   alpha_i <- alpha_i + step w_i (y_i - f(x_i))      0 < step < 2 / max w_i k(x_i, x_i); half of that
       unless given

   In the coordinates of M's eigenvectors the t-th batch iterate from 0 is the spectral filter (1 - (1 - step s)^t) / s.
   sigma comes from a few Lanczos products, whose value is never above it, so a given step may still be too long by the
   little that is missing: the residual is watched and a run that blows up ends with an error, never with NaN.

   After every epoch the fitted values are formed anew from the coefficients. Their change over the epoch, divided by
   step and by max w_i k(x_i, x_i), is in batch mode the gradient that the certificate measures; the run ends when it is
   below tolerance times |y|. With held-out rows the coefficients of the epoch with the least error on them are handed
   over, and patience epochs without a better one end the run. */
#include "base/ctx.h"
#include "base/memory.h"
#include "base/progress.h"
#include "base/rng.h"
#include "base/status.h"
#include "base/workspace.h"
#include "data/table/data.h"
#include "gram/operator/gram.h"
#include "learn/lms/lms.h"
#include "linalg/lanczos.h"
#include <math.h>
#include <string.h>

static const double blown_up = 1e6; /* times the residual at the start */

typedef struct state {
    const mc_lms_values *v;
    mc_lms_run *run;
    double *F, *before; /* fitted values: n x outputs */
    double *held;       /* held x outputs */
    double *best;       /* n x outputs: the coefficients with the least held-out error */
    double *one;        /* outputs */
    int64_t *order;
    double bound, scale; /* of the step; max w k(x, x) */
    double target;       /* |y|, weighted */
    int64_t best_epoch;
} state;

static bool by_sample(const state *s) {
    return strcmp(s->run->set->mode, "sample") == 0;
}

/* ---- The length of a step ---- */

typedef struct scaled_values {
    const mc_lms_values *v;
    const double *root;
    double *scratch;
} scaled_values;

/* Y <- S K S V for one column. */
static mercer_status apply_scaled(mercer_ctx *ctx, const void *self, int64_t t, const double *V, double *Y) {
    const scaled_values *s = self;
    if (!s->root)
        return mc_lms_apply(ctx, s->v, t, V, Y);
    for (int64_t i = 0; i < s->v->n; i++)
        s->scratch[i] = s->root[i] * V[i];
    MC_TRY(mc_lms_apply(ctx, s->v, t, s->scratch, Y));
    for (int64_t i = 0; i < s->v->n; i++)
        Y[i] *= s->root[i];
    return MERCER_OK;
}

static mercer_status largest_eigenvalue(mercer_ctx *ctx, const state *s, double *out) {
    const scaled_values self = {.v = s->v, .root = s->run->p->root, .scratch = s->before};
    const mc_matrix M = {.n = s->v->n, .apply = apply_scaled, .self = &self};
    mc_spectrum ends;
    MC_TRY(mc_lanczos_spectrum(ctx, &M, MC_LMS_LANCZOS, &ends));
    *out = ends.high;
    return MERCER_OK;
}

static mercer_status measure_diagonal(mercer_ctx *ctx, state *s) {
    const mc_problem *p = s->run->p;
    mc_gram *gram = NULL;
    MC_TRY(mc_gram_open(ctx, p->kernel, p->x, NULL, MERCER_F64, &gram));
    const mercer_status status = mc_gram_diagonal(ctx, gram, s->before);
    mc_gram_close(gram);
    for (int64_t i = 0; i < p->n && !status; i++)
        s->scale = fmax(s->scale, mc_problem_weight(p, i) * s->before[i]);
    return status;
}

static mercer_status refuse_divergent_step(mercer_ctx *ctx, const state *s, double measured) {
    const bool weighted = s->run->p->root != NULL;
    if (by_sample(s))
        return mc_fail(
            ctx, MERCER_INVALID,
            "lms: step = %g diverges: one sample at a time it must be below %.6g, 2 over the largest %s (%.6g)",
            s->run->set->step, s->bound, weighted ? "w k(x, x)" : "k(x, x)", measured);
    return mc_fail(ctx, MERCER_INVALID,
                   "lms: step = %g diverges: it must be below %.6g, 2 over the largest eigenvalue of %s (%.6g)",
                   s->run->set->step, s->bound, weighted ? "W^1/2 K W^1/2" : "K", measured);
}

/* A matrix of zeros moves nothing, whatever the step. */
static mercer_status choose_step(mercer_ctx *ctx, state *s) {
    double measured = 0;
    mc_begin_phase(ctx, "step");
    MC_TRY(measure_diagonal(ctx, s));
    if (by_sample(s))
        measured = s->scale;
    else
        MC_TRY(largest_eigenvalue(ctx, s, &measured));
    s->bound = measured > 0 ? 2 / measured : INFINITY;
    const double given = s->run->set->step;
    if (given >= s->bound)
        return refuse_divergent_step(ctx, s, measured);
    s->run->step = given > 0 ? given : isfinite(s->bound) ? s->bound / 2 : 1;
    mc_log_message(ctx, "lms: step %g, safe below %g", s->run->step, s->bound);
    return MERCER_OK;
}

/* ---- Epochs ---- */

/* sqrt of sum w (a - b)^2 over rows and outputs. */
static double weighted_distance(const mc_problem *p, const double *a, const double *b) {
    double sum = 0;
    for (int64_t i = 0; i < p->n * p->outputs; i++)
        sum += mc_problem_weight(p, i / p->outputs) * (a[i] - b[i]) * (a[i] - b[i]);
    return sqrt(sum);
}

static void step_all(const state *s) {
    const mc_problem *p = s->run->p;
    for (int64_t i = 0; i < p->n * p->outputs; i++)
        s->run->alpha[i] += s->run->step * mc_problem_weight(p, i / p->outputs) * (p->Y[i] - s->F[i]);
}

static mercer_status step_each(mercer_ctx *ctx, const state *s, int64_t epoch) {
    const mc_problem *p = s->run->p;
    for (int64_t i = 0; i < p->n; i++)
        s->order[i] = i;
    if (s->run->set->shuffle) {
        mc_rng rng = mc_rng_at(ctx->options.seed, MC_STREAM_ORDER, (uint64_t)epoch);
        mc_rng_shuffle(&rng, s->order, p->n);
    }
    const mc_lms_pass pass = {
        .Y = p->Y, .root = p->root, .order = s->order, .step = s->run->step, .alpha = s->run->alpha, .f = s->one};
    return mc_lms_one_by_one(ctx, s->v, &pass);
}

static mercer_status check_residual(mercer_ctx *ctx, const state *s, int64_t epoch) {
    const double residual = weighted_distance(s->run->p, s->run->p->Y, s->F);
    if (residual <= blown_up * s->target)
        return MERCER_OK;
    return mc_fail(
        ctx, MERCER_NUMERIC,
        "lms: the steps diverge: the residual is %g after %lld epochs and was %g; give --step well below %.6g",
        residual, (long long)epoch, s->target, s->bound);
}

/* The held-out error of the coefficients as they stand; the best are kept. */
static mercer_status update_held_out_best(mercer_ctx *ctx, state *s, int64_t epoch) {
    mc_lms_run *run = s->run;
    const mercer_data *held = run->held;
    const int64_t outputs = run->p->outputs;
    double sum = 0, weight = 0;
    if (!held)
        return MERCER_OK;
    MC_TRY(mc_lms_apply_held(ctx, s->v, run->alpha, s->held));
    for (int64_t i = 0; i < held->n * outputs; i++) {
        const double w = held->weight ? held->weight[i / outputs] : 1, e = run->held_Y[i] - s->held[i];
        sum += w * e * e;
        weight += w;
    }
    const double rmse = sqrt(sum / weight);
    if (rmse >= run->held_rmse)
        return MERCER_OK;
    run->held_rmse = rmse;
    s->best_epoch = epoch;
    memcpy(s->best, run->alpha, (size_t)(run->p->n * outputs) * sizeof *s->best);
    return MERCER_OK;
}

/* One epoch; *over when it was the last that is needed. */
static mercer_status run_epoch(mercer_ctx *ctx, state *s, bool *over) {
    mc_lms_run *run = s->run;
    const mc_problem *p = run->p;
    double *const F = s->F;
    if (by_sample(s))
        MC_TRY(step_each(ctx, s, run->epochs));
    else
        step_all(s);
    run->epochs++;
    s->F = s->before;
    s->before = F;
    MC_TRY(mc_lms_apply(ctx, s->v, p->outputs, run->alpha, s->F));
    MC_TRY(check_residual(ctx, s, run->epochs));
    MC_TRY(update_held_out_best(ctx, s, run->epochs));
    const double gradient = weighted_distance(p, s->F, s->before) / (run->step * (s->scale > 0 ? s->scale : 1));
    *over =
        gradient <= run->set->tolerance * s->target || (run->held && run->epochs - s->best_epoch >= run->set->patience);
    return mc_progress_step(ctx, (double)run->epochs / (double)run->set->epochs,
                            (mc_watch){"gradient", gradient / s->target, run->set->tolerance});
}

static mercer_status iterate_epochs(mercer_ctx *ctx, state *s) {
    mc_lms_run *run = s->run;
    bool over = s->target == 0;
    MC_TRY(update_held_out_best(ctx, s, 0));
    for (mc_begin_phase(ctx, "epochs"); !over && run->epochs < run->set->epochs;) {
        mc_set_phase_span(ctx, (double)run->epochs / (double)run->set->epochs,
                          (double)(run->epochs + 1) / (double)run->set->epochs);
        MC_TRY(run_epoch(ctx, s, &over));
    }
    return MERCER_OK;
}

/* The last coefficients, or those that did best on the held-out rows. */
static void hand_over(state *s) {
    mc_lms_run *run = s->run;
    if (!run->held) {
        run->held_rmse = 0;
        return;
    }
    run->early = s->best_epoch < run->epochs;
    run->epochs = s->best_epoch;
    memcpy(run->alpha, s->best, (size_t)(run->p->n * run->p->outputs) * sizeof *s->best);
}

static mercer_status take_steps(mercer_ctx *ctx, state *s) {
    const mc_problem *p = s->run->p;
    s->target = weighted_distance(p, p->Y, s->F); /* F is zero */
    s->run->held_rmse = INFINITY;
    MC_TRY(choose_step(ctx, s));
    const mercer_status status = iterate_epochs(ctx, s);
    if (status && (s->run->epochs == 0 || (status != MERCER_TIME && status != MERCER_CANCELLED)))
        return status;
    s->run->stopped = mc_stop_taken(ctx); /* the coefficients stand after every single step */
    hand_over(s);
    return MERCER_OK;
}

static void lay_out_lms_workspace(mc_work *work, int64_t n, int64_t held, int64_t outputs, state *s) {
    s->F = mc_work_take(work, n * outputs, 8);
    s->before = mc_work_take(work, n * outputs, 8);
    s->best = mc_work_take(work, n * outputs, 8);
    s->held = mc_work_take(work, held * outputs, 8);
    s->one = mc_work_take(work, outputs, 8);
    s->order = mc_work_take(work, n, 8);
}

size_t mc_lms_steps_bytes(int64_t n, int64_t held, int64_t outputs) {
    mc_work counted = {0};
    lay_out_lms_workspace(&counted, n, held, outputs, &(state){0});
    return counted.used;
}

mercer_status mc_lms_steps(mercer_ctx *ctx, const mc_lms_values *values, mc_lms_run *run) {
    const int64_t n = run->p->n, outputs = run->p->outputs, held = run->held ? run->held->n : 0;
    state s = {.v = values, .run = run};
    mc_work work;
    MC_TRY(mc_work_open(ctx, &work, mc_lms_steps_bytes(n, held, outputs)));
    lay_out_lms_workspace(&work, n, held, outputs, &s);
    const mercer_status status = take_steps(ctx, &s);
    mc_work_close(&work);
    return status;
}
