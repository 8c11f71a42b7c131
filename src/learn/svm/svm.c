/* svm.c: support vector machines, as the steps of the driver (learn/common/driver.h).

       open        rows of weight, scaled, kernel bound and proved or refused (problem/problem.c); then sorted by class,
       so that
                   every pair of classes is two runs of columns of one matrix
       solve       every quadratic program by SMO over shared rows of K; later those whose violation is above the
                   tolerance, because single precision hid it, from the exact values: each time with an error in
                   proportion to the change that is left
       certify     rows with a coefficient are kept, and the decisions of all rows computed in double precision */
#include "learn/svm/svm.h"
#include "base/ctx.h"
#include "base/memory.h"
#include "base/print.h"
#include "base/progress.h"
#include "base/status.h"
#include "certify/svm_certificate.h"
#include "data/table/columns.h"
#include "problem/problem.h"
#include <assert.h>
#include <math.h>
#include <string.h>

enum { MANY = 1000, REFINEMENTS = 4 };

/* ---- Rows ---- */

static mercer_status check_kind(mercer_ctx *ctx, const mc_svm_variant *variant, const mercer_data *data) {
    if (variant->classes && data->target && !data->class_of)
        return mc_fail(
            ctx, MERCER_DATA,
            "%s needs classes and the target is numbers; say that they are classes (--target-kind class) or take svr",
            variant->name);
    if (variant->doubled && data->class_of)
        return mc_fail(
            ctx, MERCER_DATA,
            "%s needs numbers and the target is classes; say that they are numbers (--target-kind number) or take svc",
            variant->name);
    return MERCER_OK;
}

static mercer_status open_problem(mercer_ctx *ctx, mc_svm_kind kind, const mercer_svm *set, const mercer_kernel *kernel,
                                  const mercer_data *data, mc_problem *out) {
    MC_TRY(check_kind(ctx, &mc_svm_variants[kind], data));
    const mc_admission admission = mc_admission_of(set->allow_indefinite, kind != MC_ONE_CLASS);
    return kind == MC_ONE_CLASS ? mc_problem_open_rows(ctx, set->scale, admission, kernel, data, out)
                                : mc_problem_open(ctx, set->scale, admission, kernel, data, out);
}

/* Rows stably sorted by class; order[i] <- where row i of the sorted ones stood. */
static mercer_status sort_rows(mercer_ctx *ctx, mc_svm *s, int64_t *order) {
    const int64_t n = s->p.n;
    MC_TRY(MC_ALLOC(ctx, s->start, s->classes + 2));
    if (!s->variant->classes) {
        s->start[1] = n;
        for (int64_t i = 0; i < n; i++)
            order[i] = i;
        return MERCER_OK;
    }
    for (int64_t i = 0; i < n; i++)
        s->start[s->p.class_of[i] + 2]++;
    for (int64_t c = 0; c < s->classes; c++)
        s->start[c + 2] += s->start[c + 1];
    for (int64_t i = 0; i < n; i++)
        order[s->start[s->p.class_of[i] + 1]++] = i;
    mercer_data *sorted = NULL;
    MC_TRY(mc_data_take(ctx, s->p.x, order, n, &sorted));
    mercer_data_free(s->p.x);
    s->p.x = sorted;
    return MERCER_OK;
}

/* order becomes places in the data as they came, rows of weight zero counted. */
static void place_in_data(const mercer_data *data, int64_t n, int64_t *order, int64_t *scratch) {
    mc_problem_places(data, scratch);
    for (int64_t i = 0; i < n; i++)
        order[i] = scratch[order[i]];
}

static mercer_status write_costs(mercer_ctx *ctx, mc_svm *s, const int64_t *order) {
    double *weights = NULL;
    MC_TRY(MC_ALLOC(ctx, s->cost, s->p.n));
    mercer_status status = MC_ALLOC(ctx, weights, s->classes + 1);
    if (!status && s->variant->classes)
        status = mc_class_weights(ctx, s->variant->name, s->set->class_weight, s->p.x, s->p.class_of, s->p.n, weights);
    for (int64_t i = 0; i < s->p.n && !status; i++) {
        const double root = s->p.root ? s->p.root[order[i]] : 1;
        s->cost[i] = root * root * (s->variant->classes ? weights[s->p.class_of[order[i]]] : 1);
    }
    mc_free(weights);
    return status;
}

