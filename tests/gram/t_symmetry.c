/* What is given from elsewhere, a matrix or a function of the program, is written as it is given; whatever needs it to
   be symmetric refuses it and names the pair. */
#include "base/rng.h"
#include "support.h"
#include <math.h>
#include <string.h>

enum { N = 24, I = 17, J = 4 }; /* K(I, J) is the one that differs, counted from 0 */

typedef struct external {
    mercer_data *data, *classes;
    mercer_kernel *kernel;
    const char *words; /* of the message */
} external;

/* x z + 1, and more than that in one direction. */
static int lopsided(void *user, int64_t d, int64_t n, const double *x, int64_t m, const double *z, double *out) {
    (void)user;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < m; j++)
            out[i * m + j] = x[i * d] * z[j * d] + 1 + (x[i * d] > z[j * d] ? 0.5 : 0);
    return 0;
}

static mercer_data *table(mercer_ctx *ctx, const double *values, int64_t d, bool classes) {
    static const char *label[N];
    static double y[N];
    mercer_data *data = NULL;
    for (int i = 0; i < N; i++) {
        label[i] = i % 3 ? "a" : "b";
        y[i] = i;
    }
    const mercer_table t = {.size = sizeof t,
                            .n = N,
                            .d = d,
                            .dtype = MERCER_F64,
                            .values = values,
                            .target = classes ? NULL : y,
                            .outputs = classes ? 0 : 1,
                            .labels = classes ? label : NULL};
    assert_ok(ctx, mercer_data_make(ctx, &t, &data));
    return data;
}

/* exp(-1.4 (i - j)^2), subnormal in the corners, with one value off by 2^-20: far above rounding, far below what shows.
   */
static external open_matrix(mercer_ctx *ctx) {
    static double K[N * (N + 1)];
    external g = {.words = "precomputed: the matrix is not symmetric: K(18, 5) is "};
    for (int i = 0; i < N; i++) {
        K[i * (N + 1)] = i + 1;
        for (int j = 0; j < N; j++)
            K[i * (N + 1) + 1 + j] = exp(-1.4 * (i - j) * (i - j)) + (i == I && j == J ? 0x1p-20 : 0);
    }
    assert_ok(ctx, mercer_kernel_parse(ctx, "precomputed", &g.kernel));
    g.data = table(ctx, K, N + 1, false);
    g.classes = table(ctx, K, N + 1, true);
    return g;
}

static external open_function(mercer_ctx *ctx) {
    static double x[N];
    static const mercer_user_kernel user = {
        .size = sizeof user, .name = "lopsided", .fill = lopsided, .positive = true};
    external g = {.words = "user(\"lopsided\"): the function is not symmetric: K("};
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 41);
    for (int i = 0; i < N; i++)
        x[i] = mc_rng_normal(&rng);
    assert_ok(ctx, mercer_kernel_parse_with(ctx, "user(\"lopsided\")", &user, 1, &g.kernel));
    g.data = table(ctx, x, 1, false);
    g.classes = table(ctx, x, 1, true);
    return g;
}

static external (*const kinds[])(mercer_ctx *ctx) = {open_matrix, open_function};

static void close_external(external *g) {
    mercer_data_free(g->data);
    mercer_data_free(g->classes);
    mercer_kernel_free(g->kernel);
}

static void test_the_matrix_is_written_as_it_is_given(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    external g = open_matrix(ctx);
    double K[N * N];
    mercer_gram_facts facts = {.size = sizeof facts};
    assert_ok(ctx, mercer_gram(ctx, g.kernel, g.data, NULL, K));
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            assert_true(K[i * N + j] == exp(-1.4 * (i - j) * (i - j)) + (i == I && j == J ? 0x1p-20 : 0));
    assert_ok(ctx, mercer_gram_check(ctx, K, N, &facts));
    assert_close(facts.asymmetry, 0x1p-20, 1e-15);
    assert_int_equal(facts.asymmetric[0], J);
    assert_int_equal(facts.asymmetric[1], I);
    assert_false(facts.symmetric);
    assert_false(facts.positive);
    close_external(&g);
    close_clean(ctx);
}

static void test_a_function_is_asked_for_both_sides(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    external g = open_function(ctx);
    double K[N * N];
    mercer_gram_facts facts = {.size = sizeof facts};
    assert_ok(ctx, mercer_gram(ctx, g.kernel, g.data, NULL, K));
    assert_ok(ctx, mercer_gram_check(ctx, K, N, &facts));
    assert_close(facts.asymmetry, 0.5, 1e-12);
    assert_false(facts.positive);
    close_external(&g);
    close_clean(ctx);
}

static void test_every_machine_refuses_it(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        external g = kinds[k](ctx);
        for (int i = 0; mercer_machine_at(i); i++) {
            mercer_model *model = NULL;
            mercer_plan plan = {.size = sizeof plan};
            const mercer_data *data = mercer_machine_at(i)->target == MERCER_TARGET_CLASS ? g.classes : g.data;
            assert_fails(ctx, mercer_fit(ctx, mercer_machine_at(i)->name, NULL, g.kernel, data, &model), MERCER_DATA,
                         g.words);
            const mercer_status planned = mercer_plan_fit(ctx, mercer_machine_at(i)->name, NULL, g.kernel, data, &plan);
            assert_true(planned == MERCER_OK || strstr(mercer_message(ctx), g.words));
        }
        close_external(&g);
    }
    close_clean(ctx);
}

static void test_all_that_needs_a_symmetric_matrix_refuses_it(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        external g = kinds[k](ctx);
        double v[N] = {1}, out[N];
        int64_t group[N];
        mercer_clusters clusters = {.size = sizeof clusters};
        mercer_test test = {.size = sizeof test};
        mercer_search *search = NULL;
        const mercer_clustering set = mercer_clustering_defaults();
        mercer_tune tune = mercer_tune_defaults();
        tune.kernels = (const mercer_kernel *const[]){g.kernel};
        tune.kernel_count = 1;
        assert_fails(ctx, mercer_gram_apply(ctx, g.kernel, g.data, NULL, MERCER_F64, v, 1, out), MERCER_DATA, g.words);
        assert_fails(ctx, mercer_gram_apply(ctx, g.kernel, g.data, NULL, MERCER_F32, v, 1, out), MERCER_DATA, g.words);
        assert_fails(ctx, mercer_cluster(ctx, g.kernel, g.data, &set, group, &clusters), MERCER_DATA, g.words);
        assert_fails(ctx, mercer_cluster_spectral(ctx, g.kernel, g.data, &set, group, out, &clusters), MERCER_DATA,
                     g.words);
        assert_fails(ctx, mercer_test_hsic(ctx, g.kernel, g.kernel, g.data, 9, 1, &test), MERCER_DATA, g.words);
        assert_fails(ctx, mercer_tune_run(ctx, "svr", NULL, &tune, g.data, &search), MERCER_DATA, "not symmetric");
        close_external(&g);
    }
    close_clean(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_matrix_is_written_as_it_is_given),
        cmocka_unit_test(test_a_function_is_asked_for_both_sides),
        cmocka_unit_test(test_every_machine_refuses_it),
        cmocka_unit_test(test_all_that_needs_a_symmetric_matrix_refuses_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
