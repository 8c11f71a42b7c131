/* Fourier transforms of stationary kernels against integrals of their values, and refutations that rest on them. */
#include "support.h"
#include "base/status.h"
#include "kernel/language/kernel.h"
#include "kernel/proof/refute.h"
#include "kernel/proof/spectrum.h"
#include <math.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

/* The transform of a function of |x-z| in one column: 2 times the integral of k(u) cos(w u) over u > 0. Beyond far it
   is left out. */
static double integrate_line(const mc_node *node, double w, double far, int steps) {
    double sum = 0;
    for (int i = 0; i <= steps; i++) {
        const double u = far * i / steps, zero = 0, simpson = i == 0 || i == steps ? 1 : i % 2 ? 4 : 2;
        sum += simpson * mc_eval_kernel(node, &u, &zero, 1) * cos(w * u);
    }
    return 2 * sum * far / steps / 3;
}

/* On the plane, by columns: the integral over u of that over v. */
static double integrate_plane(const mc_node *node, double w, bool in_all, double far, int steps) {
    double sum = 0;
    for (int i = 0; i <= steps; i++)
        for (int j = 0; j <= steps; j++) {
            const double x[] = {far * i / steps, far * j / steps}, zero[] = {0, 0};
            const double a = i == 0 || i == steps ? 1 : i % 2 ? 4 : 2, b = j == 0 || j == steps ? 1 : j % 2 ? 4 : 2;
            sum += a * b * mc_eval_kernel(node, x, zero, 2) * cos(w * x[0]) * (in_all ? cos(w * x[1]) : 1);
        }
    return 4 * sum * far * far / steps / steps / 9;
}

static mc_interval density_of(mercer_ctx *ctx, const mc_node *node, int64_t d, mc_frequency w) {
    mc_pool pool = mc_pool_open(ctx);
    mc_expansion e;
    int64_t work = MC_EXPAND_WORK;
    assert_int_equal(mc_expand_term(&pool, mc_term_from(&pool, node), MC_GAUSSIANS, d, &work, &e), MERCER_OK);
    assert_int_equal(e.count, 1);
    const mc_stationary p = mc_spectrum_of(&e, &e.monomial[0], d);
    const mc_interval density = mc_spectrum_density(&p, d, w);
    mc_expansion_close(&e);
    mc_pool_close(&pool);
    return density;
}

static void assert_near(const char *text, mc_interval density, double integral, double tolerance) {
    const double middle = density.lo + (density.hi - density.lo) / 2;
    if (!(density.hi - density.lo <= 1e-12 * fabs(middle) + 1e-300) || !(fabs(middle - integral) <= tolerance))
        fail_msg("%s: the transform is [%.15g, %.15g], the integral %.15g", text, density.lo, density.hi, integral);
}

static void test_transforms_are_the_integrals(void **state) {
    static const struct {
        const char *text;
        double far, plane;
    } kernel[] = {{"rbf(gamma=0.7)", 12, 8},
                  {"exponential(gamma=1.3)", 40, 0},
                  {"laplacian(gamma=1.7)", 40, 12},
                  {"laplacian(gamma=0.5)^2", 40, 20},
                  {"matern(nu=1.5, length_scale=0.8)", 30, 0},
                  {"matern(nu=2.5, length_scale=0.8)", 30, 10},
                  {"matern(nu=0.7, length_scale=0.6)", 30, 0},
                  {"matern(nu=3.3, length_scale=0.7)", 30, 10},
                  {"rq(alpha=3, length_scale=0.5)", 60, 0},
                  {"rq(alpha=1.5, length_scale=0.5)^2", 60, 0}};
    static const double frequency[] = {0.3, 1, 2.5};
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    for (size_t k = 0; k < sizeof kernel / sizeof *kernel; k++) {
        mercer_kernel *parsed = NULL;
        assert_ok(ctx, mercer_kernel_parse(ctx, kernel[k].text, &parsed));
        const mc_node *node = mc_kernel_shown(parsed);
        for (size_t i = 0; i < sizeof frequency / sizeof *frequency; i++) {
            const double w = frequency[i];
            assert_near(kernel[k].text, density_of(ctx, node, 1, (mc_frequency){w, false}),
                        integrate_line(node, w, kernel[k].far, 40000), 2e-5);
            for (int all = 0; all < 2 && kernel[k].plane > 0; all++)
                assert_near(kernel[k].text, density_of(ctx, node, 2, (mc_frequency){w, all}),
                            integrate_plane(node, w, all, kernel[k].plane, 400), 2e-3);
        }
        mercer_kernel_free(parsed);
    }
    close_clean(ctx);
}

