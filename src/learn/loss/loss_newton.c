/* loss_newton.c: smooth losses by Newton's method. With g the slopes, W the second derivatives at F = f + b, and
   rho = -(lambda alpha + g), which is zero at the solution, a step (D, db) solves

       lambda D + W (K D + db) = rho,    columns of D sum to zero (with an intercept),

   which is Newton's equation of the objective divided by K: a descent direction whatever the rank of K. Each step is
   shortened until the objective falls, that of softmax brought to where it is about lowest (f is linear along it, so a
   trial costs n). The first step from nothing uses chords instead of curvatures: a parabola above the loss, so that it
   lands safely wherever it starts from; so does a step that finds no descent. The end is measured by the duality gap at
   a feasible point near alpha, and that point is the answer. */
#include "base/memory.h"
#include "linalg/block_vectors.h"
#include "base/progress.h"
#include "base/status.h"
#include "base/workspace.h"
#include "learn/loss/loss_solver.h"
#include <float.h>
#include <math.h>
#include <string.h>

enum { HALVINGS = 40, REFINES = 4, IDLE = 4 };               /* IDLE: steps that change nothing before it ends */
static const double LOOSE = 0.01, TIGHT = 1e-9, SLACK = 0.1; /* of linear systems */
static const double POOR = 0.3;                              /* of the gap left after a step */
static const double WELL = 0.2;     /* of the gap left after a step, up to which its curvatures serve once more */
static const double DESCENT = 1e-4; /* share of the promised decrease that a step must bring */
/* promised decrease over the objective, above which the length of a step is worth refining */
static const double FAR = 1e-8;
static const double CLOSE = 0.1; /* change of a length that is not */

/* The objective along a step: what it takes to compute it anywhere on it. */
typedef struct along {
    double energy, cross, square; /* alpha'f, D'f, D'KD */
    double slope;                 /* at the beginning */
} along;

typedef struct loss_newton {
    mc_loss_task *t;
    mc_loss_workspace *workspace;
    double *g, *root, *rho, *D, *KD, *trial, *dual, *db, *trial_b;
    mc_loss_mean mean;             /* scratch alone */
    double objective, gap, before; /* before: the gap a step ago */
    double loose;                  /* accuracy of a linear system at most */
    /* steps by chords in a row; those of softmax are short, and a few show how far precision goes */
    int chords;
} loss_newton;

static void lay_out_newton(mc_work *work, int64_t n, int64_t k, loss_newton *s) {
    double **const slices[] = {&s->g, &s->root, &s->rho, &s->D, &s->KD, &s->trial, &s->dual};
    for (size_t i = 0; i < sizeof slices / sizeof *slices; i++)
        *slices[i] = mc_work_take(work, n * k, sizeof(double));
    s->db = mc_work_take(work, k, sizeof(double));
    s->trial_b = mc_work_take(work, k, sizeof(double));
    s->mean.C = mc_work_take(work, k * k, sizeof(double));
    s->mean.scratch = mc_work_take(work, 2 * k, sizeof(double));
}

size_t mc_loss_newton_bytes(int64_t n, int64_t k) {
    mc_work counted = {0};
    lay_out_newton(&counted, n, k, &(loss_newton){0});
    return counted.used;
}

double mc_loss_gap(const mc_loss_task *t, const double *alpha, const double *f) {
    const double shifted = t->shift ? mc_dot_extended(t->n * t->k, alpha, t->shift) : 0;
    return mc_loss_sum(t, f, t->b) + mc_loss_conjugate(t, alpha)
           + t->lambda * (mc_dot_extended(t->n * t->k, alpha, f) + shifted);
}

/* Slopes, roots, rho, and a feasible point near alpha, which s->dual then holds, with its gap as if f belonged to it.
   */
static void evaluate_newton_point(loss_newton *s, bool chord) {
    mc_loss_task *t = s->t;
    const int64_t count = t->n * t->k;
    mc_loss_derivatives(t, chord, s->g, s->root);
    for (int64_t i = 0; i < count; i++)
        s->rho[i] = -(t->lambda * t->alpha[i] + s->g[i]);
    memcpy(s->dual, t->alpha, (size_t)count * sizeof *s->dual);
    const bool feasible = mc_loss_feasible(t, s->root, &s->mean, s->trial, s->dual);
    const double loss = mc_loss_sum(t, t->f, t->b), energy = mc_dot_extended(count, t->alpha, t->f);
    s->objective = loss + t->lambda / 2 * energy;
    s->gap = feasible ? mc_loss_gap(t, s->dual, t->f) : INFINITY;
}

