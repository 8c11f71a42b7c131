/* staged_fit.c: one order of work for every machine whose exact answer may take longer than there is time.

   Some rows are held out, and the machine is fitted to few of the others, then to four times as many, and so on: there
   is a model after a tenth of the time, and one takes its place only when it is better on the rows held out, or is the
   machine itself on all rows, by its certificate. Ridge, beyond some thousand rows, goes on with landmarks of all rows.
   A Gaussian process learns its parameters on two thousand rows or so, and takes them to more.

   What a stage would take is forecast (plan/forecast.c) and corrected by what the last one took; one that would not be
   done is made smaller, or not begun. Without a time limit the seconds are those of a nominal machine, so that what is
   done depends on the problem alone, and the stages end where the last one gained next to nothing.

   A lambda that a short search chose on few rows is checked at the first stage of all rows: ten times as much and a
   tenth, as long as that is better on the rows held out. */
#include "model/run_stage.h"
#include "base/clock.h"
#include "base/ctx.h"
#include "base/extremes.h"
#include "base/progress.h"
#include "base/settings.h"
#include "base/status.h"
#include "data/table/data.h"
#include <math.h>
#include <string.h>

enum { FIRST_IN_WORK = 4096 };      /* rows of the first stage without a limit */
static const double ENOUGH = 0.005; /* without a limit: a stage that gains less, relative to the error, is the last */
static const double SAFE = 0.7;     /* of the time left may be planned for a stage */
static const double WORK_LEAST = 5, WORK_ROW = 1e-4; /* nominal seconds without a limit: of any fit, and for each row */
static const double WORK_GP = 4;                     /* times as much: its stages are factorisations */
static const double LATEST = 0.95;       /* of the time left: what follows the stop of a stage takes time too */
static const double VECTORS_SHARE = 2.5; /* times the share of support vectors: of the work forecast for all of K */
static const double NO_MEMORY = 0.2;     /* of the work of a stage for which there is no memory is forecast anew */
static const double SURE = 0.1;   /* of the time left: what is forecast to take no more needs no stage before it */
static const double CLOSE = 0.01; /* a gap relative to the objective, or a residual beside the error held out */

/* ---- The stages ---- */

mc_stage_plan mc_staged_first(mc_staged *s) {
    const int64_t n = mc_stage_rows_to_learn(&s->rows);
    if (s->record.clock)
        return (mc_stage_plan){MC_FIRST_ROWS < n ? MC_FIRST_ROWS : n, 0};
    if (mc_staged_landmarks(s))
        return (mc_stage_plan){n, mc_min_count((int64_t)(sqrt((double)n) / 2) + 1, mc_staged_landmarks(s))};
    const int64_t rows = mc_staged_is_machine(s, "gp") ? MC_GP_ROWS_TO_LEARN : FIRST_IN_WORK;
    return (mc_stage_plan){rows < n ? rows : n, 0};
}

static mercer_status forecast_stage(mercer_ctx *ctx, mc_staged *s, const mc_stage_plan *plan, double *seconds) {
    MC_TRY(mc_stage_rows_take(ctx, &s->rows, plan->rows));
    mc_staged_put_stage(s, plan);
    *seconds = mc_staged_forecast(ctx, s, s->rows.taken);
    return MERCER_OK;
}

/* ---- Lambda, at the full number of rows ---- */

static mercer_status try_lambda(mercer_ctx *ctx, mc_staged *s, const mc_stage_plan *plan, double seconds, double factor,
                                bool *better) {
    double *lambda = mc_staged_field(s, "lambda");
    const double before = *lambda;
    const int64_t kept = s->record.kept;
    bool done;
    *lambda *= factor;
    MC_TRY(mc_stage_run(ctx, s, plan, s->rows.taken, seconds, SAFE * mc_staged_time_left(ctx, s), &done));
    *better = s->record.kept != kept;
    if (!*better)
        *lambda = before;
    return MERCER_OK;
}

static mercer_status check_lambda(mercer_ctx *ctx, mc_staged *s, const mc_stage_plan *plan, double seconds) {
    enum { MOST = 3 };
    bool better = false;
    for (int side = 0; side < 2 && !better; side++)
        for (int step = 0; step < MOST && (better || step == 0); step++) {
            if (!mc_staged_has_room(ctx, s) || 3 * s->ratio * seconds > mc_staged_time_left(ctx, s))
                return MERCER_OK;
            MC_TRY(try_lambda(ctx, s, plan, seconds, side ? 0.1 : 10, &better));
            if (!better && step > 0)
                return MERCER_OK;
        }
    return MERCER_OK;
}

/* ---- The machine itself, on all rows ---- */

