/* engines.c: how candidates are measured. One row each:

       fits      a fit of every candidate on every split
       path      svc and svr: all values of C of a run on a split, each from the last, all splits over one K where it
       fits; convex losses:
                 all values of lambda
       left out  ridge: every row, or every fold, predicted without itself by closed forms, all values of lambda of a
       run from one
                 eigendecomposition, few of them from factorisations; nothing is refitted
       slopes    the same for one lambda at a time, with the derivatives of the error
       evidence  gp: one fit to all rows */
#include "base/ctx.h"
#include "base/memory.h"
#include "base/print.h"
#include "base/progress.h"
#include "base/status.h"
#include "data/table/data.h"
#include "gram/operator/gram.h"
#include "learn/loss/loss_solver.h"
#include "learn/ridge/ridge_gradient.h"
#include "learn/svm/svm_folds.h"
#include "select/tune.h"
#include "linalg/eigen.h"
#include <math.h>
#include <string.h>

#define EVERY_FIT "a fit of every candidate on every split"
enum { STEPS_OF_SLOPES = 15, FACTORS_OF_A_STEP = 6 };
enum { FEW_LAMBDAS = 16 }; /* so many factorisations take less time than one eigendecomposition */

static double *row_of(const mc_round *r, double *out, int64_t candidate) {
    return out + candidate * mc_round_width(r);
}

/* Into the columns that belong to the split. */
static mercer_status measure_split(mercer_ctx *ctx, const mc_round *r, mc_scored_values scored, int64_t split,
                                   double *out) {
    return r->splits.count > 1 ? mc_measure_values(ctx, r->measure, scored, &out[1 + split])
                               : mc_measure_blocks(ctx, r->measure, scored, out);
}

/* What a model says of the rows of a split. */
static mercer_status score_model_on_split(mercer_ctx *ctx, const mc_round *r, const mercer_model *model,
                                          const mercer_data *test, int64_t split, double *out) {
    double *values = NULL;
    if (model->f.centres->classes ? !test->classes : !test->target)
        return mc_fail(ctx, MERCER_DATA, "tune: the rows to measure on have no target of the kind that is learned");
    MC_TRY(MC_ALLOC(ctx, values, test->n * model->f.outputs));
    mercer_status status = mc_model_predict(ctx, model, test, values);
    const mc_scored_values scored = mc_model_scored_values(model, test, values);
    MC_THEN(status, measure_split(ctx, r, scored, split, out));
    mc_free(values);
    return status;
}

/* A numerical failure, a nu that the classes do not allow, and more neighbours than rows are the candidate's, not the
   search's: it goes without a score. */
static mercer_status forgive_failed_fit(mercer_ctx *ctx, const mc_round *r, mercer_status status) {
    const char *name = r->space->machine->name;
    const bool picky = strcmp(name, "nu-svc") == 0 || strcmp(name, "knn") == 0;
    if (status != MERCER_NUMERIC && !(status == MERCER_INVALID && picky))
        return status;
    if (r->forgiven && !*r->forgiven)
        mc_print(r->forgiven, MC_FORGIVEN, "%s", ctx->message);
    mc_clear_failure(ctx);
    return MERCER_OK;
}

/* So many of the candidates on a split: of what is held, it and the splits after it. */
static void tell_done(mercer_ctx *ctx, const mc_round *r, int64_t split, int64_t done, int64_t count) {
    mc_progress_held(ctx, (double)done / (double)count / (double)(r->splits.count - split));
}

/* ---- One fit after the other ---- */

static mercer_status fit_one(mercer_ctx *ctx, const mc_round *r, const mc_run *run, int64_t candidate,
                             const mercer_data *train, const mercer_data *test, int64_t split, double *out) {
    mercer_model *model = NULL;
    mc_search_space_settings(r->space, candidate, run->settings);
    mercer_status status = mc_model_fit(ctx, r->space->machine, run->settings, run->kernel, train, &model);
    if (!status && test->row_start)
        model->f.open = true; /* a split of sparse rows may not show the last columns */
    MC_THEN(status, score_model_on_split(ctx, r, model, test, split, out));
    mercer_model_free(model);
    return forgive_failed_fit(ctx, r, status);
}

