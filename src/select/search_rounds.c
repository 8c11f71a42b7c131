/* search_rounds.c: all candidates through all splits. A search is one round with all rows, or, halved, several: each
   takes the best sixteenth of the candidates of the last and four times as many rows, the last all of them: rounds of
   equal cost where a fit costs the square of n. Closed forms on a grid cost its cube: after a first round of all
   candidates one at a time is measured, on a quarter, a half and all of the rows, whichever grid_descent.c asks for.
   With slopes of the error the candidates are made one after the other by gradient_search.c.

   Under a time limit the runs go through in random order, so that what is measured when it ends is spread over the
   whole space; and when the first run shows that not all can be measured, the search is halved. */
#include "base/clock.h"
#include "base/memory.h"
#include "base/print.h"
#include "base/progress.h"
#include "base/rng.h"
#include "base/sort.h"
#include "base/status.h"
#include "data/table/data.h"
#include "data/table/folds.h"
#include "select/tune.h"
#include <math.h>
#include <string.h>

enum { MORE_ROWS = 4, FEWER = 16, SURVIVORS_LEAST = 3, ROWS_LEAST = 200 };
/* into which rows are dealt for a descent; of its first level, where there are enough */
enum { PARTS = 16, ROWS_OF_A_TABLE = 300 };

/* Levels of a descent: candidates at most, starts, then one at a time; and as many as it mostly takes. */
static const struct {
    int64_t share; /* of PARTS */
    int64_t most, likely;
} levels[] = {{PARTS / 4, 24, 14}, {PARTS / 2, 12, 8}, {PARTS, 8, 6}};
enum { LEVELS = sizeof levels / sizeof levels[0] };

typedef struct round_state {
    mercer_search *s;
    const mercer_tune *set;
    mc_journal *journal;
    mc_round round;
    mc_shared_kernel shared;
    bool *active;   /* count: candidates of this round; NULL: all */
    int64_t *start; /* the first candidate of every run */
    int64_t runs;
    bool trial;        /* the first run decides whether the search is to be halved */
    bool late;         /* it is */
    double begin, end; /* of the whole search, this round: for the progress */
    /* seconds of the longest measurement of one candidate on one split: about what the last fit will take */
    double longest;
} round_state;

/* ---- One run ---- */

static double mean_of(const double *part, int64_t parts) {
    double sum = 0;
    for (int64_t k = 0; k < parts; k++)
        sum += part[k];
    return sum / (double)parts;
}

/* Of the mean over parts, those without a score left aside; splits that repeat each other count once. */
static double error_of(const double *part, int64_t parts, int64_t independent) {
    double mean = 0, square = 0;
    int64_t count = 0;
    for (int64_t k = 0; k < parts; k++)
        if (!isnan(part[k])) {
            mean += part[k];
            count++;
        }
    mean /= (double)count;
    for (int64_t k = 0; k < parts; k++)
        square += isnan(part[k]) ? 0 : (part[k] - mean) * (part[k] - mean);
    const int64_t effective = count < independent ? count : independent;
    const double error = count > 1 ? sqrt(square / (double)(count - 1) / (double)effective) : NAN;
    return error < 1e-14 * fabs(mean) ? 0 : error; /* equal parts, but for rounding */
}

static void finish_candidate(round_state *w, int64_t c, const double *values, double seconds) {
    mercer_search *s = w->s;
    double *own = s->value + c * (s->parts + 1);
    memcpy(own, values, (size_t)(s->parts + 1) * sizeof *own);
    if (isnan(own[0]) && s->parts)
        own[0] = mean_of(own + 1, s->parts);
    const bool blocks = w->round.splits.count < 2;
    s->error[c] = error_of(own + 1, s->parts, blocks ? s->parts : w->round.splits.independent);
    s->rows[c] = w->round.data->n;
    s->seconds[c] += seconds;
}

/* A split under way; up to the end of its run, for one that is measured with the others. */
static void hold_tune_phase(mercer_ctx *ctx, const round_state *w, int64_t place, double split) {
    const double each = (w->end - w->begin) / (double)w->runs;
    mc_hold_phase(ctx, "tune", w->begin + each * ((double)place + split), w->begin + each * (double)(place + 1));
}

