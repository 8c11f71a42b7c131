/* The two approximations against the exact fit: equal where they must be, close where they should be, and honest about
   the rest. */
#include "base/rng.h"
#include "data/table/data.h"
#include "certify/sampled_rows.h"
#include "model/model.h"
#include "support.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { N = 300, D = 2, OUTPUTS = 2 };

static mercer_data *table_of(mercer_ctx *ctx, bool weighted) {
    static double x[N * D], y[N * OUTPUTS], w[N];
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 80);
    for (int i = 0; i < N * D; i++)
        x[i] = mc_rng_normal(&rng);
    for (int i = 0; i < N; i++) {
        w[i] = 0.2 + mc_rng_uniform(&rng);
        for (int k = 0; k < OUTPUTS; k++)
            y[i * OUTPUTS + k] = sin(2 * x[i * D] + k) * x[i * D + 1] + 0.1 * mc_rng_normal(&rng) + 4;
    }
    const mercer_table table = {.size = sizeof table,
                                .n = N,
                                .d = D,
                                .dtype = MERCER_F64,
                                .values = x,
                                .target = y,
                                .outputs = OUTPUTS,
                                .weights = weighted ? w : NULL};
    mercer_data *data = NULL;
    assert_ok(ctx, mercer_data_make(ctx, &table, &data));
    return data;
}

static mercer_ridge settings_of(const char *solver, int64_t rank) {
    mercer_ridge set = mercer_ridge_defaults();
    set.lambda = 0.1;
    set.scale = "none";
    set.solver = solver;
    set.rank = rank;
    set.tolerance = 1e-9;
    return set;
}

static mercer_model *fit(mercer_ctx *ctx, const mercer_data *data, const char *text, const mercer_ridge *set) {
    return fit_model(ctx, "ridge", set, text, data);
}

/* The root of the weighted sum of squares between the predictions of two models on the training rows. */
static double distance(mercer_ctx *ctx, const mercer_model *a, const mercer_model *b, const mercer_data *data) {
    static double fa[N * OUTPUTS], fb[N * OUTPUTS];
    double sum = 0;
    assert_ok(ctx, mercer_predict(ctx, a, data, fa));
    assert_ok(ctx, mercer_predict(ctx, b, data, fb));
    for (int i = 0; i < N * OUTPUTS; i++)
        sum += (data->weight ? data->weight[i / OUTPUTS] : 1) * (fa[i] - fb[i]) * (fa[i] - fb[i]);
    return sqrt(sum);
}

/* With every row a landmark the restricted problem is the whole one. */
static void test_all_rows_as_landmarks_are_exact(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    for (int variant = 0; variant < 4; variant++) {
        mercer_data *data = table_of(ctx, variant & 1);
        mercer_ridge exact = settings_of("cholesky", 0), all = settings_of("nystrom", N);
        all.landmarks = "uniform";
        exact.intercept = all.intercept = variant & 2;
        mercer_model *a = fit(ctx, data, "rbf(gamma=3)", &exact), *b = fit(ctx, data, "rbf(gamma=3)", &all);
        assert_true(distance(ctx, a, b, data) < 1e-6);
        assert_close(mercer_model_report(a)->objective, mercer_model_report(b)->objective, 1e-7);
        assert_true(mercer_model_report(b)->approximate && !mercer_model_report(a)->approximate);
        mercer_model_free(a);
        mercer_model_free(b);
        mercer_data_free(data);
    }
    close_clean(ctx);
}

/* All rows are in the sample here, so the residual is exact and must bound the distance to the exact predictions. */
static void test_the_residual_bounds_the_distance_to_the_exact_fit(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    static const char *const solvers[] = {"nystrom", "nystrom", "fourier"}, *const landmarks[] = {"pivots", "uniform",
                                                                                                  "pivots"};
    for (int variant = 0; variant < 12; variant++) {
        mercer_data *data = table_of(ctx, variant & 1);
        mercer_ridge exact = settings_of("cholesky", 0), near = settings_of(solvers[variant / 4], 40);
        near.landmarks = landmarks[variant / 4];
        exact.intercept = near.intercept = variant & 2;
        mercer_model *a = fit(ctx, data, "0.8*rbf(gamma=1)", &exact), *b = fit(ctx, data, "0.8*rbf(gamma=1)", &near);
        const mercer_certificate *c = &mercer_model_report(b)->certificate;
        const double apart = distance(ctx, a, b, data);
        assert_string_equal(c->kind, "sampled residual");
        assert_int_equal(c->sampled_rows, N);
        assert_true(apart > 1e-6 && apart <= c->residual * (1 + 1e-6));
        assert_close(c->residual, c->residual_estimate, 1e-12);
        assert_int_equal(mercer_model_centres(b), solvers[variant / 4][0] == 'f' ? 80 : 40);
        mercer_model_free(a);
        mercer_model_free(b);
        mercer_data_free(data);
    }
    close_clean(ctx);
}

