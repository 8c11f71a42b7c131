/* knn.c: nearest neighbours in feature space, the machine. Nothing is solved: rows are scaled, the kernel is bound, and
   both are kept with the targets, multiplied by their row's weight, and the weight itself in a column of its own
   (predict/neighbours.c divides by their sum). Classes become 1 in the column of the row's class and 0 in the others.
   */
#include "certify/certificate.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/status.h"
#include "data/table/columns.h"
#include "learn/common/finish_fit.h"
#include "learn/common/machines.h"
#include "predict/neighbours.h"
#include <math.h>
#include <string.h>

const mercer_setting mc_knn_settings[MC_KNN_SETTINGS] = {
    MC_INTEGER_ROW(mercer_knn, neighbors, "neighbors", 5, 1, 1e12,
                   "number of neighbours; of rows equally far the earlier one counts"),
    MC_TEXT_ROW(mercer_knn, weighting, "weighting", "uniform", "uniform|distance",
                "weight of a neighbour: all the same, or 1 / its distance in feature space"),
    MC_SCALE_ROW(mercer_knn),
};

static mercer_status prepare_knn(mercer_ctx *ctx, const void *settings, const mercer_kernel *kernel,
                                 const mercer_data *data, mc_problem *out) {
    const mercer_knn *set = settings;
    MC_TRY(mc_problem_open_classes(ctx, set->scale, mc_admit_proved, kernel, data, out));
    if (set->neighbors <= out->n)
        return MERCER_OK;
    const int64_t n = out->n;
    mc_problem_close(out);
    return mc_fail(ctx, MERCER_INVALID,
                   "knn: neighbors = %lld and there are %lld rows that count; ask for at most as many",
                   (long long)set->neighbors, (long long)n);
}

/* What is kept, and what the first prediction, of as many rows as there are, takes. */
static size_t bytes_of(mercer_ctx *ctx, const mercer_knn *set, const mc_problem *p) {
    return (size_t)(8 * p->n * (p->outputs + 1)) + mc_neighbours_bytes(ctx, p->kernel, p->x, p->x, set->neighbors);
}

static void rank_knn_solvers(mercer_ctx *ctx, const void *settings, const mc_problem *p, mc_solver_options *out) {
    *out = (mc_solver_options){.count = 1};
    mc_solver_option *o = &out->option[0];
    *o = (mc_solver_option){.solver = "rows",
                            .reason = "stores the rows; bytes and seconds are those of predicting as many"};
    o->bytes = bytes_of(ctx, settings, p);
    o->pairs = (double)p->n * (double)p->n;
    o->possible = o->bytes <= mc_memory_left(ctx);
    if (!o->possible)
        o->reason = "needs more memory than the limit leaves";
}

/* The weights as they came: a weight of 3 is to count like three rows, to the bit. alpha is all zeros before. */
static void keep_targets(const mercer_data *data, const mc_problem *p, double *alpha) {
    const int64_t width = p->outputs + 1;
    for (int64_t i = 0, from = 0; i < p->n; i++, from++) {
        while (data->weight && data->weight[from] == 0)
            from++;
        const double w = data->weight ? data->weight[from] : 1;
        for (int64_t k = 0; k < p->outputs && !p->class_of; k++)
            alpha[i * width + k] = w * p->Y[i * p->outputs + k];
        if (p->class_of)
            alpha[i * width + p->class_of[i]] = w;
        alpha[i * width + p->outputs] = w;
    }
}

static mercer_status keep_rows_and_targets(mercer_ctx *ctx, const mercer_knn *set, const mercer_data *data,
                                           const mc_problem *p, mc_fitted *out) {
    out->form = MC_NEIGHBOURS;
    out->outputs = p->outputs;
    out->by_distance = strcmp(set->weighting, "distance") == 0;
    MC_TRY(MC_ALLOC(ctx, out->alpha, p->n * (p->outputs + 1)));
    MC_TRY(MC_ALLOC(ctx, out->intercept, p->outputs));
    keep_targets(data, p, out->alpha);
    out->report =
        (mercer_report){.machine = "knn", .solver = "rows", .scale = mc_scaling_names[p->scale.kind], .stopped = "no"};
    out->report.n = p->n;
    out->report.d = mc_data_width(p->x);
    out->report.outputs = p->outputs;
    out->report.neighbors = set->neighbors;
    out->report.lambda = out->report.norm = out->report.objective = NAN;
    out->report.loo_rmse = out->report.log_evidence = out->report.loo_log_density = out->report.dof = out->report.gcv =
        NAN;
    out->report.certificate = mc_certificate_blank("exact");
    return MERCER_OK;
}

static mercer_status fit_knn(mercer_ctx *ctx, const void *settings, const mercer_kernel *kernel,
                             const mercer_data *data, mc_fitted *out) {
    const double began = mc_clock_seconds();
    mc_problem p;
    *out = (mc_fitted){0};
    MC_TRY(prepare_knn(ctx, settings, kernel, data, &p));
    mercer_status status = mc_neighbours_check(ctx, p.kernel, p.x);
    if (!status)
        status = keep_rows_and_targets(ctx, settings, data, &p, out);
    return mc_finish_fit(status, out, &p, began);
}

const mc_learner mc_knn_learner = {.fit = fit_knn, .plan = {prepare_knn, rank_knn_solvers, NULL}};
