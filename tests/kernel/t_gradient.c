#include "kernel/evaluate/text_features.h"
#include "kernel/language/kernel.h"
#include "kernel/language/parameters.h"
#include "random_kernel.h"
#include "support.h"
#include <math.h>
#include <string.h>

enum { D = 3, SLOTS = 400 };
static const double X[D] = {0.5, 1.25, 2}, Z[D] = {1, 0.25, 3};

static mercer_kernel *parsed(mercer_ctx *ctx, const char *text) {
    mercer_kernel *kernel = NULL;
    assert_ok(ctx, mercer_kernel_parse(ctx, text, &kernel));
    return kernel;
}

/* k(x, z) with slot i moved by h. */
static double moved(mercer_ctx *ctx, const mercer_kernel *kernel, int64_t i, double h, const double *x,
                    const double *z) {
    double parameters[SLOTS];
    mercer_kernel *other = NULL;
    for (int64_t j = 0; j < kernel->slots; j++)
        parameters[j] = mercer_kernel_parameter(kernel, j);
    parameters[i] += h;
    assert_ok(ctx, mercer_kernel_with(ctx, kernel, parameters, &other));
    assert_int_equal(other->slots, kernel->slots);
    const double value = mc_eval_kernel(other->root, x, z, D);
    mercer_kernel_free(other);
    return value;
}

/* Fourth order: the error of the formula is some 1e-12 of the fifth derivative, that of rounding 1e-12 of the value. */
static double difference_quotient(mercer_ctx *ctx, const mercer_kernel *kernel, int64_t i, double h, const double *x,
                                  const double *z) {
    const double a = moved(ctx, kernel, i, -2 * h, x, z), b = moved(ctx, kernel, i, -h, x, z);
    const double c = moved(ctx, kernel, i, h, x, z), d = moved(ctx, kernel, i, 2 * h, x, z);
    return (a - 8 * b + 8 * c - d) / (12 * h);
}

/* A quotient is an oracle only where two of them agree: not where a normalisation of something that is no kernel jumps.
   */
static bool near(double a, double b, double tolerance) {
    return fabs(a - b) <= tolerance * (1e-3 + fabs(a));
}

static void test_gradients_agree_with_difference_quotients(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 20);
    int64_t compared = 0, undefined = 0;
    for (int trial = 0; trial < 600; trial++) {
        char text[RANDOM_KERNEL_SIZE];
        double x[D], z[D], value, gradient[SLOTS];
        random_kernel(&rng, D, text);
        for (int j = 0; j < D; j++) {
            x[j] = mc_rng_uniform(&rng);
            z[j] = mc_rng_uniform(&rng);
        }
        mercer_kernel *kernel = parsed(ctx, text);
        assert_true(kernel->slots <= SLOTS);
        assert_ok(ctx, mercer_kernel_gradient(ctx, kernel, x, z, D, &value, gradient));
        const double again = mc_eval_kernel(kernel->root, x, z, D);
        assert_true(memcmp(&value, &again, sizeof value) == 0);
        for (int64_t i = 0; i < kernel->slots && fabs(value) < 1e6; i++) {
            const bool period =
                strstr(mercer_kernel_parameter_name(kernel, i), "period") != NULL; /* a short one turns fast */
            const double at = mercer_kernel_parameter(kernel, i), h = 1e-3 * at * (period ? fmin(1, at) : 1);
            const double quotient = difference_quotient(ctx, kernel, i, h, x, z);
            if (!near(quotient, difference_quotient(ctx, kernel, i, h / 2, x, z), 1e-6))
                continue;
            compared++;
            if (isnan(gradient[i])) /* something overflowed on the way */
                undefined++;
            else if (!near(quotient, gradient[i], 1e-5) && fabs(quotient - gradient[i]) > 1e-15 * fabs(value) / h)
                fail_msg("%s: d/d%s is %.12g, the quotient %.12g", text, mercer_kernel_parameter_name(kernel, i),
                         gradient[i], quotient);
        }
        mercer_kernel_free(kernel);
    }
    assert_true(compared > 2000 && undefined < compared / 100);
    close_clean(ctx);
}

static void expect(mercer_ctx *ctx, const char *text, const char *names, const double *wanted) {
    mercer_kernel *kernel = parsed(ctx, text);
    double value, gradient[16];
    char seen[400] = "";
    assert_ok(ctx, mercer_kernel_gradient(ctx, kernel, X, Z, D, &value, gradient));
    for (int64_t i = 0; i < mercer_kernel_parameters(kernel); i++) {
        strcat(strcat(seen, i ? " " : ""), mercer_kernel_parameter_name(kernel, i));
        if (wanted)
            assert_close(gradient[i], wanted[i], 1e-14);
    }
    assert_string_equal(seen, names);
    mercer_kernel_free(kernel);
}

