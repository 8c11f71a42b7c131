/* canvas.h: paper of a size in points, drawn on once and written as svg, png or pdf: the one place that knows cairo.

   canvas_open, then strokes, areas, marks and words, then canvas_finish for the bytes of the file, canvas_close at the
   end. A failure on the way (out of memory) makes canvas_finish give NULL; nothing needs to be checked before. Words
   are kept, so that what a picture says can be read without looking at it. */
#ifndef MC_DRAW_CANVAS_H
#define MC_DRAW_CANVAS_H

#include "draw/colour.h"
#include <stdbool.h>
#include <stddef.h>

typedef struct canvas canvas;
typedef struct canvas_point {
    double x, y;
} canvas_point;
typedef struct box {
    double left, top, right, bottom;
} box;
typedef struct pen {
    colour ink;
    double width; /* points; 0: one */
    int dash;     /* 0 whole, 1 dashed, 2 dotted, 3 dash and dot */
} pen;
typedef enum side { SIDE_START, SIDE_MIDDLE, SIDE_END } side;

/* format: "svg", "png" or "pdf". NULL when there is no memory. */
canvas *canvas_open(const char *format, double width, double height);
void canvas_close(canvas *c);
/* The bytes of the file, which belong to the canvas; NULL when something failed. Nothing can be drawn afterwards. */
const void *canvas_finish(canvas *c, size_t *size);
double canvas_width(const canvas *c);
double canvas_height(const canvas *c);

void canvas_line(canvas *c, pen p, const canvas_point *at, int64_t count);
void canvas_area(canvas *c, colour fill, double opacity, const canvas_point *at, int64_t count);
void canvas_box(canvas *c, colour fill, box b);
/* A cells-wide image of colours, row 0 at the top, each cell a sharp rectangle. */
void canvas_cells(canvas *c, box b, const colour *cell, int64_t rows, int64_t columns);
/* A shape, filled and outlined in white so that crowded ones stay apart; colour and shape together differ for the first
   forty k. ring: a circle around it. */
enum { MARKS = 8 };
void canvas_mark(canvas *c, canvas_point at, int64_t k, double size, colour fill);
void canvas_ring(canvas *c, canvas_point at, double size, colour ink);
/* across: where the point stands in the text along it. turned: read from below to above. */
void canvas_label(canvas *c, canvas_point at, const char *text, double size, side across, bool turned, colour ink);
double canvas_label_width(canvas *c, const char *text, double size);
void canvas_clip(canvas *c, box b); /* until canvas_unclip */
void canvas_unclip(canvas *c);

int64_t canvas_texts(const canvas *c);
const char *canvas_text(const canvas *c, int64_t i);
int64_t canvas_marks(const canvas *c); /* drawn so far */

#endif
