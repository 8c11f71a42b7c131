/* plan_tune.c: what a search would take: the candidates, splits and stages as the search makes them (search_stages.c),
   measured as its engine does (engines.c), and the fit of the best to all rows at its end.

   bytes    the most that is held at once in the search and in the last fit, from the sums that these go by themselves
   seconds  for the closed forms of ridge operations are counted, and the speed of this machine is measured
   (plan/speed.c). How many steps
            the others take depends on the rows: some runs of the search are made on few of them, then on twice as many,
            while that takes no more than a tenth of the search. From there the seconds grow as the counts of a fit do,
            or as K does: by a + b times those counts through the last two trials, since what does not grow weighs most
            on few rows */
#include "base/ctx.h"
#include "base/memory.h"
#include "base/progress.h"
#include "base/sized.h"
#include "base/status.h"
#include "data/table/data.h"
#include "learn/common/machines.h"
#include "plan/speed.h"
#include "select/tune.h"
#include <math.h>
#include <string.h>

enum { ROWS_LEAST = 250, RUNS = 6, TRIALS = 2 };
/* Seconds that a trial may take in any case, at most, and as a part of the search that is forecast. */
static const double TRIAL_SHORT = 1, TRIAL_LONG = 2, TRIAL_SHARE = 0.1;
static const double ASTRAY = 1.5; /* how far two trials may lead from what the last alone says */

static int64_t count_runs(const mc_search_space *space) {
    int64_t runs = 0;
    for (int64_t i = 0; i < space->count; i = mc_search_space_run(space, i))
        runs++;
    return runs;
}

/* ---- A candidate that speaks for all ---- */

static mercer_status open_candidate(mercer_ctx *ctx, const mercer_search *s, int64_t at, mc_run *out) {
    int64_t begin = 0;
    while (mc_search_space_run(&s->space, begin) <= at)
        begin = mc_search_space_run(&s->space, begin);
    MC_TRY(mc_run_open(ctx, s, begin, mc_search_space_run(&s->space, begin), out));
    mc_search_space_settings(&s->space, at, out->settings);
    return MERCER_OK;
}

/* A machine that chooses its solver by the rows there are is tried with the one it takes on all of them. */
static void put_solver(const mercer_machine *machine, void *settings, const char *solver) {
    for (int i = 0; i < machine->count; i++) {
        const mercer_setting *row = &machine->settings[i];
        const char **field = (const char **)(void *)((char *)settings + row->offset);
        if (strcmp(row->name, "solver") == 0 && strcmp(*field, "auto") == 0)
            *field = solver;
    }
}

/* ---- Some rows ---- */

/* What learning from them takes: a fit of the middle, and what the engine makes of it. */
typedef struct load {
    double fit; /* seconds, by its counts */
    double run; /* of a run whose work is counted */
    size_t bytes;
    int64_t rows, splits;
    const char *solver;
    mc_run_cost cost;
} load;

/* Runs on part of the rows. */
typedef struct planned_trial {
    mc_trial_seconds took;
    load load;
} planned_trial;

/* The last two. */
typedef struct trials {
    int count;
    planned_trial last, before;
} trials;

/* All that stays the same while rows are weighed, and what was tried. */
typedef struct scale {
    const mercer_search *s;
    const mercer_tune *set;
    const mercer_data *data;
    mc_run m;       /* the settings are those of the candidate that speaks for all */
    mc_speed speed; /* pair 0: not measured yet */
    int64_t runs;
    bool fit; /* at the end: of the best, to all rows */
    trials tried;
} scale;

