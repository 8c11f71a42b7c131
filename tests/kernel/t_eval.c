#include "base/rng.h"
#include "eval_long.h"
#include "kernel/evaluate/eval_extended.h"
#include "kernel/language/kernel.h"
#include "random_kernel.h"
#include "support.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { D = 3 };
static const double X[D] = {0.5, 1.25, 2}, Z[D] = {1, 0.25, 3};

static double value(mercer_ctx *ctx, const char *text, const double *x, const double *z) {
    mercer_kernel *kernel = NULL;
    double out = NAN;
    assert_ok(ctx, mercer_kernel_parse(ctx, text, &kernel));
    assert_ok(ctx, mercer_kernel_value(ctx, kernel, x, z, D, &out));
    mercer_kernel_free(kernel);
    return out;
}

/* k(X, Z) from scikit-learn 1.2 where it has the kernel, from the definition in NumPy where it has not; arccos by
   numerical quadrature of the integral that defines it. */
static const struct {
    const char *text;
    double value;
} oracle[] = {
    {"linear", 6.8125},
    {"poly(degree=3, c=2, gamma=0.5)", 158.01138305664062},
    {"rbf(gamma=0.7)", 0.20700755268115265},
    {"rbf(sigma=1.3)", 0.51392369730333753},
    {"rbf(length_scale=[1, 2, 0.5])", 0.10539922456186433},
    {"laplacian(gamma=0.7)", 0.17377394345044511},
    {"exponential(gamma=0.5)", 0.47236655274101469},
    {"matern(nu=0.5, length_scale=1.7)", 0.4138080991773701},
    {"matern(nu=1.5, length_scale=1.7)", 0.54840520203044718},
    {"matern(nu=2.5, length_scale=1.7)", 0.59377682913870156},
    {"matern(nu=2.5, length_scale=[1, 2, 0.5])", 0.11533481683308254},
    {"rq(alpha=0.6, length_scale=1.7)", 0.74079998122892288},
    {"periodic(period=2.5, length_scale=1.7)[1]", 0.7873405022554274},
    {"periodic(period=2.5, length_scale=1.7)", 0.22514529252754323},
    {"cosine", 0.89078333930890796},
    {"chi2(gamma=0.7)", 0.48513244961716362},
    {"tanh(a=0.05, c=0.3)", 0.565324957905875},
    {"intersection", 2.75},
    {"2.5*white + 1", 1},
    {"form([[2, 1, 0], [1, 2, 0.5], [0, 0.5, 1]])", 11.125},
    {"arccos(order=0)", 0.84984359206262461},
    {"arccos(order=1)", 6.895800819448783},
    {"arccos(order=2)", 151.19744638286593},
};

static void test_atoms_agree_with_the_oracle(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    for (size_t i = 0; i < sizeof oracle / sizeof oracle[0]; i++) {
        const double v = value(ctx, oracle[i].text, X, Z);
        if (fabs(v - oracle[i].value) > 4e-15 * fabs(oracle[i].value))
            fail_msg("%s: %.17g, the oracle says %.17g", oracle[i].text, v, oracle[i].value);
    }
    close_clean(ctx);
}

