/* ridge.c: kernel ridge regression, the machine.

       min over f in H, b:  sum_i w_i (y_i - f(x_i) - b)^2 + lambda |f|^2

   attained at f = sum_i alpha_i k(x_i, .) with (K + lambda W^-1) alpha + b = y and sum alpha = 0 (b = 0 without an
   intercept). Several outputs share the matrix. Classes are fitted as one output per class, +1 on its rows and -1 on
   the others; the largest wins.

   Order of work: problem/problem.c makes rows and targets ready, ridge_cost.c picks a way to solve and says no while it
   is cheap, ridge_solve.c solves, certify/ridge_certificate.c recomputes the residual from the rows. */
#include "base/clock.h"
#include "base/ctx.h"
#include "base/memory.h"
#include "base/progress.h"
#include "base/status.h"
#include "base/workspace.h"
#include "data/table/columns.h"
#include "gram/operator/gram.h"
#include "kernel/language/kernel.h"
#include "learn/common/finish_fit.h"
#include "learn/ridge/approximate.h"
#include "certify/ridge_certificate.h"
#include "learn/common/landmarks.h"
#include "learn/common/machines.h"
#include "iterative/preconditioner_rank.h"
#include "learn/ridge/ridge_mixed_precision.h"
#include "learn/common/estimate_cg_steps.h"
#include "learn/ridge/ridge_pcg.h"
#include "learn/ridge/ridge_primal.h"
#include "learn/ridge/ridge_system.h"
#include "learn/ridge/ridge_cost.h"
#include "plan/speed.h"
#include <math.h>
#include <string.h>

const mercer_setting mc_ridge_settings[MC_RIDGE_SETTINGS] = {
    MC_REAL_ROW(mercer_ridge, lambda, "lambda", 1, 0, 1e100,
                "regularization: weight of the penalty, added to the diagonal of K; 0: the minimum-norm least-squares "
                "function"),
    MC_REAL_ROW(mercer_ridge, norm_bound, "norm-bound", INFINITY, 1e-100, INFINITY,
                "upper bound on the norm of the function, from which lambda is computed; inf: none"),
    MC_REAL_ROW(mercer_ridge, dof, "dof", 0, 0, 1e15,
                "effective degrees of freedom, from which lambda is computed; 0: not set"),
    MC_FLAG_ROW(mercer_ridge, intercept, "intercept", 0, "fit an intercept, which is not penalized"),
    MC_SCALE_ROW(mercer_ridge),
    MC_TEXT_ROW(mercer_ridge, solver, "solver", "auto", "auto|cholesky|mixed|eigen|pcg|primal|nystrom|fourier",
                "solver of the linear system; auto: cholesky (mixed, with a factor in float, for many rows), primal "
                "when the kernel has few features, eigen when lambda is 0, pcg when it is expected to be faster or "
                "memory does not suffice; nystrom and fourier are approximations"),
    MC_REAL_ROW(
        mercer_ridge, tolerance, "tolerance", 1e-6, 1e-14, 0.5,
        "pcg, nystrom: relative residual to reach; 5e-7 or smaller where auto takes pcg in place of a factorisation"),
    MC_INTEGER_ROW(
        mercer_ridge, rank, "rank", 0, 0, 1e6,
        "pcg: rank of the preconditioner; nystrom: number of landmarks; fourier: number of frequencies; 0: automatic"),
    MC_TEXT_ROW(mercer_ridge, landmarks, "landmarks", "pivots", NULL,
                "nystrom: pivots (randomly pivoted Cholesky), uniform, a number of pivots, row numbers from 1 "
                "separated by commas, or a file of them"),
    MC_TEXT_ROW(mercer_ridge, checkpoint, "checkpoint", "", NULL,
                "pcg: checkpoint file, from which the same command resumes a long fit"),
    MC_FLAG_ROW(mercer_ridge, loo, "loo", 0, "leave-one-out error in closed form; doubles the work of cholesky"),
    MC_FLAG_ROW(mercer_ridge, allow_indefinite, "allow-indefinite", 0,
                "fit although the kernel is not proved to be positive definite"),
};

/* ---- The plan ---- */

static mercer_status prepare_ridge(mercer_ctx *ctx, const void *settings, const mercer_kernel *kernel,
                                   const mercer_data *data, mc_problem *out) {
    const mercer_ridge *set = settings;
    MC_TRY(mc_ridge_check_settings(ctx, set));
    return mc_problem_open(ctx, set->scale, mc_admission_of(set->allow_indefinite, set->intercept), kernel, data, out);
}

