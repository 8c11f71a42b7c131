/* lms.c: least mean squares, the machine: the perceptron's rule for squared loss.

       theta <- theta + step sum_i w_i (y_i - <theta, phi(x_i)>) phi(x_i),      all rows at once or one at a time, from
       theta = 0

   kept as coefficients of the rows, theta = sum_i alpha_i phi(x_i); with an explicit map the model is theta itself.
   Without a penalty the limit is the least-squares function of least norm; stopping early is the regularisation. The
   intercept is the weighted mean of the target and stays there. Row weights count as repetitions of a row within its
   step; on held-out rows they weigh the error.

   Order of work: rows are held out (a seeded choice among those of positive weight) before anything is learned from
   them, scaling and bandwidths included; problem/problem.c makes the others ready; lms_values.c and lms_steps.c run;
   certify/ridge_certificate.c (certify/ridge_certificate_primal.c for weights) measures the gradient of the unpenalised
   problem at what came out, however early it stopped. */
#include "learn/common/finish_fit.h"
#include "learn/lms/lms.h"
#include "base/clock.h"
#include "base/ctx.h"
#include "base/memory.h"
#include "base/progress.h"
#include "base/settings.h"
#include "base/status.h"
#include "base/workspace.h"
#include "data/table/columns.h"
#include "data/table/folds.h"
#include "gram/operator/gram.h"
#include "kernel/evaluate/feature_map.h"
#include "certify/ridge_certificate.h"
#include "learn/common/machines.h"
#include <math.h>
#include <string.h>

const mercer_setting mc_lms_settings[MC_LMS_SETTINGS] = {
    MC_REAL_ROW(mercer_lms, step, "step", 0, 0, 1e300,
                "step size (learning rate); 0: half the largest stable one, from the largest eigenvalue (batch) or the "
                "largest k(x, x) (sample)"),
    MC_TEXT_ROW(mercer_lms, mode, "mode", "batch", "batch|sample",
                "gradient steps on all rows together, or on one sample at a time (stochastic)"),
    MC_INTEGER_ROW(mercer_lms, epochs, "epochs", 1000, 1, 1e12, "maximum number of passes over the rows"),
    MC_REAL_ROW(mercer_lms, tolerance, "tolerance", 1e-6, 0, 1, "stopping tolerance: relative norm of the gradient"),
    MC_REAL_ROW(
        mercer_lms, held_out, "held-out", 0, 0, 0.9,
        "fraction of the rows held out for early stopping; the pass with the smallest error on them is kept; 0: none"),
    MC_INTEGER_ROW(mercer_lms, patience, "patience", 20, 1, 1e12,
                   "stop after this many passes without a smaller error on the held-out rows"),
    MC_FLAG_ROW(mercer_lms, shuffle, "shuffle", 1, "sample: shuffle the rows before every pass"),
    MC_FLAG_ROW(mercer_lms, intercept, "intercept", 1, "subtract the mean of the target first"),
    MC_SCALE_ROW(mercer_lms),
    MC_TEXT_ROW(mercer_lms, solver, "solver", "auto", "auto|features|stored|streamed",
                "explicit features, the Gram matrix in memory, or its rows computed on the fly; auto: the first that "
                "is possible"),
};

/* ---- Held-out rows ---- */

/* Places in the data: those to learn from in order, then those held out. */
typedef struct division {
    int64_t *rows, train, held;
} division;

/* Rows NULL when none is held out. */
static mercer_status split_held_out(mercer_ctx *ctx, const mercer_lms *set, const mercer_data *data, division *out) {
    int64_t *place = NULL;
    *out = (division){0};
    if (set->held_out == 0)
        return MERCER_OK;
    MC_TRY(MC_ALLOC(ctx, place, data->n));
    const int64_t count = mc_problem_places(data, place);
    out->held = (int64_t)ceil(set->held_out * (double)count);
    out->train = count - out->held;
    mercer_status status = MC_ALLOC(ctx, out->rows, count);
    if (!status && out->train < 1)
        status = mc_fail(ctx, MERCER_INVALID, "lms: held-out = %g of %lld rows leaves none to learn from",
                         set->held_out, (long long)count);
    if (!status)
        status = mc_hold_out(ctx, count, out->held, ctx->options.seed, out->rows);
    for (int64_t i = 0; i < count && !status; i++)
        out->rows[i] = place[out->rows[i]];
    mc_free(place);
    return status;
}