/* Pairs of expressions that are the same function. */
static const char *const identities[][2] = {
    {"weigh(exp(-norm2/2), exp(linear))", "rbf(gamma=0.5)"},
    {"normalize(exp(linear))", "rbf(sigma=1)"},
    {"normalize(exp(2*linear))", "rbf(gamma=1)"},
    {"(0.5*linear + 2)^3", "poly(degree=3, c=2, gamma=0.5)"},
    {"1 + 2*linear + linear^2", "poly(degree=2, c=1)"},
    {"normalize(linear)", "cosine"},
    {"weigh(1/norm, linear)", "cosine"},
    {"exponential(gamma=0.5)", "matern(nu=0.5, length_scale=2)"},
    {"rbf(gamma=[1, 2, 3])", "rbf(gamma=1)[1]*rbf(gamma=2)[2]*rbf(gamma=3)[3]"},
    {"laplacian(gamma=[1, 2, 3])", "laplacian(gamma=1)[1]*laplacian(gamma=2)[2]*laplacian(gamma=3)[3]"},
    {"periodic(period=[2, 3, 4], length_scale=[1, 2, 1])",
     "periodic(period=2)[1]*periodic(period=3, length_scale=2)[2]*periodic(period=4)[3]"},
    {"linear", "linear[1] + linear[2:3]"},
    {"linear[1:2]", "form([[1, 0, 0], [0, 1, 0], [0, 0, 0]])"},
    {"form([[2, 0.5], [0.5, 1]])[3, 1]",
     "weigh(x[3], 2) + weigh(x[1], 1) + 0.5*(weigh(x[1] + x[3], 1) - weigh(x[1], 1) - weigh(x[3], 1))"},
    {"matern(nu=1.5, length_scale=2)[2]", "weigh(1, matern(nu=1.5, length_scale=2))[2]"},
    {"(linear[2])[2:3]", "linear[3]"},
    {"(weigh(x[2], linear))[3, 1]", "weigh(x[1], linear[3, 1])"},
    {"rbf(gamma=1)^2.5", "rbf(gamma=2.5)"},
    {"exp(-1*linear)*exp(linear)", "1"},
    {"linear - linear", "0"},
    {"sigmoid(gamma=0.1, coef0=0.2)", "tanh(a=0.1, c=0.2)"},
    {"rq(alpha=1e12, length_scale=1)", "rbf(gamma=0.5)"},
    {"normalize(arccos(order=1))", "normalize(weigh(5, arccos(order=1)))"},
    {"weigh(sqrt(abs(-x[1])) + tanh(0) + sin(0) + cos(0) - log(exp(1)), 1)", "weigh(abs(x[1])^0.5, 1)"},
    {"weigh(2^3^0 - --x[1]*2/4, 1)", "weigh(2 - x[1]/2, 1)"},
};

static void test_identities_hold_on_random_points(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 1);
    for (size_t i = 0; i < sizeof identities / sizeof identities[0]; i++)
        for (int trial = 0; trial < 20; trial++) {
            double x[D], z[D];
            for (int j = 0; j < D; j++) {
                x[j] = 1.5 * mc_rng_normal(&rng);
                z[j] = 1.5 * mc_rng_normal(&rng);
            }
            const double a = value(ctx, identities[i][0], x, z), b = value(ctx, identities[i][1], x, z);
            if (!(fabs(a - b) <= 1e-11 * fmax(1, fabs(b))))
                fail_msg("%s = %.17g, but %s = %.17g", identities[i][0], a, identities[i][1], b);
        }
    close_clean(ctx);
}

static void test_exchanging_the_points_changes_no_bit(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 2);
    for (int trial = 0; trial < 2000; trial++) {
        char text[RANDOM_KERNEL_SIZE];
        double x[D], z[D];
        random_kernel(&rng, D, text);
        for (int j = 0; j < D; j++) {
            x[j] = mc_rng_uniform(&rng);
            z[j] = mc_rng_uniform(&rng);
        }
        const double a = value(ctx, text, x, z), b = value(ctx, text, z, x);
        if (memcmp(&a, &b, sizeof a) != 0 && !(isnan(a) && isnan(b)))
            fail_msg("%s: k(x, z) = %.17g, k(z, x) = %.17g", text, a, b);
    }
    close_clean(ctx);
}

static void test_equal_points_normalise_to_exactly_one(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    const double copy[D] = {X[0], X[1], X[2]};
    const char *const ones[] = {"cosine",
                                "normalize(poly(degree=7))",
                                "normalize(arccos(order=2))",
                                "arccos(order=0)",
                                "white",
                                "rbf(gamma=3)",
                                "chi2",
                                "normalize(-1*linear^2 - 1)^2"};
    for (size_t i = 0; i < sizeof ones / sizeof ones[0]; i++) {
        assert_true(value(ctx, ones[i], X, copy) == 1);
        assert_true(value(ctx, ones[i], X, X) == 1);
    }
    close_clean(ctx);
}

