/* pca.c: kernel principal components, the machine: the directions u of feature space along which the rows vary most,
   and the scores <u, phi(x) - mu> of rows.

   Order of work: problem/problem.c makes the rows ready; pca_solve.c finds vectors, whole or by Krylov spaces;
   certify/pca_certificate.c turns them into scores, eigenvalues and residuals. Where products in float leave a residual
   above the tolerance, the search goes on from there in double. */
#include "certify/pca_certificate.h"
#include "learn/common/finish_fit.h"
#include "learn/unsupervised/pca.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/progress.h"
#include "base/settings.h"
#include "base/status.h"
#include "base/workspace.h"
#include "data/table/columns.h"
#include <math.h>
#include <string.h>

enum { DENSE, KRYLOV, SOLVERS };
enum { SMALL = 400 };                   /* rows up to which a tridiagonal form costs less than a Krylov space */
static const double FLOAT_FLOOR = 1e-6; /* relative residual that products in float are trusted to reach */

const mercer_setting mc_pca_settings[MC_PCA_SETTINGS] = {
    MC_INTEGER_ROW(mercer_pca, components, "components", 2, 1, 1e9, "number of principal components"),
    MC_FLAG_ROW(mercer_pca, center, "center", 1, "center the features (subtract their mean in feature space)"),
    MC_REAL_ROW(mercer_pca, tolerance, "tolerance", 1e-6, 1e-14, 1,
                "krylov: residual |M v - theta v| to reach, relative to the largest eigenvalue"),
    MC_SCALE_ROW(mercer_pca),
    MC_TEXT_ROW(mercer_pca, solver, "solver", "auto", "auto|dense|krylov",
                "dense: all eigenvalues of the stored matrix; krylov: the largest, from products with it"),
    MC_FLAG_ROW(mercer_pca, allow_indefinite, "allow-indefinite", 0,
                "fit although the kernel is not proved to be positive definite: the directions of positive "
                "eigenvalues, by dense"),
};

static mercer_status prepare_pca(mercer_ctx *ctx, const void *settings, const mercer_kernel *kernel,
                                 const mercer_data *data, mc_problem *out) {
    const mercer_pca *set = settings;
    MC_TRY(
        mc_problem_open_rows(ctx, set->scale, mc_admission_of(set->allow_indefinite, set->center), kernel, data, out));
    /* 0 is not the smallest eigenvalue then: all can be looked at */
    const int64_t n = out->n, most = out->proved ? n - set->center : n;
    if (set->components <= most)
        return MERCER_OK;
    mc_problem_close(out);
    if (most < 1)
        return mc_fail(ctx, MERCER_DATA, "pca: one row counts, and it does not vary about its mean; give more rows");
    return mc_fail(
        ctx, MERCER_INVALID,
        "pca: components = %lld and %lld rows that count vary in at most %lld directions%s; ask for at most as many",
        (long long)set->components, (long long)n, (long long)most, set->center ? " about their mean" : "");
}

/* ---- The ways ---- */

static size_t kept_bytes(const mercer_pca *set, const mc_problem *p) {
    return (size_t)(8 * (2 * p->n + 3) * set->components) + 8 * MC_ALIGN;
}

static mc_pca_shape shape_of(mercer_ctx *ctx, const mercer_pca *set, const mc_problem *p) {
    return mc_pca_shape_within(ctx, p, set->components, kept_bytes(set, p));
}

static size_t bytes_of(mercer_ctx *ctx, const mercer_pca *set, const mc_problem *p, int solver) {
    const mc_pca_shape shape = shape_of(ctx, set, p);
    const size_t kept = kept_bytes(set, p);
    const size_t solve =
        solver == DENSE ? mc_pca_dense_bytes(ctx, p, set->components) : mc_pca_krylov_bytes(ctx, p, &shape);
    const size_t finish = mc_pca_finish_bytes(ctx, p, set->components);
    const size_t held = solver == DENSE ? 0 : mc_work_need(p->n * shape.block, 8);
    return kept + (solve > finish + held ? solve : finish + held);
}

static double count_pca_products(const mc_pca_shape *shape) {
    return (double)(shape->steps + 1);
}

