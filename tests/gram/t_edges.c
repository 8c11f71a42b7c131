/* Values at the edge: every atom and the ways of putting them together, over the whole range of their parameters and of
   the size of the data, both precisions, every instruction set, against the reference evaluator. What is promised
   (docs/language.md): an entry is within a share of what its own two rows make of the kernel, sqrt(k(x,x) k(z,z)), of
   what the reference evaluator says, or it is refused by name. What the reference evaluator itself cannot know counts
   beside: how much its value moves when the rows move by a few units in their last place. */
#include "base/ctx.h"
#include "base/rng.h"
#include "gram/operator/gram.h"
#include "kernel/language/kernel.h"
#include "support.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 9, D_MOST = 40, NUDGES = 3, TOLD = 40 };
static const char *const isas[] = {"portable", "avx2", "avx512"};
static const double SHARE[] = {1e-3, 1e-5}; /* of floats and doubles */

/* Rows of one size, and what is odd about them. */
typedef enum oddity { PLAIN, OUTLIER, OFFSET, CLUSTERS, MIXED, ODDITIES } oddity;
static const char *const oddities[] = {"plain", "outlier", "offset", "clusters", "mixed"};

typedef struct trial {
    char text[256];
    int64_t d;
    double scale;
    oddity odd;
    double x[N * D_MOST];
    double K[N * N], noise[N * N]; /* by the reference evaluator */
    bool all_numbers;
    int64_t odd_pair; /* the first that is none */
} trial;

static void draw(trial *t, bool positive, uint64_t item) {
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, item);
    for (int64_t i = 0; i < N; i++)
        for (int64_t k = 0; k < t->d; k++) {
            const double v = mc_rng_normal(&rng), far = t->odd == CLUSTERS && i % 2 ? 1e7 : t->odd == OFFSET ? 1e6 : 0;
            const double size = t->odd == OUTLIER && i == 3 ? 1e7 : t->odd == MIXED ? pow(10, (double)(i - 4)) : 1;
            t->x[i * t->d + k] = t->scale * (far + size * (positive ? fabs(v) : v));
        }
    memset(t->x + 6 * t->d, 0, (size_t)t->d * sizeof *t->x);
    memcpy(t->x + 7 * t->d, t->x + 2 * t->d, (size_t)t->d * sizeof *t->x);
}

/* A row moved by a few units in the last place of each entry. */
static void nudge(mc_rng *rng, const double *x, int64_t d, double *out) {
    for (int64_t k = 0; k < d; k++)
        out[k] = x[k] * (1 + 8 * DBL_EPSILON * (2 * mc_rng_uniform(rng) - 1));
}

static void evaluate_reference(const mc_node *root, trial *t) {
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 99);
    double x[D_MOST], z[D_MOST];
    t->all_numbers = true;
    for (int64_t i = 0; i < N * N; i++) {
        const double *u = t->x + i / N * t->d, *v = t->x + i % N * t->d, k = mc_eval_kernel(root, u, v, t->d);
        t->K[i] = k;
        t->noise[i] = 0;
        t->odd_pair = t->all_numbers && !isfinite(k) ? i : t->odd_pair;
        t->all_numbers &= isfinite(k);
        for (int s = 0; s < NUDGES; s++) {
            nudge(&rng, u, t->d, x);
            nudge(&rng, v, t->d, z);
            t->noise[i] = fmax(t->noise[i], fabs(mc_eval_kernel(root, x, z, t->d) - k));
        }
    }
}

