#include "support.h"
#include "base/rng.h"
#include "kernel/proof/enclose.h"
#include "kernel/proof/exact.h"
#include "kernel/proof/interval.h"
#include "kernel/language/kernel.h"
#include "random_kernel.h"
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static bool holds(mc_interval a, long double v) {
    return (long double)a.lo <= v && v <= (long double)a.hi;
}

/* Ends at most a few doubles from the value. */
static bool is_tight(mc_interval a, long double v, double ulps) {
    const double unit = nextafter(fabs((double)v), INFINITY) - fabs((double)v);
    return a.hi - a.lo <= ulps * unit;
}

static void test_exact_results_stay_points(void **state) {
    (void)state;
    const mc_interval one = mc_iv(1), zero = mc_iv(0);
    assert_true(mc_iv_equal_points(mc_iv_sub(mc_iv_sub(mc_iv(2), one), one), zero));
    assert_true(mc_iv_equal_points(mc_iv_mul(mc_iv(0.5), mc_iv(3)), mc_iv(1.5)));
    assert_true(mc_iv_equal_points(mc_iv_div(mc_iv(3), mc_iv(8)), mc_iv(0.375)));
    assert_true(mc_iv_equal_points(mc_iv_sqrt(mc_iv(0.25)), mc_iv(0.5)));
    assert_true(mc_iv_equal_points(mc_iv_exp(zero), one));
    assert_true(mc_iv_equal_points(mc_iv_log(one), zero));
    assert_true(mc_iv_equal_points(mc_iv_power(mc_iv(-3), 3), mc_iv(-27)));
    assert_true(mc_iv_equal_points(mc_iv_power(zero, 0), one));
    assert_true(mc_iv_equal_points(mc_iv_sin(zero), zero));
    assert_true(mc_iv_equal_points(mc_iv_tanh(zero), zero));
}

static void test_a_third_is_between_two_doubles(void **state) {
    (void)state;
    const mc_interval third = mc_iv_div(mc_iv(1), mc_iv(3));
    assert_true(third.lo < third.hi && nextafter(third.lo, 1) == third.hi);
    assert_true(holds(third, 1.0L / 3));
}

static void test_what_is_not_defined_is_everything(void **state) {
    (void)state;
    assert_true(mc_iv_log(mc_iv(-1)).lo == -INFINITY);
    assert_true(mc_iv_power(mc_iv(-1), 0.5).hi == INFINITY);
    assert_true(mc_iv_div(mc_iv(1), mc_iv_of(-1, 1)).hi == INFINITY);
    assert_true(mc_iv_sqrt(mc_iv(-1)).lo == -INFINITY);
    assert_true(mc_iv(NAN).lo == -INFINITY);
}

static void test_overflow_keeps_the_value_inside(void **state) {
    (void)state;
    const mc_interval big = mc_iv_mul(mc_iv(DBL_MAX), mc_iv(2));
    assert_true(big.lo == DBL_MAX && big.hi == INFINITY);
    const mc_interval sum = mc_iv_add(mc_iv(-DBL_MAX), mc_iv(-DBL_MAX));
    assert_true(sum.lo == -INFINITY && sum.hi == -DBL_MAX);
    assert_true(mc_iv_exp(mc_iv(1000)).hi == INFINITY && mc_iv_exp(mc_iv(-1000)).lo == 0);
}

/* Numbers of many sizes; long double has 11 more bits, enough to see which side of a double a result lies on. */
static double ugly(mc_rng *rng) {
    return mc_rng_normal(rng) * exp(6 * mc_rng_normal(rng));
}

static void check_arithmetic(double a, double b) {
    const long double x = a, y = b;
    assert_true(holds(mc_iv_add(mc_iv(a), mc_iv(b)), x + y) && is_tight(mc_iv_add(mc_iv(a), mc_iv(b)), x + y, 1));
    assert_true(holds(mc_iv_sub(mc_iv(a), mc_iv(b)), x - y));
    assert_true(holds(mc_iv_mul(mc_iv(a), mc_iv(b)), x * y) && is_tight(mc_iv_mul(mc_iv(a), mc_iv(b)), x * y, 1));
    assert_true(holds(mc_iv_div(mc_iv(a), mc_iv(b)), x / y) && is_tight(mc_iv_div(mc_iv(a), mc_iv(b)), x / y, 1));
    assert_true(holds(mc_iv_sqrt(mc_iv(fabs(a))), sqrtl(fabsl(x))));
}

