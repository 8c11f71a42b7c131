/* normal_equations.h: normal equations G = Z'Z, C = Z'R of many rows, taken in block by block: what is held is m x m,
   whatever their number. */
#ifndef MC_LEARN_COMMON_NORMAL_EQUATIONS_H
#define MC_LEARN_COMMON_NORMAL_EQUATIONS_H

#include "base/workspace.h"

typedef struct mc_normal_equations {
    int64_t m, t;
    double *G; /* m x m, its lower half by columns; after mc_normal_factor the Cholesky factor of G + lambda I */
    double *C; /* m x t, row-major */
    mc_work work;
} mc_normal_equations;

size_t mc_normal_bytes(int64_t m, int64_t t);
mercer_status mc_normal_open(mercer_ctx *ctx, int64_t m, int64_t t, mc_normal_equations *out);
void mc_normal_close(mc_normal_equations *s);
/* Z: rows x m, R: rows x t, both row-major and scaled by the roots of the weights already. Same bits on any number of
   threads. */
mercer_status mc_normal_add(mercer_ctx *ctx, mc_normal_equations *s, int64_t rows, const double *Z, const double *R);
mercer_status mc_normal_factor(mercer_ctx *ctx, mc_normal_equations *s, double lambda);
/* X <- (G + lambda I)^-1 X, m x columns, row-major. */
mercer_status mc_normal_solve(mercer_ctx *ctx, const mc_normal_equations *s, int64_t columns, double *X);

#endif