/* What conjugate gradients may take is what is left beside the vectors that every way has. */
static mc_ridge_pcg_plan pcg_of(mercer_ctx *ctx, const mercer_ridge *set, const mc_problem *p) {
    mc_ridge_pcg_plan plan;
    const size_t left = mc_memory_left(ctx), held = mc_ridge_always_bytes(p->n, p->outputs);
    mc_ridge_pcg_size(ctx, p, p->outputs + set->intercept, set->rank, left > held ? left - held : 0, &plan);
    return plan;
}

typedef struct nystrom_size {
    mercer_ctx *ctx;
    const mc_problem *p;
    int64_t t;
} nystrom_size;

static size_t nystrom_of_landmarks_bytes(const void *arg, int64_t landmarks) {
    const nystrom_size *s = arg;
    return mc_nystrom_bytes(s->ctx, s->p, landmarks, s->t);
}

/* The most landmarks that fit: for the message when nothing exact does. */
static int64_t nystrom_within(mercer_ctx *ctx, const mc_problem *p, int64_t t, size_t left) {
    return mc_most_within(nystrom_of_landmarks_bytes, &(nystrom_size){ctx, p, t}, mc_rank_cap(p->n), left);
}

/* A limit that leaves time for many factorisations, at any speed one may meet, changes nothing. */
static bool is_limited(const mercer_ctx *ctx, int64_t n) {
    static const double SLOW = 1e-9; /* seconds for an operation */
    return mc_time_left(ctx) < SLOW * mc_factor_work((double)n);
}

/* What keeps a device from it is said where it is used. */
static bool is_factored_on_device(mercer_ctx *ctx, const mc_problem *p, int64_t columns) {
    bool there = false;
    if (mc_gram_forecast_algebra(ctx, p->kernel, p->x, mc_factor_work((double)p->n),
                                 mc_ridge_factor_bytes(p->n, columns), &there))
        mc_clear_failure(ctx);
    return there;
}

static mc_ridge_size size_of(mercer_ctx *ctx, const mercer_ridge *set, const mc_problem *p) {
    mc_ridge_size size = {.n = p->n, .outputs = p->outputs, .lambda = set->lambda, .loo = set->loo};
    if (mc_ridge_finds_lambda(set))
        size.lambda = 0; /* it may turn out so: the way must be one that takes it */
    size.matrix_bytes = mc_gram_bytes(ctx, p->kernel, p->x, NULL, MERCER_F64, 0);
    size.product_bytes = mc_gram_bytes(ctx, p->kernel, p->x, NULL, MERCER_F64, mc_certify_columns_most(p->outputs));
    size.pcg = pcg_of(ctx, set, p);
    size.d = p->x->d;
    size.features = mc_problem_features(p, p->n);
    size.threads = mercer_threads(ctx);
    size.stationary = mc_shape_of_node(p->kernel->root, p->x->d).stationary;
    size.has_checkpoint = *set->checkpoint != '\0';
    const int64_t t = p->outputs + set->intercept;
    size.nystrom = mc_nystrom_bytes(ctx, p, mc_landmarks_count(set->landmarks, p->n, set->rank), t);
    size.fourier = mc_fourier_fit_bytes(ctx, p, set->rank, t);
    size.mixed = mc_ridge_mixed_bytes(ctx, p, t);
    size.row = (double)mercer_data_stored(p->x) / (double)p->n;
    size.rank = size.pcg.rank;
    size.steps = MC_PCG_TYPICAL_STEPS;
    size.intercept = set->intercept;
    size.proved = p->proved;
    size.landmarks = mc_nystrom_count(p->n, mc_landmarks_count(set->landmarks, p->n, set->rank));
    size.frequencies = mc_fourier_count(p->n, set->rank);
    size.nystrom_rank = nystrom_within(ctx, p, t, mc_memory_left(ctx));
    size.factored_there = is_factored_on_device(ctx, p, t);
    size.direct_fits = mc_ridge_direct_fits(ctx, &size);
    size.has_time_limit = is_limited(ctx, p->n);
    const bool in_place = strcmp(set->solver, "auto") == 0 && !size.has_checkpoint && size.direct_fits;
    size.tolerance = in_place ? fmin(set->tolerance, MC_RIDGE_CLOSE) : set->tolerance;
    return size;
}

/* The steps of conjugate gradients depend on the spectrum, which a sample of rows shows. */
static mercer_status estimate_cg_steps(mercer_ctx *ctx, const mercer_ridge *set, const mc_problem *p,
                                       mc_ridge_size *size) {
    const mc_rank_rule rule =
        mc_ridge_pcg_rule(p, &size->pcg, set->lambda, size->tolerance, p->outputs + set->intercept, set->rank);
    return size->lambda > 0 ? mc_estimate_cg_steps(ctx, p, &rule, &size->rank, &size->steps) : MERCER_OK;
}

