/* search_result.c: what a search found, and the fit of its winner. */
#include "select/tune.h"
#include "base/ctx.h"
#include "base/memory.h"
#include "base/status.h"
#include "model/staged_fit.h"
#include <math.h>
#include <string.h>

int64_t mercer_search_count(const mercer_search *search) {
    if (!search)
        return 0;
    return search->space.count;
}

mercer_candidate mercer_search_candidate(const mercer_search *s, int64_t i) {
    if (!s)
        return (mercer_candidate){0};
    if (i < 0 || i >= s->space.count)
        return (mercer_candidate){.kernel = "", .settings = "", .score = NAN, .error = NAN};
    return (mercer_candidate){.kernel = s->kernel[i],
                              .settings = s->text[i],
                              .score = s->value[i * (s->parts + 1)],
                              .error = s->error[i],
                              .rows = s->rows[i],
                              .seconds = s->seconds[i]};
}

const mercer_tune_report *mercer_search_report(const mercer_search *search) {
    return search ? &search->report : NULL;
}

const char *mercer_search_json(const mercer_search *search) {
    if (!search)
        return NULL;
    return search->json;
}

static mercer_status fit_best(mercer_ctx *ctx, const mercer_search *s, const mercer_data *data, mercer_model **out) {
    void *settings = mc_alloc(ctx, 1, s->machine->size);
    if (!settings)
        return MERCER_MEMORY;
    memcpy(settings, s->settings, s->machine->size);
    mc_search_space_settings(&s->space, s->report.best, settings);
    if (strcmp(s->machine->name, "nu-svc") == 0) /* folds may allow a little more than all rows do */
        ((mercer_svm *)settings)->nearest_nu = true;
    const bool limited = ctx->options.time_limit > 0, open = s->choice == MC_LEVEL;
    mercer_status status = limited ? mc_fit_in_time(ctx, s->machine, settings, s->winner, data, open, out)
                           : open  ? mc_fit_in_proportion(ctx, s->machine, settings, s->winner, data, out)
                                   : mc_model_fit(ctx, s->machine, settings, s->winner, data, out);
    if (!status && !((*out)->search = mc_copy_text(ctx, s->json, strlen(s->json))))
        status = MERCER_MEMORY;
    mc_free(settings);
    return status;
}

mercer_status mercer_search_fit(mercer_ctx *ctx, const mercer_search *search, const mercer_data *data,
                                mercer_model **out) {
    MC_CLEAR(out);
    MC_NEED(ctx, search, data, out);
    mc_begin_call(ctx);
    const mercer_status status = fit_best(ctx, search, data, out);
    if (status) {
        mercer_model_free(*out);
        *out = NULL;
    }
    return status;
}
