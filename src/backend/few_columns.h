/* few_columns.h: products of rows of doubles with a few columns, which a matrix product of BLAS would copy first.

   A is m x n, row-major with ld numbers from row to row. V and Z are t planes of n numbers: column k of V starts at
   V + k * vs. Y and U are m x t, row-major. */
#ifndef MC_BACKEND_FEW_COLUMNS_H
#define MC_BACKEND_FEW_COLUMNS_H

#include "base/cpu.h"

typedef struct mc_few_columns {
    const double *A;
    int64_t ld, m, n, t;
    const double *V;
    double *Y;
    const double *U;
    double *Z;
    int64_t vs, ys, us, zs;
} mc_few_columns;

/* An entry of Y is the same, bit for bit, whatever rows and columns stand beside it. An entry of Z is raised by a sum
   over the m rows. */
typedef struct mc_few_columns_body {
    void (*rows)(const mc_few_columns *p);    /* Y <- A V */
    void (*columns)(const mc_few_columns *p); /* Z <- Z + A'U */
    int64_t most;                             /* columns: of more a matrix product is as quick */
} mc_few_columns_body;

/* The bits depend on the instruction set (one multiplies and adds in one rounding, another in two), on nothing else. */
extern const mc_few_columns_body mc_few_columns_portable, mc_few_columns_avx2, mc_few_columns_avx512;

#endif
