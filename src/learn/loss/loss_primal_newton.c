/* loss_primal_newton.c: Newton's method in the weights w of explicit features and the intercepts b. With Z the features
   of the rows, g the slopes and W the second derivatives at F = Z w + b,

       G = Z'g + lambda w (and 1'g),     H U = -G,     (w, b) <- (w, b) + step U.

   A step costs passes over Z where one in the coefficients of the rows would cost products with K. The answer is
   coefficients all the same, for the certificate is theirs: those of a full step are

       alpha = -(g + W Z U) / lambda,     Z'alpha = w + U - r / lambda,   r what the linear system was left with,

   whose gap is of fourth order in the step, so that one which promises little is tried for the answer: its system is
   solved until r does not matter beside lambda, alpha is made feasible, f = Z Z'alpha, and the gap of the two decides.
   The best so far is kept in the task, whatever ends the search.

   The first steps from nothing are long ways to a place that some of the rows know nearly as well as all: many rows
   begin with every EVERY-th or so, each counted as often (loss_start.c has the same for kernels without features). */
#include "learn/loss/loss_primal_point.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "base/status.h"
#include "base/workspace.h"
#include <float.h>
#include <math.h>
#include <string.h>

enum { IDLE = 4 };
enum { MANY = 1000, EVERY = 8, EVERY_LEAST = 4, ENOUGH = 16, STEPS = 10 }; /* ENOUGH: rows of the part for a feature */
static const double EASY = 0.1, ROUGH = 1e-3;  /* promise: a part of the rows knows no better */
static const double LOOSE = 0.1, TIGHT = 1e-9; /* of linear systems */
/* times the gap aimed at: a promise below is tried for the answer; of few rows, whose answer is to be that of the
   problem and not of the way to it */
static const double NEARLY = 30, NEARLY_FEW = 1e-3;
static const double LITTLE = 0.2; /* of that gap may come from the residual of a linear system */

static void newton_slices(mc_work *work, void *self) {
    mc_primal_newton *s = self;
    const int64_t n = s->t->n, k = s->t->k;
    double **const rows[] = {&s->F, &s->g, &s->root, &s->E, &s->trial, &s->found};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        *rows[i] = mc_work_take(work, n * k, sizeof(double));
    double **const weights[] = {&s->w, &s->G, &s->U, &s->trial_w};
    for (size_t i = 0; i < sizeof weights / sizeof *weights; i++)
        *weights[i] = mc_work_take(work, s->M, sizeof(double));
    s->b = mc_work_take(work, k, sizeof(double));
    s->mean.C = mc_work_take(work, k * k, sizeof(double));
    s->mean.scratch = mc_work_take(work, 2 * k, sizeof(double));
}

size_t mc_loss_primal_newton_bytes(int64_t n, int64_t D, int64_t k) {
    mc_loss_task t = {.n = n, .k = k};
    return mc_slices_bytes(newton_slices, &(mc_primal_newton){.t = &t, .M = k * (D + 1)});
}

/* ---- The answer ---- */

/* s->found becomes the task's answer where its gap is the least so far. b: its intercepts. */
static mercer_status offer_answer(mercer_ctx *ctx, mc_primal_newton *s, const double *b) {
    mc_loss_task *t = s->t;
    double *before = s->mean.scratch; /* feasibility has used it */
    if (!mc_loss_feasible(t, s->root, &s->mean, s->trial, s->found))
        return MERCER_OK;
    MC_TRY(mc_loss_primal_project(ctx, s->s, t, s->found, s->trial_w));
    MC_TRY(mc_loss_primal_expand(ctx, s->s, t, s->trial_w, s->trial));
    memcpy(before, t->b, (size_t)t->k * sizeof *before);
    memcpy(t->b, b, (size_t)t->k * sizeof *b);
    const double gap = mc_loss_gap(t, s->found, s->trial);
    if (!(gap < s->best)) {
        memcpy(t->b, before, (size_t)t->k * sizeof *before);
        return MERCER_OK;
    }
    s->best = gap;
    memcpy(t->alpha, s->found, (size_t)s->count * sizeof *t->alpha);
    memcpy(t->f, s->trial, (size_t)s->count * sizeof *t->f);
    return MERCER_OK;
}

/* The coefficients of the full step (E = Z U), or of none. */
static mercer_status try_answer(mercer_ctx *ctx, mc_primal_newton *s, bool full) {
    mc_loss_task *t = s->t;
    const int64_t k = t->k;
    mc_primal_newton_intercepts(s, s->w, s->b);
    for (int64_t i = 0; i < t->n; i++) {
        double *e = s->found + i * k;
        for (int64_t a = 0; a < k; a++)
            e[a] = full ? s->E[i * k + a] + (t->intercept ? s->U[a * s->P + s->P - 1] : 0) : 0;
        mc_loss_primal_curve(k, s->root + i * k, e);
        for (int64_t a = 0; a < k; a++)
            e[a] = -(s->g[i * k + a] + e[a]) / t->lambda;
    }
    for (int64_t a = 0; a < k && full && t->intercept; a++)
        s->b[a] += s->U[a * s->P + s->P - 1];
    const mercer_status status = offer_answer(ctx, s, s->b);
    mc_primal_newton_intercepts(s, s->w, s->b);
    return status;
}

