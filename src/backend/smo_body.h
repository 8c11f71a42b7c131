/* smo_body.h: the loops in which SMO spends its time, one body per instruction set and precision of K.

   accumulate   f_j <- f_j + sum over k of c_k K_kj, on a range of columns
   gather       out_b <- row[column_b], 0 where that is -1
   block        the quadratic program of qp/smo.h restricted to a working set whose part of K lies together
   rough        the same with slopes in floats (rough of the block), for K in floats and one run: half the bytes, and
                half the instructions */
#ifndef MC_BACKEND_SMO_BODY_H
#define MC_BACKEND_SMO_BODY_H

#include "base/cpu.h"
#include <stdint.h>

enum { MC_LANES = 8, MC_SMO_RUNS = 2, MC_ROUGH_LANES = 16 };

/* Slopes less one number, near which those are that matter, and what stands beside slopes, up to the next multiple of
   MC_ROUGH_LANES places; what pads has both masks closed. */
typedef struct mc_rough_slopes {
    float *v, *up, *down, *diagonal;
} mc_rough_slopes;

/* A working set. Variables of run r stand at begin[r] .. begin[r + 1] - 1, multiples of MC_LANES; two runs may have the
   same rows and columns of K. A place that pads a run has both masks closed, and any number in K. */
typedef struct mc_smo_block {
    int runs, sums; /* sums: 1: one over all runs is kept; as many as there are runs: one of each */
    int64_t begin[MC_SMO_RUNS + 1];
    /* of each place its row of K from the first column of run r on, width[r] entries of which may be read: those of its
       variables at least. NULL: it is not there, which none of place 0 may be */
    const void **row[MC_SMO_RUNS];
    int64_t width[MC_SMO_RUNS];
    double *v; /* slopes, kept up to date */
    double *beta;
    const double *low, *high, *diagonal;
    double *up, *down; /* 0 while the variable may grow (shrink), minus (plus) infinity once it may not */
    mc_rough_slopes rough;
    double tolerance; /* stop when the violation is at most this */
    int64_t steps_max, steps;
    int64_t wanted; /* a place whose row is not there, for want of which it stopped; -1: none */
} mc_smo_block;

typedef struct mc_smo_body {
    void (*accumulate)(const void *const *rows, const double *c, int64_t count, int64_t begin, int64_t end, double *f);
    void (*gather)(const void *row, const int64_t *column, int64_t count, void *out);
    void (*block)(mc_smo_block *block);
    void (*rough)(mc_smo_block *block); /* NULL: none */
} mc_smo_body;

extern const mc_smo_body mc_smo_portable[2], mc_smo_avx2[2], mc_smo_avx512[2];

#endif
