/* A kernel value, coefficient, objective or prediction that no double holds is an error that names the row, in every
   machine, at fit and at predict: nothing ever goes on with it. */
#include "machines_of_test.h"
#include <string.h>

/* Rows of random_sheet times a factor, with classes where the machine wants them. */
static mercer_data *rows_of(mercer_ctx *ctx, const mercer_machine *machine, int64_t n, double factor,
                            const double *weights) {
    const sheet s = random_sheet(ROWS, 1, 7);
    double *x = malloc((size_t)(n * COLUMNS_) * sizeof *x), *y = malloc((size_t)n * sizeof *y);
    const char **labels = malloc((size_t)n * sizeof *labels);
    for (int64_t i = 0; i < n * COLUMNS_; i++)
        x[i] = factor * s.x[i % (ROWS * COLUMNS_)];
    for (int64_t i = 0; i < n; i++) {
        y[i] = s.y[i % ROWS];
        labels[i] = s.x[i % ROWS * COLUMNS_] > 0 ? "up" : "down";
    }
    mercer_table table = {
        .size = sizeof table, .n = n, .d = COLUMNS_, .dtype = MERCER_F64, .values = x, .weights = weights};
    if (machine->target == MERCER_TARGET_CLASS)
        table.labels = labels;
    else
        table.target = y, table.outputs = 1;
    mercer_data *data = NULL;
    assert_ok(ctx, mercer_data_make(ctx, &table, &data));
    free(x), free(y), free(labels);
    return data;
}

static mercer_status fit(mercer_ctx *ctx, const mercer_machine *machine, const char *text, const mercer_data *data,
                         mercer_model **out) {
    void *set = calloc(1, machine->size);
    mercer_kernel *kernel = kernel_of(ctx, text);
    assert_ok(ctx, mercer_settings_init(ctx, machine->name, set, machine->size));
    assert_ok(ctx, mercer_settings_put(ctx, set, "scale", "none"));
    const mercer_status status = mercer_fit(ctx, machine->name, set, kernel, data, out);
    mercer_kernel_free(kernel);
    free(set);
    return status;
}

static void test_no_machine_fits_what_overflows(void **state) {
    (void)state;
    static const char *const kernels[] = {"exp(linear)", "poly(degree=1000)", "1e200*rbf(gamma=1e-9)*1e200",
                                          "exp(linear)*rbf + linear"};
    mercer_ctx *ctx = open_ctx(2);
    for (int m = 0; mercer_machine_at(m); m++) {
        mercer_data *data = rows_of(ctx, mercer_machine_at(m), ROWS, 30, NULL);
        for (size_t k = 0; k < sizeof kernels / sizeof kernels[0]; k++) {
            mercer_model *model = NULL;
            assert_fails(ctx, fit(ctx, mercer_machine_at(m), kernels[k], data, &model), MERCER_NUMERIC,
                         "is inf, beyond the numbers that a double holds");
            assert_non_null(strstr(mercer_message(ctx), "row "));
            assert_null(model);
        }
        mercer_data_free(data);
    }
    close_clean(ctx);
}

/* Rows of weight zero count in the numbers that messages have. */
static void test_rows_are_named_by_their_place_in_the_data(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    const mercer_machine *machine = mercer_machine_find("huber");
    double x[6] = {9, 1, 0.5, 2, 40, 3}, y[6] = {1, 2, 3, 4, 5, 6}, w[6] = {0, 1, 0, 1, 1, 1};
    const mercer_table table = {.size = sizeof table,
                                .n = 6,
                                .d = 1,
                                .dtype = MERCER_F64,
                                .values = x,
                                .target = y,
                                .outputs = 1,
                                .weights = w};
    mercer_data *data = NULL;
    mercer_model *model = NULL;
    assert_ok(ctx, mercer_data_make(ctx, &table, &data));
    assert_fails(ctx, fit(ctx, machine, "exp(linear)", data, &model), MERCER_NUMERIC, "row 5 and row 5 is inf");
    mercer_data_free(data);
    close_clean(ctx);
}

