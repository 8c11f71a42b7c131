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
#include "model/staged_fit.h"
#include "base/clock.h"
#include "base/ctx.h"
#include "base/memory.h"
#include "base/progress.h"
#include "base/settings.h"
#include "base/status.h"
#include "data/table/data.h"
#include "kernel/language/kernel.h"
#include "learn/common/machines.h"
#include "model/stage_plan.h"
#include "model/stage_rows.h"
#include "plan/speed.h"
#include <math.h>
#include <string.h>

enum {
    FIRST = 256,          /* rows of the first stage under a limit */
    LAST_RESORT = 64,     /* rows that are learned from whatever the clock says, where else there would be nothing */
    FIRST_IN_WORK = 4096, /* of the first stage without one */
    ROWS_TO_LEARN = 2048  /* gp: beyond them parameters are taken over */
};
static const double ENOUGH = 0.005; /* without a limit: a stage that gains less, relative to the error, is the last */
static const double SAFE = 0.7;     /* of the time left may be planned for a stage */
static const double WORK_LEAST = 5, WORK_ROW = 1e-4; /* nominal seconds without a limit: of any fit, and for each row */
static const double WORK_GP = 4;                     /* times as much: its stages are factorisations */
static const double LATEST = 0.95;        /* of the time left: what follows the stop of a stage takes time too */
static const double VECTORS_SHARE = 2.5;  /* times the share of support vectors: of the work forecast for all of K */
static const double FIRST_SECONDS = 0.05; /* of the first stage, where a tenth of the limit is less */
static const double LAST_SECONDS = 0.3;   /* of few rows, for a machine that then hands over its best so far */
static const double NO_MEMORY = 0.2;      /* of the work of a stage for which there is no memory is forecast anew */
static const double FORECAST = 2;         /* seconds of a limit that leave time for a forecast of many rows */
static const double MORE_PENALTY = 100;   /* times as much, where few rows are worse than a constant */
static const double SURE = 0.1;   /* of the time left: what is forecast to take no more needs no stage before it */
static const double CLOSE = 0.01; /* a gap relative to the objective, or a residual beside the error held out */

typedef struct staged {
    const mercer_machine *machine;
    const mercer_data *data;
    const mercer_kernel *kernel; /* that of the next stage: as given, or that of the best process so far */
    mc_settings set;             /* of the next stage */
    const mercer_kernel *given;  /* as asked for, and so the settings: what the machine itself is fitted with */
    mc_settings given_set;
    bool open;  /* lambda may be changed */
    bool tried; /* the machine itself on all rows took longer than forecast: not again */
    mc_stage_rows rows;
    mercer_model *model;
    mercer_kernel *learned; /* of the best process */
    double budget, spent;   /* nominal seconds; the clock keeps its own */
    double ratio;           /* seconds over those forecast, at the last stage */
    mc_fit_stages record;
} staged;

/* ---- Settings by name ---- */

static void *find_field(staged *s, const char *name) {
    for (int i = 0; i < s->machine->count; i++)
        if (strcmp(s->machine->settings[i].name, name) == 0)
            return s->set.values + s->machine->settings[i].offset;
    return NULL;
}

static bool is_machine(const staged *s, const char *name) {
    return strcmp(s->machine->name, name) == 0;
}

/* Ridge whose solver is left to us, and whose answer is a matter of lambda alone. */
static bool takes_landmarks(const staged *s) {
    const mercer_ridge *set = (const mercer_ridge *)(const void *)s->set.values;
    return is_machine(s, "ridge") && (strcmp(set->solver, "auto") == 0 || strcmp(set->solver, "nystrom") == 0)
           && set->lambda > 0 && isinf(set->norm_bound) && set->dof == 0;
}

/* What must be done whole, in one go: a fit that goes on from a file or from the multipliers of other rows. */
static bool is_bound_to_rows(staged *s) {
    const char *const *checkpoint = find_field(s, "checkpoint");
    const bool from_file = checkpoint && **checkpoint;
    return from_file
           || (strcmp(s->machine->type, "mercer_svm") == 0 && ((const mercer_svm *)(const void *)s->set.values)->start);
}

