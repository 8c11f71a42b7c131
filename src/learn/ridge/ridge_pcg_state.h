/* ridge_pcg_state.h: conjugate gradients at work on a ridge system, for ridge_pcg.c and its neighbours. */
#ifndef MC_LEARN_RIDGE_RIDGE_PCG_STATE_H
#define MC_LEARN_RIDGE_RIDGE_PCG_STATE_H

#include "base/workspace.h"
#include "gram/operator/gram.h"
#include "gram/store/stored.h"
#include "iterative/pcg.h"
#include "iterative/precondition.h"
#include "learn/ridge/ridge_pcg.h"
#include "learn/ridge/ridge_system.h"

enum { MC_RIDGE_PCG_STEPS_MOST = 100000 }; /* that none should ever take */

/* What a checkpoint must bring back before anything is built. */
typedef struct mc_ridge_pcg_choice {
    int64_t most; /* columns of F there is memory for */
    int64_t done; /* columns of X solved for */
    int64_t stored;
    int64_t iterations, refinements; /* of the batches done */
} mc_ridge_pcg_choice;

/* S K S. */
typedef struct mc_scaled_kernel {
    mc_matrix K;
    const double *root; /* NULL: K itself */
    double *V;
} mc_scaled_kernel;

typedef struct mc_ridge_pcg_solver {
    mc_ridge_system *r;
    int64_t n, t;
    mc_ridge_pcg_choice choice;
    mc_gram *fast, *exact;
    mc_stored *stored;
    mc_matrix_errors errors; /* of what the residuals that count multiply by */
    mc_lowrank *f;
    mc_precondition *inverse;
    double expected; /* steps */
    bool declined;   /* they promise to take longer than a factorisation */
    mc_scaled_kernel fast_scaled, reduced_scaled, exact_scaled;
    double *diagonal, *B, *X, *V;
    double *negative_direction; /* a direction of negative curvature; NULL: none was met */
    uint64_t key;
    bool resumed;            /* a checkpoint was found and its state is still to be read */
    double written, writing; /* when the last checkpoint was written and how long that took */
    double step, product;    /* seconds of the last step, of the last exact product */
    mercer_status stop;
    mc_work work; /* of the vectors */
} mc_ridge_pcg_solver;

/* ---- ridge_pcg_size.c ---- */

/* Columns solved for at once, of so many. */
int64_t mc_ridge_pcg_batch(int64_t columns);
void mc_ridge_pcg_lay_out(mc_work *work, void *self);

/* ---- ridge_pcg_products.c ---- */

mercer_status mc_ridge_pcg_open_operators(mercer_ctx *ctx, mc_ridge_pcg_solver *s);
/* What steps and residuals multiply by. */
mercer_status mc_ridge_pcg_open_products(mercer_ctx *ctx, mc_ridge_pcg_solver *s);
mc_matrix mc_scaled_kernel_matrix(const mc_scaled_kernel *s);
/* Unless its columns promise too many steps: s->declined. */
mercer_status mc_ridge_pcg_open_preconditioner(mercer_ctx *ctx, mc_ridge_pcg_solver *s);

/* ---- ridge_pcg_checkpoint.c ---- */

/* The choices, from the file or from the memory at hand. */
mercer_status mc_ridge_pcg_choose_plan(mercer_ctx *ctx, mc_ridge_pcg_solver *s);
mercer_status mc_ridge_pcg_resume(mercer_ctx *ctx, mc_ridge_pcg_solver *s, mc_pcg *pcg);
/* now: whether or not it is time for it. */
mercer_status mc_ridge_pcg_save(mercer_ctx *ctx, mc_ridge_pcg_solver *s, mc_pcg *pcg, bool now);

#endif