/* The largest error, in terms of what is allowed. */
static double worst_of(const trial *t, mercer_dtype precision, const double *out, int64_t column, int64_t *at) {
    double worst = 0;
    for (int64_t i = 0; i < (column < 0 ? N * N : N); i++) {
        const int64_t pair = column < 0 ? i : i * N + column;
        const double k = t->K[pair], own = sqrt(fabs(t->K[pair / N * (N + 1)])) * sqrt(fabs(t->K[pair % N * (N + 1)]));
        const double unit = strstr(t->text, "tanh") ? 1 : 0, size = fmax(fmax(own, fabs(k)), unit);
        const double allowed =
            SHARE[precision] * size + 64 * t->noise[pair] + (precision == MERCER_F32 ? FLT_MIN : DBL_MIN);
        const double error = fabs(out[i] - k) / allowed;
        if (!(error <= worst)) {
            worst = isnan(error) ? INFINITY : error;
            *at = pair;
        }
    }
    return worst;
}

/* Some failures are told before the test gives up: they come in families. */
static int failures;

static void complain(const mercer_ctx *ctx, const trial *t, mercer_dtype precision, const char *what, int64_t pair,
                     double got) {
    print_error("%s: %s, %s, d %lld, scale %g, %s: %s: K(%lld, %lld) is %.17g, not %.17g, noise %g\n", mercer_isa(ctx),
                t->text, precision == MERCER_F32 ? "f32" : "f64", (long long)t->d, t->scale, oddities[t->odd], what,
                (long long)(pair / N), (long long)(pair % N), got, t->K[pair], t->noise[pair]);
    if (++failures == TOLD)
        fail();
}

static void compare(mercer_ctx *ctx, const trial *t, const mc_gram *gram, mercer_dtype precision) {
    double out[N * N], unit[N], column[N];
    int64_t at = 0;
    const mercer_status status = mc_gram_block(ctx, gram, 0, N, 0, N, MERCER_F64, out, N);
    if (t->all_numbers ? status != MERCER_OK : status != MERCER_NUMERIC)
        complain(ctx, t, precision, t->all_numbers ? mercer_message(ctx) : "not all are numbers", t->odd_pair, NAN);
    if (status || !t->all_numbers)
        return;
    if (worst_of(t, precision, out, -1, &at) > 1)
        complain(ctx, t, precision, "block", at, out[at]);
    for (int64_t j = 0; j < N; j += 4) { /* K e_j: what the fused bodies make */
        memset(unit, 0, sizeof unit);
        unit[j] = 1;
        assert_ok(ctx, mc_gram_apply(ctx, gram, 1, unit, column));
        if (worst_of(t, precision, column, j, &at) > 1)
            complain(ctx, t, precision, "product", at, column[at / N]);
    }
}

/* The rows against themselves, and as two sides. */
static void check_here(mercer_ctx *ctx, trial *t, mercer_dtype precision) {
    mercer_kernel *kernel = NULL;
    mercer_data *data = NULL;
    const mercer_table table = {.size = sizeof table, .n = N, .d = t->d, .dtype = MERCER_F64, .values = t->x};
    assert_ok(ctx, mercer_kernel_parse(ctx, t->text, &kernel));
    assert_ok(ctx, mercer_data_make(ctx, &table, &data));
    evaluate_reference(kernel->root, t);
    for (int sides = 1; sides <= 2; sides++) {
        mc_gram *gram = NULL;
        assert_ok(ctx, mc_gram_open(ctx, kernel, data, sides == 2 ? data : NULL, precision, &gram));
        compare(ctx, t, gram, precision);
        mc_gram_close(gram);
    }
    mercer_data_free(data);
    mercer_kernel_free(kernel);
}

static void check_everywhere(const char *text, int64_t d, double scale, oddity odd, bool positive, uint64_t item) {
    static trial t;
    static int64_t cases;
    if (!test_takes(cases++))
        return;
    t.d = d;
    t.scale = scale;
    t.odd = odd;
    snprintf(t.text, sizeof t.text, "%s", text);
    draw(&t, positive, item);
    for (size_t isa = 0; isa < 3; isa++) {
        mercer_ctx *ctx = open_isa(isas[isa], 1);
        for (int precision = 0; ctx && precision < 2; precision++)
            check_here(ctx, &t, (mercer_dtype)precision);
        if (ctx)
            close_clean(ctx);
    }
}

