/* precondition.h: (F F' + lambda I)^-1 as an operator, F of low rank.

       mc_precondition *p = NULL;
       MC_TRY(mc_precondition_open(ctx, f, lambda, t, &p));
       const mc_matrix inverse = mc_precondition_inverse(p);
       mc_precondition_close(p); */
#ifndef MC_ITERATIVE_PRECONDITION_H
#define MC_ITERATIVE_PRECONDITION_H

#include "gram/lowrank/lowrank.h"

typedef struct mc_precondition mc_precondition;

/* Bytes beside the factor, for products of up to t columns. */
size_t mc_precondition_bytes(mercer_ctx *ctx, int64_t n, int64_t rank, int64_t t);
/* Where lambda is too small for the factorisation to be safe in double precision, the least shift at which it is stands
   for it. f must outlive it and may not grow meanwhile. A factor of rank 0 is allowed: the inverse is I/lambda. */
mercer_status mc_precondition_open(mercer_ctx *ctx, const mc_lowrank *f, double lambda, int64_t t,
                                   mc_precondition **out);
void mc_precondition_close(mc_precondition *p);
/* The shift that stands for lambda, and log det(F F' + shift I). */
double mc_precondition_shift(const mc_precondition *p);
double mc_precondition_log_det(const mc_precondition *p);
/* Its apply takes at most t columns at a time. */
mc_matrix mc_precondition_inverse(const mc_precondition *p);

#endif
