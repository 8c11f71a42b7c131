/* grid_descent.c: the best candidate of a grid of closed forms without measuring all of it on all rows.

   A measurement costs n^3. All candidates are measured on a sixteenth of the rows, where all of them together cost less
   than one on all rows; from the best of those, on more and more rows, only the candidates a search along the
   dimensions asks for, until on all rows none is left that promises more than a small part of a standard error. Along
   one dimension, by place on the grid: a step to each side, longer while it helps, then the lowest point of the
   parabola through the three.

   The best lambda depends on the kernel: the surface is a valley across the dimensions. So a step of any other
   dimension takes lambda along by as much as the best lambda of its run moved on the few rows, where the whole table is
   known. */
#include "base/memory.h"
#include "base/status.h"
#include "select/tune.h"
#include <math.h>

static const double LONG_STEP = 5, STEP = 2; /* factors of lambda and of the other parameters */
static const double ENOUGH = 0.05;           /* of a standard error */

static double loss_of(const mc_descent *d, int64_t c) {
    const double score = d->s->value[c * (d->s->parts + 1)];
    return isnan(score) ? INFINITY : d->s->measure->larger ? -score : score;
}

static bool is_measured(const mc_descent *d, int64_t c) {
    return d->s->rows[c] == d->rows;
}

/* ---- Places on the grid ---- */

/* A dimension: its values, and how many runs lie between neighbours along it; NULL and 0 for the last setting, which
   moves within a run. */
typedef struct grid_axis {
    const mc_dimension *dimension;
    int64_t stride; /* in runs; 0: within a run */
} grid_axis;

static int64_t columns_of(const mc_search_space *space) {
    return space->dimension[space->settings - 1].count;
}

static int64_t axes_of(const mc_search_space *space, int64_t kernel) {
    return space->settings + space->begin[kernel + 1] - space->begin[kernel];
}

/* The k-th dimension of a kernel's candidates, the fastest first, as search_space.c deals them out. */
static grid_axis axis_of(const mc_search_space *space, int64_t kernel, int64_t k) {
    grid_axis a = {&space->dimension[space->settings - 1], 0};
    int64_t stride = 1;
    for (int64_t i = 1; i <= k; i++) {
        const int64_t at =
            i < space->settings ? space->settings - 1 - i : space->begin[kernel + 1] - 1 - (i - space->settings);
        a = (grid_axis){&space->dimension[at], stride};
        stride *= a.dimension->count;
    }
    return a;
}

static int64_t first_run(const mc_search_space *space, int64_t kernel) {
    int64_t c = 0;
    while (space->of[c] != kernel)
        c++;
    return c / columns_of(space);
}

static int64_t place_of(const mc_search_space *space, int64_t c, grid_axis a) {
    const int64_t columns = columns_of(space);
    return a.stride ? (c / columns - first_run(space, space->of[c])) / a.stride % a.dimension->count : c % columns;
}

/* t steps away, along the floor of the valley; the ends of the grid are not left. */
static int64_t neighbour_on_grid(const mc_descent *d, int64_t c, grid_axis a, int64_t t) {
    const int64_t columns = columns_of(&d->s->space), run = c / columns + t * a.stride;
    if (!a.stride)
        return c + t;
    const int64_t column = c % columns + d->floor[run] - d->floor[c / columns];
    return run * columns + (column < 0 ? 0 : column < columns ? column : columns - 1);
}

/* ---- Along one dimension ---- */

/* Steps to the nearest measured candidate on a side, 0: none; and how many there are to the end. */
static int64_t nearest_measured(const mc_descent *d, int64_t c, grid_axis a, int sign, int64_t *steps_left) {
    const int64_t place = place_of(&d->s->space, c, a);
    *steps_left = sign < 0 ? place : a.dimension->count - 1 - place;
    for (int64_t t = 1; t <= *steps_left; t++)
        if (is_measured(d, neighbour_on_grid(d, c, a, sign * t)))
            return t;
    return 0;
}

static int64_t step_of(grid_axis a) {
    const double *v = a.dimension->value;
    const int64_t last = a.dimension->count - 1;
    const double spacing = v[0] > 0 && v[last] > v[0] ? log(v[last] / v[0]) / (double)last : log(LONG_STEP);
    const double step = round(log(a.stride ? STEP : LONG_STEP) / spacing);
    return step > 1 ? (int64_t)step : 1;
}

