/* svm_margin.c: the margin of nu-svc.

   The margin r is known to within the tolerance. Where nu is too low there is none: w tends to 0 and r with it. What is
   then wanted is the nearest nu that has one, or a refusal that says which do. */
#include "base/status.h"
#include "data/table/data.h"
#include "learn/svm/svm.h"
#include <math.h>

/* Relative to the mean of the diagonal: a margin below the first is none; the second is that of the nearest nu, whose
   function is then that of svc with C = 100 over that mean. */
static const double NO_MARGIN = 1e-5, NEAREST_MARGIN = 1e-2;

static double nearest_C(const mc_svm *s, const mc_svm_program *t) {
    return 1 / (NEAREST_MARGIN * mc_svm_program_mean_diagonal(s, t));
}

/* The sum of its multipliers, each at most C times the weight of its row, is a number too. */
static bool nearest_overflows(const mc_svm *s, const mc_svm_program *t) {
    double weights = 0;
    for (int64_t i = 0; i < t->n; i++)
        weights += s->cost[mc_svm_program_row(s, t, i)];
    return !isfinite(2 * weights * nearest_C(s, t));
}

static mercer_status refuse_margin(mercer_ctx *ctx, const mc_svm *s, const mc_svm_program *t) {
    const char *first = s->p.x->label[t->a], *second = mc_svm_program_second(s, t);
    if ((s->set->nearest_nu || s->set->nu_fallback) && nearest_overflows(s, t))
        return mc_fail(ctx, MERCER_NUMERIC,
                       "nu-svc: k(x, x) is %.3g in the mean over '%.80s' and '%.80s', so small that the multipliers of "
                       "the nearest nu overflow; give the kernel a larger factor",
                       mc_svm_program_mean_diagonal(s, t), first, second);
    const double highest = mc_svm_program_highest_nu(s, t);
    if (mc_svm_program_nu(s, t) < 0.99 * highest)
        return mc_fail(ctx, MERCER_NUMERIC,
                       "nu-svc: at nu = %g the margin between '%s' and '%s' is zero to five digits; raise nu (at most "
                       "%.6g) or take a "
                       "kernel that tells "
                       "the rows apart",
                       mc_svm_program_nu(s, t), first, second, highest);
    return mc_fail(ctx, MERCER_NUMERIC,
                   "nu-svc: the margin between '%s' and '%s' is zero to five digits even at nu = %g, the largest there "
                   "is for them; "
                   "take svc or a kernel "
                   "that tells the rows apart",
                   first, second, mc_svm_program_nu(s, t));
}

/* What no margin is above: at the optimum |w|^2 is the margin times the sum of the multipliers, which all feasible
   ones share, and no other |w| is smaller. So it shows long before the tolerance would tell that there is none. */
static double largest_margin(const mc_svm_program *t) {
    double norm2 = 0, sum = 0;
    for (int64_t i = 0; i < t->n; i++) {
        const double c = mc_svm_program_multiplier(t, i);
        norm2 += c * t->f[i];
        sum += fabs(c);
    }
    return fmax(norm2, 0) / sum;
}

/* A tolerance above the kernel's own size says nothing: the next one is below it at once. */
mc_margin mc_svm_program_find_margin(const mc_svm *s, mc_svm_program *t) {
    const double mean = mc_svm_program_mean_diagonal(s, t);
    if ((t->result.intercept[1] - t->result.intercept[0]) / 2 > 4 * t->tolerance)
        return MC_MARGIN_FOUND;
    const double most = fmin(8 * t->tolerance, largest_margin(t));
    const bool nearest = s->set->nearest_nu && !(most > NEAREST_MARGIN * mean);
    if (nearest || !(most > NO_MARGIN * mean))
        return (nearest || s->set->nu_fallback) && !nearest_overflows(s, t) ? MC_MARGIN_NEAREST : MC_MARGIN_NONE;
    t->tolerance = fmin(t->tolerance / 10, 0.1 * mean);
    return MC_MARGIN_UNKNOWN;
}

/* The nu whose margin is r, and its answer: that of svc with C = 1/r, whose multipliers are 1/r times those of nu-svc.
   nu falls as C grows, to the least mean hinge loss there is, so no lower nu has a margin of r. Multipliers of a lower
   nu times 1/r are feasible, and a start. */
mc_svm mc_svm_nearest_begin(const mc_svm *s, mc_svm_program *t) {
    mc_svm svc = *s;
    svc.kind = MC_SVC;
    svc.variant = &mc_svm_variants[MC_SVC];
    svc.C = nearest_C(s, t);
    return svc;
}

void mc_svm_nearest_end(const mc_svm *s, const mc_svm *svc, mc_svm_program *t) {
    const double r = 1 / svc->C, b = t->result.intercept[0];
    mc_svm_program_scale(s, t, r);
    mc_svm_program_measure_nu(s, t);
    t->tolerance *= r;
    t->result.intercept[0] = r * (b - 1);
    t->result.intercept[1] = r * (b + 1);
}

static mercer_status solve_nearest(mercer_ctx *ctx, mc_svm *s, mc_svm_program *t) {
    MC_TRY(mc_svm_kept_complete(ctx, s)); /* before there is a copy that would do it */
    mc_svm svc = mc_svm_nearest_begin(s, t);
    mc_svm_program_scale(&svc, t, svc.C);
    t->tolerance = MC_SVM_SAFETY * s->set->tolerance;
    MC_TRY(mc_svm_program_C_is_large(&svc, t) ? mc_svm_program_raise_C(ctx, &svc, t)
                                              : mc_svm_program_solve(ctx, &svc, t));
    mc_svm_nearest_end(s, &svc, t);
    return MERCER_OK;
}

mercer_status mc_svm_program_settle_margin(mercer_ctx *ctx, mc_svm *s, mc_svm_program *t) {
    for (;;)
        switch (mc_svm_program_find_margin(s, t)) {
        case MC_MARGIN_FOUND: return MERCER_OK;
        case MC_MARGIN_NEAREST: return solve_nearest(ctx, s, t);
        case MC_MARGIN_NONE: return refuse_margin(ctx, s, t);
        case MC_MARGIN_UNKNOWN: MC_TRY(mc_svm_program_solve(ctx, s, t));
        }
}
