/* plan_tune.c: what a search would take: the candidates, splits and stages as the search makes them (rounds.c), measured as its engine
   does (engines.c), and the fit of the best to all rows at its end.

   bytes    the most that is held at once in the search and in the last fit, from the sums that these go by themselves
   seconds  for the closed forms of ridge operations are counted, and the speed of this machine is measured (learn/speed.c). How many steps
            the others take depends on the rows: some runs of the search are made on few of them, on twice as many while that takes
            no more than some tenths of a second, and from there the seconds grow as the counts of a fit do, or as K does */
#include "base/ctx.h"
#include "base/memory.h"
#include "base/progress.h"
#include "base/status.h"
#include "data/data.h"
#include "learn/machines.h"
#include "learn/speed.h"
#include "select/plan.h"
#include "select/tune.h"
#include <string.h>

enum { ROWS_LEAST = 250, RUNS = 6, GROWTH = 5 };
static const double TRIAL = 0.6; /* seconds of one trial at most, as the last one foretells */

static int64_t count_runs(const mc_space *space) {
    int64_t runs = 0;
    for (int64_t i = 0; i < space->count; i = mc_space_run(space, i))
        runs++;
    return runs;
}

/* ---- A candidate in the middle ---- */

typedef struct middle {
    mercer_kernel *kernel;
    void *settings;
    int64_t count; /* candidates of its run */
} middle;

static void close_middle(middle *m) {
    mercer_kernel_free(m->kernel);
    mc_free(m->settings);
}

static mercer_status open_middle(mercer_ctx *ctx, const mercer_search *s, middle *m) {
    const int64_t at = s->space.count / 2;
    int64_t begin = 0;
    *m = (middle){.settings = mc_alloc(ctx, 1, s->machine->size)};
    while (mc_space_run(&s->space, begin) <= at)
        begin = mc_space_run(&s->space, begin);
    m->count = mc_space_run(&s->space, begin) - begin;
    if (!m->settings)
        return MERCER_MEMORY;
    memcpy(m->settings, s->settings, s->machine->size);
    mc_space_settings(&s->space, at, m->settings);
    return mc_space_kernel(ctx, &s->space, at, &m->kernel);
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
    double fit;  /* seconds, by its counts */
    double run;  /* of a run whose work is counted */
    size_t bytes;
    int64_t rows, splits;
    const char *solver;
    mc_foresight foresight;
} load;

/* All that stays the same while rows are weighed. */
typedef struct scale {
    const mercer_search *s;
    const mercer_tune *set;
    const mercer_data *data;
    middle m;
    mc_speed speed; /* pair 0: not measured yet */
    int64_t runs;
} scale;

static mercer_status weigh(mercer_ctx *ctx, scale *e, const mc_round *round, const mercer_data *rows, const mercer_data *test,
                           int64_t count, load *out) {
    const mc_learner *learner = mc_learner_of(e->s->machine);
    const size_t before = mercer_memory_used(ctx);
    mc_problem problem;
    mc_options options;
    MC_TRY(learner->prepare(ctx, e->m.settings, e->m.kernel, rows, &problem));
    const size_t held = mercer_memory_used(ctx) - before;
    const mercer_status status = e->speed.pair > 0 ? MERCER_OK : mc_speed_measure(ctx, &problem, &e->speed);
    learner->weigh(ctx, e->m.settings, &problem, &options);
    const mc_option *fit = &options.option[options.chosen];
    out->foresight = (mc_foresight){.text = e->s->engine->text, .bytes = fit->bytes};
    if (e->s->engine->foresee)
        e->s->engine->foresee(ctx, round, &problem, test, count, &out->foresight);
    out->bytes = held + out->foresight.bytes;
    out->solver = fit->solver;
    out->fit = mc_speed_seconds(&e->speed, fit);
    out->run = mc_speed_seconds(&e->speed, &out->foresight.work);
    mc_problem_close(&problem);
    return status;
}

/* The rows of the last split, in order of time the one with the most to learn from; or all of them, copied as an engine does that measures
   all splits in one call. */