static void test_zero_vectors_follow_the_conventions(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    const double zero[D] = {0};
    assert_true(value(ctx, "cosine", zero, X) == 0);
    assert_true(value(ctx, "cosine", zero, zero) == 0);
    assert_true(value(ctx, "normalize(linear^2)", zero, X) == 0);
    assert_close(value(ctx, "arccos(order=0)", zero, X), 0.5, 1e-15);
    assert_close(value(ctx, "arccos(order=0)", zero, zero), 0.5, 1e-15);
    assert_true(value(ctx, "arccos(order=1)", zero, X) == 0);
    assert_true(value(ctx, "chi2", zero, zero) == 1);
    assert_true(value(ctx, "white", zero, zero) == 1);
    close_clean(ctx);
}

static void test_extreme_points_stay_finite(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    const double far[D] = {1e100, -1e100, 1e-100}, near[D] = {1, 1, 1};
    const char *const bounded[] = {"rbf(gamma=1)",
                                   "laplacian(gamma=1)",
                                   "exponential(gamma=1)",
                                   "matern(nu=2.5, length_scale=1)",
                                   "rq(alpha=2, length_scale=1)",
                                   "cosine",
                                   "arccos(order=0)"};
    for (size_t i = 0; i < sizeof bounded / sizeof bounded[0]; i++) {
        const double v = value(ctx, bounded[i], far, near);
        assert_true(v >= -1 && v <= 1);
    }
    assert_close(value(ctx, "normalize(exp(linear))", (double[D]){20, 0, 0}, (double[D]){20.5, 0, 0}), exp(-0.125),
                 1e-12);
    close_clean(ctx);
}

static void test_nearly_parallel_vectors_keep_their_digits(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    const double t = 1e-9, x[D] = {1, 0, 0}, z[D] = {cos(t), sin(t), 0};
    assert_close(1 - value(ctx, "arccos(order=0)", x, z), t / 3.14159265358979323846, 1e-16);
    assert_true(value(ctx, "arccos(order=0)", x, z) < 1);
    close_clean(ctx);
}

static void test_value_refuses_what_it_cannot_evaluate(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    const struct {
        const char *text, *message;
    } refused[] = {
        {"rbf", "bind it to data"},
        {"linear[age]", "bind it to data"},
        {"form(\"A.npy\")", "bind it to data"},
        {"rbf(gamma=1..2)", "tune"},
        {"poly(degree={1, 2})", "tune"},
        {"linear[4]", "asks for column 4, but there are 3"},
        {"linear[1:2] + (linear[3])[1:2]", "asks for column 3, but there are 2"},
        {"rbf(gamma=[1, 2])", "rbf's gamma is for 2 columns, but there are 3 in view"},
        {"form([[1, 0], [0, 1]])", "form's matrix is for 2 columns"},
        {"weigh(x[4], linear)", "asks for column 4"},
        {"matern(length_scale=[1, 2, 3])[2]", "matern's length_scale is for 3 columns, but there is 1 in view"},
    };
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        mercer_kernel *kernel = NULL;
        double out;
        assert_ok(ctx, mercer_kernel_parse(ctx, refused[i].text, &kernel));
        const mercer_status status = mercer_kernel_value(ctx, kernel, X, Z, D, &out);
        if (status == MERCER_OK || !strstr(mercer_message(ctx), refused[i].message))
            fail_msg("%s: %s", refused[i].text, mercer_message(ctx));
        mercer_kernel_free(kernel);
    }
    close_clean(ctx);
}

/* The values that certificates take where doubles will not do: against the integral over cosh, to a few bits. */
static void test_matern_of_any_nu_has_a_value_in_long_double(void **state) {
    (void)state;
    static const double nu[] = {0.05, 0.3, 0.7, 1, 1.2, 2, 3.5, 4, 30, 100};
    mercer_ctx *ctx = open_ctx(1);
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 77);
    for (size_t i = 0; i < sizeof nu / sizeof *nu; i++) {
        mercer_kernel *kernel = NULL;
        char text[80];
        snprintf(text, sizeof text, "matern(nu=%g, length_scale=1.3)", nu[i]);
        assert_ok(ctx, mercer_kernel_parse(ctx, text, &kernel));
        for (int trial = 0; trial < 20; trial++) {
            const double x[2] = {0.3, -1}, scale = pow(10, -5 + 0.3 * trial);
            const double z[2] = {x[0] + scale * mc_rng_normal(&rng), x[1] + scale * mc_rng_normal(&rng)};
            const mc_view all = {.d = 2};
            const mc_extended v = mc_eval_extended(kernel->root, &all, x, z);
            const long double truth = eval_long(kernel->root, x, z, 2);
            if (!(v.error < (nu[i] < 1 ? 1e-14L : 5e-16L))
                || fabsl(v.value - truth) > v.error + 3e-17L * (1 + 10 * nu[i]))
                fail_msg("%s, %g apart: %.20Lg give or take %Lg, not %.20Lg", text, scale, v.value, v.error, truth);
        }
        const mc_extended one = mc_eval_extended(kernel->root, &(mc_view){.d = 2}, (double[]){1, 2}, (double[]){1, 2});
        assert_true(one.value == 1 && one.error < 1e-18L);
        mercer_kernel_free(kernel);
    }
    close_clean(ctx);
}