static mc_solver_option option_of(mercer_ctx *ctx, const mercer_pca *set, const mc_problem *p, int solver) {
    static const char *const names[SOLVERS] = {"dense", "krylov"};
    static const char *const reasons[SOLVERS] = {"all eigenvalues of the stored matrix",
                                                 "the largest eigenvalues from products with it"};
    const mc_pca_shape shape = shape_of(ctx, set, p);
    const double n = (double)p->n;
    mc_solver_option o = {.solver = names[solver], .reason = reasons[solver], .bytes = bytes_of(ctx, set, p, solver)};
    o.pairs = n * n * (solver == DENSE ? 2 : count_pca_products(&shape) + 1);
    o.factor = solver == DENSE ? 0 : 2 * n * n * (double)shape.block * count_pca_products(&shape);
    o.eigen = solver == DENSE ? n * n * n : 0;
    o.possible = o.bytes <= mc_memory_left(ctx);
    if (!o.possible)
        o.reason = "needs more memory than the limit leaves";
    if (solver == KRYLOV && (shape.steps < 2 || !p->proved)) {
        o.possible = false;
        o.reason = p->proved ? "so many components of so few rows are found with all the others"
                             : "starts from a factor, which only a kernel has; this one is not proved";
    }
    return o;
}

/* Counted in operations: an eigendecomposition takes some 9 n^3, half of them at the speed of memory. */
static bool dense_pays(const mercer_pca *set, int64_t n) {
    const mc_pca_shape shape = mc_pca_shape_of(n, set->components);
    return n <= SMALL || 15 * (double)n < count_pca_products(&shape) * (2 * (double)shape.block + 60);
}

static void rank_pca_solvers(mercer_ctx *ctx, const void *settings, const mc_problem *p, mc_solver_options *out) {
    const mercer_pca *set = settings;
    *out = (mc_solver_options){.count = SOLVERS, .chosen = mc_choice_index("dense|krylov", set->solver)};
    for (int solver = 0; solver < SOLVERS; solver++)
        out->option[solver] = option_of(ctx, set, p, solver);
    if (out->chosen >= 0)
        return;
    out->automatic = true;
    const int liked = !p->proved || dense_pays(set, p->n) ? DENSE : KRYLOV, other = liked == DENSE ? KRYLOV : DENSE;
    out->chosen = !out->option[liked].possible && out->option[other].possible ? other : liked;
}

static mercer_status choose_solver(mercer_ctx *ctx, const mercer_pca *set, const mc_problem *p, int *out) {
    mc_solver_options options;
    rank_pca_solvers(ctx, set, p, &options);
    *out = options.chosen;
    const mc_solver_option *o = &options.option[options.chosen];
    if (o->possible)
        return MERCER_OK;
    if (*out == KRYLOV && !p->proved)
        return mc_fail(ctx, MERCER_INVALID, "pca: solver krylov needs a kernel that is proved; use solver dense");
    if (*out == KRYLOV && mc_pca_shape_of(p->n, set->components).steps < 2)
        return mc_fail(ctx, MERCER_INVALID,
                       "pca: solver krylov finds a few components of many rows, not %lld of %lld; use solver dense",
                       (long long)set->components, (long long)p->n);
    return mc_memory_check(
        ctx, o->bytes, *out == DENSE ? "pca: all eigenvalues (krylov needs less)" : "pca: a basis of a Krylov space");
}

/* ---- The fit ---- */

typedef struct pca_work {
    const mercer_pca *set;
    const mc_problem *p;
    double *V; /* n x components */
    mc_fitted *f;
    mc_pca_result result;
    mc_pca_shape shape;    /* krylov */
    mercer_status stopped; /* by the clock or the caller */
} pca_work;

static mercer_status certify_pca(mercer_ctx *ctx, const pca_work *w) {
    mc_begin_phase(ctx, "check");
    return mc_pca_finish(ctx, w->p, w->set->center, w->set->components, w->V, w->f);
}

static mercer_status solve_dense(mercer_ctx *ctx, pca_work *w) {
    MC_TRY(mc_pca_dense(ctx, w->p, w->set->center, w->set->components, w->V, &w->result));
    return certify_pca(ctx, w);
}

