/* tune.c: the order of work of a search, and the calls around it: what is searched, where it is measured, everything
   measured, the best one chosen, the search written down. */
#include "select/tune.h"
#include "base/ctx.h"
#include "base/memory.h"
#include "base/print.h"
#include "base/progress.h"
#include "base/settings.h"
#include "base/sized.h"
#include "base/status.h"
#include "data/table/data.h"
#include "kernel/language/parse.h"
#include "learn/common/machines.h"
#include "learn/ridge/ridge_system.h"
#include <math.h>
#include <string.h>

enum { KERNELS_MOST = 1000 };
static const double WIDER = 32; /* how far around its default the gamma of rbf is searched where nothing is said */

void mercer_tune_init(mercer_tune *set, size_t size) {
    const mercer_tune defaults = {.search = "grid", .repeats = 1, .score = "auto"};
    mc_sized_init(&defaults, sizeof defaults, set, size);
}

static const struct {
    const char *machine, *range;
} ranges[] = {
    {"ridge", "lambda=1e-6..1000"},
    {"svc", "C=0.1..1000"},
    {"svr", "C=0.1..1000"},
    {"nu-svc", "nu=0.05..0.8"},
    {"nu-svr", "nu=0.05..0.8"},
    {"logistic", "lambda=1e-4..100"},
    {"squared-hinge", "lambda=1e-4..100"},
    {"huber", "lambda=1e-4..100"},
    {"quantile", "lambda=1e-4..100"},
    {"absolute", "lambda=1e-4..100"},
    {"knn", "neighbors=1..50"},
};

const char *mercer_tune_range(const char *machine) {
    for (size_t i = 0; machine && i < sizeof ranges / sizeof ranges[0]; i++)
        if (strcmp(ranges[i].machine, machine) == 0)
            return ranges[i].range;
    return NULL;
}

/* ---- Opening ---- */

static const char *scale_of(const mercer_machine *machine, const void *settings) {
    for (int i = 0; i < machine->count; i++)
        if (strcmp(machine->settings[i].name, "scale") == 0)
            return *(const char *const *)(const void *)((const char *)settings + machine->settings[i].offset);
    return "none";
}

/* Every gamma puts the rows in the same order of distance: there is nothing to search where the nearest decide. */
static bool by_order(const mercer_machine *machine) {
    return strcmp(machine->name, "knn") == 0;
}

mercer_status mc_tune_kernel(mercer_ctx *ctx, const mercer_machine *machine, const void *settings,
                             const mercer_data *data, mercer_kernel **out) {
    mercer_kernel *plain = NULL;
    mc_problem problem;
    char text[96];
    if (data->reads_texts)
        return mc_kernel_default(ctx, data, by_order(machine) ? "3" : "2..5", out);
    if (by_order(machine))
        return mc_kernel_parse(ctx, "rbf", (mc_users){0}, out);
    MC_TRY(mc_kernel_parse(ctx, "rbf", (mc_users){0}, &plain));
    const mercer_status status =
        mc_problem_open_rows(ctx, scale_of(machine, settings), mc_admit_proved, plain, data, &problem);
    mercer_kernel_free(plain);
    MC_TRY(status);
    const double gamma = mercer_kernel_parameter(problem.kernel, 0);
    mc_problem_close(&problem);
    mc_print(text, sizeof text, "rbf(gamma=%.3g..%.3g)", gamma / WIDER, gamma * WIDER);
    return mc_kernel_parse(ctx, text, (mc_users){0}, out);
}

