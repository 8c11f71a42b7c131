/* search_candidates.c: the candidates of a search. A grid takes every combination. A random search takes points of a
   scrambled Sobol sequence, dealt out evenly among the kernels. A search by gradients starts in the middle of the
   ranges and from points of such a sequence, for every kernel and every combination of what has no slope: sets,
   choices, whole numbers. */
#include "select/tune.h"
#include "base/memory.h"
#include "base/status.h"
#include <math.h>
#include <string.h>

enum { CANDIDATES_MOST = 1000000, RANDOM = 50, STARTS = 4 };

/* ---- A grid ---- */

static mercer_status count_grid(mercer_ctx *ctx, mc_search_space *s) {
    double count = 0;
    for (int64_t k = 0; k < s->kernels; k++) {
        double product = 1;
        for (int64_t i = 0; i < s->settings; i++)
            product *= (double)s->dimension[i].count;
        for (int64_t i = s->begin[k]; i < s->begin[k + 1]; i++)
            product *= (double)s->dimension[i].count;
        count += product;
    }
    if (count > CANDIDATES_MOST)
        return mc_fail(ctx, MERCER_INVALID,
                       "tune: the grid has %.3g candidates, more than %d; take fewer points, or a random search", count,
                       CANDIDATES_MOST);
    s->count = (int64_t)count;
    return MERCER_OK;
}

/* Mixed-radix digits of place, the last setting first. */
static void write_grid_point(mc_search_space *s, int64_t k, int64_t place, double *number) {
    for (int64_t i = s->settings - 1; i >= 0; i--) {
        number[i] = s->dimension[i].value[place % s->dimension[i].count];
        place /= s->dimension[i].count;
    }
    for (int64_t i = s->begin[k + 1] - 1; i >= s->begin[k]; i--) {
        number[s->settings + i - s->begin[k]] = s->dimension[i].value[place % s->dimension[i].count];
        place /= s->dimension[i].count;
    }
}

static void fill_grid(mc_search_space *s) {
    int64_t at = 0;
    for (int64_t k = 0; k < s->kernels; k++) {
        int64_t size = 1;
        for (int64_t i = 0; i < s->settings; i++)
            size *= s->dimension[i].count;
        for (int64_t i = s->begin[k]; i < s->begin[k + 1]; i++)
            size *= s->dimension[i].count;
        for (int64_t place = 0; place < size; place++, at++) {
            s->of[at] = k;
            write_grid_point(s, k, place, s->number + at * s->width);
        }
    }
}

/* ---- A random search ---- */

static void fill_random(mc_search_space *s, uint64_t seed) {
    double u[MC_SOBOL_MOST];
    for (int64_t c = 0; c < s->count; c++) {
        const int64_t k = s->of[c] = c % s->kernels, own = s->begin[k + 1] - s->begin[k];
        double *number = s->number + c * s->width;
        mc_sobol_point(seed + (uint64_t)k, c / s->kernels, s->settings + own, u);
        for (int64_t i = 0; i < s->settings; i++)
            number[i] = mc_dimension_at(&s->dimension[i], u[i]);
        for (int64_t i = 0; i < own; i++)
            number[s->settings + i] = mc_dimension_at(&s->dimension[s->begin[k] + i], u[s->settings + i]);
    }
}

static mercer_status check_sobol(mercer_ctx *ctx, const mercer_tune *set, int64_t ranges) {
    if (set->candidates < 0 || set->candidates > CANDIDATES_MOST)
        return mc_fail(ctx, MERCER_INVALID, "tune: candidates must be in [1, %d], or 0 for the usual number, got %lld",
                       CANDIDATES_MOST, (long long)set->candidates);
    if (ranges > MC_SOBOL_MOST)
        return mc_fail(ctx, MERCER_INVALID, "tune: a %s search has at most %d ranges at once, this one has %lld",
                       set->search, MC_SOBOL_MOST, (long long)ranges);
    return MERCER_OK;
}

static mercer_status count_random(mercer_ctx *ctx, const mercer_tune *set, mc_search_space *s) {
    s->count = set->candidates ? set->candidates : RANDOM;
    return check_sobol(ctx, set, s->width);
}

/* ---- Starts of a search by gradients ---- */

/* Combinations of what is not free, and how much is. */
static double count_combinations(const mc_search_space *s, int64_t kernel, int64_t *free_ones) {
    double product = 1;
    *free_ones = 0;
    for (int64_t i = 0; i < mc_search_space_numbers(s, kernel); i++) {
        const mc_dimension *d = mc_search_space_dimension(s, kernel, i);
        *free_ones += mc_dimension_free(d);
        product *= mc_dimension_free(d) ? 1 : (double)d->count;
    }
    return product;
}

