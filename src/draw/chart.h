/* chart.h: a frame with two axes on a canvas, and marks, lines, bands and cells in the units of the data. */
#ifndef MC_DRAW_CHART_H
#define MC_DRAW_CHART_H

#include "draw/canvas.h"

typedef struct axis {
    const char *label;
    double low, high;         /* low < high after chart_open, which widens an empty range */
    bool logarithmic;         /* low > 0 */
    const char *const *names; /* instead of numbers: names of the places 0, 1, ..., count - 1 */
    const double *places;     /* or of these, rising; NULL: those */
    int64_t count;
    bool down; /* grows from top to bottom, as the rows of a matrix do */
} axis;

typedef struct key { /* one entry of a legend: a mark or a line */
    const char *text;
    colour ink;
    int64_t mark; /* -1: a line */
    int dash;
} key;

typedef struct chart {
    canvas *on;
    box frame;
    axis x, y;
    bool square; /* as wide as high: matrices */
} chart;

/* Lays out and draws the paper: title, axes with ticks, grid. The frame is set. */
void chart_open(chart *g, canvas *on, const char *title, axis x, axis y, bool square);
/* The frame's line, over what was drawn inside. */
void chart_close(chart *g);
/* A legend in the corner of the frame with the fewest of the given points under it; points may be NULL. */
void chart_keys(chart *g, const key *keys, int64_t count, const double *x, const double *y, int64_t points);

canvas_point chart_at(const chart *g, double x, double y);
void chart_marks(chart *g, const double *x, const double *y, int64_t count, int64_t mark, double size, colour fill);
void chart_line(chart *g, pen p, const double *x, const double *y, int64_t count);
void chart_band(chart *g, colour fill, const double *x, const double *low, const double *high, int64_t count);
/* A range that holds all finite values, with a margin; {0, 1} for none. */
void range_take(double *low, double *high, const double *values, int64_t count);
void range_widen(double *low, double *high, double share);

#endif
