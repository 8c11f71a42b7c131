/* Support vector machines whose quadratic programs a device solves, against those of the processor. */
#include "../gram/checking_device.h"
#include "base/ctx.h"
#include "data/table/data.h"
#include "model/model.h"
#include "svm_of_test.h"

typedef struct device_case {
    const char *machine, *kernel;
    double C, tolerance;
    int64_t n, classes;
    bool weighted;
    const char *multiclass; /* NULL: as it comes */
} device_case;

static const device_case cases[] = {
    {"svc", "rbf(gamma=0.7)", 10, 1e-3, 150, 2, false, NULL},
    {"svc", "rbf(gamma=2) + 0.3*linear", 1, 1e-4, 129, 2, true, NULL},
    {"svc", "matern(nu=1.5, length_scale=0.9)", 3, 1e-3, 140, 4, false, NULL},
    {"svc", "rbf(gamma=0.3)", 100, 1e-3, 70, 3, true, "ovr"},
    {"svr", "rbf(gamma=0.7)", 5, 1e-3, 90, 2, true, NULL},
    {"svr", "normalize(poly(degree=3, c=1))", 1, 1e-3, 60, 2, false, NULL},
};
enum { CASES = sizeof cases / sizeof *cases };

static mercer_svm settings_of(const device_case *c) {
    mercer_svm set = plain(c->machine, c->tolerance);
    set.C = c->C;
    if (c->multiclass)
        set.multiclass = c->multiclass;
    return set;
}

static table table_of(const device_case *c, uint64_t item) {
    table t = random_table(c->n, c->classes, item);
    t.weighted = c->weighted;
    return t;
}

static mercer_model *fit_case(mercer_ctx *ctx, const device_case *c, const table *t) {
    const mercer_svm set = settings_of(c);
    return fit(ctx, c->machine, &set, c->kernel, t);
}

/* Each is certified by itself, and each certificate says how far its function is from the optimum. */
static void assert_both_optimal(const device_case *c, const mercer_model *here, const mercer_model *there) {
    const mercer_report *a = mercer_model_report(here), *b = mercer_model_report(there);
    assert_string_equal(b->stopped, "no");
    assert_true(b->certificate.kkt_violation <= c->tolerance);
    assert_true(a->certificate.dual <= b->certificate.primal + 1e-9 * fabs(b->certificate.primal));
    assert_true(b->certificate.dual <= a->certificate.primal + 1e-9 * fabs(a->certificate.primal));
}

static void assert_decisions_agree(mercer_ctx *ctx, const mercer_model *here, const mercer_model *there,
                                   const table *t) {
    const double far = mercer_model_report(here)->certificate.prediction_error_bound
                       + mercer_model_report(there)->certificate.prediction_error_bound;
    double *a = decide(ctx, here, t), *b = decide(ctx, there, t);
    for (int64_t i = 0; i < t->n * mercer_model_decisions(here); i++)
        assert_true(fabs(a[i] - b[i]) <= far);
    free(a);
    free(b);
}

static void test_each_machine(void **state) {
    (void)state;
    mercer_ctx *here = open_ctx(2), *there = open_ctx(2);
    mc_device *device = attach_test_device(there);
    for (int k = 0; k < CASES; k++) {
        const table t = table_of(&cases[k], (uint64_t)k);
        mercer_model *a = fit_case(here, &cases[k], &t);
        device->peak = 0;
        mercer_model *b = fit_case(there, &cases[k], &t);
        assert_true(device->peak >= (size_t)(t.n * t.n) * sizeof(double));
        assert_int_equal(device->used, 0);
        assert_both_optimal(&cases[k], a, b);
        assert_decisions_agree(here, a, b, &t);
        mercer_model_free(a);
        mercer_model_free(b);
    }
    close_clean(here);
    close_clean(there);
}

static void assert_same_bits(const mercer_model *a, const mercer_model *b) {
    assert_int_equal(a->f.centres->n, b->f.centres->n);
    for (int64_t i = 0; i < a->f.centres->n; i++)
        for (int64_t k = 0; k < mercer_model_decisions(a); k++)
            assert_true(mercer_model_coefficient(a, i, k) == mercer_model_coefficient(b, i, k));
    assert_true(a->f.intercept[0] == b->f.intercept[0]);
}

static void test_the_same_bits_on_any_number_of_threads(void **state) {
    (void)state;
    const table t = table_of(&cases[0], 7);
    mercer_ctx *one = open_ctx(1), *three = open_ctx(3);
    attach_test_device(one);
    attach_test_device(three);
    mercer_model *a = fit_case(one, &cases[0], &t), *b = fit_case(three, &cases[0], &t),
                 *c = fit_case(one, &cases[0], &t);
    assert_same_bits(a, b);
    assert_same_bits(a, c);
    mercer_model_free(a);
    mercer_model_free(b);
    mercer_model_free(c);
    close_clean(one);
    close_clean(three);
}

/* Where K does not fit the processor solves, with the bits it always has but for the certificate's products. */
static void test_a_device_with_no_room(void **state) {
    (void)state;
    const table t = table_of(&cases[0], 3);
    mercer_ctx *there = open_ctx(1);
    mc_device *device = attach_test_device(there);
    device->limit = (size_t)(t.n * t.n) * sizeof(double);
    mercer_model *a = fit_case(there, &cases[0], &t);
    assert_true(mercer_model_report(a)->certificate.kkt_violation <= cases[0].tolerance);
    assert_true(device->peak <= device->limit);
    mercer_model_free(a);
    close_clean(there);
}

static void test_steps_are_limited(void **state) {
    (void)state;
    const table t = table_of(&cases[0], 4);
    mercer_ctx *there = open_ctx(1);
    attach_test_device(there);
    mercer_svm set = settings_of(&cases[0]);
    set.iterations = 20;
    mercer_model *a = fit(there, "svc", &set, cases[0].kernel, &t);
    assert_string_equal(mercer_model_report(a)->stopped, "steps");
    assert_true(mercer_model_report(a)->iterations == 20);
    mercer_model_free(a);
    close_clean(there);
}

static void test_every_call_may_fail(void **state) {
    (void)state;
    if (on_a_card())
        skip_test("a card does not fail on purpose");
    device_case c = cases[0];
    c.n = 24;
    const table t = table_of(&c, 5);
    const mercer_svm set = settings_of(&c);
    mercer_ctx *ctx = open_ctx(1);
    mc_device *device = attach_test_device(ctx);
    bool failed = true;
    for (int calls = 0; failed; calls++) {
        mercer_model *model = NULL;
        checking_device_fail_after(calls);
        const mercer_status status = try_fit(ctx, c.machine, &set, c.kernel, &t, &model);
        failed = checking_device_failed();
        checking_device_fail_after(-1);
        assert_true(!status || strstr(mercer_message(ctx), "device checking:0") != NULL);
        assert_int_equal(device->used, 0);
        assert_int_equal(checking_device_blocks(), 0);
        mercer_model_free(model);
        device->failed = false;
        assert_true(calls < 300);
    }
    close_clean(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_machine),          cmocka_unit_test(test_the_same_bits_on_any_number_of_threads),
        cmocka_unit_test(test_a_device_with_no_room), cmocka_unit_test(test_steps_are_limited),
        cmocka_unit_test(test_every_call_may_fail),
    };
    if (!on_a_card() && !checking_device_works())
        return 77;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
