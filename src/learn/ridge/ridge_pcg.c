/* ridge_pcg.c: the exact problem of ridge regression when its matrix is too large to factor, by conjugate gradients.

       A = S K S + lambda I,   A Z = S Y (and A z = s for the intercept),   all columns at once, 32 at most

   Order of work: operators (K in float tiles for the steps, in double tiles for the residuals that count; or, where its
   entries are dear and memory allows, K made once in double and kept, as floats for the steps and with what these round
   off for the residuals), columns of K by random pivots as far as they pay (iterative/preconditioner_rank.c), the
   inverse of F F' + lambda I as the preconditioner, then steps until every column has a residual, measured in double,
   below the tolerance. S K S - F F' is positive semidefinite, so the condition number is at most 1 + tr(S K S - F
   F')/lambda: known, and said, before the first step.

   Where a step finds A not to be positive definite, the direction it took starts a search for the smallest eigenvalue,
   so that the error can name it and a lambda that would do.

   A run can be stopped (the clock, the caller) and returns its best iterate; with a checkpoint it can be resumed
   to the same bits: the file holds the state of conjugate gradients and the two choices that depend on the memory at
   hand. F is made anew, it is the same. */
#include "base/clock.h"
#include "base/ctx.h"
#include "base/memory.h"
#include "base/progress.h"
#include "base/status.h"
#include "learn/ridge/ridge_cost.h"
#include "learn/ridge/ridge_pcg_state.h"
#include <math.h>
#include <string.h>

enum {
    /* steps without progress, and a quarter of those expected, before precision is said to be exhausted */
    PATIENCE = 100,
    SEARCH = 120 /* steps for the smallest eigenvalue, at most */
};
/* a stored K is one matrix, multiplied in double: only its entries are rounded */
static const double STORED_FLOOR = 3e-7;
/* a product in double takes as long as so many in float, until one has been seen */
static const double EXACT_STEPS = 5;

/* ---- When A is not positive definite ---- */

/* |v'(S K S v as computed in double) - v' S K S v| <= this times v'v: an entry of K is wrong by `entry`, sums and
   scales by gamma of its size, and sum_ij |v_i| s_i s_j |v_j| <= (sum s_i^2) v'v. */
static double product_error(const mc_ridge_pcg_solver *s) {
    const double gamma = (double)(s->n + 8) * 0x1p-53;
    double weight = 0;
    for (int64_t i = 0; i < s->n; i++)
        weight += s->r->p->root ? s->r->p->root[i] * s->r->p->root[i] : 1;
    return 1.01 * weight * (s->errors.entry + gamma * s->errors.size);
}

static mercer_status keep_direction(mercer_ctx *ctx, mc_ridge_pcg_solver *s, const mc_pcg *pcg) {
    MC_TRY(MC_ALLOC(ctx, s->negative_direction, s->n));
    mc_pcg_direction(pcg, s->negative_direction);
    return MERCER_NUMERIC;
}

/* The ends of the spectrum from the direction met, in memory that the factor held; the error names them. Where that
   cannot be (memory, the clock), the error that stands says what is known. */
static mercer_status refuse_indefinite_system(mercer_ctx *ctx, mc_ridge_pcg_solver *s) {
    char known[MC_MESSAGE_SIZE];
    memcpy(known, ctx->message, sizeof known);
    mc_precondition_close(s->inverse);
    mc_lowrank_close(s->f);
    s->inverse = NULL;
    s->f = NULL;
    mc_begin_phase(ctx, "spectrum");
    const mc_matrix M = mc_scaled_kernel_matrix(&s->exact_scaled);
    mc_spectrum ends;
    if (!mc_lanczos_from(ctx, &M, s->negative_direction, SEARCH, &ends))
        return mc_ridge_explain(ctx, s->r, &ends);
    mc_stop_taken(ctx);
    return mc_fail(ctx, MERCER_NUMERIC, "ridge: %s", known);
}

/* ---- Solving ---- */

static int64_t steps_most(const mc_ridge_pcg_solver *s) {
    return s->r->steps_worth ? s->r->steps_worth : MC_RIDGE_PCG_STEPS_MOST;
}

