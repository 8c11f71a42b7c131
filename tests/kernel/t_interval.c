#include "support.h"
#include "base/rng.h"
#include "kernel/proof/exact.h"
#include "kernel/proof/interval.h"
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* v is rounded too, by the last of its bits or two, and an interval ends at the double next to the value. */
static bool holds(mc_interval a, long double v) {
    const long double slack = 4 * LDBL_EPSILON * fabsl(v);
    return (long double)a.lo <= v + slack && v - slack <= (long double)a.hi;
}

static bool equal(mc_interval a, mc_interval b) {
    return mc_iv_equal(&a, &b);
}

/* Ends at most a few doubles from the value. */
static bool is_tight(mc_interval a, long double v, double ulps) {
    const double unit = nextafter(fabs((double)v), INFINITY) - fabs((double)v);
    return a.hi - a.lo <= ulps * unit;
}

static void test_exact_results_stay_points(void **state) {
    (void)state;
    const mc_interval one = mc_iv(1), zero = mc_iv(0);
    assert_true(equal(mc_iv_sub(mc_iv_sub(mc_iv(2), one), one), zero));
    assert_true(equal(mc_iv_mul(mc_iv(0.5), mc_iv(3)), mc_iv(1.5)));
    assert_true(equal(mc_iv_div(mc_iv(3), mc_iv(8)), mc_iv(0.375)));
    assert_true(equal(mc_iv_sqrt(mc_iv(0.25)), mc_iv(0.5)));
    assert_true(equal(mc_iv_exp(zero), one));
    assert_true(equal(mc_iv_log(one), zero));
    assert_true(equal(mc_iv_power(mc_iv(-3), 3), mc_iv(-27)));
    assert_true(equal(mc_iv_power(zero, 0), one));
    assert_true(equal(mc_iv_sin(zero), zero));
    assert_true(equal(mc_iv_tanh(zero), zero));
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
    assert_true(holds(mc_iv_exp(mc_iv(a)), expl(x)) && is_tight(mc_iv_exp(mc_iv(a)), expl(x), 1));
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
    for (int i = 0; i < (test_sparse() ? 300 : 2000); i++) {
        const double a = ugly(&rng), b = ugly(&rng);
        check_arithmetic(a, b);
        check_functions(fmod(a, 30), b);
    }
}

