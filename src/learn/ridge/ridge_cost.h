/* ridge_cost.h: what the ways of solving ridge cost, in the units of plan/cost.h. */
#ifndef MC_LEARN_RIDGE_RIDGE_COST_H
#define MC_LEARN_RIDGE_RIDGE_COST_H

#include "learn/ridge/ridge_pcg.h"
#include "plan/cost.h"

/* Ridge on n rows: what the operator takes while K is written, and while it is multiplied. asked: a solver's name or
   "auto". */
typedef struct mc_ridge_size {
    int64_t n, outputs;
    double lambda;
    bool loo;
    size_t matrix_bytes, product_bytes;
    mc_ridge_pcg_plan pcg;
    int64_t d, features; /* columns; dimension of the explicit map, -1: none below n */
    int64_t rank;        /* pcg: columns and steps to expect */
    double steps;
    bool steps_estimated; /* from the spectrum of some rows: good enough to choose by */
    bool on_trial;        /* few rows: pcg grows its preconditioner, and goes on where that promises few steps */
    double tolerance;     /* that pcg would be given */
    bool intercept, proved;
    bool factored_there; /* a device has the triangle and factors it */
    bool direct_fits;    /* a factorisation fits */
    bool has_time_limit; /* there is a time limit: steps can be stopped, a factorisation begun late cannot */
    int64_t landmarks, frequencies;
    int threads;
    size_t mixed;
    double row;              /* values of a row */
    size_t nystrom, fourier; /* bytes of the approximations */
    int64_t nystrom_rank;    /* landmarks that would fit into what is left; 0: none */
    bool stationary;
    bool has_checkpoint; /* a checkpoint is named */
} mc_ridge_size;
/* Rows from which conjugate gradients are weighed against a factorisation that fits (as they begin, and from many rows
   on before that), and the tolerance they then have: predictions agree to about 1e-6 with those of a factorisation. */
enum { MC_RIDGE_FEW = 500, MC_RIDGE_MANY = 3000 };
#define MC_RIDGE_CLOSE 5e-7
bool mc_ridge_direct_fits(const mercer_ctx *ctx, const mc_ridge_size *size);
/* Whether what size->on_trial says fits. */
bool mc_ridge_trial_fits(const mercer_ctx *ctx, const mc_ridge_size *size);
/* Steps after which a factorisation would have been the shorter way. */
int64_t mc_ridge_steps_worth(const mc_ridge_size *size);
/* Whether steps with size's rank promise to be shorter than a factorisation; what that takes, in the unit of
   iterative/preconditioner_rank.h. */
bool mc_ridge_steps_promise(const mc_ridge_size *size);
double mc_ridge_direct_work(const mc_ridge_size *size);
/* Bytes of the vectors that every way holds throughout. */
size_t mc_ridge_always_bytes(int64_t n, int64_t outputs);
void mc_ridge_rank_solvers(const mercer_ctx *ctx, const mc_ridge_size *size, const char *asked, mc_solver_options *out);
/* Another choice, of priced options, where the first would not end within the time limit: the exact way that ends
   soonest, or, where none does, the one that can be stopped. */
void mc_ridge_in_time(const mercer_ctx *ctx, mc_solver_options *options);
/* MERCER_MEMORY or MERCER_INVALID with the cure when the chosen way is not possible. */
mercer_status mc_ridge_allow(mercer_ctx *ctx, const mc_ridge_size *size, const mc_solver_options *options);

#endif
