/* choose_winner.c: the winner. Candidates measured with the most rows compete; first is the one with the best score.
   Within one standard error of it the strongest penalty wins where that rule is asked for. How sure the choice is: the
   folds (or blocks of rows) are drawn again with replacement, and the share of draws in which the first is still first
   is counted. Where candidates were found on the way down, those around the end of it are no other choice: they are no
   rivals. */
#include "base/memory.h"
#include "base/rng.h"
#include "base/sort.h"
#include "base/status.h"
#include "kernel/language/kernel.h"
#include "select/tune.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DRAWS = 1000, RIVALS = 200 };
static const double AROUND = 0.05; /* of every range */

static double score_of(const mercer_search *s, int64_t c) {
    return s->value[c * (s->parts + 1)];
}

/* Smaller is better. */
static double loss_of(const mercer_search *s, double score) {
    return s->measure->larger ? -score : score;
}

static int64_t most_rows(const mercer_search *s) {
    int64_t most = 0;
    for (int64_t c = 0; c < s->space.count; c++)
        if (s->rows[c] > most && !isnan(score_of(s, c)))
            most = s->rows[c];
    return most;
}

static bool is_competing(const mercer_search *s, int64_t c, int64_t rows) {
    return s->rows[c] == rows && !isnan(score_of(s, c));
}

static void find_first(mercer_search *s, int64_t rows) {
    s->report.first = -1;
    s->report.measured = 0;
    for (int64_t c = 0; c < s->space.count; c++) {
        if (!is_competing(s, c, rows))
            continue;
        s->report.measured++;
        if (s->report.first < 0 || loss_of(s, score_of(s, c)) < loss_of(s, score_of(s, s->report.first)))
            s->report.first = c;
    }
}

static bool is_within(const mercer_search *s, int64_t c) {
    const int64_t first = s->report.first;
    const double margin = isnan(s->error[first]) ? 0 : s->error[first];
    return loss_of(s, score_of(s, c)) <= loss_of(s, score_of(s, first)) + margin;
}

/* ---- The strongest penalty ---- */

static const struct {
    const char *name;
    int sign; /* 1: more of it is a stronger penalty */
} penalties[] = {{"lambda", 1},  {"C", -1},     {"nu", 1},           {"neighbors", 1}, {"epsilon", 1},
                 {"epochs", -1}, {"gamma", -1}, {"length_scale", 1}, {"degree", -1}};

static int sign_of(const mc_dimension *d) {
    const char *dot = strrchr(d->name, '.'), *name = dot ? dot + 1 : d->name;
    for (size_t i = 0; i < sizeof penalties / sizeof penalties[0]; i++)
        if (strcmp(penalties[i].name, name) == 0)
            return penalties[i].sign;
    return 0;
}

static bool is_stronger(const mercer_search *s, int64_t a, int64_t b) {
    const mc_search_space *space = &s->space;
    const int64_t k = space->of[a], own = space->begin[k + 1] - space->begin[k];
    for (int64_t i = 0; i < space->settings + own; i++) {
        const mc_dimension *d =
            i < space->settings ? &space->dimension[i] : &space->dimension[space->begin[k] + i - space->settings];
        const double more = sign_of(d) * (space->number[a * space->width + i] - space->number[b * space->width + i]);
        if (more != 0)
            return more > 0;
    }
    return loss_of(s, score_of(s, a)) < loss_of(s, score_of(s, b));
}

static void find_best(mercer_search *s, bool one_error, int64_t rows) {
    int64_t best = s->report.first;
    s->report.within = 0;
    for (int64_t c = 0; c < s->space.count; c++) {
        if (!is_competing(s, c, rows) || !is_within(s, c))
            continue;
        s->report.within++;
        if (one_error && s->space.of[c] == s->space.of[best] && is_stronger(s, c, best))
            best = c;
    }
    s->report.best = best;
}

/* ---- With the neighbours ---- */

