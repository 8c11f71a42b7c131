/* gradient_search.c: candidates found on the way down. From every start L-BFGS (iterative/lbfgs.c) goes down the
   logarithm of the error, whose slopes the engine gives, within the box of the ranges. Along a range of positive
   numbers it goes by logarithms; any other counts from 0 to 1.

   Every point it asks for becomes a candidate, in that order, and is measured like any other; its slopes stand beside
   its scores in the journal, so that a search resumed asks for the same points. Numbers have six digits: they
   are to be read, and what the seventh would gain is far below any standard error. A point that was asked for before is
   not measured again, and a descent that comes near the end of an earlier one ends there. */
#include "base/memory.h"
#include "base/status.h"
#include "select/tune.h"
#include "iterative/lbfgs.h"
#include <math.h>
#include <string.h>

enum { ITERATIONS = 50 };
static const double FLAT = 1e-4, ENOUGH = 1e-5; /* slopes and decreases of the logarithm of the error */
static const double NEAR = 0.02;                /* of every range */

typedef struct descent {
    mercer_search *s;
    mc_visit *visit;
    void *arg;
    int64_t starts, capacity; /* capacity: candidates there is memory for */
    int64_t *of;              /* starts: their kernels */
    double *from;             /* starts x width: their numbers */
    double *tail;             /* capacity x (1 + width): what was measured */
    int64_t *end;             /* starts: where those before this one ended; -1: nowhere */
    int64_t start, first;     /* the one at hand, and its first candidate */
    int64_t count;            /* numbers that are free: */
    int64_t at[MC_SOBOL_MOST];
    double low[MC_SOBOL_MOST], high[MC_SOBOL_MOST], z[MC_SOBOL_MOST];
} descent;

static const mc_dimension *dimension_of(const descent *d, int64_t k) {
    return mc_search_space_dimension(&d->s->space, d->of[d->start], d->at[k]);
}

/* ---- Room ---- */

static mercer_status grow_numbers(mercer_ctx *ctx, double **block, int64_t count) {
    double *more = mc_grow_block(ctx, *block, count, sizeof *more);
    *block = more ? more : *block;
    return more ? MERCER_OK : MERCER_MEMORY;
}

static mercer_status grow_counts(mercer_ctx *ctx, int64_t **block, int64_t count) {
    int64_t *more = mc_grow_block(ctx, *block, count, sizeof *more);
    *block = more ? more : *block;
    return more ? MERCER_OK : MERCER_MEMORY;
}

static mercer_status grow_candidates(mercer_ctx *ctx, descent *d) {
    mercer_search *s = d->s;
    if (s->space.count < d->capacity)
        return MERCER_OK;
    const int64_t capacity = 2 * (d->capacity + 16), width = s->space.width;
    MC_TRY(grow_counts(ctx, &s->space.of, capacity));
    MC_TRY(grow_numbers(ctx, &s->space.number, capacity * width));
    MC_TRY(grow_numbers(ctx, &s->value, capacity * (s->parts + 1)));
    MC_TRY(grow_numbers(ctx, &s->error, capacity));
    MC_TRY(grow_numbers(ctx, &s->seconds, capacity));
    MC_TRY(grow_counts(ctx, &s->rows, capacity));
    MC_TRY(grow_numbers(ctx, &d->tail, capacity * (1 + width)));
    d->capacity = capacity;
    return MERCER_OK;
}

/* ---- Points ---- */

static double value_of(const mc_dimension *d, double z) {
    const double v = d->log ? exp(z) : mc_dimension_at(d, z), rounded = mc_six_digits(v);
    return z <= (d->log ? log(d->low) : 0)    ? d->low
           : z >= (d->log ? log(d->high) : 1) ? d->high
                                              : fmin(fmax(rounded, d->low), d->high);
}

/* dv / dz. */
static double stretch_of(const mc_dimension *d, double v) {
    return d->log ? v : d->high - d->low;
}

/* The candidate behind the last, with the numbers of the point. */
static double *write_point(descent *d, const double *z) {
    mc_search_space *space = &d->s->space;
    double *number = space->number + space->count * space->width;
    memcpy(number, d->from + d->start * space->width, (size_t)space->width * sizeof *number);
    for (int64_t k = 0; k < d->count; k++)
        number[d->at[k]] = value_of(dimension_of(d, k), z[k]);
    space->of[space->count] = d->of[d->start];
    return number;
}

/* The same point of this descent; space.count: none. */
static int64_t find_measured_point(const descent *d, const double *number) {
    const mc_search_space *space = &d->s->space;
    int64_t c = d->first;
    while (c < space->count
           && memcmp(space->number + c * space->width, number, (size_t)space->width * sizeof *number) != 0)
        c++;
    return c;
}