/* Weights of zero may leave one class. */
static mercer_status check_classes(mercer_ctx *ctx, const mc_svm *s) {
    for (int64_t c = 0; c < s->classes; c++)
        if (s->start[c + 1] - s->start[c] == s->p.n)
            return mc_fail(ctx, MERCER_DATA,
                           "%s: every row that has a weight is of class '%s'; two classes at least are needed: "
                           "give rows of another a weight",
                           s->variant->name, s->p.x->label[c]);
    return MERCER_OK;
}

static mercer_status ready_rows(mercer_ctx *ctx, mc_svm *s, const mercer_data *data) {
    int64_t *scratch = NULL;
    s->classes = s->variant->classes ? s->p.x->classes : 0;
    MC_TRY(MC_ALLOC(ctx, s->order, s->p.n));
    MC_TRY(sort_rows(ctx, s, s->order));
    MC_TRY(check_classes(ctx, s));
    MC_TRY(write_costs(ctx, s, s->order));
    MC_TRY(MC_ALLOC(ctx, scratch, data->n));
    place_in_data(data, s->p.n, s->order, scratch);
    mc_free(scratch);
    return MERCER_OK;
}

/* ---- Solving ---- */

mercer_status mc_svm_program_improve(mercer_ctx *ctx, mc_svm *s, mc_svm_program *t) {
    MC_TRY(mc_svm_program_solve(ctx, s, t));
    if (s->kind == MC_NU_SVC)
        MC_TRY(mc_svm_program_settle_margin(ctx, s, t));
    mc_svm_program_finish(s, t, t->result.intercept);
    return MERCER_OK;
}

/* Solve one task; one that was begun in an earlier run goes on where it stood. */
static mercer_status solve_task(mercer_ctx *ctx, mc_svm *s, mc_svm_program *t) {
    if (!s->solver->resumed) {
        t->tolerance = MC_SVM_SAFETY * s->set->tolerance;
        if (!s->solver->warm)
            MC_TRY(mc_svm_program_product(ctx, s, t));
    }
    if (isinf(s->C))
        return mc_svm_program_hard_margin(ctx, s, t);
    return mc_svm_program_C_is_large(s, t) ? mc_svm_program_raise_C(ctx, s, t) : mc_svm_program_improve(ctx, s, t);
}

/* The stages of a hard margin have a C of their own: its tasks are not left on the way. */
static mercer_status solve_tasks(mercer_ctx *ctx, mc_svm *s) {
    while (s->solver->next < s->tasks) {
        mc_set_phase_span(ctx, (double)s->solver->next / (double)s->tasks,
                          (double)(s->solver->next + 1) / (double)s->tasks);
        s->solver->checkpointing = s->solver->checkpoint && !isinf(s->C);
        mc_svm_program *t = &s->task[s->solver->next];
        const mercer_status status = t->solved ? MERCER_OK : solve_task(ctx, s, t);
        s->solver->checkpointing = s->solver->resumed = false;
        MC_TRY(status);
        s->solver->next++;
        MC_TRY(mc_svm_checkpoint_save(ctx, s, s->solver->next == s->tasks));
    }
    return MERCER_OK;
}

static mercer_status solve_first(mercer_ctx *ctx, mc_svm *s) {
    s->solver->next = 0;
    if (!s->solver->warm) {
        MC_TRY(mc_svm_start_programs(ctx, s));
        MC_TRY(mc_svm_checkpoint_resume(ctx, s));
    }
    bool solved = false;
    if (!s->solver->warm)
        MC_TRY(mc_svm_solve_on_device(ctx, s, &solved));
    if (!s->solver->warm && !solved)
        MC_TRY(mc_svm_solve_stored(ctx, s, &solved));
    if (!s->solver->warm && !solved)
        MC_TRY(mc_svm_solve_pairs(ctx, s));
    return solved ? MERCER_OK : solve_tasks(ctx, s);
}

/* The tasks whose exact violation is too large, once more from their exact values. *wanting: whether there were any. */
static mercer_status solve_again(mercer_ctx *ctx, mc_svm *s, bool *wanting) {
    *wanting = false;
    for (int64_t k = 0; k < s->tasks; k++) {
        mc_svm_program *t = &s->task[k];
        if (t->violation <= s->set->tolerance || t->result.steps >= s->set->iterations)
            continue;
        *wanting = true;
        t->tolerance = MC_SVM_SAFETY * fmin(t->tolerance, s->set->tolerance / t->unit);
        MC_TRY(mc_svm_program_improve(ctx, s, t));
    }
    return MERCER_OK;
}

