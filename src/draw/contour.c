/* contour.c: marching squares. A cell has four corners above or below the level; the line enters and leaves through
   edges whose ends differ, at the place found by linear interpolation. A saddle (all four edges crossed) is settled by
   the mean of the corners. */
#include "draw/contour.h"
#include <math.h>

/* A cell's corners in turn: its values less the level and where they stand. */
typedef struct corner {
    double v;
    canvas_point at;
} corner;

static canvas_point edge_crossing(const corner *a, const corner *b) {
    const double share = a->v / (a->v - b->v);
    return (canvas_point){a->at.x + share * (b->at.x - a->at.x), a->at.y + share * (b->at.y - a->at.y)};
}

static bool points_meet(canvas_point a, canvas_point b) {
    return fabs(a.x - b.x) + fabs(a.y - b.y) < 1e-6;
}

/* The points where edges are crossed, in turn; 0, 2 or 4 of them. */
static int find_edge_crossings(const corner q[4], canvas_point out[4]) {
    int count = 0;
    for (int e = 0; e < 4; e++)
        if ((q[e].v < 0) != (q[(e + 1) % 4].v < 0))
            out[count++] = edge_crossing(&q[e], &q[(e + 1) % 4]);
    return count;
}

static int64_t trace_cell(const corner q[4], canvas_point *out) {
    canvas_point cross[4];
    const int count = find_edge_crossings(q, cross);
    if (count == 2 && points_meet(cross[0], cross[1])) /* the level only touches a corner */
        return 0;
    const double mean = q[0].v + q[1].v + q[2].v + q[3].v;
    const int shift = count == 4 && (mean < 0) == (q[0].v < 0)
                          ? 0
                          : 3; /* a saddle whose middle is like corner 0 cuts corners 1 and 3 off */
    for (int i = 0; i < count; i++)
        out[i] = cross[count == 4 ? (i + shift) % 4 : i];
    return count;
}

int64_t contour_trace(const double *value, int64_t rows, int64_t columns, double level, box b, canvas_point *out) {
    const double w = (b.right - b.left) / (double)(columns - 1), h = (b.bottom - b.top) / (double)(rows - 1);
    int64_t count = 0;
    for (int64_t i = 0; i + 1 < rows; i++)
        for (int64_t j = 0; j + 1 < columns; j++) {
            static const int di[4] = {0, 0, 1, 1}, dj[4] = {0, 1, 1, 0};
            corner q[4];
            bool finite = true;
            for (int e = 0; e < 4; e++) {
                q[e].v = value[(i + di[e]) * columns + j + dj[e]] - level;
                q[e].at = (canvas_point){b.left + w * (double)(j + dj[e]), b.top + h * (double)(i + di[e])};
                finite = finite && isfinite(q[e].v);
            }
            count += finite ? trace_cell(q, out + count) : 0;
        }
    return count;
}

/* ---- Pieces into lines ---- */

/* Takes a piece with an end at this point out of those left and gives its other end; false: there is none. */
static bool take_next(canvas_point *piece, int64_t *points, canvas_point here, canvas_point *next) {
    for (int64_t i = 0; i < *points; i += 2)
        for (int e = 0; e < 2; e++)
            if (points_meet(piece[i + e], here)) {
                *next = piece[i + 1 - e];
                *points -= 2;
                piece[i] = piece[*points];
                piece[i + 1] = piece[*points + 1];
                return true;
            }
    return false;
}

/* The far end of the line that a piece belongs to: where to begin, so that a line is not drawn as two. */
static canvas_point far_end(const canvas_point *piece, int64_t points) {
    canvas_point here = piece[0];
    int64_t from = 0;
    for (int64_t steps = 0; steps < points / 2; steps++) {
        int64_t next = -1;
        for (int64_t i = 0; i < points && next < 0; i++)
            next = i / 2 != from / 2 && points_meet(piece[i], here) ? i : -1;
        if (next < 0)
            break;
        from = next;
        here = piece[next ^ 1];
    }
    return here;
}

int64_t contour_join(canvas_point *piece, int64_t points, canvas_point *out) {
    int64_t count = 0;
    while (points > 0) {
        canvas_point here = far_end(piece, points);
        out[count++] = here;
        while (take_next(piece, &points, here, &here))
            out[count++] = here;
        out[count++] = (canvas_point){NAN, NAN};
    }
    return count;
}
