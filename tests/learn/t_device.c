/* Machines that factor their system on a device against the same on the processor. */
#include "../gram/checking_device.h"
#include "base/ctx.h"
#include "base/rng.h"
#include "data/table/data.h"
#include "machines_of_test.h"
#include "kernel/language/kernel.h"
#include "learn/gp/evidence.h"
#include "model/model.h"
#include <string.h>

static const char *const kernels[] = {"rbf(gamma=0.4)", "0.5*matern(nu=1.5, length_scale=0.9) + 0.2*linear",
                                      "normalize(poly(degree=2, c=1)) + 0.1*laplacian(gamma=1)"};

static void assert_fits_agree(const mercer_model *here, const mercer_model *there) {
    const mercer_report *a = mercer_model_report(here), *b = mercer_model_report(there);
    assert_string_equal(a->solver, b->solver);
    for (int64_t i = 0; i < here->f.centres->n * here->f.outputs; i++)
        assert_close(here->f.alpha[i], there->f.alpha[i], 1e-10);
    for (int64_t k = 0; k < here->f.outputs; k++)
        assert_close(here->f.intercept[k], there->f.intercept[k], 1e-10);
    assert_true(b->certificate.residual_relative < 1e-10);
    if (!isnan(a->loo_rmse))
        assert_close(a->loo_rmse, b->loo_rmse, 1e-10);
    assert_int_equal(isnan(a->loo_rmse), isnan(b->loo_rmse));
}

static void test_ridge(void **state) {
    (void)state;
    mercer_ctx *here = open_ctx(2), *there = open_ctx(2);
    mc_device *device = attach_test_device(there);
    for (int variant = 0; variant < 12; variant++) {
        sheet s = random_sheet(ROWS - variant % 2, OUTPUTS, (uint64_t)variant);
        s.weighted = variant & 1;
        mercer_ridge set = plain(0.3);
        set.intercept = variant & 2;
        set.loo = variant & 4;
        set.solver = "cholesky";
        device->peak = 0;
        mercer_model *a = fit_sheet(here, kernels[variant % 3], &s, &set),
                     *b = fit_sheet(there, kernels[variant % 3], &s, &set);
        assert_true(device->peak >= (size_t)(s.n * (s.n + 1) / 2) * sizeof(double));
        assert_fits_agree(a, b);
        assert_int_equal(device->used, 0);
        mercer_model_free(a);
        mercer_model_free(b);
    }
    close_clean(here);
    close_clean(there);
}

/* Under any limit the answer is the same; where the triangle does not fit the processor has it. */
static void test_a_device_with_no_room(void **state) {
    (void)state;
    mercer_ctx *here = open_ctx(1), *there = open_ctx(1);
    mc_device *device = attach_test_device(there);
    sheet s = random_sheet(ROWS, 1, 3);
    mercer_ridge set = plain(0.3);
    set.solver = "cholesky";
    mercer_model *a = fit_sheet(here, kernels[0], &s, &set);
    for (size_t limit = 1; limit < (size_t)1 << 30; limit *= 8) {
        device->limit = limit;
        mercer_model *b = fit_sheet(there, kernels[0], &s, &set);
        assert_fits_agree(a, b);
        assert_true(device->peak <= limit);
        mercer_model_free(b);
    }
    mercer_model_free(a);
    close_clean(here);
    close_clean(there);
}

static void test_the_same_bits_every_time(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    attach_test_device(ctx);
    sheet s = random_sheet(ROWS, OUTPUTS, 3);
    mercer_ridge set = plain(0.3);
    set.solver = "cholesky";
    set.loo = true;
    mercer_model *a = fit_sheet(ctx, kernels[1], &s, &set);
    for (int i = 0; i < 3; i++) {
        mercer_model *b = fit_sheet(ctx, kernels[1], &s, &set);
        assert_memory_equal(a->f.alpha, b->f.alpha, (size_t)(ROWS * OUTPUTS) * sizeof(double));
        assert_true(mercer_model_report(a)->loo_rmse == mercer_model_report(b)->loo_rmse);
        mercer_model_free(b);
    }
    mercer_model_free(a);
    close_clean(ctx);
}

static void test_every_call_may_fail(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    if (on_a_card())
        skip_test("a card does not fail on purpose");
    mc_device *device = attach_test_device(ctx);
    sheet s = random_sheet(ROWS, 1, 3);
    mercer_ridge set = plain(0.3);
    set.solver = "cholesky";
    set.loo = true;
    bool failed = true;
    for (int calls = 0; failed; calls++) {
        checking_device_fail_after(calls);
        const mercer_status status = try_sheet(ctx, kernels[0], &s, &set);
        failed = checking_device_failed();
        checking_device_fail_after(-1);
        assert_true(!status || strstr(mercer_message(ctx), "device checking:0") != NULL);
        assert_int_equal(device->used, 0);
        assert_int_equal(checking_device_blocks(), 0);
        assert_true(calls < 300);
    }
    close_clean(ctx);
}

