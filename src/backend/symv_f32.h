/* symv_f32.h: products of a block of floats with a few columns of doubles, at the speed of memory.

   A is m x n, row-major with ld floats from row to row. Columns are planes: column k of V starts at V + k * vs. */
#ifndef MC_BACKEND_SYMV_F32_H
#define MC_BACKEND_SYMV_F32_H

#include "base/cpu.h"

typedef struct mc_symv_f32 {
    const float *A;
    const int16_t *low; /* split: A is A + unit low, of the same ld */
    double unit;
    int64_t ld, m, n, t;
    const double *V; /* n long */
    double *Y;       /* m long */
    const double *U; /* m long */
    double *Z;       /* n long */
    int64_t vs, ys, us, zs;
} mc_symv_f32;

enum { MC_SYMV_FAST_WIDTH = 256 }; /* columns of A, at most */

/* The same with multiplications in float: n is a multiple of 16. No sum of floats runs over more than 128 products. */
typedef struct mc_symv_fast {
    const float *A;
    int64_t ld, m, n, t;
    const float *V, *U;
    double *Y, *Z;
    int64_t vs, ys, us, zs;
} mc_symv_fast;

typedef struct mc_symv_f32_body {
    void (*rows)(const mc_symv_f32 *s);    /* Y_k <- Y_k + A V_k */
    void (*columns)(const mc_symv_f32 *s); /* Z_k <- Z_k + A' U_k */
    void (*both)(const mc_symv_f32 *s);    /* the two with one reading of A */
    void (*split_rows)(const mc_symv_f32 *s), (*split_both)(const mc_symv_f32 *s);
    void (*reduced_both)(const mc_symv_fast *s); /* both, in float */
} mc_symv_f32_body;

/* The bits depend on the instruction set (one multiplies and adds in one rounding, another in two), on nothing else. */
extern const mc_symv_f32_body mc_symv_f32_portable, mc_symv_f32_avx2, mc_symv_f32_avx512;

#endif
