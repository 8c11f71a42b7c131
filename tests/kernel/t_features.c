#include "base/rng.h"
#include "kernel/evaluate/feature_map.h"
#include "support.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { D = 3 };

static const struct {
    const char *text;
    int64_t dimension;
} cases[] = {
    {"linear", 3},
    {"2*linear", 3},
    {"poly(degree=2, c=0)", 6},
    {"poly(degree=3, c=0.5, gamma=0.25)", 20},
    {"linear^3", 10},
    {"(1 + linear)^2", 10},
    {"1 + 2*linear + linear^2", 10},
    {"linear*poly(degree=2, c=1)", 30},
    {"linear[1:2]*linear[3]*linear[2]", 2},
    {"form([[2,1,0],[1,2,0],[0,0,0]])", 2},
    {"form([[1,1],[1,1]])[3,1] + linear[2]", 2},
    {"normalize(poly(degree=2))", 10},
    {"cosine", 3},
    {"weigh(1 + norm2 - x[2], linear + 3)", 4},
    {"linear[2]^2 * (linear[1] + 1)", 2},
};

static double inner(const double *a, const double *b, int64_t n) {
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

static void check_case(mercer_ctx *ctx, const char *text, int64_t dimension, mc_rng *rng) {
    mercer_kernel *kernel = NULL;
    mc_features *map = NULL;
    assert_ok(ctx, mercer_kernel_parse(ctx, text, &kernel));
    assert_ok(ctx, mc_features_open(ctx, kernel->root, D, &map));
    assert_int_equal(mc_features_dimension(map), dimension);
    double phi[2][64], x[2][D], *scratch = calloc((size_t)mc_features_scratch(map) + 1, sizeof *scratch);
    for (int trial = 0; trial < 20; trial++) {
        for (int i = 0; i < 2 * D; i++)
            x[i / D][i % D] = mc_rng_normal(rng);
        for (int i = 0; i < 2; i++)
            mc_features_row(map, x[i], scratch, phi[i]);
        assert_close(inner(phi[0], phi[1], dimension), mc_eval_kernel(kernel->root, x[0], x[1], D), 1e-13);
    }
    free(scratch);
    mc_features_close(map);
    mercer_kernel_free(kernel);
}

static void test_inner_products_of_features_are_kernel_values(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 9);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        check_case(ctx, cases[i].text, cases[i].dimension, &rng);
    close_clean(ctx);
}

static void test_kernels_without_a_finite_map_are_refused(void **state) {
    (void)state;
    static const char *const none[] = {"rbf(gamma=1)",    "linear + rbf(gamma=1)", "exp(linear)",
                                       "linear - 2",      "(1+linear)^1.5",        "form([[1,2],[2,1]])",
                                       "arccos(order=1)", "poly(degree=60)",       "white"};
    mercer_ctx *ctx = open_ctx(1);
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
        mercer_kernel *kernel = NULL;
        mc_features *map = NULL;
        assert_ok(ctx, mercer_kernel_parse(ctx, none[i], &kernel));
        assert_fails(ctx, mc_features_open(ctx, kernel->root, 40, &map), MERCER_INVALID, "no feature map");
        assert_null(map);
        mercer_kernel_free(kernel);
    }
    close_clean(ctx);
}

static mercer_status open_again(mercer_ctx *ctx, void *arg) {
    mc_features *map = NULL;
    const mercer_status status = mc_features_open(ctx, ((mercer_kernel *)arg)->root, D, &map);
    mc_features_close(map);
    return status;
}

static void test_survives_failing_memory(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    mercer_kernel *kernel = NULL;
    assert_ok(ctx, mercer_kernel_parse(ctx, "form([[2,1,0],[1,2,0],[0,0,0]]) + form([[1,1],[1,1]])[3,1]", &kernel));
    assert_survives_failing_memory(open_again, kernel);
    mercer_kernel_free(kernel);
    close_clean(ctx);
}

/* One call for every column would need more stack than a thread has. */
static void test_a_map_of_many_columns_takes_no_depth(void **state) {
    (void)state;
    enum { MANY = 1000000 };
    mercer_ctx *ctx = open_ctx(1);
    mercer_kernel *kernel = NULL;
    mc_features *map = NULL;
    assert_ok(ctx, mercer_kernel_parse(ctx, "poly(degree=1, c=4)", &kernel));
    assert_ok(ctx, mc_features_open(ctx, kernel->root, MANY, &map));
    double *x = calloc(MANY, sizeof *x), *phi = calloc(MANY + 1, sizeof *phi);
    double *scratch = calloc((size_t)mc_features_scratch(map) + 1, sizeof *scratch);
    x[0] = 3;
    x[MANY - 1] = 5;
    mc_features_row(map, x, scratch, phi);
    /* the constant is the last column, and the last comes first */
    assert_true(phi[0] == 2 && phi[1] == 5 && phi[MANY] == 3);
    free(x);
    free(phi);
    free(scratch);
    mc_features_close(map);
    mercer_kernel_free(kernel);
    close_clean(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_inner_products_of_features_are_kernel_values),
        cmocka_unit_test(test_kernels_without_a_finite_map_are_refused),
        cmocka_unit_test(test_a_map_of_many_columns_takes_no_depth),
        cmocka_unit_test(test_survives_failing_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
