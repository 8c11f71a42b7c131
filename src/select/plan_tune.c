/* plan_tune.c: what a search would take: the candidates and splits as the search makes them, the fit of a candidate in the middle forecast
   as for a single fit, times the fits that cannot be had from another one. A step down the slopes of ridge is the factorisation of a fit,
   an inverse and a product: about six of it. */
#include "base/ctx.h"
#include "base/memory.h"
#include "base/progress.h"
#include "base/status.h"
#include "data/data.h"
#include "learn/ridge_slopes.h"
#include "select/plan.h"
#include "select/tune.h"
#include <string.h>

static int64_t count_runs(const mc_space *space) {
    int64_t runs = 0;
    for (int64_t i = 0; i < space->count; i = mc_space_run(space, i))
        runs++;
    return runs;
}

enum { FACTORS_OF_A_STEP = 6 };

/* Ridge in closed form takes an eigendecomposition, or steps of factorisations, whatever way a fit would go. */
static void put_solver(const mercer_search *s, void *settings) {
    if (strcmp(s->machine->name, "ridge") == 0 && s->engine->whole)
        ((mercer_ridge *)settings)->solver = s->engine->steps ? "cholesky" : "eigen";
}

static mercer_status price_one(mercer_ctx *ctx, const mercer_search *s, const mercer_data *data, mercer_tune_plan *out) {
    const int64_t middle = s->space.count / 2;
    mercer_kernel *kernel = NULL;
    mercer_plan plan = {0};
    void *settings = mc_alloc(ctx, 1, s->machine->size);
    mercer_status status = settings ? mc_space_kernel(ctx, &s->space, middle, &kernel) : MERCER_MEMORY;
    if (!status) {
        memcpy(settings, s->settings, s->machine->size);
        mc_space_settings(&s->space, middle, settings);
        put_solver(s, settings);
        status = mc_plan_fit(ctx, s->machine, settings, kernel, data, &plan);
    }
    out->memory_bytes = plan.chosen.memory_bytes;
    out->seconds = plan.chosen.seconds * (double)out->fits * (s->engine->steps ? FACTORS_OF_A_STEP : 1);
    if (s->engine->steps)
        out->memory_bytes += mc_ridge_slopes_bytes(data->n, s->folds > 0);
    out->possible = plan.chosen.possible;
    mercer_kernel_free(kernel);
    mc_free(settings);
    return status;
}

static mercer_status price_split(mercer_ctx *ctx, const mercer_search *s, const mc_round *round, mercer_tune_plan *out) {
    if (s->engine->whole)
        return price_one(ctx, s, round->data, out);
    mercer_data *train = NULL, *test = NULL;
    MC_TRY(mc_split_take(ctx, &round->splits, round->data, round->splits.count - 1, &train, &test));
    const mercer_status status = price_one(ctx, s, train, out);
    mc_split_free(&round->splits, train, test);
    return status;
}

static mercer_status plan(mercer_ctx *ctx, const mercer_search *s, const mercer_tune *set, const mercer_data *data, mercer_tune_plan *out) {
    mc_round round;
    mercer_status status = mc_round_open(ctx, s, set, data, set->groups, &round);
    const int64_t runs = count_runs(&s->space);
    out->candidates = s->space.count;
    out->engine = s->engine->text;
    out->splits = round.splits.count ? round.splits.count : 1;
    out->fits = s->engine->steps ? runs * s->engine->steps : s->engine->whole ? runs : runs * out->splits;
    if (!status)
        status = price_split(ctx, s, &round, out);
    mc_splits_close(&round.splits);
    return status;
}

mercer_status mercer_plan_tune(mercer_ctx *ctx, const mercer_machine *machine, const void *settings, const mercer_tune *set,
                               const mercer_data *data, mercer_tune_plan *out) {
    mc_begin(ctx);
    *out = (mercer_tune_plan){.engine = ""};
    const mercer_tune chosen = set ? *set : mercer_tune_defaults();
    mercer_search s = {0};
    mc_shield(ctx, true); /* the time limit is that of the search */
    mercer_status status = mc_search_open(ctx, machine, settings, &chosen, data, &s);
    if (!status)
        status = plan(ctx, &s, &chosen, data, out);
    mc_shield(ctx, false);
    mc_search_close(&s);
    return status;
}