/* Whether entries of K come from elsewhere: nobody knows then what they cost, and a factorisation asks for each of them
   once. */
static bool is_opaque(const mc_node *node) {
    bool opaque = node->kind == MC_ATOM && mc_atoms[node->atom].opaque;
    for (int i = 0; i < node->children; i++)
        opaque = opaque || is_opaque(node->child[i]);
    return opaque;
}

/* What the choice needs to know. Named solvers are not chosen, and few rows are factored. */
static mercer_status size_up(mercer_ctx *ctx, const mercer_ridge *set, const mc_problem *p, mc_ridge_size *size) {
    *size = size_of(ctx, set, p);
    const bool automatic = strcmp(set->solver, "auto") == 0;
    const bool open = automatic && !size->loo && size->lambda > 0 && !is_opaque(p->kernel->root);
    const bool weighed = open && size->features < 0;
    size->steps_estimated = weighed && p->n >= MC_RIDGE_MANY;
    size->on_trial = weighed && p->n >= MC_RIDGE_FEW && p->n < MC_RIDGE_MANY && !size->has_time_limit;
    size->on_trial = size->on_trial && size->direct_fits && mc_ridge_trial_fits(ctx, size);
    return size->steps_estimated ? estimate_cg_steps(ctx, set, p, size) : MERCER_OK;
}

/* By what is known at once; the price has the last word. */
static void rank_ridge_solvers(mercer_ctx *ctx, const void *settings, const mc_problem *problem,
                               mc_solver_options *out) {
    const mercer_ridge *set = settings;
    const mc_ridge_size size = size_of(ctx, set, problem);
    mc_ridge_rank_solvers(ctx, &size, set->solver, out);
}

/* How long each way would take, and the choice that a fit makes. */
static mercer_status price_ridge_solvers(mercer_ctx *ctx, const void *settings, const mc_problem *p,
                                         mc_solver_options *options) {
    const mercer_ridge *set = settings;
    mc_ridge_size size;
    mc_speed speed;
    MC_TRY(size_up(ctx, set, p, &size));
    MC_TRY(mc_speed_measure(ctx, p, &speed));
    if (!size.steps_estimated)
        MC_TRY(estimate_cg_steps(ctx, set, p, &size));
    size.steps_estimated = size.steps_estimated || size.on_trial;
    mc_ridge_rank_solvers(ctx, &size, set->solver, options);
    mc_speed_price(&speed, options);
    mc_ridge_in_time(ctx, options);
    return MERCER_OK;
}

/* ---- The fit ---- */

void mc_ridge_right_hand_sides(mc_ridge_system *r) {
    const mc_problem *p = r->p;
    const int64_t n = p->n, outputs = p->outputs;
    if (r->intercept)
        mc_problem_means(p, r->mean);
    for (int64_t i = 0; i < n; i++) {
        const double s = p->root ? p->root[i] : 1;
        for (int64_t k = 0; k < outputs; k++)
            r->X[i * r->columns + k] = s * (p->Y[i * outputs + k] - r->mean[k]);
        if (r->intercept)
            r->X[i * r->columns + outputs] = s;
    }
}

typedef mercer_status ridge_solver(mercer_ctx *ctx, mc_ridge_system *r);

static ridge_solver *ridge_solver_of(const char *solver) {
    static const struct {
        const char *name;
        ridge_solver *ridge_solver;
    } solvers[] = {{"cholesky", mc_ridge_cholesky},
                   {"eigen", mc_ridge_eigen},
                   {"pcg", mc_ridge_pcg},
                   {"primal", mc_ridge_primal},
                   {"mixed", mc_ridge_mixed}};
    size_t i = 0;
    while (strcmp(solvers[i].name, solver) != 0) /* ridge_cost.c names none but these */
        i++;
    return solvers[i].ridge_solver;
}

static mercer_status solve_ridge_system(mercer_ctx *ctx, mc_ridge_system *r) {
    const int64_t n = r->p->n;
    mercer_status status = MC_ALLOC(ctx, r->X, n * r->columns);
    if (!status)
        status = MC_ALLOC(ctx, r->mean, r->p->outputs);
    if (!status) {
        mc_ridge_right_hand_sides(r);
        mc_log_message(ctx, "ridge: %s on %lld rows, %lld outputs", r->solver, (long long)n, (long long)r->p->outputs);
        status = ridge_solver_of(r->solver)(ctx, r);
    }
    mc_free(r->X);
    mc_free(r->mean);
    return status;
}