/* The last of many rows, in a block of its own, is far out. */
static void test_no_machine_predicts_what_overflows(void **state) {
    (void)state;
    enum { MANY = 20000 };
    mercer_ctx *ctx = open_ctx(2);
    double *x = calloc(MANY * COLUMNS_, sizeof *x), *out = calloc(MANY * 8, sizeof *out);
    for (int j = 0; j < COLUMNS_; j++)
        x[(MANY - 2) * COLUMNS_ + j] = 1e6, x[(MANY - 1) * COLUMNS_ + j] = -1e6;
    const mercer_table table = {.size = sizeof table, .n = MANY, .d = COLUMNS_, .dtype = MERCER_F64, .values = x};
    mercer_data *far = NULL;
    assert_ok(ctx, mercer_data_make(ctx, &table, &far));
    for (int m = 0; mercer_machine_at(m); m++) {
        mercer_data *data = rows_of(ctx, mercer_machine_at(m), ROWS, 1, NULL);
        mercer_model *model = NULL;
        assert_ok(ctx, fit(ctx, mercer_machine_at(m), "exp(linear)", data, &model));
        assert_fails(ctx, mercer_predict(ctx, model, far, out), MERCER_NUMERIC, "row 19999");
        mercer_model_free(model);
        mercer_data_free(data);
    }
    mercer_data_free(far);
    free(x), free(out);
    close_clean(ctx);
}

/* Each kernel value is a double, the prediction is not. */
static void test_a_prediction_that_is_no_double_is_an_error(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    static const char *const machines[] = {"ridge", "gp"};
    double x[2] = {1, 2}, y[2] = {1e100, -1e100}, far = 1e150, out[2];
    const mercer_table table = {
        .size = sizeof table, .n = 2, .d = 1, .dtype = MERCER_F64, .values = x, .target = y, .outputs = 1};
    const mercer_table one = {.size = sizeof one, .n = 1, .d = 1, .dtype = MERCER_F64, .values = &far};
    for (size_t m = 0; m < sizeof machines / sizeof machines[0]; m++) {
        mercer_data *data = NULL, *row = NULL;
        mercer_model *model = NULL;
        assert_ok(ctx, mercer_data_make(ctx, &table, &data));
        assert_ok(ctx, mercer_data_make(ctx, &one, &row));
        const mercer_status status = fit(ctx, mercer_machine_find(machines[m]), "poly(degree=2)", data, &model);
        assert_true(status == MERCER_OK || status == MERCER_NUMERIC);
        if (!status)
            assert_fails(ctx, mercer_predict(ctx, model, row, out), MERCER_NUMERIC, "row 1");
        mercer_model_free(model);
        mercer_data_free(row), mercer_data_free(data);
    }
    close_clean(ctx);
}

static void test_groups_tests_and_matrices_refuse_it_too(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    mercer_kernel *kernel = kernel_of(ctx, "exp(linear)");
    mercer_data *data = rows_of(ctx, mercer_machine_find("ridge"), ROWS, 30, NULL);
    const mercer_clustering set = mercer_clustering_defaults();
    double K[ROWS * ROWS], values[8];
    int64_t group[ROWS];
    mercer_clusters clusters = {.size = sizeof clusters};
    mercer_test test = {.size = sizeof test};
    assert_fails(ctx, mercer_gram(ctx, kernel, data, NULL, K), MERCER_NUMERIC, "is inf");
    assert_fails(ctx, mercer_gram(ctx, kernel, data, data, K), MERCER_NUMERIC, "of the other rows is inf");
    assert_fails(ctx, mercer_gram_apply(ctx, kernel, data, NULL, MERCER_F32, K, 1, K + ROWS), MERCER_NUMERIC, "is inf");
    assert_fails(ctx, mercer_cluster(ctx, kernel, data, &set, group, &clusters), MERCER_NUMERIC, "is inf");
    assert_fails(ctx, mercer_cluster_spectral(ctx, kernel, data, &set, group, values, &clusters), MERCER_NUMERIC,
                 "is inf");
    assert_fails(ctx, mercer_test_mmd(ctx, kernel, data, data, 50, 1, &test), MERCER_NUMERIC, "is inf");
    assert_fails(ctx, mercer_test_hsic(ctx, kernel, kernel, data, 50, 1, &test), MERCER_NUMERIC, "is inf");
    mercer_kernel_free(kernel);
    mercer_data_free(data);
    close_clean(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_machine_fits_what_overflows),
        cmocka_unit_test(test_rows_are_named_by_their_place_in_the_data),
        cmocka_unit_test(test_no_machine_predicts_what_overflows),
        cmocka_unit_test(test_a_prediction_that_is_no_double_is_an_error),
        cmocka_unit_test(test_groups_tests_and_matrices_refuse_it_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