/* One step, timed; its time tells whether there is enough left to measure the answer afterwards. */
static mercer_status timed_pcg_step(mercer_ctx *ctx, mc_ridge_pcg_solver *s, mc_pcg *pcg, bool *done) {
    const mc_pcg_result before = *mc_pcg_progress(pcg);
    const double began = mc_clock_seconds();
    MC_TRY(mc_pcg_step(ctx, pcg, done));
    const mc_pcg_result *now = mc_pcg_progress(pcg);
    const double seconds = mc_clock_seconds() - began;
    if (now->iterations > before.iterations) {
        s->step = seconds;
        mc_log_message(ctx, "pcg %lld: residual %.2g, %.3g s", (long long)now->iterations, ctx->measure, seconds);
    } else if (now->refinements > before.refinements) {
        s->product = seconds;
        mc_log_message(ctx, "pcg %lld: residual %.2g in double precision, %.3g s", (long long)now->iterations,
                       now->residual_relative, seconds);
    }
    const double check = s->product > 0 ? s->product : EXACT_STEPS * s->step;
    return !*done && mc_time_left(ctx) < 1.2 * (check + s->step) ? MERCER_TIME : MERCER_OK;
}

static mercer_status iterate_pcg(mercer_ctx *ctx, mc_ridge_pcg_solver *s, mc_pcg *pcg) {
    bool done = false;
    mercer_status status = mc_ridge_pcg_resume(ctx, s, pcg);
    while (!status && !done) {
        status = timed_pcg_step(ctx, s, pcg, &done);
        MC_THEN(status, mc_ridge_pcg_save(ctx, s, pcg, false));
    }
    if (status != MERCER_TIME && status != MERCER_CANCELLED) {
        if (!status && !mc_pcg_progress(pcg)->converged) /* of several batches, the worst is said */
            s->r->stopped = mc_pcg_progress(pcg)->iterations < steps_most(s) ? "precision" : "steps";
        return status ? status : mc_ridge_pcg_save(ctx, s, pcg, true);
    }
    s->stop = status;
    mc_stop_taken(ctx);
    mc_shield_from_stop(ctx, true); /* what follows is short and makes the stop worth something */
    status = mc_ridge_pcg_save(ctx, s, pcg, true);
    MC_THEN(status, mc_pcg_settle(ctx, pcg));
    mc_shield_from_stop(ctx, false);
    return status;
}

/* Columns from choice.done on, t of them, in place of the right-hand sides. */
static mercer_status solve_batch(mercer_ctx *ctx, mc_ridge_pcg_solver *s) {
    mc_ridge_system *r = s->r;
    const int64_t first = s->choice.done, t = r->columns - first < s->t ? r->columns - first : s->t;
    for (int64_t i = 0; i < s->n; i++)
        for (int64_t k = 0; k < t; k++)
            s->B[i * t + k] = r->X[i * r->columns + first + k];
    memset(s->X, 0, (size_t)(s->n * t) * sizeof *s->X);
    const mc_pcg_problem problem = {
        .n = s->n,
        .t = t,
        .fast = mc_scaled_kernel_matrix(&s->fast_scaled),
        .reduced = s->stored ? mc_scaled_kernel_matrix(&s->reduced_scaled) : (mc_matrix){0},
        .exact = mc_scaled_kernel_matrix(&s->exact_scaled),
        .floor = s->stored ? STORED_FLOOR : 0,
        .exact_error = product_error(s),
        .diagonal = s->diagonal,
        .preconditioner = mc_precondition_inverse(s->inverse),
        .B = s->B,
        .tolerance = r->tolerance,
        .iterations_max = steps_most(s),
        .patience = PATIENCE + (int64_t)fmin(s->expected / 4, fmin(2 * (double)s->n, MC_RIDGE_PCG_STEPS_MOST))};
    mc_pcg *pcg = NULL;
    MC_TRY(mc_pcg_open(ctx, &problem, s->X, &pcg));
    mercer_status status = iterate_pcg(ctx, s, pcg);
    if (status == MERCER_NUMERIC && mc_pcg_progress(pcg)->curvature < 0)
        status = keep_direction(ctx, s, pcg);
    const mc_pcg_result result = *mc_pcg_progress(pcg);
    mc_pcg_close(pcg);
    for (int64_t i = 0; i < s->n; i++)
        for (int64_t k = 0; k < t; k++)
            r->X[i * r->columns + first + k] = s->X[i * t + k];
    s->choice.iterations += result.iterations;
    s->choice.refinements += result.refinements;
    s->choice.done += t;
    return status;
}

