/* loss_primal_point.c: the objective, its slopes and its gradient where Newton's method in the weights stands, and the
   way along a step from there. */
#include "learn/loss/loss_primal_point.h"
#include "base/parallel.h"
#include "base/status.h"
#include <float.h>
#include <math.h>
#include <string.h>

enum { HALVINGS = 40, REFINES = 4 };
enum { ENTRIES = 1024, CHUNKS = 64 };        /* of rows that are looked at at once, and how many of these at most */
static const double DESCENT = 1e-4;          /* share of the promised decrease that a step must bring */
static const double FAR = 1e-3, CLOSE = 0.1; /* as in loss_newton.c */

/* ---- Points ---- */

static bool is_intercept(const mc_primal_newton *s, int64_t j) {
    return s->t->intercept && j % s->P == s->P - 1;
}

static double penalty_of(const mc_primal_newton *s, const double *w) {
    double sum = 0;
    for (int64_t j = 0; j < s->M; j++)
        sum += is_intercept(s, j) ? 0 : w[j] * w[j];
    return s->t->lambda / 2 * sum;
}

void mc_primal_newton_intercepts(const mc_primal_newton *s, const double *w, double *b) {
    for (int64_t a = 0; a < s->t->k; a++)
        b[a] = s->t->intercept ? w[a * s->P + s->P - 1] : 0;
}

/* The losses of all rows, on all threads; functions of the caller's own are called by one. */
typedef struct looking {
    const mc_primal_newton *s;
    const double *f;
    bool chord;
    long double *sums; /* per chunk: of the losses; NULL: slopes and roots are asked for */
} looking;

static mc_loss_task task_of_rows(const looking *l, int64_t begin, int64_t end) {
    mc_loss_task part = *l->s->t;
    part.n = end - begin;
    part.y += begin;
    part.cost += begin;
    part.place += begin;
    part.f = (double *)l->f + begin * part.k;
    part.b = l->s->b;
    return part;
}

static void look_at_rows(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)thread;
    const looking *l = arg;
    const mc_loss_task part = task_of_rows(l, begin, end);
    if (l->sums)
        l->sums[chunk] = mc_loss_sum(&part, part.f, part.b);
    else
        mc_loss_derivatives(&part, l->chord, l->s->g + begin * part.k, l->s->root + begin * part.k);
}

static int64_t rows_at_once(const mc_primal_newton *s) {
    const int64_t rows = ENTRIES / s->t->k > s->t->n / CHUNKS ? ENTRIES / s->t->k : s->t->n / CHUNKS + 1;
    return s->t->own ? s->t->n : rows;
}

static mercer_status sum_losses(mercer_ctx *ctx, mc_primal_newton *s, const double *f) {
    long double sums[CHUNKS + 1], all = 0;
    looking l = {.s = s, .f = f, .sums = sums};
    const int64_t rows = rows_at_once(s);
    MC_TRY(mc_for(ctx, s->t->n, rows, look_at_rows, &l));
    for (int64_t c = 0; c < mc_chunk_count(s->t->n, rows); c++)
        all += sums[c];
    s->loss = (double)all;
    return MERCER_OK;
}

mercer_status mc_primal_newton_evaluate(mercer_ctx *ctx, mc_primal_newton *s, bool chord) {
    looking l = {.s = s, .f = s->F, .chord = chord};
    const mc_loss_task at = task_of_rows(&l, 0, s->t->n);
    MC_TRY(mc_for(ctx, s->t->n, rows_at_once(s), look_at_rows, &l));
    MC_TRY(mc_loss_check_slopes(ctx, &at, s->g, s->root));
    MC_TRY(mc_loss_primal_project(ctx, s->s, s->t, s->g, s->G));
    for (int64_t j = 0; j < s->M; j++)
        s->G[j] = -(s->G[j] + (is_intercept(s, j) ? 0 : s->t->lambda * s->w[j]));
    return MERCER_OK;
}

