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
    set.delta = 0.4;
    set.tau = 0.7;
    return set;
}

static inline mercer_status try_loss(mercer_ctx *ctx, const char *machine, const mercer_loss *set, const char *kernel, const table *t,
                              mercer_model **out) {
    return try_machine(ctx, machine, set, takes_classes(machine), kernel, t, out);
}

static inline mercer_model *fit_loss(mercer_ctx *ctx, const char *machine, const mercer_loss *set, const char *kernel, const table *t) {
    mercer_model *model = NULL;
    assert_ok(ctx, try_loss(ctx, machine, set, kernel, t, &model));
    return model;
}

static inline double *values_of(mercer_ctx *ctx, const mercer_model *model, const table *t,
                         mercer_status (*ask)(mercer_ctx *, const mercer_model *, const mercer_data *, double *)) {
    mercer_data *data = data_of(ctx, t, mercer_model_classes(model) > 0);
    double *out = calloc((size_t)(t->n * mercer_model_outputs(model)), sizeof *out);
    assert_ok(ctx, ask(ctx, model, data, out));
    mercer_data_free(data);
    return out;
}

static inline void assert_same_values(mercer_ctx *ctx, const mercer_model *a, const mercer_model *b, const table *t, double tolerance) {
    double *x = values_of(ctx, a, t, mercer_predict), *y = values_of(ctx, b, t, mercer_predict);
    for (int64_t i = 0; i < t->n * mercer_model_outputs(a); i++)
        assert_close(x[i], y[i], tolerance);
    free(x);
    free(y);
}

#endif
