/* search_stages.c: the stages of a search: on how many rows, with how many candidates, and where each lies in it. */
#include "base/memory.h"
#include "base/status.h"
#include "data/table/data.h"
#include "data/table/folds.h"
#include "select/tune.h"

enum { MORE_ROWS = 4, FEWER = 16, SURVIVORS_LEAST = 3, ROWS_LEAST = 200 };
/* into which rows are dealt for a descent; of its first level, where there are enough */
enum { PARTS = 16, ROWS_OF_A_TABLE = 300 };

/* Levels of a descent: candidates at most, starts, then one at a time; and as many as it mostly takes. */
static const struct {
    int64_t share; /* of PARTS */
    int64_t most, likely;
} levels[MC_LEVELS] = {{PARTS / 4, 24, 14}, {PARTS / 2, 12, 8}, {PARTS, 8, 6}};

/* The best sixteenth goes on, three at least. */
int64_t mc_stage_survivors(int64_t count) {
    const int64_t part = (count + FEWER - 1) / FEWER, survivors = part > SURVIVORS_LEAST ? part : SURVIVORS_LEAST;
    return survivors < count ? survivors : count;
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
    for (int k = 0; k < MC_LEVELS; k++)
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
        candidates = mc_stage_survivors(candidates);
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

int64_t mc_level_candidates(int level) {
    return levels[level - 1].most;
}
