/* lowrank.h: K ~ F F' from a few columns of K, by randomly pivoted Cholesky.

       mc_lowrank *f = NULL;
       MC_TRY(mc_lowrank_open(ctx, &K, scale, seed, &f));
       s = mc_lowrank_grow(ctx, f, rank, trace);      as often as wanted: the columns so far stay
       mc_lowrank_close(f);

   K - F F' is positive semidefinite with the diagonal f->left and the trace f->trace_left, so that

       F F' + lambda I  <=  K + lambda I  <=  (1 + trace_left/lambda) (F F' + lambda I).

   Where ranks share F (mc_lowrank_share), each makes and holds its own rows of it; all else that is said here every
   rank knows. */
#ifndef MC_GRAM_LOWRANK_LOWRANK_H
#define MC_GRAM_LOWRANK_LOWRANK_H

#include "base/segments.h"
#include "linalg/matrix.h"

/* Columns of F lie in panels of this width, each as long as there are own rows, one after the other: F grows without
   being moved. */
enum { MC_PANEL = 128 };

typedef struct mc_lowrank {
    int64_t n, rank;
    mc_segments part; /* own rows: all n, where F is not shared */
    int64_t *pivot;   /* rank of them: the rows that the columns came from */
    float **panel;    /* own rows of column k are panel[k / MC_PANEL] + (k % MC_PANEL) * part.rows */
    double *left;     /* n: the diagonal of S K S - F F', never negative */
    double trace;     /* of S K S */
    double trace_left;
    /* by how much the last columns lowered the trace: tr(E^2)/tr(E) on average, E = S K S - F F' */
    double gain;
    bool exhausted; /* what is left cannot be told from rounding: no more columns will come */
    mc_matrix K;
    const double *scale; /* S; NULL: the identity */
    uint64_t seed;
    int64_t rounds, capacity,
        block; /* blocks drawn so far; panels there is room to name; proposals in the next block */
    struct mc_device_columns *there; /* its columns on a device; NULL: they are here alone */
    bool stays_here;                 /* a device was tried in vain */
} mc_lowrank;

/* Bytes a factor of this rank takes, work included. */
size_t mc_lowrank_bytes(mercer_ctx *ctx, int64_t n, int64_t rank);
/* The empty factor of S K S; rows, pairs and the diagonal of K are asked for. What K stands on and scale (n numbers
   >= 0; NULL: all 1) must outlive it. */
mercer_status mc_lowrank_open(mercer_ctx *ctx, const mc_matrix *K, const double *scale, uint64_t seed,
                              mc_lowrank **out);
/* Ranks share it from now on, where there are any and rows enough; before it has columns. */
void mc_lowrank_share(mercer_ctx *ctx, mc_lowrank *f);
/* Add columns until there are rank of them, or the trace left is at most trace, or nothing is left. */
mercer_status mc_lowrank_grow(mercer_ctx *ctx, mc_lowrank *f, int64_t rank, double trace);
/* It will not grow soon: what lies on a device is given back. */
void mc_lowrank_settle(mc_lowrank *f);
void mc_lowrank_close(mc_lowrank *f);

/* Its own rows. */
static inline float *mc_lowrank_column(const mc_lowrank *f, int64_t k) {
    return f->panel[k / MC_PANEL] + k % MC_PANEL * f->part.rows;
}

#endif
