/* chart.c: title, axes, grid and legend around marks, lines, bands and cells in the units of the data. */
#include "draw/chart.h"
#include "draw/ticks.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TITLE = 13, LABEL = 11, TICK = 9, MARGIN = 14 };

/* ---- Places ---- */

static double position_on_axis(const axis *a, double value) {
    return a->logarithmic ? log(value / a->low) / log(a->high / a->low) : (value - a->low) / (a->high - a->low);
}

canvas_point chart_at(const chart *g, double x, double y) {
    const double across = position_on_axis(&g->x, x), up = position_on_axis(&g->y, y);
    const box *f = &g->frame;
    return (canvas_point){f->left + across * (f->right - f->left),
                          g->y.down ? f->top + up * (f->bottom - f->top) : f->bottom - up * (f->bottom - f->top)};
}

void range_take(double *low, double *high, const double *values, int64_t count) {
    *low = INFINITY;
    *high = -INFINITY;
    for (int64_t i = 0; i < count; i++)
        if (isfinite(values[i])) {
            *low = fmin(*low, values[i]);
            *high = fmax(*high, values[i]);
        }
    if (*low > *high) {
        *low = 0;
        *high = 1;
    }
}

void range_widen(double *low, double *high, double share) {
    const double more = share * (*high - *low);
    *low -= more;
    *high += more;
}

/* An empty range gets a width that shows its one value in the middle. */
static void fill_range(axis *a) {
    if (a->high > a->low)
        return;
    const double more = a->low == 0 ? 1 : fabs(a->low) / 2;
    a->low = a->logarithmic ? a->low / 2 : a->low - more;
    a->high = a->logarithmic ? a->high * 2 : a->high + more;
}

/* ---- Axes ---- */

static void ticks_of(const axis *a, ticks *t) {
    ticks_make(t, a->low, a->high, a->logarithmic);
}

/* Names too many to be written are left out evenly; each takes so many points of the length. */
static int64_t every_name(const axis *a, double length, double each) {
    return (int64_t)fmax(1, ceil((double)a->count * each / length));
}

static double place_of(const axis *a, int64_t i) {
    return a->places ? a->places[i] : (double)i;
}

static double widest_tick_label(canvas *c, const axis *a) {
    double most = 0;
    ticks t;
    ticks_of(a, &t);
    for (int i = 0; !a->names && i < t.count; i++)
        most = fmax(most, canvas_label_width(c, t.text[i], TICK));
    for (int64_t i = 0; a->names && i < a->count; i++)
        most = fmax(most, canvas_label_width(c, a->names[i], TICK));
    return fmin(most, 120);
}

static void grid_line(chart *g, canvas_point a, canvas_point b) {
    canvas_line(g->on, (pen){.ink = colour_faint, .width = 0.7}, (canvas_point[]){a, b}, 2);
}

static void across_ticks(chart *g) {
    const box *f = &g->frame;
    ticks t;
    ticks_of(&g->x, &t);
    for (int i = 0; !g->x.names && i < t.count; i++) {
        const double x = chart_at(g, t.at[i], g->y.low).x;
        grid_line(g, (canvas_point){x, f->top}, (canvas_point){x, f->bottom});
        canvas_label(g->on, (canvas_point){x, f->bottom + TICK + 4}, t.text[i], TICK, SIDE_MIDDLE, false, colour_ink);
    }
    const int64_t every = g->x.names ? every_name(&g->x, f->right - f->left, widest_tick_label(g->on, &g->x) + 6) : 1;
    for (int64_t i = 0; g->x.names && i < g->x.count; i += every)
        canvas_label(g->on, (canvas_point){chart_at(g, place_of(&g->x, i), g->y.low).x, f->bottom + TICK + 4},
                     g->x.names[i], TICK, SIDE_MIDDLE, false, colour_ink);
}

/* Of a name beside the frame: smaller where it would leave the paper. */
static double name_size(const chart *g, const char *name) {
    const double space = g->frame.left - 13, wanted = canvas_label_width(g->on, name, TICK);
    return wanted > space ? TICK * space / wanted : TICK;
}

static void up_ticks(chart *g) {
    const box *f = &g->frame;
    ticks t;
    ticks_of(&g->y, &t);
    for (int i = 0; !g->y.names && i < t.count; i++) {
        const double y = chart_at(g, g->x.low, t.at[i]).y;
        grid_line(g, (canvas_point){f->left, y}, (canvas_point){f->right, y});
        canvas_label(g->on, (canvas_point){f->left - 5, y + TICK / 3.0}, t.text[i], TICK, SIDE_END, false, colour_ink);
    }
    const int64_t every = g->y.names ? every_name(&g->y, f->bottom - f->top, TICK + 3) : 1;
    for (int64_t i = 0; g->y.names && i < g->y.count; i += every)
        canvas_label(g->on, (canvas_point){f->left - 5, chart_at(g, g->x.low, place_of(&g->y, i)).y + TICK / 3.0},
                     g->y.names[i], name_size(g, g->y.names[i]), SIDE_END, false, colour_ink);
}

static void lay_out(chart *g) {
    const double width = canvas_width(g->on), height = canvas_height(g->on);
    g->frame = (box){MARGIN + LABEL + 8 + widest_tick_label(g->on, &g->y), MARGIN + TITLE + 10, width - MARGIN,
                     height - MARGIN - LABEL - TICK - 10};
    if (!g->square)
        return;
    const double least = fmin(g->frame.right - g->frame.left, g->frame.bottom - g->frame.top);
    g->frame.right = g->frame.left + least;
    g->frame.bottom = g->frame.top + least;
}