/* Near enough to the optimum, by its certificate, where the clock cut it short. */
bool mc_staged_is_close(const mc_staged *s, const mercer_report *r) {
    const double error = s->model ? s->record.stage[s->record.kept].error : NAN;
    const double n = (double)(r->n * r->outputs);
    return r->certificate.gap_relative <= CLOSE
           || (strcmp(r->certificate.kind, "residual") == 0 && r->certificate.residual <= CLOSE * error * sqrt(n));
}

/* Back to what was asked for, but for a lambda that was checked. */
static void put_exact(mc_staged *s) {
    const double *lambda = mc_staged_field(s, "lambda");
    const double checked = lambda ? *lambda : 0;
    s->kernel = s->given;
    s->set = s->given_set;
    if (lambda)
        *(double *)mc_staged_field(s, "lambda") = checked;
}

double mc_staged_forecast_exact(mercer_ctx *ctx, mc_staged *s) {
    put_exact(s);
    s->record.exact_seconds = mc_staged_forecast(ctx, s, s->data);
    return s->record.exact_seconds;
}

/* Takes it where it came to its end, or close to it. most: seconds. */
static mercer_status try_exact(mercer_ctx *ctx, mc_staged *s, double most) {
    mercer_model *model = NULL;
    const double began = mc_clock_seconds();
    const mc_stage_plan all = {s->data->n, 0};
    put_exact(s);
    const mc_limit limit = s->record.clock ? mc_limit_open(ctx, most) : mc_limit_lift(ctx);
    const mercer_status status = mc_model_fit(ctx, s->machine, s->set.values, s->kernel, s->data, &model);
    mc_limit_close(ctx, limit);
    const bool kept = !status && (!mc_was_cut_short(&model->f.report) || mc_staged_is_close(s, &model->f.report));
    mc_staged_note(s, &all, status ? NULL : model, NAN, mc_clock_seconds() - began, kept);
    if (!kept) {
        mercer_model_free(model);
        return mc_staged_forgive(ctx, s, status);
    }
    mercer_model_free(s->model);
    s->model = model;
    s->record.kept = s->record.count - 1;
    s->record.exact = true;
    return MERCER_OK;
}

/* ---- The order of work ---- */

/* Whether the last stage shows that there is little to gain. */
static bool is_enough(const mc_staged *s, double before) {
    const double error = s->record.stage[s->record.kept].error;
    return !s->record.clock && isfinite(before) && before - error < ENOUGH * error;
}

/* The stage after this one, made small enough for the time left; rows 0: there is none. */
mercer_status mc_staged_plan_next(mercer_ctx *ctx, mc_staged *s, mc_stage_plan last, mc_stage_plan *next,
                                  double *seconds) {
    enum { TRIES = 4 };
    *next = mc_stage_after(last, mc_stage_rows_to_learn(&s->rows), mc_staged_landmarks(s));
    for (int i = 0; i < TRIES && next->rows; i++) {
        MC_TRY(forecast_stage(ctx, s, next, seconds));
        const double share = SAFE * fmax(0, mc_staged_time_left(ctx, s)) / (s->ratio * *seconds);
        if (share >= 1)
            return MERCER_OK;
        *next = mc_stage_shrunk(last, *next, isfinite(*seconds) ? share : NO_MEMORY);
    }
    next->rows = 0;
    return MERCER_OK;
}

/* Support vectors of few rows say how often K is gone over. */
static void weigh_by_vectors(mc_staged *s) {
    const mercer_report *r = &s->model->f.report;
    if (!s->record.clock && r->support_vectors > 0)
        s->ratio = fmin(4, fmax(0.1, VECTORS_SHARE * (double)r->support_vectors / (double)r->n));
}

/* Once: where it is forecast to end in time. Before it a stage of a quarter of the rows, at a fraction of the work, so
   that a forecast that was wrong leaves more than the first stage. */
mercer_status mc_staged_try_exact(mercer_ctx *ctx, mc_staged *s, const mc_stage_plan *last) {
    const double most = SAFE * mc_staged_time_left(ctx, s);
    if (!mc_staged_has_room(ctx, s) || s->tried)
        return MERCER_OK;
    weigh_by_vectors(s);
    const double seconds = s->ratio * mc_staged_forecast_exact(ctx, s);
    const bool near = last->rows * MC_STAGE_STEP >= s->data->n || seconds <= SURE * mc_staged_time_left(ctx, s);
    if (seconds > most || (s->record.clock && !near))
        return MERCER_OK;
    s->tried = true;
    return try_exact(ctx, s, most);
}

