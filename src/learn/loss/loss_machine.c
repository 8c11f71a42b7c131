/* loss_machine.c: machines with a convex loss, as the steps of the driver (learn/common/driver.h).

       open       rows of weight, scaled, kernel bound and proved or refused (problem/problem.c), and the functions to
       find: two
                  classes one, +1 on the first class; more classes one per class against the rest, or all in one task
                  (softmax); numbers one per target
       solve      each by Newton's method, or as a quadratic program; those whose gap is above the tolerance, because
                  single precision hid it, go on from the exact values
       certify    the gap of each from the rows
       finish     rows with a coefficient are kept */
#include "base/ctx.h"
#include "base/memory.h"
#include "base/progress.h"
#include "base/sized.h"
#include "base/status.h"
#include "backend/dispatch_qp.h"
#include "data/table/columns.h"
#include "certify/certificate.h"
#include "certify/ridge_certificate.h"
#include "learn/loss/loss_landmarks.h"
#include "learn/loss/loss_primal.h"
#include <math.h>
#include <string.h>

enum { REFINEMENTS = 3, CHOLESKY_ROWS = 1500 };
static const double SAFETY = 0.5; /* of the tolerance, so that the exact values pass too */

typedef mc_loss_machine machine;

/* ---- Rows and targets ---- */

static const char *name_of(const machine *m) {
    return m->own ? m->own->name : m->loss->name;
}

static mercer_status check_kind(mercer_ctx *ctx, const char *name, const mc_loss *loss, const mercer_data *data) {
    if (loss->classes && data->target && !data->class_of)
        return mc_fail(
            ctx, MERCER_DATA,
            "%s needs classes and the target is numbers; say that they are classes (--target-kind class) or take huber",
            name);
    if (!loss->classes && data->class_of)
        return mc_fail(ctx, MERCER_DATA,
                       "%s needs numbers and the target is classes; say that they are numbers (--target-kind number) "
                       "or take logistic",
                       name);
    return MERCER_OK;
}

static mercer_status open_problem(mercer_ctx *ctx, const char *name, const mc_loss *loss, const mercer_loss *set,
                                  const mercer_kernel *kernel, const mercer_data *data, mc_problem *out) {
    MC_TRY(check_kind(ctx, name, loss, data));
    const mc_admission admission = {MC_CONSENT_NEVER, set->intercept || !loss->smooth};
    return mc_problem_open(ctx, set->scale, admission, kernel, data, out);
}

/* Without a row of a class its probability, and with it an intercept, would have no smallest loss. */
static mercer_status check_classes(mercer_ctx *ctx, const machine *m) {
    for (int64_t c = 0; c < m->classes; c++) {
        int64_t i = 0;
        while (i < m->p.n && m->p.class_of[i] != c)
            i++;
        if (i == m->p.n)
            return mc_fail(ctx, MERCER_DATA, "%s: class '%s' has no row of positive weight; each class needs one",
                           name_of(m), m->p.x->label[c]);
    }
    return MERCER_OK;
}

static mercer_status write_costs(mercer_ctx *ctx, machine *m) {
    double *weights = NULL;
    MC_TRY(MC_ALLOC(ctx, weights, m->classes + 1));
    mercer_status status = MERCER_OK;
    if (m->classes)
        status = mc_class_weights(ctx, name_of(m), m->set->class_weight, m->p.x, m->p.class_of, m->p.n, weights);
    for (int64_t i = 0; i < m->p.n && !status; i++)
        m->cost[i] = (m->p.root ? m->p.root[i] * m->p.root[i] : 1) * (m->classes ? weights[m->p.class_of[i]] : 1);
    mc_free(weights);
    return status;
}

static bool is_softmax(const machine *m) {
    return m->loss->probabilities && m->classes > 2;
}

static double target_of(const machine *m, int64_t task, int64_t i) {
    if (is_softmax(m))
        return m->p.class_of[i];
    return m->p.Y[i * m->p.outputs + task]; /* of two classes the first alone */
}

/* The quadratic program of a piecewise linear loss always has one. */
static bool has_intercept(const machine *m) {
    return m->set->intercept || !m->loss->smooth;
}

static double parameter_of(const machine *m) {
    return m->loss == &mc_losses[MC_QUANTILE] ? m->set->tau : m->set->delta;
}