static mercer_status measure_fits(mercer_ctx *ctx, const mc_round *r, const mc_run *run, int64_t split, double *out) {
    mercer_data *train = NULL, *test = NULL;
    MC_TRY(mc_split_take(ctx, &r->splits, r->data, split, &train, &test));
    mercer_status status = MERCER_OK;
    for (int64_t c = run->begin; c < run->end && !status; c++) {
        status = fit_one(ctx, r, run, c, train, test, split, row_of(r, out, c - run->begin));
        tell_done(ctx, r, split, c + 1 - run->begin, run->end - run->begin);
    }
    mc_split_free(&r->splits, train, test);
    return status;
}

/* ---- Along C, or lambda ---- */

typedef struct walk {
    const mc_round *round;
    char tau[40]; /* what of the settings a score may ask for */
    const mercer_data *test;
    int64_t split, count;
    double *out;
} walk;

static mercer_status score_step(mercer_ctx *ctx, void *arg, int64_t k, const mc_fitted *f) {
    walk *w = arg;
    mercer_model model = {.f = *f, .settings = w->tau}; /* borrows all */
    model.f.open = w->test->row_start != NULL;
    tell_done(ctx, w->round, w->split, k + 1, w->count);
    return score_model_on_split(ctx, w->round, &model, w->test, w->split, row_of(w->round, w->out, k));
}

static mc_svm_kind kind_of(const mc_round *r) {
    return strcmp(r->space->machine->name, "svr") == 0 ? MC_SVR : MC_SVC;
}

static mercer_status list_values(mercer_ctx *ctx, const mc_round *r, const mc_run *run, double **value) {
    const int64_t count = run->end - run->begin, last = r->space->settings - 1;
    MC_TRY(MC_ALLOC(ctx, *value, count));
    for (int64_t k = 0; k < count; k++)
        (*value)[k] = r->space->number[(run->begin + k) * r->space->width + last];
    return MERCER_OK;
}

static mercer_status walk_alone(mercer_ctx *ctx, const mc_round *r, const mc_run *run, const double *value,
                                int64_t split, double *out) {
    mercer_data *train = NULL, *test = NULL;
    const mercer_machine *machine = r->space->machine;
    const int64_t count = run->end - run->begin;
    MC_TRY(mc_split_take(ctx, &r->splits, r->data, split, &train, &test));
    walk w = {.round = r, .test = test, .split = split, .count = count, .out = out};
    if (mc_loss_named(machine->name))
        mc_print(w.tau, sizeof w.tau, "tau=%.17g", ((const mercer_loss *)run->settings)->tau);
    const mercer_status status =
        mc_fit_each(ctx, machine, run->settings, run->kernel, train, value, count, score_step, &w);
    mc_split_free(&r->splits, train, test);
    return status;
}

/* ---- All splits over one K ---- */

/* What was said; the memory stays for the next K. */
static void clear_shared_values(mc_shared_kernel *shared) {
    mc_free(shared->values);
    mc_free(shared->outputs_block);
    *shared = (mc_shared_kernel){.buffers = shared->buffers};
}

void mc_shared_close(mc_shared_kernel *shared) {
    clear_shared_values(shared);
    mc_svm_buffers_close(&shared->buffers);
}

/* Rows that a split is measured on. */
static int64_t held_by(const mc_round *r, int64_t split) {
    return r->splits.begin[2 * split + 2] - r->splits.begin[2 * split + 1];
}

/* Room for the values of all splits. */
static mercer_status open_values(mercer_ctx *ctx, const mc_round *r, int64_t count) {
    mc_shared_kernel *shared = r->shared;
    int64_t all = 0;
    for (int64_t k = 0; k < r->splits.count; k++)
        all += held_by(r, k);
    MC_TRY(MC_ALLOC(ctx, shared->outputs_block, all * count * shared->outputs));
    MC_TRY(MC_ALLOC(ctx, shared->values, r->splits.count));
    all = 0;
    for (int64_t k = 0; k < r->splits.count; k++) {
        shared->values[k] = shared->outputs_block + all * count * shared->outputs;
        all += held_by(r, k);
    }
    return MERCER_OK;
}

static mercer_status walk_splits(mercer_ctx *ctx, const mc_round *r, mc_svm_folds *folds, const double *C,
                                 int64_t count) {
    mc_svm_split *split = NULL;
    MC_TRY(MC_ALLOC(ctx, split, r->splits.count));
    for (int64_t k = 0; k < r->splits.count; k++) {
        const int64_t *begin = r->splits.begin + 2 * k;
        split[k] =
            (mc_svm_split){r->splits.rows + begin[0], begin[1] - begin[0], begin[2] - begin[0], r->shared->values[k]};
    }
    const mercer_status status = mc_svm_folds_solve_path(ctx, folds, split, r->splits.count, C, count);
    mc_free(split);
    return status;
}