static mercer_status split_rows(mercer_ctx *ctx, staged *s) {
    MC_TRY(mc_stage_rows_split(ctx, s->data, &s->rows));
    s->record.rows = s->data->n;
    s->record.held_out = s->rows.held->n;
    s->record.constant = mc_constant_error(s->record.measure, s->rows.held);
    return MERCER_OK;
}

/* ---- What it would take ---- */

static double time_left(const mercer_ctx *ctx, const staged *s) {
    return s->record.clock ? mc_time_left(ctx) : s->budget - s->spent;
}

/* Seconds of a fit of these rows with the settings as they stand; infinite where that cannot be said or done. */
static double forecast_seconds(mercer_ctx *ctx, const staged *s, const mercer_data *rows) {
    mercer_plan plan = {.size = sizeof plan};
    mc_shield_from_stop(ctx, true);
    const mercer_status status = mc_plan_fit(ctx, s->machine, s->set.values, s->kernel, rows, &plan);
    mc_shield_from_stop(ctx, false);
    if (status)
        mc_clear_failure(ctx);
    return status || !plan.chosen.possible ? INFINITY : plan.chosen.seconds;
}

/* The settings of a stage. */
static void put_stage(staged *s, const mc_stage_plan *plan) {
    if (takes_landmarks(s)) {
        mercer_ridge *set = (mercer_ridge *)(void *)s->set.values;
        set->solver = plan->landmarks ? "nystrom" : "auto";
        set->rank = plan->landmarks;
        set->loo = set->loo && !plan->landmarks;
    }
    if (is_machine(s, "gp") && plan->rows > ROWS_TO_LEARN && s->learned) {
        mercer_gp *set = (mercer_gp *)(void *)s->set.values;
        set->noise = s->model->f.report.lambda;
        set->learn = false;
        s->kernel = s->learned;
    }
}

/* ---- One stage ---- */

static bool was_cut(const mercer_report *r) {
    return strcmp(r->stopped, "time") == 0 || strcmp(r->stopped, "caller") == 0;
}

/* By rows held out; without a target by having come to its end. */
static bool is_better(const staged *s, const mercer_model *model, double error) {
    if (!s->model)
        return !(error == INFINITY);
    if (!s->record.measure)
        return !was_cut(&model->f.report);
    return error < s->record.stage[s->record.kept].error;
}

static bool is_worse_than_constant(const staged *s) {
    return s->model && s->record.stage[s->record.kept].error > s->record.constant;
}

static mercer_status remember_kernel(mercer_ctx *ctx, staged *s) {
    mercer_kernel_free(s->learned);
    s->learned = NULL;
    return is_machine(s, "gp") ? mc_kernel_bind(ctx, s->model->f.kernel, s->data, &s->learned) : MERCER_OK;
}

static mercer_status keep(mercer_ctx *ctx, staged *s, mercer_model *model) {
    mercer_model_free(s->model);
    s->model = model;
    s->record.kept = s->record.count;
    return remember_kernel(ctx, s);
}

static void note_stage(staged *s, const mc_stage_plan *plan, const mercer_model *model, double error, double seconds,
                       bool kept) {
    mc_fit_stage *stage = &s->record.stage[s->record.count++];
    *stage = (mc_fit_stage){.rows = plan->rows,
                            .landmarks = plan->landmarks,
                            .lambda = NAN,
                            .error = error,
                            .seconds = seconds,
                            .kept = kept};
    if (model) {
        stage->solver = model->f.report.solver;
        stage->lambda = model->f.report.lambda;
        stage->landmarks = model->f.report.approximate ? model->f.report.rank : 0;
    }
}

/* Keeps the model or frees it. */
static mercer_status judge_stage(mercer_ctx *ctx, staged *s, const mc_stage_plan *plan, mercer_model *model,
                                 double seconds) {
    const double error = mc_held_out_error(ctx, s->record.measure, model, s->rows.held);
    const bool better = is_better(s, model, error);
    mc_log_message(ctx, "stage: %lld rows, %lld landmarks: error %.4g%s", (long long)plan->rows,
                   (long long)plan->landmarks, error, better ? ", kept" : "");
    const mercer_status status = better ? keep(ctx, s, model) : MERCER_OK;
    note_stage(s, plan, model, error, seconds, better);
    if (!better)
        mercer_model_free(model);
    return status;
}

