/* gp.c: Gaussian process regression, the machine.

       f ~ GP(0, k),  y_i = m + f(x_i) + e_i,  e_i ~ N(0, noise / w_i),  m the weighted mean of the target (0 without an
       intercept)

   The posterior mean is ridge regression with lambda = noise, so the coefficients and the certificate are ridge's. What
   is new is the choice of the kernel's parameters and of the noise that maximize the evidence (gp_search.c). A
   weight w_i says how precise a row is: its noise has the variance noise / w_i.

   An expression without a factor of its own gets one before learning: rbf becomes c*rbf, since a process of fixed size
   fits no target but one of that size. With ard, every bandwidth becomes one per column. The kernel that was found is
   the model's kernel. */
#include "base/clock.h"
#include "base/ctx.h"
#include "base/memory.h"
#include "base/progress.h"
#include "base/sort.h"
#include "base/status.h"
#include "data/table/columns.h"
#include "gram/gradient/contract_device.h"
#include "learn/common/finish_fit.h"
#include "learn/gp/evidence_estimate.h"
#include "learn/gp/gp_learn.h"
#include "learn/common/machines.h"
#include "learn/ridge/ridge_pcg.h"
#include "learn/ridge/ridge_system.h"
#include "linalg/cholesky.h"
#include <math.h>
#include <string.h>

const mercer_setting mc_gp_settings[MC_GP_SETTINGS] = {
    MC_REAL_ROW(mercer_gp, noise, "noise", -1, -1, 1e100,
                "noise variance; 0: noise-free, which needs distinct rows; negative: learned together with the kernel"),
    MC_FLAG_ROW(mercer_gp, learn, "learn", 1,
                "learn the kernel's parameters by maximizing the evidence (log marginal likelihood)"),
    MC_FLAG_ROW(mercer_gp, ard, "ard", 0, "one length scale per column (automatic relevance determination)"),
    MC_INTEGER_ROW(mercer_gp, restarts, "restarts", 2, 0, 1000,
                   "additional optimizer runs from random starting points"),
    MC_INTEGER_ROW(mercer_gp, iterations, "iterations", 200, 1, 1e6, "maximum number of steps per optimizer run"),
    MC_FLAG_ROW(mercer_gp, intercept, "intercept", 1, "subtract the mean of the target first"),
    MC_SCALE_ROW(mercer_gp),
    MC_FLAG_ROW(mercer_gp, loo, "loo", 0,
                "compute leave-one-out error and log density; always done when parameters are learned"),
    MC_FLAG_ROW(mercer_gp, exact, "exact", 0,
                "learn from all rows, however many; otherwise, beyond 10000 rows, parameters are learned on about 2000 "
                "rows and the posterior is that of as many rows as work in proportion to the data allows"),
};

enum { ESTIMATES = 20 };              /* of the evidence that a search from a good start takes, most often */
static const double TOLERANCE = 5e-7; /* of the residual of the coefficients, where they come by steps */

/* ---- The target ---- */

/* Take the weighted mean off Y where there is an intercept; the variance of what is left, over all outputs (1 when it
   is 0). */
static mercer_status centre_targets(mercer_ctx *ctx, const mercer_gp *set, mc_problem *p, double *mean,
                                    double *variance) {
    double squares = 0, total = 0;
    if (set->intercept)
        mc_problem_means(p, mean);
    MC_TRY(mc_problem_centre(ctx, p, mean));
    for (int64_t i = 0; i < p->n * p->outputs; i++) {
        const double w = mc_problem_weight(p, i / p->outputs);
        squares += w * p->Y[i] * p->Y[i];
        total += w;
    }
    *variance = squares > 0 ? squares / total : 1;
    return MERCER_OK;
}

/* ---- No noise ---- */

static int by_values(const void *arg, int64_t a, int64_t b) {
    const mercer_data *x = arg;
    for (int64_t j = 0; j < x->d; j++) {
        const double u = mc_data_value(x, a, j), v = mc_data_value(x, b, j);
        if (u != v)
            return u < v ? -1 : 1;
    }
    return 0;
}