static const char *const covariances[] = {
    "1.3*rbf(gamma=[0.8, 0.3, 0.5])",
    "0.7*matern(nu=1.5, length_scale=0.9) + 0.2*linear",
    "0.5*rq(alpha=1.2, length_scale=[0.8, 1.1, 2])*periodic(period=2.2, length_scale=1.1)[1] + 0.1",
    "periodic(period=[2.2, 3, 4], length_scale=[1.1, 2, 3])",
    "0.6*laplacian(gamma=[0.8, 0.3, 1])",
    "exponential(gamma=[0.5, 1.2, 0.4])*0.9",
    "matern(nu=0.5, length_scale=[0.9, 1.7, 1])",
    "1.1*matern(nu=2.5, length_scale=[0.9, 1.7, 1])",
    "rbf(gamma=0.7)[1]*poly(degree=2, c=0.4, gamma=0.9)[2:3] + 0.3*exp(0.2*linear)",
    "(rbf(gamma=0.5) + 0.2)^2",
};

enum { SLOTS = 32 };

typedef struct evidence {
    double value, gradient[SLOTS], alpha[ROWS * OUTPUTS], density, rmse;
} evidence;

static mercer_status find_evidence(mercer_ctx *ctx, const sheet *s, const char *text, evidence *out) {
    mercer_data *data = data_of(ctx, s);
    mercer_kernel *kernel = kernel_of(ctx, text);
    double root[ROWS];
    mc_evidence *e = NULL;
    for (int64_t i = 0; i < s->n; i++)
        root[i] = sqrt(s->w[i]);
    assert_true(kernel->slots < SLOTS);
    assert_ok(ctx, mc_evidence_open(ctx, data, s->outputs, s->y, s->weighted ? root : NULL, &e));
    mercer_status status = mc_evidence_value(ctx, e, kernel, 0.4, &out->value, out->gradient);
    if (!status)
        memcpy(out->alpha, mc_evidence_alpha(e), (size_t)(s->n * s->outputs) * sizeof *out->alpha);
    double again;
    status = status ? status : mc_evidence_value(ctx, e, kernel, 0.4, &again, NULL);
    status = status ? status : mc_evidence_leave_one_out(ctx, e, &out->density, &out->rmse);
    mc_evidence_close(e);
    mercer_kernel_free(kernel);
    mercer_data_free(data);
    return status;
}

/* Value, gradient, coefficients and leave-one-out, each to the digits of a factorisation. */
static void test_evidence_and_its_gradient(void **state) {
    (void)state;
    mercer_ctx *here = open_ctx(2), *there = open_ctx(2);
    mc_device *device = attach_test_device(there);
    for (size_t k = 0; k < sizeof covariances / sizeof *covariances; k++) {
        sheet s = random_sheet(ROWS - (int64_t)k % 3, OUTPUTS, k);
        evidence a = {0}, b = {0};
        s.weighted = k & 1;
        device->peak = 0;
        assert_ok(here, find_evidence(here, &s, covariances[k], &a));
        assert_ok(there, find_evidence(there, &s, covariances[k], &b));
        assert_true(device->peak >= (size_t)(s.n * (s.n + 1) / 2) * sizeof(double));
        assert_close(a.value, b.value, 1e-12);
        for (int i = 0; i < SLOTS; i++)
            if (!(fabs(a.gradient[i] - b.gradient[i]) <= 1e-9 * (1 + fabs(a.gradient[i]))))
                fail_msg("%s: slot %d is %g here and %g there", covariances[k], i, a.gradient[i], b.gradient[i]);
        for (int64_t i = 0; i < s.n * s.outputs; i++)
            assert_close(a.alpha[i], b.alpha[i], 1e-10);
        assert_close(a.density, b.density, 1e-11);
        assert_close(a.rmse, b.rmse, 1e-11);
        assert_int_equal(device->used, 0);
    }
    close_clean(here);
    close_clean(there);
}

/* What there is no source for stays on the processor. */
static void test_evidence_of_other_kernels(void **state) {
    (void)state;
    static const char *const others[] = {"matern(nu=3.5, length_scale=1.2)", "normalize(poly(degree=2, c=1))"};
    mercer_ctx *here = open_ctx(1), *there = open_ctx(1);
    attach_test_device(there);
    for (size_t k = 0; k < sizeof others / sizeof *others; k++) {
        const sheet s = random_sheet(ROWS, 1, k);
        evidence a = {0}, b = {0};
        assert_ok(here, find_evidence(here, &s, others[k], &a));
        assert_ok(there, find_evidence(there, &s, others[k], &b));
        assert_true(a.value == b.value);
        assert_memory_equal(a.gradient, b.gradient, sizeof a.gradient);
    }
    close_clean(here);
    close_clean(there);
}

