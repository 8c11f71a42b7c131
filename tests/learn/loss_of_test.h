/* loss_of_test.h: fits of machines with a convex loss, and what they say, for their tests. */
#ifndef TEST_LOSS_H
#define TEST_LOSS_H

#include "svm_of_test.h"

static const char *const LOSSES[] = {"logistic", "squared-hinge", "huber", "quantile", "absolute"};
enum { COUNT = 5, SMOOTH = 3 };

static inline bool takes_classes(const char *machine) {
    return strcmp(machine, "logistic") == 0 || strcmp(machine, "squared-hinge") == 0;
}

static inline mercer_loss settings(const char *machine, double lambda, double tolerance) {
    mercer_loss set = mercer_loss_defaults(machine);
    set.scale = "none";
    set.lambda = lambda;
    set.tolerance = tolerance;
    set.delta = strcmp(machine, "huber") == 0 ? 0.4 : set.delta;
    set.tau = strcmp(machine, "quantile") == 0 ? 0.7 : set.tau;
    return set;
}

static inline mercer_status try_loss(mercer_ctx *ctx, const char *machine, const mercer_loss *set, const char *kernel,
                                     const table *t, mercer_model **out) {
    return try_machine(ctx, machine, set, takes_classes(machine), kernel, t, out);
}

static inline mercer_model *fit_loss(mercer_ctx *ctx, const char *machine, const mercer_loss *set, const char *kernel,
                                     const table *t) {
    mercer_model *model = NULL;
    assert_ok(ctx, try_loss(ctx, machine, set, kernel, t, &model));
    return model;
}

static inline double *values_of(mercer_ctx *ctx, const mercer_model *model, const table *t,
                                mercer_status (*ask)(mercer_ctx *, const mercer_model *, const mercer_data *,
                                                     double *)) {
    mercer_data *data = data_of(ctx, t, mercer_model_classes(model) > 0);
    double *out = calloc((size_t)(t->n * mercer_model_outputs(model)), sizeof *out);
    assert_ok(ctx, ask(ctx, model, data, out));
    mercer_data_free(data);
    return out;
}

static inline void assert_same_values(mercer_ctx *ctx, const mercer_model *a, const mercer_model *b, const table *t,
                                      double tolerance) {
    double *x = values_of(ctx, a, t, mercer_predict), *y = values_of(ctx, b, t, mercer_predict);
    for (int64_t i = 0; i < t->n * mercer_model_outputs(a); i++)
        assert_close(x[i], y[i], tolerance);
    free(x);
    free(y);
}

static inline double coefficient_of_row(const mercer_model *model, int64_t row, int64_t decision) {
    for (int64_t c = 0; c < mercer_model_centres(model); c++)
        if (mercer_model_row(model, c) == row)
            return mercer_model_coefficient(model, c, decision);
    return 0;
}

/* Steps taken for so many classes: stretches of a line, a tenth of the rows in a wrong one. */
static inline int64_t softmax_steps(mercer_ctx *ctx, int64_t classes) {
    enum { ROWS = 300 };
    double x[ROWS];
    char name[ROWS][8];
    const char *labels[ROWS];
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 707);
    for (int i = 0; i < ROWS; i++) {
        x[i] = 6 * mc_rng_uniform(&rng);
        const double place = mc_rng_uniform(&rng) < 0.1 ? mc_rng_uniform(&rng) : x[i] / 6;
        snprintf(name[i], sizeof name[i], "c%d", (int)(place * (double)classes));
        labels[i] = name[i];
    }
    const mercer_table given = {
        .size = sizeof given, .n = ROWS, .d = 1, .dtype = MERCER_F64, .values = x, .labels = labels};
    const mercer_loss set = settings("logistic", 0.01, 1e-6);
    mercer_data *data = NULL;
    mercer_kernel *kernel = NULL;
    mercer_model *model = NULL;
    assert_ok(ctx, mercer_data_make(ctx, &given, &data));
    assert_ok(ctx, mercer_kernel_parse(ctx, "rbf(gamma=4)", &kernel));
    assert_ok(ctx, mercer_fit(ctx, "logistic", &set, kernel, data, &model));
    const mercer_report *r = mercer_model_report(model);
    assert_true(mercer_model_classes(model) == classes && r->certificate.gap_relative <= 1e-6);
    const int64_t steps = r->iterations;
    mercer_model_free(model);
    mercer_kernel_free(kernel);
    mercer_data_free(data);
    return steps;
}

#endif