/* Without noise two equal rows make K singular, whatever the kernel; rounding may hide that from the factorisation. */
static mercer_status refuse_duplicate_rows(mercer_ctx *ctx, const mc_problem *p) {
    int64_t *order = NULL, pair = -1;
    MC_TRY(MC_ALLOC(ctx, order, 2 * p->n));
    for (int64_t i = 0; i < p->n; i++)
        order[i] = i;
    mc_sort(order, order + p->n, p->n, by_values, p->x);
    for (int64_t i = 1; i < p->n && pair < 0; i++)
        pair = by_values(p->x, order[i - 1], order[i]) == 0 ? i : -1;
    const long long first = pair < 0 ? 0 : order[pair - 1] + 1, second = pair < 0 ? 0 : order[pair] + 1;
    mc_free(order);
    return pair < 0 ? MERCER_OK
                    : mc_fail(ctx, MERCER_NUMERIC,
                              "gp: rows %lld and %lld are equal, so that K is singular and noise 0 leaves no answer; "
                              "give a positive "
                              "noise, or none to have it learned",
                              first, second);
}

/* ---- The fit ---- */

typedef struct gp_work {
    const mercer_gp *set;
    mc_problem *p;
    mc_fitted *f;
    double *mean;
    mc_evidence *evidence;
    bool estimated; /* the evidence; the coefficients are those of conjugate gradients */
    double noise, value, error, density, loo_rmse;
    int64_t evaluations, rank;
    mercer_status stopped; /* TIME or CANCELLED: the best point so far was taken */
} gp_work;

static bool learns_kernel(const mercer_gp *set) {
    return set->learn || set->noise < 0;
}

static mercer_status choose_parameters(mercer_ctx *ctx, gp_work *w, double variance) {
    mercer_kernel *widened = NULL;
    MC_TRY(mc_gp_extend_kernel(ctx, w->set, variance, w->p, &widened));
    mercer_kernel_free(w->p->kernel);
    w->p->kernel = widened;
    w->noise = w->set->noise >= 0 ? w->set->noise : 0.1 * variance;
    const mc_gp_search search = {.learn_kernel = w->set->learn,
                                 .learn_noise = w->set->noise < 0,
                                 .restarts = w->set->restarts,
                                 .iterations_max = w->set->iterations,
                                 .seed = ctx->options.seed,
                                 .estimated = w->estimated,
                                 .scale = variance,
                                 .x = w->p->x};
    if (!search.learn_kernel && !search.learn_noise)
        return MERCER_OK;
    mc_begin_phase(ctx, "evidence");
    mc_gp_found found;
    const mercer_status status = mc_gp_learn(ctx, w->p, w->evidence, w->noise, &search, &found);
    if (found.kernel) {
        mercer_kernel_free(w->p->kernel);
        w->p->kernel = found.kernel;
        w->noise = found.noise;
    }
    w->evaluations = found.evaluations;
    if (!found.kernel || !isfinite(found.value))
        return status;
    w->stopped = mc_stop_taken(ctx); /* stopped on the way: the best point so far is settled all the same */
    return w->stopped ? MERCER_OK : status;
}

/* alpha by conjugate gradients to the tolerance of ridge. */
static mercer_status solve_by_steps(mercer_ctx *ctx, gp_work *w) {
    const mc_problem *p = w->p;
    double none[MC_ESTIMATED_OUTPUTS] = {0};
    mc_ridge_system r = {.p = p,
                         .lambda = w->noise,
                         .columns = p->outputs,
                         .alpha = w->f->alpha,
                         .b = none,
                         .mean = none,
                         .tolerance = TOLERANCE,
                         .checkpoint = "",
                         .solver = "pcg",
                         .stopped = "no",
                         .norm_bound = INFINITY};
    MC_TRY(MC_ALLOC(ctx, r.X, p->n * p->outputs));
    mc_ridge_right_hand_sides(&r);
    const mercer_status status = mc_ridge_pcg(ctx, &r);
    mc_cached_product_close(&r.cached_product);
    mc_free(r.X);
    w->rank = r.rank;
    if (!status && strcmp(r.stopped, "no") != 0)
        w->stopped = mc_stop_taken(ctx);
    return status;
}