static mercer_status check_set(mercer_ctx *ctx, const mercer_machine *machine, const mercer_tune *set,
                               const void *settings) {
    if (set->kernels && (set->kernel_count < 1 || set->kernel_count > KERNELS_MOST))
        return mc_fail(ctx, MERCER_INVALID, "tune: kernels must be in [1, %d] in number, got %lld", KERNELS_MOST,
                       (long long)set->kernel_count);
    if (set->repeats < 1 || set->repeats > 1000)
        return mc_fail(ctx, MERCER_INVALID, "tune: repeats must be in [1, 1000], got %lld", (long long)set->repeats);
    if (set->points && (set->points < 2 || set->points > 100000))
        return mc_fail(ctx, MERCER_INVALID, "tune: points of a range must be in [2, 100000], got %lld",
                       (long long)set->points);
    if (set->ordered && (set->groups || set->hold_out || set->repeats > 1))
        return mc_fail(ctx, MERCER_INVALID,
                       "tune: rows in order of time go with no groups, no hold-out and no repeats; leave these out");
    if (set->hold_out && (set->groups || set->folds || set->repeats > 1))
        return mc_fail(ctx, MERCER_INVALID, "tune: a hold-out goes with no folds, groups or repeats; leave these out");
    if (strcmp(machine->name, "ridge") == 0 && mc_ridge_finds_lambda(settings))
        return mc_fail(ctx, MERCER_INVALID,
                       "tune: norm-bound and dof find lambda themselves; leave them out to search it");
    return MERCER_OK;
}

static mercer_status open_settings(mercer_ctx *ctx, const mercer_machine *machine, const void *settings,
                                   mercer_search *s) {
    s->machine = machine;
    s->settings = mc_alloc(ctx, 1, machine->size);
    if (!s->settings)
        return MERCER_MEMORY;
    memcpy(s->settings, settings, machine->size);
    return mc_settings_check(ctx, machine->name, machine->settings, machine->count, s->settings);
}

/* Of the closed forms of ridge, rows one by one are the default; folds, where they are asked for or a group leaves
   together. */
static mercer_status choose_folds(mercer_ctx *ctx, const mercer_tune *set, const mercer_data *data, mercer_search *s) {
    s->folds = set->hold_out ? 0 : set->folds;
    if (set->hold_out || (s->measure == &mc_evidence && !set->folds))
        return MERCER_OK;
    if (data->n < 2)
        return mc_fail(ctx, MERCER_DATA,
                       "tune: there is one row, and what is learned is measured on others; give more rows");
    if (set->folds || (s->engine->whole && !set->groups))
        return MERCER_OK;
    return mc_splits_default(ctx, set, data, strcmp(s->measure->name, "r2") == 0, &s->folds);
}

/* Every kernel has something to follow, and of the settings lambda alone. */
static mercer_status check_free(mercer_ctx *ctx, const mercer_search *s) {
    for (int64_t k = 0; k < s->space.settings; k++) {
        const mc_dimension *d = &s->space.dimension[k];
        if (mc_dimension_free(d) && strcmp(d->name, "lambda") != 0)
            return mc_fail(ctx, MERCER_INVALID,
                           "tune: the error has no slope along %s; give a set, %s={...}, to compare values of it",
                           d->name, d->name);
    }
    for (int64_t k = 0; k < s->space.kernels; k++) {
        bool any = false;
        for (int64_t i = 0; i < mc_search_space_numbers(&s->space, k); i++)
            any = any || mc_dimension_free(mc_search_space_dimension(&s->space, k, i));
        if (!any)
            return mc_fail(ctx, MERCER_INVALID,
                           "tune: nothing of %s with its settings is a range, low..high, that a gradient search could "
                           "follow; use search=grid",
                           mercer_kernel_text(s->space.kernel[k]));
    }
    return MERCER_OK;
}

/* Its kernel stands behind the others. */
static mercer_status join_winner(mercer_ctx *ctx, mercer_tune *full, mercer_search *s) {
    MC_TRY(MC_ALLOC(ctx, s->list, full->kernel_count + 1));
    for (int64_t k = 0; k < full->kernel_count; k++)
        s->list[k] = full->kernels[k];
    s->list[full->kernel_count] = full->start->winner;
    full->kernels = s->list;
    return MERCER_OK;
}

static mercer_status open_space(mercer_ctx *ctx, const mercer_tune *set, const mercer_data *data, mercer_search *s) {
    const char *const suitable[] = {mercer_tune_range(s->machine->name), NULL};
    mercer_tune full = *set;
    if (!full.ranges)
        full.ranges = suitable;
    if (!full.kernels) {
        MC_TRY(mc_tune_kernel(ctx, s->machine, s->settings, data, &s->owned));
        full.kernels = (const mercer_kernel *const *)&s->owned;
        full.kernel_count = 1;
    }
    if (full.start)
        MC_TRY(join_winner(ctx, &full, s));
    MC_TRY(mc_search_space_open(ctx, s->machine, &full, s->engine->path, &s->space));
    return s->engine->steps ? check_free(ctx, s) : MERCER_OK;
}

