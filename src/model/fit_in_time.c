/* fit_in_time.c: a staged fit under a time limit: at once where that is short, else few rows first, whatever the clock
   says, and then the order of work of staged_fit.c. */
#include "model/run_stage.h"
#include "base/ctx.h"
#include "base/progress.h"
#include "base/status.h"
#include "data/table/data.h"
#include "plan/speed.h"
#include <math.h>
#include <string.h>

enum { LAST_RESORT = 64 }; /* rows that are learned from whatever the clock says, where else there would be nothing */
static const double FIRST_SECONDS = 0.05; /* of the first stage, where a tenth of the limit is less */
static const double LAST_SECONDS = 0.3;   /* of few rows, for a machine that then hands over its best so far */
static const double FORECAST = 2;         /* seconds of a limit that leave time for a forecast of many rows */
static const double MORE_PENALTY = 100;   /* times as much, where few rows are worse than a constant */

/* Few rows, whatever the clock says: there is no time for more, and nothing yet. */
static mercer_status learn_from_few(mercer_ctx *ctx, mc_staged *s, mc_stage_plan *few) {
    bool done;
    *few = (mc_stage_plan){LAST_RESORT, 0};
    mc_staged_put_stage(s, few);
    const mc_limit limit = mc_limit_lift(ctx);
    mercer_status status = mc_stage_rows_take(ctx, &s->rows, few->rows);
    MC_THEN(status, mc_stage_run(ctx, s, few, s->rows.taken, 0, LAST_SECONDS, &done));
    if (status == MERCER_TIME)
        status = mc_stage_run(ctx, s, few, s->rows.taken, 0, INFINITY, &done);
    mc_limit_close(ctx, limit);
    return status;
}

/* So much penalty beside so many rows that the mean, or the commonest class, is nearly all that is left. */
static void put_penalty(mc_staged *s, int64_t rows) {
    double *lambda = mc_staged_field(s, "lambda"), *C = mc_staged_field(s, "C");
    bool *intercept = mc_staged_field(s, "intercept");
    const double least = MORE_PENALTY * (double)rows;
    if (lambda)
        *lambda = fmax(MORE_PENALTY * *lambda, least);
    else if (C)
        *C = fmin(*C / MORE_PENALTY, 1 / least);
    if (intercept)
        *intercept = true;
}

/* Settings that let few rows say more than they know are worse than the mean or the commonest class. Then there is a
   model that is no worse, whatever the later stages come to. */
static mercer_status fall_back_on_constant(mercer_ctx *ctx, mc_staged *s, const mc_stage_plan *plan) {
    const mc_settings before = s->set;
    bool done;
    put_penalty(s, plan->rows);
    if (!mc_staged_is_worse_than_constant(s) || memcmp(&before, &s->set, sizeof before) == 0) {
        s->set = before;
        return MERCER_OK;
    }
    const mc_limit limit = mc_limit_lift(ctx);
    const mercer_status status = mc_stage_run(ctx, s, plan, s->rows.taken, 0, LAST_SECONDS, &done);
    mc_limit_close(ctx, limit);
    s->set = before;
    return status;
}

static mercer_status first_in_time(mercer_ctx *ctx, mc_staged *s, mc_stage_plan *plan) {
    bool done;
    *plan = mc_staged_first(s);
    mc_staged_put_stage(s, plan);
    mercer_status status = mc_stage_rows_take(ctx, &s->rows, plan->rows);
    MC_THEN(status, mc_stage_run(ctx, s, plan, s->rows.taken, 0, fmax(s->budget / 10, FIRST_SECONDS), &done));
    if (status == MERCER_TIME)
        status = learn_from_few(ctx, s, plan);
    MC_THEN(status, fall_back_on_constant(ctx, s, plan));
    return status;
}

static mercer_status climb_in_time(mercer_ctx *ctx, mc_staged *s) {
    mc_stage_plan plan;
    double seconds;
    MC_TRY(first_in_time(ctx, s, &plan));
    MC_TRY(mc_staged_try_exact(ctx, s, &plan));
    if (s->record.exact)
        return MERCER_OK;
    MC_TRY(mc_staged_plan_next(ctx, s, plan, &plan, &seconds));
    return mc_staged_climb(ctx, s, plan, seconds);
}

/* What cannot be done otherwise, or needs no forecast. */
static bool is_simple(mc_staged *s) {
    return s->data->n <= 2 * MC_FIRST_ROWS || mc_staged_is_bound(s);
}

/* What goes in a tenth of the time needs no stages. Of many rows already the forecast takes some tenths of a second. */
static bool is_short(mercer_ctx *ctx, mc_staged *s) {
    const bool affordable = s->data->n <= MC_ROWS_TO_FACTOR || s->budget > FORECAST;
    return is_simple(s) || (affordable && mc_staged_forecast_exact(ctx, s) < s->budget / 10);
}

/* In one go; where the forecast was wrong and half of the time is gone, *out stays NULL. */
static mercer_status fit_at_once(mercer_ctx *ctx, mc_staged *s, mercer_model **out) {
    const mc_limit limit = mc_limit_open(ctx, is_simple(s) ? mc_time_left(ctx) : s->budget / 2);
    const mercer_status status = mc_model_fit(ctx, s->machine, s->set.values, s->kernel, s->data, out);
    mc_limit_close(ctx, limit);
    s->tried = true;
    if (!status && strcmp((*out)->f.report.stopped, "time") == 0 && !is_simple(s)
        && !mc_staged_is_close(s, &(*out)->f.report)) {
        mercer_model_free(*out);
        *out = NULL;
    }
    return status;
}

static mercer_status stage_in_time(mercer_ctx *ctx, mc_staged *s, mercer_model **out) {
    s->record.clock = true;
    s->budget = mc_time_left(ctx);
    mercer_status status = is_short(ctx, s) ? fit_at_once(ctx, s, out) : MERCER_OK;
    if (*out || (status && status != MERCER_TIME) || mc_staged_is_bound(s) || s->data->n < LAST_RESORT)
        return status;
    const mc_limit limit = mc_limit_lift(ctx); /* without rows there is no model */
    status = mc_staged_split_rows(ctx, s);
    mc_limit_close(ctx, limit);
    MC_TRY(status);
    s->budget = fmax(mc_time_left(ctx), FIRST_SECONDS);
    status = climb_in_time(ctx, s);
    return s->model ? mc_staged_hand_over(ctx, s, out) : status;
}

mercer_status mc_fit_in_time(mercer_ctx *ctx, const mercer_machine *machine, const void *settings,
                             const mercer_kernel *kernel, const mercer_data *data, bool open, mercer_model **out) {
    mc_staged s;
    mercer_status status = mc_staged_open(ctx, &s, machine, settings, kernel, data);
    s.open = open;
    *out = NULL;
    mc_speed_keep(ctx, true);
    MC_THEN(status, stage_in_time(ctx, &s, out));
    mc_speed_keep(ctx, false);
    mc_staged_close(&s);
    return status;
}