/* The mean, certified as ever, and the evidence with its error. */
static mercer_status estimate_at_optimum(mercer_ctx *ctx, gp_work *w) {
    mc_begin_phase(ctx, "evidence");
    MC_TRY(mc_evidence_value(ctx, w->evidence, w->p->kernel, w->noise, &w->value, NULL));
    if (!isfinite(w->value))
        return mc_fail(
            ctx, MERCER_NUMERIC,
            "gp: conjugate gradients do not come to an end at noise %g beside a K of this size; give a larger "
            "--noise, or fewer rows",
            w->noise);
    w->error = mc_evidence_error(w->evidence);
    for (int64_t i = 0; i < w->p->n; i++)
        w->f->noise[i] = w->noise / mc_problem_weight(w->p, i);
    MC_TRY(solve_by_steps(ctx, w));
    for (int64_t i = 0; i < w->p->n * w->p->outputs; i++) /* y'A^-1 y without the rounding of floats in A */
        w->value -= 0.5 * w->p->Y[i] * (w->f->alpha[i] - mc_evidence_alpha(w->evidence)[i]);
    return MERCER_OK;
}

/* The evidence at what was chosen; its coefficients are the answer. */
static mercer_status solve_at_optimum(mercer_ctx *ctx, gp_work *w) {
    if (w->estimated)
        return estimate_at_optimum(ctx, w);
    mc_gram *gram = NULL;
    mc_begin_phase(ctx, "factor");
    MC_TRY(mc_problem_gram_open(ctx, w->p, &gram));
    mc_evidence_lend(w->evidence, gram);
    const mercer_status status = mc_evidence_value(ctx, w->evidence, w->p->kernel, w->noise, &w->value, NULL);
    mc_evidence_lend(w->evidence, NULL);
    mc_problem_gram_close(w->p, gram);
    MC_TRY(status);
    if (!isfinite(w->value))
        return mc_fail(
            ctx, MERCER_NUMERIC,
            "gp: K + noise I is not positive definite in double precision at noise %g; give a larger --noise",
            w->noise);
    if (w->set->loo || learns_kernel(w->set))
        MC_TRY(mc_evidence_leave_one_out(ctx, w->evidence, &w->density, &w->loo_rmse));
    const int64_t count = w->p->n * w->p->outputs;
    for (int64_t i = 0; i < count; i++)
        w->f->alpha[i] = mc_evidence_alpha(w->evidence)[i];
    for (int64_t i = 0; i < w->p->n; i++)
        w->f->noise[i] = w->p->root ? w->noise / (w->p->root[i] * w->p->root[i]) : w->noise;
    return MERCER_OK;
}

static void write_report(const gp_work *w, const mc_residual_findings *found, mercer_report *out) {
    const mc_problem *p = w->p;
    *out = (mercer_report){.machine = "gp",
                           .solver = w->estimated ? "pcg" : "cholesky",
                           .scale = mc_scaling_names[p->scale.kind],
                           .n = p->n,
                           .d = mc_data_width(p->x)};
    out->outputs = p->outputs;
    out->lambda = w->noise;
    out->norm = found->norm;
    out->objective = found->objective;
    out->loo_rmse = w->loo_rmse;
    out->iterations = w->evaluations;
    out->rank = w->estimated ? w->rank : p->n;
    out->stopped = w->stopped == MERCER_TIME ? "time" : w->stopped ? "caller" : "no";
    out->log_evidence = w->value;
    out->log_evidence_error = w->error;
    out->loo_log_density = w->density;
    out->dof = out->gcv = NAN;
    out->certificate = found->certificate;
}

/* Coefficients and certificate at the chosen point. */
static mercer_status certify_gp(mercer_ctx *ctx, gp_work *w) {
    mc_problem *p = w->p;
    MC_TRY(solve_at_optimum(ctx, w));
    mc_evidence_close(w->evidence);
    w->evidence = NULL;
    mc_problem_restore(p);
    mc_begin_phase(ctx, "check");
    mc_residual_findings found;
    MC_TRY(mc_certify_squared_loss(ctx, p, w->noise, false, w->f->alpha, w->f->intercept, &found));
    write_report(w, &found, &w->f->report);
    return MERCER_OK;
}