/* A hold-out has rows of its own; losses have none of this. */
static bool may_share(const mc_round *r) {
    return r->space->has_path && r->splits.begin && !mc_loss_named(r->space->machine->name);
}

static mercer_status measure_shared_splits(mercer_ctx *ctx, const mc_round *r, const mc_run *run, const double *C) {
    mc_shared_kernel *shared = r->shared;
    mc_svm_folds *folds = NULL;
    if (!may_share(r) || (shared->made && shared->begin == run->begin))
        return MERCER_OK;
    clear_shared_values(shared);
    MC_TRY(mc_svm_folds_open(ctx, kind_of(r), run->settings, run->kernel, r->data, r->splits.count, &shared->buffers,
                             &folds));
    shared->outputs = folds ? mc_svm_folds_outputs(folds) : 0;
    mercer_status status = folds ? open_values(ctx, r, run->end - run->begin) : MERCER_OK;
    if (!status && folds)
        status = walk_splits(ctx, r, folds, C, run->end - run->begin);
    mc_svm_folds_close(folds);
    if (status)
        clear_shared_values(shared);
    shared->made = !status;
    shared->begin = run->begin;
    return status;
}

static mercer_status score_held_out(mercer_ctx *ctx, const mc_round *r, int64_t split, int64_t count, double *out) {
    const int64_t few = held_by(r, split), outputs = r->shared->outputs;
    mercer_data *test = NULL;
    MC_TRY(mc_data_take(ctx, r->data, r->splits.rows + r->splits.begin[2 * split + 1], few, &test));
    mercer_status status = MERCER_OK;
    for (int64_t k = 0; k < count && !status; k++) {
        const double *values = r->shared->values[split] + k * few * outputs;
        const mc_scored_values scored = {.known = test, .data = test, .outputs = outputs, .values = values, .tau = NAN};
        status = measure_split(ctx, r, scored, split, row_of(r, out, k));
    }
    mercer_data_free(test);
    return status;
}

static mercer_status measure_path(mercer_ctx *ctx, const mc_round *r, const mc_run *run, int64_t split, double *out) {
    if (!r->space->has_path)
        return measure_fits(ctx, r, run, split, out);
    double *value = NULL;
    MC_TRY(list_values(ctx, r, run, &value));
    mercer_status status = measure_shared_splits(ctx, r, run, value);
    MC_THEN(status, r->shared->values ? score_held_out(ctx, r, split, run->end - run->begin, out)
                                      : walk_alone(ctx, r, run, value, split, out));
    mc_free(value);
    return forgive_failed_fit(ctx, r, status);
}

/* ---- Rows left out ---- */

typedef struct absent {
    const mc_round *round;
    mercer_data *counted; /* the rows that count: those of weight zero are gone */
    const int64_t *part;  /* of each of them; NULL: blocks */
    int64_t outputs;
    double *values;
    double *out;
} absent;

static double target_of(const absent *a, int64_t i, int64_t k) {
    return a->counted->class_of ? (a->counted->class_of[i] == k ? 1 : -1) : a->counted->target[i * a->outputs + k];
}

static mercer_status score_residuals(mercer_ctx *ctx, void *arg, int64_t l, const double *residuals) {
    const absent *a = arg;
    const mc_round *r = a->round;
    if (!residuals)
        return MERCER_OK;
    for (int64_t i = 0; i < a->counted->n; i++)
        for (int64_t k = 0; k < a->outputs; k++)
            a->values[i * a->outputs + k] = target_of(a, i, k) - residuals[i * a->outputs + k];
    const mc_scored_values scored = {
        .known = a->counted, .data = a->counted, .outputs = a->outputs, .values = a->values, .tau = NAN};
    double *out = row_of(r, a->out, l);
    if (!a->part)
        return mc_measure_blocks(ctx, r->measure, scored, out);
    MC_TRY(mc_measure_parts(ctx, r->measure, scored, a->part, r->parts, out));
    out[0] = NAN; /* the mean over the folds, as for the machines that are refitted */
    return MERCER_OK;
}

static mercer_status count_rows(mercer_ctx *ctx, const mc_round *r, absent *a, int64_t **part) {
    const mercer_data *data = r->data;
    int64_t *rows = NULL, n = 0;
    MC_TRY(MC_ALLOC(ctx, rows, data->n));
    mercer_status status = r->splits.fold ? MC_ALLOC(ctx, *part, data->n) : MERCER_OK;
    for (int64_t i = 0; i < data->n && !status; i++) {
        if (data->weight && data->weight[i] == 0)
            continue;
        if (r->splits.fold)
            (*part)[n] = r->splits.fold[i];
        rows[n++] = i;
    }
    MC_THEN(status, mc_data_take(ctx, data, rows, n, &a->counted));
    mc_free(rows);
    a->part = *part;
    return status;
}