static void test_a_saved_model_predicts_the_same(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    mercer_data *data = table_of(ctx, false);
    for (int k = 0; k < 2; k++) {
        const mercer_ridge set = settings_of(k ? "fourier" : "nystrom", 25);
        mercer_model *model = fit(ctx, data, "matern(nu=2.5, length_scale=1)", &set), *again = NULL;
        char path[64];
        snprintf(path, sizeof path, "/tmp/mercer-approximate-%ld", (long)getpid());
        assert_ok(ctx, mercer_model_save(ctx, model, path));
        assert_ok(ctx, mercer_model_load(ctx, path, &again));
        assert_true(distance(ctx, model, again, data) == 0);
        assert_true(mercer_model_report(again)->approximate);
        assert_int_equal(mercer_model_report(again)->certificate.sampled_rows, N);
        unlink(path);
        mercer_model_free(model);
        mercer_model_free(again);
    }
    mercer_data_free(data);
    close_clean(ctx);
}

static void test_listed_landmarks_are_taken_and_copies_dropped(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    mercer_data *data = table_of(ctx, false);
    mercer_ridge set = settings_of("nystrom", 0);
    set.landmarks = "7,1,300,7,1";
    mercer_model *model = fit(ctx, data, "rbf(gamma=1)", &set);
    assert_int_equal(mercer_model_centres(model), 3);
    int64_t sum = 0;
    for (int64_t i = 0; i < 3; i++)
        sum += mercer_model_row(model, i);
    assert_int_equal(sum, 6 + 0 + 299);
    mercer_model_free(model);
    set.landmarks = "12"; /* how many */
    model = fit(ctx, data, "rbf(gamma=1)", &set);
    assert_int_equal(mercer_model_centres(model), 12);
    mercer_model_free(model);
    mercer_kernel *kernel = NULL;
    assert_ok(ctx, mercer_kernel_parse(ctx, "rbf(gamma=1) + linear", &kernel));
    static const char *const wrong[] = {"0", "301", "1,x", "", "1.5", "1,301"};
    for (int i = 0; i < 6; i++) {
        set.landmarks = wrong[i];
        assert_int_equal(mercer_fit(ctx, "ridge", &set, kernel, data, &model), MERCER_INVALID);
        assert_non_null(strstr(mercer_message(ctx), "landmark"));
    }
    set = settings_of("fourier", 10);
    assert_fails(ctx, mercer_fit(ctx, "ridge", &set, kernel, data, &model), MERCER_INVALID, "stationary");
    set.lambda = 0;
    assert_fails(ctx, mercer_fit(ctx, "ridge", &set, kernel, data, &model), MERCER_INVALID, "lambda > 0");
    set = settings_of("nystrom", 10);
    set.checkpoint = "/tmp/never";
    assert_fails(ctx, mercer_fit(ctx, "ridge", &set, kernel, data, &model), MERCER_INVALID, "checkpoint");
    mercer_kernel_free(kernel);
    mercer_data_free(data);
    close_clean(ctx);
}

/* Squares of normals times a spread of scales: skewed, as residuals are. The bound must hold in about 95 of 100
   samples. */
static void test_the_confidence_bound_covers(void **state) {
    (void)state;
    enum { POPULATION = 20000, SAMPLE = 500, TRIES = 600 };
    static double v[POPULATION];
    double truth = 0;
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 81);
    for (int i = 0; i < POPULATION; i++) {
        const double g = mc_rng_normal(&rng) * exp(0.7 * mc_rng_normal(&rng));
        truth += (v[i] = g * g) / POPULATION;
    }
    int held = 0;
    for (int try = 0; try < TRIES; try++) {
        double mean = 0, second = 0, third = 0, sample[SAMPLE];
        for (int i = 0; i < SAMPLE; i++)
            mean += (sample[i] = v[mc_rng_below(&rng, POPULATION)]) / SAMPLE;
        for (int i = 0; i < SAMPLE; i++) {
            second += pow(sample[i] - mean, 2) / SAMPLE;
            third += pow(sample[i] - mean, 3) / SAMPLE;
        }
        held += mc_sample_upper(POPULATION, SAMPLE, mean, sqrt(second), third / pow(second, 1.5)) >= truth;
    }
    assert_in_range(held, (int)(0.90 * TRIES), TRIES);
    assert_true(mc_sample_upper(10, 10, 3, 2, 1) == 3);
}

/* n rows of which a few lie far out, in the target or in the columns, or whose noise has heavy tails: |r| as it is,
   over all rows, against the estimate from 1024 of them. */