static mercer_status search_and_finish(mercer_ctx *ctx, pca_work *w, mc_pca_search *search) {
    const int64_t n = w->p->n, k = w->set->components, b = search->shape.block;
    const mercer_status status = mc_pca_krylov(ctx, search, &w->result);
    if (status && !(search->started && (status == MERCER_TIME || status == MERCER_CANCELLED)))
        return status;
    if (status) { /* the best so far is finished whatever the clock says */
        w->stopped = mc_stop_taken(ctx);
        mc_shield_from_stop(ctx, true);
    }
    for (int64_t i = 0; i < n * k; i++)
        w->V[i] = search->X[i / k * b + i % k];
    return certify_pca(ctx, w);
}

/* In float first, aiming a little lower than asked for, since the rounding of the products comes on top. */
static mercer_status solve_krylov(mercer_ctx *ctx, pca_work *w) {
    mc_pca_search search = {.p = w->p, .center = w->set->center, .shape = w->shape};
    search.tolerance = fmax(w->set->tolerance, FLOAT_FLOOR) / 2;
    mercer_status status = MC_ALLOC(ctx, search.X, w->p->n * search.shape.block);
    if (!status)
        status = MC_ALLOC(ctx, search.theta, search.shape.block);
    if (!status)
        status = search_and_finish(ctx, w, &search);
    if (!status && !w->stopped && w->f->report.certificate.residual_relative > w->set->tolerance) {
        search.precise = true;
        search.tolerance = w->set->tolerance / 2;
        status = search_and_finish(ctx, w, &search);
    }
    mc_free(search.X);
    mc_free(search.theta);
    return status;
}

static void write_report(const pca_work *w, int solver) {
    mercer_report *out = &w->f->report;
    const mc_problem *p = w->p;
    out->machine = "pca";
    out->solver = solver == DENSE ? "dense" : "krylov";
    out->scale = mc_scaling_names[p->scale.kind];
    out->n = p->n;
    out->d = mc_data_width(p->x);
    out->outputs = w->set->components;
    out->iterations = w->result.products;
    if (!p->proved) { /* the trace counts what is below zero against the rest */
        const double explained = out->variance - out->objective;
        out->variance = fmax(w->result.positive, explained);
        out->objective = out->variance - explained;
    }
    const bool reached = solver == DENSE || out->certificate.residual_relative <= w->set->tolerance;
    out->stopped = reached                     ? "no"
                   : w->stopped == MERCER_TIME ? "time"
                   : w->stopped                ? "caller"
                   : w->result.converged       ? "precision"
                                               : "steps";
    out->lambda = out->norm = out->loo_rmse = out->log_evidence = out->loo_log_density = out->dof = out->gcv = NAN;
}

static mercer_status learn_pca(mercer_ctx *ctx, pca_work *w) {
    int solver;
    const int64_t n = w->p->n, k = w->set->components;
    MC_TRY(choose_solver(ctx, w->set, w->p, &solver));
    w->shape = shape_of(ctx, w->set, w->p);
    w->f->outputs = k;
    MC_TRY(MC_ALLOC(ctx, w->f->alpha, n * k));
    MC_TRY(MC_ALLOC(ctx, w->f->intercept, k));
    MC_TRY(MC_ALLOC(ctx, w->f->spectrum, 2 * k));
    MC_TRY(MC_ALLOC(ctx, w->V, n * k));
    MC_TRY(solver == DENSE ? solve_dense(ctx, w) : solve_krylov(ctx, w));
    write_report(w, solver);
    return MERCER_OK;
}

static mercer_status fit_pca(mercer_ctx *ctx, const void *settings, const mercer_kernel *kernel,
                             const mercer_data *data, mc_fitted *out) {
    const double began = mc_clock_seconds();
    mc_problem p;
    *out = (mc_fitted){0};
    MC_TRY(prepare_pca(ctx, settings, kernel, data, &p));
    pca_work w = {.set = settings, .p = &p, .f = out};
    const mercer_status status = learn_pca(ctx, &w);
    if (w.stopped)
        mc_shield_from_stop(ctx, false);
    mc_free(w.V);
    return mc_finish_fit(status, out, &p, began);
}

const mc_learner mc_pca_learner = {.fit = fit_pca, .plan = {prepare_pca, rank_pca_solvers, NULL}, .products = 10};
