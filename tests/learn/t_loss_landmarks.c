/* t_loss_landmarks.c: convex losses among the functions of some landmarks, against the exact machine, and the columns
   of K that the exact machine takes for its own factor. */
#include "loss_of_test.h"
#include <math.h>
#include <string.h>
#include <unistd.h>

static mercer_loss near_settings(const char *machine, int64_t rank) {
    mercer_loss set = settings(machine, 0.3, 1e-9);
    set.solver = "nystrom";
    set.rank = rank;
    return set;
}

static mercer_model *fit_exact(mercer_ctx *ctx, const char *machine, const char *kernel, const table *t) {
    const mercer_loss set = settings(machine, 0.3, 1e-9);
    return fit_loss(ctx, machine, &set, kernel, t);
}

/* Every row a landmark: the same function, and a certificate of all rows says so. */
static void test_all_rows_as_landmarks_are_the_exact_machine(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    for (int i = 0; i < SMOOTH; i++)
        for (int64_t classes = 2; classes < 5; classes += 2) {
            const table t = random_table(150, classes, (uint64_t)(60 + i));
            const mercer_loss set = near_settings(LOSSES[i], 150);
            mercer_model *exact = fit_exact(ctx, LOSSES[i], "rbf(gamma=0.7)", &t),
                         *near = fit_loss(ctx, LOSSES[i], &set, "rbf(gamma=0.7)", &t);
            const mercer_report *r = mercer_model_report(near), *e = mercer_model_report(exact);
            assert_true(r->approximate && !e->approximate);
            assert_string_equal(r->certificate.kind, "sampled gap");
            assert_int_equal(r->certificate.sampled_rows, 150);
            assert_true(r->certificate.gap_relative < 1e-6);
            assert_close(r->objective, e->objective, 1e-6);
            assert_same_values(ctx, near, exact, &t, 1e-2);
            mercer_model_free(near);
            mercer_model_free(exact);
        }
    close_clean(ctx);
}

/* Few landmarks: the exact optimum lies between the two values of the certificate, above which the objective is what
   the landmarks cost. */
static void test_the_exact_optimum_lies_in_the_gap(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    for (int i = 0; i < SMOOTH; i++)
        for (int64_t rank = 5; rank <= 80; rank *= 4) {
            const table t = random_table(300, i == 0 ? 3 : 2, (uint64_t)(160 + i));
            const mercer_loss set = near_settings(LOSSES[i], rank);
            mercer_model *exact = fit_exact(ctx, LOSSES[i], "rbf(gamma=0.5)", &t),
                         *near = fit_loss(ctx, LOSSES[i], &set, "rbf(gamma=0.5)", &t);
            const mercer_report *r = mercer_model_report(near);
            const double best = mercer_model_report(exact)->objective;
            assert_true(r->rank <= rank && mercer_model_centres(near) == r->rank);
            assert_true(r->certificate.dual <= best * (1 + 1e-8) && best <= r->certificate.primal * (1 + 1e-8));
            assert_close(r->certificate.gap, r->certificate.primal - r->certificate.dual, 1e-12);
            assert_true(isinf(r->certificate.prediction_error_bound));
            mercer_model_free(near);
            mercer_model_free(exact);
        }
    close_clean(ctx);
}

/* Of more rows than are looked at the gap is an estimate: nearly always above the true distance. */
static void test_a_sample_of_rows_estimates_the_gap(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    const table t = random_table(2500, 2, 77);
    const mercer_loss set = near_settings("logistic", 40);
    mercer_model *exact = fit_exact(ctx, "logistic", "rbf(gamma=0.5)", &t),
                 *near = fit_loss(ctx, "logistic", &set, "rbf(gamma=0.5)", &t);
    const mercer_report *r = mercer_model_report(near);
    assert_int_equal(r->certificate.sampled_rows, 1024);
    assert_true(r->certificate.dual <= mercer_model_report(exact)->objective * (1 + 1e-8));
    assert_true(mercer_model_report(exact)->objective <= r->objective * (1 + 1e-8));
    mercer_model_free(near);
    mercer_model_free(exact);
    close_clean(ctx);
}

/* A class that no landmark is of is predicted all the same. */
static void test_a_class_without_a_landmark_stays_a_class(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    table t = random_table(200, 2, 91);
    for (int64_t i = 0; i < t.n; i++)
        t.class_of[i] = i == 7 || i == 90;
    const mercer_loss set = near_settings("logistic", 3);
    mercer_model *near = fit_loss(ctx, "logistic", &set, "rbf(gamma=0.1)", &t), *again = NULL;
    char path[] = "/tmp/mercer-landmarks-XXXXXX";
    close(mkstemp(path));
    assert_ok(ctx, mercer_model_save(ctx, near, path));
    assert_ok(ctx, mercer_model_load(ctx, path, &again));
    assert_true(mercer_model_report(again)->approximate);
    assert_same_values(ctx, near, again, &t, 0);
    unlink(path);
    mercer_model_free(near);
    mercer_model_free(again);
    close_clean(ctx);
}