static mercer_status open_train(mercer_ctx *ctx, const mercer_lms *set, const mercer_kernel *kernel,
                                const mercer_data *data, const division *d, mc_problem *out) {
    if (!d->rows)
        return mc_problem_open(ctx, set->scale, mc_admit_proved, kernel, data, out);
    mercer_data *train = NULL;
    MC_TRY(mc_data_take(ctx, data, d->rows, d->train, &train));
    const mercer_status status = mc_problem_open(ctx, set->scale, mc_admit_proved, kernel, train, out);
    mercer_data_free(train);
    return status;
}

/* The held-out rows, scaled as the others are. */
static mercer_status open_held(mercer_ctx *ctx, const mercer_data *data, const division *d, const mc_problem *p,
                               mercer_data **out) {
    mercer_data *taken = NULL;
    MC_TRY(mc_data_take(ctx, data, d->rows + d->train, d->held, &taken));
    const mercer_status status = mc_scale_apply(ctx, &p->scale, taken, out);
    mercer_data_free(taken);
    return status ? status : mc_kernel_check_data(ctx, p->kernel, *out);
}

/* ---- The ways ---- */

typedef struct size {
    int64_t n, held, outputs, map; /* map: dimension of the explicit map; -1: none that is worth it */
    size_t gram;
} size;

static size size_of(mercer_ctx *ctx, const mercer_lms *set, const mc_problem *p) {
    const int64_t limit = strcmp(set->solver, "features") == 0 ? INT32_MAX : p->n - 1;
    size s = {.n = p->n, .outputs = p->outputs, .map = mc_problem_features(p, limit)};
    s.held = set->held_out > 0 ? (int64_t)ceil(set->held_out / (1 - set->held_out) * (double)p->n) + 1 : 0;
    s.gram = mc_gram_bytes(ctx, p->kernel, p->x, NULL, MERCER_F64, p->outputs);
    return s;
}

static size_t bytes_of(mercer_ctx *ctx, const mc_problem *p, const size *s, mc_lms_solver solver) {
    const double across = s->held ? (double)s->gram * (double)(s->n + s->held) / (double)s->n : 0;
    const size_t lanczos = (size_t)(8 * ((MC_LMS_LANCZOS + 1) * s->n + 4 * MC_LMS_LANCZOS * (MC_LMS_LANCZOS + 4)));
    const size_t rows = (size_t)(8 * s->held * (3 * p->x->d + 2 * s->outputs + 4)),
                 model = (size_t)(8 * s->n * (2 * s->outputs + 2));
    const int64_t D = s->map > 0 ? s->map : 0;
    const size_t common = mc_lms_values_bytes(solver, s->n, s->held, s->outputs, D, mercer_threads(ctx))
                          + mc_lms_steps_bytes(s->n, s->held, s->outputs) + lanczos + rows + model + 16384;
    if (solver == MC_LMS_FEATURES)
        return common + s->gram + mc_work_need(D * s->outputs, 8)
               + mc_certify_weights_bytes(p->x->d, D, s->outputs, mercer_threads(ctx), 4 * D + p->x->d + 1);
    return common + mc_certify_bytes(s->n, s->outputs) + 2 * s->gram + (size_t)across;
}

/* Products of all rows: epochs, the step, the check. */
static double count_lms_products(const mercer_lms *set) {
    return (double)set->epochs * (strcmp(set->mode, "sample") == 0 ? 3 : 1) + MC_LMS_LANCZOS;
}

static mc_solver_option option_of(mercer_ctx *ctx, const mercer_lms *set, const mc_problem *p, const size *s,
                                  mc_lms_solver solver) {
    static const char *const reasons[MC_LMS_SOLVERS] = {
        [MC_LMS_FEATURES] = "the kernel has fewer explicit features than rows; seconds if every pass is needed",
        [MC_LMS_STORED] = "the Gram matrix fits in memory; seconds if every pass is needed",
        [MC_LMS_STREAMED] = "the Gram matrix is computed in every pass; seconds if every pass is needed"};
    const double n = (double)s->n, width = solver == MC_LMS_FEATURES ? fmax(0, (double)s->map) : n;
    mc_solver_option o = {
        .solver = mc_lms_names[solver], .reason = reasons[solver], .bytes = bytes_of(ctx, p, s, solver)};
    o.pairs = n * n * (solver == MC_LMS_STREAMED ? count_lms_products(set) + 2 : solver == MC_LMS_STORED ? 4 : 0);
    o.factor = solver == MC_LMS_STREAMED ? 0 : 4 * count_lms_products(set) * n * width * (double)s->outputs;
    o.possible = o.bytes <= mc_memory_left(ctx);
    if (!o.possible)
        o.reason = "needs more memory than the limit leaves";
    if (solver == MC_LMS_FEATURES && s->map < 0) {
        o.possible = false;
        o.reason = "the kernel has no explicit features, or more of them than rows";
    }
    return o;
}

