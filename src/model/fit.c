/* fit.c: the one place that calls learners: to fit, and to say what a fit would take. */
#include "base/ctx.h"
#include "base/memory.h"
#include "base/progress.h"
#include "base/settings.h"
#include "base/sized.h"
#include "base/status.h"
#include "backend/device.h"
#include "base/text.h"
#include "data/table/data.h"
#include "predict/fitted.h"
#include "learn/loss/loss_solver.h"
#include "learn/common/machines.h"
#include "model/file/format.h"
#include "model/model.h"
#include "model/staged_fit.h"
#include <math.h>
#include <string.h>

/* "lambda=0.1 intercept=no ...": every setting, in the order of the rows. */
static mercer_status settings_text(mercer_ctx *ctx, const mercer_machine *machine, const void *settings, char **out) {
    mc_text text = mc_text_open(ctx);
    const mercer_loss *loss = strcmp(machine->name, "own-loss") == 0 ? settings : NULL;
    if (loss && loss->own && loss->own->name)
        mc_text_add(&text, "loss=%s ", loss->own->name);
    for (int i = 0; i < machine->count; i++) {
        const mercer_setting *row = &machine->settings[i];
        const char *field = (const char *)settings + row->offset;
        if (strcmp(row->name, "checkpoint") == 0)
            continue; /* where the work was kept says nothing about the model */
        mc_text_string(&text, i ? " " : "");
        mc_text_string(&text, row->name);
        mc_text_string(&text, "=");
        switch (row->type) {
        case MERCER_REAL: mc_text_number(&text, *(const double *)(const void *)field); break;
        case MERCER_INTEGER: mc_text_add(&text, "%lld", (long long)*(const int64_t *)(const void *)field); break;
        case MERCER_FLAG: mc_text_string(&text, *(const bool *)field ? "yes" : "no"); break;
        case MERCER_TEXT: mc_text_string(&text, *(const char *const *)(const void *)field); break;
        }
    }
    return mc_text_take(&text, out);
}

static mercer_status fit_machine(mercer_ctx *ctx, const mercer_machine *machine, const void *settings,
                                 const mercer_kernel *kernel, const mercer_data *data, mercer_model *model) {
    MC_TRY(mc_settings_check(ctx, machine->name, machine->settings, machine->count, settings));
    MC_TRY(mc_model_can_hold(ctx, data));
    MC_TRY(settings_text(ctx, machine, settings, &model->settings));
    const mc_learner *learner = mc_learner_of(machine);
    ctx->device.pairs = learner->products * (double)data->n * (double)data->n;
    MC_TRY(learner->fit(ctx, settings, kernel, data, &model->f));
    MC_TRY(mc_finite_fitted(ctx, &model->f));
    return mc_fitted_open_cache(ctx, &model->f);
}

mercer_status mc_model_fit(mercer_ctx *ctx, const mercer_machine *machine, const void *settings,
                           const mercer_kernel *kernel, const mercer_data *data, mercer_model **out) {
    *out = NULL;
    mercer_model *model = NULL;
    MC_TRY(MC_ALLOC(ctx, model, 1));
    const mercer_status status = fit_machine(ctx, machine, settings, kernel, data, model);
    if (status)
        mercer_model_free(model);
    else
        *out = model;
    return status;
}

mercer_status mercer_fit(mercer_ctx *ctx, const char *machine, const void *settings, const mercer_kernel *kernel,
                         const mercer_data *data, mercer_model **out) {
    MC_CLEAR(out);
    MC_NEED(ctx, machine, kernel, data, out);
    mc_begin_call(ctx);
    mc_device_begin(ctx, (double)data->n * (double)data->n);
    mc_settings set;
    MC_TRY(mc_settings_read(ctx, machine, settings, &set));
    if (ctx->options.time_limit > 0)
        return mc_fit_in_time(ctx, set.machine, set.values, kernel, data, false, out);
    if (strcmp(set.machine->name, "gp") == 0 && data->n > MC_GP_ROWS
        && !((const mercer_gp *)(const void *)set.values)->exact)
        return mc_fit_in_proportion(ctx, set.machine, set.values, kernel, data, out);
    return mc_model_fit(ctx, set.machine, set.values, kernel, data, out);
}

/* ---- What a fit would take ---- */

mercer_status mc_plan_fit(mercer_ctx *ctx, const mercer_machine *machine, const void *settings,
                          const mercer_kernel *kernel, const mercer_data *data, mercer_plan *out) {
    const mc_planner *planner = &mc_learner_of(machine)->plan;
    if (!planner->prepare)
        return mc_fail(ctx, MERCER_INVALID, "plan: %s cannot be planned", machine->name);
    MC_TRY(mc_settings_check(ctx, machine->name, machine->settings, machine->count, settings));
    return mc_forecast_fit(ctx, planner, settings, kernel, data, out);
}

mercer_status mercer_plan_fit(mercer_ctx *ctx, const char *machine, const void *settings, const mercer_kernel *kernel,
                              const mercer_data *data, mercer_plan *out) {
    MC_NEED(ctx, machine, kernel, data, out);
    mc_begin_call(ctx);
    MC_TRY(mc_sized_check(ctx, "mercer_plan", out));
    mc_settings set;
    mercer_plan made = {0};
    MC_TRY(mc_settings_read(ctx, machine, settings, &set));
    mc_shield_from_stop(ctx, true); /* the time limit is that of the fit */
    const mercer_status status = mc_plan_fit(ctx, set.machine, set.values, kernel, data, &made);
    mc_shield_from_stop(ctx, false);
    mc_sized_write(&made, sizeof made, out);
    return status;
}
