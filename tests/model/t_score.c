/* Scores by hand on small tables, and the checks in front of a prediction. */
#include "../learn/machines_of_test.h"
#include "model/model.h"
#include "predict/packed_cache.h"

/* A model that predicts what a column says: k = linear on one column, alpha chosen. */
static mercer_model *echo(mercer_ctx *ctx, const char *const *labels, int64_t outputs) {
    static const double x[] = {1, 1, 1}, y[] = {0, 1, 2, 3, 4, 5};
    mercer_table table = {.size = sizeof table, .n = 3, .d = 1, .dtype = MERCER_F64, .values = x};
    table.labels = labels;
    table.target = labels ? NULL : y;
    table.outputs = labels ? 0 : outputs;
    mercer_data *data = NULL;
    assert_ok(ctx, mercer_data_make(ctx, &table, &data));
    mercer_kernel *kernel = kernel_of(ctx, "linear");
    mercer_ridge set = plain(1);
    set.solver = "cholesky";
    mercer_model *model = NULL;
    assert_ok(ctx, mercer_fit(ctx, "ridge", &set, kernel, data, &model));
    for (int64_t k = 0; k < model->f.outputs; k++)
        for (int64_t i = 0; i < 3; i++)
            model->f.alpha[i * model->f.outputs + k] = i ? 0 : k % 2 ? 1 : -1; /* f = (-x, x) */
    mc_packed_cache_free(model->f.packed_cache);
    model->f.packed_cache = NULL;
    mercer_kernel_free(kernel);
    mercer_data_free(data);
    return model;
}

static mercer_scores score_of(mercer_ctx *ctx, const mercer_model *model, const mercer_table *table) {
    mercer_data *data = NULL;
    mercer_scores scores = {.size = sizeof scores};
    assert_ok(ctx, mercer_data_make(ctx, table, &data));
    assert_ok(ctx, mercer_score(ctx, model, data, &scores));
    mercer_data_free(data);
    return scores;
}

static void test_numbers_are_scored_by_the_definitions(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    mercer_model *model = echo(ctx, NULL, 1);
    const double x[] = {-1, -2, -3, -4}, y[] = {1, 2, 3, 8}, w[] = {1, 1, 1, 0}; /* f = -x: off by 4 in the last */
    mercer_table table = {
        .size = sizeof table, .n = 4, .d = 1, .dtype = MERCER_F64, .values = x, .target = y, .outputs = 1};
    mercer_scores s = score_of(ctx, model, &table);
    assert_close(s.rmse, 2, 1e-15);
    assert_close(s.mae, 1, 1e-15);
    assert_close(s.r2, 1 - 16 / (6.25 + 2.25 + 0.25 + 20.25), 1e-15);
    assert_true(isnan(s.accuracy) && isnan(s.auc) && s.n == 4);
    table.weights = w;
    s = score_of(ctx, model, &table);
    assert_close(s.rmse, 0, 1e-15);
    assert_close(s.r2, 1, 1e-15);
    table.n = 1;
    table.weights = NULL;
    s = score_of(ctx, model, &table);
    assert_true(isnan(s.r2) && s.rmse == 0);
    mercer_model_free(model);
    close_clean(ctx);
}

/* Squares of 1e200 are no doubles; their root and ratio are. */
static void test_large_numbers_have_finite_scores(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    mercer_model *model = echo(ctx, NULL, 1);
    const double x[] = {-1, -2, -3, -4}, w[] = {1e300, 1e300, 1e300, 1e300};
    double y[] = {1e200, 2e200, 3e200, 8e200};
    mercer_table table = {
        .size = sizeof table, .n = 4, .d = 1, .dtype = MERCER_F64, .values = x, .target = y, .outputs = 1};
    mercer_scores s = score_of(ctx, model, &table);
    assert_close(s.rmse / 1e200, sqrt(78 / 4.0), 1e-14);
    assert_close(s.mae / 1e200, 3.5, 1e-14);
    assert_close(s.r2, 1 - 78 / 29.0, 1e-14);
    table.weights = w;
    assert_close(score_of(ctx, model, &table).rmse / 1e200, sqrt(78 / 4.0), 1e-14);
    for (int i = 0; i < 4; i++)
        y[i] = (i + 1) * 1e-250; /* the spread of the target is nothing beside the errors */
    s = score_of(ctx, model, &table);
    assert_true(s.rmse > 2 && s.r2 == -INFINITY);
    y[0] = -1.7e308;
    mercer_data *data = NULL;
    const double far[] = {-1.7e308, 1, 1, 1};
    table.values = far;
    assert_ok(ctx, mercer_data_make(ctx, &table, &data));
    assert_fails(ctx, mercer_score(ctx, model, data, &s), MERCER_NUMERIC, "row 1 has target -1.7e+308");
    mercer_data_free(data);
    mercer_model_free(model);
    close_clean(ctx);
}