static mercer_status solve_programs(mercer_ctx *ctx, void *self, int round, bool *wanting) {
    mc_begin_phase(ctx, "solve");
    return round ? solve_again(ctx, self, wanting) : solve_first(ctx, self);
}

static mercer_status keep_and_certify(mercer_ctx *ctx, void *self, mc_fitted *f) {
    mc_svm *s = self;
    mc_begin_phase(ctx, "check");
    if (mc_svm_kept_status(s)) /* stopped while rows of K were made: what is there of it is no K */
        mc_svm_kept_close(s);
    MC_TRY(mc_svm_keep_vectors(ctx, s, f));
    f->kernel = s->p.kernel; /* borrowed */
    const mercer_status status = mc_svm_certify(ctx, s, f);
    f->kernel = NULL;
    return status;
}

/* Very many quadratic programs would take long, and of those not yet begun it would say nothing. */
static bool is_worth_a_check(const void *self) {
    return ((const mc_svm *)self)->tasks <= MANY;
}

/* ---- The machine ---- */

static void close_solver(mc_svm *s) {
    mc_svm_checkpoint_close(s);
    mc_svm_rows_close(s);
    mc_row_store_close(s->solver->store);
    mc_free(s->solver);
}

void mc_svm_close(mc_svm *s) {
    if (s->solver)
        close_solver(s);
    mc_svm_kept_close(s);
    mc_svm_programs_close(s);
    mc_free(s->diagonal);
    mc_free(s->order);
    mc_free(s->start);
    mc_free(s->cost);
    mc_problem_close(&s->p);
}

/* Why it ended: a stop from outside, or short of the tolerance. */
static const char *end_of(const mc_svm *s, mercer_status stopped) {
    const char *end = stopped == MERCER_TIME ? "time" : stopped ? "caller" : "no";
    for (int64_t k = 0; k < s->tasks && !stopped; k++)
        if (!(s->task[k].violation <= s->set->tolerance))
            end = s->task[k].result.steps >= s->set->iterations ? "steps" : strcmp(end, "steps") ? "precision" : end;
    return end;
}

static void write_report(const mc_svm *s, mercer_status stopped, mc_fitted *f) {
    mercer_report *r = &f->report;
    *r = (mercer_report){.machine = s->variant->name, .solver = "smo", .scale = mc_scaling_names[s->p.scale.kind]};
    r->n = s->p.n;
    r->d = mc_data_width(s->p.x);
    r->stored = s->p.x->row_start ? (double)mercer_data_stored(s->p.x) / ((double)r->n * (double)r->d) : 1;
    r->outputs = f->outputs;
    r->lambda = r->loo_rmse = r->log_evidence = r->loo_log_density = r->dof = r->gcv = NAN;
    r->stopped = end_of(s, stopped);
    r->support_vectors = f->centres->n;
    mc_svm_report(s, r);
}

mercer_status mc_svm_open(mercer_ctx *ctx, mc_svm_kind kind, const mercer_svm *set, const mercer_kernel *kernel,
                          const mercer_data *data, mc_svm *s) {
    *s = (mc_svm){.kind = kind, .variant = &mc_svm_variants[kind], .set = set, .C = set->C};
    MC_TRY(MC_ALLOC(ctx, s->solver, 1));
    s->solver->rows = data->n;
    if (isinf(set->C) && kind != MC_SVC && s->variant->has_C)
        return mc_fail(ctx, MERCER_INVALID, "%s: C must be finite; only svc has a hard margin", s->variant->name);
    MC_TRY(open_problem(ctx, kind, set, kernel, data, &s->p));
    char what[96];
    mc_print(what, sizeof what, "%s: %s of %lld classes", s->variant->name,
             set->multiclass && set->multiclass[2] == 'o' ? "every pair" : "each", (long long)s->p.x->classes);
    MC_TRY(mc_memory_check(ctx, s->variant->classes ? mc_svm_programs_bytes(set, &s->p) : 0, what));
    MC_TRY(ready_rows(ctx, s, data));
    MC_TRY(mc_svm_programs_open(ctx, s));
    return mc_svm_rows_open(ctx, s);
}

static mercer_status write_solved(mercer_ctx *ctx, const mc_svm *s, mc_fitted *f) {
    MC_TRY(MC_ALLOC(ctx, f->solved, 2 * s->tasks));
    for (int64_t k = 0; k < s->tasks; k++) {
        f->solved[2 * k] = s->task[k].dual;
        f->solved[2 * k + 1] = (double)s->task[k].result.steps;
    }
    return MERCER_OK;
}