/* What is within the band of sinc has its transform, and the sum over columns of what rq is a mean of. */
static void test_transforms_in_closed_form(void **state) {
    static const struct {
        const char *text;
        int64_t d;
        mc_frequency w;
        double value;
    } known[] = {{"sinc(length_scale=2)", 1, {1, false}, 2},
                 {"sinc(length_scale=2)", 1, {2, false}, 0},
                 {"sinc(length_scale=2)^2", 1, {1, false}, 2 - 2 / 3.14159265358979323846},
                 {"sinc(length_scale=2)^2", 2, {4, true}, 0},
                 {"rq(alpha=1, length_scale=1)",
                  1,
                  {1, false},
                  3.14159265358979323846 * 1.41421356237309515 * 0.24311673443421421},
                 {"rbf(gamma=1)", 7, {2, true}, 0}};
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        mercer_kernel *parsed = NULL;
        assert_ok(ctx, mercer_kernel_parse(ctx, known[k].text, &parsed));
        const double value = known[k].d == 7 ? pow(pi, 3.5) * exp(-7) : known[k].value;
        assert_near(known[k].text, density_of(ctx, mc_kernel_shown(parsed), known[k].d, known[k].w), value,
                    1e-14 + 1e-13 * value);
        mercer_kernel_free(parsed);
    }
    close_clean(ctx);
}

static void test_log_gamma(void **state) {
    (void)state;
    for (double x = 1e-3; x < 200; x *= 1.37) {
        const mc_interval v = mc_iv_log_gamma(mc_iv(x));
        const long double exact = lgammal((long double)x);
        assert_true(v.lo - 1e-17L <= exact + 1e-17L * fabsl(exact) && exact - 1e-17L * fabsl(exact) <= v.hi + 1e-17L);
        assert_true(v.hi - v.lo <= 4e-16 * fabs(v.hi) + 1e-25);
    }
    const mc_interval half = mc_iv_sub(mc_iv_exp(mc_iv_mul(mc_iv(2), mc_iv_log_gamma(mc_iv(0.5)))), mc_iv_pi());
    assert_true(half.lo <= 0 && half.hi >= 0 && half.hi - half.lo < 1e-28);
    assert_true(!isfinite(mc_iv_log_gamma(mc_iv(0)).lo));
}

typedef struct spectral_case {
    const char *text;
    int64_t d, refuted_at;
    bool mean;
} spectral_case;

static void assert_refuted_by_frequency(mercer_ctx *ctx, const spectral_case *c) {
    mercer_kernel *kernel = NULL;
    mercer_proof *proof = NULL;
    assert_ok(ctx, mercer_kernel_parse(ctx, c->text, &kernel));
    assert_ok(ctx, mercer_prove(ctx, kernel, c->d, &proof));
    const mercer_frequency *w = mercer_proof_frequency(proof);
    if (!w)
        fail_msg("%s was not refuted by a frequency:\n%s", c->text, mercer_proof_text(proof));
    assert_int_equal(mercer_proof_verdict(proof), MERCER_REFUTED);
    assert_null(mercer_proof_witness(proof));
    assert_int_equal(w->d, c->refuted_at);
    assert_int_equal(w->mean, c->mean);
    assert_true(w->value + w->bound < 0 && w->bound >= 0);
    assert_non_null(strstr(mercer_proof_object(proof), "\"frequency\":{\"expression\":"));
    mercer_proof_free(proof);
    mercer_kernel_free(kernel);
}