static void test_several_outputs_are_averaged(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    mercer_model *model = echo(ctx, NULL, 2);
    const double x[] = {1, 2}, y[] = {-1, 1, -2, 4}; /* f = (-1, 1), (-2, 2) */
    const mercer_table table = {
        .size = sizeof table, .n = 2, .d = 1, .dtype = MERCER_F64, .values = x, .target = y, .outputs = 2};
    const mercer_scores s = score_of(ctx, model, &table);
    assert_close(s.rmse, 1, 1e-15);
    assert_close(s.mae, 0.5, 1e-15);
    assert_close(s.r2, (1 + (1 - 4 / 4.5)) / 2, 1e-15);
    mercer_model_free(model);
    close_clean(ctx);
}

static void test_two_classes_have_an_area(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    static const char *const train[] = {"a", "b", "a"};
    mercer_model *model = echo(ctx, train, 0); /* b when x > 0 */
    const double x[] = {-2, -1, 1, 1, 3};
    static const char *const labels[] = {"a", "b", "a", "b", "b"};
    mercer_table table = {.size = sizeof table, .n = 5, .d = 1, .dtype = MERCER_F64, .values = x, .labels = labels};
    mercer_scores s = score_of(ctx, model, &table);
    assert_close(s.accuracy, 3.0 / 5, 1e-15);
    assert_close(s.balanced_accuracy, (1.0 / 2 + 2.0 / 3) / 2, 1e-15);
    assert_close(s.auc, (1 + 1.5 + 2) / 6,
                 1e-15); /* of 2 x 3 pairs: -1 beats -2, 1 beats -2 and ties 1, 3 beats both */
    assert_true(isnan(s.rmse) && isnan(s.log_loss));
    static const char *const alone[] = {"b", "b", "b", "b",
                                        "b"}; /* one class, which the data number 0 and the model 1 */
    table.labels = alone;
    s = score_of(ctx, model, &table);
    assert_close(s.accuracy, 3.0 / 5, 1e-15);
    assert_true(isnan(s.auc));
    mercer_model_free(model);
    close_clean(ctx);
}

/* Echo's classes are in the order of the labels it was trained with: b where x > 0, a elsewhere. */
static void test_classes_are_counted_against_each_other(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    static const char *const train[] = {"a", "b", "a"}, *const labels[] = {"z", "b", "a", "b", "a", "a"};
    mercer_model *model = echo(ctx, train, 0), *numbers = echo(ctx, NULL, 1);
    const double x[] = {1, 1, 1, -1, -1, -2}, w[] = {1, 2, 3, 4, 5, 0.5};
    mercer_table table = {
        .size = sizeof table, .n = 6, .d = 1, .dtype = MERCER_F64, .values = x, .labels = labels, .weights = w};
    mercer_data *data = NULL;
    mercer_scores with = {.size = sizeof with}, without = with;
    double confusion[6] = {9, 9, 9, 9, 9, 9};
    assert_ok(ctx, mercer_data_make(ctx, &table, &data));
    assert_ok(ctx, mercer_score(ctx, model, data, &without));
    assert_ok(ctx, mercer_score_classes(ctx, model, data, &with, confusion));
    const double expected[] = {5.5, 3, 4, 2, 0, 1}; /* a; b; z, which the model does not know */
    for (int k = 0; k < 6; k++)
        assert_close(confusion[k], expected[k], 1e-15);
    assert_close(with.accuracy, 7.5 / 15.5, 1e-15);
    assert_close(with.f1, 2 * 2 / (6.0 + 6), 1e-15);
    assert_true(with.accuracy == without.accuracy && with.f1 == without.f1);
    assert_fails(ctx, mercer_score_classes(ctx, numbers, data, &with, confusion), MERCER_INVALID, "predicts numbers");
    mercer_data_free(data);
    mercer_model_free(numbers);
    mercer_model_free(model);
    close_clean(ctx);
}

/* Whatever made them: no loop waits for two of them to be equal. */
static void test_values_that_are_no_numbers_have_no_area(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    const char *const labels[] = {"a", "b", "a", "b"};
    const double x[] = {1, 2, 3, 4}, bad[] = {NAN, INFINITY, -INFINITY};
    for (int b = 0; b < 3; b++) {
        const double values[] = {1, -1, bad[b], bad[b], -1, 1, bad[b], 0};
        mercer_table table = {.size = sizeof table, .n = 4, .d = 1, .dtype = MERCER_F64, .values = x, .labels = labels};
        mercer_data *data = NULL;
        mercer_scores scores = {.size = sizeof scores};
        assert_ok(ctx, mercer_data_make(ctx, &table, &data));
        const mc_scored_values scored = {.known = data, .data = data, .outputs = 2, .values = values, .tau = NAN};
        assert_ok(ctx, mc_score_values(ctx, &scored, &scores));
        assert_true(isnan(scores.auc));
        mercer_data_free(data);
    }
    close_clean(ctx);
}