/* The mean score around a candidate, with half the weight for every step away. */
static double level_of(const mercer_search *s, int64_t c, int64_t columns, int64_t rows) {
    double sum = 0, weight = 0;
    for (int64_t down = -1; down <= 1; down++)
        for (int64_t right = -1; right <= 1; right++) {
            const int64_t i = c / columns + down, j = c % columns + right;
            if (i < 0 || j < 0 || j >= columns || i * columns + j >= s->space.count
                || !is_competing(s, i * columns + j, rows))
                continue;
            const double w = (down ? 0.5 : 1) * (right ? 0.5 : 1);
            sum += w * loss_of(s, score_of(s, i * columns + j));
            weight += w;
        }
    return sum / weight;
}

/* Steps from the middle of the grid. */
static int64_t steps_from_grid_centre(const mercer_search *s, int64_t c, int64_t columns) {
    return llabs(c / columns - s->space.count / columns / 2) + llabs(c % columns - (columns - 1) / 2);
}

/* Whether a goes before b among those within half a standard error of the best level: the strongest penalty, there the
   best level. Where all is right in every fold nothing speaks for a strong penalty: then, and among equals, the nearest
   to the middle. */
static bool goes_before(const mercer_search *s, int64_t a, int64_t b, int64_t columns, int64_t rows, bool tells) {
    const int64_t stronger = tells ? sign_of(&s->space.dimension[0]) * (a % columns - b % columns) : 0;
    const double gain = tells ? level_of(s, b, columns, rows) - level_of(s, a, columns, rows) : 0;
    if (stronger)
        return stronger > 0;
    return gain != 0 ? gain > 0 : steps_from_grid_centre(s, a, columns) < steps_from_grid_centre(s, b, columns);
}

static int64_t best_of_kernel(const mercer_search *s, int64_t kernel, int64_t rows) {
    int64_t best = -1;
    for (int64_t c = 0; c < s->space.count; c++)
        if (s->space.of[c] == kernel && is_competing(s, c, rows)
            && (best < 0 || loss_of(s, score_of(s, c)) < loss_of(s, score_of(s, best))))
            best = c;
    return best;
}

/* The standard error of the difference of two scores, measured on the same parts. */
static double error_of_difference(const mercer_search *s, int64_t a, int64_t b) {
    const double *x = s->value + a * (s->parts + 1) + 1, *y = s->value + b * (s->parts + 1) + 1;
    double mean = 0, square = 0, count = (double)s->parts;
    for (int64_t k = 0; k < s->parts; k++)
        mean += (x[k] - y[k]) / count;
    for (int64_t k = 0; k < s->parts; k++)
        square += (x[k] - y[k] - mean) * (x[k] - y[k] - mean);
    return sqrt(square / (count - 1) / count);
}

/* By two standard errors of the difference, or one of the score, or a tenth of it: a few wild rows make both errors
   large. And numbers learned from n rows make an error on the same rows too small by about one part in n each. */
static bool is_clearly_better(const mercer_search *s, int64_t learned, int64_t plain, int64_t rows) {
    const double numbers = (double)s->space.kernel[1]->slots,
                 fair = score_of(s, learned) * (1 + numbers / (double)rows);
    const double error = fmin(2 * error_of_difference(s, learned, plain), s->error[plain]);
    return fair < score_of(s, plain) - fmin(error, score_of(s, plain) / 10);
}

/* The strongest penalty within a tenth of a standard error of the best score, and there the best score. */
static void find_calm(mercer_search *s, int64_t kernel, int64_t rows) {
    const int64_t columns = s->space.dimension[0].count, sign = sign_of(&s->space.dimension[0]), first = s->report.best;
    const double enough = loss_of(s, score_of(s, first)) + (isnan(s->error[first]) ? 0 : s->error[first] / 10);
    for (int64_t c = 0; c < s->space.count; c++) {
        const int64_t stronger = sign * (c % columns - s->report.best % columns);
        const double loss =
            s->space.of[c] == kernel && is_competing(s, c, rows) ? loss_of(s, score_of(s, c)) : INFINITY;
        if (loss <= enough && (stronger > 0 || (stronger == 0 && loss < loss_of(s, score_of(s, s->report.best)))))
            s->report.best = c;
    }
}

/* A score that is no count. */
static void find_among_kernels(mercer_search *s, int64_t rows) {
    const int64_t plain = best_of_kernel(s, 0, rows), learned = best_of_kernel(s, 1, rows);
    const bool second = plain < 0 || (learned >= 0 && is_clearly_better(s, learned, plain, rows));
    s->report.best = second ? learned : plain;
    find_calm(s, second, rows);
}