/* ---- The search ---- */

static mercer_status solve_step(mercer_ctx *ctx, mc_primal_newton *s, double accuracy, double least) {
    MC_TRY(mc_loss_primal_solve(ctx, s->s, s->G, accuracy, least, s->U));
    double along = 0;
    for (int64_t j = 0; j < s->M; j++)
        along += s->G[j] * s->U[j];
    s->promise = along / 2;
    return MERCER_OK;
}

/* U and E; a step that promises little is tried for the answer. */
static mercer_status make_step(mercer_ctx *ctx, mc_primal_newton *s, double aim, bool *arrived) {
    const bool few = s->t->n <= MC_LOSS_FEW;
    const double size = fabs(s->objective), nearly = (few ? NEARLY_FEW : NEARLY) * aim * size;
    const double least = 2 * LITTLE * aim * size * s->t->lambda * s->t->lambda, last = few ? TIGHT : LOOSE;
    const bool expected = s->promise <= nearly;
    MC_TRY(mc_loss_primal_set(ctx, s->s, s->t, s->root));
    MC_TRY(solve_step(ctx, s, expected ? last : LOOSE, expected ? least : 0));
    const bool near = s->promise <= nearly;
    if (near && !expected)
        MC_TRY(solve_step(ctx, s, last, least));
    MC_TRY(mc_loss_primal_expand(ctx, s->s, s->t, s->U, s->E));
    if (near)
        MC_TRY(try_answer(ctx, s, true));
    *arrived = s->best <= aim * size;
    return MERCER_OK;
}

static mercer_status advance_newton(mercer_ctx *ctx, mc_primal_newton *s, double aim, bool *arrived, bool *moved) {
    MC_TRY(make_step(ctx, s, aim, arrived));
    if (*arrived)
        return MERCER_OK;
    MC_TRY(mc_primal_newton_search(ctx, s, moved));
    if (*moved)
        return MERCER_OK;
    MC_TRY(mc_primal_newton_evaluate(ctx, s, true)); /* by chords when curvatures lead nowhere */
    s->promise = INFINITY;
    MC_TRY(make_step(ctx, s, aim, arrived));
    return *arrived ? MERCER_OK : mc_primal_newton_search(ctx, s, moved);
}

static mercer_status iterate_newton(mercer_ctx *ctx, mc_primal_newton *s, double aim) {
    mc_loss_task *t = s->t;
    double before = INFINITY;
    for (int64_t idle = 0; idle <= IDLE;) {
        bool arrived = false, moved = false;
        MC_TRY(mc_primal_newton_evaluate(ctx, s, t->iterations == 0 && !t->warm && t->k == 1 && !s->begun));
        mc_log_message(ctx, "%s %lld: objective %.10g, promise %.3g, gap %.3g", t->loss->name, (long long)t->iterations,
                       s->objective, s->promise, s->best);
        MC_TRY(
            mc_progress_step(ctx, -1, (mc_watch){"relative gap", fmin(s->best, s->promise) / fabs(s->objective), aim}));
        if (t->iterations >= t->iterations_max) {
            t->stopped = "steps";
            break;
        }
        MC_TRY(advance_newton(ctx, s, aim, &arrived, &moved));
        t->iterations++;
        if (arrived)
            return MERCER_OK;
        idle = s->objective < before * (1 - 1e-14) ? 0 : idle + 1;
        before = fmin(before, s->objective);
        if (!moved)
            break;
    }
    return try_answer(ctx, s, false);
}

/* Told to stop: the start, or the point it got to, whichever has the smaller gap. */
static void settle_answer(mercer_ctx *ctx, mc_primal_newton *s) {
    mc_shield_from_stop(ctx, true);
    if (isinf(s->best) && mc_loss_is_feasible(s->t, s->t->alpha))
        s->best = mc_loss_gap(s->t, s->t->alpha, s->t->f);
    if (!mc_primal_newton_evaluate(ctx, s, false))
        (void)try_answer(ctx, s, false);
    mc_shield_from_stop(ctx, false);
}

static mercer_status open_newton(mercer_ctx *ctx, mc_loss_primal *primal, mc_loss_task *t, mc_work *work,
                                 mc_primal_newton *s) {
    *s = (mc_primal_newton){.s = primal, .t = t, .promise = INFINITY, .best = INFINITY, .count = t->n * t->k};
    s->M = mc_loss_primal_unknowns(primal, t);
    s->P = s->M / t->k;
    MC_TRY(mc_work_lay(ctx, work, newton_slices, s));
    return mc_primal_newton_start(ctx, s);
}

