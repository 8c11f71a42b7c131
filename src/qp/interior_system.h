/* interior_system.h: the state of an interior point, and the linear system of its steps; see interior.c. */
#ifndef MC_QP_INTERIOR_SYSTEM_H
#define MC_QP_INTERIOR_SYSTEM_H

#include "qp/interior.h"
#include "qp/product_form.h"

typedef struct mc_bound_pair {
    double *low, *high; /* m: one number for either bound of a variable */
} mc_bound_pair;

typedef struct mc_interior {
    const mc_dual *dual;
    const mc_matrix *rows;
    const mc_pivoted_cholesky *low_rank; /* NULL: the factor is A */
    mc_product_form form;
    double *inner; /* scratch of products with low_rank */
    int64_t *pair; /* 2n: the variables of a row, -1: none */
    int64_t *id;   /* 0 .. n-1 */
    const void **row;
    double *A;                     /* the packed factor */
    mc_bound_pair slack, z, dz, c; /* distances, multipliers, their steps, right-hand sides of s dz + z ds = c */
    double *D, *r, *rest, *more;   /* m */
    double *d, *Z[2];              /* m: the step; what a unit of lambda adds to it */
    double *f, *sum_of, *product;  /* n */
    double diagonal_shift;         /* what is added to the diagonal */
    double sum[2], lambda[2], d_lambda[2];
    int groups;
    double complementarity, scale; /* sum of distance times multiplier; size of the objective's terms */
} mc_interior;

mercer_status mc_interior_multiply(mercer_ctx *ctx, const mc_interior *p, const double *x, double *out);
/* Of K and the weights of the variables; *done: it exists. */
mercer_status mc_interior_factor(mercer_ctx *ctx, mc_interior *p, bool *done);
/* x (m) <- the solution with the right-hand side r (m). */
mercer_status mc_interior_solve_system(mercer_ctx *ctx, mc_interior *p, const double *r, double *x);
/* product <- K times the sums of x over each row. */
mercer_status mc_interior_product(mercer_ctx *ctx, mc_interior *p, const double *x);

#endif