static mercer_status count_starts(mercer_ctx *ctx, const mercer_tune *set, mc_search_space *s) {
    const double each = (double)(set->candidates ? set->candidates : STARTS);
    double count = 0;
    int64_t free_ones, most = 0;
    for (int64_t k = 0; k < s->kernels; k++) {
        const double own = count_combinations(s, k, &free_ones);
        count += own * (free_ones ? each : 1);
        most = free_ones > most ? free_ones : most;
    }
    MC_TRY(check_sobol(ctx, set, most));
    if (count > CANDIDATES_MOST)
        return mc_fail(ctx, MERCER_INVALID,
                       "tune: the search has %.3g starts, more than %d; take fewer, or smaller sets", count,
                       CANDIDATES_MOST);
    s->count = (int64_t)count;
    return MERCER_OK;
}

/* The first start is in the middle of the ranges, but not of two in the same place: parts that are alike would stay
   alike. */
static void write_start(const mc_search_space *s, uint64_t seed, int64_t k, int64_t place, int64_t start,
                        double *number) {
    static const double ASIDE = 0.01;
    double u[MC_SOBOL_MOST];
    int64_t free_ones, next = 0;
    count_combinations(s, k, &free_ones);
    if (start)
        mc_sobol_point(seed + (uint64_t)k, start - 1, free_ones, u);
    for (int64_t j = 0; j < free_ones && !start; j++)
        u[j] = 0.5 + ASIDE * (double)j;
    for (int64_t i = 0; i < mc_search_space_numbers(s, k); i++) {
        const mc_dimension *d = mc_search_space_dimension(s, k, i);
        if (mc_dimension_free(d)) {
            number[i] = mc_dimension_at(d, u[next++]);
            continue;
        }
        number[i] = d->value[place % d->count];
        place /= d->count;
    }
}

/* The first start of everything comes first: what the time allows is spread. */
static void fill_starts(mc_search_space *s, const mercer_tune *set) {
    const int64_t each = set->candidates ? set->candidates : STARTS;
    int64_t at = 0, free_ones;
    for (int64_t start = 0; start < each; start++)
        for (int64_t k = 0; k < s->kernels; k++) {
            const int64_t own = (int64_t)count_combinations(s, k, &free_ones);
            for (int64_t place = 0; place < own && (free_ones || !start); place++, at++) {
                s->of[at] = k;
                write_start(s, set->seed, k, place, start, s->number + at * s->width);
            }
        }
}

/* ---- The winner of an earlier search ---- */

/* Its value of a setting; NaN: it had none. */
static double winner_value(const mercer_search *from, const char *name) {
    for (int64_t i = 0; i < from->space.settings; i++)
        if (strcmp(from->space.dimension[i].name, name) == 0)
            return from->space.number[from->report.best * from->space.width + i];
    return NAN;
}

/* Whether it can be a candidate of this search, which knows the same settings. */
static bool takes_winner(const mc_search_space *s, const mercer_search *from) {
    bool knows = from && s->method != MC_GRADIENT && s->machine == from->machine;
    for (int64_t i = 0; knows && i < s->settings; i++)
        knows = !isnan(winner_value(from, s->dimension[i].name));
    return knows;
}

/* The last candidate, of a kernel after the others in which nothing is open. */
static void write_winner(mc_search_space *s, const mercer_search *from) {
    s->of[s->count - 1] = s->kernels;
    for (int64_t i = 0; i < s->settings; i++)
        s->number[(s->count - 1) * s->width + i] = winner_value(from, s->dimension[i].name);
}

/* ---- All together ---- */

mercer_status mc_search_space_fill(mercer_ctx *ctx, const mercer_tune *set, mc_search_space *s) {
    MC_TRY(s->method == MC_GRID     ? count_grid(ctx, s)
           : s->method == MC_RANDOM ? count_random(ctx, set, s)
                                    : count_starts(ctx, set, s));
    const bool winner = takes_winner(s, set->start);
    MC_TRY(MC_ALLOC(ctx, s->of, s->count + winner));
    MC_TRY(MC_ALLOC(ctx, s->number, (s->count + winner) * (s->width ? s->width : 1)));
    if (s->method == MC_GRID)
        fill_grid(s);
    else if (s->method == MC_RANDOM)
        fill_random(s, set->seed);
    else
        fill_starts(s, set);
    s->count += winner;
    if (winner)
        write_winner(s, set->start);
    return MERCER_OK;
}