static mercer_status estimate_load(mercer_ctx *ctx, scale *e, const mc_round *round, const mercer_data *rows,
                                   const mercer_data *test, int64_t count, load *out) {
    const mc_planner *planner = &mc_learner_of(e->s->machine)->plan;
    const size_t before = mercer_memory_used(ctx);
    mc_problem problem;
    mc_solver_options options;
    MC_TRY(planner->prepare(ctx, e->m.settings, e->m.kernel, rows, &problem));
    const size_t held = mercer_memory_used(ctx) - before;
    const mercer_status status = e->speed.pair > 0 ? MERCER_OK : mc_speed_measure(ctx, &problem, &e->speed);
    planner->rank_solvers(ctx, e->m.settings, &problem, &options);
    const mc_solver_option *fit = &options.option[options.chosen];
    out->cost = (mc_run_cost){.text = e->s->engine->text, .bytes = fit->bytes};
    if (e->s->engine->estimate_cost)
        e->s->engine->estimate_cost(ctx, round, &problem, test, count, &out->cost);
    out->bytes = held + out->cost.bytes;
    out->solver = fit->solver;
    out->fit = mc_speed_seconds(&e->speed, fit);
    out->run = mc_speed_seconds(&e->speed, &out->cost.work);
    mc_problem_close(&problem);
    return status;
}

/* The rows of the last split, in order of time the one with the most to learn from; or all of them, copied as an engine
   does that measures all splits in one call. */
static mercer_status estimate_round_load(mercer_ctx *ctx, scale *e, const mc_round *round, int64_t count, load *out) {
    const bool whole = e->s->engine->whole;
    const size_t before = mercer_memory_used(ctx);
    mercer_data *train = NULL, *test = NULL;
    MC_TRY(whole ? mc_data_take(ctx, round->data, NULL, round->data->n, &train)
                 : mc_split_take(ctx, &round->splits, round->data, round->splits.count - 1, &train, &test));
    const size_t copies = mercer_memory_used(ctx) - before;
    mercer_status status = estimate_load(ctx, e, round, train, test ? test : train, count, out);
    if (!status && out->cost.shared)
        status = estimate_load(ctx, e, round, round->data, test, count, out);
    out->bytes += copies;
    out->rows = round->data->n;
    out->splits = round->splits.count ? round->splits.count : 1;
    if (whole)
        mercer_data_free(train);
    else
        mc_split_free(&round->splits, train, test);
    return status;
}

/* A run of so many candidates on share of all parts of the rows. */
static mercer_status estimate_part_load(mercer_ctx *ctx, scale *e, int64_t share, int64_t all, int64_t count,
                                        load *out) {
    const size_t before = mercer_memory_used(ctx);
    mercer_data *some = NULL;
    const char **groups = NULL;
    mc_round round = {0};
    *out = (load){0};
    mercer_status status = share < all ? mc_stage_rows(ctx, e->set, e->data, share, all, &some, &groups) : MERCER_OK;
    MC_THEN(status, mc_round_open(ctx, e->s, e->set, some ? some : e->data, some ? groups : e->set->groups, &round));
    const size_t held = mercer_memory_used(ctx) - before;
    MC_THEN(status, estimate_round_load(ctx, e, &round, count, out));
    out->bytes += held;
    mc_splits_close(&round.splits);
    mercer_data_free(some);
    mc_free(groups);
    return status;
}

/* ---- A trial ---- */

/* A run on few rows may lack a class in some fold, or what else it needs: then more rows are taken, and all rows are
   the search itself. */
static bool is_of_few_rows(mercer_status status) {
    return status == MERCER_DATA || status == MERCER_INVALID || status == MERCER_NUMERIC;
}

/* How much more there is to do, by the counts, in all runs and in a fit. */
static double growth_of_fit(const load *more, const load *less) {
    return more->fit / less->fit;
}

static double growth_of_run(const load *more, const load *less) {
    const double rows = (double)more->rows / (double)less->rows;
    return more->cost.shared && less->cost.shared ? rows * rows : growth_of_fit(more, less);
}

/* Along the line through the last two trials, where there are two: last and before took so many seconds, and grown and
   shrunk say how much the counts differ from those of the last. */
static double follow_line(const trials *t, double last, double before, double grown, double shrunk) {
    const double plain = last * grown, line = last + (last - before) / (1 - shrunk) * (grown - 1);
    return t->count < 2 ? plain : fmin(fmax(line, plain / ASTRAY), plain * ASTRAY);
}

/* All runs on the rows of a load, and a fit of the best to them. */
static double extrapolate_seconds(const trials *t, const load *l) {
    return follow_line(t, t->last.took.seconds, t->before.took.seconds, growth_of_run(l, &t->last.load),
                       growth_of_run(&t->before.load, &t->last.load));
}

