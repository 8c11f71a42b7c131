/* triangle.h: triangular matrices by halves, inside this folder. Every operation of triangle.c halves the
   triangle,

       L = [ L11  0  ]
           [ L21 L22 ],

   does the square part L21 by BLAS calls on blocks of a fixed size, and goes down both halves to triangles small enough
   for LAPACK. */
#ifndef MC_LINALG_TRIANGLE_H
#define MC_LINALG_TRIANGLE_H

#include "linalg/dense.h"

/* L11, L22 and L21; none of them is packed. */
typedef struct mc_halves {
    mc_dense first, second, below;
} mc_halves;
mc_halves mc_triangle_split(mc_dense L);
/* Numbers of a line of a device's memory, a multiple of which the leading dimension of a packed triangle there is. */
enum { MC_DEVICE_LINE = 16 };
/* Small enough for LAPACK. */
bool mc_triangle_is_leaf(mc_dense L);
/* The side of the blocks that a side of length n is cut into: a quarter of it, for small matrices to keep several
   threads busy, but no less than BLAS needs to be fast, nor more than most. */
int64_t mc_triangle_side(int64_t n, int64_t most);

/* factor_tiles.c: X <- L^-1 X, or L^-T X, where that is for large triangles and few columns. */
bool mc_tiles_solve_suits(mc_dense L, mc_dense X);
mercer_status mc_tiles_solve(mercer_ctx *ctx, mc_dense L, bool transposed, mc_dense X);

#endif
