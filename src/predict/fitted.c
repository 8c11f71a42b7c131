/* fitted.c: the shape of a fitted thing, its end, and that it is made of numbers. Apart from the learners, so that a
   predictor links none of them. */
#include "predict/fitted.h"
#include "base/memory.h"
#include "base/status.h"
#include "data/table/data.h"
#include "kernel/evaluate/text_rows.h"
#include "predict/feature_weights.h"
#include "predict/packed_cache.h"
#include "problem/problem.h"
#include <math.h>
#include <string.h>

const char *const mc_form_names[MC_FORMS] = {
    [MC_VALUES] = "values", [MC_PAIRS] = "pairs", [MC_REGION] = "region", [MC_NEIGHBOURS] = "neighbours"};

/* Where rows of weight zero were left out, a centre knows the place it had among all. */
static void take_places(mc_fitted *fitted, mercer_data *x) {
    if (!fitted->row && x->n > 0) {
        fitted->row = x->place;
        x->place = NULL;
    }
}

void mc_fitted_take(mc_fitted *fitted, mc_problem *problem, double seconds) {
    take_places(fitted, problem->x);
    fitted->kernel = problem->kernel;
    fitted->centres = problem->x;
    fitted->scale = problem->scale;
    fitted->report.seconds = seconds;
    problem->kernel = NULL;
    mc_text_rows_detach(problem->x);
    problem->x = NULL;
    problem->scale = (mc_scale){0};
}

void mc_fitted_free(mc_fitted *fitted) {
    mc_packed_cache_free(fitted->packed_cache);
    mercer_kernel_free(fitted->kernel);
    mercer_data_free(fitted->centres);
    mc_scale_free(&fitted->scale);
    mc_free(fitted->alpha);
    mc_free(fitted->noise);
    mc_free(fitted->intercept);
    mc_free(fitted->class_start);
    mc_free(fitted->row);
    mc_free(fitted->cost);
    mc_free(fitted->box);
    mc_free(fitted->solved);
    mc_free(fitted->primal);
    mc_free(fitted->spectrum);
    *fitted = (mc_fitted){0};
}

/* Weights that do not fit are done without: the centres are there. */
static mercer_status sum_up_centres(mercer_ctx *ctx, mc_fitted *f) {
    const int64_t features = mc_weights_worth(f), count = features * mc_form_decisions(f->form, f->outputs);
    double *weights = NULL;
    if (!features || (size_t)count * sizeof *weights > mc_memory_left(ctx) / 4)
        return MERCER_OK;
    MC_TRY(MC_ALLOC(ctx, weights, count));
    mercer_status status = mc_weights_sum(ctx, f, weights);
    if (status || mc_first_not_finite(MERCER_F64, weights, count) >= 0)
        mc_free(weights);
    else
        mc_packed_cache_keep_weights(f->packed_cache, weights, features);
    return status;
}

mercer_status mc_fitted_open_cache(mercer_ctx *ctx, mc_fitted *f) {
    const int64_t places = f->form == MC_PAIRS && f->outputs > 2 ? f->outputs : 1;
    MC_TRY(mc_packed_cache_open(ctx, places, &f->packed_cache));
    return sum_up_centres(ctx, f);
}

const char *mc_rows_solver(const mc_fitted *f) {
    return strcmp(f->report.machine, "lms") == 0 ? "--solver stored" : "--solver cholesky";
}

int64_t mc_form_width(mc_form form, int64_t outputs) {
    return form == MC_PAIRS ? outputs - 1 : form == MC_REGION ? 1 : form == MC_NEIGHBOURS ? outputs + 1 : outputs;
}

int64_t mc_form_decisions(mc_form form, int64_t outputs) {
    return form == MC_PAIRS ? outputs * (outputs - 1) / 2 : form == MC_REGION ? 1 : outputs;
}

int64_t mc_pair_of(int64_t classes, int64_t first, int64_t second) {
    return first * (2 * classes - first - 1) / 2 + second - first - 1;
}

int64_t mc_pair_votes(int64_t classes, const double *decision, int64_t c) {
    int64_t votes = 0;
    for (int64_t first = 0; first < c; first++)
        votes += !(decision[mc_pair_of(classes, first, c)] > 0);
    for (int64_t second = c + 1; second < classes; second++)
        votes += decision[mc_pair_of(classes, c, second)] > 0;
    return votes;
}

int64_t mc_pair_winner(int64_t classes, const double *decision) {
    int64_t best = 0, most = -1;
    for (int64_t c = 0; c < classes; c++) {
        const int64_t votes = mc_pair_votes(classes, decision, c);
        best = votes > most ? c : best;
        most = votes > most ? votes : most;
    }
    return best;
}

