/* fit.c: the one place that calls learners. */
#include "base/ctx.h"
#include "base/memory.h"
#include "base/settings.h"
#include "base/status.h"
#include "base/text.h"
#include "predict/check_finite.h"
#include "learn/loss/loss.h"
#include "learn/common/machines.h"
#include "model/file/format.h"
#include "model/model.h"
#include <math.h>
#include <string.h>

/* "lambda=0.1 intercept=no ...": every setting, in the order of the rows. */
static mercer_status settings_text(mercer_ctx *ctx, const mercer_machine *machine, const char *loss,
                                   const void *settings, char **out) {
    mc_text text = mc_text_open(ctx);
    if (loss)
        mc_text_add(&text, "loss=%s ", loss);
    for (int i = 0; i < machine->count; i++) {
        const mercer_setting *row = &machine->settings[i];
        const char *field = (const char *)settings + row->offset;
        if (strcmp(row->name, "checkpoint") == 0)
            continue; /* where the work was kept says nothing about the model */
        mc_text_add(&text, "%s%s=", i ? " " : "", row->name);
        switch (row->type) {
        case MERCER_REAL: mc_text_number(&text, *(const double *)(const void *)field); break;
        case MERCER_INTEGER: mc_text_add(&text, "%lld", (long long)*(const int64_t *)(const void *)field); break;
        case MERCER_FLAG: mc_text_add(&text, "%s", *(const bool *)field ? "yes" : "no"); break;
        case MERCER_TEXT: mc_text_add(&text, "%s", *(const char *const *)(const void *)field); break;
        }
    }
    return mc_text_take(&text, out);
}

static mercer_status run(mercer_ctx *ctx, const mercer_machine *machine, const void *settings,
                         const mercer_kernel *kernel, const mercer_data *data, mercer_model *model) {
    MC_TRY(mc_settings_check(ctx, machine->name, machine->settings, machine->count, settings));
    MC_TRY(mc_model_can_hold(ctx, data));
    MC_TRY(settings_text(ctx, machine, NULL, settings, &model->settings));
    MC_TRY(mc_learner_of(machine)->fit(ctx, settings, kernel, data, &model->f));
    MC_TRY(mc_finite_fitted(ctx, &model->f));
    return mc_fitted_keep(ctx, &model->f);
}

mercer_status mc_model_fit(mercer_ctx *ctx, const mercer_machine *machine, const void *settings,
                           const mercer_kernel *kernel, const mercer_data *data, mercer_model **out) {
    *out = NULL;
    if (!mc_learner_of(machine))
        return mc_fail(ctx, MERCER_INVALID, "fit: the machine is none of mercer_machines()");
    mercer_model *model = NULL;
    void *chosen = mc_alloc(ctx, 1, machine->size);
    mercer_status status = chosen ? MC_ALLOC(ctx, model, 1) : MERCER_MEMORY;
    if (!status) {
        mercer_settings_defaults(machine, chosen);
        if (settings)
            memcpy(chosen, settings, machine->size);
        status = run(ctx, machine, chosen, kernel, data, model);
    }
    mc_free(chosen);
    if (status)
        mercer_model_free(model);
    else
        *out = model;
    return status;
}

mercer_status mercer_fit(mercer_ctx *ctx, const mercer_machine *machine, const void *settings,
                         const mercer_kernel *kernel, const mercer_data *data, mercer_model **out) {
    MC_CLEAR(out);
    MC_NEED(ctx, machine, kernel, data, out);
    mc_begin(ctx);
    return mc_model_fit(ctx, machine, settings, kernel, data, out);
}

/* The settings rows of logistic are those of every smooth loss. */
static mercer_status run_own(mercer_ctx *ctx, const mercer_own_loss *loss, const mercer_loss *set,
                             const mercer_kernel *kernel, const mercer_data *data, mercer_model *model) {
    const mercer_machine *row = mercer_machine_find("logistic");
    MC_TRY(mc_settings_check(ctx, "own-loss", row->settings, row->count, set));
    MC_TRY(mc_model_can_hold(ctx, data));
    MC_TRY(settings_text(ctx, row, loss->name, set, &model->settings));
    MC_TRY(mc_own_loss_fit(ctx, loss, set, kernel, data, &model->f));
    MC_TRY(mc_finite_fitted(ctx, &model->f));
    return mc_fitted_keep(ctx, &model->f);
}

mercer_status mercer_own_loss_fit(mercer_ctx *ctx, const mercer_kernel *kernel, const mercer_data *data,
                                  const mercer_own_loss *loss, const mercer_loss *set, mercer_model **out) {
    MC_CLEAR(out);
    MC_NEED(ctx, kernel, data, loss, out);
    const mercer_loss initial = mercer_loss_defaults("own-loss");
    mercer_model *model = NULL;
    mc_begin(ctx);
    *out = NULL;
    MC_TRY(MC_ALLOC(ctx, model, 1));
    const mercer_status status = run_own(ctx, loss, set ? set : &initial, kernel, data, model);
    if (status)
        mercer_model_free(model);
    else
        *out = model;
    return status;
}

mercer_status mercer_ridge_fit(mercer_ctx *ctx, const mercer_kernel *kernel, const mercer_data *data,
                               const mercer_ridge *set, mercer_model **out) {
    MC_CLEAR(out);
    MC_NEED(ctx, kernel, data, out);
    return mercer_fit(ctx, mercer_machine_find("ridge"), set, kernel, data, out);
}

mercer_status mercer_lms_fit(mercer_ctx *ctx, const mercer_kernel *kernel, const mercer_data *data,
                             const mercer_lms *set, mercer_model **out) {
    MC_CLEAR(out);
    MC_NEED(ctx, kernel, data, out);
    return mercer_fit(ctx, mercer_machine_find("lms"), set, kernel, data, out);
}

mercer_status mercer_pca_fit(mercer_ctx *ctx, const mercer_kernel *kernel, const mercer_data *data,
                             const mercer_pca *set, mercer_model **out) {
    MC_CLEAR(out);
    MC_NEED(ctx, kernel, data, out);
    return mercer_fit(ctx, mercer_machine_find("pca"), set, kernel, data, out);
}

mercer_status mercer_knn_fit(mercer_ctx *ctx, const mercer_kernel *kernel, const mercer_data *data,
                             const mercer_knn *set, mercer_model **out) {
    MC_CLEAR(out);
    MC_NEED(ctx, kernel, data, out);
    return mercer_fit(ctx, mercer_machine_find("knn"), set, kernel, data, out);
}

mercer_status mercer_gp_fit(mercer_ctx *ctx, const mercer_kernel *kernel, const mercer_data *data, const mercer_gp *set,
                            mercer_model **out) {
    MC_CLEAR(out);
    MC_NEED(ctx, kernel, data, out);
    return mercer_fit(ctx, mercer_machine_find("gp"), set, kernel, data, out);
}