static void test_the_same_bits_on_any_number_of_threads(void **state) {
    (void)state;
    static const int threads[] = {1, 2, 7};
    for (int i = 0; i < SMOOTH; i++) {
        const table t = random_table(1500, 3, 71);
        double *values[3];
        for (int j = 0; j < 3; j++) {
            mercer_ctx *ctx = open_ctx(threads[j]);
            const mercer_loss set = near_settings(LOSSES[i], 60);
            mercer_model *model = fit_loss(ctx, LOSSES[i], &set, "rbf(gamma=0.3)", &t);
            values[j] = decide(ctx, model, &t);
            assert_memory_equal(values[0], values[j], (size_t)(t.n * mercer_model_decisions(model)) * sizeof(double));
            mercer_model_free(model);
            close_clean(ctx);
        }
        for (int j = 0; j < 3; j++)
            free(values[j]);
    }
}

static mercer_status fit_small(mercer_ctx *ctx, void *arg) {
    const table t = random_table(60, 2, 800);
    const char *labels[60];
    for (int64_t i = 0; i < t.n; i++)
        labels[i] = NAMES[t.class_of[i]];
    const mercer_table given = {
        .size = sizeof given, .n = t.n, .d = D, .dtype = MERCER_F64, .values = t.x, .labels = labels};
    mercer_data *data = NULL;
    mercer_kernel *kernel = NULL;
    mercer_model *model = NULL;
    mercer_status status = mercer_data_make(ctx, &given, &data);
    if (!status)
        status = mercer_kernel_parse(ctx, "rbf(gamma=0.3)", &kernel);
    if (!status)
        status = mercer_fit(ctx, "logistic", arg, kernel, data, &model);
    mercer_model_free(model);
    mercer_kernel_free(kernel);
    mercer_data_free(data);
    return status;
}

static void test_memory_may_fail_anywhere(void **state) {
    (void)state;
    mercer_loss set = near_settings("logistic", 10);
    assert_survives_failing_memory(fit_small, &set);
}

/* So slow that every look at the clock leads here. */
static int stop_while_landmarks_are_chosen(void *user, const mercer_progress *progress) {
    (void)user;
    usleep(110000);
    return progress->phase && (strcmp(progress->phase, "landmarks") == 0 || strcmp(progress->phase, "features") == 0);
}

/* Without landmarks there is no function to hand over, least of all one that says it is exact. */
static void test_a_stop_before_there_are_landmarks_leaves_no_model(void **state) {
    (void)state;
    mercer_ctx *ctx = NULL;
    mercer_options options = mercer_options_defaults();
    options.progress = stop_while_landmarks_are_chosen;
    assert_ok(ctx, mercer_open(&options, &ctx));
    const table t = random_table(2500, 2, 78);
    const mercer_loss set = near_settings("logistic", 400);
    mercer_model *model = NULL;
    const mercer_status status = try_loss(ctx, "logistic", &set, "rbf(gamma=0.5)", &t, &model);
    /* where no thread looked at the clock in those phases there was no stop */
    assert_true(status ? status == MERCER_CANCELLED && !model : mercer_model_report(model)->approximate);
    mercer_model_free(model);
    mercer_close(ctx);
}

static void test_more_landmarks_than_there_may_be_are_refused(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    const table t = random_table(30, 2, 5);
    mercer_loss set = near_settings("logistic", 1001);
    mercer_model *model = NULL;
    assert_int_equal(try_loss(ctx, "logistic", &set, "rbf", &t, &model), MERCER_INVALID);
    assert_non_null(strstr(mercer_message(ctx), "rank"));
    close_clean(ctx);
}

/* The factor grows as far as its columns save more than they cost. */
static void test_the_factor_has_as_many_columns_as_pay(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    const table t = random_table(2000, 2, 351);
    mercer_loss set = settings("logistic", 0.01, 1e-4);
    set.solver = "pcg";
    mercer_model *model = fit_loss(ctx, "logistic", &set, "rbf(gamma=0.05)", &t);
    assert_true(mercer_model_report(model)->rank > 64);
    mercer_model_free(model);
    close_clean(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_rows_as_landmarks_are_the_exact_machine),
        cmocka_unit_test(test_the_exact_optimum_lies_in_the_gap),
        cmocka_unit_test(test_a_sample_of_rows_estimates_the_gap),
        cmocka_unit_test(test_a_class_without_a_landmark_stays_a_class),
        cmocka_unit_test(test_the_same_bits_on_any_number_of_threads),
        cmocka_unit_test(test_memory_may_fail_anywhere),
        cmocka_unit_test(test_a_stop_before_there_are_landmarks_leaves_no_model),
        cmocka_unit_test(test_the_factor_has_as_many_columns_as_pay),
        cmocka_unit_test(test_more_landmarks_than_there_may_be_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
