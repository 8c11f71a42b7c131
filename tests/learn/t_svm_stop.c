/* Support vector machines that are stopped, by the clock, by the caller or by their number of steps: what there is then
   is certified. */
#include "svm_of_test.h"
#include <time.h>

/* A limit that leaves time to begin and none to finish: found by trying longer and longer ones. */
static void test_a_stopped_fit_is_certified(void **state) {
    (void)state;
    mercer_ctx *patient = open_ctx(1);
    const table t = random_table(200, 3, 20);
    mercer_data *data = data_of(patient, &t, true);
    mercer_kernel *kernel = NULL;
    assert_ok(patient, mercer_kernel_parse(patient, "rbf(gamma=1)", &kernel));
    mercer_svm set = plain("svc", 1e-12);
    set.C = 1e9;
    mercer_model *model = NULL;
    for (double limit = 1e-4; !model; limit *= 1.5) {
        mercer_options options = mercer_options_defaults();
        options.time_limit = limit;
        mercer_ctx *ctx = NULL;
        assert_int_equal(mercer_open(&options, &ctx), MERCER_OK);
        const mercer_status status = mercer_fit(ctx, "svc", &set, kernel, data, &model);
        assert_true(status == MERCER_OK || status == MERCER_TIME);
        mercer_close(ctx);
    }
    const mercer_report *r = mercer_model_report(model);
    assert_string_equal(r->stopped, "time");
    const bool of_few_rows = mercer_model_stages(model) != NULL; /* solved whole, as an answer for all of them */
    assert_true(of_few_rows || r->certificate.kkt_violation > 1e-12);
    assert_true((of_few_rows || r->certificate.gap > 0) && isfinite(r->certificate.gap));
    mercer_kernel_free(kernel);
    mercer_data_free(data);
    mercer_model_free(model);
    close_clean(patient);
}

/* A Gaussian whose call of number `slow` takes long enough for the caller to be asked, who then says stop. */
typedef struct slow_kernel {
    int calls, slow;
    bool stop;
} slow_kernel;

static int fill_slowly(void *user, int64_t d, int64_t n, const double *x, int64_t m, const double *z, double *out) {
    slow_kernel *k = user;
    if (++k->calls == k->slow) {
        nanosleep(&(struct timespec){.tv_nsec = 120000000}, NULL);
        k->stop = true;
    }
    for (int64_t i = 0; i < n * m; i++) {
        out[i] = 0;
        for (int64_t j = 0; j < d; j++)
            out[i] -= pow(x[i / m * d + j] - z[i % m * d + j], 2);
        out[i] = exp(out[i]);
    }
    return 0;
}

static int ask(void *user, const mercer_progress *progress) {
    (void)progress;
    return ((slow_kernel *)user)->stop;
}

static mercer_status fit_stopped(slow_kernel *slow, int at, const table *t, const mercer_svm *set,
                                 mercer_model **model) {
    const mercer_user_kernel user = {
        .size = sizeof user, .name = "slow", .fill = fill_slowly, .user = slow, .positive = true, .serial = true};
    mercer_options options = mercer_options_defaults();
    mercer_ctx *ctx = NULL;
    mercer_kernel *kernel = NULL;
    options.threads = 1;
    options.progress = ask;
    options.progress_user = slow;
    *slow = (slow_kernel){.slow = at};
    assert_int_equal(mercer_open(&options, &ctx), MERCER_OK);
    mercer_data *data = data_of(ctx, t, true);
    assert_ok(ctx, mercer_kernel_parse_with(ctx, "user(\"slow\")", &user, 1, &kernel));
    const mercer_status status = mercer_fit(ctx, "svc", set, kernel, data, model);
    if (status && status != MERCER_CANCELLED)
        fail_msg("stopped at call %d: %s", at, mercer_message(ctx));
    mercer_kernel_free(kernel);
    mercer_data_free(data);
    mercer_close(ctx);
    return status;
}

/* With multipliers to start from a K that is not all there would make another function of them. */
static void test_a_fit_stopped_while_it_makes_K_is_certified(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    const table t = random_table(1000, 2, 25);
    mercer_svm set = plain("svc", 1e-3);
    mercer_model *start = fit(ctx, "svc", &set, "rbf(gamma=0.7)", &t), *model = NULL;
    slow_kernel slow;
    set.start = start;
    assert_int_equal(fit_stopped(&slow, 0, &t, &set, &model), MERCER_OK);
    mercer_model_free(model);
    const int calls = slow.calls;
    for (int k = 1; k < 8; k++) {
        model = NULL;
        if (fit_stopped(&slow, k * calls / 8, &t, &set, &model) == MERCER_OK) {
            assert_string_equal(mercer_model_report(model)->stopped, "caller");
            assert_true(mercer_model_report(model)->certificate.gap > -1e-9);
        }
        mercer_model_free(model);
    }
    mercer_model_free(start);
    close_clean(ctx);
}

static void test_the_steps_can_be_capped(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    const table t = random_table(200, 2, 21);
    mercer_svm set = plain("svc", 1e-6);
    set.iterations = 10;
    mercer_model *model = fit(ctx, "svc", &set, "rbf(gamma=1)", &t);
    assert_int_equal(mercer_model_report(model)->iterations, 10);
    assert_string_equal(mercer_model_report(model)->stopped, "steps");
    assert_true(mercer_model_report(model)->certificate.gap > 0);
    mercer_model_free(model);
    close_clean(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_stopped_fit_is_certified),
        cmocka_unit_test(test_a_fit_stopped_while_it_makes_K_is_certified),
        cmocka_unit_test(test_the_steps_can_be_capped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