static mercer_status measure_splits(mercer_ctx *ctx, round_state *w, const mc_run *run, int64_t place, double *values) {
    const int64_t splits = w->s->engine->whole ? 1 : w->round.splits.count;
    for (int64_t k = 0; k < splits; k++) {
        hold_tune_phase(ctx, w, place, (double)k / (double)splits);
        MC_TRY(mc_report_progress(ctx, 0));
        if (mc_journal_get(w->journal, &w->round, run, w->s->engine->whole ? -1 : k, values)) {
            w->s->resumed += run->end - run->begin;
            continue;
        }
        const double began = mc_clock_seconds();
        MC_TRY(w->s->engine->measure(ctx, &w->round, run, k, values));
        MC_TRY(mc_report_progress(ctx, 1));
        MC_TRY(
            mc_stop_requested(ctx)); /* a machine that was stopped hands over what it has: no score of this candidate */
        w->longest = fmax(w->longest, (mc_clock_seconds() - began) / (double)(run->end - run->begin));
        MC_TRY(mc_journal_put(ctx, w->journal, &w->round, run, w->s->engine->whole ? -1 : k, values));
    }
    return MERCER_OK;
}

/* tail: the slopes of the one candidate, where there are any. */
static mercer_status measure_run(mercer_ctx *ctx, round_state *w, mc_run *run, int64_t place, double *tail) {
    const int64_t count = run->end - run->begin, width = mc_round_width(&w->round);
    const double began = mc_clock_seconds();
    double *values = NULL;
    MC_TRY(MC_ALLOC(ctx, values, count * width));
    for (int64_t i = 0; i < count * width; i++)
        values[i] = NAN;
    mercer_status status = measure_splits(ctx, w, run, place, values);
    const double seconds = (mc_clock_seconds() - began) / (double)count;
    for (int64_t i = 0; i < count && !status; i++)
        finish_candidate(w, run->begin + i, values + i * width, seconds);
    if (!status && w->round.slopes)
        memcpy(tail, values + w->round.parts + 1, (size_t)w->round.slopes * sizeof *tail);
    mc_free(values);
    return status;
}

mercer_status mc_run_open(mercer_ctx *ctx, const mercer_search *s, int64_t begin, int64_t end, mc_run *out) {
    *out = (mc_run){.begin = begin, .end = end, .settings = mc_alloc(ctx, 1, s->machine->size)};
    if (!out->settings)
        return MERCER_MEMORY;
    memcpy(out->settings, s->settings, s->machine->size);
    mc_search_space_settings(&s->space, begin, out->settings);
    return mc_search_space_kernel(ctx, &s->space, begin, &out->kernel);
}

void mc_run_close(mc_run *run) {
    mercer_kernel_free(run->kernel);
    mc_free(run->settings);
}

/* The run that begins with a candidate. */
static mercer_status measure_from(mercer_ctx *ctx, round_state *w, int64_t begin, int64_t place, double *tail) {
    const int64_t most = mc_search_space_run(&w->s->space, begin);
    int64_t end = begin;
    while (end < most && (!w->active || w->active[end]))
        end++;
    mc_run run;
    mercer_status status = mc_run_open(ctx, w->s, begin, end, &run);
    MC_THEN(status, measure_run(ctx, w, &run, place, tail));
    mc_run_close(&run);
    return status;
}

/* There is still the chosen one to be fitted. */
static mercer_status check_time(mercer_ctx *ctx, const round_state *w) {
    return mc_time_left(ctx) < 2 * w->longest ? mc_fail(ctx, MERCER_TIME, "the time limit is near") : MERCER_OK;
}

/* ---- One round ---- */