static double foretell_fit(const trials *t, const load *l) {
    return follow_line(t, t->last.took.fit, t->before.took.fit, growth_of_fit(l, &t->last.load),
                       growth_of_fit(&t->before.load, &t->last.load));
}

/* Whether a trial on the rows of a load takes too long for what it says of all of them. */
static bool is_long(const trials *t, const load *l, const load *all) {
    const double allowed = fmin(fmax(TRIAL_SHARE * extrapolate_seconds(t, all), TRIAL_SHORT), TRIAL_LONG);
    return t->count && (t->last.took.spent + t->last.took.fit) * growth_of_run(l, &t->last.load) > allowed;
}

/* The time limit is that of the search, not of a trial; the caller may stop it. */
static mercer_status try_unlimited(mercer_ctx *ctx, const mercer_search *alike, const scale *e, int64_t parts,
                                   mc_trial_seconds *out) {
    const double limit = ctx->options.time_limit;
    ctx->options.time_limit = 0;
    mc_shield_from_stop(ctx, false);
    const mercer_status status = mc_search_try(ctx, alike, e->set, e->data, parts, RUNS, out);
    mc_shield_from_stop(ctx, true);
    ctx->options.time_limit = limit;
    return status;
}

static mercer_status add_trial(mercer_ctx *ctx, const mercer_search *alike, scale *e, int64_t parts, const load *l) {
    trials *t = &e->tried;
    planned_trial now = {.load = *l};
    MC_TRY(try_unlimited(ctx, alike, e, parts, &now.took));
    t->before = t->last;
    t->last = now;
    t->count += t->count < TRIALS;
    return MERCER_OK;
}

/* On more and more rows. */
static mercer_status try_rows(mercer_ctx *ctx, const mercer_search *alike, scale *e, const load *all) {
    for (int64_t parts = e->data->n / ROWS_LEAST > 1 ? e->data->n / ROWS_LEAST : 1; parts; parts /= 2) {
        load l;
        mercer_status status = estimate_part_load(ctx, e, 1, parts, e->m.end - e->m.begin, &l);
        if (!status && is_long(&e->tried, &l, all))
            return MERCER_OK;
        MC_THEN(status, add_trial(ctx, alike, e, parts, &l));
        if (status && (parts == 1 || !is_of_few_rows(status)))
            return status;
        if (status)
            mc_clear_failure(ctx);
    }
    return MERCER_OK;
}

/* With the solver that all rows ask for. */
static mercer_status try_few(mercer_ctx *ctx, scale *e, const load *all) {
    mercer_search alike = *e->s;
    if (!(alike.settings = mc_alloc(ctx, 1, e->s->machine->size)))
        return MERCER_MEMORY;
    memcpy(alike.settings, e->s->settings, e->s->machine->size);
    put_solver(e->s->machine, alike.settings, all->solver);
    put_solver(e->s->machine, e->m.settings, all->solver);
    const mercer_status status = try_rows(ctx, &alike, e, all);
    mc_free(alike.settings);
    return status;
}

/* ---- All stages ---- */

static double seconds_of(const scale *e, const mc_stage *stage, const load *l, int64_t runs) {
    if (l->cost.counted)
        return (double)runs * l->run;
    return extrapolate_seconds(&e->tried, l) * (double)stage->candidates / (double)e->s->space.count;
}

/* From few rows to all: the last stage takes the most memory. */
static mercer_status add_stages(mercer_ctx *ctx, scale *e, const mc_stage *stage, int count, mercer_tune_plan *out) {
    load l = {0};
    MC_TRY(estimate_part_load(ctx, e, 1, 1, 1, &l));
    if (!l.cost.counted)
        MC_TRY(try_few(ctx, e, &l));
    for (int k = 0; k < count; k++) {
        const int64_t runs = stage[k].level || stage[k].candidates < e->runs ? stage[k].candidates : e->runs;
        MC_TRY(estimate_part_load(ctx, e, stage[k].share, stage[k].all, (stage[k].candidates + runs - 1) / runs, &l));
        out->fits += runs
                     * (e->s->engine->steps                    ? e->s->engine->steps
                        : e->s->engine->whole || l.cost.shared ? 1
                                                               : l.splits);
        out->seconds += seconds_of(e, &stage[k], &l, runs);
    }
    out->seconds += e->fit && e->tried.count ? foretell_fit(&e->tried, &l) : 0;
    out->splits = l.splits;
    out->engine = l.cost.text;
    out->memory_bytes = l.bytes + (size_t)(e->s->space.count * (l.splits + MC_BLOCKS + 40)) * sizeof(double);
    return MERCER_OK;
}