static double objective_at(loss_newton *s, const along *a, double step) {
    const mc_loss_task *t = s->t;
    for (int64_t i = 0; i < t->n * t->k; i++)
        s->trial[i] = t->f[i] + step * s->KD[i];
    for (int64_t j = 0; j < t->k; j++)
        s->trial_b[j] = t->b[j] + step * s->db[j];
    return mc_loss_sum(t, s->trial, s->trial_b)
           + t->lambda / 2 * (a->energy + step * (2 * a->cross + step * a->square));
}

/* The derivative along the step. */
static double slope_of(const loss_newton *s, double cross) {
    const mc_loss_task *t = s->t;
    long double sum = mc_dot_extended(t->n * t->k, s->g, s->KD) + t->lambda * cross;
    for (int64_t i = 0; i < t->n * t->k; i++)
        sum += (long double)s->g[i] * s->db[i % t->k];
    return (double)sum;
}

static void take_step(loss_newton *s, double step) {
    mc_loss_task *t = s->t;
    for (int64_t i = 0; i < t->n * t->k; i++)
        t->alpha[i] += step * s->D[i];
    memcpy(t->f, s->trial, (size_t)(t->n * t->k) * sizeof *t->f);
    memcpy(t->b, s->trial_b, (size_t)t->k * sizeof *t->b);
}

/* Nearer to the lowest point on the line, by parabolas through the beginning, its slope and the last trial. From far
   away the curvatures of softmax at equal shares are no guide to how far a step should go: the more classes, the less.
   s->trial is left at the step returned. */
static double refine_step_length(loss_newton *s, const along *a, double step, double value) {
    for (int i = 0; i < REFINES && -a->slope > FAR * fabs(s->objective); i++) {
        const double bend = value - s->objective - a->slope * step, vertex = -a->slope * step * step / (2 * bend);
        const double next = bend > 0 ? fmin(fmax(vertex, step / 4), 4 * step) : 4 * step;
        if (fabs(next - step) < CLOSE * step)
            break;
        const double there = objective_at(s, a, next);
        if (!(there < value)) {
            objective_at(s, a, step);
            break;
        }
        step = next;
        value = there;
    }
    return step;
}

/* *moved: whether the objective fell. Below its own rounding a full step is taken on trust once: the gap will tell. */
static mercer_status search_along_step(mercer_ctx *ctx, loss_newton *s, bool *moved) {
    const mc_loss_task *t = s->t;
    const int64_t count = t->n * t->k;
    along a = {mc_dot_extended(count, t->alpha, t->f), mc_dot_extended(count, s->D, t->f),
               mc_dot_extended(count, s->D, s->KD), 0};
    a.slope = slope_of(s, a.cross);
    *moved = false;
    if (!(a.slope < 0) || !isfinite(a.square))
        return MERCER_OK;
    double step = 1;
    for (int i = 0; i < HALVINGS && !*moved; i++, step /= 2) {
        const double value = objective_at(s, &a, step);
        MC_TRY(mc_loss_check_sum(ctx, t, s->trial, s->trial_b, value));
        const double noise = 8 * DBL_EPSILON * (fabs(s->objective) + fabs(t->lambda * a.energy));
        *moved = value <= s->objective + DESCENT * step * a.slope + (-a.slope < noise ? noise : 0);
        if (*moved)
            take_step(s, t->k > 1 ? refine_step_length(s, &a, step, value) : step);
    }
    return MERCER_OK;
}

/* Accuracy of the linear system: what the next gap needs, and no more. The square of the residual is a gap; a step
   solved exactly would leave the gap times the square of the last ratio, or the aim. A step that brought little is
   followed by more accurate ones: large parts of the residual can hide in rows of little curvature. For few rows
   accuracy costs nothing, and the answer then does not depend on how conjugate gradients went: a row of weight 2 is the
   row twice. */
static double accuracy_of(loss_newton *s, double aim) {
    if (s->t->n <= MC_LOSS_FEW)
        return TIGHT;
    if (!isfinite(s->gap) || !(s->gap > 0))
        return s->loose;
    const double ratio = isfinite(s->before) ? s->gap / s->before : LOOSE,
                 enough = sqrt(aim * fabs(s->objective) / s->gap);
    s->loose = ratio > POOR ? fmax(TIGHT, 0.1 * s->loose) : s->loose;
    return fmax(TIGHT, fmin(s->loose, SLACK * fmax(ratio, enough)));
}