/* A stage that a clock, the memory or the numbers did not allow leaves what there was; the caller's stop is one. */
static mercer_status forgive(mercer_ctx *ctx, const staged *s, mercer_status status) {
    const bool may = status == MERCER_TIME || status == MERCER_NUMERIC || status == MERCER_MEMORY;
    if (!may || !s->model)
        return status;
    mc_clear_failure(ctx);
    return MERCER_OK;
}

/* Within so many seconds of the clock; infinite: however late it is. *done: a model came out, better or not. */
static mercer_status run_stage(mercer_ctx *ctx, staged *s, const mc_stage_plan *plan, const mercer_data *rows,
                               double forecast, double most, bool *done) {
    const double began = mc_clock_seconds();
    const mc_limit limit = s->record.clock && isfinite(most) ? mc_limit_open(ctx, most) : mc_limit_lift(ctx);
    mercer_model *model = NULL;
    mercer_status status = mc_model_fit(ctx, s->machine, s->set.values, s->kernel, rows, &model);
    mc_limit_close(ctx, limit);
    const double seconds = mc_clock_seconds() - began;
    *done = !status;
    s->spent += forecast;
    if (s->record.clock && forecast > 0 && isfinite(forecast))
        s->ratio = fmin(16, fmax(0.25, seconds / forecast));
    if (!status)
        return judge_stage(ctx, s, &(mc_stage_plan){rows->n, plan->landmarks}, model, seconds);
    note_stage(s, plan, NULL, NAN, seconds, false);
    return forgive(ctx, s, status);
}

static bool has_room(const mercer_ctx *ctx, const staged *s) {
    return s->record.count < MC_FIT_STAGES_MOST - 2 && time_left(ctx, s) > 0 && ctx->told != MERCER_CANCELLED;
}

/* ---- The stages ---- */

static mc_stage_plan first_stage(const staged *s) {
    const int64_t n = mc_stage_rows_to_learn(&s->rows);
    if (s->record.clock)
        return (mc_stage_plan){FIRST < n ? FIRST : n, 0};
    if (takes_landmarks(s))
        return (mc_stage_plan){n, (int64_t)(sqrt((double)n) / 2) + 1};
    const int64_t rows = is_machine(s, "gp") ? ROWS_TO_LEARN : FIRST_IN_WORK;
    return (mc_stage_plan){rows < n ? rows : n, 0};
}

static mercer_status forecast_stage(mercer_ctx *ctx, staged *s, const mc_stage_plan *plan, double *seconds) {
    MC_TRY(mc_stage_rows_take(ctx, &s->rows, plan->rows));
    put_stage(s, plan);
    *seconds = forecast_seconds(ctx, s, s->rows.taken);
    return MERCER_OK;
}

/* ---- Lambda, at the full number of rows ---- */

static mercer_status try_lambda(mercer_ctx *ctx, staged *s, const mc_stage_plan *plan, double seconds, double factor,
                                bool *better) {
    double *lambda = find_field(s, "lambda");
    const double before = *lambda;
    const int64_t kept = s->record.kept;
    bool done;
    *lambda *= factor;
    MC_TRY(run_stage(ctx, s, plan, s->rows.taken, seconds, SAFE * time_left(ctx, s), &done));
    *better = s->record.kept != kept;
    if (!*better)
        *lambda = before;
    return MERCER_OK;
}

static mercer_status check_lambda(mercer_ctx *ctx, staged *s, const mc_stage_plan *plan, double seconds) {
    enum { MOST = 3 };
    bool better = false;
    for (int side = 0; side < 2 && !better; side++)
        for (int step = 0; step < MOST && (better || step == 0); step++) {
            if (!has_room(ctx, s) || 3 * s->ratio * seconds > time_left(ctx, s))
                return MERCER_OK;
            MC_TRY(try_lambda(ctx, s, plan, seconds, side ? 0.1 : 10, &better));
            if (!better && step > 0)
                return MERCER_OK;
        }
    return MERCER_OK;
}

/* ---- The machine itself, on all rows ---- */

/* Near enough to the optimum, by its certificate, where the clock cut it short. */
static bool is_close(const staged *s, const mercer_report *r) {
    const double error = s->model ? s->record.stage[s->record.kept].error : NAN;
    const double n = (double)(r->n * r->outputs);
    return r->certificate.gap_relative <= CLOSE
           || (strcmp(r->certificate.kind, "residual") == 0 && r->certificate.residual <= CLOSE * error * sqrt(n));
}