/* Which coefficient is the first negative one is plain to see. */
static void test_refuted_by_a_coefficient(void **state) {
    static const struct {
        const char *text, *series;
        int64_t d;
        int order;
        double value;
    } cases[] = {{"exp(linear) - linear^10/3628799", "inner product", 0, 10, 1.0 / 3628800 - 1.0 / 3628799},
                 {"(2 - cosine)^-1 - 0.3*cosine", "spheres", 0, 1, 0.25 - 0.3},
                 {"arccos(order=0) - 0.5 - 0.33*cosine", "spheres", 0, 1, 0.31830988618379067 - 0.33},
                 {"arccos - 0.35*weigh(norm, 1)", "spheres", 0, 0, 0.31830988618379067 - 0.35},
                 {"linear^2 - weigh(norm2, 1)/4", "gegenbauer", 5, 0, 0.2 - 0.25}};
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        mercer_kernel *kernel = NULL;
        mercer_proof *proof = NULL;
        assert_ok(ctx, mercer_kernel_parse(ctx, cases[k].text, &kernel));
        assert_ok(ctx, mercer_prove(ctx, kernel, cases[k].d, &proof));
        const mercer_frequency *w = mercer_proof_frequency(proof);
        assert_non_null(w);
        assert_string_equal(w->series, cases[k].series);
        assert_int_equal(w->order, cases[k].order);
        assert_true(fabs(w->value - cases[k].value) <= 1e-15 + w->bound && w->value + w->bound < 0);
        assert_non_null(strstr(mercer_proof_text(proof), "never negative"));
        mercer_proof_free(proof);
        mercer_kernel_free(kernel);
    }
    close_clean(ctx);
}

/* Every coefficient that is found is found again by other formulas, and no other one is confirmed. */
static void test_a_coefficient_is_computed_twice(void **state) {
    static const struct {
        const char *text;
        int64_t d;
    } cases[] = {{"exp(linear) - linear^10/3628799", 0},
                 {"(2 - cosine)^-1.5 - 0.3*cosine^3", 0},
                 {"arccos(order=0) - 0.5 - 0.33*cosine", 0},
                 {"arccos(order=1) - 0.35*weigh(norm, 1)", 0},
                 {"arccos(order=2) - 1.01*weigh(norm2, cosine^2) - weigh(norm2, cosine)", 0},
                 {"tanh(a=0.3, c=0.4)*exp(linear)", 0},
                 {"poly(degree=2.5, c=1.7, gamma=0.6)", 0},
                 {"(1.3 + linear + 0.2*linear^2)^0.7", 0},
                 {"arcsin(0.2 + 0.3*linear) - 0.31*linear", 0},
                 {"arcsin(cosine)^2 - 0.35*cosine^4", 0},
                 {"logarithmic(0.2*exp(0.1*linear)) - 0.03*linear", 0},
                 {"bessel_i0(linear)^3 - linear^4/4", 0},
                 {"normalize(rbf(gamma=1)) - 0.2*cosine^3", 0},
                 {"rbf(gamma=0.5) - 0.2*cosine^2", 0},
                 {"linear^2 - weigh(norm2, 1)/4", 5},
                 {"cosine^6 - 3*cosine^4 + 0.05*cosine^2", 4},
                 {"cosine^7 - 2*cosine^5", 2},
                 {"2*cosine^3 - 3*cosine", 1}};
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    int seen = 0;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        mercer_kernel *kernel = NULL;
        mc_negative_frequency claim = {0};
        assert_ok(ctx, mercer_kernel_parse(ctx, cases[k].text, &kernel));
        assert_ok(ctx, mc_find_negative_coefficient(ctx, kernel->root, cases[k].d, cases[k].d == 0, &claim));
        if (claim.found && !mc_verify_coefficient(kernel->root, &claim))
            fail_msg("%s: order %d, %g", cases[k].text, claim.order, claim.value);
        seen += claim.found;
        for (int way = 0; claim.found && way < 2; way++) {
            mc_negative_frequency other = claim;
            other.value *= way ? 1 : 1.001;
            other.order += way;
            assert_false(mc_verify_coefficient(kernel->root, &other));
        }
        mercer_kernel_free(kernel);
    }
    assert_int_equal(seen, sizeof cases / sizeof *cases);
    close_clean(ctx);
}

