/* engines.c: how candidates are measured. One row each:

       fits      a fit of every candidate on every split
       path      engine_path.c; svc and svr: all values of C of a run on a split, each from the last, all splits over
                 one K where it fits; convex losses: all values of lambda
       left out  engine_leave_out.c; ridge: every row, or every fold, predicted without itself by closed forms, all
                 values of lambda of a run from one eigendecomposition, few of them from factorisations; nothing is
                 refitted
       slopes    the same for one lambda at a time, with the derivatives of the error
       evidence  gp: one fit to all rows */
#include "select/engines.h"
#include "base/ctx.h"
#include "base/memory.h"
#include "base/print.h"
#include "base/progress.h"
#include "base/status.h"
#include "data/table/data.h"
#include "gram/operator/gram.h"
#include "linalg/eigen.h"
#include <math.h>
#include <string.h>

/* Into the columns that belong to the split. */
mercer_status mc_score_split(mercer_ctx *ctx, const mc_round *r, mc_scored_values scored, int64_t split, double *out) {
    return r->splits.count > 1 ? mc_measure_values(ctx, r->measure, scored, &out[1 + split])
                               : mc_measure_blocks(ctx, r->measure, scored, out);
}

/* What a model says of the rows of a split. */
mercer_status mc_score_model_on_split(mercer_ctx *ctx, const mc_round *r, const mercer_model *model,
                                      const mercer_data *test, int64_t split, double *out) {
    double *values = NULL;
    if (model->f.centres->classes ? !test->classes : !test->target)
        return mc_fail(ctx, MERCER_DATA, "tune: the rows to measure on have no target of the kind that is learned");
    MC_TRY(MC_ALLOC(ctx, values, test->n * model->f.outputs));
    mercer_status status = mc_model_predict(ctx, model, test, values);
    const mc_scored_values scored = mc_model_scored_values(model, test, values);
    MC_THEN(status, mc_score_split(ctx, r, scored, split, out));
    mc_free(values);
    return status;
}

/* A numerical failure, a nu that the classes do not allow, and more neighbours than rows are the candidate's, not the
   search's: it goes without a score. */
mercer_status mc_forgive_failed_fit(mercer_ctx *ctx, const mc_round *r, mercer_status status) {
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
void mc_report_candidates(mercer_ctx *ctx, const mc_round *r, int64_t split, int64_t done, int64_t count) {
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
    MC_THEN(status, mc_score_model_on_split(ctx, r, model, test, split, out));
    mercer_model_free(model);
    return mc_forgive_failed_fit(ctx, r, status);
}

mercer_status mc_measure_fits(mercer_ctx *ctx, const mc_round *r, const mc_run *run, int64_t split, double *out) {
    mercer_data *train = NULL, *test = NULL;
    MC_TRY(mc_split_take(ctx, &r->splits, r->data, split, &train, &test));
    mercer_status status = MERCER_OK;
    for (int64_t c = run->begin; c < run->end && !status; c++) {
        status = fit_one(ctx, r, run, c, train, test, split, mc_round_row(r, out, c - run->begin));
        mc_report_candidates(ctx, r, split, c + 1 - run->begin, run->end - run->begin);
    }
    mc_split_free(&r->splits, train, test);
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
            *mc_round_row(r, out, c - run->begin) = model->f.report.log_evidence;
        mercer_model_free(model);
        MC_TRY(mc_forgive_failed_fit(ctx, r, status));
    }
    return MERCER_OK;
}

/* ---- What they take ---- */

/* A model and what it says of the rows it is measured on, beside a fit: rows, coefficients, the packed points. */
size_t mc_scoring_bytes(mercer_ctx *ctx, const mc_problem *p, const mercer_data *test) {
    return (size_t)mercer_data_stored(p->x) * 12
           + (size_t)(p->n * (3 * p->outputs + 4) + 4 * test->n * p->outputs) * sizeof(double)
           + mc_gram_bytes(ctx, p->kernel, test, p->x, MERCER_F64, p->outputs);
}

static void estimate_fit_cost(mercer_ctx *ctx, const mc_round *r, const mc_problem *p, const mercer_data *test,
                              int64_t count, mc_run_cost *out) {
    (void)r, (void)count;
    out->bytes += mc_scoring_bytes(ctx, p, test);
}

/* ---- The table ---- */

static const mc_engine fits = {
    .text = MC_EVERY_FIT, .path = "", .measure = mc_measure_fits, .estimate_cost = estimate_fit_cost};
static const mc_engine path = {.text = "all values of C of a split along one path, warm-started",
                               .path = "C",
                               .measure = mc_measure_path,
                               .estimate_cost = mc_estimate_path_cost};
static const mc_engine lambdas = {.text = "all values of lambda of a split along one path, warm-started",
                                  .path = "lambda",
                                  .measure = mc_measure_path,
                                  .estimate_cost = mc_estimate_path_cost};
static const mc_engine leave_out_engine = {
    .text = "held-out predictions in closed form, all values of lambda from one eigendecomposition",
    .path = "lambda",
    .whole = true,
    .measure = mc_measure_leave_out,
    .estimate_cost = mc_estimate_leave_out_cost};
static const mc_engine slopes = {
    .text = "held-out predictions in closed form with the gradient of their error, descent from every start",
    .path = "",
    .whole = true,
    .steps = MC_STEPS_OF_SLOPES,
    .measure = mc_measure_leave_out,
    .estimate_cost = mc_estimate_slopes_cost};
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
