/* Machines that factor their system on a device against the same on the processor. */
#include "../gram/checking_device.h"
#include "base/ctx.h"
#include "base/rng.h"
#include "data/table/data.h"
#include "machines_of_test.h"
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
        cmocka_unit_test(test_a_device_with_no_room),
        cmocka_unit_test(test_the_same_bits_every_time),
        cmocka_unit_test(test_every_call_may_fail),
        cmocka_unit_test(test_under_auto_a_failing_card_is_done_without),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