mc_pair_part mc_pair_part_of(int64_t classes, int64_t own, int64_t other) {
    if (other < own)
        return (mc_pair_part){mc_pair_of(classes, other, own), other};
    return (mc_pair_part){mc_pair_of(classes, own, other), other - 1};
}

void mc_pair_classes(int64_t classes, int64_t pair, int64_t *first, int64_t *second) {
    int64_t a = 0;
    while (mc_pair_of(classes, a, classes - 1) < pair)
        a++;
    *first = a;
    *second = pair - mc_pair_of(classes, a, a + 1) + a + 1;
}

static int64_t class_of_centre(const mc_fitted *f, int64_t centre) {
    int64_t c = 0;
    while (centre >= f->class_start[c + 1])
        c++;
    return c;
}

double mc_fitted_coefficient(const mc_fitted *f, int64_t centre, int64_t decision) {
    const int64_t width = mc_form_width(f->form, f->outputs);
    if (f->form != MC_PAIRS)
        return f->alpha[centre * width + decision];
    int64_t a, b;
    mc_pair_classes(f->outputs, decision, &a, &b);
    const int64_t c = class_of_centre(f, centre);
    return c == a ? f->alpha[centre * width + b - 1] : c == b ? f->alpha[centre * width + a] : 0;
}

mercer_status mc_fitted_show(mercer_ctx *ctx, mc_fitted *f, mercer_kernel *kernel, mc_scale scale, int64_t k,
                             mc_fitted_each *each, void *arg) {
    f->kernel = kernel;
    f->scale = scale;
    mercer_status status = mc_finite_fitted(ctx, f);
    MC_THEN(status, each(ctx, arg, k, f));
    f->kernel = NULL;
    f->scale = (mc_scale){0};
    return status;
}

/* ---- Made of numbers ---- */

/* Entries of K are watched where they are made (gram/operator/entry_fault.h); this is for what sums and
   products of them can still become. */

static const char *const CURE =
    "scale the columns or the target down, take a kernel with a smaller factor or exponent, or regularise more";

/* The number of a centre for a message: its place in the training data. */
static long long number_of(const mc_fitted *f, int64_t centre) {
    return (long long)(f->row ? f->row[centre] + 1 : mc_data_row_number(f->centres, centre));
}

static mercer_status check_coefficients(mercer_ctx *ctx, const mc_fitted *f) {
    const int64_t width = mc_form_width(f->form, f->outputs);
    const int64_t at = f->alpha ? mc_first_not_finite(MERCER_F64, f->alpha, f->centres->n * width) : -1;
    return at < 0 ? MERCER_OK
                  : mc_fail(ctx, MERCER_NUMERIC, "%s: the coefficient of row %lld is %g, which no double holds; %s",
                            f->report.machine, number_of(f, at / width), f->alpha[at], CURE);
}

/* One value for each decision. */
static mercer_status check_list(mercer_ctx *ctx, const mc_fitted *f, const char *what, const double *values,
                                int64_t count) {
    const int64_t at = values ? mc_first_not_finite(MERCER_F64, values, count) : -1;
    return at < 0 ? MERCER_OK
                  : mc_fail(ctx, MERCER_NUMERIC, "%s: %s %lld is %g, which no double holds; %s", f->report.machine,
                            what, (long long)at + 1, values[at], CURE);
}

/* Nothing is optimised by knn, and an updated model has left what was. */
static bool has_objective(const mercer_report *r) {
    return strcmp(r->certificate.kind, "exact") != 0 && strcmp(r->certificate.kind, "none") != 0;
}

mercer_status mc_finite_fitted(mercer_ctx *ctx, const mc_fitted *f) {
    const int64_t decisions = mc_form_decisions(f->form, f->outputs);
    MC_TRY(check_coefficients(ctx, f));
    MC_TRY(check_list(ctx, f, "intercept", f->intercept, decisions));
    MC_TRY(check_list(ctx, f, "weight", f->primal, decisions * f->features));
    MC_TRY(check_list(ctx, f, "number of the spectrum", f->spectrum, 2 * f->outputs));
    if (has_objective(&f->report) && !isfinite(f->report.objective))
        return mc_fail(ctx, MERCER_NUMERIC, "%s: the objective is %g, which no double holds; %s", f->report.machine,
                       f->report.objective, CURE);
    return MERCER_OK;
}

mercer_status mc_finite_values(mercer_ctx *ctx, const mercer_data *rows, int64_t width, const double *values) {
    const int64_t at = mc_first_not_finite(MERCER_F64, values, rows->n * width);
    return at < 0 ? MERCER_OK
                  : mc_fail(ctx, MERCER_NUMERIC,
                            "the value of row %lld is %g, which no double holds; look at the row, or fit with a kernel "
                            "that grows less",
                            (long long)mc_data_row_number(rows, at / width), values[at]);
}
