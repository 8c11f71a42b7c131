/* leap.c: see leap.h. A variable at a bound is in question where its slope is within `near` of one that violates: near is the violation,
   then 8 times it, and so on, until what was left out is in order or is no longer the larger part. */
#include "solve/leap.h"
#include "base/status.h"
#include "solve/interior.h"
#include "solve/polish.h"
#include "solve/smo_shrink.h"
#include <math.h>

static const double WIDER = 8;
static const double FAR = 8; /* slopes are of the order of 1: what is in question then is nearly all */

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
static mercer_status leap_with(mercer_ctx *ctx, const mc_dual *dual, const mc_rows *rows, double tolerance, double *beta, double *f,
                               bool *moved) {
    bool stepped, more;
    MC_TRY(mc_interior(ctx, dual, rows, beta, f, &stepped));
    *moved = *moved || stepped;
    return stepped ? mc_polish(ctx, dual, rows, 0.01 * tolerance, beta, f, &more) : MERCER_OK;
}

/* *done: whether the variables in question are few. */
static mercer_status leap_near(mercer_ctx *ctx, const mc_dual *dual, const mc_rows *rows, double tolerance, double near, double *beta,
                               double *f, bool *moved, bool *done) {
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

mercer_status mc_leap(mercer_ctx *ctx, const mc_dual *dual, const mc_rows *rows, double tolerance, bool whole, double *beta, double *f,
                      bool *moved) {
    double near = violation_of(dual, beta, f);
    *moved = false;
    for (bool done = true; done && near <= FAR; near *= whole ? WIDER : INFINITY) {
        MC_TRY(leap_near(ctx, dual, rows, tolerance, near, beta, f, moved, &done));
        if (done && violation_of(dual, beta, f) <= tolerance)
            return MERCER_OK;
    }
    return whole ? leap_with(ctx, dual, rows, tolerance, beta, f, moved) : MERCER_OK;
}

int64_t mc_leap_worth(mercer_ctx *ctx, const mc_dual *dual, const mc_rows *rows, const double *beta, const double *f) {
    const mc_extremes e = within(dual, beta, f, violation_of(dual, beta, f));
    const int64_t count = mc_shrink_count(dual, beta, f, &e), n = count < rows->n ? count : rows->n;
    return few(dual, count) ? 2 * mc_interior_worth(ctx, n, count, rows->dtype) : INT64_MAX;
}
