/* plan_try.c: a little of a search on few of its rows, for the planner: some runs, spread evenly over all of them, and
   then a fit of the best candidate they met, as the search ends with one. All of it grows with the rows as the search
   does, so a hold-out is cut to the same part. */
#include "base/clock.h"
#include "base/memory.h"
#include "base/progress.h"
#include "base/status.h"
#include "data/table/data.h"
#include "select/tune.h"
#include <math.h>
#include <string.h>

typedef struct attempt {
    const mercer_search *s;
    mc_round round;
    mc_shared_kernel shared;
    int64_t best; /* candidate */
    double score; /* its, the larger the better; NaN: none has one yet */
} attempt;

static void note_best(attempt *a, const mc_run *run, int64_t split, const double *values) {
    for (int64_t i = 0; i < run->end - run->begin; i++) {
        const double *own = values + i * mc_round_width(&a->round);
        const double plain = isnan(own[0]) && a->round.parts ? own[1 + split] : own[0],
                     score = a->s->measure->larger ? plain : -plain;
        if (isnan(score) || score <= a->score)
            continue;
        a->best = run->begin + i;
        a->score = score;
    }
}

static mercer_status try_run(mercer_ctx *ctx, attempt *a, int64_t begin, int64_t split, double *spent) {
    mc_run run;
    double *values = NULL;
    const mc_stopwatch watch = mc_stopwatch_start();
    mercer_status status = mc_run_open(ctx, a->s, begin, mc_search_space_run(&a->s->space, begin), &run);
    const int64_t count = (run.end - run.begin) * mc_round_width(&a->round);
    MC_THEN(status, MC_ALLOC(ctx, values, count));
    for (int64_t i = 0; i < count && !status; i++)
        values[i] = NAN;
    MC_THEN(status, a->s->engine->measure(ctx, &a->round, &run, split, values));
    *spent += mc_stopwatch_read(&watch);
    if (!status)
        note_best(a, &run, split, values);
    mc_free(values);
    mc_run_close(&run);
    return status;
}

/* One split speaks for all, another one for every run: along a path and for single fits they cost about the same, and
   one K holds all. */
static mercer_status try_runs(mercer_ctx *ctx, attempt *a, int64_t most, mc_trial_seconds *out) {
    const mc_search_space *space = &a->s->space;
    int64_t runs = 0, tried = 0;
    for (int64_t i = 0; i < space->count; i = mc_search_space_run(space, i))
        runs++;
    const int64_t step = (runs + most - 1) / most, first = (runs - 1) % step / 2, splits = a->round.splits.count;
    for (int64_t i = 0, k = 0; i < space->count; i = mc_search_space_run(space, i), k++) {
        if (k % step != first)
            continue;
        MC_TRY(try_run(ctx, a, i, (2 * k + 1) * splits / (2 * runs), &out->spent));
        tried++;
    }
    const bool all = a->s->engine->whole || a->shared.values || splits < 2;
    out->run = out->spent / (double)tried * (double)(all ? 1 : splits);
    out->seconds = out->run * (double)runs;
    return MERCER_OK;
}

static mercer_status try_fit(mercer_ctx *ctx, const attempt *a, mc_trial_seconds *out) {
    mc_run run;
    mercer_model *model = NULL;
    const mc_stopwatch watch = mc_stopwatch_start();
    mercer_status status = mc_run_open(ctx, a->s, a->best, a->best + 1, &run);
    if (!status && strcmp(a->s->machine->name, "nu-svc") == 0)
        ((mercer_svm *)run.settings)->nearest_nu = true; /* as the search does */
    MC_THEN(status, mc_model_fit(ctx, a->s->machine, run.settings, run.kernel, a->round.data, &model));
    mercer_model_free(model);
    mc_run_close(&run);
    out->fit = mc_stopwatch_read(&watch);
    return status;
}

static mercer_status try_rows(mercer_ctx *ctx, const mercer_search *s, const mercer_tune *set, const mercer_data *data,
                              const char *const *groups, int64_t most, mc_trial_seconds *out) {
    attempt a = {.s = s, .score = NAN};
    mercer_status status = mc_round_open(ctx, s, set, data, groups, &a.round);
    a.round.shared = &a.shared;
    mc_hold_phase(ctx, "plan", -1, -1);
    MC_THEN(status, try_runs(ctx, &a, most, out));
    mc_shared_close(&a.shared);
    mc_splits_close(&a.round.splits);
    MC_THEN(status, try_fit(ctx, &a, out));
    mc_hold_phase(ctx, NULL, 1, 1);
    return status;
}

mercer_status mc_search_try(mercer_ctx *ctx, const mercer_search *s, const mercer_tune *set, const mercer_data *data,
                            int64_t parts, int64_t most, mc_trial_seconds *out) {
    mercer_tune own = *set;
    mercer_data *some = NULL, *test = NULL;
    const char **groups = NULL;
    *out = (mc_trial_seconds){0};
    if (parts < 2)
        return try_rows(ctx, s, set, data, set->groups, most, out);
    mercer_status status = mc_stage_rows(ctx, set, data, 1, parts, &some, &groups);
    if (!status && set->hold_out)
        status = mc_stage_rows(ctx, set, set->hold_out, 1, parts, &test, NULL);
    own.hold_out = test;
    own.groups = groups;
    MC_THEN(status, try_rows(ctx, s, &own, some, groups, most, out));
    mercer_data_free(some);
    mercer_data_free(test);
    mc_free(groups);
    return status;
}
