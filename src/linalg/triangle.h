/* triangle.h: blocked algebra on triangular matrices, parallel with the same bits on any number of threads.

   A triangle is a lower triangular L (or, before it is factored, the lower half of a symmetric A) in one of three
   layouts. Every operation halves it,

       L = [ L11  0  ]
           [ L21 L22 ],

   does the square part L21 by BLAS calls on blocks of a fixed size, and goes down both halves to triangles small enough
   for LAPACK. */
#ifndef MC_LINALG_TRIANGLE_H
#define MC_LINALG_TRIANGLE_H

#include <mercer.h>

typedef enum mc_layout {
    MC_LOWER, /* column-major, the lower half is used */
    MC_UPPER, /* column-major, the upper half holds the transposed triangle */
    MC_PACKED /* LAPACK's rectangular full packed, transr 'N', uplo 'L': two triangles and a square in n(n+1)/2 numbers;
                 no ld */
} mc_layout;

typedef struct mc_triangle {
    double *a;
    int64_t n, ld;
    mc_layout layout;
} mc_triangle;

/* A -> L with A = L L'. *bad: the order of the first leading minor that is not positive, 0 when A is positive definite.
 */
mercer_status mc_triangle_factor(mercer_ctx *ctx, mc_triangle t, int64_t *bad);
/* X <- L^-1 X, or L^-T X; X is n x columns, row-major. */
mercer_status mc_triangle_solve(mercer_ctx *ctx, mc_triangle t, bool transposed, int64_t columns, double *X);
/* L -> L^-1. */
mercer_status mc_triangle_invert(mercer_ctx *ctx, mc_triangle t);

/* The halves of a triangle. L21 is n2 x n1 with leading dimension ld, or its transpose. */
typedef struct mc_halves {
    mc_triangle first, second;
    double *below;
    int64_t ld;
    bool transposed;
} mc_halves;
mc_halves mc_triangle_split(mc_triangle t);
/* The side of the blocks that a side of length n is cut into: a quarter of it, for small matrices to keep several
   threads busy, but no less than BLAS needs to be fast, nor more than most. */
int64_t mc_triangle_side(int64_t n, int64_t most);

/* Factor and solve in float: packed alike. */
typedef struct mc_triangle_f32 {
    float *a;
    int64_t n, ld;
    mc_layout layout;
} mc_triangle_f32;
typedef struct mc_halves_f32 {
    mc_triangle_f32 first, second;
    float *below;
    int64_t ld;
    bool transposed;
} mc_halves_f32;
mc_halves_f32 mc_triangle_f32_split(mc_triangle_f32 t);
mercer_status mc_triangle_f32_factor(mercer_ctx *ctx, mc_triangle_f32 t, int64_t *bad);
mercer_status mc_triangle_f32_solve(mercer_ctx *ctx, mc_triangle_f32 t, bool transposed, int64_t columns, float *X);

#endif
