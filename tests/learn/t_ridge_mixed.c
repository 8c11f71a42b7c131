/* The factor in float must give the answer of the factor in double, or say that it was not used. */
#include "data/table/data.h"
#include "machines_of_test.h"
#include "model/model.h"

enum { LINES = 700, WIDE = 3, MANY_TARGETS = 40 };

static mercer_data *table_with(mercer_ctx *ctx, int64_t n, int64_t outputs, bool weighted, double spread) {
    static double x[LINES * WIDE], y[LINES * MANY_TARGETS], w[LINES];
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 90);
    for (int i = 0; i < LINES * WIDE; i++)
        x[i] = spread * mc_rng_normal(&rng);
    for (int i = 0; i < LINES * MANY_TARGETS; i++)
        y[i] = mc_rng_normal(&rng) + 3;
    for (int i = 0; i < LINES; i++)
        w[i] = 0.2 + mc_rng_uniform(&rng);
    mercer_table table = {
        .size = sizeof table, .n = n, .d = WIDE, .dtype = MERCER_F64, .values = x, .target = y, .outputs = outputs};
    table.weights = weighted ? w : NULL;
    mercer_data *data = NULL;
    assert_ok(ctx, mercer_data_make(ctx, &table, &data));
    return data;
}

static mercer_model *fit_by(mercer_ctx *ctx, const mercer_data *data, const char *solver, double lambda,
                            bool intercept) {
    mercer_ridge set = mercer_ridge_defaults();
    mercer_model *model = NULL;
    mercer_kernel *kernel = kernel_of(ctx, "rbf(gamma=0.7) + 0.1*linear");
    set.solver = solver;
    set.lambda = lambda;
    set.intercept = intercept;
    set.scale = "none";
    assert_ok(ctx, mercer_fit(ctx, "ridge", &set, kernel, data, &model));
    mercer_kernel_free(kernel);
    return model;
}

static void compare(mercer_ctx *ctx, const mercer_data *data, double lambda, bool intercept) {
    static double a[LINES * MANY_TARGETS], b[LINES * MANY_TARGETS];
    mercer_model *doubles = fit_by(ctx, data, "cholesky", lambda, intercept),
                 *floats = fit_by(ctx, data, "mixed", lambda, intercept);
    assert_string_equal(mercer_model_report(floats)->solver, "mixed");
    assert_in_range(mercer_model_report(floats)->iterations, 1, 60);
    assert_true(mercer_model_report(floats)->certificate.residual
                <= 1.01 * mercer_model_report(doubles)->certificate.residual + 1e-9);
    assert_ok(ctx, mercer_predict(ctx, doubles, data, a));
    assert_ok(ctx, mercer_predict(ctx, floats, data, b));
    for (int64_t i = 0; i < data->n * mercer_data_outputs(data); i++)
        assert_close(a[i], b[i], 1e-9);
    mercer_model_free(doubles);
    mercer_model_free(floats);
}

static void test_floats_give_the_answer_of_doubles(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    for (int k = 0; k < 8; k++) {
        mercer_data *data = table_with(ctx, LINES - k % 3, k == 7 ? MANY_TARGETS : 1 + k % 3, k & 1, 1);
        compare(ctx, data, k & 4 ? 0.3 : 0.01, k & 2);
        mercer_data_free(data);
    }
    close_clean(ctx);
}

/* Nearly all entries are far below the smallest float: they may cost neither time nor digits. */
static void test_entries_that_floats_cannot_hold(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    mercer_data *data = table_with(ctx, 300, 2, false, 12);
    compare(ctx, data, 0.1, true);
    mercer_data_free(data);
    close_clean(ctx);
}

static void test_a_small_lambda_is_left_to_doubles_and_said(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    mercer_data *data = table_with(ctx, 400, 2, true, 0.3);
    for (double lambda = 1e-5; lambda > 1e-11; lambda /= 100) {
        mercer_model *model = fit_by(ctx, data, "mixed", lambda, true),
                     *other = fit_by(ctx, data, "cholesky", lambda, true);
        const mercer_report *r = mercer_model_report(model);
        const bool floats = strcmp(r->solver, "mixed") == 0;
        assert_true(floats || strcmp(r->solver, "cholesky") == 0);
        assert_true(r->certificate.residual_relative
                    <= 2 * mercer_model_report(other)->certificate.residual_relative + 1e-9);
        if (lambda < 1e-8)
            assert_false(floats);
        mercer_model_free(model);
        mercer_model_free(other);
    }
    mercer_data_free(data);
    close_clean(ctx);
}

static void test_the_bits_do_not_depend_on_the_threads(void **state) {
    (void)state;
    mercer_ctx *one = open_ctx(1), *four = open_ctx(4);
    mercer_data *data = table_with(one, LINES, 2, true, 1);
    mercer_model *a = fit_by(one, data, "mixed", 0.1, true), *b = fit_by(four, data, "mixed", 0.1, true);
    assert_memory_equal(a->f.alpha, b->f.alpha, (size_t)(LINES * 2) * sizeof(double));
    mercer_model_free(a);
    mercer_model_free(b);
    mercer_data_free(data);
    close_clean(one);
    close_clean(four);
}

static void test_what_it_does_not_do_is_refused(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    mercer_data *data = table_with(ctx, 50, 1, false, 1);
    mercer_kernel *kernel = kernel_of(ctx, "rbf(gamma=1)");
    mercer_model *model = NULL;
    mercer_ridge set = mercer_ridge_defaults();
    set.solver = "mixed";
    set.loo = true;
    assert_fails(ctx, mercer_fit(ctx, "ridge", &set, kernel, data, &model), MERCER_INVALID, "leave-one-out");
    set.loo = false;
    set.lambda = 0;
    assert_fails(ctx, mercer_fit(ctx, "ridge", &set, kernel, data, &model), MERCER_INVALID, "lambda > 0");
    mercer_kernel_free(kernel);
    mercer_data_free(data);
    close_clean(ctx);
}

static mercer_status fit_small(mercer_ctx *ctx, void *arg) {
    (void)arg;
    const double x[] = {0, 1, 2, 3, 4, 5, 6}, y[] = {1, 0, 2, 1, 3, 1, 0};
    const mercer_table table = {
        .size = sizeof table, .n = 7, .d = 1, .dtype = MERCER_F64, .values = x, .target = y, .outputs = 1};
    mercer_ridge set = mercer_ridge_defaults();
    set.solver = "mixed";
    return try_table(ctx, "ridge", &set, "rbf(gamma=1)", &table);
}

static void test_survives_failing_memory(void **state) {
    (void)state;
    assert_survives_failing_memory(fit_small, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_floats_give_the_answer_of_doubles),
        cmocka_unit_test(test_entries_that_floats_cannot_hold),
        cmocka_unit_test(test_a_small_lambda_is_left_to_doubles_and_said),
        cmocka_unit_test(test_the_bits_do_not_depend_on_the_threads),
        cmocka_unit_test(test_what_it_does_not_do_is_refused),
        cmocka_unit_test(test_survives_failing_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