/* Whether an earlier descent of the same kind ended near this candidate. */
static bool is_known(const descent *d, const double *number) {
    const mc_search_space *space = &d->s->space;
    bool known = false;
    for (int64_t i = 0; i < d->start && !known; i++) {
        const double *end = d->end[i] < 0 ? NULL : space->number + d->end[i] * space->width;
        known = end && mc_search_space_near(space, d->of[d->start], number, d->of[i], end, NEAR);
    }
    return known;
}

static mercer_status measure_new_candidate(mercer_ctx *ctx, descent *d, int64_t c) {
    mercer_search *s = d->s;
    for (int64_t k = 0; k <= s->parts; k++)
        s->value[c * (s->parts + 1) + k] = NAN;
    s->error[c] = NAN;
    s->seconds[c] = 0;
    s->rows[c] = 0;
    s->space.count++;
    const mercer_status status = d->visit(ctx, d->arg, c, d->start, d->tail + c * (1 + s->space.width));
    if (!s->rows[c])
        s->space.count--; /* stopped on the way */
    return status;
}

/* Near a known end the slopes are said to be 0, where a descent ends. */
static mercer_status score_and_slopes(mercer_ctx *ctx, void *self, const double *z, double *f, double *g) {
    descent *d = self;
    MC_TRY(grow_candidates(ctx, d));
    const double *number = write_point(d, z);
    const int64_t c = find_measured_point(d, number);
    if (c == d->s->space.count)
        MC_TRY(measure_new_candidate(ctx, d, c));
    const double *tail = d->tail + c * (1 + d->s->space.width);
    *f = isfinite(tail[0]) ? tail[0] : INFINITY;
    const bool goes_on = isfinite(*f) && !is_known(d, number);
    for (int64_t k = 0; k < d->count; k++)
        g[k] = goes_on ? tail[1 + d->at[k]] * stretch_of(dimension_of(d, k), number[d->at[k]]) : 0;
    return MERCER_OK;
}

/* ---- From every start ---- */

static void set_box(descent *d) {
    const mc_search_space *space = &d->s->space;
    const int64_t kernel = d->of[d->start];
    d->count = 0;
    for (int64_t i = 0; i < mc_search_space_numbers(space, kernel); i++) {
        const mc_dimension *one = mc_search_space_dimension(space, kernel, i);
        if (!mc_dimension_free(one))
            continue;
        const double v = d->from[d->start * space->width + i];
        d->low[d->count] = one->log ? log(one->low) : 0;
        d->high[d->count] = one->log ? log(one->high) : 1;
        d->z[d->count] = one->log ? log(v) : mc_dimension_share(one, v);
        d->at[d->count++] = i;
    }
}

/* The best candidate of this descent; -1: none has a score. */
static int64_t best_of_descent(const descent *d) {
    const int64_t width = 1 + d->s->space.width;
    int64_t best = -1;
    for (int64_t c = d->first; c < d->s->space.count; c++)
        if (isfinite(d->tail[c * width]) && (best < 0 || d->tail[c * width] < d->tail[best * width]))
            best = c;
    return best;
}

static mercer_status descend_from_start(mercer_ctx *ctx, descent *d) {
    mc_lbfgs_result result;
    d->first = d->s->space.count;
    set_box(d);
    const mc_lbfgs problem = {.n = d->count,
                              .low = d->low,
                              .high = d->high,
                              .objective = score_and_slopes,
                              .self = d,
                              .iterations_max = ITERATIONS,
                              .gradient_tolerance = FLAT,
                              .decrease_tolerance = ENOUGH};
    MC_TRY(mc_lbfgs_minimise(ctx, &problem, d->z, &result));
    d->end[d->start] = result.converged ? best_of_descent(d) : -1;
    return MERCER_OK;
}

static mercer_status take_starts(mercer_ctx *ctx, descent *d) {
    mc_search_space *space = &d->s->space;
    const size_t width = (size_t)space->width * sizeof(double);
    d->starts = d->capacity = space->count;
    space->count = 0;
    MC_TRY(MC_ALLOC(ctx, d->of, d->starts));
    MC_TRY(MC_ALLOC(ctx, d->end, d->starts));
    MC_TRY(MC_ALLOC(ctx, d->from, d->starts * space->width));
    MC_TRY(MC_ALLOC(ctx, d->tail, d->capacity * (1 + space->width)));
    memcpy(d->of, space->of, (size_t)d->starts * sizeof *d->of);
    memcpy(d->from, space->number, (size_t)d->starts * width);
    return MERCER_OK;
}

mercer_status mc_search_by_gradient(mercer_ctx *ctx, mercer_search *s, mc_visit *visit, void *arg) {
    descent d = {.s = s, .visit = visit, .arg = arg};
    mercer_status status = take_starts(ctx, &d);
    for (; d.start < d.starts && !status; d.start++)
        status = descend_from_start(ctx, &d);
    mc_free(d.of);
    mc_free(d.end);
    mc_free(d.from);
    mc_free(d.tail);
    return status;
}
