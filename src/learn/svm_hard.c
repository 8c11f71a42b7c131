/* svm_hard.c: the hard margin. C rises a hundredfold from stage to stage, each starting from that multiple of the last multipliers, which
   is feasible and needs no kernel value. Once no multiplier is at its bound the solution is that of C = infinity. The loss at the optimum
   of C is at most |w|^2 / (2 C), w the widest separating margin: where it stays as it is while C grows ten thousandfold, to where rows
   that differ by a millionth of their size to the kernel would be told apart, no margin separates, and the multipliers would grow without
   end.

   A finite C beyond the last stage is reached by the same stages: among numbers of that size double precision cannot tell where the small
   multipliers of a solution are, and most often the solution of an early stage has none at its bound and is that of every larger C. */
#include "base/memory.h"
#include "base/status.h"
#include "data/data.h"
#include "kernel/kernel.h"
#include "learn/svm.h"
#include <math.h>

static const double FIRST = 1e2, RISE = 1e2, PATIENCE = 1e6, LAST = 1e11; /* C times the mean diagonal of K */

static bool at_bound(const mc_svm *s, const mc_task *t, int64_t v) {
    return t->beta[v] != 0 && fabs(t->beta[v]) >= mc_task_bound(s, t, v % t->n);
}

static int64_t count_bounded(const mc_svm *s, const mc_task *t) {
    int64_t count = 0;
    for (int64_t v = 0; v < t->m; v++)
        count += at_bound(s, t, v);
    return count;
}

static double total_loss(const mc_svm *s, const mc_task *t) {
    double sum = 0;
    for (int64_t i = 0; i < t->n; i++)
        sum += fmax(0, 1 - mc_task_sign(s, t, i) * (t->f[i] + t->intercept));
    return sum;
}

/* Whether the kernel cannot tell two rows apart; x and z hold a row each. */
static bool twins(const mc_svm *s, int64_t row, int64_t other, double *x, double *z) {
    mc_data_row(s->p.x, row, x);
    mc_data_row(s->p.x, other, z);
    const double both = s->diagonal[row] + s->diagonal[other];
    return both - 2 * mc_eval(s->p.kernel->root, x, z, s->p.x->d) <= 1e-6 * both;
}

/* Two rows of different classes that are the same to the kernel, among those at the bound; -1: none was found. */
static mercer_status find_twins(mercer_ctx *ctx, const mc_svm *s, const mc_task *t, int64_t *a, int64_t *b) {
    const int64_t d = mc_data_row_width(s->p.x);
    double *x = NULL;
    *a = *b = -1;
    MC_TRY(MC_ALLOC(ctx, x, 2 * d));
    for (int64_t i = 0; i < t->split && *a < 0; i++)
        for (int64_t j = t->split; j < t->n && *a < 0 && at_bound(s, t, i); j++) {
            const int64_t row = mc_task_row(s, t, i), other = mc_task_row(s, t, j);
            if (at_bound(s, t, j) && twins(s, row, other, x, x + d)) {
                *a = s->order[row];
                *b = s->order[other];
            }
        }
    mc_free(x);
    return MERCER_OK;
}

static mercer_status give_up(mercer_ctx *ctx, const mc_svm *s, const mc_task *t) {
    const char *first = s->p.x->label[t->a], *second = mc_task_second(s, t);
    int64_t a = -1, b = -1;
    if (t->b >= 0)
        MC_TRY(find_twins(ctx, s, t, &a, &b));
    if (a >= 0)
        return mc_fail(ctx, MERCER_NUMERIC,
                       "svc: no margin separates '%s' from '%s': rows %lld and %lld are the same to this kernel and of different classes; "
                       "take a finite C", first, second, (long long)a + 1, (long long)b + 1);
    return mc_fail(ctx, MERCER_NUMERIC,
                   "svc: no margin separates '%s' from '%s' under this kernel: the duals diverge (at C = %g %lld rows are still inside the "
                   "margin); take a finite C or another kernel", first, second, s->C, (long long)count_bounded(s, t));
}

mercer_status mc_task_harden(mercer_ctx *ctx, mc_svm *s, mc_task *t) {
    const double unit = mc_task_mean_diagonal(s, t);
    double loss[3] = {INFINITY, INFINITY, INFINITY}; /* of the last stages */
    s->C = FIRST / unit;
    mercer_status status = mc_task_improve(ctx, s, t);
    for (int stage = 0; !status && count_bounded(s, t) > 0; stage++) {
        loss[stage % 3] = total_loss(s, t);
        const bool stays = s->C * unit >= 0.99 * PATIENCE && loss[stage % 3] > 0.7 * loss[(stage + 1) % 3];
        if (stays || s->C * unit > LAST) {
            status = give_up(ctx, s, t);
            break;
        }
        s->C *= RISE;
        mc_task_scale(s, t, RISE);
        status = mc_task_improve(ctx, s, t);
    }
    s->C = INFINITY;
    return status;
}

/* Multipliers of a model or a checkpoint have been within the bounds of C itself. */
bool mc_task_is_steep(const mc_svm *s, const mc_task *t) {
    const bool fresh = !s->warm && !s->begun && !s->set->start && !s->kept;
    return fresh && (s->kind == MC_SVC || s->kind == MC_SVR) && isfinite(s->C) && s->C * mc_task_mean_diagonal(s, t) > LAST;
}

mercer_status mc_task_climb(mercer_ctx *ctx, mc_svm *s, mc_task *t) {
    const double C = s->C;
    s->C = FIRST / mc_task_mean_diagonal(s, t);
    mercer_status status = mc_task_improve(ctx, s, t);
    while (!status && s->C < C && count_bounded(s, t) > 0) {
        const double rise = fmin(RISE, C / s->C);
        s->C = rise < RISE ? C : s->C * rise;
        mc_task_scale(s, t, rise);
        status = mc_task_improve(ctx, s, t);
    }
    s->C = C;
    return status;
}