static mercer_status list_runs(mercer_ctx *ctx, round_state *w) {
    const mc_search_space *space = &w->s->space;
    MC_TRY(MC_ALLOC(ctx, w->start, space->count));
    for (int64_t i = 0; i < space->count;) {
        const int64_t end = mc_search_space_run(space, i);
        for (int64_t c = i; c < end; c++)
            if (w->active[c] && (c == i || !w->active[c - 1]))
                w->start[w->runs++] = c;
        i = end;
    }
    return MERCER_OK;
}

static mercer_status shuffle_runs(mercer_ctx *ctx, round_state *w) {
    int64_t *order = NULL, *start = NULL;
    MC_TRY(MC_ALLOC(ctx, order, w->runs));
    mercer_status status = MC_ALLOC(ctx, start, w->runs);
    if (!status) {
        mc_rng rng = mc_rng_at(w->set->seed, MC_STREAM_TUNE, 0);
        mc_rng_shuffle(&rng, order, w->runs);
        for (int64_t k = 0; k < w->runs; k++)
            start[k] = w->start[order[k]];
        memcpy(w->start, start, (size_t)w->runs * sizeof *start);
    }
    mc_free(order);
    mc_free(start);
    return status;
}

static mercer_status measure_runs(mercer_ctx *ctx, round_state *w) {
    const double began = mc_clock_seconds();
    if (isfinite(mc_time_left(ctx)))
        MC_TRY(shuffle_runs(ctx, w));
    for (int64_t k = 0; k < w->runs && !w->late; k++) {
        MC_TRY(measure_from(ctx, w, w->start[k], k, NULL));
        if (w->runs > k + 1)
            MC_TRY(check_time(ctx, w));
        w->late = w->trial && k == 0 && (mc_clock_seconds() - began) * (double)(w->runs - 1) > mc_time_left(ctx);
    }
    return MERCER_OK;
}

mercer_status mc_round_open(mercer_ctx *ctx, const mercer_search *s, const mercer_tune *set, const mercer_data *data,
                            const char *const *groups, mc_round *out) {
    *out = (mc_round){
        .space = &s->space, .settings = s->settings, .data = data, .measure = s->measure, .parts = MC_BLOCKS};
    if (s->folds || set->hold_out)
        MC_TRY(mc_splits_open(ctx, set, s->folds, data, groups, &out->splits));
    else
        mc_print(out->splits.text, sizeof out->splits.text, "%s",
                 s->measure == &mc_evidence ? "all rows, by the evidence"
                 : s->measure->total        ? "all rows, by generalised cross-validation"
                                            : "leave-one-out splits");
    if (s->measure->total && !s->folds)
        out->parts = 0;
    else if (out->splits.count > 1)
        out->parts = out->splits.count;
    return MERCER_OK;
}

static mercer_status run_round(mercer_ctx *ctx, round_state *w, const mercer_data *data, const char *const *groups,
                               int number) {
    w->runs = 0;
    w->late = false;
    mercer_status status = mc_round_open(ctx, w->s, w->set, data, groups, &w->round);
    w->round.number = number;
    w->round.shared = &w->shared;
    w->round.forgiven = w->s->forgiven;
    mc_print(w->s->splits, sizeof w->s->splits, "%s", w->round.splits.text);
    MC_THEN(status, list_runs(ctx, w));
    MC_THEN(status, measure_runs(ctx, w));
    mc_shared_close(&w->shared);
    mc_splits_close(&w->round.splits);
    mc_free(w->start);
    w->start = NULL;
    return status;
}

/* ---- Halving ---- */

static int by_score(const void *arg, int64_t a, int64_t b) {
    const mercer_search *s = arg;
    const double sign = s->measure->larger ? -1 : 1;
    const double x = sign * s->value[a * (s->parts + 1)], y = sign * s->value[b * (s->parts + 1)];
    if (isnan(x) || isnan(y))
        return (isnan(x) ? 1 : 0) - (isnan(y) ? 1 : 0);
    return (x > y) - (x < y);
}

/* The best sixteenth goes on, three at least. */
static int64_t survivors_of(int64_t count) {
    const int64_t part = (count + FEWER - 1) / FEWER, survivors = part > SURVIVORS_LEAST ? part : SURVIVORS_LEAST;
    return survivors < count ? survivors : count;
}