static bool by_factors(const mc_round *r, int64_t count) {
    return count <= FEW_LAMBDAS && (!r->splits.fold || r->space->has_path) && r->measure != &mc_gcv;
}

static mercer_status gcv_scores(mercer_ctx *ctx, const mc_round *r, const mc_run *run, const double *lambda,
                                mercer_path_row *rows, double *out) {
    const int64_t count = run->end - run->begin;
    MC_TRY(mc_ridge_path(ctx, run->kernel, r->data, run->settings, NULL, lambda, count, NULL, NULL, rows));
    for (int64_t k = 0; k < count; k++)
        *row_of(r, out, k) = sqrt(rows[k].gcv);
    return MERCER_OK;
}

static mercer_status leave_out(mercer_ctx *ctx, const mc_round *r, const mc_run *run, absent *a) {
    const int64_t count = run->end - run->begin, last = r->space->settings - 1;
    const mercer_ridge *set = run->settings;
    mercer_path_row *rows = NULL;
    double *lambda = NULL;
    mercer_status status = MC_ALLOC(ctx, rows, count);
    MC_THEN(status, MC_ALLOC(ctx, lambda, count));
    for (int64_t k = 0; k < count && !status; k++)
        lambda[k] = r->space->has_path ? r->space->number[(run->begin + k) * r->space->width + last] : set->lambda;
    if (!status && r->measure == &mc_gcv)
        status = gcv_scores(ctx, r, run, lambda, rows, a->out);
    else if (!status && by_factors(r, count))
        status =
            mc_ridge_leave_one_out(ctx, run->kernel, r->data, set, r->splits.fold, lambda, count, score_residuals, a);
    else if (!status)
        status = mc_ridge_path(ctx, run->kernel, r->data, set, r->splits.fold, lambda, count, score_residuals, a, rows);
    mc_free(rows);
    mc_free(lambda);
    return forgive_failed_fit(ctx, r, status);
}

/* The slopes along the numbers of the candidate; of the settings it is lambda that is followed. */
static void write_slopes(const mc_round *r, int64_t kernel, const mc_slopes *found, double *tail) {
    const int64_t settings = r->space->settings;
    tail[0] = found->value;
    for (int64_t k = 0; k < mc_search_space_numbers(r->space, kernel); k++)
        tail[1 + k] = isnan(found->value) ? NAN : k < settings ? found->by_lambda : found->by_value[k - settings];
}

static mercer_status follow_out(mercer_ctx *ctx, const mc_round *r, const mc_run *run, absent *a) {
    const int64_t kernel = r->space->of[run->begin], settings = r->space->settings;
    mc_slopes found = {.count = mc_search_space_numbers(r->space, kernel) - settings,
                       .generalised = r->measure == &mc_gcv};
    int64_t *place = NULL;
    mercer_status status = MC_ALLOC(ctx, place, found.count);
    MC_THEN(status, MC_ALLOC(ctx, found.by_value, found.count));
    for (int64_t k = 0; k < found.count && !status; k++)
        place[k] = mc_search_space_dimension(r->space, kernel, settings + k)->place;
    found.place = place;
    found.value = NAN;
    MC_THEN(status,
            mc_ridge_slopes(ctx, run->kernel, r->data, run->settings, r->splits.fold, score_residuals, a, &found));
    if (!status)
        write_slopes(r, kernel, &found, a->out + r->parts + 1);
    if (!status && found.generalised)
        a->out[0] = exp(found.value);
    mc_free(place);
    mc_free(found.by_value);
    return forgive_failed_fit(ctx, r, status);
}

static mercer_status measure_leave_out(mercer_ctx *ctx, const mc_round *r, const mc_run *run, int64_t split,
                                       double *out) {
    (void)split;
    int64_t *part = NULL;
    absent a = {.round = r, .outputs = r->data->classes ? r->data->classes : r->data->outputs, .out = out};
    mercer_status status = count_rows(ctx, r, &a, &part);
    MC_THEN(status, MC_ALLOC(ctx, a.values, r->data->n * a.outputs));
    MC_THEN(status, r->slopes ? follow_out(ctx, r, run, &a) : leave_out(ctx, r, run, &a));
    mercer_data_free(a.counted);
    mc_free(a.values);
    mc_free(part);
    return status;
}