/* Back to what was asked for, but for a lambda that was checked. */
static void put_exact(staged *s) {
    const double *lambda = find_field(s, "lambda");
    const double checked = lambda ? *lambda : 0;
    s->kernel = s->given;
    s->set = s->given_set;
    if (lambda)
        *(double *)find_field(s, "lambda") = checked;
}

static double forecast_exact(mercer_ctx *ctx, staged *s) {
    put_exact(s);
    s->record.exact_seconds = forecast_seconds(ctx, s, s->data);
    return s->record.exact_seconds;
}

/* Takes it where it came to its end, or close to it. most: seconds. */
static mercer_status try_exact(mercer_ctx *ctx, staged *s, double most) {
    mercer_model *model = NULL;
    const double began = mc_clock_seconds();
    const mc_stage_plan all = {s->data->n, 0};
    put_exact(s);
    const mc_limit limit = s->record.clock ? mc_limit_open(ctx, most) : mc_limit_lift(ctx);
    const mercer_status status = mc_model_fit(ctx, s->machine, s->set.values, s->kernel, s->data, &model);
    mc_limit_close(ctx, limit);
    const bool kept = !status && (!was_cut(&model->f.report) || is_close(s, &model->f.report));
    note_stage(s, &all, status ? NULL : model, NAN, mc_clock_seconds() - began, kept);
    if (!kept) {
        mercer_model_free(model);
        return forgive(ctx, s, status);
    }
    mercer_model_free(s->model);
    s->model = model;
    s->record.kept = s->record.count - 1;
    s->record.exact = true;
    return MERCER_OK;
}

/* ---- The order of work ---- */

/* Whether the last stage shows that there is little to gain. */
static bool is_enough(const staged *s, double before) {
    const double error = s->record.stage[s->record.kept].error;
    return !s->record.clock && isfinite(before) && before - error < ENOUGH * error;
}

/* The stage after this one, made small enough for the time left; rows 0: there is none. */
static mercer_status plan_next_stage(mercer_ctx *ctx, staged *s, mc_stage_plan last, mc_stage_plan *next,
                                     double *seconds) {
    enum { TRIES = 4 };
    *next = mc_stage_after(last, mc_stage_rows_to_learn(&s->rows), takes_landmarks(s));
    for (int i = 0; i < TRIES && next->rows; i++) {
        MC_TRY(forecast_stage(ctx, s, next, seconds));
        const double share = SAFE * fmax(0, time_left(ctx, s)) / (s->ratio * *seconds);
        if (share >= 1)
            return MERCER_OK;
        *next = mc_stage_shrunk(last, *next, isfinite(*seconds) ? share : NO_MEMORY);
    }
    next->rows = 0;
    return MERCER_OK;
}

/* Support vectors of few rows say how often K is gone over. */
static void weigh_by_vectors(staged *s) {
    const mercer_report *r = &s->model->f.report;
    if (!s->record.clock && r->support_vectors > 0)
        s->ratio = fmin(4, fmax(0.1, VECTORS_SHARE * (double)r->support_vectors / (double)r->n));
}

/* Once: where it is forecast to end in time. Before it a stage of a quarter of the rows, at a fraction of the work, so
   that a forecast that was wrong leaves more than the first stage. */
static mercer_status try_exact_once(mercer_ctx *ctx, staged *s, const mc_stage_plan *last) {
    const double most = SAFE * time_left(ctx, s);
    if (!has_room(ctx, s) || s->tried)
        return MERCER_OK;
    weigh_by_vectors(s);
    const double seconds = s->ratio * forecast_exact(ctx, s);
    const bool near = last->rows * MC_STAGE_STEP >= s->data->n || seconds <= SURE * time_left(ctx, s);
    if (seconds > most || (s->record.clock && !near))
        return MERCER_OK;
    s->tried = true;
    return try_exact(ctx, s, most);
}