/* Parameters %g of atoms: their whole range, with the scale of the data where that matters. */
static const struct {
    const char *format;
    bool positive;
} atoms[] = {
    {"linear", false},
    {"%g*linear", false},
    {"poly(degree=%g)", false},
    {"poly(degree=3, gamma=%g)", false},
    {"poly(c=%g)", false},
    {"rbf(gamma=%g)", false},
    {"laplacian(gamma=%g)", false},
    {"exponential(gamma=%g)", false},
    {"matern(nu=0.5, length_scale=%g)", false},
    {"matern(nu=1.5, length_scale=%g)", false},
    {"matern(nu=2.5, length_scale=%g)", false},
    {"rq(alpha=%g, length_scale=1)", false},
    {"rq(alpha=2.5, length_scale=%g)", false},
    {"rq(alpha=3, length_scale=%g)", false},
    {"periodic(period=%g)", false},
    {"periodic(period=1, length_scale=%g)", false},
    {"cosine", false},
    {"arccos(order=0)", false},
    {"arccos(order=1)", false},
    {"arccos(order=2)", false},
    {"tanh(a=%g)", false},
    {"tanh(a=1, c=%g)", false},
    {"white", false},
    {"chi2(gamma=%g)", true},
    {"intersection", true},
    {"%g*intersection", true},
    {"matern(nu=1.2, length_scale=%g)", false},
    {"matern(nu=0.3, length_scale=1) + 0*rbf(gamma=%g)", false},
    {"sinc(length_scale=%g)", false},
    {"rbf(gamma=%g) + matern(nu=2, length_scale=1)", false},
    {"minmax", true},
    {"brownian", false},
    {"%g*brownian(hurst=0.3)", false},
    {"brownian(hurst=0.05)", false},
    {"spline", true},
    {"%g*power(p=1)", false},
    {"power(p=0.3)", false},
    {"power(p=2)", false},
    {"log", false},
    {"matern(nu=0.01, length_scale=1)", false},
};
static const double parameters[] = {1e-300, 1e-154, 1e-30, 1e-7, 0.3,  1,     2.5,  7,
                                    1e3,    1e7,    1e13,  1e19, 1e30, 1e154, 1e300};
static const double scales[] = {1e-140, 1e-30, 1e-7, 1, 1e3, 1e7, 1e30, 1e100, 1e160};

static void test_atoms_agree_over_the_range_of_their_parameters(void **state) {
    (void)state;
    for (size_t a = 0; a < sizeof atoms / sizeof *atoms; a++)
        for (size_t p = 0; p < sizeof parameters / sizeof *parameters; p++) {
            char text[128];
            snprintf(text, sizeof text, atoms[a].format, parameters[p]);
            for (size_t s = p % 2; s < sizeof scales / sizeof *scales; s += 2)
                check_everywhere(text, p % 3 == 2 ? 40 : 3, scales[s], PLAIN, atoms[a].positive, a);
            if (!strchr(atoms[a].format, '%'))
                break;
        }
    assert_int_equal(failures, 0);
}