static void rank_lms_solvers(mercer_ctx *ctx, const void *settings, const mc_problem *p, mc_solver_options *out) {
    const mercer_lms *set = settings;
    const size s = size_of(ctx, set, p);
    *out = (mc_solver_options){.count = MC_LMS_SOLVERS,
                               .chosen = mc_choice_index("features|stored|streamed", set->solver)};
    for (int solver = 0; solver < MC_LMS_SOLVERS; solver++)
        out->option[solver] = option_of(ctx, set, p, &s, (mc_lms_solver)solver);
    for (int solver = 0; out->chosen < 0; solver++)
        if (out->option[solver].possible || solver == MC_LMS_STREAMED)
            out->chosen = solver;
}

static mercer_status choose_solver(mercer_ctx *ctx, const mercer_lms *set, const mc_problem *p, mc_lms_solver *out) {
    mc_solver_options options;
    rank_lms_solvers(ctx, set, p, &options);
    *out = (mc_lms_solver)options.chosen;
    const mc_solver_option *o = &options.option[options.chosen];
    if (o->possible)
        return MERCER_OK;
    if (*out == MC_LMS_FEATURES && size_of(ctx, set, p).map < 0)
        return mc_fail(ctx, MERCER_INVALID,
                       "lms: solver features needs a kernel with a finite map, and %s has none; use solver auto",
                       mercer_kernel_text(p->kernel));
    return mc_memory_check(ctx, o->bytes,
                           *out == MC_LMS_STREAMED ? "lms: rows of the Gram matrix"
                                                   : "lms: this solver (streamed needs less)");
}

/* ---- The fit ---- */

typedef struct lms_work {
    const mercer_lms *set;
    const mercer_data *data;
    division division;
    mc_problem *p;
    mercer_data *held;
    double *held_Y;
    double *alpha; /* features: the coefficients on the way */
    mc_fitted *f;
} lms_work;

static double target_at(const mercer_data *data, int64_t i, int64_t k) {
    return data->class_of ? (data->class_of[i] == k ? 1 : -1) : data->target[i * data->outputs + k];
}

static mercer_status take_held(mercer_ctx *ctx, lms_work *w) {
    const int64_t outputs = w->p->outputs;
    if (!w->division.rows)
        return MERCER_OK;
    MC_TRY(open_held(ctx, w->data, &w->division, w->p, &w->held));
    MC_TRY(MC_ALLOC(ctx, w->held_Y, w->held->n * outputs));
    for (int64_t i = 0; i < w->held->n * outputs; i++)
        w->held_Y[i] = target_at(w->held, i / outputs, i % outputs) - w->f->intercept[i % outputs];
    return MERCER_OK;
}

static const char *solver_name(const mercer_lms *set, mc_lms_solver solver) {
    static const char *const names[2][MC_LMS_SOLVERS] = {{"batch features", "batch stored", "batch streamed"},
                                                         {"sample features", "sample stored", "sample streamed"}};
    return names[strcmp(set->mode, "sample") == 0][solver];
}

static void write_report(const lms_work *w, const mc_lms_run *run, mc_lms_solver solver,
                         const mc_residual_findings *found, mercer_report *out) {
    const mc_problem *p = w->p;
    *out = (mercer_report){
        .machine = "lms", .solver = solver_name(w->set, solver), .scale = mc_scaling_names[p->scale.kind]};
    out->n = p->n;
    out->d = mc_data_width(p->x);
    out->outputs = p->outputs;
    out->norm = found->norm;
    out->objective = found->objective;
    out->iterations = run->epochs;
    out->step = run->step;
    out->held_out = run->held ? run->held->n : 0;
    out->held_out_rmse = run->held_rmse;
    out->stopped = run->stopped == MERCER_TIME ? "time" : run->stopped ? "caller" : run->early ? "held-out" : "no";
    out->loo_rmse = out->log_evidence = out->loo_log_density = out->dof = out->gcv = NAN;
    out->certificate = found->certificate;
}

