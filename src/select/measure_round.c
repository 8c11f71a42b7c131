/* measure_round.c: the candidates of a round through all its splits, run by run, as their engine measures them. */
#include "select/measure_round.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/print.h"
#include "base/progress.h"
#include "base/rng.h"
#include "base/status.h"
#include "data/table/data.h"
#include <math.h>
#include <string.h>

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

static void finish_candidate(mc_round_state *w, int64_t c, const double *values, double seconds) {
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
static void hold_tune_phase(mercer_ctx *ctx, const mc_round_state *w, int64_t place, double split) {
    const double each = (w->end - w->begin) / (double)w->runs;
    mc_hold_phase(ctx, "tune", w->begin + each * ((double)place + split), w->begin + each * (double)(place + 1));
}

static mercer_status measure_splits(mercer_ctx *ctx, mc_round_state *w, const mc_run *run, int64_t place,
                                    double *values) {
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
static mercer_status measure_run(mercer_ctx *ctx, mc_round_state *w, mc_run *run, int64_t place, double *tail) {
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
mercer_status mc_round_measure_run(mercer_ctx *ctx, mc_round_state *w, int64_t begin, int64_t place, double *tail) {
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
mercer_status mc_round_check_time(mercer_ctx *ctx, const mc_round_state *w) {
    return mc_time_left(ctx) < 2 * w->longest ? mc_fail(ctx, MERCER_TIME, "the time limit is near") : MERCER_OK;
}

/* ---- One round ---- */

static mercer_status list_runs(mercer_ctx *ctx, mc_round_state *w) {
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

static mercer_status shuffle_runs(mercer_ctx *ctx, mc_round_state *w) {
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

static mercer_status measure_runs(mercer_ctx *ctx, mc_round_state *w) {
    const double began = mc_clock_seconds();
    if (isfinite(mc_time_left(ctx)))
        MC_TRY(shuffle_runs(ctx, w));
    for (int64_t k = 0; k < w->runs && !w->late; k++) {
        MC_TRY(mc_round_measure_run(ctx, w, w->start[k], k, NULL));
        if (w->runs > k + 1)
            MC_TRY(mc_round_check_time(ctx, w));
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

mercer_status mc_round_measure(mercer_ctx *ctx, mc_round_state *w, const mercer_data *data, const char *const *groups,
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