mercer_status mc_search_open(mercer_ctx *ctx, const mercer_machine *machine, const void *settings,
                             const mercer_tune *set, const mercer_data *data, mercer_search *s) {
    if (!mc_learner_of(machine)->plan.prepare)
        return mc_fail(ctx, MERCER_INVALID, "tune: %s cannot be searched; fit it for each value", machine->name);
    MC_TRY(open_settings(ctx, machine, settings, s));
    MC_TRY(check_set(ctx, machine, set, s->settings));
    MC_TRY(mc_measure_find(ctx, machine, set->score, data, &s->measure));
    mc_search_method method;
    MC_TRY(mc_search_method_find(ctx, set->search, &method));
    if (method == MC_GRADIENT)
        MC_TRY(mc_engine_slopes(ctx, machine, s->settings, set, s->measure, &s->engine));
    if (!s->engine)
        s->engine = mc_engine_of(machine, mc_engine_exact(ctx, machine, s->settings, set, data));
    MC_TRY(choose_folds(ctx, set, data, s));
    if (s->measure == &mc_gcv && (!s->engine->whole || s->folds))
        return mc_fail(ctx, MERCER_INVALID,
                       "tune: gcv is of all rows at once, in closed form: it goes with no folds, groups, hold-out, "
                       "order of time, repeats "
                       "or approximate solver; leave those out, or use score=rmse");
    return open_space(ctx, set, data, s);
}

static void close_texts(mercer_search *s) {
    mc_free(s->texts);
    mc_free(s->kernel);
    mc_free(s->text);
    s->texts = NULL;
    s->kernel = s->text = NULL;
}

void mc_search_close(mercer_search *s) {
    close_texts(s);
    mc_search_space_close(&s->space);
    mercer_kernel_free(s->owned);
    mc_free(s->list);
    mercer_kernel_free(s->winner);
    mc_free(s->settings);
    mc_free(s->value);
    mc_free(s->error);
    mc_free(s->seconds);
    mc_free(s->rows);
    mc_free(s->json);
}

void mercer_search_free(mercer_search *search) {
    if (!search)
        return;
    mc_search_close(search);
    mc_free(search);
}

/* ---- Running ---- */

/* The kernels and settings of all candidates as one text. place: 2 count numbers. */
static mercer_status write_words(mercer_ctx *ctx, mercer_search *s, int64_t *place) {
    mc_text text = mc_text_open(ctx);
    mercer_status status = MERCER_OK;
    int64_t kernel_at = 0;
    for (int64_t i = 0, run = 0; i < s->space.count && !status; i++) {
        mercer_kernel *kernel = NULL;
        place[2 * i] = i == run ? text.length : kernel_at;
        kernel_at = place[2 * i];
        if (i == run) {
            status = mc_search_space_kernel(ctx, &s->space, i, &kernel);
            mc_text_add(&text, "%s", kernel ? mercer_kernel_text(kernel) : "");
            mc_text_bytes(&text, "", 1);
            mercer_kernel_free(kernel);
            run = mc_search_space_run(&s->space, i);
        }
        place[2 * i + 1] = text.length;
        mc_search_space_write(&s->space, i, &text);
        mc_text_bytes(&text, "", 1);
    }
    if (!status)
        return mc_text_take(&text, &s->texts);
    mc_text_close(&text);
    return status;
}

static mercer_status write_texts(mercer_ctx *ctx, mercer_search *s) {
    const int64_t count = s->space.count;
    int64_t *place = NULL;
    close_texts(s);
    MC_TRY(MC_ALLOC(ctx, s->kernel, count));
    MC_TRY(MC_ALLOC(ctx, s->text, count));
    MC_TRY(MC_ALLOC(ctx, place, 2 * count));
    const mercer_status status = write_words(ctx, s, place);
    for (int64_t i = 0; i < count && !status; i++) {
        s->kernel[i] = s->texts + place[2 * i];
        s->text[i] = s->texts + place[2 * i + 1];
    }
    mc_free(place);
    return status;
}