/* From a stage whose rows and settings are there. */
static mercer_status climb(mercer_ctx *ctx, staged *s, mc_stage_plan plan, double seconds) {
    bool done = false;
    while (plan.rows && has_room(ctx, s)) {
        const double before = s->model ? s->record.stage[s->record.kept].error : NAN;
        MC_TRY(run_stage(ctx, s, &plan, s->rows.taken, seconds, LATEST * time_left(ctx, s), &done));
        if (!done || is_enough(s, before))
            return MERCER_OK;
        if (s->open && plan.landmarks && plan.rows >= mc_stage_rows_to_learn(&s->rows))
            MC_TRY(check_lambda(ctx, s, &plan, seconds));
        MC_TRY(try_exact_once(ctx, s, &plan));
        if (s->record.exact)
            return MERCER_OK;
        MC_TRY(plan_next_stage(ctx, s, plan, &plan, &seconds));
    }
    return MERCER_OK;
}

static mercer_status open_staged(mercer_ctx *ctx, staged *s, const mercer_machine *machine, const void *settings,
                                 const mercer_kernel *kernel, const mercer_data *data) {
    *s = (staged){.machine = machine, .data = data, .kernel = kernel, .ratio = 1, .record = {.kept = -1}};
    s->set.machine = machine;
    memcpy(s->set.values, settings, machine->size);
    s->given = kernel;
    s->given_set = s->set;
    s->record.measure = mc_stage_measure(s->machine, s->data);
    s->record.exact_seconds = NAN;
    MC_TRY(mc_settings_check(ctx, machine->name, machine->settings, machine->count, settings));
    return MERCER_OK;
}

static void close_staged(staged *s) {
    mc_stage_rows_close(&s->rows);
    mercer_model_free(s->model);
    mercer_kernel_free(s->learned);
}