static const char *const combined[] = {
    "linear + rbf(gamma=1)",
    "rbf(gamma=1)*linear + laplacian(gamma=0.3)",
    "poly(degree=2) + matern(nu=2.5, length_scale=1)",
    "normalize(exp(poly(degree=4)))",
    "exp(linear)",
    "exp(-rbf(gamma=1))",
    "normalize(poly(degree=3))",
    "normalize(linear + rbf(gamma=1))",
    "linear^1e19",
    "(1 + linear)^1.5",
    "(1 + rbf(gamma=1))^-3",
    "(1 + rbf(gamma=1))^0.5",
    "weigh(1 + norm2, rbf(gamma=1))",
    "1e50*linear + 1",
    "1e-50*linear + rbf(gamma=1)",
    "1e-30*rbf(gamma=1) + 1e-30*white",
    "exp(rq(alpha=1e13, length_scale=1))",
    "cosine*linear + arccos(order=1)",
    "rbf(gamma=1)[1] + 1e3*linear[1]",
    "linear - 0.5*linear^2",
    "rbf(gamma=1e-300) + rbf(gamma=1e300)",
    "form([[1e154]])[1]",
    "form([[1e-154]])[1]",
    "form([[2]])[1]*exponential(gamma=1)",
    "matern(nu=1, length_scale=1) + rbf(gamma=1)",
    "matern(nu=1, length_scale=1)*matern(nu=2.2, length_scale=2)",
    "normalize(matern(nu=3, length_scale=1)*rq(alpha=2, length_scale=1) + rbf(gamma=1))",
    "rbf(form=[[2, 1], [1, 3]])[1:2] + matern(nu=0.9, length_scale=1)",
};

static void test_combinations_agree_on_rows_of_every_kind(void **state) {
    (void)state;
    for (size_t e = 0; e < sizeof combined / sizeof *combined; e++)
        for (int odd = 0; odd < ODDITIES; odd++)
            for (size_t s = 0; s < sizeof scales / sizeof *scales; s++)
                check_everywhere(combined[e], s % 2 ? 3 : 20, scales[s], (oddity)odd, false, 50 + e);
    assert_int_equal(failures, 0);
}

/* Of rows whose squares are hardly numbers, or none, these have values of any size. */
static const char *const of_tiny_rows[] = {"brownian",   "brownian(hurst=0.3)", "brownian(hurst=0.05)",
                                           "power(p=1)", "power(p=0.3)",        "matern(nu=0.01, length_scale=1)"};

static void test_tiny_rows_have_values_too(void **state) {
    (void)state;
    static const double sizes[] = {1e-150, 1e-152, 1e-155, 1e-165};
    for (size_t e = 0; e < sizeof of_tiny_rows / sizeof *of_tiny_rows; e++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
            for (int odd = PLAIN; odd <= OUTLIER; odd++)
                check_everywhere(of_tiny_rows[e], s % 2 ? 3 : 20, sizes[s], (oddity)odd, false, 80 + e);
    assert_int_equal(failures, 0);
}

/* Functions that are as steep as a root at 0, of rows of which each lies near the last: k(x, x) of the first is 0, so
   that values are what errors are a share of. The last row is 0. */
static const char *const steep[] = {"power(p=2)",           "power(p=1)", "power(p=0.5)",
                                    "brownian(hurst=0.01)", "brownian",   "brownian(hurst=0.2)"};

static void draw_near(trial *t, double step) {
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 7);
    for (int64_t i = 0; i < N * t->d; i++)
        t->x[i] = i < t->d ? mc_rng_normal(&rng) : i < (N - 1) * t->d ? t->x[i - t->d] + step * mc_rng_normal(&rng) : 0;
}

static void check_steep(mercer_ctx *ctx, trial *t) {
    mercer_kernel *kernel = NULL;
    mercer_data *data = NULL;
    mc_gram *gram = NULL;
    double out[N * N];
    const mercer_table table = {.size = sizeof table, .n = N, .d = t->d, .dtype = MERCER_F64, .values = t->x};
    assert_ok(ctx, mercer_kernel_parse(ctx, t->text, &kernel));
    assert_ok(ctx, mercer_data_make(ctx, &table, &data));
    evaluate_reference(kernel->root, t);
    assert_ok(ctx, mc_gram_open(ctx, kernel, data, NULL, MERCER_F64, &gram));
    assert_ok(ctx, mc_gram_block(ctx, gram, 0, N, 0, N, MERCER_F64, out, N));
    for (int64_t i = 0; i < N * N; i++) {
        const double own = sqrt(t->K[i / N * (N + 1)]) * sqrt(t->K[i % N * (N + 1)]);
        if (!(fabs(out[i] - t->K[i]) <= 1e-12 * fmax(own, own > 0 ? 0 : fabs(t->K[i]))))
            complain(ctx, t, MERCER_F64, "near", i, out[i]);
    }
    mc_gram_close(gram);
    mercer_data_free(data);
    mercer_kernel_free(kernel);
}