/* f(A) holds f(a) for every a in A: wide intervals, points inside them. */
static void test_wide_intervals_hold_the_values_inside(void **state) {
    (void)state;
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 2);
    for (int i = 0; i < 1000; i++) {
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

/* ---- beyond doubles ---- */

/* Values to 210 bits from another program, as sums of doubles that do not overlap. */
typedef struct known {
    const char *name;
    mc_interval (*f)(mc_interval);
    double x, value[4];
} known;

static mc_interval power_03(mc_interval a) {
    return mc_iv_power(a, 0.3);
}

static mc_interval power_0625(mc_interval a) {
    return mc_iv_power(a, 0.625);
}

static const known table[] = {
    {"exp(1)",
     mc_iv_exp,
     1,
     {0x1.5bf0a8b145769p+1, 0x1.4d57ee2b1013ap-53, -0x1.618713a31d3e2p-109, 0x1.c5a6d2b53c26dp-163}},
    {"exp(-3)",
     mc_iv_exp,
     -3,
     {0x1.97db0ccceb0afp-5, -0x1.b5becfe6e37bfp-60, -0x1.e5ff17dd4718dp-114, 0x1.c318c61477228p-168}},
    {"exp(100)",
     mc_iv_exp,
     100,
     {0x1.3494a9b171bf5p+144, -0x1.4cf76bdb3376fp+90, -0x1.79acbba9139ecp+36, -0x1.9475d7b7b0a66p-21}},
    {"log(2)",
     mc_iv_log,
     2,
     {0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56, 0x1.7b57a079a1934p-111, -0x1.ace93a4ebe5d1p-165}},
    {"log(10)",
     mc_iv_log,
     10,
     {0x1.26bb1bbb55516p+1, -0x1.f48ad494ea3e9p-53, -0x1.9ebae3ae0260cp-107, -0x1.2d10378be1cf1p-161}},
    {"log(1/512)",
     mc_iv_log,
     0x1p-9,
     {-0x1.8f40b5ed9812dp+2, -0x1.c28640541608ep-54, -0x1.55852911ab8b4p-109, -0x1.d799e6769d749p-166}},
    {"sqrt(2)",
     mc_iv_sqrt,
     2,
     {0x1.6a09e667f3bcdp+0, -0x1.bdd3413b26456p-54, 0x1.57d3e3adec175p-108, 0x1.2775099da2f59p-164}},
    {"sqrt(3)",
     mc_iv_sqrt,
     3,
     {0x1.bb67ae8584caap+0, 0x1.cec95d0b5c1e3p-54, -0x1.f11db689f2ccfp-110, 0x1.3da4798c720a6p-164}},
    {"sin(1)",
     mc_iv_sin,
     1,
     {0x1.aed548f090ceep-1, 0x1.06374f484e288p-59, -0x1.879aec35ddd9ap-113, -0x1.5ce96420926b4p-169}},
    {"cos(1)",
     mc_iv_cos,
     1,
     {0x1.14a280fb5068cp-1, -0x1.b71edcc9344bcp-55, -0x1.c85acbb918aedp-109, -0x1.8349e2406e7ffp-163}},
    {"sin(10)",
     mc_iv_sin,
     10,
     {-0x1.1689ef5f34f52p-1, -0x1.673fd915f0127p-55, -0x1.0004a757c28f5p-111, 0x1.808dc0a0800bdp-166}},
    {"tanh(1)",
     mc_iv_tanh,
     1,
     {0x1.85efab514f394p-1, 0x1.5618caf8a4f11p-55, -0x1.8b019d4332785p-109, -0x1.cbfbbbfd49c26p-165}},
    {"tanh(1/4)",
     mc_iv_tanh,
     0.25,
     {0x1.f597ea69a1c86p-3, -0x1.d94e51c4f71acp-60, -0x1.bf9b8f62ead09p-114, -0x1.7c6b0101e448fp-169}},
    {"7^0.3",
     power_03,
     7,
     {0x1.caf448719fef8p+0, 0x1.bb063f3810c3cp-54, -0x1.65847d630a8f2p-108, 0x1.440fd45940aa4p-164}},
    {"2^0.625",
     power_0625,
     2,
     {0x1.8ace5422aa0dbp+0, 0x1.6e9f156864b27p-54, -0x1.30644a7836333p-110, -0x1.f6b9724e25e80p-165}},
};

static void test_functions_are_known_to_190_bits(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        mc_interval rest = table[i].f(mc_iv(table[i].x));
        for (int k = 0; k < 4; k++)
            rest = mc_iv_sub(rest, mc_iv(table[i].value[k]));
        if (!(fabs(rest.lo) <= 0x1p-190 * fabs(table[i].value[0])
              && fabs(rest.hi) <= 0x1p-190 * fabs(table[i].value[0])))
            fail_msg("%s is off by [%g, %g]", table[i].name, rest.lo, rest.hi);
    }
}

static bool overlap(mc_interval a, mc_interval b) {
    return mc_big_compare(&a.low, &b.high) <= 0 && mc_big_compare(&b.low, &a.high) <= 0;
}

/* Ends that agree in 185 bits. */
static bool is_sharp(mc_interval a) {
    const mc_interval width = mc_iv_sub(mc_iv_of(a.hi, a.hi), mc_iv_of(a.lo, a.lo));
    const mc_big minus = mc_big_negate(&a.low), exact = mc_big_add(&a.high, &minus, MC_UP);
    return width.hi >= 0 && mc_big_to_double(&exact, MC_UP) <= 0x1p-185 * fmax(fabs(a.lo), fabs(a.hi));
}