/* Of those measured in this round. */
static mercer_status drop_worst(mercer_ctx *ctx, round_state *w) {
    int64_t *order = NULL, count = 0;
    MC_TRY(MC_ALLOC(ctx, order, 2 * w->s->space.count));
    for (int64_t c = 0; c < w->s->space.count; c++)
        if (w->active[c])
            order[count++] = c;
    mc_sort(order, order + w->s->space.count, count, by_score, w->s);
    for (int64_t k = survivors_of(count); k < count; k++)
        w->active[order[k]] = false;
    mc_free(order);
    return MERCER_OK;
}

/* Rows of the rarest class; all rows without classes. */
static int64_t rarest_class_size(const mercer_data *data) {
    int64_t least = data->n;
    for (int64_t c = 0; c < data->classes; c++) {
        int64_t count = 0;
        for (int64_t i = 0; i < data->n; i++)
            count += data->class_of[i] == c;
        least = count < least ? count : least;
    }
    return least;
}

/* As many as leave enough rows, and enough of every class for each fold to have one. */
static int rounds_of(const mercer_search *s, const mercer_data *data) {
    const int64_t folds = s->folds ? s->folds : 1;
    int64_t c = s->space.count, rare = rarest_class_size(data) / MORE_ROWS;
    int rounds = 1;
    for (int64_t n = data->n / MORE_ROWS;
         n >= ROWS_LEAST && rare >= folds && c > SURVIVORS_LEAST && rounds < MC_STAGES_MOST; n /= MORE_ROWS) {
        rounds++;
        rare /= MORE_ROWS;
        c /= FEWER;
    }
    return rounds;
}

/* Rows of a round: so many of the equal parts the data are dealt into, stratified by class; in order of time the last
   rows. */
mercer_status mc_stage_rows(mercer_ctx *ctx, const mercer_tune *set, const mercer_data *data, int64_t share,
                            int64_t all, mercer_data **out, const char ***groups) {
    int64_t *fold = NULL, *rows = NULL, n = 0;
    mercer_status status = MC_ALLOC(ctx, fold, data->n);
    MC_THEN(status, MC_ALLOC(ctx, rows, data->n));
    if (!status && set->groups)
        status = MC_ALLOC(ctx, *groups, data->n);
    if (!status && !set->ordered)
        status = mc_data_folds(ctx, data, all, NULL, set->seed, fold);
    for (int64_t i = 0; i < data->n && !status; i++) {
        if (set->ordered ? i < data->n - data->n * share / all : fold[i] >= share)
            continue;
        if (set->groups)
            (*groups)[n] = set->groups[i];
        rows[n++] = i;
    }
    MC_THEN(status, mc_data_take(ctx, data, rows, n, out));
    mc_free(fold);
    mc_free(rows);
    return status;
}

static mercer_status run_small_round(mercer_ctx *ctx, round_state *w, const mercer_data *data, int64_t share,
                                     int64_t all, int number) {
    mercer_data *some = NULL;
    const char **groups = NULL;
    mercer_status status = mc_stage_rows(ctx, w->set, data, share, all, &some, &groups);
    MC_THEN(status, run_round(ctx, w, some, groups, number));
    MC_THEN(status, drop_worst(ctx, w));
    mercer_data_free(some);
    mc_free(groups);
    return status;
}

/* ---- Stages ---- */

/* The least share of the rows that is enough for a first look, and for every fold to have every class; 0: all rows are
   too few to begin with fewer. */
static int64_t first_share(const mercer_search *s, const mercer_data *data) {
    for (int64_t share = 1; share <= PARTS / 4; share *= 2)
        if (rarest_class_size(data) * share / PARTS < s->folds)
            continue;
        else if (data->n * share / PARTS >= ROWS_OF_A_TABLE || (share == PARTS / 4 && data->n / 4 >= ROWS_LEAST))
            return share;
    return 0;
}

