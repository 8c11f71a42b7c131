/* nearest.h: the nearest of many points, screened in float32: every point meets a few rows at once, and is noted down
   where it may be among the k nearest of one of them.

   t = |z|^2 - 2 <x, z> is the squared distance but for |x|^2, which is the same for all points of a row. */
#ifndef MC_BACKEND_NEAREST_H
#define MC_BACKEND_NEAREST_H

#include "base/cpu.h"

enum { MC_NEAREST_ROWS = 8, MC_NEAREST_COLUMNS = 32 }; /* rows at once; points of a panel */

typedef struct mc_candidate {
    float t;
    int32_t at;
} mc_candidate;

typedef struct mc_nearest {
    int64_t d, k, capacity;
    int64_t rows;          /* up to MC_NEAREST_ROWS; the others of x are anything */
    const float *x;        /* d x MC_NEAREST_ROWS: -2 times the rows, side by side */
    const float *z, *norm; /* panels of d x MC_NEAREST_COLUMNS; |z|^2, infinite where there is no point */
    int64_t from, to;      /* panels to meet */
    const float *slack;    /* of each row: how far t may be above the k-th least */
    float *best;           /* of each row the k least t, rising; infinite at first */
    float *limit;          /* of each row: best of k-1 and the slack */
    mc_candidate *list;    /* of each row capacity of them */
    int64_t *held;         /* of each row; above capacity: it had too many */
} mc_nearest;

typedef void mc_nearest_body(const mc_nearest *s);

extern mc_nearest_body *const mc_nearest_portable, *const mc_nearest_avx2, *const mc_nearest_avx512;

#endif