static mercer_status weigh_round(mercer_ctx *ctx, scale *e, const mc_round *round, int64_t count, load *out) {
    const bool whole = e->s->engine->whole;
    const size_t before = mercer_memory_used(ctx);
    mercer_data *train = NULL, *test = NULL;
    MC_TRY(whole ? mc_data_take(ctx, round->data, NULL, round->data->n, &train)
                 : mc_split_take(ctx, &round->splits, round->data, round->splits.count - 1, &train, &test));
    const size_t copies = mercer_memory_used(ctx) - before;
    mercer_status status = weigh(ctx, e, round, train, test ? test : train, count, out);
    if (!status && out->foresight.shared)
        status = weigh(ctx, e, round, round->data, test, count, out);
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
static mercer_status weigh_part(mercer_ctx *ctx, scale *e, int64_t share, int64_t all, int64_t count, load *out) {
    const size_t before = mercer_memory_used(ctx);
    mercer_data *some = NULL;
    const char **groups = NULL;
    mc_round round = {0};
    *out = (load){0};
    mercer_status status = share < all ? mc_stage_rows(ctx, e->set, e->data, share, all, &some, &groups) : MERCER_OK;
    if (!status)
        status = mc_round_open(ctx, e->s, e->set, some ? some : e->data, some ? groups : e->set->groups, &round);
    const size_t held = mercer_memory_used(ctx) - before;
    if (!status)
        status = weigh_round(ctx, e, &round, count, out);
    out->bytes += held;
    mc_splits_close(&round.splits);
    mercer_data_free(some);
    mc_free(groups);
    return status;
}

/* ---- A trial ---- */

/* A run on few rows may lack a class in some fold, or what else it needs: then more rows are taken, and all rows are the search itself. */
static bool is_of_few_rows(mercer_status status) {
    return status == MERCER_DATA || status == MERCER_INVALID || status == MERCER_NUMERIC;
}

/* The seconds of all runs on one of *parts equal parts of the rows. */
static mercer_status try_few(mercer_ctx *ctx, const scale *e, const char *solver, int64_t *parts, double *seconds) {
    mercer_search alike = *e->s;
    double spent = 0;
    int64_t next = 1;
    if (!(alike.settings = mc_alloc(ctx, 1, e->s->machine->size)))
        return MERCER_MEMORY;
    memcpy(alike.settings, e->s->settings, e->s->machine->size);
    put_solver(e->s->machine, alike.settings, solver);
    mercer_status status = MERCER_OK;
    while (e->data->n / (2 * next) >= ROWS_LEAST)
        next *= 2;
    for (*parts = 0; next && !status && GROWTH * spent < TRIAL; next /= 2) {
        status = mc_search_try(ctx, &alike, e->set, e->data, next, RUNS, &spent, seconds);
        *parts = status ? *parts : next;
        if (next > 1 && is_of_few_rows(status)) {
            mc_unfail(ctx);
            status = MERCER_OK;
        }
    }
    mc_free(alike.settings);
    return status;
}

/* ---- All stages ---- */

typedef struct tried {
    int64_t parts;
    double seconds;
    load load;
} tried;

static double seconds_of(const scale *e, const tried *t, const mc_stage *stage, const load *l, int64_t runs) {
    if (l->foresight.counted)
        return (double)runs * l->run;
    const double rows = (double)l->rows / (double)t->load.rows, grown = l->foresight.shared ? rows * rows : l->fit / t->load.fit;
    return t->seconds * grown * (double)stage->candidates / (double)e->s->space.count;
}

/* From few rows to all: the last stage takes the most memory. */
static mercer_status add_stages(mercer_ctx *ctx, scale *e, const mc_stage *stage, int count, mercer_tune_plan *out) {
    tried t = {0};
    load l = {0};
    MC_TRY(weigh_part(ctx, e, 1, 1, 1, &l));
    if (!l.foresight.counted) {
        MC_TRY(try_few(ctx, e, l.solver, &t.parts, &t.seconds));
        put_solver(e->s->machine, e->m.settings, l.solver);
        MC_TRY(weigh_part(ctx, e, 1, t.parts, e->m.count, &t.load));
    }
    for (int k = 0; k < count; k++) {
        const int64_t runs = stage[k].level || stage[k].candidates < e->runs ? stage[k].candidates : e->runs;
        MC_TRY(weigh_part(ctx, e, stage[k].share, stage[k].all, (stage[k].candidates + runs - 1) / runs, &l));
        out->fits += runs * (e->s->engine->steps ? e->s->engine->steps : e->s->engine->whole || l.foresight.shared ? 1 : l.splits);
        out->seconds += seconds_of(e, &t, &stage[k], &l, runs);
    }
    out->splits = l.splits;
    out->engine = l.foresight.text;
    out->memory_bytes = l.bytes + (size_t)(e->s->space.count * (l.splits + MC_BLOCKS + 40)) * sizeof(double);
    return MERCER_OK;
}

/* The best is fitted to all rows at the end. */
static mercer_status add_fit(mercer_ctx *ctx, const scale *e, mercer_tune_plan *out) {
    mercer_plan plan = {0};
    MC_TRY(mc_plan_fit(ctx, e->s->machine, e->m.settings, e->m.kernel, e->data, &plan));
    out->seconds += plan.chosen.seconds;
    out->possible = out->possible && plan.chosen.possible;
    out->memory_bytes = plan.chosen.memory_bytes > out->memory_bytes ? plan.chosen.memory_bytes : out->memory_bytes;
    return MERCER_OK;
}

static mercer_status plan(mercer_ctx *ctx, const mercer_search *s, const mercer_tune *set, const mercer_data *data, mercer_tune_plan *out) {
    scale e = {.s = s, .set = set, .data = data, .runs = count_runs(&s->space)};
    mc_stage stage[MC_STAGES_MOST];
    const int count = mc_search_stages(s, set->halving, data, stage);
    out->candidates = s->space.count;
    out->rows = data->n;
    mercer_status status = open_middle(ctx, s, &e.m);
    if (!status)
        status = add_stages(ctx, &e, stage, count, out);
    out->possible = out->memory_bytes <= mc_memory_left(ctx);
    if (!status)
        status = add_fit(ctx, &e, out);
    close_middle(&e.m);
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