static int list_levels(const mercer_search *s, int64_t first, mc_stage *out) {
    int count = 0;
    out[count++] = (mc_stage){.share = first, .all = PARTS, .candidates = s->space.count};
    for (int k = 0; k < LEVELS; k++)
        if (levels[k].share > first)
            out[count++] =
                (mc_stage){.share = levels[k].share, .all = PARTS, .candidates = levels[k].likely, .level = k + 1};
    return count;
}

static int list_rounds(const mercer_search *s, const mercer_data *data, mc_stage *out) {
    const int rounds = rounds_of(s, data);
    int64_t all = 1, share = 1, candidates = s->space.count;
    for (int r = 1; r < rounds; r++)
        all *= MORE_ROWS;
    for (int r = 0; r < rounds; r++, share *= MORE_ROWS) {
        out[r] = (mc_stage){.share = share, .all = all, .candidates = candidates};
        candidates = survivors_of(candidates);
    }
    return rounds;
}

/* Where each lies in the whole, by what it costs: the cube of the rows for closed forms, the square for the others. */
static void place_stages(const mercer_search *s, int count, mc_stage *stage) {
    double sum = 0, done = 0;
    for (int k = 0; k < count; k++) {
        const double part = (double)stage[k].share / (double)stage[k].all;
        stage[k].end = (double)stage[k].candidates * part * part * (s->engine->whole ? part : 1);
        sum += stage[k].end;
    }
    for (int k = 0; k < count; k++) {
        stage[k].begin = done / sum;
        done += stage[k].end;
        stage[k].end = done / sum;
    }
}

int mc_search_stages(const mercer_search *s, bool halved, const mercer_data *data, mc_stage *out) {
    const bool descends = halved && mc_descent_applies(s);
    const int64_t first = descends ? first_share(s, data) : 0;
    int count = 1;
    out[0] = (mc_stage){.share = 1, .all = 1, .candidates = s->space.count};
    if (first)
        count = list_levels(s, first, out);
    else if (halved && !descends)
        count = list_rounds(s, data, out);
    place_stages(s, count, out);
    return count;
}

/* ---- Downhill ---- */

static void place_round(round_state *w, const mc_stage *stage, double from, double to) {
    w->begin = stage->begin + (stage->end - stage->begin) * from;
    w->end = stage->begin + (stage->end - stage->begin) * to;
}

static mercer_status descend_on_level(mercer_ctx *ctx, round_state *w, const mercer_data *data,
                                      const char *const *groups, mc_descent *d, const mc_stage *stage) {
    const int64_t most = levels[stage->level - 1].most;
    mc_descent_level(d, data->n);
    for (int64_t k = 0; k < most; k++) {
        const int64_t next = mc_descent_next(d);
        if (next < 0)
            return MERCER_OK;
        memset(w->active, false, (size_t)w->s->space.count * sizeof *w->active);
        w->active[next] = true;
        place_round(w, stage, (double)k / (double)most, (double)(k + 1) / (double)most);
        MC_TRY(run_round(ctx, w, data, groups, stage->level < LEVELS ? stage->level + 1 : 0));
    }
    return MERCER_OK;
}

/* All candidates on so many of the parts. */
static mercer_status run_table(mercer_ctx *ctx, round_state *w, const mercer_data *data, const mc_stage *stage,
                               mc_descent *d) {
    mercer_data *some = NULL;
    const char **groups = NULL;
    mercer_status status = mc_stage_rows(ctx, w->set, data, stage->share, stage->all, &some, &groups);
    place_round(w, stage, 0, 1);
    MC_THEN(status, run_round(ctx, w, some, groups, 1));
    MC_THEN(status, mc_descent_open(ctx, w->s, some->n, d));
    mercer_data_free(some);
    mc_free(groups);
    return status;
}