/* <x,z> = 6.8125, squared differences 0.25, 1, 1. */
static void test_gradients_agree_with_closed_forms(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    const double t = 6.8125, e = exp(-2 * 2.25);
    expect(ctx, "rbf(gamma=2)", "rbf.gamma", (double[]){-2.25 * e});
    expect(ctx, "3*rbf(gamma=2)", "factor rbf.gamma", (double[]){e, -3 * 2.25 * e});
    expect(ctx, "rbf(gamma=[2, 2, 2])", "rbf.gamma[1] rbf.gamma[2] rbf.gamma[3]", (double[]){-0.25 * e, -e, -e});
    expect(ctx, "poly(degree=3, c=2, gamma=0.5)", "poly.c poly.gamma",
           (double[]){3 * pow(0.5 * t + 2, 2), 3 * t * pow(0.5 * t + 2, 2)});
    expect(ctx, "5 + 2*linear^2", "constant factor", (double[]){1, t * t});
    expect(ctx, "exp(0.25*linear)", "factor", (double[]){t * exp(0.25 * t)});
    expect(ctx, "normalize(2 + linear)", "constant",
           (double[]){1 / sqrt((2 + 5.8125) * (2 + 10.0625))
                      - 0.5 * (2 + t) / sqrt((2 + 5.8125) * (2 + 10.0625)) * (1 / (2 + 5.8125) + 1 / (2 + 10.0625))});
    expect(ctx, "exponential(gamma=2)", "exponential.gamma", (double[]){-1.5 * exp(-3)});
    expect(ctx, "matern(nu=1.5, length_scale=1.5)", "matern.length_scale",
           (double[]){2 * exp(-sqrt(3)) * sqrt(3) * sqrt(3) / 2 / 1.5});
    expect(ctx, "rq(alpha=1, length_scale=1.5)", "rq.alpha rq.length_scale",
           (double[]){(1 / 3.0 - log(1.5)) / 1.5, 2.25 / (1.5 * 1.5 * 1.5) / (1.5 * 1.5)});
    close_clean(ctx);
}

/* Parameters that are learned where a range was given, at a number from it. */
static void check_chosen(mercer_ctx *ctx, const char *text, double at) {
    mercer_kernel *open = parsed(ctx, text), *kernel = NULL;
    double value, gradient[SLOTS];
    assert_ok(ctx, mc_kernel_choose(ctx, open, &at, &kernel));
    assert_ok(ctx, mercer_kernel_gradient(ctx, kernel, X, Z, D, &value, gradient));
    int64_t chosen = -1;
    for (int64_t i = 0; i < kernel->slots; i++)
        chosen = mercer_kernel_parameter(kernel, i) == at ? i : chosen;
    assert_true(chosen >= 0);
    const double quotient = difference_quotient(ctx, kernel, chosen, 1e-3 * at, X, Z);
    if (fabs(gradient[chosen]) < 1e-6 || !near(quotient, gradient[chosen], 1e-8))
        fail_msg("%s at %g: the derivative is %.12g, the quotient %.12g", text, at, gradient[chosen], quotient);
    mercer_kernel_free(kernel);
    mercer_kernel_free(open);
}

static void test_exponents_are_learned_where_a_range_was_given(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    static const double nu[] = {0.3, 0.5, 1.3, 1.5, 2.5, 4, 31};
    for (size_t i = 0; i < sizeof nu / sizeof *nu; i++) {
        check_chosen(ctx, "matern(nu=0.1..50, length_scale=1.7)", nu[i]);
        check_chosen(ctx, "linear + matern(nu=0.1..50, length_scale=[1, 2, 3])^2", nu[i]);
    }
    check_chosen(ctx, "brownian(hurst=0.1..0.9)", 0.37);
    check_chosen(ctx, "normalize(1 + brownian(hurst=0.1..0.9))", 0.62);
    check_chosen(ctx, "power(p=0.3..1.9, centred=1)", 1.21);
    check_chosen(ctx, "log(p=0.3..1.9, length_scale=0.7)", 0.83);
    close_clean(ctx);
    ctx = open_ctx(1);
    mercer_kernel *plain =
        parsed(ctx, "matern(nu=0.7, length_scale=2) + brownian(hurst=0.4) + power(p=1.3, centred=1)");
    assert_int_equal(mercer_kernel_parameters(plain), 1);
    mercer_kernel_free(plain);
    close_clean(ctx);
}

static void test_the_decay_has_a_derivative(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    static const char *const texts[] = {"abracadabra", "cadaver", "aaaa", "bdbd"};
    mercer_kernel *lower = parsed(ctx, "subsequence(p=2, decay=0.4995, span=5)"),
                  *upper = parsed(ctx, "subsequence(p=2, decay=0.5005, span=5)"),
                  *middle = parsed(ctx, "subsequence(p=2, decay=0.5, span=5)");
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            const double quotient =
                (mc_text_value(upper->root, texts[i], texts[j]) - mc_text_value(lower->root, texts[i], texts[j]))
                / 1e-3;
            const double slope = mc_text_decay_slope(middle->root, texts[i], texts[j]);
            assert_close(slope, quotient, 1e-5 * (1 + fabs(slope)));
            assert_true(i != j || slope > 0);
        }
    mercer_kernel_free(lower);
    mercer_kernel_free(middle);
    mercer_kernel_free(upper);
    close_clean(ctx);
}