/* The lowest point of the parabola through -low, 0 and high, if it promises enough; 0 otherwise. */
static int64_t parabola_minimum(double f0, double f1, double f2, int64_t low, int64_t high, double enough) {
    const double a = -(double)low, b = (double)high, curvature = ((f2 - f1) / b - (f0 - f1) / a) / (b - a),
                 slope = (f2 - f1) / b - curvature * b;
    if (!(curvature > 0) || isinf(curvature))
        return 0;
    double v = round(-slope / (2 * curvature));
    v = v <= a ? a + 1 : v >= b ? b - 1 : v;
    return -(slope * v + curvature * v * v) > enough ? (int64_t)v : 0;
}

/* Where to go from c along a dimension, in steps; 0: nowhere. */
static int64_t propose_step(const mc_descent *d, int64_t c, grid_axis a) {
    int64_t below, above;
    const int64_t low = nearest_measured(d, c, a, -1, &below), high = nearest_measured(d, c, a, 1, &above),
                  step = step_of(a);
    const double enough = isnan(d->s->error[c]) ? 0 : ENOUGH * d->s->error[c];
    if (!low && below) {
        const int64_t far = high > step ? high : step;
        return -(far < below ? far : below);
    }
    if (!high && above) {
        const int64_t far = low > step ? low : step;
        return far < above ? far : above;
    }
    if (!low || !high) /* at an end */
        return low > 2 ? -(low / 2) : high > 2 ? high / 2 : 0;
    return parabola_minimum(loss_of(d, neighbour_on_grid(d, c, a, -low)), loss_of(d, c),
                            loss_of(d, neighbour_on_grid(d, c, a, high)), low, high, enough);
}

/* ---- The search ---- */

static int64_t best_of(const mc_descent *d, int64_t begin, int64_t end) {
    int64_t best = -1;
    for (int64_t c = begin; c < end; c++)
        if (is_measured(d, c) && loss_of(d, c) < INFINITY && (best < 0 || loss_of(d, c) < loss_of(d, best)))
            best = c;
    return best;
}

bool mc_descent_applies(const mercer_search *s) {
    const mc_search_space *space = &s->space;
    if (!s->engine->whole || s->measure->total || space->method != MC_GRID || !space->has_path)
        return false;
    for (int64_t c = 0; c < space->count; c = mc_search_space_run(space, c))
        if (mc_search_space_run(space, c) - c != columns_of(space))
            return false; /* the values of a set may stand in any order */
    return true;
}

/* The best of the runs with the best scores. */
static void choose_starts(mc_descent *d) {
    const int64_t columns = columns_of(&d->s->space), runs = d->s->space.count / columns;
    for (d->starts = 0; d->starts < MC_STARTS && d->starts < runs; d->starts++) {
        int64_t next = -1;
        for (int64_t r = 0; r < runs; r++) {
            const int64_t c = r * columns + d->floor[r];
            bool taken = loss_of(d, c) == INFINITY;
            for (int64_t k = 0; k < d->starts; k++)
                taken = taken || d->start[k] == c;
            if (!taken && (next < 0 || loss_of(d, c) < loss_of(d, next)))
                next = c;
        }
        if (next < 0)
            return;
        d->start[d->starts] = next;
    }
}

mercer_status mc_descent_open(mercer_ctx *ctx, const mercer_search *s, int64_t rows, mc_descent *d) {
    const int64_t columns = columns_of(&s->space), runs = s->space.count / columns;
    *d = (mc_descent){.s = s, .rows = rows};
    MC_TRY(MC_ALLOC(ctx, d->floor, runs));
    for (int64_t r = 0; r < runs; r++) {
        const int64_t best = best_of(d, r * columns, (r + 1) * columns);
        d->floor[r] = best < 0 ? 0 : best % columns;
    }
    choose_starts(d);
    return MERCER_OK;
}

void mc_descent_close(mc_descent *d) {
    mc_free(d->floor);
}

void mc_descent_level(mc_descent *d, int64_t rows) {
    const int64_t best = best_of(d, 0, d->s->space.count);
    if (best >= 0 && d->level++) {
        d->start[0] = best;
        d->starts = 1;
    }
    d->rows = rows;
    d->tried = 0;
}

int64_t mc_descent_next(mc_descent *d) {
    if (d->tried < d->starts)
        return d->start[d->tried++];
    const int64_t c = best_of(d, 0, d->s->space.count);
    for (int64_t k = 0; c >= 0 && k < axes_of(&d->s->space, d->s->space.of[c]); k++) {
        const grid_axis a = axis_of(&d->s->space, d->s->space.of[c], k);
        const int64_t t = propose_step(d, c, a), to = t ? neighbour_on_grid(d, c, a, t) : c;
        if (!is_measured(d, to))
            return to;
    }
    return -1;
}