/* y starts the search for b where it is a number: at its weighted mean. */
static void start_task(const machine *m, mc_loss_task *t, double *y, int64_t task) {
    long double sum = 0, weight = 0;
    for (int64_t i = 0; i < m->p.n; i++) {
        y[i] = target_of(m, task, i);
        sum += (long double)m->cost[i] * y[i];
        weight += m->cost[i];
    }
    t->y = y;
    if (t->intercept && !m->loss->classes && !m->own)
        t->b[0] = (double)(sum / weight);
}

static mercer_status write_places(mercer_ctx *ctx, machine *m, const mercer_data *data) {
    MC_TRY(MC_ALLOC(ctx, m->place, data->n));
    mc_problem_places(data, m->place);
    return MERCER_OK;
}

static mercer_status open_tasks(mercer_ctx *ctx, machine *m) {
    const int64_t n = m->p.n, k = is_softmax(m) ? m->classes : 1;
    m->count = is_softmax(m) || m->classes == 2 ? 1 : m->p.outputs;
    MC_TRY(MC_ALLOC(ctx, m->task, m->count));
    MC_TRY(MC_ALLOC(ctx, m->found, m->count));
    MC_TRY(MC_ALLOC(ctx, m->block, n + m->count * (n + 2 * n * k + k)));
    m->cost = m->block;
    MC_TRY(write_costs(ctx, m));
    for (int64_t j = 0; j < m->count; j++) {
        double *own = m->block + n + j * (n + 2 * n * k + k);
        m->task[j] = (mc_loss_task){.loss = m->loss,
                                    .own = m->own,
                                    .place = m->place,
                                    .body = mc_qp_bodies_of(ctx->isa)->loss,
                                    .parameter = parameter_of(m),
                                    .n = n,
                                    .k = k,
                                    .cost = m->cost,
                                    .lambda = m->lambda,
                                    .tolerance = m->set->tolerance,
                                    .intercept = has_intercept(m),
                                    .iterations_max = m->set->iterations,
                                    .alpha = own + n,
                                    .f = own + n + n * k,
                                    .b = own + n + 2 * n * k,
                                    .stopped = "no"};
        start_task(m, &m->task[j], own, j);
    }
    return MERCER_OK;
}

/* ---- Solving ---- */

size_t mc_loss_method_bytes(mercer_ctx *ctx, const mercer_loss *set, const mc_problem *p, int64_t k,
                            mc_loss_method method) {
    return method == MC_LOSS_NYSTROM ? mc_loss_landmarks_bytes(ctx, p, set->rank, k, p->outputs)
                                     : mc_loss_workspace_bytes(ctx, p, k, method);
}

static bool fits_memory(mercer_ctx *ctx, const mc_problem *p, int64_t k, mc_loss_method method) {
    return mc_loss_workspace_bytes(ctx, p, k, method) <= mc_memory_left(ctx);
}

mc_loss_method mc_loss_method_of(mercer_ctx *ctx, const mc_loss *loss, const mercer_loss *set, const mc_problem *p) {
    const bool softmax = loss->probabilities && p->class_of && p->x->classes > 2;
    const int64_t k = softmax ? p->x->classes : 1;
    for (mc_loss_method method = 0; method < MC_LOSS_METHODS; method++)
        if (strcmp(set->solver, mc_loss_methods[method]) == 0)
            return method;
    if (mc_loss_primal_features(p) > 0 && fits_memory(ctx, p, k, MC_LOSS_PRIMAL))
        return MC_LOSS_PRIMAL;
    return !softmax && p->n <= CHOLESKY_ROWS && fits_memory(ctx, p, k, MC_LOSS_CHOLESKY) ? MC_LOSS_CHOLESKY
                                                                                         : MC_LOSS_PCG;
}

static mercer_status check_solver(mercer_ctx *ctx, const machine *m) {
    if (!m->loss->smooth)
        return mc_memory_check(ctx, mc_loss_piecewise_bytes(ctx, &m->p), m->loss->name);
    if (is_softmax(m) && m->method == MC_LOSS_CHOLESKY)
        return mc_fail(ctx, MERCER_INVALID,
                       "logistic: more than two classes are one system too large to factor; take solver pcg");
    if (m->method == MC_LOSS_PRIMAL && mc_loss_primal_features(&m->p) == 0)
        return mc_fail(ctx, MERCER_INVALID,
                       "%s: solver primal needs a kernel with explicit features, no more than there are rows; take "
                       "solver auto",
                       name_of(m));
    return mc_memory_check(ctx, mc_loss_method_bytes(ctx, m->set, &m->p, m->task[0].k, m->method), m->loss->name);
}