static mercer_status learn_gp(mercer_ctx *ctx, gp_work *w) {
    mc_problem *p = w->p;
    w->f->outputs = p->outputs;
    MC_TRY(MC_ALLOC(ctx, w->f->alpha, p->n * p->outputs));
    MC_TRY(MC_ALLOC(ctx, w->f->intercept, p->outputs));
    MC_TRY(MC_ALLOC(ctx, w->f->noise, p->n));
    w->mean = w->f->intercept;
    double variance;
    MC_TRY(centre_targets(ctx, w->set, p, w->mean, &variance));
    if (w->set->noise == 0)
        MC_TRY(refuse_duplicate_rows(ctx, p));
    MC_TRY(w->estimated ? mc_evidence_open_estimated(ctx, p, ctx->options.seed, &w->evidence)
                        : mc_evidence_open(ctx, p->x, p->outputs, p->Y, p->root, &w->evidence));
    MC_TRY(choose_parameters(ctx, w, variance));
    if (!w->stopped)
        return certify_gp(ctx, w);
    mc_shield_from_stop(ctx, true); /* stopped already: what is left is done whole */
    const mercer_status status = certify_gp(ctx, w);
    mc_shield_from_stop(ctx, false);
    return status;
}

/* Whether a device makes and factors the covariance; what keeps it from that is said where it is used. */
static bool is_factored_on_device(mercer_ctx *ctx, const mercer_gp *set, const mc_problem *p) {
    bool there = false;
    if (!mc_device_contracts(p->kernel, p->x))
        return false;
    if (mc_gram_forecast_algebra(ctx, p->kernel, p->x, mc_evidence_operations(p->n, learns_kernel(set)),
                                 mc_evidence_device_bytes(p->n, p->outputs), &there))
        mc_clear_failure(ctx);
    return there;
}

static size_t bytes_of(mercer_ctx *ctx, const mercer_gp *set, const mc_problem *p) {
    const size_t triangle =
        is_factored_on_device(ctx, set, p) ? (size_t)mc_packed_count(p->n) * sizeof(double) : 0; /* not here */
    return mc_gram_bytes(ctx, p->kernel, p->x, NULL, MERCER_F64, mc_certify_columns_most(p->outputs))
           + mc_evidence_bytes(p->n, p->outputs) - triangle + mc_certify_bytes(p->n, p->outputs)
           + mc_gram_contract_bytes(ctx, p->kernel, p->x) + mc_gp_learn_bytes(p, false)
           + (size_t)(p->n * (p->x->d + 2 * p->outputs + 1)) * sizeof(double);
}

/* Where the evidence is estimated. */
static size_t estimated_bytes(mercer_ctx *ctx, const mc_problem *p) {
    mc_ridge_pcg_plan plan;
    mc_ridge_pcg_size(ctx, p, p->outputs, 0, mc_memory_left(ctx), &plan);
    const size_t estimate = mc_estimate_evidence_bytes(ctx, p), check = mc_certify_bytes(p->n, p->outputs);
    return (plan.bytes > estimate ? plan.bytes : estimate) + check + mc_gp_learn_bytes(p, true)
           + (size_t)(p->n * (p->x->d + 3 * p->outputs + 1)) * sizeof(double);
}

static bool can_be_estimated(const mercer_gp *set, const mc_problem *p) {
    return set->noise != 0 && !set->loo && p->outputs <= MC_ESTIMATED_OUTPUTS && !mc_kernel_precomputed(p->kernel);
}

static double estimate_work(const mercer_gp *set, const mc_problem *p) {
    const double d = (double)mercer_data_stored(p->x) / (double)p->n;
    const double step = mc_rank_step(p->n, mc_rank_entry(d), mc_estimate_evidence_columns(p)) / 2; /* in floats */
    return (learns_kernel(set) ? ESTIMATES : 1) * MC_PCG_TYPICAL_STEPS * step;
}

