/* contour.h: where a function given on a grid passes through a level. */
#ifndef MC_DRAW_CONTOUR_H
#define MC_DRAW_CONTOUR_H

#include "draw/canvas.h"

/* Straight pieces, two points each, through the cells of a rows x columns grid of values over the box (row 0 at the
   top), linear along the edges of a cell. At most 2 pieces a cell: out has room for 4 rows columns points. The number
   of points written. */
int64_t contour_trace(const double *value, int64_t rows, int64_t columns, double level, box b, canvas_point *out);
/* The same pieces as lines that run on, each closed by a point that is not finite, so that canvas_line can dash them.
   The pieces are used up; out has room for 3/2 of their points. The number of points written. */
int64_t contour_join(canvas_point *piece, int64_t points, canvas_point *out);

#endif