static mercer_status step_with(mercer_ctx *ctx, loss_newton *s, double aim, bool anew, bool exact, bool *moved) {
    MC_TRY(
        mc_loss_step(ctx, s->workspace, s->t, s->root, anew, s->rho, accuracy_of(s, aim), exact, s->D, s->KD, s->db));
    return search_along_step(ctx, s, moved);
}

/* Whether the feasible point, with the f that is its own, has a gap small enough: then it is the answer. */
static mercer_status test_duality_gap(mercer_ctx *ctx, loss_newton *s, double aim, bool exact, bool *arrived) {
    mc_loss_task *t = s->t;
    const int64_t count = t->n * t->k;
    double most = 0;
    *arrived = s->gap <= aim * fabs(s->objective);
    for (int64_t i = 0; i < count; i++)
        most = fmax(most, fabs(s->D[i] = s->dual[i] - t->alpha[i]));
    if (!*arrived || most == 0)
        return MERCER_OK;
    MC_TRY(mc_loss_product(ctx, s->workspace, t->k, exact, s->D, s->KD));
    for (int64_t i = 0; i < count; i++)
        s->trial[i] = t->f[i] + s->KD[i];
    s->gap = mc_loss_gap(t, s->dual, s->trial);
    *arrived = s->gap <= aim * fabs(s->objective);
    if (*arrived)
        memcpy(t->f, s->trial, (size_t)count * sizeof *t->f);
    return MERCER_OK;
}

/* One step; by chords when curvatures lead nowhere. */
static mercer_status advance_newton(mercer_ctx *ctx, loss_newton *s, double aim, bool exact, bool *moved) {
    MC_TRY(step_with(ctx, s, aim, s->gap > WELL * s->before, exact, moved));
    s->chords = *moved ? 0 : s->chords + 1;
    if (*moved || (s->t->k > 1 && s->chords > IDLE))
        return MERCER_OK;
    mc_loss_derivatives(s->t, true, s->g, s->root);
    return step_with(ctx, s, aim, true, exact, moved);
}

static mercer_status iterate_newton(mercer_ctx *ctx, loss_newton *s, double aim, bool exact) {
    mc_loss_task *t = s->t;
    double best = INFINITY, before = INFINITY;
    for (int64_t stale = 0, idle = 0;;) {
        evaluate_newton_point(s, t->iterations == 0 && !t->warm && t->k == 1);
        MC_TRY(mc_loss_check_slopes(ctx, t, s->g, s->root));
        MC_TRY(mc_loss_check_sum(ctx, t, t->f, t->b, s->objective));
        mc_log_message(ctx, "%s %lld: objective %.10g, gap %.3g", t->loss->name, (long long)t->iterations, s->objective,
                       s->gap);
        MC_TRY(mc_progress_step(
            ctx, -1, (mc_watch){t->shift ? "gap of a stand-in" : "relative gap", s->gap / fabs(s->objective), aim}));
        stale = s->gap < 0.5 * best ? 0 : stale + 1;
        best = fmin(best, s->gap);
        idle = s->objective < before * (1 - 1e-14) ? 0 : idle + 1;
        before = fmin(before, s->objective);
        bool arrived = false, moved = false;
        MC_TRY(test_duality_gap(ctx, s, aim, exact, &arrived));
        if (arrived)
            return MERCER_OK;
        if (t->iterations >= t->iterations_max) {
            t->stopped = "steps";
            return MERCER_OK;
        }
        MC_TRY(advance_newton(ctx, s, aim, exact, &moved));
        s->before = s->gap;
        t->iterations++;
        if (!moved || (idle >= IDLE && stale >= IDLE)) {
            evaluate_newton_point(s, false);
            return MERCER_OK; /* as far as the precision of the products goes; the certificate says how far that is */
        }
    }
}

mercer_status mc_loss_newton(mercer_ctx *ctx, mc_loss_workspace *workspace, mc_loss_task *t, double aim, bool exact) {
    loss_newton s = {.t = t, .workspace = workspace, .gap = INFINITY, .before = INFINITY, .loose = LOOSE};
    mc_work work;
    MC_TRY(mc_work_open(ctx, &work, mc_loss_newton_bytes(t->n, t->k)));
    lay_out_newton(&work, t->n, t->k, &s);
    mercer_status status = iterate_newton(ctx, &s, aim, exact);
    if (status == MERCER_TIME || status == MERCER_CANCELLED)
        evaluate_newton_point(&s, false); /* the answer so far is settled too */
    if (isfinite(s.gap))
        memcpy(t->alpha, s.dual, (size_t)(t->n * t->k) * sizeof *t->alpha);
    mc_work_close(&work);
    return status;
}
