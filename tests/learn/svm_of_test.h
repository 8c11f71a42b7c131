/* svm_of_test.h: small tables and fits that the tests of support vector machines share. */
#ifndef TEST_SVM_H
#define TEST_SVM_H

#include "base/rng.h"
#include "support.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { D = 3, MOST = 2500 };

/* Rows with a class among `classes` and a number, both of which follow the first two columns with noise. */
typedef struct table {
    int64_t n, classes;
    double x[MOST * D], y[MOST], w[MOST];
    int class_of[MOST];
    bool weighted;
} table;

static inline table table_of_seed(uint64_t seed, int64_t n, int64_t classes, uint64_t item) {
    table t = {.n = n, .classes = classes};
    mc_rng rng = mc_rng_at(seed, MC_STREAM_TEST, item);
    for (int64_t i = 0; i < n; i++) {
        for (int j = 0; j < D; j++)
            t.x[i * D + j] = mc_rng_normal(&rng);
        t.y[i] = t.x[i * D] + sin(2 * t.x[i * D + 1]) + 0.4 * mc_rng_normal(&rng);
        const double place = (t.y[i] + 2) / 4 * (double)classes;
        t.class_of[i] = place < 0 ? 0 : place >= (double)classes ? (int)classes - 1 : (int)place;
        t.w[i] = 0.25 + 2 * mc_rng_uniform(&rng);
    }
    return t;
}

static inline table random_table(int64_t n, int64_t classes, uint64_t item) {
    return table_of_seed(test_seed(), n, classes, item);
}

static const char *const NAMES[] = {"ant", "bee", "cat", "dog", "eel", "fox", "gnu", "hen"};

static inline mercer_data *data_of(mercer_ctx *ctx, const table *t, bool classes) {
    const char *labels[MOST];
    for (int64_t i = 0; i < t->n; i++)
        labels[i] = NAMES[t->class_of[i]];
    mercer_table given = {.size = sizeof given, .n = t->n, .d = D, .dtype = MERCER_F64, .values = t->x};
    given.weights = t->weighted ? t->w : NULL;
    if (classes)
        given.labels = labels;
    else {
        given.target = t->y;
        given.outputs = 1;
    }
    mercer_data *data = NULL;
    assert_ok(ctx, mercer_data_make(ctx, &given, &data));
    return data;
}

static inline mercer_svm plain(const char *machine, double tolerance) {
    mercer_svm set = mercer_svm_defaults(machine);
    set.scale = "none";
    set.tolerance = tolerance;
    return set;
}

static inline bool needs_classes(const char *machine) {
    return strstr(machine, "svc") != NULL;
}

static inline mercer_status try_machine(mercer_ctx *ctx, const char *machine, const void *set, bool classes,
                                        const char *kernel_text, const table *t, mercer_model **out) {
    mercer_data *data = data_of(ctx, t, classes);
    mercer_kernel *kernel = NULL;
    *out = NULL;
    assert_ok(ctx, mercer_kernel_parse(ctx, kernel_text, &kernel));
    const mercer_status status = mercer_fit(ctx, machine, set, kernel, data, out);
    mercer_kernel_free(kernel);
    mercer_data_free(data);
    return status;
}

static inline mercer_status try_fit(mercer_ctx *ctx, const char *machine, const mercer_svm *set, const char *kernel,
                                    const table *t, mercer_model **out) {
    return try_machine(ctx, machine, set, needs_classes(machine), kernel, t, out);
}

static inline mercer_model *fit(mercer_ctx *ctx, const char *machine, const mercer_svm *set, const char *kernel,
                                const table *t) {
    mercer_model *model = NULL;
    assert_ok(ctx, try_fit(ctx, machine, set, kernel, t, &model));
    return model;
}

static inline double *decide(mercer_ctx *ctx, const mercer_model *model, const table *t) {
    mercer_data *data = data_of(ctx, t, mercer_model_classes(model) > 0 && mercer_model_row(model, 0) >= 0);
    double *out = calloc((size_t)(t->n * mercer_model_decisions(model)), sizeof *out);
    assert_ok(ctx, mercer_decide(ctx, model, data, out));
    mercer_data_free(data);
    return out;
}

static const char *const MACHINES[] = {"svc", "nu-svc", "svr", "nu-svr", "one-class"};

/* A decision without its intercept, from the training rows that the model names. */
static inline long double expansion(mercer_ctx *ctx, const mercer_model *model, const table *t, int64_t decision,
                                    const double *x) {
    long double f = 0;
    for (int64_t c = 0; c < mercer_model_centres(model); c++) {
        double k;
        assert_ok(
            ctx, mercer_kernel_value(ctx, mercer_model_kernel(model), t->x + mercer_model_row(model, c) * D, x, D, &k));
        f += (long double)mercer_model_coefficient(model, c, decision) * k;
    }
    return f;
}

#endif