static void check_functions(double a, double b) {
    const long double x = a, y = b;
    assert_true(holds(mc_iv_exp(mc_iv(a)), expl(x)) && is_tight(mc_iv_exp(mc_iv(a)), expl(x), 20));
    assert_true(holds(mc_iv_log(mc_iv(fabs(b))), logl(fabsl(y))));
    assert_true(holds(mc_iv_sin(mc_iv(a)), sinl(x)) && holds(mc_iv_cos(mc_iv(a)), cosl(x)));
    assert_true(holds(mc_iv_tanh(mc_iv(a)), tanhl(x)));
    assert_true(holds(mc_iv_acos(mc_iv(tanh(a))), acosl(tanh(a))));
    assert_true(holds(mc_iv_power(mc_iv(fabs(a)), 1.7), powl(fabsl(x), 1.7)));
    assert_true(holds(mc_iv_power(mc_iv(a), 3), x * x * x));
    assert_true(holds(mc_iv_power(mc_iv(a), 40), powl(x, 40)));
    assert_true(holds(mc_iv_power(mc_iv(a), -3), 1 / (x * x * x)));
}

static void test_intervals_hold_the_value(void **state) {
    (void)state;
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 1);
    for (int i = 0; i < 20000; i++) {
        const double a = ugly(&rng), b = ugly(&rng);
        check_arithmetic(a, b);
        check_functions(fmod(a, 30), b);
    }
}

/* f(A) holds f(a) for every a in A: wide intervals, points inside them. */
static void test_wide_intervals_hold_the_values_inside(void **state) {
    (void)state;
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 2);
    for (int i = 0; i < 20000; i++) {
        const double a = 5 * mc_rng_normal(&rng), b = a + fabs(mc_rng_normal(&rng)),
                     t = a + (b - a) * mc_rng_uniform(&rng);
        const double c = 5 * mc_rng_normal(&rng), e = c + fabs(mc_rng_normal(&rng)),
                     u = c + (e - c) * mc_rng_uniform(&rng);
        const mc_interval A = mc_iv_of(a, b), C = mc_iv_of(c, e);
        assert_true(holds(mc_iv_mul(A, C), (long double)t * u));
        assert_true(holds(mc_iv_sub(A, C), (long double)t - u));
        assert_true(holds(mc_iv_div(A, C), (long double)t / u));
        assert_true(holds(mc_iv_square(A), (long double)t * t));
        assert_true(holds(mc_iv_power(A, 5), powl(t, 5)) && holds(mc_iv_power(A, 34), powl(t, 34)));
        assert_true(holds(mc_iv_sin(A), sinl(t)) && holds(mc_iv_cos(A), cosl(t)));
        assert_true(holds(mc_iv_exp(A), expl(t)) && holds(mc_iv_tanh(A), tanhl(t)));
        assert_true(holds(mc_iv_abs(A), fabsl(t)));
    }
}

/* ---- whole expressions ---- */

/* Where values overflow on the way the reference evaluator is not to be trusted: it returns no number, or 0 from a
   normalised infinity. */
static bool overflowed(const char *text, double v, mc_interval a) {
    return !isfinite(v) || !isfinite(a.lo) || !isfinite(a.hi) || (v == 0 && strstr(text, "normalize"));
}

static void check_pair(const mercer_kernel *kernel, const char *text, const double *x, const double *z, int64_t d) {
    /* the reference evaluator rounds as well */
    const double v = mc_eval(kernel->root, x, z, d), slack = 1e-10 * (1 + fabs(v));
    const mc_interval a = mc_enclose(kernel->root, x, z, d);
    if (!overflowed(text, v, a) && !(a.lo - slack <= v && v <= a.hi + slack))
        fail_msg("%s: %.17g is not in [%.17g, %.17g]", text, v, a.lo, a.hi);
}