static mercer_status check_finite(mercer_ctx *ctx, const mc_problem *p, const mc_fitted *f) {
    const double *answer = f->primal ? f->primal : f->alpha;
    if (mc_first_not_finite(MERCER_F64, answer, (f->primal ? f->features : p->n) * p->outputs) < 0
        && mc_first_not_finite(MERCER_F64, f->intercept, p->outputs) < 0)
        return MERCER_OK;
    return mc_fail(ctx, MERCER_NUMERIC,
                   "ridge: the coefficients left the range of a double; rescale the target or the kernel");
}

static void write_report(const mc_problem *p, const mc_ridge_system *r, const mc_residual_findings *found,
                         mercer_report *out) {
    *out = (mercer_report){.machine = "ridge", .solver = r->solver, .scale = mc_scaling_names[p->scale.kind]};
    out->n = p->n;
    out->d = mc_data_width(p->x);
    out->outputs = p->outputs;
    out->lambda = r->lambda;
    out->norm = found->norm;
    out->objective = found->objective;
    out->loo_rmse = r->loo_rmse;
    out->dof = r->dof_found;
    out->gcv = r->gcv;
    out->rank = r->rank;
    out->iterations = r->iterations;
    out->iteration_bound = r->iteration_bound;
    out->stopped = r->stopped;
    out->log_evidence = out->loo_log_density = NAN;
    out->certificate = found->certificate;
}

/* An answer whose measured residual is a good part of the target is none: lambda is so small beside the rounding of K
   that alpha = (y - f)/lambda is made of it. Where a few products with K cost little, the error names a lambda that
   would do. */
static mercer_status check_residual(mercer_ctx *ctx, const mc_ridge_system *r, const mc_residual_findings *found) {
    enum { CHEAP = 20000 };
    const mercer_certificate *c = &found->certificate;
    const double measured = c->residual > 0 ? (1 - c->rounding / c->residual) * c->residual_relative : 0;
    const bool cut = strcmp(r->stopped, "time") == 0 || strcmp(r->stopped, "caller") == 0;
    if (measured < fmax(0.1, 1.1 * r->tolerance) || cut || r->lambda == 0)
        return MERCER_OK;
    const bool cheap = r->p->proved && r->p->n <= CHEAP && !r->weights;
    const mercer_status status = cheap ? mc_ridge_refuse(ctx, r) : MERCER_MEMORY;
    if (status != MERCER_MEMORY)
        return status;
    return mc_fail(
        ctx, MERCER_NUMERIC,
        "ridge: lambda = %g is lost in the rounding of K: the answer misses its own equations by %.2g of the target; "
        "raise lambda",
        r->lambda, measured);
}

/* Coefficients of the rows, or weights of the features, which keep no row. */
static mercer_status allocate_fitted(mercer_ctx *ctx, const mc_problem *p, bool weights, mc_fitted *f) {
    f->outputs = p->outputs;
    f->features = weights ? mc_problem_features(p, p->n) : 0;
    if (weights)
        MC_TRY(MC_ALLOC(ctx, f->primal, f->features * p->outputs));
    MC_TRY(MC_ALLOC(ctx, f->alpha, weights ? 0 : p->n * p->outputs));
    return MC_ALLOC(ctx, f->intercept, p->outputs);
}

static mercer_status certify_ridge(mercer_ctx *ctx, const mc_ridge_system *r, mc_residual_findings *found) {
    const bool cut = strcmp(r->stopped, "no") != 0; /* stopped once already: what is left is done whole */
    mc_begin_phase(ctx, "check");
    if (cut)
        mc_shield_from_stop(ctx, true);
    const mercer_status status =
        r->weights
            ? mc_certify_weights(ctx, r->p, r->lambda, r->intercept, r->weights, r->b, found)
            : mc_certify_with_product(ctx, r->p, r->lambda, r->intercept, r->alpha, r->b, &r->cached_product, found);
    if (cut)
        mc_shield_from_stop(ctx, false);
    return status;
}

/* Where the degrees of freedom came without the residuals. */
static void find_gcv(mc_ridge_system *r, const mc_residual_findings *found) {
    const double n = (double)r->p->n, left = n - r->dof_found;
    double weight = 0;
    if (!isnan(r->gcv) || !(left > 0))
        return;
    for (int64_t i = 0; i < r->p->n; i++)
        weight += mc_problem_weight(r->p, i);
    r->gcv = found->loss / weight / (double)r->p->outputs * (n / left) * (n / left);
}

/* Steps of conjugate gradients before a factorisation, which fits as well, is taken instead; 0: it does not, or they
   were asked for. */