static mercer_status hand_over(mercer_ctx *ctx, staged *s, mercer_model **out) {
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

/* ---- Under a limit ---- */

/* Few rows, whatever the clock says: there is no time for more, and nothing yet. */
static mercer_status learn_from_few(mercer_ctx *ctx, staged *s, mc_stage_plan *few) {
    bool done;
    *few = (mc_stage_plan){LAST_RESORT, 0};
    put_stage(s, few);
    const mc_limit limit = mc_limit_lift(ctx);
    mercer_status status = mc_stage_rows_take(ctx, &s->rows, few->rows);
    MC_THEN(status, run_stage(ctx, s, few, s->rows.taken, 0, LAST_SECONDS, &done));
    if (status == MERCER_TIME)
        status = run_stage(ctx, s, few, s->rows.taken, 0, INFINITY, &done);
    mc_limit_close(ctx, limit);
    return status;
}

/* So much penalty beside so many rows that the mean, or the commonest class, is nearly all that is left. */
static void put_penalty(staged *s, int64_t rows) {
    double *lambda = find_field(s, "lambda"), *C = find_field(s, "C");
    bool *intercept = find_field(s, "intercept");
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
static mercer_status fall_back_on_constant(mercer_ctx *ctx, staged *s, const mc_stage_plan *plan) {
    const mc_settings before = s->set;
    bool done;
    put_penalty(s, plan->rows);
    if (!is_worse_than_constant(s) || memcmp(&before, &s->set, sizeof before) == 0) {
        s->set = before;
        return MERCER_OK;
    }
    const mc_limit limit = mc_limit_lift(ctx);
    const mercer_status status = run_stage(ctx, s, plan, s->rows.taken, 0, LAST_SECONDS, &done);
    mc_limit_close(ctx, limit);
    s->set = before;
    return status;
}

static mercer_status first_in_time(mercer_ctx *ctx, staged *s, mc_stage_plan *plan) {
    bool done;
    *plan = first_stage(s);
    put_stage(s, plan);
    mercer_status status = mc_stage_rows_take(ctx, &s->rows, plan->rows);
    MC_THEN(status, run_stage(ctx, s, plan, s->rows.taken, 0, fmax(s->budget / 10, FIRST_SECONDS), &done));
    if (status == MERCER_TIME)
        status = learn_from_few(ctx, s, plan);
    MC_THEN(status, fall_back_on_constant(ctx, s, plan));
    return status;
}

static mercer_status climb_in_time(mercer_ctx *ctx, staged *s) {
    mc_stage_plan plan;
    double seconds;
    MC_TRY(first_in_time(ctx, s, &plan));
    MC_TRY(try_exact_once(ctx, s, &plan));
    if (s->record.exact)
        return MERCER_OK;
    MC_TRY(plan_next_stage(ctx, s, plan, &plan, &seconds));
    return climb(ctx, s, plan, seconds);
}

/* What cannot be done otherwise, or needs no forecast. */
static bool is_simple(staged *s) {
    return s->data->n <= 2 * FIRST || is_bound_to_rows(s);
}

/* What goes in a tenth of the time needs no stages. Of many rows already the forecast takes some tenths of a second. */
static bool is_short(mercer_ctx *ctx, staged *s) {
    const bool affordable = s->data->n <= MC_ROWS_TO_FACTOR || s->budget > FORECAST;
    return is_simple(s) || (affordable && forecast_exact(ctx, s) < s->budget / 10);
}

/* In one go; where the forecast was wrong and half of the time is gone, *out stays NULL. */
static mercer_status fit_at_once(mercer_ctx *ctx, staged *s, mercer_model **out) {
    const mc_limit limit = mc_limit_open(ctx, is_simple(s) ? mc_time_left(ctx) : s->budget / 2);
    const mercer_status status = mc_model_fit(ctx, s->machine, s->set.values, s->kernel, s->data, out);
    mc_limit_close(ctx, limit);
    s->tried = true;
    if (!status && strcmp((*out)->f.report.stopped, "time") == 0 && !is_simple(s) && !is_close(s, &(*out)->f.report)) {
        mercer_model_free(*out);
        *out = NULL;
    }
    return status;
}

static mercer_status stage_in_time(mercer_ctx *ctx, staged *s, mercer_model **out) {
    s->record.clock = true;
    s->budget = mc_time_left(ctx);
    mercer_status status = is_short(ctx, s) ? fit_at_once(ctx, s, out) : MERCER_OK;
    if (*out || (status && status != MERCER_TIME) || is_bound_to_rows(s) || s->data->n < LAST_RESORT)
        return status;
    const mc_limit limit = mc_limit_lift(ctx); /* without rows there is no model */
    status = split_rows(ctx, s);
    mc_limit_close(ctx, limit);
    MC_TRY(status);
    s->budget = fmax(mc_time_left(ctx), FIRST_SECONDS);
    status = climb_in_time(ctx, s);
    return s->model ? hand_over(ctx, s, out) : status;
}

mercer_status mc_fit_in_time(mercer_ctx *ctx, const mercer_machine *machine, const void *settings,
                             const mercer_kernel *kernel, const mercer_data *data, bool open, mercer_model **out) {
    staged s;
    mercer_status status = open_staged(ctx, &s, machine, settings, kernel, data);
    s.open = open;
    *out = NULL;
    mc_speed_keep(ctx, true);
    MC_THEN(status, stage_in_time(ctx, &s, out));
    mc_speed_keep(ctx, false);
    close_staged(&s);
    return status;
}

/* ---- In proportion to the rows ---- */

static mercer_status stage_in_proportion(mercer_ctx *ctx, staged *s, mercer_model **out) {
    const int64_t n = s->data->n;
    double seconds;
    s->budget = (is_machine(s, "gp") ? WORK_GP : 1) * (WORK_LEAST + WORK_ROW * (double)n);
    if (n < FIRST_IN_WORK || is_bound_to_rows(s) || forecast_exact(ctx, s) <= s->budget)
        return mc_model_fit(ctx, s->machine, s->set.values, s->kernel, s->data, out);
    MC_TRY(split_rows(ctx, s));
    const mc_stage_plan first = first_stage(s);
    MC_TRY(forecast_stage(ctx, s, &first, &seconds));
    const mercer_status status = climb(ctx, s, first, seconds);
    return s->model && !status ? hand_over(ctx, s, out) : status;
}

mercer_status mc_fit_in_proportion(mercer_ctx *ctx, const mercer_machine *machine, const void *settings,
                                   const mercer_kernel *kernel, const mercer_data *data, mercer_model **out) {
    staged s;
    *out = NULL;
    mercer_status status = open_staged(ctx, &s, machine, settings, kernel, data);
    s.open = ctx->nominal = true;
    MC_THEN(status, stage_in_proportion(ctx, &s, out));
    ctx->nominal = false;
    close_staged(&s);
    return status;
}