/* Then fewer and fewer on more. */
static mercer_status run_descent(mercer_ctx *ctx, round_state *w, const mercer_data *data, const mc_stage *stage,
                                 int count) {
    mc_descent d = {0};
    mercer_status status = run_table(ctx, w, data, &stage[0], &d);
    for (int k = 1; k < count && !status; k++) {
        mercer_data *more = NULL;
        const char **groups = NULL;
        status = stage[k].share < stage[k].all
                     ? mc_stage_rows(ctx, w->set, data, stage[k].share, stage[k].all, &more, &groups)
                     : MERCER_OK;
        MC_THEN(status, descend_on_level(ctx, w, more ? more : data, more ? groups : w->set->groups, &d, &stage[k]));
        mercer_data_free(more);
        mc_free(groups);
    }
    mc_descent_close(&d);
    return status;
}

static mercer_status run_stages(mercer_ctx *ctx, round_state *w, bool halved, const mercer_data *data) {
    mc_stage stage[MC_STAGES_MOST];
    const int count = mc_search_stages(w->s, halved, data, stage);
    w->s->report.halved = count > 1;
    w->trial = w->trial && !halved;
    if (stage[count - 1].level)
        return run_descent(ctx, w, data, stage, count);
    for (int k = 0; k < count; k++) {
        place_round(w, &stage[k], 0, 1);
        MC_TRY(k < count - 1 ? run_small_round(ctx, w, data, stage[k].share, stage[k].all, k + 1)
                             : run_round(ctx, w, data, w->set->groups, 0));
    }
    return MERCER_OK;
}

/* ---- Down the slopes ---- */

static mercer_status visit_candidate(mercer_ctx *ctx, void *arg, int64_t c, int64_t start, double *tail) {
    MC_TRY(measure_from(ctx, arg, c, start, tail));
    return check_time(ctx, arg);
}

static mercer_status run_slopes(mercer_ctx *ctx, round_state *w, const mercer_data *data) {
    mercer_status status = mc_round_open(ctx, w->s, w->set, data, w->set->groups, &w->round);
    w->round.slopes = 1 + w->s->space.width;
    w->round.forgiven = w->s->forgiven;
    w->runs = w->s->space.count;
    mc_print(w->s->splits, sizeof w->s->splits, "%s", w->round.splits.text);
    MC_THEN(status, mc_search_by_gradient(ctx, w->s, visit_candidate, w));
    mc_splits_close(&w->round.splits);
    mc_hold_phase(ctx, NULL, 1, 1);
    return status;
}

/* ---- Little time ---- */

/* One run on the few rows of a first round, with which halving would begin: whether one on all rows takes more than
   half the time left, so that nothing might be measured at all. */
static mercer_status look_ahead(mercer_ctx *ctx, round_state *w, const mercer_data *data) {
    mc_stage stage[MC_STAGES_MOST];
    mc_trial_seconds tried;
    if (!w->trial || w->set->halving || mc_search_stages(w->s, true, data, stage) < 2)
        return MERCER_OK;
    const int64_t parts = stage[0].all / stage[0].share;
    const mercer_status status = mc_search_try(ctx, w->s, w->set, data, parts, 1, &tried);
    if (status == MERCER_TIME || status == MERCER_CANCELLED)
        return status;
    if (status)
        mc_clear_failure(ctx); /* few rows may lack something: all rows are tried */
    else
        w->late = tried.run * pow((double)parts, w->s->engine->whole ? 3 : 2) > mc_time_left(ctx) / 2;
    return MERCER_OK;
}

mercer_status mc_search_measure(mercer_ctx *ctx, mercer_search *s, const mercer_tune *set, const mercer_data *data,
                                mc_journal *journal) {
    round_state w = {.s = s, .set = set, .journal = journal, .trial = isfinite(mc_time_left(ctx)), .end = 1};
    if (s->engine->steps)
        return run_slopes(ctx, &w, data);
    MC_TRY(MC_ALLOC(ctx, w.active, s->space.count));
    memset(w.active, true, (size_t)s->space.count * sizeof *w.active);
    mercer_status status = look_ahead(ctx, &w, data);
    if (!status && !w.late)
        status = run_stages(ctx, &w, set->halving, data);
    if (!status && w.late)
        status = run_stages(ctx, &w, true, data);
    mc_hold_phase(ctx, NULL, 1, 1);
    mc_free(w.active);
    return status;
}