static void test_names_are_distinct(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    expect(ctx, "2*rbf(gamma=1) + 3*rbf(gamma=2)*rbf(gamma=[1, 2, 3]) + 4 + matern(length_scale=2)*exp(5*linear)",
           "factor rbf.gamma 2.factor 2.rbf.gamma 3.rbf.gamma[1] 3.rbf.gamma[2] 3.rbf.gamma[3] constant "
           "matern.length_scale 3.factor",
           NULL);
    expect(ctx, "linear - 2*rbf(gamma=1)", "rbf.gamma", NULL);
    expect(ctx, "1.0*rbf(gamma=1) + 0.1*white", "factor rbf.gamma 2.factor", NULL);
    expect(ctx, "0.1*3*linear", "factor", (double[]){3 * 6.8125});
    expect(ctx, "-0.1*3*linear", "", NULL);
    expect(ctx, "arccos(order=2)^2 + white", "", NULL);
    close_clean(ctx);
}

static void test_corners_have_finite_gradients(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    const char *const texts[] = {"exponential(gamma=2)", "matern(nu=0.5, length_scale=2)", "laplacian(gamma=3)",
                                 "rq(alpha=2, length_scale=1)", "normalize(2 + linear)"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        mercer_kernel *kernel = parsed(ctx, texts[i]);
        double value, gradient[4] = {9, 9, 9, 9};
        assert_ok(ctx, mercer_kernel_gradient(ctx, kernel, X, X, D, &value, gradient));
        assert_true(value == 1 && gradient[0] == 0);
        mercer_kernel_free(kernel);
    }
    close_clean(ctx);
}

static void test_with_keeps_every_slot_and_checks_every_value(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    mercer_kernel *kernel = parsed(ctx, "2*rbf(gamma=3) + 3*linear"), *other = NULL, *third = NULL;
    assert_int_equal(mercer_kernel_parameters(kernel), 3);
    assert_ok(ctx, mercer_kernel_with(ctx, kernel, (double[]){1, 0.5, 1}, &other));
    assert_int_equal(mercer_kernel_parameters(other), 3);
    assert_string_equal(mercer_kernel_text(other), "1*rbf(gamma=0.5) + 1*linear");
    assert_ok(ctx, mercer_kernel_with(ctx, other, (double[]){2, 3, 3}, &third));
    assert_string_equal(mercer_kernel_text(third), mercer_kernel_text(kernel));
    mercer_kernel_free(third);
    assert_fails(ctx, mercer_kernel_with(ctx, kernel, (double[]){-1, 1, 1}, &third), MERCER_INVALID,
                 "factor must be above 0, got -1");
    assert_null(third);
    assert_fails(ctx, mercer_kernel_with(ctx, kernel, (double[]){1, 0, 1}, &third), MERCER_INVALID,
                 "rbf.gamma must be above 0, got 0");
    assert_fails(ctx, mercer_kernel_with(ctx, kernel, (double[]){1, 1, NAN}, &third), MERCER_INVALID,
                 "2.factor must be above 0");
    assert_null(mercer_kernel_parameter_name(kernel, 3));
    assert_true(isnan(mercer_kernel_parameter(kernel, -1)));
    mercer_kernel_free(kernel);
    mercer_kernel_free(other);
    close_clean(ctx);
}

static mercer_status change_parameters(mercer_ctx *ctx, void *arg) {
    (void)arg;
    mercer_kernel *kernel = NULL, *other = NULL;
    mercer_status status = mercer_kernel_parse(ctx, "2*rbf(gamma=[1, 2]) + 3*poly", &kernel);
    if (!status)
        status = mercer_kernel_with(ctx, kernel, (double[]){1, 2, 3, 4, 5, 6}, &other);
    mercer_kernel_free(kernel);
    mercer_kernel_free(other);
    return status;
}

static void test_with_survives_failing_memory(void **state) {
    (void)state;
    assert_survives_failing_memory(change_parameters, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gradients_agree_with_difference_quotients),
        cmocka_unit_test(test_gradients_agree_with_closed_forms),
        cmocka_unit_test(test_exponents_are_learned_where_a_range_was_given),
        cmocka_unit_test(test_the_decay_has_a_derivative),
        cmocka_unit_test(test_names_are_distinct),
        cmocka_unit_test(test_corners_have_finite_gradients),
        cmocka_unit_test(test_with_keeps_every_slot_and_checks_every_value),
        cmocka_unit_test(test_with_survives_failing_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