/* ---- The evidence ---- */

static mercer_status measure_evidence(mercer_ctx *ctx, const mc_round *r, const mc_run *run, int64_t split,
                                      double *out) {
    (void)split;
    for (int64_t c = run->begin; c < run->end; c++) {
        mercer_model *model = NULL;
        mc_search_space_settings(r->space, c, run->settings);
        const mercer_status status = mc_model_fit(ctx, r->space->machine, run->settings, run->kernel, r->data, &model);
        if (!status)
            *row_of(r, out, c - run->begin) = model->f.report.log_evidence;
        mercer_model_free(model);
        MC_TRY(forgive_failed_fit(ctx, r, status));
    }
    return MERCER_OK;
}

/* ---- What they take ---- */

static bool splits_share_kernel(mercer_ctx *ctx, const mc_round *r) {
    return may_share(r) && mc_svm_folds_fit(ctx, kind_of(r), r->settings, r->data, r->splits.count);
}

/* A model and what it says of the rows it is measured on, beside a fit: rows, coefficients, the packed points. */
static size_t scoring_bytes(mercer_ctx *ctx, const mc_problem *p, const mercer_data *test) {
    return (size_t)mercer_data_stored(p->x) * 12
           + (size_t)(p->n * (3 * p->outputs + 4) + 4 * test->n * p->outputs) * sizeof(double)
           + mc_gram_bytes(ctx, p->kernel, test, p->x, MERCER_F64, p->outputs);
}

static void estimate_fit_cost(mercer_ctx *ctx, const mc_round *r, const mc_problem *p, const mercer_data *test,
                              int64_t count, mc_run_cost *out) {
    (void)r, (void)count;
    out->bytes += scoring_bytes(ctx, p, test);
}

static void estimate_path_cost(mercer_ctx *ctx, const mc_round *r, const mc_problem *p, const mercer_data *test,
                               int64_t count, mc_run_cost *out) {
    out->text = r->space->has_path ? out->text : EVERY_FIT;
    out->shared = splits_share_kernel(ctx, r);
    if (!out->shared) {
        out->bytes += scoring_bytes(ctx, p, test);
        return;
    }
    out->text = "all splits and values of C over one K, warm-started along C";
    const int64_t splits = r->splits.count, others = p->outputs > 2 ? p->outputs - 1 : 0,
                  held = splits * test->n * count;
    const int64_t pair = others ? p->n : 0;
    out->bytes +=
        mc_svm_folds_bytes(r->settings, p->n, pair, splits) + mc_svm_folds_spare(ctx, r->settings, p->n, pair, splits)
        + (size_t)(held * (2 * p->outputs + others * p->outputs) + splits * p->n * others * count) * sizeof(double)
        + (others ? (size_t)(test->n * p->n) * sizeof(double) : 0);
}

static void estimate_leave_out_cost(mercer_ctx *ctx, const mc_round *r, const mc_problem *p, const mercer_data *test,
                                    int64_t count, mc_run_cost *out) {
    (void)test;
    const bool intercept = ((const mercer_ridge *)r->settings)->intercept;
    int64_t most = 0;
    for (int64_t k = 0; k < r->splits.count; k++)
        most = held_by(r, k) > most ? held_by(r, k) : most;
    if (by_factors(r, count)) {
        out->text = "held-out predictions in closed form, one factorisation per lambda";
        out->bytes = mc_ridge_leave_one_out_bytes(ctx, p, intercept, most);
        mc_ridge_leave_one_out_work(p, intercept, r->splits.fold ? r->splits.count : 0, count, &out->work);
    } else {
        out->bytes = mc_ridge_path_bytes(ctx, p, intercept, most, count);
        mc_ridge_path_work(p, intercept, r->splits.count, count, &out->work);
    }
    out->counted = true;
    out->bytes += (size_t)r->data->n * (size_t)(p->outputs + 4) * sizeof(double);
}

/* A step is a factorisation, an inverse and a product with it: about six of the first. */
static void estimate_slopes_cost(mercer_ctx *ctx, const mc_round *r, const mc_problem *p, const mercer_data *test,
                                 int64_t count, mc_run_cost *out) {
    (void)ctx, (void)test;
    const double n = (double)p->n, steps = (double)(count * STEPS_OF_SLOPES);
    out->counted = true;
    out->bytes += mc_ridge_slopes_bytes(p->n, r->splits.fold != NULL);
    out->work = (mc_solver_option){.pairs = 3 * steps * n * n, .factor = steps * FACTORS_OF_A_STEP * mc_factor_work(n)};
}

