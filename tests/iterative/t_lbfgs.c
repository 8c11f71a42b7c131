#include "iterative/lbfgs.h"
#include "support.h"
#include <math.h>
#include <string.h>

static mercer_status rosenbrock(mercer_ctx *ctx, void *self, const double *x, double *f, double *g) {
    (void)ctx;
    ++*(int *)self;
    const double a = 1 - x[0], b = x[1] - x[0] * x[0];
    *f = a * a + 100 * b * b;
    g[0] = -2 * a - 400 * x[0] * b;
    g[1] = 200 * b;
    return MERCER_OK;
}

static mc_lbfgs in_box(const double *low, const double *high, mc_objective *f, void *self, int64_t n) {
    return (mc_lbfgs){.n = n,
                      .low = low,
                      .high = high,
                      .objective = f,
                      .self = self,
                      .iterations_max = 500,
                      .gradient_tolerance = 1e-9,
                      .decrease_tolerance = 1e-15};
}

static void test_finds_the_bottom_of_the_banana(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    const double low[] = {-INFINITY, -INFINITY}, high[] = {INFINITY, INFINITY};
    double x[] = {-1.2, 1};
    int calls = 0;
    const mc_lbfgs p = in_box(low, high, rosenbrock, &calls, 2);
    mc_lbfgs_result r;
    assert_ok(ctx, mc_lbfgs_minimise(ctx, &p, x, &r));
    assert_true(r.converged);
    assert_close(x[0], 1, 1e-7);
    assert_close(x[1], 1, 1e-7);
    assert_int_equal(r.evaluations, calls);
    assert_true(calls < 100);
    close_clean(ctx);
}

/* With x0 <= 0.5 the minimum lies on the bound: x1 = x0^2. */
static void test_stops_on_a_bound(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    const double low[] = {-2, -2}, high[] = {0.5, 2};
    double x[] = {-1.2, 1};
    int calls = 0;
    const mc_lbfgs p = in_box(low, high, rosenbrock, &calls, 2);
    mc_lbfgs_result r;
    assert_ok(ctx, mc_lbfgs_minimise(ctx, &p, x, &r));
    assert_close(x[0], 0.5, 1e-12);
    assert_close(x[1], 0.25, 1e-7);
    assert_close(r.f, 0.25, 1e-12);
    close_clean(ctx);
}

/* -log x + x with a wall at 0 that the objective answers with infinity. */
static mercer_status walled(mercer_ctx *ctx, void *self, const double *x, double *f, double *g) {
    (void)ctx;
    (void)self;
    *f = x[0] > 0 ? x[0] - log(x[0]) : INFINITY;
    g[0] = 1 - 1 / x[0];
    return MERCER_OK;
}

static void test_backs_off_from_infinity(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    const double low[] = {-100}, high[] = {100};
    double x[] = {50};
    const mc_lbfgs p = in_box(low, high, walled, NULL, 1);
    mc_lbfgs_result r;
    assert_ok(ctx, mc_lbfgs_minimise(ctx, &p, x, &r));
    assert_close(x[0], 1, 1e-7);
    close_clean(ctx);
}

static mercer_status minimise_again(mercer_ctx *ctx, void *arg) {
    (void)arg;
    const double low[] = {-2, -2}, high[] = {2, 2};
    double x[] = {-1.2, 1};
    int calls = 0;
    const mc_lbfgs p = in_box(low, high, rosenbrock, &calls, 2);
    mc_lbfgs_result r;
    return mc_lbfgs_minimise(ctx, &p, x, &r);
}

static void test_survives_failing_memory(void **state) {
    (void)state;
    assert_survives_failing_memory(minimise_again, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_finds_the_bottom_of_the_banana),
        cmocka_unit_test(test_stops_on_a_bound),
        cmocka_unit_test(test_backs_off_from_infinity),
        cmocka_unit_test(test_survives_failing_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