static void check_kernel(mercer_ctx *ctx, mc_rng *rng, int64_t d) {
    char text[RANDOM_KERNEL_SIZE];
    mercer_kernel *kernel = NULL;
    double x[4], z[4];
    random_kernel(rng, d, text);
    assert_ok(ctx, mercer_kernel_parse(ctx, text, &kernel));
    for (int64_t j = 0; j < d; j++) {
        x[j] = fabs(mc_rng_normal(rng));
        z[j] = mc_rng_uniform(rng) < 0.2 ? x[j] : fabs(mc_rng_normal(rng));
    }
    check_pair(kernel, text, x, z, d);
    check_pair(kernel, text, x, x, d);
    mercer_kernel_free(kernel);
}

static void test_enclosures_hold_what_the_judge_says(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    for (int i = 0; i < 4000; i++) {
        mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 1000 + (uint64_t)i);
        check_kernel(ctx, &rng, 2 + i % 3);
    }
    close_clean(ctx);
}

/* ---- exact elimination ---- */

static mc_psd psd(mercer_ctx *ctx, const double *A, int64_t n) {
    mc_psd answer;
    assert_ok(ctx, mc_psd_test(ctx, A, n, &answer));
    return answer;
}

static void test_semidefinite_matrices_are_told_exactly(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    assert_int_equal(psd(ctx, (double[]){2, 1, 1, 2}, 2), MC_PSD_YES);
    assert_int_equal(psd(ctx, (double[]){1, 1, 1, 1}, 2), MC_PSD_YES);
    assert_int_equal(psd(ctx, (double[]){0, 0, 0, 0}, 2), MC_PSD_YES);
    assert_int_equal(psd(ctx, (double[]){0, 1, 1, 0}, 2), MC_PSD_NO);
    assert_int_equal(psd(ctx, (double[]){1, 2, 2, 1}, 2), MC_PSD_NO);
    assert_int_equal(psd(ctx, (double[]){1, 1, 1, 1 - DBL_EPSILON}, 2), MC_PSD_NO);
    assert_int_equal(psd(ctx, (double[]){1, 1, 1, 1 + DBL_EPSILON}, 2), MC_PSD_YES);
    assert_int_equal(psd(ctx, (double[]){3, 1, 4, 1, 3, 4, 4, 4, 8}, 3), MC_PSD_YES);
    assert_int_equal(psd(ctx, (double[]){1e-300, 0, 0, 1e300}, 2), MC_PSD_YES);
    assert_int_equal(psd(ctx, (double[]){1e-300, 2, 2, 1e300}, 2), MC_PSD_NO);
    close_clean(ctx);
}

/* B'B of whole numbers is semidefinite of any rank we like; a little less on the diagonal and it is not. */
static void test_random_gram_matrices_of_whole_numbers(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    for (int trial = 0; trial < 200; trial++) {
        mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 50000 + (uint64_t)trial);
        const int64_t n = 2 + mc_rng_below(&rng, 8), rank = 1 + mc_rng_below(&rng, n - 1);
        double B[10][10], A[100] = {0};
        for (int64_t r = 0; r < rank; r++)
            for (int64_t i = 0; i < n; i++)
                B[r][i] = (double)mc_rng_below(&rng, 199) - 99;
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < n; j++)
                for (int64_t r = 0; r < rank; r++)
                    A[i * n + j] += B[r][i] * B[r][j];
        assert_int_equal(psd(ctx, A, n), MC_PSD_YES);
        for (int64_t i = 0; i < n; i++)
            A[i * n + i] -= 0x1p-20; /* singular before, so a null vector now has a negative form */
        assert_int_equal(psd(ctx, A, n), MC_PSD_NO);
    }
    close_clean(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exact_results_stay_points),
        cmocka_unit_test(test_a_third_is_between_two_doubles),
        cmocka_unit_test(test_what_is_not_defined_is_everything),
        cmocka_unit_test(test_overflow_keeps_the_value_inside),
        cmocka_unit_test(test_intervals_hold_the_value),
        cmocka_unit_test(test_wide_intervals_hold_the_values_inside),
        cmocka_unit_test(test_enclosures_hold_what_the_judge_says),
        cmocka_unit_test(test_semidefinite_matrices_are_told_exactly),
        cmocka_unit_test(test_random_gram_matrices_of_whole_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