/* Of the problem without a penalty, the targets as they came. */
static mercer_status certify_lms(mercer_ctx *ctx, lms_work *w, const mc_lms_run *run, mc_lms_solver solver) {
    mc_residual_findings found;
    mc_problem_restore(w->p);
    mc_begin_phase(ctx, "check");
    if (run->stopped)
        mc_shield_from_stop(ctx, true); /* stopped already: what is left is done whole */
    const mercer_status status =
        w->f->primal ? mc_certify_weights(ctx, w->p, 0, false, w->f->primal, w->f->intercept, &found)
                     : mc_certify_squared_loss(ctx, w->p, 0, false, w->f->alpha, w->f->intercept, &found);
    if (run->stopped)
        mc_shield_from_stop(ctx, false);
    if (!status)
        write_report(w, run, solver, &found, &w->f->report);
    return status;
}

/* What is left of a function of explicit features: its weights. */
static mercer_status keep_weights(mercer_ctx *ctx, const lms_work *w, const mc_lms_values *values) {
    w->f->features = values->width;
    MC_TRY(MC_ALLOC(ctx, w->f->primal, values->width * values->t));
    return mc_lms_weights(ctx, values, w->alpha, w->f->primal);
}

static mercer_status run_steps(mercer_ctx *ctx, const lms_work *w, mc_lms_solver solver, mc_lms_run *run) {
    mc_lms_values values;
    mc_begin_phase(ctx, "gram");
    MC_TRY(mc_lms_values_open(ctx, w->p, w->held, solver, &values));
    mercer_status status = mc_lms_steps(ctx, &values, run);
    if (!status && solver == MC_LMS_FEATURES)
        status = keep_weights(ctx, w, &values);
    mc_lms_values_close(&values);
    return status;
}

static mercer_status learn_lms(mercer_ctx *ctx, lms_work *w) {
    mc_problem *p = w->p;
    mc_lms_solver solver;
    MC_TRY(choose_solver(ctx, w->set, p, &solver));
    w->f->outputs = p->outputs;
    MC_TRY(MC_ALLOC(ctx, w->f->alpha, solver == MC_LMS_FEATURES ? 0 : p->n * p->outputs));
    MC_TRY(MC_ALLOC(ctx, w->alpha, solver == MC_LMS_FEATURES ? p->n * p->outputs : 0));
    MC_TRY(MC_ALLOC(ctx, w->f->intercept, p->outputs));
    if (w->set->intercept)
        mc_problem_means(p, w->f->intercept);
    MC_TRY(mc_problem_centre(ctx, p, w->f->intercept));
    MC_TRY(take_held(ctx, w));
    mc_lms_run run = {.set = w->set,
                      .p = p,
                      .held = w->held,
                      .held_Y = w->held_Y,
                      .alpha = solver == MC_LMS_FEATURES ? w->alpha : w->f->alpha};
    MC_TRY(run_steps(ctx, w, solver, &run));
    MC_TRY(certify_lms(ctx, w, &run, solver));
    return w->f->primal ? mc_problem_drop_rows(ctx, p) : MERCER_OK;
}

static mercer_status prepare_lms(mercer_ctx *ctx, const void *settings, const mercer_kernel *kernel,
                                 const mercer_data *data, mc_problem *out) {
    division d;
    mercer_status status = split_held_out(ctx, settings, data, &d);
    if (!status)
        status = open_train(ctx, settings, kernel, data, &d, out);
    mc_free(d.rows);
    return status;
}

/* The places of the centres in the data, when some rows were held out. */
static void keep_places(lms_work *w) {
    if (w->f->primal) /* there are none */
        return;
    w->f->row = w->division.rows;
    w->division.rows = NULL;
}

static mercer_status fit_lms(mercer_ctx *ctx, const void *settings, const mercer_kernel *kernel,
                             const mercer_data *data, mc_fitted *out) {
    const double began = mc_clock_seconds();
    *out = (mc_fitted){0};
    mc_problem p = {0};
    lms_work w = {.set = settings, .data = data, .p = &p, .f = out};
    mercer_status status = split_held_out(ctx, settings, data, &w.division);
    if (!status)
        status = open_train(ctx, settings, kernel, data, &w.division, &p);
    if (!status)
        status = learn_lms(ctx, &w);
    if (!status)
        keep_places(&w);
    mercer_data_free(w.held);
    mc_free(w.held_Y);
    mc_free(w.alpha);
    mc_free(w.division.rows);
    return mc_finish_fit(status, out, &p, began);
}

const mc_learner mc_lms_learner = {.fit = fit_lms, .plan = {prepare_lms, rank_lms_solvers, NULL}};