/* What is nested deeper than the second reader goes is left open, and takes no more of the stack. */
static void test_a_deep_expression_is_left_open(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    mercer_kernel *kernel = NULL;
    mc_negative_frequency claim = {0};
    char text[4096] = "linear^2 - 2*linear^3 + ";
    for (int i = 0; i < 60; i++)
        strcat(text, "exp(0.01*");
    strcat(text, "linear");
    for (int i = 0; i < 60; i++)
        strcat(text, ")");
    assert_ok(ctx, mercer_kernel_parse(ctx, text, &kernel));
    assert_ok(ctx, mc_find_negative_coefficient(ctx, kernel->root, 0, true, &claim));
    assert_true(claim.found && claim.order == 3);
    assert_false(mc_verify_coefficient(kernel->root, &claim));
    mercer_kernel_free(kernel);
    close_clean(ctx);
}

/* The least number of columns where it fails is known from the quotient of the transforms at 0 or at the far end. */
static void test_refuted_without_points(void **state) {
    static const spectral_case cases[] = {
        {"rbf(gamma=1) - 0.1*rbf(gamma=0.5)", 0, 7, false}, /* (1/2)^(7/2) < 0.1 < (1/2)^3 */
        {"rbf(gamma=1) - 0.1*rbf(gamma=0.5)", 9, 9, false},
        {"rbf(gamma=1) - 1e-4*rbf(gamma=0.5)", 0, 27, false}, /* 2^-13.5 < 1e-4 < 2^-13 */
        {"exponential(gamma=2) - 0.05*exponential(gamma=1)", 0, 5, false},
        {"matern(nu=0.7, length_scale=1) - 0.2*matern(nu=0.7, length_scale=2)", 0, 3, false},
        {"periodic - 0.02", 0, 6, true}, /* 0.4658^6 < 0.02 < 0.4658^5 */
        {"rbf(gamma=1) - 0.001", 0, 1, true},
        {"wendland(k=1, dimension=3, length_scale=1) - 0.01", 2, 2, true},
        {"exp(0.5*laplacian(gamma=1)) - 1.01", 0, 1, true},
        {"rbf(gamma=1)[1]*periodic[2] - 0.001", 2, 2, true},
    };
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        assert_refuted_by_frequency(ctx, &cases[k]);
    close_clean(ctx);
}

/* Sums that are kernels, some with a density that touches 0 or a mean that is 0. */
static void test_kernels_are_not_refuted(void **state) {
    static const char *const kernels[] = {"rbf(gamma=2) - 0.5*rbf(gamma=1)",
                                          "exponential(gamma=2) - 0.5*exponential(gamma=1)",
                                          "periodic(length_scale=2) - 0.75",
                                          "sinc(length_scale=1) - 0.5*sinc(length_scale=2)",
                                          "sinc^2 - 0.5*sinc",
                                          "matern(nu=1, length_scale=1) - 0.7*matern(nu=1, length_scale=1)",
                                          "rq(alpha=2, length_scale=1)^2 - 0.9*rq(alpha=2, length_scale=1)^2"};
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++) {
        mercer_kernel *kernel = NULL;
        mercer_proof *proof = NULL;
        assert_ok(ctx, mercer_kernel_parse(ctx, kernels[k], &kernel));
        assert_ok(ctx, mercer_prove(ctx, kernel, 1, &proof));
        if (mercer_proof_verdict(proof) != MERCER_PROVED)
            fail_msg("%s", mercer_proof_text(proof));
        mercer_proof_free(proof);
        mercer_kernel_free(kernel);
    }
    close_clean(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_transforms_are_the_integrals),
                                       cmocka_unit_test(test_transforms_in_closed_form),
                                       cmocka_unit_test(test_log_gamma),
                                       cmocka_unit_test(test_refuted_by_a_coefficient),
                                       cmocka_unit_test(test_a_coefficient_is_computed_twice),
                                       cmocka_unit_test(test_a_deep_expression_is_left_open),
                                       cmocka_unit_test(test_refuted_without_points),
                                       cmocka_unit_test(test_kernels_are_not_refuted)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
