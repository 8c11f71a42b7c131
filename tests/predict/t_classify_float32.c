/* The class that wins, screened in float32: that of the votes counted with the reference evaluator, and of the largest
   value of mercer_predict, also where floats cannot tell. */
#include "../learn/svm_of_test.h"
#include "model/model.h"

enum { FITTED = 150, ASKED = 1000, CLOSE = 200 };

static const char *const kernels[] = {"rbf(gamma=0.7)", "(1 + linear)^3", "laplacian(gamma=0.3)",
                                      "rbf(sigma=0.4) + 0.1*linear", "linear"};

static mercer_data *rows_at(mercer_ctx *ctx, const double *x, int64_t n) {
    const mercer_table given = {.size = sizeof given, .n = n, .d = D, .dtype = MERCER_F64, .values = x};
    mercer_data *data = NULL;
    assert_ok(ctx, mercer_data_make(ctx, &given, &data));
    return data;
}

static void compare(mercer_ctx *ctx, const mercer_model *model, const mercer_data *data) {
    const int64_t n = mercer_data_rows(data), outputs = mercer_model_outputs(model);
    double *values = calloc((size_t)(n * outputs), sizeof *values);
    int64_t *classes = calloc((size_t)n, sizeof *classes);
    assert_ok(ctx, mercer_predict(ctx, model, data, values));
    assert_ok(ctx, mercer_classify(ctx, model, data, classes));
    for (int64_t i = 0; i < n; i++)
        assert_int_equal(classes[i], mc_largest_index(values + i * outputs, outputs));
    free(values);
    free(classes);
}

static void test_the_class_is_that_of_the_largest_value(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    const table other = random_table(ASKED, 2, 2);
    mercer_data *asked = rows_at(ctx, other.x, ASKED);
    for (int k = 0; k < 5 * 2 * 3; k++) {
        const table t = random_table(FITTED, k % 2 ? 2 : 4, 1);
        mercer_svm set = plain("svc", 1e-3);
        set.C = pow(10, k / 10 * 2 - 1);
        mercer_model *model = fit(ctx, "svc", &set, kernels[k / 2 % 5], &t);
        compare(ctx, model, asked);
        mercer_model_free(model);
    }
    mercer_data_free(asked);
    close_clean(ctx);
}

static void test_machines_without_pairs_too(void **state) {
    (void)state;
    static const char *const machines[] = {"logistic", "knn", "nu-svc", "one-class"};
    mercer_ctx *ctx = open_ctx(2);
    const table t = random_table(FITTED, 2, 3), other = random_table(ASKED, 2, 4);
    mercer_data *asked = rows_at(ctx, other.x, ASKED);
    for (int k = 0; k < 4; k++) {
        mercer_model *model = NULL;
        assert_ok(ctx, try_machine(ctx, machines[k], NULL, k < 3, "rbf(gamma=0.7)", &t, &model));
        compare(ctx, model, asked);
        mercer_model_free(model);
    }
    mercer_data_free(asked);
    close_clean(ctx);
}

/* Points of both sides of the first decision become points within a rounding of its boundary. */
static void halve(mercer_ctx *ctx, const mercer_model *model, double *inside, double *outside, double *middle) {
    const int64_t decisions = mercer_model_decisions(model);
    double *value = calloc((size_t)(CLOSE * decisions), sizeof *value);
    for (int64_t k = 0; k < CLOSE * D; k++)
        middle[k] = (inside[k] + outside[k]) / 2;
    mercer_data *rows = rows_at(ctx, middle, CLOSE);
    assert_ok(ctx, mercer_decide(ctx, model, rows, value));
    for (int64_t i = 0; i < CLOSE; i++)
        memcpy((value[i * decisions] > 0 ? inside : outside) + i * D, middle + i * D, D * sizeof *middle);
    mercer_data_free(rows);
    free(value);
}

static void find_sides(mercer_ctx *ctx, const mercer_model *model, const table *t, double *inside, double *outside) {
    const int64_t decisions = mercer_model_decisions(model);
    double *value = decide(ctx, model, t);
    for (int64_t i = 0, a = 0, b = 0; i < t->n; i++)
        if (value[i * decisions] > 0 && a < CLOSE)
            memcpy(inside + a++ * D, t->x + i * D, D * sizeof *t->x);
        else if (value[i * decisions] <= 0 && b < CLOSE)
            memcpy(outside + b++ * D, t->x + i * D, D * sizeof *t->x);
    free(value);
}