/* ---- A part of the rows first ---- */

/* 1: no part of the rows would do. */
static int64_t row_stride(const mc_primal_newton *s) {
    const mc_loss_task *t = s->t;
    const int64_t most = t->n / (ENOUGH * s->P);
    return t->k > 1 || t->own || t->warm || t->iterations > 0 || t->n < MANY || most < EVERY_LEAST ? 1
           : most < EVERY                                                                          ? most
                                                                                                   : EVERY;
}

typedef struct part_rows {
    int64_t n, k;
    double *cost, *y, *alpha, *f, *b;
} part_rows;

static void lay_out_part(mc_work *work, void *self) {
    part_rows *r = self;
    r->cost = mc_work_take(work, r->n, sizeof *r->cost);
    r->y = mc_work_take(work, r->n, sizeof *r->y);
    r->alpha = mc_work_take(work, r->n * r->k, sizeof *r->alpha);
    r->f = mc_work_take(work, r->n * r->k, sizeof *r->f);
    r->b = mc_work_take(work, r->k, sizeof *r->b);
}

size_t mc_loss_primal_part_bytes(int64_t n, int64_t k) {
    return mc_slices_bytes(lay_out_part, &(part_rows){.n = n, .k = k});
}

static void take_part(const mc_loss_task *t, int64_t stride, mc_loss_task *part, const part_rows *rows) {
    part->cost = rows->cost;
    part->y = rows->y;
    part->alpha = rows->alpha;
    part->f = rows->f;
    part->b = rows->b;
    for (int64_t i = 0; i < part->n; i++) {
        rows->cost[i] = (double)stride * t->cost[i * stride];
        rows->y[i] = t->y[i * stride];
    }
    memcpy(part->b, t->b, (size_t)t->k * sizeof *part->b);
}

/* Steps until they promise little. *begun: whether there was any; where the first promises little, all rows are soon
   there too. */
static mercer_status descend_roughly(mercer_ctx *ctx, mc_primal_newton *s, bool *begun) {
    *begun = false;
    for (int step = 0; step < STEPS; step++) {
        bool moved;
        MC_TRY(mc_primal_newton_evaluate(ctx, s, step == 0 && s->t->k == 1));
        MC_TRY(mc_loss_primal_set(ctx, s->s, s->t, s->root));
        MC_TRY(solve_step(ctx, s, LOOSE, 0));
        if (!(s->promise > (step ? ROUGH : EASY) * fabs(s->objective)))
            return MERCER_OK;
        MC_TRY(mc_loss_primal_expand(ctx, s->s, s->t, s->U, s->E));
        MC_TRY(mc_primal_newton_search(ctx, s, &moved));
        *begun = true;
        if (!moved)
            return MERCER_OK;
    }
    return MERCER_OK;
}

static mercer_status solve_part(mercer_ctx *ctx, mc_primal_newton *s, int64_t stride, mc_loss_task *part, bool *begun) {
    mc_loss_primal *primal = NULL;
    mc_work work = {0};
    mc_primal_newton some;
    mercer_status status = mc_loss_primal_sample(ctx, s->s, stride, &primal);
    MC_THEN(status, open_newton(ctx, primal, part, &work, &some));
    MC_THEN(status, descend_roughly(ctx, &some, begun));
    if (!status)
        memcpy(s->trial_w, some.w, (size_t)s->M * sizeof *s->w);
    mc_work_close(&work);
    mc_loss_primal_close(primal);
    return status;
}

static mercer_status begin_with_part(mercer_ctx *ctx, mc_primal_newton *s) {
    const int64_t stride = row_stride(s);
    mc_loss_task part = *s->t;
    mc_work work;
    if (stride == 1)
        return MERCER_OK;
    part.n = mc_chunk_count(s->t->n, stride);
    part_rows rows = {.n = part.n, .k = part.k};
    MC_TRY(mc_work_lay(ctx, &work, lay_out_part, &rows));
    take_part(s->t, stride, &part, &rows);
    bool begun = false;
    mercer_status status = solve_part(ctx, s, stride, &part, &begun);
    if (begun)
        MC_THEN(status, mc_primal_newton_adopt(ctx, s));
    mc_work_close(&work);
    return status;
}

mercer_status mc_loss_primal_newton(mercer_ctx *ctx, mc_loss_primal *primal, mc_loss_task *t, double aim) {
    mc_primal_newton s;
    mc_work work = {0};
    mercer_status status = open_newton(ctx, primal, t, &work, &s);
    const bool ready = !status;
    MC_THEN(status, begin_with_part(ctx, &s));
    MC_THEN(status, iterate_newton(ctx, &s, aim));
    if (ready && (status == MERCER_TIME || status == MERCER_CANCELLED))
        settle_answer(ctx, &s);
    mc_work_close(&work);
    return status;
}