mercer_status mc_primal_newton_start(mercer_ctx *ctx, mc_primal_newton *s) {
    const mc_loss_task *t = s->t;
    if (t->warm || t->iterations > 0)
        MC_TRY(mc_loss_primal_project(ctx, s->s, t, t->alpha, s->w));
    else
        memset(s->w, 0, (size_t)s->M * sizeof *s->w);
    for (int64_t a = 0; a < t->k && t->intercept; a++)
        s->w[a * s->P + s->P - 1] = t->b[a];
    mc_primal_newton_intercepts(s, s->w, s->b);
    memcpy(s->F, t->f, (size_t)s->count * sizeof *s->F);
    MC_TRY(sum_losses(ctx, s, s->F));
    s->objective = s->loss + penalty_of(s, s->w);
    return mc_loss_check_sum(ctx, t, s->F, s->b, s->objective);
}

/* ---- Along a step ---- */

/* The objective at w + step U, which s->trial and s->trial_w then hold. */
static mercer_status move_to(mercer_ctx *ctx, mc_primal_newton *s, double step, double *value) {
    for (int64_t i = 0; i < s->count; i++)
        s->trial[i] = s->F[i] + step * s->E[i];
    for (int64_t j = 0; j < s->M; j++)
        s->trial_w[j] = s->w[j] + step * s->U[j];
    mc_primal_newton_intercepts(s, s->trial_w, s->b);
    MC_TRY(sum_losses(ctx, s, s->trial));
    *value = s->loss + penalty_of(s, s->trial_w);
    return MERCER_OK;
}

/* Nearer to the lowest point on the line, as in loss_newton.c. */
static mercer_status refine_step_length(mercer_ctx *ctx, mc_primal_newton *s, double step, double *value) {
    const double slope = -2 * s->promise;
    for (int i = 0; i < REFINES && -slope > FAR * fabs(s->objective); i++) {
        const double bend = *value - s->objective - slope * step, vertex = -slope * step * step / (2 * bend);
        const double next = bend > 0 ? fmin(fmax(vertex, step / 4), 4 * step) : 4 * step;
        double there;
        if (fabs(next - step) < CLOSE * step)
            break;
        MC_TRY(move_to(ctx, s, next, &there));
        if (!(there < *value))
            return move_to(ctx, s, step, value);
        step = next;
        *value = there;
    }
    return MERCER_OK;
}

static void take_step(mc_primal_newton *s, double value) {
    double *const F = s->F, *const w = s->w;
    s->F = s->trial;
    s->trial = F;
    s->w = s->trial_w;
    s->trial_w = w;
    s->objective = value;
}

mercer_status mc_primal_newton_search(mercer_ctx *ctx, mc_primal_newton *s, bool *moved) {
    const double noise = 8 * DBL_EPSILON * fabs(s->objective);
    *moved = false;
    double step = 1;
    for (int i = 0; i < HALVINGS && s->promise > 0; i++, step /= 2) {
        double value;
        MC_TRY(move_to(ctx, s, step, &value));
        MC_TRY(mc_loss_check_sum(ctx, s->t, s->trial, s->b, value));
        *moved = value <= s->objective - DESCENT * step * 2 * s->promise + (s->promise < noise ? noise : 0);
        if (*moved) {
            if (s->t->loss->probabilities)
                MC_TRY(refine_step_length(ctx, s, step, &value));
            take_step(s, value);
            return MERCER_OK;
        }
    }
    mc_primal_newton_intercepts(s, s->w, s->b);
    return MERCER_OK;
}

mercer_status mc_primal_newton_adopt(mercer_ctx *ctx, mc_primal_newton *s) {
    mercer_status status = mc_loss_primal_expand(ctx, s->s, s->t, s->trial_w, s->trial);
    mc_primal_newton_intercepts(s, s->trial_w, s->b);
    MC_THEN(status, sum_losses(ctx, s, s->trial));
    const double value = s->loss + penalty_of(s, s->trial_w);
    s->begun = !status && value < s->objective;
    if (s->begun)
        take_step(s, value);
    mc_primal_newton_intercepts(s, s->w, s->b);
    return status;
}
