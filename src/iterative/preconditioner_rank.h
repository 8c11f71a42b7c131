/* preconditioner_rank.h: how many columns the preconditioner of conjugate gradients should have. */
#ifndef MC_ITERATIVE_PRECONDITIONER_RANK_H
#define MC_ITERATIVE_PRECONDITIONER_RANK_H

#include "gram/lowrank/lowrank.h"

/* Work is counted in multiplications of floats, not timed: the rank is the same on every machine. */
typedef struct mc_rank_rule {
    double lambda, tolerance;
    double step;      /* operations of one step of conjugate gradients */
    double entry;     /* operations of one entry of K */
    int64_t most;     /* columns there is memory for */
    int64_t asked;    /* this many, without a rule; 0: by the rule */
    double most_work; /* operations of the growth from one rank to the next, at most */
} mc_rank_rule;

/* The most columns that are ever worth their memory: 10 sqrt(n). */
int64_t mc_rank_cap(int64_t n);
/* Operations of one entry of K on rows with d values, and of one step on n rows, t columns. */
double mc_rank_entry(double d);
double mc_rank_step(int64_t n, double entry, int64_t t);
/* Steps to expect when a further column lowers the trace by gain. */
double mc_rank_steps(double gain, double lambda, double tolerance);
/* As many as most often come true: for forecasts. */
double mc_rank_likely_steps(double gain, double lambda, double tolerance);
/* Operations of growing a factor of n rows from one rank to another and making its preconditioner anew. */
double mc_rank_growth(int64_t n, double entry, int64_t from, int64_t to);
/* Whether to go on from rank (gain after it; before: at half of it) and how far: the next rank, or rank itself. */
int64_t mc_rank_next(const mc_rank_rule *rule, int64_t n, int64_t rank, double before, double gain);
/* Grow f as far as it pays. */
mercer_status mc_rank_grow(mercer_ctx *ctx, const mc_rank_rule *rule, mc_lowrank *f);

#endif
