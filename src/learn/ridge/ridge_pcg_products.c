/* ridge_pcg_products.c: what conjugate gradients multiply by, and the preconditioner. */
#include "learn/ridge/ridge_pcg_state.h"
#include "base/ctx.h"
#include "base/progress.h"
#include "base/status.h"
#include "gram/operator/gram_matrix.h"
#include "iterative/preconditioner_rank.h"
#include "learn/ridge/ridge_cost.h"
#include <math.h>

/* of the work of a factorisation, at most, for a doubling of the columns while it is open whether steps follow */
static const double TRIAL = 0.2;

static mercer_status apply_scaled(mercer_ctx *ctx, const void *self, int64_t t, const double *V, double *Y) {
    const mc_scaled_kernel *s = self;
    for (int64_t i = 0; i < s->K.n; i++)
        for (int64_t k = 0; k < t; k++)
            s->V[i * t + k] = s->root[i] * V[i * t + k];
    MC_TRY(s->K.apply(ctx, s->K.self, t, s->V, Y));
    for (int64_t i = 0; i < s->K.n; i++)
        for (int64_t k = 0; k < t; k++)
            Y[i * t + k] *= s->root[i];
    return MERCER_OK;
}

mc_matrix mc_scaled_kernel_matrix(const mc_scaled_kernel *s) {
    return s->root ? (mc_matrix){.n = s->K.n, .apply = apply_scaled, .self = s} : s->K;
}

mercer_status mc_ridge_pcg_open_operators(mercer_ctx *ctx, mc_ridge_pcg_solver *s) {
    const mc_problem *p = s->r->p;
    MC_TRY(mc_gram_open(ctx, p->kernel, p->x, NULL, MERCER_F64, &s->exact));
    MC_TRY(mc_work_lay(ctx, &s->work, mc_ridge_pcg_lay_out, s));
    for (int64_t i = 0; i < s->n; i++)
        s->diagonal[i] = s->r->lambda;
    if (s->choice.stored ? p->outputs <= s->t : !s->r->intercept && s->t == p->outputs)
        MC_TRY(mc_cached_product_open(ctx, s->exact, p->outputs, &s->r->cached_product));
    return MERCER_OK;
}

/* K once in double, and products of it from memory; the cached product is then the last of them. */
static mercer_status store_kernel_matrix(mercer_ctx *ctx, mc_ridge_pcg_solver *s) {
    mc_begin_phase(ctx, "gram");
    MC_TRY(mc_stored_open(ctx, s->exact, s->t, true, &s->stored));
    mc_log_message(ctx, "pcg: half of K is kept in memory%s", mc_stored_is_split(s->stored) ? "" : " as floats");
    s->fast_scaled.K = mc_stored_matrix(s->stored);
    s->reduced_scaled = (mc_scaled_kernel){mc_stored_reduced_matrix(s->stored), s->r->p->root, s->V};
    if (!mc_stored_is_split(s->stored))
        return MERCER_OK;
    s->exact_scaled.K = mc_stored_split_matrix(s->stored);
    s->errors = s->exact_scaled.K.errors(s->stored, s->t);
    if (s->r->cached_product.V)
        mc_cached_product_use_matrix(&s->r->cached_product, &s->exact_scaled.K);
    return MERCER_OK;
}

/* What steps and residuals multiply by. */
mercer_status mc_ridge_pcg_open_products(mercer_ctx *ctx, mc_ridge_pcg_solver *s) {
    const mc_problem *p = s->r->p;
    const bool remembers = s->r->cached_product.V && !s->r->intercept && s->t == p->outputs;
    s->fast_scaled = (mc_scaled_kernel){.root = p->root, .V = s->V};
    const mc_matrix exact = mc_gram_matrix(s->exact);
    s->exact_scaled =
        (mc_scaled_kernel){remembers ? mc_cached_product_matrix(&s->r->cached_product) : exact, p->root, s->V};
    s->errors = exact.errors(exact.self, s->t);
    if (s->choice.stored && !s->r->trial)
        return store_kernel_matrix(ctx, s);
    MC_TRY(mc_gram_open(ctx, p->kernel, p->x, NULL, MERCER_F32, &s->fast));
    s->fast_scaled.K = mc_gram_matrix(s->fast);
    return MERCER_OK;
}

/* ---- The preconditioner ---- */

static mercer_status grow_low_rank_factor(mercer_ctx *ctx, mc_ridge_pcg_solver *s) {
    const mc_problem *p = s->r->p;
    const mc_ridge_pcg_plan plan = {.rank = s->choice.most, .stored = s->stored != NULL};
    mc_rank_rule rule = mc_ridge_pcg_rule(p, &plan, s->r->lambda, s->r->tolerance, s->t, s->r->rank_asked);
    rule.most_work = s->r->trial ? TRIAL * mc_ridge_direct_work(s->r->trial) : INFINITY;
    mc_begin_phase(ctx, "pivots");
    MC_TRY(mc_lowrank_open(ctx, &s->fast_scaled.K, p->root, ctx->options.seed, &s->f));
    mc_lowrank_share(ctx, s->f);
    return mc_rank_grow(ctx, &rule, s->f);
}

/* What the columns promise is weighed before anything else is made. */
static void price_steps(mercer_ctx *ctx, mc_ridge_pcg_solver *s) {
    const double gain = fmin(s->f->gain, s->f->trace_left); /* no eigenvalue is above the trace */
    s->expected = mc_rank_likely_steps(gain, s->r->lambda, s->r->tolerance);
    if (!s->r->trial)
        return;
    mc_ridge_size size = *s->r->trial;
    size.rank = s->f->rank;
    size.steps = s->expected;
    s->r->steps_worth = mc_ridge_steps_worth(&size);
    s->declined = !mc_ridge_steps_promise(&size);
    if (s->declined)
        mc_log_message(ctx, "pcg: %lld columns promise %.0f steps, which take longer than a factorisation",
                       (long long)s->f->rank, s->expected);
}

/* A trial that goes on: K is kept now, where it is to be. */
static mercer_status end_trial(mercer_ctx *ctx, mc_ridge_pcg_solver *s) {
    if (!s->r->trial || !s->choice.stored)
        return MERCER_OK;
    mc_gram_close(s->fast);
    s->fast = NULL;
    return store_kernel_matrix(ctx, s);
}

mercer_status mc_ridge_pcg_open_preconditioner(mercer_ctx *ctx, mc_ridge_pcg_solver *s) {
    MC_TRY(grow_low_rank_factor(ctx, s));
    price_steps(ctx, s);
    if (s->declined)
        return MERCER_OK;
    MC_TRY(end_trial(ctx, s));
    mc_begin_phase(ctx, "factor");
    MC_TRY(mc_precondition_open(ctx, s->f, s->r->lambda, s->t, &s->inverse));
    const double kappa = 1 + s->f->trace_left / s->r->lambda;
    s->r->rank = s->f->rank;
    s->r->iteration_bound = mc_pcg_iteration_bound(kappa, s->r->tolerance);
    mc_log_message(
        ctx,
        "pcg: %lld columns leave %.3g of the trace %.4g: condition number at most %.3g, at most %lld steps (about "
        "%.0f expected)",
        (long long)s->f->rank, s->f->trace_left, s->f->trace, kappa, (long long)s->r->iteration_bound, s->expected);
    return MERCER_OK;
}