/* Of a loss of the caller's own: at the start. */
static double curvature_bound(const machine *m) {
    double most = 0;
    for (int64_t i = 0; i < m->p.n; i++)
        most = fmax(most, m->cost[i] * (m->own ? m->loss->curvature(&m->task[0], m->task[0].y[i], 0) : 1));
    return most > 0 && isfinite(most) ? most * (m->loss->probabilities ? 0.25 : 1) : 1;
}

/* Later rounds go on in double precision where single precision ended. */
static mercer_status solve_task(mercer_ctx *ctx, mc_loss_workspace *workspace, mc_loss_task *t, double aim, int round) {
    bool arrived = false;
    if (mc_loss_workspace_primal(workspace))
        return mc_loss_primal_newton(ctx, mc_loss_workspace_primal(workspace), t, aim);
    if (!round && mc_loss_workspace_is_near(workspace))
        MC_TRY(mc_loss_correct(ctx, workspace, t, aim, &arrived));
    if (arrived)
        return MERCER_OK;
    MC_TRY(mc_loss_workspace_store(ctx, workspace));
    return mc_loss_newton(ctx, workspace, t, aim, round > 0);
}

static bool is_enough(const machine *m, const mc_loss_findings *found) {
    return found->primal - found->dual
           <= m->set->tolerance * mc_gap_scale(found->primal, found->dual, found->rounding, found->zero);
}

static mercer_status open_workspace(mercer_ctx *ctx, machine *m, const mc_loss_demand *ahead) {
    const bool nystrom = m->method == MC_LOSS_NYSTROM;
    if (nystrom)
        MC_TRY(mc_loss_landmarks_open(ctx, name_of(m), &m->p, m->set->rank, &m->landmarks));
    m->solved = nystrom ? &m->landmarks->p : &m->p;
    return mc_loss_workspace_open(ctx, m->solved, ahead, m->task[0].k, nystrom ? MC_LOSS_PRIMAL : m->method,
                                  &m->workspace);
}

static mercer_status solve_smooth(mercer_ctx *ctx, machine *m, int round) {
    const mc_loss_demand ahead = {m->least_lambda, fmax(m->fits, 1), curvature_bound(m)};
    if (!m->workspace)
        MC_TRY(open_workspace(ctx, m, &ahead));
    mc_loss_workspace_set_lambda(m->workspace, m->lambda);
    mc_begin_phase(ctx, "solve");
    for (int64_t j = 0; j < m->count; j++) {
        if (round && is_enough(m, &m->found[j]))
            continue;
        mc_set_phase_span(ctx, (double)j / (double)m->count, (double)(j + 1) / (double)m->count);
        MC_TRY(solve_task(ctx, m->workspace, &m->task[j], SAFETY * m->set->tolerance, round));
    }
    return MERCER_OK;
}

static mercer_status solve_all(mercer_ctx *ctx, machine *m, int round) {
    if (m->loss->smooth)
        return solve_smooth(ctx, m, round);
    if (!m->qp)
        MC_TRY(mc_loss_piecewise_open(ctx, &m->p, m->fits > 1, &m->qp));
    mc_begin_phase(ctx, "solve");
    return mc_loss_piecewise_solve(ctx, m->qp, m->task, m->count, SAFETY * m->set->tolerance * pow(0.1, round));
}

bool mc_loss_is_good(const machine *m) {
    bool good = true;
    for (int64_t j = 0; j < m->count; j++)
        good = good && is_enough(m, &m->found[j]);
    return good;
}

/* Before the first step and at the answer, whose certificate rests on them. */
static mercer_status try_own(mercer_ctx *ctx, const machine *m) {
    for (int64_t j = 0; j < m->count; j++)
        MC_TRY(mc_loss_check_own(ctx, &m->task[j]));
    return MERCER_OK;
}

static mercer_status solve_loss_tasks(mercer_ctx *ctx, void *self, int round, bool *wanting) {
    machine *m = self;
    if (!round)
        MC_TRY(try_own(ctx, m));
    *wanting = !round || !mc_loss_is_good(m);
    return *wanting ? solve_all(ctx, m, round) : MERCER_OK;
}

static mercer_status certify_tasks(mercer_ctx *ctx, void *self, mc_fitted *f) {
    (void)f; /* the coefficients are those of the tasks */
    machine *m = self;
    return mc_loss_certify(ctx, m->solved, m->task, m->count, m->found);
}

/* ---- The machine ---- */

