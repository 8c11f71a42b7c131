/* nearest.h: the nearest of many points, screened in float32: every point meets a few rows at once, and is noted down
   where it may be among the k nearest of one of them.

   By products t = |z|^2 - 2 <x, z>, the squared distance but for |x|^2, which is the same for all points of a row; by
   differences t = |x - z|^2. A point is noted down where t is below

       limit = (1 + grow) T + root sqrt(T) + slack,     T the k-th least t so far.

   Where there is a tree of the panels, and differences, those of them alone are met whose box is near enough to a row.
   The tree is in the numbers: node 1 is of all panels, and of the panels a .. b - 1 of node i those before (a + b) / 2
   are of node 2 i, the others of node 2 i + 1. */
#ifndef MC_BACKEND_NEAREST_H
#define MC_BACKEND_NEAREST_H

#include "base/cpu.h"

enum { MC_NEAREST_ROWS = 8, MC_NEAREST_COLUMNS = 32 }; /* rows at once; points of a panel */

typedef struct mc_nearest_candidate {
    float t;
    int32_t at;
} mc_nearest_candidate;

typedef struct mc_nearest {
    int64_t d, k, capacity;
    int64_t rows;          /* up to MC_NEAREST_ROWS; the others of x are anything */
    bool differences;      /* x: the rows, and z is infinite where there is no point */
    const float *x;        /* d x MC_NEAREST_ROWS: the rows side by side, -2 times for products */
    const float *z, *norm; /* panels of d x MC_NEAREST_COLUMNS; for products |z|^2, infinite where there is no point */
    int64_t from, to;      /* panels to meet */
    const float *box;      /* of every node the d least coordinates, then the d largest; NULL: all panels are met */
    float grow;
    const float *root, *slack;  /* of each row */
    float *best;                /* of each row the k least t, rising; infinite at first */
    float *limit;               /* of each row */
    mc_nearest_candidate *list; /* of each row capacity of them */
    int64_t *held;              /* of each row; above capacity: it had too many */
} mc_nearest;

/* How many panels were met, by each row. */
typedef int64_t mc_nearest_body(const mc_nearest *s);

extern mc_nearest_body *const mc_nearest_portable, *const mc_nearest_avx2, *const mc_nearest_avx512;

#endif