static int64_t steps_worth(const mc_ridge_size *size, const mc_solver_options *options) {
    const bool pcg = strcmp(options->option[options->chosen].solver, "pcg") == 0;
    const bool free_choice =
        options->automatic && size->steps_estimated && !size->has_checkpoint && !size->has_time_limit;
    return pcg && free_choice && size->direct_fits ? mc_ridge_steps_worth(size) : 0;
}

static mc_ridge_system system_of(const mercer_ridge *set, const mc_problem *p, const mc_ridge_size *size,
                                 const mc_solver_options *options, const mc_fitted *f) {
    mc_ridge_system r = {.p = p, .lambda = set->lambda, .intercept = set->intercept, .loo = set->loo, .loo_rmse = NAN};
    r.dof_found = r.gcv = NAN;
    r.columns = p->outputs + set->intercept;
    r.tolerance = size->tolerance;
    r.rank_asked = set->rank;
    r.checkpoint = set->checkpoint;
    r.norm_bound = set->norm_bound;
    r.dof = set->dof;
    r.stopped = "no";
    r.solver = options->option[options->chosen].solver;
    r.steps_worth = steps_worth(size, options);
    r.trial = size->on_trial && options->automatic && strcmp(r.solver, "pcg") == 0 ? size : NULL;
    r.alpha = f->alpha;
    r.weights = f->primal;
    r.b = f->intercept;
    return r;
}

static mercer_status solve_and_check(mercer_ctx *ctx, mc_ridge_system *r, mc_fitted *f) {
    MC_TRY(solve_ridge_system(ctx, r));
    MC_TRY(check_finite(ctx, r->p, f));
    mc_residual_findings found;
    MC_TRY(certify_ridge(ctx, r, &found));
    MC_TRY(check_residual(ctx, r, &found));
    find_gcv(r, &found);
    write_report(r->p, r, &found, &f->report);
    return MERCER_OK;
}

/* Solve p into f's coefficients and report. */
static mercer_status learn_exactly(mercer_ctx *ctx, const mercer_ridge *set, mc_problem *p, const mc_ridge_size *size,
                                   const mc_solver_options *options, mc_fitted *f) {
    MC_TRY(allocate_fitted(ctx, p, strcmp(options->option[options->chosen].solver, "primal") == 0, f));
    mc_ridge_system r = system_of(set, p, size, options, f);
    const mercer_status status = solve_and_check(ctx, &r, f);
    mc_cached_product_close(&r.cached_product);
    return !status && f->primal ? mc_problem_drop_rows(ctx, p) : status;
}

static void say_hurry(mercer_ctx *ctx, const mc_solver_options *options) {
    for (int i = 0; i < options->count; i++)
        if (options->option[i].possible)
            mc_log_message(ctx, "plan: %s would take about %.2g s of the %.2g s there are", options->option[i].solver,
                           options->option[i].seconds, mc_time_left(ctx));
}

static mercer_status learn_ridge(mercer_ctx *ctx, const mercer_ridge *set, mc_problem *p, mc_fitted *f) {
    mc_ridge_size size;
    MC_TRY(size_up(ctx, set, p, &size));
    mc_solver_options options;
    mc_ridge_rank_solvers(ctx, &size, set->solver, &options);
    if (ctx->options.time_limit > 0 && options.automatic) {
        MC_TRY(price_ridge_solvers(ctx, set, p, &options));
        say_hurry(ctx, &options);
    }
    MC_TRY(mc_ridge_allow(ctx, &size, &options));
    const mc_solver_option *chosen = &options.option[options.chosen];
    const char *solver = chosen->solver;
    ctx->device.pairs = chosen->pairs + chosen->fast;
    const bool fourier = strcmp(solver, "fourier") == 0;
    return fourier || strcmp(solver, "nystrom") == 0 ? mc_ridge_approximate(ctx, set, p, fourier, f)
                                                     : learn_exactly(ctx, set, p, &size, &options, f);
}

static mercer_status fit_ridge(mercer_ctx *ctx, const void *settings, const mercer_kernel *kernel,
                               const mercer_data *data, mc_fitted *out) {
    const double began = mc_clock_seconds();
    *out = (mc_fitted){0};
    mc_problem p;
    MC_TRY(prepare_ridge(ctx, settings, kernel, data, &p));
    const mercer_status status = learn_ridge(ctx, settings, &p, out);
    return mc_finish_fit(status, out, &p, began);
}

const mc_learner mc_ridge_learner = {.fit = fit_ridge,
                                     .plan = {prepare_ridge, rank_ridge_solvers, price_ridge_solvers}};
