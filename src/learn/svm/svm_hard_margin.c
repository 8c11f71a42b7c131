/* svm_hard_margin.c: the hard margin. C rises a hundredfold from stage to stage, each starting from that multiple of
   the last multipliers, which is feasible and needs no kernel value. Once no multiplier is at its bound the solution is
   that of C = infinity.

   Whether there is a margin at all is settled by the dual: its value D at feasible multipliers is at most |w|^2 / 2, w
   the widest margin that separates, so that the classes come within sqrt(2 / D) of each other. No unit enters, neither
   the size of the rows nor where they lie: rows 2000 and 2001 are as far apart as 0 and 1. Only when 2 / D is below
   what double precision tells apart among values as large as k(x, x) is the margin given up, with these numbers.

   A finite C beyond the last stage is reached by the same stages: among numbers of that size double precision cannot
   tell where the small multipliers of a solution are, and most often the solution of an early stage has none at its
   bound and is that of every larger C. */
#include "base/memory.h"
#include "base/status.h"
#include "data/table/data.h"
#include "kernel/language/kernel.h"
#include "learn/svm/svm.h"
#include <float.h>
#include <math.h>

static const double FIRST = 1e2, RISE = 1e2, LAST = 1e11; /* C times the mean diagonal of K */
/* of |x - z|^2 in feature space, relative to the largest k(x, x) */
static const double RESOLUTION = 64 * DBL_EPSILON;

static bool at_bound(const mc_svm *s, const mc_svm_program *t, int64_t v) {
    return t->beta[v] != 0 && fabs(t->beta[v]) >= mc_svm_program_bound(s, t, v % t->n);
}

static int64_t count_bounded(const mc_svm *s, const mc_svm_program *t) {
    int64_t count = 0;
    for (int64_t v = 0; v < t->m; v++)
        count += at_bound(s, t, v);
    return count;
}

/* The dual at the multipliers as they are. */
static double dual_value(const mc_svm_program *t) {
    double sum = 0, norm2 = 0;
    for (int64_t i = 0; i < t->n; i++) {
        const double c = mc_svm_program_coefficient(t, i);
        sum += fabs(c);
        norm2 += c * t->f[i];
    }
    return sum - norm2 / 2;
}

/* Whether values of the kernel in double precision cannot tell two rows apart; x and z hold a row each. */
static bool indistinguishable_rows(const mc_svm *s, int64_t row, int64_t other, double *x, double *z) {
    mc_data_row(s->p.x, row, x);
    mc_data_row(s->p.x, other, z);
    const double both = s->diagonal[row] + s->diagonal[other];
    return both - 2 * mc_eval_kernel(s->p.kernel->root, x, z, s->p.x->d) <= RESOLUTION * both;
}

/* A multiplier that grows with C. */
static bool multiplier_grows(const mc_svm *s, const mc_svm_program *t, int64_t v) {
    return fabs(t->beta[v]) >= 0.01 * mc_svm_program_bound(s, t, v % t->n);
}

/* Two rows of different classes that are the same to the kernel, among those whose multipliers grow; -1: none was
   found. */
static mercer_status find_indistinguishable_rows(mercer_ctx *ctx, const mc_svm *s, const mc_svm_program *t, int64_t *a,
                                                 int64_t *b) {
    const int64_t d = mc_data_row_width(s->p.x);
    double *x = NULL;
    *a = *b = -1;
    MC_TRY(MC_ALLOC(ctx, x, 2 * d));
    for (int64_t i = 0; i < t->split && *a < 0; i++)
        for (int64_t j = t->split; j < t->n && *a < 0 && multiplier_grows(s, t, i); j++) {
            const int64_t row = mc_svm_program_row(s, t, i), other = mc_svm_program_row(s, t, j);
            if (multiplier_grows(s, t, j) && indistinguishable_rows(s, row, other, x, x + d)) {
                *a = s->order[row];
                *b = s->order[other];
            }
        }
    mc_free(x);
    return MERCER_OK;
}

static mercer_status give_up(mercer_ctx *ctx, const mc_svm *s, const mc_svm_program *t, double nearest) {
    const char *first = s->p.x->label[t->a], *second = mc_svm_program_second(s, t);
    int64_t a = -1, b = -1;
    if (t->b >= 0)
        MC_TRY(find_indistinguishable_rows(ctx, s, t, &a, &b));
    if (a >= 0)
        return mc_fail(ctx, MERCER_NUMERIC,
                       "svc: no margin separates '%.80s' from '%.80s': rows %lld and %lld are of different classes and "
                       "the same to this kernel in double precision; take a finite C%s",
                       first, second, (long long)a + 1, (long long)b + 1,
                       s->p.scale.kind == MC_SCALE_NONE && !mc_kernel_precomputed(s->p.kernel)
                           ? ", or --scale standard where the columns lie far from 0"
                           : "");
    return mc_fail(ctx, MERCER_NUMERIC,
                   "svc: no margin that double precision can tell separates '%.80s' from '%.80s': in feature space "
                   "they come within %.3g of each other, where rows are %.3g long (at C = %.3g %lld rows are still "
                   "inside the margin); take a finite C or another kernel",
                   first, second, sqrt(nearest), sqrt(mc_svm_program_top(s, t)), s->C, (long long)count_bounded(s, t));
}

mercer_status mc_svm_program_hard_margin(mercer_ctx *ctx, mc_svm *s, mc_svm_program *t) {
    const double least = RESOLUTION * mc_svm_program_top(s, t);
    s->C = FIRST / mc_svm_program_mean_diagonal(s, t);
    mercer_status status = mc_svm_program_improve(ctx, s, t);
    while (!status && count_bounded(s, t) > 0) {
        const double nearest = 2 / fmax(dual_value(t), DBL_MIN);
        if (nearest <= least) {
            status = give_up(ctx, s, t, nearest);
            break;
        }
        s->C *= RISE;
        mc_svm_program_scale(s, t, RISE);
        status = mc_svm_program_improve(ctx, s, t);
    }
    s->C = INFINITY;
    return status;
}

/* Multipliers of a model or a checkpoint have been within the bounds of C itself. */
bool mc_svm_program_C_is_large(const mc_svm *s, const mc_svm_program *t) {
    const bool fresh = !s->solver->warm && !s->solver->resumed && !s->set->start && !s->solver->checkpoint;
    return fresh && (s->kind == MC_SVC || s->kind == MC_SVR) && isfinite(s->C)
           && s->C * mc_svm_program_mean_diagonal(s, t) > LAST;
}

mercer_status mc_svm_program_raise_C(mercer_ctx *ctx, mc_svm *s, mc_svm_program *t) {
    const double C = s->C;
    s->C = FIRST / mc_svm_program_mean_diagonal(s, t);
    mercer_status status = mc_svm_program_improve(ctx, s, t);
    while (!status && s->C < C && count_bounded(s, t) > 0) {
        const double rise = fmin(RISE, C / s->C);
        s->C = rise < RISE ? C : s->C * rise;
        mc_svm_program_scale(s, t, rise);
        status = mc_svm_program_improve(ctx, s, t);
    }
    s->C = C;
    return status;
}