/* The best is fitted to all rows at the end; a trial has shown how long that takes. */
static mercer_status add_fit(mercer_ctx *ctx, const scale *e, mercer_tune_plan *out) {
    mercer_plan plan = {0};
    MC_TRY(mc_plan_fit(ctx, e->s->machine, e->m.settings, e->m.kernel, e->data, &plan));
    out->seconds += e->tried.count ? 0 : plan.chosen.seconds;
    out->possible = out->possible && plan.chosen.possible;
    out->memory_bytes = plan.chosen.memory_bytes > out->memory_bytes ? plan.chosen.memory_bytes : out->memory_bytes;
    return MERCER_OK;
}

static mercer_status plan_by(mercer_ctx *ctx, const mercer_search *s, int64_t candidate, const mercer_tune *set,
                             const mercer_data *data, bool fit, mercer_tune_plan *out) {
    scale e = {.s = s, .set = set, .data = data, .runs = count_runs(&s->space), .fit = fit};
    mc_stage stage[MC_STAGES_MOST];
    const int count = mc_search_stages(s, set->halving, data, stage);
    *out = (mercer_tune_plan){.engine = "", .candidates = s->space.count, .rows = data->n};
    mercer_status status = open_candidate(ctx, s, candidate, &e.m);
    MC_THEN(status, add_stages(ctx, &e, stage, count, out));
    out->possible = out->memory_bytes <= mc_memory_left(ctx);
    if (!status && fit)
        status = add_fit(ctx, &e, out);
    mc_run_close(&e.m);
    return status;
}

/* The one in the middle speaks for all; of neighbours or a nu that few rows do not allow, the first, which is the
   smallest. */
static mercer_status plan_tuning(mercer_ctx *ctx, const mercer_search *s, const mercer_tune *set,
                                 const mercer_data *data, bool fit, mercer_tune_plan *out) {
    const mercer_status status = plan_by(ctx, s, s->space.count / 2, set, data, fit, out);
    if (status != MERCER_INVALID || s->space.count < 2)
        return status;
    mc_clear_failure(ctx);
    return plan_by(ctx, s, 0, set, data, fit, out);
}

mercer_status mc_plan_search(mercer_ctx *ctx, const mercer_machine *machine, const void *settings,
                             const mercer_tune *set, const mercer_data *data, bool fit, mercer_tune_plan *out) {
    mercer_search s = {0};
    *out = (mercer_tune_plan){.engine = ""};
    mercer_status status = mc_search_open(ctx, machine, settings, set, data, &s);
    MC_THEN(status, plan_tuning(ctx, &s, set, data, fit, out));
    mc_search_close(&s);
    return status;
}

mercer_status mercer_plan_tune(mercer_ctx *ctx, const char *machine, const void *settings, const mercer_tune *set,
                               const mercer_data *data, mercer_tune_plan *out) {
    MC_NEED(ctx, machine, data, out);
    mc_begin_call(ctx);
    MC_TRY(mc_sized_check(ctx, "mercer_tune_plan", out));
    mercer_tune chosen = mercer_tune_defaults();
    mc_settings whole;
    mercer_tune_plan made = {.engine = ""};
    MC_TRY(mc_sized_read(ctx, "mercer_tune", set, &chosen, sizeof chosen));
    MC_TRY(mc_settings_read(ctx, machine, settings, &whole));
    mc_shield_from_stop(ctx, true); /* the time limit is that of the search */
    const mercer_status status = mc_plan_search(ctx, whole.machine, whole.values, &chosen, data, true, &made);
    mc_shield_from_stop(ctx, false);
    mc_sized_write(&made, sizeof made, out);
    return status;
}
