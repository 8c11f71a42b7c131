#include "svm_of_test.h"

enum { VALUES = 5 };
static const double COSTS[VALUES] = {0.01, 0.3, 1, 20, 1000};

static mercer_status path_of(mercer_ctx *ctx, const char *machine, const table *t, const double *C, bool tested, mercer_svm_path_row *out) {
    mercer_data *data = data_of(ctx, t, needs_classes(machine));
    mercer_kernel *kernel = NULL;
    const mercer_svm set = plain(machine, 1e-5);
    assert_ok(ctx, mercer_kernel_parse(ctx, "rbf(gamma=0.4)", &kernel));
    const mercer_status status = mercer_svm_path(ctx, machine, kernel, data, &set, C, VALUES, tested ? data : NULL, out);
    mercer_kernel_free(kernel);
    mercer_data_free(data);
    return status;
}

/* A path is the fits one by one: the optimum is one, whatever the start. */
static void check(const char *machine, int64_t classes, bool weighted) {
    mercer_ctx *ctx = open_ctx(2);
    table t = random_table(150, classes, 77);
    t.weighted = weighted;
    mercer_svm_path_row row[VALUES];
    assert_ok(ctx, path_of(ctx, machine, &t, COSTS, true, row));
    for (int k = 0; k < VALUES; k++) {
        mercer_svm set = plain(machine, 1e-5);
        set.C = COSTS[k];
        mercer_model *model = fit(ctx, machine, &set, "rbf(gamma=0.4)", &t);
        const mercer_report *r = mercer_model_report(model);
        mercer_data *data = data_of(ctx, &t, needs_classes(machine));
        mercer_scores scores;
        assert_ok(ctx, mercer_score(ctx, model, data, &scores));
        assert_true(row[k].C == COSTS[k] && row[k].kkt_violation <= 1e-5 && row[k].gap_relative < 1e-4);
        assert_close(row[k].dual, r->certificate.dual, 1e-5);
        assert_close(row[k].primal, r->certificate.primal, 1e-4);
        assert_close(row[k].test, needs_classes(machine) ? scores.accuracy : scores.rmse, 2e-2);
        mercer_data_free(data);
        mercer_model_free(model);
    }
    close_clean(ctx);
}

static void test_a_path_is_its_fits(void **state) {
    (void)state;
    check("svc", 2, false);
    check("svc", 3, true);
    check("svr", 2, true);
}

static void test_what_has_no_path_is_refused(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    const table t = random_table(30, 2, 78);
    mercer_svm_path_row row[VALUES];
    const double falls[VALUES] = {1, 2, 2, 3, 4}, endless[VALUES] = {1, 2, 3, 4, INFINITY}, none[VALUES] = {0, 1, 2, 3, 4};
    assert_fails(ctx, path_of(ctx, "nu-svc", &t, COSTS, false, row), MERCER_INVALID, "nu-svc");
    assert_fails(ctx, path_of(ctx, "svc", &t, falls, false, row), MERCER_INVALID, "number 3");
    assert_fails(ctx, path_of(ctx, "svc", &t, endless, false, row), MERCER_INVALID, "number 5");
    assert_fails(ctx, path_of(ctx, "svc", &t, none, false, row), MERCER_INVALID, "number 1");
    assert_ok(ctx, path_of(ctx, "svc", &t, COSTS, false, row));
    assert_true(isnan(row[0].test));
    close_clean(ctx);
}

static mercer_status attempt(mercer_ctx *ctx, void *arg) {
    (void)arg;
    static const double x[] = {0, 0, 1, 0, 0, 1, 1, 1, 2, 2, 3, 1}, C[] = {0.5, 5};
    static const char *const labels[] = {"a", "b", "a", "b", "a", "b"};
    const mercer_table given = {.n = 6, .d = 2, .dtype = MERCER_F64, .values = x, .labels = labels};
    mercer_data *data = NULL;
    mercer_kernel *kernel = NULL;
    mercer_svm_path_row row[2];
    mercer_status status = mercer_data_make(ctx, &given, &data);
    if (!status)
        status = mercer_kernel_parse(ctx, "rbf(gamma=1)", &kernel);
    if (!status)
        status = mercer_svm_path(ctx, "svc", kernel, data, NULL, C, 2, data, row);
    mercer_kernel_free(kernel);
    mercer_data_free(data);
    return status;
}

static void test_survives_failing_memory(void **state) {
    (void)state;
    assert_survives_failing_memory(attempt, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_path_is_its_fits),
        cmocka_unit_test(test_what_has_no_path_is_refused),
        cmocka_unit_test(test_survives_failing_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