/* ---- The table ---- */

static const mc_engine fits = {
    .text = EVERY_FIT, .path = "", .measure = measure_fits, .estimate_cost = estimate_fit_cost};
static const mc_engine path = {.text = "all values of C of a split along one path, warm-started",
                               .path = "C",
                               .measure = measure_path,
                               .estimate_cost = estimate_path_cost};
static const mc_engine lambdas = {.text = "all values of lambda of a split along one path, warm-started",
                                  .path = "lambda",
                                  .measure = measure_path,
                                  .estimate_cost = estimate_path_cost};
static const mc_engine leave_out_engine = {
    .text = "held-out predictions in closed form, all values of lambda from one eigendecomposition",
    .path = "lambda",
    .whole = true,
    .measure = measure_leave_out,
    .estimate_cost = estimate_leave_out_cost};
static const mc_engine slopes = {
    .text = "held-out predictions in closed form with the gradient of their error, descent from every start",
    .path = "",
    .whole = true,
    .steps = STEPS_OF_SLOPES,
    .measure = measure_leave_out,
    .estimate_cost = estimate_slopes_cost};
static const mc_engine evidence = {.text = "the evidence (log marginal likelihood), one fit to all rows",
                                   .path = "",
                                   .whole = true,
                                   .measure = measure_evidence};

static const struct {
    const char *machine;
    const mc_engine *exact, *split;
} table[] = {{"ridge", &leave_out_engine, &fits},
             {"gp", &evidence, &fits},
             {"svc", NULL, &path},
             {"svr", NULL, &path},
             {"logistic", NULL, &lambdas},
             {"squared-hinge", NULL, &lambdas},
             {"huber", NULL, &lambdas},
             {"quantile", NULL, &lambdas},
             {"absolute", NULL, &lambdas}};

const mc_engine *mc_engine_of(const mercer_machine *machine, bool exact) {
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (strcmp(table[i].machine, machine->name) == 0)
            return exact && table[i].exact ? table[i].exact : table[i].split;
    return &fits;
}

static bool is_approximate(const mercer_ridge *set) {
    return strcmp(set->solver, "nystrom") == 0 || strcmp(set->solver, "fourier") == 0;
}

mercer_status mc_engine_slopes(mercer_ctx *ctx, const mercer_machine *machine, const void *settings,
                               const mercer_tune *set, const mc_measure_row *measure, const mc_engine **out) {
    *out = NULL;
    if (strcmp(machine->name, "gp") == 0)
        return MERCER_OK;
    if (strcmp(machine->name, "ridge") != 0)
        return mc_fail(ctx, MERCER_INVALID,
                       "tune: a gradient search knows the slopes of ridge and gp, not of %s; use search=grid or random",
                       machine->name);
    if (strcmp(measure->name, "rmse") != 0 && measure != &mc_gcv)
        return mc_fail(ctx, MERCER_INVALID,
                       "tune: a gradient search goes down the rmse or gcv of ridge, and %s has no slopes; use "
                       "search=grid or random",
                       measure->name);
    if (set->hold_out || set->ordered || set->repeats > 1 || is_approximate(settings))
        return mc_fail(ctx, MERCER_INVALID,
                       "tune: a gradient search leaves rows or folds out in closed form, which goes with no hold-out, "
                       "order of time, repeats or approximate solver; use search=grid or random");
    if (set->halving)
        return mc_fail(
            ctx, MERCER_INVALID,
            "tune: halving drops candidates of a list, and a gradient search finds its own; leave one of them out");
    *out = &slopes;
    return MERCER_OK;
}

bool mc_engine_exact(mercer_ctx *ctx, const mercer_machine *machine, const void *settings, const mercer_tune *set,
                     const mercer_data *data) {
    if (set->hold_out || set->ordered || set->repeats > 1)
        return false;
    if (strcmp(machine->name, "gp") == 0)
        return set->folds == 0 && !set->groups
               && (strcmp(set->score, "auto") == 0 || strcmp(set->score, "evidence") == 0);
    if (strcmp(machine->name, "ridge") != 0 || data->n > MC_EIGEN_LARGEST)
        return false;
    if (is_approximate(settings))
        return false;
    const double n = (double)data->n;
    return 8 * n * n + (double)mc_eigen_bytes(data->n) < 0.9 * (double)mc_memory_left(ctx);
}