static void test_rows_at_the_boundary_are_decided_in_double(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    double inside[CLOSE * D] = {0}, outside[CLOSE * D] = {0}, middle[CLOSE * D], value[CLOSE];
    const table t = random_table(FITTED, 2, 5), other = random_table(ASKED, 2, 6);
    mercer_svm set = plain("svc", 1e-3);
    set.C = 10;
    mercer_model *model = fit(ctx, "svc", &set, "rbf(gamma=0.7)", &t);
    find_sides(ctx, model, &other, inside, outside);
    for (int k = 0; k < 32; k++) /* decisions of some 1e-9 */
        halve(ctx, model, inside, outside, middle);
    mercer_data *rows = rows_at(ctx, middle, CLOSE), *asked = rows_at(ctx, other.x, ASKED);
    int64_t out[ASKED];
    bool floats = true;
    assert_ok(ctx, mc_fitted_classify(ctx, &model->f, asked, &floats, out));
    assert_true(floats); /* they do for nearly all rows */
    assert_ok(ctx, mc_fitted_classify(ctx, &model->f, rows, &floats, out));
    assert_false(floats);
    assert_ok(ctx, mercer_decide(ctx, model, rows, value));
    for (int64_t i = 0; i < CLOSE; i++) {
        assert_true(fabs(value[i]) < 1e-6);
        if (fabs(value[i]) > 1e-12)
            assert_int_equal(out[i], value[i] > 0 ? 0 : 1);
    }
    compare(ctx, model, rows);
    mercer_data_free(rows);
    mercer_data_free(asked);
    mercer_model_free(model);
    close_clean(ctx);
}

static void test_coefficients_of_any_sign_are_decided_in_double(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    const table t = random_table(FITTED, 4, 7), other = random_table(ASKED, 4, 8);
    mercer_data *asked = rows_at(ctx, other.x, ASKED);
    const mercer_svm set = plain("svc", 1e-3);
    mercer_model *model = fit(ctx, "svc", &set, "rbf(gamma=0.7)", &t);
    int64_t out[ASKED];
    bool floats = true;
    model->f.alpha[0] = -1; /* of the first class in its pair with the second */
    assert_ok(ctx, mc_fitted_classify(ctx, &model->f, asked, &floats, out));
    assert_false(floats);
    compare(ctx, model, asked);
    mercer_data_free(asked);
    mercer_model_free(model);
    close_clean(ctx);
}

/* The class with the most votes of its pairs, the first of several; -1: a pair is too close to say. */
static int64_t voted(mercer_ctx *ctx, const mercer_model *model, const table *t, const double *x) {
    double votes[4] = {0};
    bool clear = true;
    for (int64_t d = 0; d < mercer_model_decisions(model); d++) {
        const long double value = expansion(ctx, model, t, d, x) + mercer_model_intercept(model, d);
        int64_t first, second;
        mercer_model_decision(model, d, &first, &second);
        votes[value > 0 ? first : second]++;
        clear &= fabsl(value) > 1e-9L;
    }
    return clear ? mc_largest_index(votes, 4) : -1;
}

static void test_votes_are_those_of_the_reference_evaluator(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    const table t = random_table(FITTED, 4, 10), other = random_table(ASKED, 4, 11);
    mercer_data *asked = rows_at(ctx, other.x, ASKED);
    for (int k = 0; k < 5; k++) {
        mercer_svm set = plain("svc", 1e-3);
        set.C = pow(10, k - 1);
        mercer_model *model = fit(ctx, "svc", &set, kernels[k], &t);
        int64_t out[ASKED], compared = 0;
        bool floats = true;
        assert_ok(ctx, mc_fitted_classify(ctx, &model->f, asked, &floats, out));
        assert_true(floats || (k != 0 && k != 2)); /* entries that are never negative: floats tell */
        for (int64_t i = 0; i < ASKED; i++) {
            const int64_t winner = voted(ctx, model, &t, other.x + i * D);
            assert_true(winner < 0 || winner == out[i]);
            compared += winner >= 0;
        }
        assert_true(compared > ASKED * 9 / 10);
        mercer_model_free(model);
    }
    mercer_data_free(asked);
    close_clean(ctx);
}

static void test_numbers_have_no_class(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    const table t = random_table(FITTED, 2, 9);
    const mercer_svm set = plain("svr", 1e-3);
    mercer_model *model = fit(ctx, "svr", &set, "rbf(gamma=0.7)", &t);
    mercer_data *asked = rows_at(ctx, t.x, 3);
    int64_t out[3];
    assert_fails(ctx, mercer_classify(ctx, model, asked, out), MERCER_INVALID, "svr predicts numbers");
    mercer_data_free(asked);
    mercer_model_free(model);
    close_clean(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_class_is_that_of_the_largest_value),
        cmocka_unit_test(test_machines_without_pairs_too),
        cmocka_unit_test(test_rows_at_the_boundary_are_decided_in_double),
        cmocka_unit_test(test_coefficients_of_any_sign_are_decided_in_double),
        cmocka_unit_test(test_votes_are_those_of_the_reference_evaluator),
        cmocka_unit_test(test_numbers_have_no_class),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
