/* ridge_pcg.h: what conjugate gradients on n rows would take. */
#ifndef MC_LEARN_RIDGE_RIDGE_PCG_H
#define MC_LEARN_RIDGE_RIDGE_PCG_H

#include "problem/problem.h"
#include "iterative/preconditioner_rank.h"

typedef struct mc_ridge_pcg_plan {
    size_t bytes; /* that the solver holds at most */
    size_t least; /* below which it cannot run at all */
    size_t trial; /* that it holds at most where columns of K are looked at before K is kept */
    int64_t rank; /* of the preconditioner, at most */
    bool stored;  /* K is kept in memory */
} mc_ridge_pcg_plan;

/* columns: right-hand sides, that of the intercept included; asked: the rank asked for, 0 none; left: bytes that may be
   taken. */
void mc_ridge_pcg_size(mercer_ctx *ctx, const mc_problem *p, int64_t columns, int64_t asked, size_t left,
                       mc_ridge_pcg_plan *out);

/* By which the rank of the preconditioner is found. */
mc_rank_rule mc_ridge_pcg_rule(const mc_problem *p, const mc_ridge_pcg_plan *plan, double lambda, double tolerance,
                               int64_t columns, int64_t asked);

enum { MC_PCG_TYPICAL_STEPS = 60 }; /* where nothing better is known */

#endif