static double exact_factors(const mercer_gp *set, const mc_problem *p) {
    return learns_kernel(set) ? 3 * mc_gp_learn_evaluations(p->n, set->restarts) : set->loo ? 2 : 1;
}

/* Rows up to which thirty factorisations on a card are shorter than as many estimates. */
enum { ROWS_OF_CARD = 65536 };

/* Of many rows, where it is shorter, and where there is no memory for a factorisation; counted, not timed. */
static bool is_estimated(mercer_ctx *ctx, const mercer_gp *set, const mc_problem *p) {
    const bool shorter =
        p->n > MC_GP_ROWS && estimate_work(set, p) < exact_factors(set, p) * mc_factor_work((double)p->n);
    return can_be_estimated(set, p)
           && ((shorter && !(p->n <= ROWS_OF_CARD && is_factored_on_device(ctx, set, p)))
               || bytes_of(ctx, set, p) > mc_memory_left(ctx));
}

static mercer_status check_target(mercer_ctx *ctx, const mercer_data *data) {
    if (!data->class_of)
        return MERCER_OK;
    return mc_fail(
        ctx, MERCER_DATA,
        "gp: the target is a class ('%s', ...) and a Gaussian process regresses on numbers; give --target-kind "
        "number if it is one, or another machine",
        data->label[0]);
}

static mercer_status prepare_gp(mercer_ctx *ctx, const void *settings, const mercer_kernel *kernel,
                                const mercer_data *data, mc_problem *out) {
    const mercer_gp *set = settings;
    MC_TRY(check_target(ctx, data));
    return mc_problem_open(ctx, set->scale, mc_admit_proved, kernel, data, out);
}

static void rank_gp_solvers(mercer_ctx *ctx, const void *settings, const mc_problem *problem, mc_solver_options *out) {
    const mercer_gp *set = settings;
    const double n = (double)problem->n, evaluations = exact_factors(set, problem) / 3;
    const size_t bytes = bytes_of(ctx, set, problem);
    *out = (mc_solver_options){.count = 1, .chosen = is_estimated(ctx, set, problem)};
    out->option[0] = (mc_solver_option){
        .solver = "cholesky",
        .possible = bytes <= mc_memory_left(ctx),
        .bytes = bytes,
        .factor = exact_factors(set, problem) * mc_factor_work(n),
        .pairs = fmax(1, evaluations) * n * n,
        .reason = learns_kernel(set) ? "the evidence and its gradient need the whole inverse; about thirty evaluations"
                                     : "one factorisation gives the coefficients and the evidence"};
    if (!can_be_estimated(set, problem) || (!out->chosen && problem->n <= MC_GP_ROWS))
        return;
    out->count = 2;
    out->option[1] = (mc_solver_option){.solver = "pcg",
                                        .possible = estimated_bytes(ctx, problem) <= mc_memory_left(ctx),
                                        .bytes = estimated_bytes(ctx, problem),
                                        .factor = estimate_work(set, problem),
                                        .pairs = (learns_kernel(set) ? ESTIMATES : 1) * n * n,
                                        .reason = "the evidence is estimated, with its error, by Lanczos quadrature"};
}

static mercer_status fit_gp(mercer_ctx *ctx, const void *settings, const mercer_kernel *kernel, const mercer_data *data,
                            mc_fitted *out) {
    const double began = mc_clock_seconds();
    *out = (mc_fitted){0};
    mc_problem p;
    gp_work w = {.set = settings, .p = &p, .f = out, .density = NAN, .loo_rmse = NAN};
    MC_TRY(prepare_gp(ctx, settings, kernel, data, &p));
    w.estimated = is_estimated(ctx, settings, &p);
    mercer_status status = mc_memory_check(ctx, w.estimated ? estimated_bytes(ctx, &p) : bytes_of(ctx, settings, &p),
                                           w.estimated ? "gp: an estimate of the evidence" : "gp: the exact evidence");
    if (!status)
        status = learn_gp(ctx, &w);
    mc_evidence_close(w.evidence);
    return mc_finish_fit(status, out, &p, began);
}

const mc_learner mc_gp_learner = {.fit = fit_gp, .plan = {prepare_gp, rank_gp_solvers, NULL}, .products = 30};
