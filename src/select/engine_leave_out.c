/* engine_leave_out.c: ridge with every row, or every fold, predicted without itself by closed forms, for all values of
   lambda of a run; or for one, with the derivatives of the error. */
#include "select/engines.h"
#include "base/ctx.h"
#include "base/memory.h"
#include "base/status.h"
#include "data/table/data.h"
#include "learn/ridge/ridge_gradient.h"
#include <math.h>
#include <string.h>

enum { FACTORS_OF_A_STEP = 6 };
enum { FEW_LAMBDAS = 16 }; /* so many factorisations take less time than one eigendecomposition */

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
    double *out = mc_round_row(r, a->out, l);
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
        *mc_round_row(r, out, k) = sqrt(rows[k].gcv);
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
    return mc_forgive_failed_fit(ctx, r, status);
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
    return mc_forgive_failed_fit(ctx, r, status);
}

mercer_status mc_measure_leave_out(mercer_ctx *ctx, const mc_round *r, const mc_run *run, int64_t split, double *out) {
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

/* ---- What it takes ---- */

void mc_estimate_leave_out_cost(mercer_ctx *ctx, const mc_round *r, const mc_problem *p, const mercer_data *test,
                                int64_t count, mc_run_cost *out) {
    (void)test;
    const bool intercept = ((const mercer_ridge *)r->settings)->intercept;
    int64_t most = 0;
    for (int64_t k = 0; k < r->splits.count; k++)
        most = mc_round_held(r, k) > most ? mc_round_held(r, k) : most;
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
void mc_estimate_slopes_cost(mercer_ctx *ctx, const mc_round *r, const mc_problem *p, const mercer_data *test,
                             int64_t count, mc_run_cost *out) {
    (void)ctx, (void)test;
    const double n = (double)p->n, steps = (double)(count * MC_STEPS_OF_SLOPES);
    out->counted = true;
    out->bytes += mc_ridge_slopes_bytes(p->n, r->splits.fold != NULL);
    out->work = (mc_solver_option){.pairs = 3 * steps * n * n, .factor = steps * FACTORS_OF_A_STEP * mc_factor_work(n)};
}