static mercer_status prepare_tasks(mercer_ctx *ctx, machine *m, const mercer_data *data) {
    m->classes = m->loss->classes ? m->p.x->classes : 0;
    m->solved = &m->p;
    MC_TRY(check_classes(ctx, m));
    MC_TRY(write_places(ctx, m, data));
    MC_TRY(open_tasks(ctx, m));
    m->method = m->loss->smooth ? mc_loss_method_of(ctx, m->loss, m->set, &m->p) : MC_LOSS_PCG;
    return check_solver(ctx, m);
}

static mercer_status open_machine(mercer_ctx *ctx, void *self, const mercer_kernel *kernel, const mercer_data *data) {
    machine *m = self;
    MC_TRY(open_problem(ctx, name_of(m), m->loss, m->set, kernel, data, &m->p));
    return prepare_tasks(ctx, m, data);
}

static mercer_status finish_fit(mercer_ctx *ctx, void *self, mercer_status stopped, mc_fitted *f) {
    machine *m = self;
    MC_TRY(try_own(ctx, m));
    if (m->landmarks)
        return mc_loss_landmarks_finish(ctx, m, stopped, f);
    MC_TRY(mc_loss_keep_expansion(ctx, m, f));
    mc_loss_write_report(m, stopped, f, &f->report);
    return MERCER_OK;
}

static void close_machine(void *self) {
    machine *m = self;
    mc_loss_workspace_close(m->workspace);
    mc_loss_landmarks_close(m->landmarks);
    mc_loss_piecewise_close(m->qp);
    mc_free(m->block);
    mc_free(m->place);
    mc_free(m->found);
    mc_free(m->task);
    mc_problem_close(&m->p);
}

/* Where there are no landmarks yet there is no function either. */
static bool is_worth(const void *self) {
    const machine *m = self;
    return m->method != MC_LOSS_NYSTROM || m->landmarks;
}

static const mc_driver_steps steps = {REFINEMENTS, open_machine,  solve_loss_tasks, certify_tasks,
                                      finish_fit,  close_machine, is_worth,         mc_loss_turn};

mc_driver mc_loss_driver(mc_loss_machine *m) {
    return (mc_driver){.steps = &steps, .self = m, .p = &m->p};
}

static mercer_status run_loss_machine(mercer_ctx *ctx, machine *m, const mercer_kernel *kernel, const mercer_data *data,
                                      mc_fitted *out) {
    m->lambda = m->least_lambda = m->set->lambda;
    mc_driver driver = mc_loss_driver(m);
    return mc_drive_fit(ctx, &driver, kernel, data, out);
}

static mercer_status check_own(mercer_ctx *ctx, const mercer_own_loss *own) {
    const char *lacks = !own->name        ? "a name"
                        : !own->value     ? "a value"
                        : !own->slope     ? "a slope"
                        : !own->curvature ? "a curvature"
                                          : NULL;
    return lacks ? mc_fail(ctx, MERCER_INVALID, "own-loss: the loss '%s' lacks %s", own->name ? own->name : "", lacks)
                 : MERCER_OK;
}

static mercer_status fit_own(mercer_ctx *ctx, const void *settings, const mercer_kernel *kernel,
                             const mercer_data *data, mc_fitted *out) {
    const mercer_loss *set = settings;
    mercer_own_loss own = {.name = "own"};
    *out = (mc_fitted){0};
    if (!set->own)
        return mc_fail(ctx, MERCER_INVALID, "own-loss: own is NULL; it must point to the mercer_own_loss");
    MC_TRY(mc_sized_read(ctx, "mercer_own_loss", set->own, &own, sizeof own));
    MC_TRY(check_own(ctx, &own));
    machine m = {.loss = own.classes ? &mc_loss_of_classes : &mc_loss_of_numbers, .own = &own, .set = set};
    return run_loss_machine(ctx, &m, kernel, data, out);
}

const mc_learner mc_own_loss_learner = {.fit = fit_own};

static mercer_status fit_loss(mercer_ctx *ctx, const void *settings, const mercer_kernel *kernel,
                              const mercer_data *data, mc_fitted *out) {
    const mercer_loss *set = settings;
    machine m = {.loss = mc_loss_named(set->machine), .set = set};
    return run_loss_machine(ctx, &m, kernel, data, out);
}

static mercer_status prepare_loss(mercer_ctx *ctx, const void *settings, const mercer_kernel *kernel,
                                  const mercer_data *data, mc_problem *out) {
    const mc_loss *loss = mc_loss_named(((const mercer_loss *)settings)->machine);
    return open_problem(ctx, loss->name, loss, settings, kernel, data, out);
}

const mc_learner mc_loss_learner = {
    .fit = fit_loss, .plan = {prepare_loss, mc_loss_rank_solvers, mc_loss_price}, .products = 30};
