#include "kernel/language/kernel.h"
#include "random_kernel.h"
#include "support.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { D = 3 };

/* Letters: s stationary, i isotropic, d dot product, n normalised. */
static const struct {
    const char *text, *letters;
    double bound; /* infinity: not bounded */
    int64_t dimension;
} known[] = {
    {"linear", "d", INFINITY, 3},
    {"poly(degree=2, c=1)", "d", INFINITY, 10},
    {"poly(degree=2, c=0)", "d", INFINITY, 6},
    {"poly(degree=5, c=2)", "d", INFINITY, 56},
    {"poly(degree=2.5)", "d", INFINITY, -1},
    {"poly(c=-1)", "d", INFINITY, -1},
    {"poly(degree=1000000, c=0)", "d", INFINITY, 500001500001},
    {"poly(degree=1000000000, c=1)", "d", INFINITY, -1},
    {"rbf", "sin", 1, -1},
    {"rbf(gamma=[1, 2, 3])", "sn", 1, -1},
    {"rbf(gamma=[2, 2, 2])", "sin", 1, -1},
    {"laplacian", "sn", 1, -1},
    {"exponential", "sin", 1, -1},
    {"matern", "sin", 1, -1},
    {"rq", "sin", 1, -1},
    {"periodic", "sn", 1, -1},
    {"laplacian[2]", "sn", 1, -1},
    {"cosine", "", 1, 3},
    {"chi2", "n", 1, -1},
    {"intersection", "", INFINITY, -1},
    {"arccos(order=0)", "", 1, -1},
    {"arccos(order=1)", "", INFINITY, -1},
    {"tanh(a=1, c=0.5)", "d", 1, -1},
    {"tanh(a=-1, c=0)", "d", 0, -1},
    {"white", "sin", 1, -1},
    {"form([[2, 1, 0], [1, 2, 0], [0, 0, 0]])", "", INFINITY, 2},
    {"form([[1, 1, 1], [1, 1, 1], [1, 1, 1]])", "", INFINITY, 1},
    {"form([[0, 0, 0], [0, 0, 0], [0, 0, 0]])", "", 0, 0},
    {"form([[1, 2, 0], [2, 1, 0], [0, 0, 1]])", "", INFINITY, -1},
    {"form(\"A.npy\")", "", INFINITY, -1},
    {"2", "sid", 2, 1},
    {"0", "sid", 0, 0},
    {"1", "sidn", 1, 1},
    {"-2", "sid", -2, -1},
    {"1 + 2*linear + linear^2", "d", INFINITY, 10},
    {"2*rbf + 3*white", "si", 5, -1},
    {"0.25*rbf + 0.75*white", "sin", 1, -1},
    {"rbf + 1e-17", "si", 1 + 0x1p-52, -1},
    {"0.1*rbf + 0.9*white", "si", 1 + 0x1p-52, -1},
    {"rbf*periodic", "sn", 1, -1},
    {"exp(-form([[1e20, 0, 0], [0, -1, 0], [0, 0, 0]]))", "", INFINITY, -1},
    {"exp(-form([[2, 1, 0], [1, 2, 0], [0, 0, 0]]))", "", 1, -1},
    {"exp(-precomputed)", "", INFINITY, -1},
    {"linear[1]*linear[2:3]", "", INFINITY, 2},
    {"linear*linear[1:2]^2", "", INFINITY, 9},
    {"linear[3, 1, 2]", "d", INFINITY, 3},
    {"rbf[1:3]", "sin", 1, -1},
    {"rbf[1:2]", "sn", 1, -1},
    {"exp(linear)", "d", INFINITY, -1},
    {"exp(rbf)", "si", 2.718281828459045, -1},
    {"exp(-linear)", "d", 1, -1},
    {"normalize(linear + 1)", "n", 1, 4},
    {"normalize(linear^2)", "", 1, 6},
    {"normalize(exp(linear))", "n", 1, -1},
    {"normalize(linear - 1)", "", 1, -1},
    {"weigh(exp(-norm2), rbf)", "", 1, -1},
    {"weigh(sin(x[1]) + 2, linear[1:2])", "", INFINITY, 2},
    {"weigh(sin(x[1]) + 2, cosine)", "", 9, 3},
    {"weigh(1/(1 + norm2), 4)", "", 4, 1},
    {"linear - rbf", "", INFINITY, -1},
    {"rbf(gamma=1)^2.5", "sin", 1, -1},
    {"(2*rbf)^-1", "si", 0.5, -1},
    {"poly(degree={1, 2})", "d", INFINITY, -1},
    {"tanh(a={0, 1})", "d", 1, -1},
    {"tanh(c={0, 1})", "d", 1, -1},
    {"arccos(order={0, 1})", "", INFINITY, -1},
};

