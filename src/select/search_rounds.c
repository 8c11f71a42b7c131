/* search_rounds.c: all candidates, round after round (measure_round.c). A search is one round with all rows, or,
   halved, several: each takes the best sixteenth of the candidates of the last and four times as many rows, the last
   all of them: rounds of equal cost where a fit costs the square of n. Closed forms on a grid cost its cube: after a
   first round of all candidates one at a time is measured, on a quarter, a half and all of the rows, whichever
   grid_descent.c asks for. With slopes of the error the candidates are made one after the other by gradient_search.c.

   Under a time limit the runs go through in random order, so that what is measured when it ends is spread over the
   whole space; and when the first run shows that not all can be measured, the search is halved. */
#include "select/measure_round.h"
#include "base/memory.h"
#include "base/print.h"
#include "base/progress.h"
#include "base/sort.h"
#include "base/status.h"
#include "data/table/data.h"
#include <math.h>
#include <string.h>

/* ---- Halving ---- */

static int by_score(const void *arg, int64_t a, int64_t b) {
    const mercer_search *s = arg;
    const double sign = s->measure->larger ? -1 : 1;
    const double x = sign * s->value[a * (s->parts + 1)], y = sign * s->value[b * (s->parts + 1)];
    if (isnan(x) || isnan(y))
        return (isnan(x) ? 1 : 0) - (isnan(y) ? 1 : 0);
    return (x > y) - (x < y);
}

/* Of those measured in this round. */
static mercer_status drop_worst(mercer_ctx *ctx, mc_round_state *w) {
    int64_t *order = NULL, count = 0;
    MC_TRY(MC_ALLOC(ctx, order, 2 * w->s->space.count));
    for (int64_t c = 0; c < w->s->space.count; c++)
        if (w->active[c])
            order[count++] = c;
    mc_sort(order, order + w->s->space.count, count, by_score, w->s);
    for (int64_t k = mc_stage_survivors(count); k < count; k++)
        w->active[order[k]] = false;
    mc_free(order);
    return MERCER_OK;
}

static mercer_status run_small_round(mercer_ctx *ctx, mc_round_state *w, const mercer_data *data, int64_t share,
                                     int64_t all, int number) {
    mercer_data *some = NULL;
    const char **groups = NULL;
    mercer_status status = mc_stage_rows(ctx, w->set, data, share, all, &some, &groups);
    MC_THEN(status, mc_round_measure(ctx, w, some, groups, number));
    MC_THEN(status, drop_worst(ctx, w));
    mercer_data_free(some);
    mc_free(groups);
    return status;
}

/* ---- Downhill ---- */

static void place_round(mc_round_state *w, const mc_stage *stage, double from, double to) {
    w->begin = stage->begin + (stage->end - stage->begin) * from;
    w->end = stage->begin + (stage->end - stage->begin) * to;
}

static mercer_status descend_on_level(mercer_ctx *ctx, mc_round_state *w, const mercer_data *data,
                                      const char *const *groups, mc_descent *d, const mc_stage *stage) {
    const int64_t most = mc_level_candidates(stage->level);
    mc_descent_level(d, data->n);
    for (int64_t k = 0; k < most; k++) {
        const int64_t next = mc_descent_next(d);
        if (next < 0)
            return MERCER_OK;
        memset(w->active, false, (size_t)w->s->space.count * sizeof *w->active);
        w->active[next] = true;
        place_round(w, stage, (double)k / (double)most, (double)(k + 1) / (double)most);
        MC_TRY(mc_round_measure(ctx, w, data, groups, stage->level < MC_LEVELS ? stage->level + 1 : 0));
    }
    return MERCER_OK;
}

/* All candidates on so many of the parts. */
static mercer_status run_table(mercer_ctx *ctx, mc_round_state *w, const mercer_data *data, const mc_stage *stage,
                               mc_descent *d) {
    mercer_data *some = NULL;
    const char **groups = NULL;
    mercer_status status = mc_stage_rows(ctx, w->set, data, stage->share, stage->all, &some, &groups);
    place_round(w, stage, 0, 1);
    MC_THEN(status, mc_round_measure(ctx, w, some, groups, 1));
    MC_THEN(status, mc_descent_open(ctx, w->s, some->n, d));
    mercer_data_free(some);
    mc_free(groups);
    return status;
}

/* Then fewer and fewer on more. */
static mercer_status run_descent(mercer_ctx *ctx, mc_round_state *w, const mercer_data *data, const mc_stage *stage,
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

static mercer_status run_stages(mercer_ctx *ctx, mc_round_state *w, bool halved, const mercer_data *data) {
    mc_stage stage[MC_STAGES_MOST];
    const int count = mc_search_stages(w->s, halved, data, stage);
    w->s->report.halved = count > 1;
    w->trial = w->trial && !halved;
    if (stage[count - 1].level)
        return run_descent(ctx, w, data, stage, count);
    for (int k = 0; k < count; k++) {
        place_round(w, &stage[k], 0, 1);
        MC_TRY(k < count - 1 ? run_small_round(ctx, w, data, stage[k].share, stage[k].all, k + 1)
                             : mc_round_measure(ctx, w, data, w->set->groups, 0));
    }
    return MERCER_OK;
}

/* ---- Down the slopes ---- */

static mercer_status visit_candidate(mercer_ctx *ctx, void *arg, int64_t c, int64_t start, double *tail) {
    MC_TRY(mc_round_measure_run(ctx, arg, c, start, tail));
    return mc_round_check_time(ctx, arg);
}

static mercer_status run_slopes(mercer_ctx *ctx, mc_round_state *w, const mercer_data *data) {
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
static mercer_status look_ahead(mercer_ctx *ctx, mc_round_state *w, const mercer_data *data) {
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
    mc_round_state w = {.s = s, .set = set, .journal = journal, .trial = isfinite(mc_time_left(ctx)), .end = 1};
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
