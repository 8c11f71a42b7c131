/* machines_of_test.h: small data sets and fits that the tests of learn and model share. */
#ifndef TEST_MACHINES_H
#define TEST_MACHINES_H

#include "base/rng.h"
#include "support.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 60, COLUMNS_ = 3, OUTPUTS = 2 };

/* A table in plain arrays, so that a test can change a number and make data of it. */
typedef struct sheet {
    int64_t n, d, outputs;
    double x[ROWS * COLUMNS_], y[ROWS * OUTPUTS], w[ROWS];
    bool weighted;
} sheet;

static inline sheet random_sheet(int64_t n, int64_t outputs, uint64_t item) {
    sheet s = {.n = n, .d = COLUMNS_, .outputs = outputs};
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, item);
    for (int64_t i = 0; i < n * s.d; i++)
        s.x[i] = mc_rng_normal(&rng);
    for (int64_t i = 0; i < n; i++) {
        for (int64_t k = 0; k < outputs; k++)
            s.y[i * outputs + k] = sin(2 * s.x[i * s.d]) + (double)k * s.x[i * s.d + 1] + 0.1 * mc_rng_normal(&rng) + 3;
        s.w[i] = 0.25 + 2 * mc_rng_uniform(&rng);
    }
    return s;
}

/* With its weights whether the sheet is weighted or not, in a scenario whose memory may fail. */
static inline mercer_table table_of_sheet(const sheet *s) {
    return (mercer_table){.size = sizeof(mercer_table),
                          .n = s->n,
                          .d = s->d,
                          .dtype = MERCER_F64,
                          .values = s->x,
                          .target = s->y,
                          .outputs = s->outputs,
                          .weights = s->w};
}

static inline mercer_data *data_of(mercer_ctx *ctx, const sheet *s) {
    mercer_table table = table_of_sheet(s);
    table.weights = s->weighted ? s->w : NULL;
    mercer_data *data = NULL;
    assert_ok(ctx, mercer_data_make(ctx, &table, &data));
    return data;
}

static inline mercer_kernel *kernel_of(mercer_ctx *ctx, const char *text) {
    mercer_kernel *kernel = NULL;
    assert_ok(ctx, mercer_kernel_parse(ctx, text, &kernel));
    return kernel;
}

static inline mercer_ridge plain(double lambda) {
    mercer_ridge set = mercer_ridge_defaults();
    set.lambda = lambda;
    set.scale = "none";
    return set;
}

static inline mercer_model *fit_sheet(mercer_ctx *ctx, const char *kernel_text, const sheet *s,
                                      const mercer_ridge *set) {
    mercer_data *data = data_of(ctx, s);
    mercer_kernel *kernel = kernel_of(ctx, kernel_text);
    mercer_model *model = NULL;
    assert_ok(ctx, mercer_fit(ctx, "ridge", set, kernel, data, &model));
    mercer_kernel_free(kernel);
    mercer_data_free(data);
    return model;
}

/* A fit that may fail. */
static inline mercer_status try_sheet(mercer_ctx *ctx, const char *text, const sheet *s, const mercer_ridge *set) {
    mercer_data *data = data_of(ctx, s);
    mercer_kernel *kernel = kernel_of(ctx, text);
    mercer_model *model = NULL;
    const mercer_status status = mercer_fit(ctx, "ridge", set, kernel, data, &model);
    mercer_model_free(model);
    mercer_kernel_free(kernel);
    mercer_data_free(data);
    return status;
}

/* Predictions of a model for the rows of a sheet: n x outputs. */
static inline void predict_sheet(mercer_ctx *ctx, const mercer_model *model, const sheet *s, double *out) {
    mercer_data *data = data_of(ctx, s);
    assert_ok(ctx, mercer_predict(ctx, model, data, out));
    mercer_data_free(data);
}

#endif