static void test_what_cannot_be_scored_is_refused(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    static const char *const train[] = {"a", "b", "a"}, *const strange[] = {"a", "z"};
    mercer_model *classes = echo(ctx, train, 0), *numbers = echo(ctx, NULL, 1);
    const double x[] = {1, 2, 3, 4}, y[] = {1, 2, 3, 4};
    mercer_table table = {.size = sizeof table, .n = 2, .d = 1, .dtype = MERCER_F64, .values = x};
    mercer_data *bare = NULL, *real = NULL, *unknown = NULL, *two = NULL, *wide = NULL;
    assert_ok(ctx, mercer_data_make(ctx, &table, &bare));
    table.d = 2;
    assert_ok(ctx, mercer_data_make(ctx, &table, &wide));
    table.d = 1;
    table.target = y;
    table.outputs = 1;
    assert_ok(ctx, mercer_data_make(ctx, &table, &real));
    table.outputs = 2;
    assert_ok(ctx, mercer_data_make(ctx, &table, &two));
    table.target = NULL;
    table.outputs = 0;
    table.labels = strange;
    assert_ok(ctx, mercer_data_make(ctx, &table, &unknown));
    mercer_scores s = {.size = sizeof s};
    double out[8];
    assert_fails(ctx, mercer_score(ctx, numbers, bare, &s), MERCER_DATA, "no target");
    assert_fails(ctx, mercer_score(ctx, classes, real, &s), MERCER_DATA, "numbers");
    assert_fails(ctx, mercer_score(ctx, numbers, unknown, &s), MERCER_DATA, "classes");
    /* a class that the model does not know is one it gets wrong */
    assert_ok(ctx, mercer_score(ctx, classes, unknown, &s));
    assert_true(s.accuracy < 1);
    assert_fails(ctx, mercer_score(ctx, numbers, two, &s), MERCER_DATA, "2 targets");
    assert_fails(ctx, mercer_predict(ctx, numbers, wide, out), MERCER_DATA, "2 columns");
    mercer_data *all[] = {bare, real, unknown, two, wide};
    for (int i = 0; i < 5; i++)
        mercer_data_free(all[i]);
    mercer_model_free(classes);
    mercer_model_free(numbers);
    close_clean(ctx);
}

static void test_columns_are_compared_by_name(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    static const char *const there[] = {"age", "pay"}, *const here[] = {"pay", "age"};
    const double x[] = {1, 2, 3, 4}, y[] = {1, 2};
    mercer_table table = {.size = sizeof table,
                          .n = 2,
                          .d = 2,
                          .dtype = MERCER_F64,
                          .values = x,
                          .target = y,
                          .outputs = 1,
                          .names = there};
    mercer_data *train = NULL, *swapped = NULL, *nameless = NULL;
    assert_ok(ctx, mercer_data_make(ctx, &table, &train));
    table.names = here;
    assert_ok(ctx, mercer_data_make(ctx, &table, &swapped));
    table.names = NULL;
    assert_ok(ctx, mercer_data_make(ctx, &table, &nameless));
    mercer_kernel *kernel = kernel_of(ctx, "linear");
    mercer_model *model = NULL;
    double out[2];
    assert_ok(ctx, mercer_fit(ctx, "ridge", NULL, kernel, train, &model));
    assert_fails(ctx, mercer_predict(ctx, model, swapped, out), MERCER_DATA, "column 1 of the data is 'pay'");
    assert_ok(ctx, mercer_predict(ctx, model, nameless, out));
    mercer_model_free(model);
    mercer_kernel_free(kernel);
    mercer_data_free(train);
    mercer_data_free(swapped);
    mercer_data_free(nameless);
    close_clean(ctx);
}

/* More rows than a block holds: the same values as one by one, and memory that does not grow with them. */
static void test_many_rows_are_predicted_in_bounded_memory(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    const sheet s = random_sheet(20, 1, 40);
    mercer_ridge set = plain(0.1);
    set.scale = "standard";
    mercer_model *model = fit_sheet(ctx, "rbf(gamma=0.4)", &s, &set);
    enum { MANY = 100000 };
    double *x = malloc(MANY * 3 * sizeof *x), *f = malloc(MANY * sizeof *f);
    for (int i = 0; i < MANY * 3; i++)
        x[i] = s.x[i % 60];
    const mercer_table table = {.size = sizeof table, .n = MANY, .d = 3, .dtype = MERCER_F64, .values = x};
    mercer_data *data = NULL;
    assert_ok(ctx, mercer_data_make(ctx, &table, &data));
    const size_t before = mercer_memory_used(ctx);
    assert_ok(ctx, mercer_predict(ctx, model, data, f));
    assert_true(mercer_memory_peak(ctx) - before < 4u << 20);
    double first[20];
    predict_sheet(ctx, model, &s, first);
    for (int i = 0; i < MANY; i++)
        assert_close(f[i], first[i % 20], 1e-14);
    free(x);
    free(f);
    mercer_data_free(data);
    mercer_model_free(model);
    close_clean(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers_are_scored_by_the_definitions),
        cmocka_unit_test(test_large_numbers_have_finite_scores),
        cmocka_unit_test(test_several_outputs_are_averaged),
        cmocka_unit_test(test_two_classes_have_an_area),
        cmocka_unit_test(test_classes_are_counted_against_each_other),
        cmocka_unit_test(test_values_that_are_no_numbers_have_no_area),
        cmocka_unit_test(test_what_cannot_be_scored_is_refused),
        cmocka_unit_test(test_columns_are_compared_by_name),
        cmocka_unit_test(test_many_rows_are_predicted_in_bounded_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