static mercer_status prepare_pcg(mercer_ctx *ctx, mc_ridge_pcg_solver *s) {
    MC_TRY(mc_ridge_pcg_choose_plan(ctx, s));
    MC_TRY(mc_ridge_pcg_open_operators(ctx, s));
    MC_TRY(mc_ridge_pcg_open_products(ctx, s));
    return mc_ridge_pcg_open_preconditioner(ctx, s);
}

/* Columns that no batch reached are zero: the best that is known of them. */
static void clear_rest(mc_ridge_pcg_solver *s) {
    for (int64_t i = 0; i < s->n; i++)
        for (int64_t k = s->choice.done; k < s->r->columns; k++)
            s->r->X[i * s->r->columns + k] = 0;
}

static mercer_status solve_by_pcg(mercer_ctx *ctx, mc_ridge_pcg_solver *s) {
    mercer_status status = prepare_pcg(ctx, s);
    if (status == MERCER_TIME || status == MERCER_CANCELLED)
        s->stop = mc_stop_taken(ctx);
    if (s->stop)
        status = MERCER_OK;
    mc_begin_phase(ctx, "solve");
    while (!status && !s->stop && !s->declined && s->choice.done < s->r->columns)
        status = solve_batch(ctx, s);
    if (s->negative_direction)
        return refuse_indefinite_system(ctx, s);
    if (s->stop)
        s->r->stopped = s->stop == MERCER_TIME ? "time" : "caller";
    clear_rest(s);
    s->r->iterations = s->choice.iterations;
    if (!status && s->stop && s->choice.iterations == 0) /* there is no iterate to hand over */
        return mc_fail(ctx, s->stop, "ridge: stopped before the first step of conjugate gradients");
    return status;
}

static void put_away(mc_ridge_pcg_solver *s) {
    mc_precondition_close(s->inverse);
    mc_lowrank_close(s->f);
    mc_stored_close(s->stored);
    mc_gram_close(s->fast);
    mc_gram_close(s->exact);
    mc_work_close(&s->work);
    mc_free(s->negative_direction);
}

/* Conjugate gradients took more steps than estimated, and a factorisation fits. */
static mercer_status factor_instead(mercer_ctx *ctx, mc_ridge_system *r) {
    if (r->iterations)
        mc_log_message(ctx, "pcg: stopped short of the tolerance (%s) after %lld steps; factoring", r->stopped,
                       (long long)r->iterations);
    r->solver = "cholesky";
    r->stopped = "no";
    r->iterations = r->iteration_bound = 0;
    mc_cached_product_close(&r->cached_product);
    mc_ridge_right_hand_sides(r);
    return mc_ridge_cholesky(ctx, r);
}

/* The product that the check would make, while K is at hand. */
static mercer_status cache_final_product(mercer_ctx *ctx, mc_ridge_pcg_solver *s) {
    if (!s->stored || !mc_stored_is_split(s->stored) || !s->r->cached_product.V)
        return MERCER_OK;
    mc_begin_phase(ctx, "check");
    mc_shield_from_stop(ctx, s->stop != MERCER_OK); /* it is short */
    const mercer_status status = mc_cached_product_compute(ctx, &s->r->cached_product, s->r->alpha);
    mc_shield_from_stop(ctx, false);
    return status;
}

mercer_status mc_ridge_pcg(mercer_ctx *ctx, mc_ridge_system *r) {
    mc_ridge_pcg_solver s = {.r = r, .n = r->p->n, .t = mc_ridge_pcg_batch(r->columns)};
    mercer_status status = solve_by_pcg(ctx, &s);
    const bool short_of_it = strcmp(r->stopped, "precision") == 0 || strcmp(r->stopped, "steps") == 0;
    const bool give_up = (short_of_it && r->steps_worth) || (s.declined && !s.stop);
    if (!status && !give_up) {
        mc_ridge_finish(r);
        status = cache_final_product(ctx, &s);
    }
    put_away(&s);
    return status || !give_up ? status : factor_instead(ctx, r);
}