static void test_negative_values_are_named(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    const double bad[D] = {1, -2, 3};
    mercer_kernel *kernel = NULL;
    double out;
    assert_ok(ctx, mercer_kernel_parse(ctx, "linear + chi2[3, 2]", &kernel));
    assert_fails(ctx, mercer_kernel_value(ctx, kernel, X, bad, D, &out), MERCER_DATA, "column 2 of z is -2");
    mercer_kernel_free(kernel);
    assert_ok(ctx, mercer_kernel_parse(ctx, "linear + intersection[3, 1]", &kernel));
    assert_ok(ctx, mercer_kernel_value(ctx, kernel, X, bad, D, &out));
    mercer_kernel_free(kernel);
    close_clean(ctx);
}

static void test_deep_normalisations_are_cheap(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    char text[2000] = "";
    for (int i = 0; i < 60; i++)
        strcat(text, "normalize(1 + ");
    strcat(text, "linear");
    for (int i = 0; i < 60; i++)
        strcat(text, ")");
    const double v = value(ctx, text, X, Z);
    assert_true(v > 0 && v <= 1);
    close_clean(ctx);
}

/* Squares of the distance are no numbers, its power is one: min(x, z), -|x - z|, and 1 - Gamma(0.99)/Gamma(1.01)
   (s/2)^0.02 with s = sqrt(0.02) r. */
static void test_distances_whose_squares_are_no_numbers(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    const double far[3] = {3e155, 0, 0}, further[3] = {5e155, 0, 0}, tiny[3] = {3e-165, 0, 0},
                 twice[3] = {5e-165, 0, 0};
    const double none[3] = {0, 0, 0}, apart[3] = {1e-160, 0, 0};
    assert_close(value(ctx, "brownian", far, further) / 3e155, 1, 1e-14);
    assert_close(value(ctx, "brownian", tiny, twice) / 3e-165, 1, 1e-14);
    assert_close(value(ctx, "power(p=1)", far, further) / 2e155, -1, 1e-14);
    assert_close(value(ctx, "power(p=1)", tiny, twice) / 2e-165, -1, 1e-14);
    assert_close(value(ctx, "brownian(hurst=0.1)", far, far) / pow(3e155, 0.2), 1, 1e-13);
    assert_close(value(ctx, "matern(nu=0.01, length_scale=1)", none, apart),
                 1 - tgamma(0.99) / tgamma(1.01) * pow(sqrt(0.02) / 2 * 1e-160, 0.02), 1e-14);
    close_clean(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_atoms_agree_with_the_oracle),
        cmocka_unit_test(test_identities_hold_on_random_points),
        cmocka_unit_test(test_exchanging_the_points_changes_no_bit),
        cmocka_unit_test(test_equal_points_normalise_to_exactly_one),
        cmocka_unit_test(test_zero_vectors_follow_the_conventions),
        cmocka_unit_test(test_extreme_points_stay_finite),
        cmocka_unit_test(test_nearly_parallel_vectors_keep_their_digits),
        cmocka_unit_test(test_value_refuses_what_it_cannot_evaluate),
        cmocka_unit_test(test_matern_of_any_nu_has_a_value_in_long_double),
        cmocka_unit_test(test_negative_values_are_named),
        cmocka_unit_test(test_deep_normalisations_are_cheap),
        cmocka_unit_test(test_distances_whose_squares_are_no_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