static mercer_status open_values(mercer_ctx *ctx, const mercer_tune *set, const mercer_data *data, mercer_search *s) {
    mc_round round;
    const mercer_status status = mc_round_open(ctx, s, set, data, set->groups, &round);
    s->parts = round.parts;
    mc_splits_close(&round.splits);
    MC_TRY(status);
    const int64_t count = s->space.count;
    MC_TRY(MC_ALLOC(ctx, s->value, count * (s->parts + 1)));
    MC_TRY(MC_ALLOC(ctx, s->error, count));
    MC_TRY(MC_ALLOC(ctx, s->seconds, count));
    MC_TRY(MC_ALLOC(ctx, s->rows, count));
    for (int64_t i = 0; i < count * (s->parts + 1); i++)
        s->value[i] = NAN;
    for (int64_t i = 0; i < count; i++)
        s->error[i] = NAN;
    return MERCER_OK;
}

/* A search that is stopped is worth what it has, if it has anything. */
static mercer_status take_stop(mercer_ctx *ctx, mercer_search *s, mercer_status status) {
    s->report.stopped = "no";
    if (status != MERCER_TIME && status != MERCER_CANCELLED)
        return status;
    bool any = false;
    for (int64_t c = 0; c < s->space.count; c++)
        any = any || (s->rows[c] && !isnan(s->value[c * (s->parts + 1)]));
    if (!any)
        return status;
    mc_stop_taken(ctx);
    s->report.stopped = status == MERCER_TIME ? "time" : "caller";
    return MERCER_OK;
}

static mercer_status run_search(mercer_ctx *ctx, const mercer_tune *set, const mercer_data *data, mercer_search *s) {
    mc_journal journal = {0};
    MC_TRY(write_texts(ctx, s));
    MC_TRY(open_values(ctx, set, data, s));
    mercer_status status = mc_journal_open(ctx, set->journal, set->journal ? mc_search_key(s, set, data) : 0, &journal);
    if (!status)
        status = mc_search_measure(ctx, s, set, data, &journal);
    mc_journal_close(&journal);
    MC_TRY(take_stop(ctx, s, status));
    if (s->engine->steps)
        MC_TRY(write_texts(ctx, s)); /* of all that was found on the way */
    s->report.score = s->measure->name;
    s->report.larger_is_better = s->measure->larger;
    s->report.splits = s->splits;
    s->report.resumed = s->resumed;
    MC_TRY(mc_search_choose(ctx, s, set));
    MC_TRY(mc_search_space_kernel(ctx, &s->space, s->report.best, &s->winner));
    s->space.kernel = NULL; /* borrowed for the call */
    return mc_search_record(ctx, s);
}

mercer_status mc_tune_run(mercer_ctx *ctx, const mercer_machine *machine, const void *settings, const mercer_tune *set,
                          mc_choosing choice, const mercer_data *data, mercer_search **out) {
    *out = NULL;
    mercer_search *s = NULL;
    MC_TRY(MC_ALLOC(ctx, s, 1));
    s->choice = choice;
    mercer_status status = mc_search_open(ctx, machine, settings, set, data, s);
    if (!status)
        status = run_search(ctx, set, data, s);
    if (status)
        mercer_search_free(s);
    else
        *out = s;
    return status;
}

mercer_status mercer_tune_run(mercer_ctx *ctx, const char *machine, const void *settings, const mercer_tune *set,
                              const mercer_data *data, mercer_search **out) {
    MC_CLEAR(out);
    MC_NEED(ctx, machine, data, out);
    mc_begin_call(ctx);
    mercer_tune chosen = mercer_tune_defaults();
    mc_settings whole;
    MC_TRY(mc_sized_read(ctx, "mercer_tune", set, &chosen, sizeof chosen));
    MC_TRY(mc_settings_read(ctx, machine, settings, &whole));
    return mc_tune_run(ctx, whole.machine, whole.values, &chosen, MC_BEST, data, out);
}