static void test_known_shapes(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        mercer_kernel *kernel = NULL;
        assert_ok(ctx, mercer_kernel_parse(ctx, known[i].text, &kernel));
        const mercer_shape s = shape_of(ctx, kernel, D);
        char letters[5] = "";
        strcat(letters, s.stationary ? "s" : "");
        strcat(letters, s.isotropic ? "i" : "");
        strcat(letters, s.dot_product ? "d" : "");
        strcat(letters, s.normalised ? "n" : "");
        /* rounded up, never down */
        const double least = known[i].bound, most = isfinite(least) ? least + 2e-15 * fabs(least) : least;
        if (strcmp(letters, known[i].letters) != 0 || !(s.bound >= least && s.bound <= most)
            || s.bounded != isfinite(s.bound) || s.dimension != known[i].dimension)
            fail_msg("%s: '%s' bound %g dimension %lld", known[i].text, letters, s.bound, (long long)s.dimension);
        mercer_kernel_free(kernel);
    }
    close_clean(ctx);
}

static void test_one_column_makes_stationary_isotropic(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    mercer_kernel *kernel = NULL;
    assert_ok(ctx, mercer_kernel_parse(ctx, "laplacian*periodic", &kernel));
    assert_true(shape_of(ctx, kernel, 1).isotropic);
    assert_false(shape_of(ctx, kernel, 2).isotropic);
    mercer_kernel_free(kernel);
    close_clean(ctx);
}

/* A = B B' with B of n x r small whole numbers has the rank of B: r, for the r x r identity on top of it. */
static void test_ranks_of_random_forms(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    enum { N = 9 };
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 41);
    for (int trial = 0; trial < 200; trial++) {
        const int64_t r = mc_rng_below(&rng, N + 1);
        const bool indefinite = r < N && mc_rng_below(&rng, 3) == 0;
        double B[N][N] = {{0}};
        int64_t order[N] = {0, 1, 2, 3, 4, 5, 6, 7, 8};
        mc_rng_shuffle(&rng, order, N);
        for (int i = 0; i < N; i++)
            for (int j = 0; j < r; j++)
                B[order[i]][j] = i < r ? i == j : (double)mc_rng_below(&rng, 5) - 2;
        char text[4000] = "form([", *end = text + strlen(text);
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++) {
                double a = 0;
                for (int k = 0; k < r; k++)
                    a += B[i][k] * B[j][k];
                a -= indefinite && i == order[N - 1] && j == i ? 1e6 : 0;
                end += sprintf(end, "%s%g", j ? ", " : i ? "], [" : "[", a);
            }
        strcpy(end, "]])");
        mercer_kernel *kernel = NULL;
        assert_ok(ctx, mercer_kernel_parse(ctx, text, &kernel));
        assert_int_equal(shape_of(ctx, kernel, N).dimension, indefinite ? -1 : r);
        mercer_kernel_free(kernel);
    }
    close_clean(ctx);
}

/* Two pairs with the same difference, the same distance or the same inner product. */
static void check_claims(mercer_ctx *ctx, const char *text, const mercer_kernel *kernel, mc_rng *rng) {
    const mercer_shape s = shape_of(ctx, kernel, D);
    double x[D], z[D], y[D], w[D];
    for (int j = 0; j < D; j++) {
        x[j] = mc_rng_uniform(rng);
        z[j] = mc_rng_uniform(rng);
        y[j] = x[j] + 0.25;
        w[j] = z[j] + 0.25;
    }
    const double k = mc_eval_kernel(kernel->root, x, z, D), diagonal = mc_eval_kernel(kernel->root, x, x, D);
    if (!isfinite(k) || !isfinite(diagonal))
        return;
    const double tolerance = 1e-9 * fmax(1, fabs(k));
    if (s.stationary && !(fabs(mc_eval_kernel(kernel->root, y, w, D) - k) <= tolerance))
        fail_msg("%s is not stationary", text);
    const double turned_x[D] = {x[1], x[2], x[0]}, turned_z[D] = {z[1], z[2], z[0]};
    if ((s.isotropic || s.dot_product) && !(fabs(mc_eval_kernel(kernel->root, turned_x, turned_z, D) - k) <= tolerance))
        fail_msg("%s is neither isotropic nor a function of the inner product", text);
    for (int j = 0; j < D; j++) {
        y[j] = 2 * x[j];
        w[j] = z[j] / 2;
    }
    if (s.dot_product && !(fabs(mc_eval_kernel(kernel->root, y, w, D) - k) <= tolerance))
        fail_msg("%s is not a function of the inner product", text);
    if (s.normalised && fabs(diagonal - 1) > 1e-9)
        fail_msg("%s is not normalised: %.17g", text, diagonal);
    if (s.bounded && !(diagonal <= s.bound + 1e-9 * fmax(1, fabs(s.bound))))
        fail_msg("%s: %.17g is above the bound %.17g", text, diagonal, s.bound);
}

static void test_claims_hold_on_random_points(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 40);
    for (int trial = 0; trial < 4000; trial++) {
        char text[RANDOM_KERNEL_SIZE];
        mercer_kernel *kernel = NULL;
        random_kernel(&rng, D, text);
        assert_ok(ctx, mercer_kernel_parse(ctx, text, &kernel));
        check_claims(ctx, text, kernel, &rng);
        mercer_kernel_free(kernel);
    }
    close_clean(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_shapes),
        cmocka_unit_test(test_one_column_makes_stationary_isotropic),
        cmocka_unit_test(test_ranks_of_random_forms),
        cmocka_unit_test(test_claims_hold_on_random_points),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