static void test_evidence_where_calls_fail(void **state) {
    (void)state;
    if (on_a_card())
        skip_test("a card does not fail on purpose");
    mercer_ctx *ctx = open_ctx(1);
    mc_device *device = attach_test_device(ctx);
    sheet s = random_sheet(ROWS, 1, 3);
    evidence whole = {0};
    assert_ok(ctx, find_evidence(ctx, &s, covariances[0], &whole));
    bool failed = true;
    for (int calls = 0; failed; calls++) {
        evidence found = {0};
        checking_device_fail_after(calls);
        const mercer_status status = find_evidence(ctx, &s, covariances[0], &found);
        failed = checking_device_failed();
        checking_device_fail_after(-1);
        assert_true(!status || strstr(mercer_message(ctx), "device checking:0") != NULL);
        if (!status)
            assert_close(found.value, whole.value, 1e-12);
        assert_int_equal(device->used, 0);
        assert_int_equal(checking_device_blocks(), 0);
        assert_true(calls < 300);
    }
    close_clean(ctx);
}

/* A whole fit: search, coefficients, standard deviations. */
static void test_a_gaussian_process(void **state) {
    (void)state;
    mercer_ctx *here = open_ctx(2), *there = open_ctx(2);
    mc_device *device = attach_test_device(there);
    const sheet s = random_sheet(ROWS, 1, 5);
    mercer_ctx *both[2] = {here, there};
    double spread[2][ROWS], mean[2][ROWS];
    mercer_model *model[2];
    for (int i = 0; i < 2; i++) {
        mercer_data *data = data_of(both[i], &s);
        mercer_gp set = mercer_gp_defaults();
        set.restarts = 0;
        model[i] = fit_model(both[i], "gp", &set, "rbf(gamma=[0.5, 0.5, 0.5])", data);
        mercer_posterior *p = NULL;
        assert_ok(both[i], mercer_posterior_open(both[i], model[i], &p));
        assert_ok(both[i], mercer_posterior_std(both[i], p, data, spread[i]));
        assert_ok(both[i], mercer_predict(both[i], model[i], data, mean[i]));
        mercer_posterior_free(p);
        mercer_data_free(data);
    }
    const mercer_report *a = mercer_model_report(model[0]), *b = mercer_model_report(model[1]);
    assert_true(device->peak > 0);
    assert_close(a->log_evidence, b->log_evidence, 1e-6);
    for (int64_t i = 0; i < s.n; i++) {
        assert_close(spread[0][i], spread[1][i], 1e-4);
        assert_close(mean[0][i], mean[1][i], 1e-4);
    }
    assert_int_equal(device->used, 0);
    for (int i = 0; i < 2; i++)
        mercer_model_free(model[i]);
    close_clean(here);
    close_clean(there);
}

/* Under auto the processor takes over from a card that fails, and the answer is there. */
static void test_under_auto_a_failing_card_is_done_without(void **state) {
    (void)state;
    if (on_a_card())
        skip_test("a card does not fail on purpose");
    mercer_ctx *here = open_ctx(1);
    sheet s = random_sheet(ROWS, 1, 3);
    mercer_ridge set = plain(0.3);
    set.solver = "cholesky";
    mercer_model *a = fit_sheet(here, kernels[0], &s, &set);
    bool failed = true;
    for (int calls = 0; failed; calls++) {
        mercer_ctx *there = open_ctx(1);
        attach_test_device(there);
        strcpy(there->device.wanted, "auto");
        there->device.spent = INFINITY; /* it pays to go there */
        checking_device_fail_after(calls);
        mercer_model *b = fit_sheet(there, kernels[0], &s, &set);
        failed = checking_device_failed();
        checking_device_fail_after(-1);
        assert_fits_agree(a, b);
        mercer_model_free(b);
        close_clean(there);
        assert_int_equal(checking_device_blocks(), 0);
        assert_true(calls < 300);
    }
    mercer_model_free(a);
    close_clean(here);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ridge),
        cmocka_unit_test(test_evidence_and_its_gradient),
        cmocka_unit_test(test_evidence_of_other_kernels),
        cmocka_unit_test(test_evidence_where_calls_fail),
        cmocka_unit_test(test_a_gaussian_process),
        cmocka_unit_test(test_a_device_with_no_room),
        cmocka_unit_test(test_the_same_bits_every_time),
        cmocka_unit_test(test_every_call_may_fail),
        cmocka_unit_test(test_under_auto_a_failing_card_is_done_without),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