static void test_steep_functions_of_rows_that_are_near(void **state) {
    (void)state;
    static trial t;
    for (size_t isa = 0; isa < 3; isa++) {
        mercer_ctx *ctx = open_isa(isas[isa], 1);
        for (size_t e = 0; ctx && e < sizeof steep / sizeof *steep; e++)
            for (t.scale = 1e-14; t.scale < 1; t.scale *= 1e2)
                for (t.d = 1; t.d <= 33; t.d = t.d == 1 ? 3 : t.d + 30) {
                    snprintf(t.text, sizeof t.text, "%s", steep[e]);
                    draw_near(&t, t.scale);
                    check_steep(ctx, &t);
                    for (int64_t i = 0; i < N * t.d; i++) /* squares of which some are flushed */
                        t.x[i] *= t.scale < 1e-12 || e < 3 ? 1 : 1e-142;
                    check_steep(ctx, &t);
                }
        if (ctx)
            close_clean(ctx);
    }
    assert_int_equal(failures, 0);
}

/* K(x, z) and K(z, x) are computed apart where the sides are two. */
static const char *const exchanged[] = {"additive_chi2", "chi2(gamma=1)",      "tanimoto", "intersection",
                                        "spline",        "laplacian(gamma=1)", "brownian", "power(p=1)"};

static void check_exchange(mercer_ctx *ctx, trial *t, mercer_dtype precision) {
    mercer_kernel *kernel = NULL;
    mercer_data *data[2] = {NULL, NULL};
    mc_gram *gram = NULL;
    double out[N * N];
    const mercer_table table = {.size = sizeof table, .n = N, .d = t->d, .dtype = MERCER_F64, .values = t->x};
    assert_ok(ctx, mercer_kernel_parse(ctx, t->text, &kernel));
    for (int side = 0; side < 2; side++)
        assert_ok(ctx, mercer_data_make(ctx, &table, &data[side]));
    assert_ok(ctx, mc_gram_open(ctx, kernel, data[0], data[1], precision, &gram));
    assert_ok(ctx, mc_gram_block(ctx, gram, 0, N, 0, N, MERCER_F64, out, N));
    for (int64_t i = 0; i < N * N; i++)
        if (out[i] != out[i % N * N + i / N])
            complain(ctx, t, precision, "exchanged", i, out[i]);
    mc_gram_close(gram);
    mercer_data_free(data[0]);
    mercer_data_free(data[1]);
    mercer_kernel_free(kernel);
}

static void test_rows_may_be_exchanged(void **state) {
    (void)state;
    static trial t;
    for (size_t isa = 0; isa < 3; isa++) {
        mercer_ctx *ctx = open_isa(isas[isa], 1);
        for (size_t e = 0; ctx && e < sizeof exchanged / sizeof *exchanged; e++) {
            t = (trial){.d = 20, .scale = 1};
            snprintf(t.text, sizeof t.text, "%s", exchanged[e]);
            draw(&t, true, 90 + e);
            check_exchange(ctx, &t, MERCER_F32);
            check_exchange(ctx, &t, MERCER_F64);
        }
        if (ctx)
            close_clean(ctx);
    }
    assert_int_equal(failures, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_atoms_agree_over_the_range_of_their_parameters),
        cmocka_unit_test(test_combinations_agree_on_rows_of_every_kind),
        cmocka_unit_test(test_tiny_rows_have_values_too),
        cmocka_unit_test(test_steep_functions_of_rows_that_are_near),
        cmocka_unit_test(test_rows_may_be_exchanged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
