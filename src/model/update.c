/* update.c: a new model from an old one and new rows. */
#include "base/ctx.h"
#include "base/memory.h"
#include "base/settings.h"
#include "base/sized.h"
#include "base/status.h"
#include "base/text.h"
#include "predict/fitted.h"
#include "learn/lms/lms.h"
#include "model/widen.h"

void mercer_update_init(mercer_update *set, size_t size) {
    mercer_update defaults = {0};
    mc_settings_fill(mc_update_settings, MC_UPDATE_SETTINGS, &defaults);
    mc_sized_init(&defaults, sizeof defaults, set, size);
}

static mercer_status settings_text(mercer_ctx *ctx, const mercer_update *set, char **out) {
    mc_text text = mc_text_open(ctx);
    mc_text_add(&text, "step=");
    mc_text_number(&text, set->step);
    mc_text_add(&text, " budget=%lld passes=%lld", (long long)set->budget, (long long)set->passes);
    return mc_text_take(&text, out);
}

/* Rows that have columns which the model has not: it has them from now on. */
static mercer_status learn_rows(mercer_ctx *ctx, const mercer_model *model, const mercer_data *data,
                                const mercer_update *set, mc_fitted *out) {
    mc_matched m;
    MC_TRY(mc_match_columns(ctx, model, data, true, &m));
    const mercer_status status = mc_lms_update(ctx, &m.model->f, m.rows, set, out);
    mc_matched_free(&m);
    return status;
}

mercer_status mercer_model_update(mercer_ctx *ctx, const mercer_model *model, const mercer_data *data,
                                  const mercer_update *set, mercer_model **out) {
    MC_CLEAR(out);
    MC_NEED(ctx, model, data, out);
    mc_begin_call(ctx);
    mercer_update chosen = mercer_update_defaults();
    MC_TRY(mc_sized_read(ctx, "mercer_update", set, &chosen, sizeof chosen));
    mercer_model *made = NULL;
    MC_TRY(mc_settings_check(ctx, "update", mc_update_settings, MC_UPDATE_SETTINGS, &chosen));
    MC_TRY(MC_ALLOC(ctx, made, 1));
    mercer_status status = settings_text(ctx, &chosen, &made->settings);
    MC_THEN(status, learn_rows(ctx, model, data, &chosen, &made->f));
    MC_THEN(status, mc_finite_fitted(ctx, &made->f));
    MC_THEN(status, mc_fitted_open_cache(ctx, &made->f));
    if (status)
        mercer_model_free(made);
    else
        *out = made;
    return status;
}