static mercer_data *outlying(mercer_ctx *ctx, int how, uint64_t item, int64_t n) {
    double *x = malloc((size_t)(n * D) * sizeof *x), *y = malloc((size_t)n * sizeof *y);
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 900 + item);
    for (int64_t i = 0; i < n * D; i++)
        x[i] = mc_rng_normal(&rng);
    for (int64_t i = 0; i < n; i++)
        y[i] = sin(2 * x[i * D]) + (how == 2 ? 0.1 * exp(3 * mc_rng_normal(&rng)) : 0.1) * mc_rng_normal(&rng);
    const int64_t one = mc_rng_below(&rng, n);
    y[one] += how == 0 ? 1e3 : how == 1 ? 10 : 0;
    x[one * D] += how == 1 ? 30 : 0;
    const mercer_table table = {
        .size = sizeof table, .n = n, .d = D, .dtype = MERCER_F64, .values = x, .target = y, .outputs = 1};
    mercer_data *data = NULL;
    assert_ok(ctx, mercer_data_make(ctx, &table, &data));
    free(x), free(y);
    return data;
}

/* |f - K alpha|, alpha = (y - f) / lambda. */
static double true_residual(mercer_ctx *ctx, const mercer_model *model, const mercer_data *data, double lambda) {
    double *f = calloc((size_t)(3 * data->n), sizeof *f), *alpha = f + data->n, *Ka = alpha + data->n, sum = 0;
    assert_ok(ctx, mercer_predict(ctx, model, data, f));
    for (int64_t i = 0; i < data->n; i++)
        alpha[i] = (data->target[i] - f[i]) / lambda;
    assert_ok(ctx, mercer_gram_apply(ctx, mercer_model_kernel(model), data, NULL, MERCER_F64, alpha, 1, Ka));
    for (int64_t i = 0; i < data->n; i++)
        sum += (f[i] - Ka[i]) * (f[i] - Ka[i]);
    free(f);
    return sqrt(sum);
}

static void test_one_row_far_out_does_not_hide(void **state) {
    (void)state;
    enum { SEEDS = 8, MANY = 3000 };
    static const char *const kernels[] = {"rbf(gamma=2)", "rbf(gamma=2) + 0.1*linear"};
    int held = 0, total = 0;
    for (int how = 0; how < 3; how++)
        for (uint64_t seed = 0; seed < SEEDS; seed++) {
            mercer_options options = mercer_options_defaults();
            options.seed = seed + 1;
            mercer_ctx *ctx = NULL;
            assert_ok(ctx, mercer_open(&options, &ctx));
            mercer_data *data = outlying(ctx, how, seed, MANY);
            mercer_ridge set = settings_of("nystrom", 40);
            mercer_model *model = fit(ctx, data, kernels[seed % 2], &set);
            const mercer_certificate *c = &mercer_model_report(model)->certificate;
            const double r = true_residual(ctx, model, data, set.lambda);
            assert_int_equal(c->sampled_rows, 1024);
            assert_true(c->residual_estimate >= 0.5 * r && c->residual_estimate <= 2 * r);
            held += c->residual >= r;
            total++;
            mercer_model_free(model);
            mercer_data_free(data);
            mercer_close(ctx);
        }
    print_message("# %d of %d upper estimates are above the residual\n", held, total);
    assert_true(held >= total - 2);
}

static void test_the_bits_do_not_depend_on_the_threads(void **state) {
    (void)state;
    for (int k = 0; k < 2; k++) {
        mercer_ctx *one = open_ctx(1), *four = open_ctx(4);
        mercer_data *data = table_of(one, true);
        const mercer_ridge set = settings_of(k ? "fourier" : "nystrom", 30);
        mercer_model *a = fit(one, data, "rbf(gamma=1)", &set), *b = fit(four, data, "rbf(gamma=1)", &set);
        assert_memory_equal(a->f.alpha, b->f.alpha, (size_t)(mercer_model_centres(a) * OUTPUTS) * sizeof(double));
        mercer_model_free(a);
        mercer_model_free(b);
        mercer_data_free(data);
        close_clean(one);
        close_clean(four);
    }
}

static mercer_status fit_small(mercer_ctx *ctx, void *arg) {
    const double x[] = {0, 1, 2, 3, 4, 5, 6, 7}, y[] = {1, 0, 2, 1, 3, 1, 0, 1};
    const mercer_table table = {
        .size = sizeof table, .n = 8, .d = 1, .dtype = MERCER_F64, .values = x, .target = y, .outputs = 1};
    const mercer_ridge set = settings_of(arg, 3);
    return try_table(ctx, "ridge", &set, "rbf(gamma=1)", &table);
}

static void test_survives_failing_memory(void **state) {
    (void)state;
    assert_survives_failing_memory(fit_small, (void *)(uintptr_t) "nystrom");
    assert_survives_failing_memory(fit_small, (void *)(uintptr_t) "fourier");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_rows_as_landmarks_are_exact),
        cmocka_unit_test(test_the_residual_bounds_the_distance_to_the_exact_fit),
        cmocka_unit_test(test_one_row_far_out_does_not_hide),
        cmocka_unit_test(test_a_saved_model_predicts_the_same),
        cmocka_unit_test(test_listed_landmarks_are_taken_and_copies_dropped),
        cmocka_unit_test(test_the_confidence_bound_covers),
        cmocka_unit_test(test_the_bits_do_not_depend_on_the_threads),
        cmocka_unit_test(test_survives_failing_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
