/* Model files of released versions, in tests/golden, must load and predict the same values for ever. A fit of the same
   data by today's code must agree with them too. `model_golden write FOLDER` writes the files anew: for a new format,
   beside the old ones. */
#include "support.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static mercer_data *made(mercer_ctx *ctx, const mercer_table *table) {
    mercer_data *data = NULL;
    assert_ok(ctx, mercer_data_make(ctx, table, &data));
    return data;
}

static mercer_data *numbers(mercer_ctx *ctx) {
    static const double x[] = {1, 10, 2, 40, 3, 20, 4, 70, 5, 30, 6, 50},
                        y[] = {1, -1, 2, 0, 2.5, 1, 4, 0, 3, 1, 5.5, 2};
    static const double w[] = {1, 2, 1, 0.5, 1, 1};
    static const char *const names[] = {"age", "d\xc3\xa9pense, \"net\""};
    return made(ctx, &(mercer_table){.size = sizeof(mercer_table),
                                     .n = 6,
                                     .d = 2,
                                     .dtype = MERCER_F64,
                                     .values = x,
                                     .target = y,
                                     .outputs = 2,
                                     .weights = w,
                                     .names = names});
}

static mercer_data *classes(mercer_ctx *ctx) {
    static const float values[] = {1, 2, 3, 4, 5, 6, 0.5f};
    static const int64_t row_start[] = {0, 2, 2, 4, 5, 7};
    static const int32_t column[] = {0, 3, 1, 4, 2, 0, 4};
    static const char *const labels[] = {"no", "yes", "no", "vielleicht", "yes"};
    return made(ctx, &(mercer_table){.size = sizeof(mercer_table),
                                     .n = 5,
                                     .d = 6,
                                     .dtype = MERCER_F32,
                                     .values = values,
                                     .row_start = row_start,
                                     .column = column,
                                     .labels = labels});
}

static mercer_data *file(mercer_ctx *ctx) {
    char path[512];
    mercer_data *data = NULL;
    snprintf(path, sizeof path, "%s/golden/trees.csv", getenv("MERCER_TESTS"));
    assert_ok(ctx, mercer_data_read(ctx, path, NULL, &data));
    return data;
}

static const struct {
    const char *name, *kernel, *scale;
    mercer_data *(*data)(mercer_ctx *ctx);
    double lambda;
    bool intercept;
    int64_t cells;
    double expected[15]; /* predictions for the training rows */
} cases[] = {
#include "golden_values.inc"
};
enum { CASES = sizeof cases / sizeof cases[0] };

static mercer_model *fit_case(mercer_ctx *ctx, int k, const mercer_data *data) {
    mercer_ridge set = mercer_ridge_defaults();
    set.lambda = cases[k].lambda;
    set.scale = cases[k].scale;
    set.intercept = cases[k].intercept;
    return fit_model(ctx, "ridge", &set, cases[k].kernel, data);
}

static const char *path_of(int k, const char *folder) {
    static char path[512];
    snprintf(path, sizeof path, "%s/%s.mercer", folder, cases[k].name);
    return path;
}

static const char *golden(void) {
    static char folder[400];
    snprintf(folder, sizeof folder, "%s/golden", getenv("MERCER_TESTS") ? getenv("MERCER_TESTS") : "tests");
    return folder;
}

static void check_predictions(mercer_ctx *ctx, int k, const mercer_model *model, double tolerance) {
    double out[15];
    mercer_data *data = cases[k].data(ctx);
    assert_int_equal(mercer_data_rows(data) * mercer_model_outputs(model), cases[k].cells);
    assert_ok(ctx, mercer_predict(ctx, model, data, out));
    for (int64_t i = 0; i < cases[k].cells; i++)
        assert_close(out[i], cases[k].expected[i], tolerance);
    mercer_data_free(data);
}

static void test_old_files_predict_what_they_always_did(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    for (int k = 0; k < CASES; k++) {
        mercer_model *model = NULL;
        assert_ok(ctx, mercer_model_load(ctx, path_of(k, golden()), &model));
        assert_string_equal(mercer_model_report(model)->machine, "ridge");
        assert_true(mercer_model_report(model)->lambda == cases[k].lambda);
        check_predictions(ctx, k, model, 1e-13);
        mercer_model_free(model);
    }
    close_clean(ctx);
}

static void test_a_fit_of_today_agrees_with_them(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    for (int k = 0; k < CASES; k++) {
        mercer_data *data = cases[k].data(ctx);
        mercer_model *model = fit_case(ctx, k, data);
        check_predictions(ctx, k, model, 1e-11);
        mercer_model_free(model);
        mercer_data_free(data);
    }
    close_clean(ctx);
}

/* A file read the way the training file was: other order of columns, no target, a level missing. */
static void test_a_model_reads_a_file_like_its_own(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    mercer_model *model = NULL;
    mercer_data *data = NULL;
    char path[512];
    double out[2];
    assert_ok(ctx, mercer_model_load(ctx, path_of(2, golden()), &model));
    snprintf(path, sizeof path, "%s/new_trees.csv", golden());
    assert_ok(ctx, mercer_model_read(ctx, model, path, NULL, &data));
    assert_int_equal(mercer_data_rows(data), 2);
    assert_ok(ctx, mercer_predict(ctx, model, data, out));
    assert_close(out[0], cases[2].expected[1], 1e-12); /* the second row of the training file */
    assert_close(out[1], cases[2].expected[0], 1e-12);
    assert_string_equal(mercer_model_target_name(model, 0), "height");
    mercer_data_free(data);
    mercer_model_free(model);
    close_clean(ctx);
}

static int write_files(const char *folder) {
    mercer_ctx *ctx = open_ctx(1);
    for (int k = 0; k < CASES; k++) {
        mercer_data *data = cases[k].data(ctx);
        mercer_model *model = fit_case(ctx, k, data);
        double out[15];
        assert_ok(ctx, mercer_model_save(ctx, model, path_of(k, folder)));
        assert_ok(ctx, mercer_predict(ctx, model, data, out));
        printf("%s:", cases[k].name);
        for (int64_t i = 0; i < mercer_data_rows(data) * mercer_model_outputs(model); i++)
            printf(" %.17g,", out[i]);
        printf("\n");
        mercer_model_free(model);
        mercer_data_free(data);
    }
    close_clean(ctx);
    return 0;
}

int main(int count, char **arguments) {
    if (count == 3 && strcmp(arguments[1], "write") == 0)
        return write_files(arguments[2]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_old_files_predict_what_they_always_did),
        cmocka_unit_test(test_a_fit_of_today_agrees_with_them),
        cmocka_unit_test(test_a_model_reads_a_file_like_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
