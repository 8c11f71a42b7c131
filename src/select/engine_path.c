/* engine_path.c: all values of C, or of lambda, of a run along one path, each from the last; of a support vector
   machine all splits over one K where it fits. */
#include "select/engines.h"
#include "base/ctx.h"
#include "base/memory.h"
#include "base/print.h"
#include "base/status.h"
#include "data/table/data.h"
#include "learn/loss/loss_solver.h"
#include "learn/svm/svm_folds.h"
#include <math.h>
#include <string.h>

/* ---- Along C, or lambda ---- */

typedef struct path_walk {
    const mc_round *round;
    char tau[40]; /* what of the settings a score may ask for */
    const mercer_data *test;
    int64_t split, count;
    double *out;
} path_walk;

static mercer_status score_step(mercer_ctx *ctx, void *arg, int64_t k, const mc_fitted *f) {
    path_walk *w = arg;
    mercer_model model = {.f = *f, .settings = w->tau}; /* borrows all */
    model.f.open = w->test->row_start != NULL;
    mc_report_candidates(ctx, w->round, w->split, k + 1, w->count);
    return mc_score_model_on_split(ctx, w->round, &model, w->test, w->split, mc_round_row(w->round, w->out, k));
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
    path_walk w = {.round = r, .test = test, .split = split, .count = count, .out = out};
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

/* Room for the values of all splits. */
static mercer_status open_values(mercer_ctx *ctx, const mc_round *r, int64_t count) {
    mc_shared_kernel *shared = r->shared;
    int64_t all = 0;
    for (int64_t k = 0; k < r->splits.count; k++)
        all += mc_round_held(r, k);
    MC_TRY(MC_ALLOC(ctx, shared->outputs_block, all * count * shared->outputs));
    MC_TRY(MC_ALLOC(ctx, shared->values, r->splits.count));
    all = 0;
    for (int64_t k = 0; k < r->splits.count; k++) {
        shared->values[k] = shared->outputs_block + all * count * shared->outputs;
        all += mc_round_held(r, k);
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
    const int64_t few = mc_round_held(r, split), outputs = r->shared->outputs;
    mercer_data *test = NULL;
    MC_TRY(mc_data_take(ctx, r->data, r->splits.rows + r->splits.begin[2 * split + 1], few, &test));
    mercer_status status = MERCER_OK;
    for (int64_t k = 0; k < count && !status; k++) {
        const double *values = r->shared->values[split] + k * few * outputs;
        const mc_scored_values scored = {.known = test, .data = test, .outputs = outputs, .values = values, .tau = NAN};
        status = mc_score_split(ctx, r, scored, split, mc_round_row(r, out, k));
    }
    mercer_data_free(test);
    return status;
}

mercer_status mc_measure_path(mercer_ctx *ctx, const mc_round *r, const mc_run *run, int64_t split, double *out) {
    if (!r->space->has_path)
        return mc_measure_fits(ctx, r, run, split, out);
    double *value = NULL;
    MC_TRY(list_values(ctx, r, run, &value));
    mercer_status status = measure_shared_splits(ctx, r, run, value);
    MC_THEN(status, r->shared->values ? score_held_out(ctx, r, split, run->end - run->begin, out)
                                      : walk_alone(ctx, r, run, value, split, out));
    mc_free(value);
    return mc_forgive_failed_fit(ctx, r, status);
}

/* ---- What it takes ---- */

static bool splits_share_kernel(mercer_ctx *ctx, const mc_round *r) {
    return may_share(r) && mc_svm_folds_fit(ctx, kind_of(r), r->settings, r->data, r->splits.count);
}

void mc_estimate_path_cost(mercer_ctx *ctx, const mc_round *r, const mc_problem *p, const mercer_data *test,
                           int64_t count, mc_run_cost *out) {
    out->text = r->space->has_path ? out->text : MC_EVERY_FIT;
    out->shared = splits_share_kernel(ctx, r);
    if (!out->shared) {
        out->bytes += mc_scoring_bytes(ctx, p, test);
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