/* Along a path the weight vector of a linear kernel is not written out. */
static mercer_status hand_over_fit(mercer_ctx *ctx, void *self, mercer_status stopped, mc_fitted *f) {
    const mc_svm *s = self;
    write_report(s, stopped, f);
    if (s->path)
        return MERCER_OK;
    MC_TRY(write_solved(ctx, s, f));
    f->kernel = s->p.kernel; /* borrowed */
    const mercer_status status = mc_svm_primal(ctx, f);
    f->kernel = NULL;
    return status;
}

static mercer_status open_programs(mercer_ctx *ctx, void *self, const mercer_kernel *kernel, const mercer_data *data) {
    mc_svm *s = self;
    const bool path = s->path;
    const mercer_status status = mc_svm_open(ctx, s->kind, s->set, kernel, data, s);
    s->path = path;
    return status || path ? status : mc_svm_rows_refine(ctx, s);
}

static void close_programs(void *self) {
    mc_svm_close(self);
}

static void turn_to_next_C(void *self, double C, bool first) {
    mc_svm *s = self;
    if (first)
        s->C = C;
    else
        mc_svm_raise_C(s, C);
}

static const mc_driver_steps steps = {REFINEMENTS,   open_programs,  solve_programs,   keep_and_certify,
                                      hand_over_fit, close_programs, is_worth_a_check, turn_to_next_C};

mc_driver mc_svm_driver(mc_svm *s) {
    return (mc_driver){.steps = &steps, .self = s, .p = &s->p};
}

/* ---- The five machines ---- */

static mc_svm_kind kind_of(const mercer_svm *set) {
    int kind = 0;
    while (kind < MC_SVM_KINDS && strcmp(mc_svm_variants[kind].name, set->machine) != 0)
        kind++;
    assert(kind < MC_SVM_KINDS); /* settings are checked before a learner sees them */
    return (mc_svm_kind)kind;
}

static mercer_status fit_svm(mercer_ctx *ctx, const void *settings, const mercer_kernel *kernel,
                             const mercer_data *data, mc_fitted *out) {
    mc_svm s = {.kind = kind_of(settings), .set = settings};
    mc_driver driver = mc_svm_driver(&s);
    return mc_drive_fit(ctx, &driver, kernel, data, out);
}

static mercer_status prepare_svm(mercer_ctx *ctx, const void *settings, const mercer_kernel *kernel,
                                 const mercer_data *data, mc_problem *out) {
    return open_problem(ctx, kind_of(settings), settings, kernel, data, out);
}

/* How often K is gone over is not known before: half of it, storing a part of it and the check is a guess, for the
   seconds alone. */
static void rank_svm_solvers(mercer_ctx *ctx, const void *settings, const mc_problem *p, mc_solver_options *out) {
    const mercer_svm *set = settings;
    const mc_svm_variant *variant = &mc_svm_variants[kind_of(set)];
    const double n = (double)p->n;
    const int64_t m = variant->doubled ? 2 * p->n : p->n;
    mercer_dtype dtype;
    if (mc_svm_fit_dtype(ctx, variant, set, p, &dtype))
        dtype = MERCER_F64; /* no memory to look: the larger */
    *out = (mc_solver_options){.count = 1};
    mc_solver_option *o = &out->option[0];
    *o = (mc_solver_option){.solver = "smo", .pairs = n * n / 2, .factor = mc_svm_storing_work(ctx, p, p->n, dtype)};
    o->bytes = mc_svm_bytes(ctx, p, m, dtype) + (variant->classes ? mc_svm_programs_bytes(set, p) : 0);
    o->possible = o->bytes <= mc_memory_left(ctx);
    o->bytes += mc_svm_spare_bytes(ctx, p, m, mc_svm_whole(ctx, variant, p, dtype), dtype);
    o->bytes += mc_svm_shared_bytes(ctx, variant, set, p);
    o->reason = !o->possible                           ? "needs more memory than the limit leaves"
                : mc_svm_active(ctx, p, m, dtype) >= m ? "exact; K is stored"
                                                       : "exact; K is stored for some thousand rows at a time";
}

const mc_learner mc_svm_learner = {.fit = fit_svm, .plan = {prepare_svm, rank_svm_solvers, NULL}, .products = 0.25};
