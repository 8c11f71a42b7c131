/* batch_smo_body.h: the loops in which quadratic programs that are solved as a batch spend their time, one body per
   instruction set. */
#ifndef MC_BACKEND_BATCH_SMO_BODY_H
#define MC_BACKEND_BATCH_SMO_BODY_H

#include "base/cpu.h"

/* Lanes of floats, places that are taken at once, and quadratic programs that one pass over K serves. */
enum { MC_WIDE = 16, MC_STRIDE = 4 * MC_WIDE, MC_BATCH = 8 };

/* A working set of one quadratic program, slopes in single precision: its steps are many and small, and f is brought up
   to date in double when they are done. Places up to width, a multiple of MC_STRIDE; those that pad it, or cannot move,
   have both masks closed. */
typedef struct mc_smo_block_f32 {
    const float *K; /* rows ld apart, each read up to width */
    float *diagonal;
    int64_t ld, width;
    float *v;         /* slopes */
    float *up, *down; /* 0 while the variable may grow (shrink), minus (plus) infinity once it may not */
    double *beta;
    double *low, *high;
    double tolerance;
    int64_t steps_max, steps; /* steps: go on from there */
} mc_smo_block_f32;

typedef struct mc_batch_smo_body {
    void (*solve)(mc_smo_block_f32 *block);
    /* out_b <- row[column_b] */
    void (*gather)(const void *row, const int64_t *column, int64_t count, float *out);
    /* f_r,j <- f_r,j + sum over k of c_kr K_kj for j in [begin, end) and r below programs; c has MC_BATCH numbers to a
       row. */
    void (*accumulate)(const void *const *rows, const double *c, int64_t count, int64_t programs, int64_t begin,
                       int64_t end, double *const *f);
} mc_batch_smo_body;

extern const mc_batch_smo_body mc_batch_smo_portable[2], mc_batch_smo_avx2[2], mc_batch_smo_avx512[2];

#endif