/* As large as titles are, or as the paper allows. */
static double title_size(const chart *g, const char *title) {
    const double space = canvas_width(g->on) - g->frame.left - 4, wanted = canvas_label_width(g->on, title, TITLE);
    return wanted > space ? TITLE * space / wanted : TITLE;
}

void chart_open(chart *g, canvas *on, const char *title, axis x, axis y, bool square) {
    *g = (chart){.on = on, .x = x, .y = y, .square = square};
    fill_range(&g->x);
    fill_range(&g->y);
    lay_out(g);
    const box *f = &g->frame;
    canvas_label(on, (canvas_point){f->left, f->top - 10}, title, title_size(g, title), SIDE_START, false, colour_ink);
    across_ticks(g);
    up_ticks(g);
    canvas_label(on, (canvas_point){(f->left + f->right) / 2, f->bottom + TICK + LABEL + 10}, x.label, LABEL,
                 SIDE_MIDDLE, false, colour_ink);
    canvas_label(on, (canvas_point){MARGIN + LABEL - 4, (f->top + f->bottom) / 2}, y.label, LABEL, SIDE_MIDDLE, true,
                 colour_ink);
    canvas_clip(on, *f);
}

void chart_close(chart *g) {
    const box *f = &g->frame;
    canvas_unclip(g->on);
    canvas_line(g->on, (pen){.ink = colour_grey, .width = 0.8},
                (canvas_point[]){{f->left, f->top},
                                 {f->right, f->top},
                                 {f->right, f->bottom},
                                 {f->left, f->bottom},
                                 {f->left, f->top},
                                 {f->right, f->top}},
                6);
}

/* ---- What stands inside ---- */

void chart_marks(chart *g, const double *x, const double *y, int64_t count, int64_t mark, double size, colour fill) {
    for (int64_t i = 0; i < count; i++)
        canvas_mark(g->on, chart_at(g, x[i], y[i]), mark, size, fill);
}

void chart_line(chart *g, pen p, const double *x, const double *y, int64_t count) {
    canvas_point *at = calloc((size_t)count, sizeof *at);
    for (int64_t i = 0; at && i < count; i++)
        at[i] = chart_at(g, x[i], y[i]);
    if (at)
        canvas_line(g->on, p, at, count);
    free(at);
}

void chart_band(chart *g, colour fill, const double *x, const double *low, const double *high, int64_t count) {
    canvas_point *at = calloc((size_t)count, 2 * sizeof *at);
    for (int64_t i = 0; at && i < count; i++) {
        at[i] = chart_at(g, x[i], high[i]);
        at[2 * count - 1 - i] = chart_at(g, x[i], low[i]);
    }
    if (at)
        canvas_area(g->on, fill, 0.25, at, 2 * count);
    free(at);
}

/* ---- The legend ---- */

static int64_t points_in(const chart *g, box b, const double *x, const double *y, int64_t count) {
    int64_t inside = 0;
    for (int64_t i = 0; x && i < count; i++) {
        const canvas_point at = chart_at(g, x[i], y[i]);
        inside += at.x >= b.left && at.x <= b.right && at.y >= b.top && at.y <= b.bottom;
    }
    return inside;
}

/* Of the four corners the emptiest, top right first. */
static box free_corner(const chart *g, double width, double height, const double *x, const double *y, int64_t count) {
    const box *f = &g->frame;
    const double left[] = {f->right - width - 8, f->left + 8}, top[] = {f->top + 8, f->bottom - height - 8};
    box best = {0};
    int64_t least = INT64_MAX;
    for (int k = 0; k < 4; k++) {
        const box b = {left[k % 2], top[k / 2], left[k % 2] + width, top[k / 2] + height};
        const int64_t inside = points_in(g, b, x, y, count);
        if (inside < least) {
            least = inside;
            best = b;
        }
    }
    return best;
}

static void draw_key(chart *g, const key *k, double left, double y) {
    if (k->mark >= 0)
        canvas_mark(g->on, (canvas_point){left + 9, y}, k->mark, 7, k->ink);
    else
        canvas_line(g->on, (pen){.ink = k->ink, .width = 1.6, .dash = k->dash},
                    (canvas_point[]){{left, y}, {left + 18, y}}, 2);
    canvas_label(g->on, (canvas_point){left + 24, y + TICK / 3.0}, k->text, TICK, SIDE_START, false, colour_ink);
}

void chart_keys(chart *g, const key *keys, int64_t count, const double *x, const double *y, int64_t points) {
    double width = 0;
    for (int64_t k = 0; k < count; k++)
        width = fmax(width, canvas_label_width(g->on, keys[k].text, TICK));
    const double step = TICK + 5;
    const box b = free_corner(g, width + 36, step * (double)count + 6, x, y, points);
    canvas_area(g->on, colour_paper, 0.85,
                (canvas_point[]){{b.left, b.top}, {b.right, b.top}, {b.right, b.bottom}, {b.left, b.bottom}}, 4);
    for (int64_t k = 0; k < count; k++)
        draw_key(g, &keys[k], b.left + 6, b.top + 3 + step * ((double)k + 0.5));
}