/* What is known of the functions holds for the intervals, which are narrow. */
static void test_functions_agree_with_each_other(void **state) {
    (void)state;
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 3);
    for (int i = 0; i < 500; i++) {
        const mc_interval a = mc_iv(fmod(ugly(&rng), 200)), b = mc_iv(fmod(ugly(&rng), 200)), one = mc_iv(1);
        const mc_interval p = mc_iv_abs(mc_iv(ugly(&rng)));
        assert_true(overlap(mc_iv_exp(mc_iv_add(a, b)), mc_iv_mul(mc_iv_exp(a), mc_iv_exp(b))));
        assert_true(overlap(mc_iv_exp(mc_iv_log(p)), p) && overlap(mc_iv_log(mc_iv_exp(a)), a));
        assert_true(overlap(mc_iv_add(mc_iv_square(mc_iv_sin(a)), mc_iv_square(mc_iv_cos(a))), one));
        assert_true(
            overlap(mc_iv_sin(mc_iv_mul(mc_iv(2), a)), mc_iv_mul(mc_iv(2), mc_iv_mul(mc_iv_sin(a), mc_iv_cos(a)))));
        assert_true(overlap(mc_iv_square(mc_iv_sqrt(p)), p) && overlap(mc_iv_mul(mc_iv_div(a, p), p), a));
        assert_true(is_sharp(mc_iv_exp(a)) && is_sharp(mc_iv_sqrt(p)) && is_sharp(mc_iv_log(mc_iv_add(p, mc_iv(2)))));
        assert_true(is_sharp(mc_iv_power(p, 0.3)) && is_sharp(mc_iv_cos(a)));
    }
}

/* ---- what is exactly 0 ---- */

static bool is_zero(mc_interval a) {
    return mc_iv_is_zero(&a);
}

/* Zeros that no number of bits shows, and what is next to them. */
static void test_separation_bounds_tell_zero(void **state) {
    (void)state;
    const mc_interval third = mc_iv_div(mc_iv(1), mc_iv(3)), two = mc_iv(2), tiny = mc_iv(0x1p-300);
    const mc_interval root2 = mc_iv_sqrt(two), root3 = mc_iv_sqrt(mc_iv(3)), root6 = mc_iv_sqrt(mc_iv(6));
    assert_true(is_zero(mc_iv_sub(mc_iv_mul(mc_iv(3), third), mc_iv(1))));
    assert_true(is_zero(mc_iv_sub(mc_iv_mul(root2, root2), two)));
    assert_true(is_zero(mc_iv_sub(mc_iv_mul(root2, root3), root6)));
    assert_true(is_zero(mc_iv_sub(mc_iv_power(mc_iv(0.1), 1.5), mc_iv_mul(mc_iv(0.1), mc_iv_sqrt(mc_iv(0.1))))));
    assert_false(is_zero(mc_iv_sub(mc_iv_mul(root2, root2), mc_iv_add(two, tiny))));
    assert_false(is_zero(mc_iv_sub(mc_iv_add(mc_iv_mul(mc_iv(3), third), tiny), mc_iv(1))));
    assert_false(is_zero(mc_iv_sub(mc_iv_exp(mc_iv(1)), mc_iv_exp(mc_iv(1))))); /* nothing is known of its degree */
    assert_false(is_zero(mc_iv_sub(mc_iv_of(1, 2), mc_iv_of(1, 2))));
}

/* sqrt(a) + sqrt(b) - sqrt(a + b + 2 sqrt(a b)) is 0, and is not when b is another. */
static void test_separation_bounds_of_nested_roots(void **state) {
    (void)state;
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 4);
    for (int i = 0; i < 200; i++) {
        const mc_interval a = mc_iv((double)(1 + mc_rng_below(&rng, 9))),
                          b = mc_iv((double)(1 + mc_rng_below(&rng, 9)));
        const mc_interval left = mc_iv_add(mc_iv_sqrt(a), mc_iv_sqrt(b));
        const mc_interval square = mc_iv_add(mc_iv_add(a, b), mc_iv_mul(mc_iv(2), mc_iv_sqrt(mc_iv_mul(a, b))));
        assert_true(is_zero(mc_iv_sub(mc_iv_power(left, 2), square)));
        assert_false(is_zero(mc_iv_sub(mc_iv_power(left, 2), mc_iv_add(square, mc_iv(0x1p-200)))));
        assert_false(is_zero(mc_iv_sub(left, mc_iv_sqrt(mc_iv_add(square, mc_iv(0x1p-200))))));
    }
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
        cmocka_unit_test(test_functions_are_known_to_190_bits),
        cmocka_unit_test(test_functions_agree_with_each_other),
        cmocka_unit_test(test_separation_bounds_tell_zero),
        cmocka_unit_test(test_separation_bounds_of_nested_roots),
        cmocka_unit_test(test_semidefinite_matrices_are_told_exactly),
        cmocka_unit_test(test_random_gram_matrices_of_whole_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
