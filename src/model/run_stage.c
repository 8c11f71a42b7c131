/* run_stage.c: one stage of a fit (staged_fit.c): what it would take, its settings, the fit to its rows, and whether
   the model takes the place of the one there was. */
#include "model/run_stage.h"
#include "base/clock.h"
#include "base/ctx.h"
#include "base/progress.h"
#include "base/settings.h"
#include "base/status.h"
#include "data/table/data.h"
#include "kernel/language/kernel.h"
#include <math.h>
#include <string.h>

/* ---- Settings by name ---- */

static const mercer_setting *find_row(const mc_staged *s, const char *name) {
    for (int i = 0; i < s->machine->count; i++)
        if (strcmp(s->machine->settings[i].name, name) == 0)
            return &s->machine->settings[i];
    return NULL;
}

void *mc_staged_field(mc_staged *s, const char *name) {
    const mercer_setting *row = find_row(s, name);
    return row ? s->set.values + row->offset : NULL;
}

bool mc_staged_is_machine(const mc_staged *s, const char *name) {
    return strcmp(s->machine->name, name) == 0;
}

/* Ridge whose answer is not a matter of lambda alone has none. */
static bool is_by_lambda(const mc_staged *s) {
    const mercer_ridge *set = (const mercer_ridge *)(const void *)s->set.values;
    return !mc_staged_is_machine(s, "ridge") || (set->lambda > 0 && isinf(set->norm_bound) && set->dof == 0);
}

int64_t mc_staged_landmarks(mc_staged *s) {
    const mercer_setting *row = find_row(s, "solver");
    if (!row || mc_choice_index(row->choices, "nystrom") < 0 || !is_by_lambda(s))
        return 0;
    const char *solver = *(const char *const *)(const void *)(s->set.values + row->offset);
    const bool open = strcmp(solver, "auto") == 0 || strcmp(solver, "nystrom") == 0;
    return open ? (int64_t)fmin(find_row(s, "rank")->high, (double)INT32_MAX) : 0;
}

/* What must be done whole, in one go: a fit that goes on from a file or from the multipliers of other rows. */
bool mc_staged_is_bound(mc_staged *s) {
    const char *const *checkpoint = mc_staged_field(s, "checkpoint");
    const bool from_file = checkpoint && **checkpoint;
    return from_file
           || (strcmp(s->machine->type, "mercer_svm") == 0 && ((const mercer_svm *)(const void *)s->set.values)->start);
}

mercer_status mc_staged_split_rows(mercer_ctx *ctx, mc_staged *s) {
    MC_TRY(mc_stage_rows_split(ctx, s->data, &s->rows));
    s->record.rows = s->data->n;
    s->record.held_out = s->rows.held->n;
    s->record.constant = mc_constant_error(s->record.measure, s->rows.held);
    return MERCER_OK;
}

/* ---- What it would take ---- */

double mc_staged_time_left(const mercer_ctx *ctx, const mc_staged *s) {
    return s->record.clock ? mc_time_left(ctx) : s->budget - s->spent;
}

/* Seconds of a fit of these rows with the settings as they stand; infinite where that cannot be said or done. */
double mc_staged_forecast(mercer_ctx *ctx, const mc_staged *s, const mercer_data *rows) {
    mercer_plan plan = {.size = sizeof plan};
    mc_shield_from_stop(ctx, true);
    const mercer_status status = mc_plan_fit(ctx, s->machine, s->set.values, s->kernel, rows, &plan);
    mc_shield_from_stop(ctx, false);
    if (status)
        mc_clear_failure(ctx);
    return status || !plan.chosen.possible ? INFINITY : plan.chosen.seconds;
}

/* The settings of a stage. */
void mc_staged_put_stage(mc_staged *s, const mc_stage_plan *plan) {
    if (mc_staged_landmarks(s)) {
        bool *loo = mc_staged_field(s, "loo");
        *(const char **)mc_staged_field(s, "solver") = plan->landmarks ? "nystrom" : "auto";
        *(int64_t *)mc_staged_field(s, "rank") = plan->landmarks;
        if (loo)
            *loo = *loo && !plan->landmarks;
    }
    if (mc_staged_is_machine(s, "gp") && plan->rows > MC_GP_ROWS_TO_LEARN && s->learned) {
        mercer_gp *set = (mercer_gp *)(void *)s->set.values;
        set->noise = s->model->f.report.lambda;
        set->learn = false;
        s->kernel = s->learned;
    }
}

/* ---- One stage ---- */

bool mc_was_cut_short(const mercer_report *r) {
    return strcmp(r->stopped, "time") == 0 || strcmp(r->stopped, "caller") == 0;
}

/* By rows held out; without a target by having come to its end. */
static bool is_better(const mc_staged *s, const mercer_model *model, double error) {
    if (!s->model)
        return !(error == INFINITY);
    if (!s->record.measure)
        return !mc_was_cut_short(&model->f.report);
    return error < s->record.stage[s->record.kept].error;
}

bool mc_staged_is_worse_than_constant(const mc_staged *s) {
    return s->model && s->record.stage[s->record.kept].error > s->record.constant;
}

static mercer_status remember_kernel(mercer_ctx *ctx, mc_staged *s) {
    mercer_kernel_free(s->learned);
    s->learned = NULL;
    return mc_staged_is_machine(s, "gp") ? mc_kernel_bind(ctx, s->model->f.kernel, s->data, &s->learned) : MERCER_OK;
}

static mercer_status keep_model(mercer_ctx *ctx, mc_staged *s, mercer_model *model) {
    mercer_model_free(s->model);
    s->model = model;
    s->record.kept = s->record.count;
    return remember_kernel(ctx, s);
}

void mc_staged_note(mc_staged *s, const mc_stage_plan *plan, const mercer_model *model, double error, double seconds,
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
static mercer_status judge_stage(mercer_ctx *ctx, mc_staged *s, const mc_stage_plan *plan, mercer_model *model,
                                 double seconds) {
    const double error = mc_held_out_error(ctx, s->record.measure, model, s->rows.held);
    const bool better = is_better(s, model, error);
    mc_log_message(ctx, "stage: %lld rows, %lld landmarks: error %.4g%s", (long long)plan->rows,
                   (long long)plan->landmarks, error, better ? ", kept" : "");
    const mercer_status status = better ? keep_model(ctx, s, model) : MERCER_OK;
    mc_staged_note(s, plan, model, error, seconds, better);
    if (!better)
        mercer_model_free(model);
    return status;
}

/* A stage that a clock, the memory or the numbers did not allow leaves what there was; the caller's stop is one. */
mercer_status mc_staged_forgive(mercer_ctx *ctx, const mc_staged *s, mercer_status status) {
    const bool may = status == MERCER_TIME || status == MERCER_NUMERIC || status == MERCER_MEMORY;
    if (!may || !s->model)
        return status;
    mc_clear_failure(ctx);
    return MERCER_OK;
}

/* Within so many seconds of the clock; infinite: however late it is. *done: a model came out, better or not. */
mercer_status mc_stage_run(mercer_ctx *ctx, mc_staged *s, const mc_stage_plan *plan, const mercer_data *rows,
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
    mc_staged_note(s, plan, NULL, NAN, seconds, false);
    return mc_staged_forgive(ctx, s, status);
}

bool mc_staged_has_room(const mercer_ctx *ctx, const mc_staged *s) {
    return s->record.count < MC_FIT_STAGES_MOST - 2 && mc_staged_time_left(ctx, s) > 0 && ctx->told != MERCER_CANCELLED;
}
