/* interior_subset.c: see interior_subset.h. A variable at a bound is in question where its slope is within `near` of
   one that violates: near is the violation, then 8 times it, and so on, until what was left out is in order or is no
   longer the larger part. */
#include "qp/interior_subset.h"
#include "base/status.h"
#include "base/workspace.h"
#include "qp/interior.h"
#include "qp/active_set_newton.h"
#include "qp/smo_shrink.h"
#include <math.h>
#include <string.h>

static const double WIDER = 8;
/* of classifiers, whose slopes are of the order of 1: what is in question then is nearly all */
static const double FAR = 8;

static double violation_of(const mc_dual *dual, const double *beta, const double *f) {
    return mc_extremes_of(dual, beta, f).violation;
}

static mc_extremes within(const mc_dual *dual, const double *beta, const double *f, double near) {
    mc_extremes e = mc_extremes_of(dual, beta, f);
    for (int g = 0; g < 2; g++) {
        e.bottom[g] -= near;
        e.top[g] += near;
    }
    return e;
}

/* A factor of few costs less than a third of that of all. */
static bool few(const mc_dual *dual, int64_t count) {
    return count <= dual->m * 2 / 3;
}

/* The optimum from the inside, then Newton steps from there. */
static mercer_status leap_with(mercer_ctx *ctx, const mc_dual *dual, const mc_matrix_rows *rows, double tolerance,
                               double *beta, double *f, bool *moved) {
    bool stepped, more;
    MC_TRY(mc_interior(ctx, dual, rows, beta, f, &stepped));
    *moved = *moved || stepped;
    return stepped ? mc_active_set_newton(ctx, dual, rows, 0.01 * tolerance, beta, f, &more) : MERCER_OK;
}

/* *done: whether the variables in question are few. */
static mercer_status leap_near(mercer_ctx *ctx, const mc_dual *dual, const mc_matrix_rows *rows, double tolerance,
                               double near, double *beta, double *f, bool *moved, bool *done) {
    const mc_extremes e = within(dual, beta, f, near);
    const int64_t count = mc_shrink_count(dual, beta, f, &e);
    mc_shrunk s = {0};
    if (few(dual, count))
        MC_TRY(mc_shrunk_open(ctx, rows, dual, beta, f, &e, count, &s));
    *done = s.variable != NULL;
    if (!*done)
        return MERCER_OK;
    mercer_status status = leap_with(ctx, &s.dual, &s.rows, tolerance, s.beta, s.f, moved);
    if (!status)
        status = mc_shrunk_put_back(ctx, &s, rows, beta, f);
    mc_shrunk_close(&s);
    return status;
}

/* *reached: what was left out is in order, too. */
static mercer_status leap_nearer(mercer_ctx *ctx, const mc_dual *dual, const mc_matrix_rows *rows, double tolerance,
                                 bool whole, double *beta, double *f, bool *moved, bool *reached) {
    double near = violation_of(dual, beta, f);
    for (bool done = true; done && near <= FAR && !*reached; near *= whole ? WIDER : INFINITY) {
        MC_TRY(leap_near(ctx, dual, rows, tolerance, near, beta, f, moved, &done));
        *reached = done && violation_of(dual, beta, f) <= tolerance;
    }
    return MERCER_OK;
}

static void swap(double *a, double *b, int64_t count) {
    for (int64_t i = 0; i < count; i++) {
        const double kept = a[i];
        a[i] = b[i];
        b[i] = kept;
    }
}

/* With the variables in question, and with all where that is not enough: from where it began, for from a point whose
   objective is lowest to all digits while slopes are still apart there would be no gain to see, and no Newton steps.
   The better of both stays. */
static mercer_status leap_whole(mercer_ctx *ctx, const mc_dual *dual, const mc_matrix_rows *rows, double tolerance,
                                double *beta, double *f, mc_work *work, bool *moved) {
    double *other = mc_work_take(work, dual->m, sizeof *other), *other_f = mc_work_take(work, rows->n, sizeof *other_f);
    bool reached = false;
    memcpy(other, beta, (size_t)dual->m * sizeof *other);
    memcpy(other_f, f, (size_t)rows->n * sizeof *other_f);
    MC_TRY(leap_nearer(ctx, dual, rows, tolerance, true, beta, f, moved, &reached));
    if (reached)
        return MERCER_OK;
    swap(beta, other, dual->m);
    swap(f, other_f, rows->n);
    const mercer_status status = leap_with(ctx, dual, rows, tolerance, beta, f, moved);
    if (violation_of(dual, other, other_f) < violation_of(dual, beta, f)) {
        swap(beta, other, dual->m);
        swap(f, other_f, rows->n);
    }
    return status;
}

mercer_status mc_interior_subset(mercer_ctx *ctx, const mc_dual *dual, const mc_matrix_rows *rows, double tolerance,
                                 bool whole, double *beta, double *f, bool *moved) {
    bool reached = false;
    *moved = false;
    if (!whole)
        return leap_nearer(ctx, dual, rows, tolerance, false, beta, f, moved, &reached);
    mc_work work;
    MC_TRY(mc_work_open(ctx, &work, mc_work_need(dual->m, sizeof(double)) + mc_work_need(rows->n, sizeof(double))));
    const mercer_status status = leap_whole(ctx, dual, rows, tolerance, beta, f, &work, moved);
    mc_work_close(&work);
    return status;
}

int64_t mc_interior_subset_worth(mercer_ctx *ctx, const mc_dual *dual, const mc_matrix_rows *rows, const double *beta,
                                 const double *f) {
    const mc_extremes e = within(dual, beta, f, violation_of(dual, beta, f));
    const int64_t count = mc_shrink_count(dual, beta, f, &e), n = count < rows->n ? count : rows->n;
    return few(dual, count) ? 2 * mc_interior_worth(ctx, n, count, rows->dtype) : INT64_MAX;
}