static void find_level(mercer_search *s, int64_t rows) {
    if (s->choice != MC_LEVEL || s->space.settings != 1)
        return;
    if (!s->measure->classes || !s->measure->larger) {
        find_among_kernels(s, rows);
        return;
    }
    const int64_t columns = s->space.dimension[0].count;
    int64_t top = s->report.best;
    for (int64_t c = 0; c < s->space.count; c++)
        if (is_competing(s, c, rows) && level_of(s, c, columns, rows) < level_of(s, top, columns, rows))
            top = c;
    const double error = isnan(s->error[top]) ? 0 : s->error[top], enough = level_of(s, top, columns, rows) + error / 2;
    s->report.best = top;
    for (int64_t c = 0; c < s->space.count; c++)
        if (is_competing(s, c, rows) && level_of(s, c, columns, rows) <= enough
            && goes_before(s, c, s->report.best, columns, rows, error > 0))
            s->report.best = c;
}

/* ---- How sure ---- */

static int by_loss(const void *arg, int64_t a, int64_t b) {
    const mercer_search *s = arg;
    const double x = loss_of(s, score_of(s, a)), y = loss_of(s, score_of(s, b));
    return (x > y) - (x < y);
}

static double drawn_loss(const mercer_search *s, int64_t c, const int64_t *times) {
    const double *part = s->value + c * (s->parts + 1) + 1;
    double sum = 0;
    for (int64_t k = 0; k < s->parts; k++)
        if (times[k] && !isnan(part[k]))
            sum += (double)times[k] * part[k];
    return loss_of(s, sum);
}

static bool stays_first(const mercer_search *s, const int64_t *rival, int64_t count, const int64_t *times) {
    const double first = drawn_loss(s, s->report.first, times);
    for (int64_t k = 0; k < count; k++)
        if (drawn_loss(s, rival[k], times) < first)
            return false;
    return true;
}

static bool is_rival(const mercer_search *s, int64_t c) {
    const mc_search_space *space = &s->space;
    const int64_t first = s->report.first;
    return !s->engine->steps
           || !mc_search_space_near(space, space->of[c], space->number + c * space->width, space->of[first],
                                    space->number + first * space->width, AROUND);
}

static mercer_status find_share(mercer_ctx *ctx, mercer_search *s, uint64_t seed, int64_t rows) {
    int64_t *rival = NULL, *times = NULL, count = 0, wins = 0;
    s->report.share = NAN;
    if (s->parts < 2)
        return MERCER_OK;
    MC_TRY(MC_ALLOC(ctx, rival, 2 * s->space.count + s->parts));
    times = rival + 2 * s->space.count;
    for (int64_t c = 0; c < s->space.count; c++)
        if (is_competing(s, c, rows) && is_rival(s, c))
            rival[count++] = c;
    mc_sort(rival, rival + s->space.count, count, by_loss, s);
    count = count < RIVALS ? count : RIVALS;
    for (uint64_t draw = 0; draw < DRAWS; draw++) {
        mc_rng rng = mc_rng_at(seed, MC_STREAM_TUNE, 1 + draw);
        memset(times, 0, (size_t)s->parts * sizeof *times);
        for (int64_t k = 0; k < s->parts; k++)
            times[mc_rng_below(&rng, s->parts)]++;
        wins += stays_first(s, rival, count, times);
    }
    s->report.share = (double)wins / DRAWS;
    mc_free(rival);
    return MERCER_OK;
}

mercer_status mc_search_choose(mercer_ctx *ctx, mercer_search *s, const mercer_tune *set) {
    const int64_t rows = most_rows(s);
    find_first(s, rows);
    if (s->report.first < 0)
        return mc_fail(ctx, MERCER_NUMERIC, "tune: none of the %lld candidates could be measured%s%s",
                       (long long)s->space.count, *s->forgiven ? "; of the first: " : "", s->forgiven);
    find_best(s, set->one_error, rows);
    find_level(s, rows);
    return find_share(ctx, s, set->seed, rows);
}