/* From a stage whose rows and settings are there. */
mercer_status mc_staged_climb(mercer_ctx *ctx, mc_staged *s, mc_stage_plan plan, double seconds) {
    bool done = false;
    while (plan.rows && mc_staged_has_room(ctx, s)) {
        const double before = s->model ? s->record.stage[s->record.kept].error : NAN;
        MC_TRY(mc_stage_run(ctx, s, &plan, s->rows.taken, seconds, LATEST * mc_staged_time_left(ctx, s), &done));
        if (!done || is_enough(s, before))
            return MERCER_OK;
        if (s->open && plan.landmarks && plan.rows >= mc_stage_rows_to_learn(&s->rows))
            MC_TRY(check_lambda(ctx, s, &plan, seconds));
        MC_TRY(mc_staged_try_exact(ctx, s, &plan));
        if (s->record.exact)
            return MERCER_OK;
        MC_TRY(mc_staged_plan_next(ctx, s, plan, &plan, &seconds));
    }
    return MERCER_OK;
}

mercer_status mc_staged_open(mercer_ctx *ctx, mc_staged *s, const mercer_machine *machine, const void *settings,
                             const mercer_kernel *kernel, const mercer_data *data) {
    *s = (mc_staged){.machine = machine, .data = data, .kernel = kernel, .ratio = 1, .record = {.kept = -1}};
    s->set.machine = machine;
    memcpy(s->set.values, settings, machine->size);
    s->given = kernel;
    s->given_set = s->set;
    s->record.measure = mc_stage_measure(s->machine, s->data);
    s->record.exact_seconds = NAN;
    MC_TRY(mc_settings_check(ctx, machine->name, machine->settings, machine->count, settings));
    return MERCER_OK;
}

void mc_staged_close(mc_staged *s) {
    mc_stage_rows_close(&s->rows);
    mercer_model_free(s->model);
    mercer_kernel_free(s->learned);
}

mercer_status mc_staged_hand_over(mercer_ctx *ctx, mc_staged *s, mercer_model **out) {
    const mercer_status stopped = ctx->told;
    mc_stop_taken(ctx);
    mc_shield_from_stop(ctx, true);
    const mercer_status status = mc_fit_stages_record(ctx, &s->record, &s->model->stages);
    mc_shield_from_stop(ctx, false);
    MC_TRY(status);
    if (s->record.clock && !s->record.exact)
        s->model->f.report.stopped = stopped == MERCER_CANCELLED ? "caller" : "time";
    *out = s->model;
    s->model = NULL;
    return MERCER_OK;
}

/* ---- In proportion to the rows ---- */

/* The first stage, with fewer landmarks, and then of fewer rows, where there is no memory for it. */
static mercer_status plan_first(mercer_ctx *ctx, mc_staged *s, mc_stage_plan *first, double *seconds) {
    *first = mc_staged_first(s);
    MC_TRY(forecast_stage(ctx, s, first, seconds));
    while (isinf(*seconds) && first->rows > MC_FIRST_ROWS) {
        *(first->landmarks > MC_FIRST_ROWS / 4 ? &first->landmarks : &first->rows) /= 2;
        MC_TRY(forecast_stage(ctx, s, first, seconds));
    }
    return MERCER_OK;
}

static mercer_status stage_in_proportion(mercer_ctx *ctx, mc_staged *s, mercer_model **out) {
    const int64_t n = s->data->n;
    double seconds;
    s->budget = (mc_staged_is_machine(s, "gp") ? WORK_GP : 1) * (WORK_LEAST + WORK_ROW * (double)n);
    if (n < FIRST_IN_WORK || mc_staged_is_bound(s) || mc_staged_forecast_exact(ctx, s) <= s->budget)
        return mc_model_fit(ctx, s->machine, s->set.values, s->kernel, s->data, out);
    MC_TRY(mc_staged_split_rows(ctx, s));
    mc_stage_plan first;
    MC_TRY(plan_first(ctx, s, &first, &seconds));
    const mercer_status status = mc_staged_climb(ctx, s, first, seconds);
    return s->model && !status ? mc_staged_hand_over(ctx, s, out) : status;
}

mercer_status mc_fit_in_proportion(mercer_ctx *ctx, const mercer_machine *machine, const void *settings,
                                   const mercer_kernel *kernel, const mercer_data *data, mercer_model **out) {
    mc_staged s;
    *out = NULL;
    mercer_status status = mc_staged_open(ctx, &s, machine, settings, kernel, data);
    const bool nominal = ctx->nominal;
    s.open = ctx->nominal = true;
    MC_THEN(status, stage_in_proportion(ctx, &s, out));
    ctx->nominal = nominal;
    mc_staged_close(&s);
    return status;
}
