/* driver.c: solve, certify, refine. */
#include "learn/common/driver.h"
#include "base/clock.h"
#include "base/ctx.h"
#include "base/progress.h"
#include "base/status.h"

/* A stop is remembered, and what was reached is settled whatever the clock says. */
static mercer_status remember_stop(mercer_ctx *ctx, mc_driver *d, mercer_status status) {
    if (d->stopped || (status != MERCER_TIME && status != MERCER_CANCELLED)
        || (d->steps->is_worth && !d->steps->is_worth(d->self)))
        return status;
    d->stopped = mc_stop_taken(ctx);
    mc_shield_from_stop(ctx, true);
    return MERCER_OK;
}

/* Stopped in the middle of it: once more, whole. */
static mercer_status certify_answer(mercer_ctx *ctx, mc_driver *d, mc_fitted *f) {
    const bool stopped = d->stopped;
    const mercer_status status = remember_stop(ctx, d, d->steps->certify(ctx, d->self, f));
    if (status || stopped || !d->stopped)
        return status;
    mc_fitted_free(f);
    return d->steps->certify(ctx, d->self, f);
}

static mercer_status solve_and_certify(mercer_ctx *ctx, mc_driver *d, mc_fitted *f) {
    for (int round = 0;; round++) {
        bool wanting = true;
        MC_TRY(remember_stop(ctx, d, d->steps->solve(ctx, d->self, round, &wanting)));
        if (!wanting)
            return MERCER_OK;
        mc_fitted_free(f); /* of the last round */
        MC_TRY(certify_answer(ctx, d, f));
        if (d->stopped || round == d->steps->refinements)
            return MERCER_OK;
    }
}

mercer_status mc_drive_once(mercer_ctx *ctx, mc_driver *d, mc_fitted *f) {
    MC_TRY(solve_and_certify(ctx, d, f));
    return d->steps->finish(ctx, d->self, d->stopped, f);
}

void mc_driver_end(mercer_ctx *ctx, const mc_driver *d) {
    if (d->stopped)
        mc_shield_from_stop(ctx, false);
}

static void hand_over(mc_problem *p, mc_fitted *f) {
    f->kernel = p->kernel;
    f->scale = p->scale;
    p->kernel = NULL;
    p->scale = (mc_scale){0};
}

mercer_status mc_drive_fit(mercer_ctx *ctx, mc_driver *d, const mercer_kernel *kernel, const mercer_data *data,
                           mc_fitted *out) {
    const double began = mc_clock_seconds();
    *out = (mc_fitted){0};
    mercer_status status = d->steps->open(ctx, d->self, kernel, data);
    MC_THEN(status, mc_drive_once(ctx, d, out));
    if (!status)
        hand_over(d->p, out);
    out->report.seconds = mc_clock_seconds() - began;
    d->steps->close(d->self);
    mc_driver_end(ctx, d);
    if (status)
        mc_fitted_free(out);
    return status;
}

/* ---- Along a path ---- */

static mercer_status show_next(mercer_ctx *ctx, mc_driver *d, double value, int64_t number, bool first,
                               mc_fitted_each *each, void *arg) {
    const double began = mc_clock_seconds();
    mc_fitted f = {0};
    d->steps->turn(d->self, value, first);
    mercer_status status = mc_drive_once(ctx, d, &f);
    f.report.seconds = mc_clock_seconds() - began;
    MC_THEN(status, d->stopped);
    MC_THEN(status, mc_fitted_show(ctx, &f, d->p->kernel, d->p->scale, number, each, arg));
    mc_fitted_free(&f);
    return status;
}

mercer_status mc_drive_path(mercer_ctx *ctx, mc_driver *d, const mercer_kernel *kernel, const mercer_data *data,
                            const double *values, const int64_t *order, int64_t count, mc_fitted_each *each,
                            void *arg) {
    mercer_status status = d->steps->open(ctx, d->self, kernel, data);
    for (int64_t k = 0; k < count && !status; k++) {
        const int64_t number = order ? order[k] : k;
        status = show_next(ctx, d, values[number], number, k == 0, each, arg);
    }
    d->steps->close(d->self);
    mc_driver_end(ctx, d);
    return status;
}
