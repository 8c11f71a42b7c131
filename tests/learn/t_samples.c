/* Tests by permutation and kernel k-means, against the definitions and against what is known of uniform p-values. */
#include "machines_of_test.h"

enum { A = 30, B = 22, D = 2 };

static mercer_data *points(mercer_ctx *ctx, int64_t n, uint64_t item, double shift, double *x) {
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, item);
    for (int64_t i = 0; i < n * D; i++)
        x[i] = mc_rng_normal(&rng) + shift;
    mercer_data *data = NULL;
    const mercer_table t = {.size = sizeof t, .n = n, .d = D, .dtype = MERCER_F64, .values = x};
    assert_ok(ctx, mercer_data_make(ctx, &t, &data));
    return data;
}

static double gauss(const double *x, const double *z) {
    return exp(-((x[0] - z[0]) * (x[0] - z[0]) + (x[1] - z[1]) * (x[1] - z[1])) / 2);
}

static double mean(const double *x, int64_t n, const double *z, int64_t m) {
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < m; j++)
            sum += gauss(x + i * D, z + j * D);
    return sum / (double)(n * m);
}

static mercer_kernel *parsed(mercer_ctx *ctx, const char *text) {
    mercer_kernel *k = NULL;
    assert_ok(ctx, mercer_kernel_parse(ctx, text, &k));
    return k;
}

static void test_mmd_is_what_its_definition_says_and_tells_samples_apart(void **state) {
    (void)state;
    mercer_test first = {.size = sizeof first};
    for (int threads = 1; threads <= 3; threads += 2) {
        mercer_ctx *ctx = open_ctx(threads);
        double x[A * D], z[B * D];
        mercer_data *a = points(ctx, A, 1, 0, x), *b = points(ctx, B, 2, 3, z);
        mercer_kernel *k = parsed(ctx, "rbf(gamma=0.5)");
        mercer_test t = {.size = sizeof t};
        assert_ok(ctx, mercer_test_mmd(ctx, k, a, b, 199, 7, &t));
        assert_close(t.statistic, mean(x, A, x, A) + mean(z, B, z, B) - 2 * mean(x, A, z, B), 1e-13);
        assert_true(t.p_value == 1.0 / 200); /* three deviations apart in both columns: no exchange does as well */
        assert_true(t.null_mean < t.statistic && t.null_std > 0);
        assert_true(threads == 1 || memcmp(&t, &first, sizeof t) == 0);
        first = t;
        assert_fails(ctx, mercer_test_mmd(ctx, k, a, b, 0, 7, &t), MERCER_INVALID, "permutations");
        mercer_kernel_free(k);
        mercer_data_free(a);
        mercer_data_free(b);
        close_clean(ctx);
    }
}

/* trace(K H L H) / n^2 by expanding H: mean of products of the centred entries. */
static double hsic(const double *x, int64_t n) {
    double K[A][A], L[A][A], k[A] = {0}, l[A] = {0}, kk = 0, ll = 0, sum = 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            const double u = x[i * D] - x[j * D], v = x[i * D + 1] - x[j * D + 1];
            k[i] += (K[i][j] = exp(-u * u)) / (double)n;
            l[i] += (L[i][j] = exp(-v * v)) / (double)n;
            kk += K[i][j] / (double)(n * n);
            ll += L[i][j] / (double)(n * n);
        }
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            sum += (K[i][j] - k[i] - k[j] + kk) * (L[i][j] - l[i] - l[j] + ll);
    return sum / (double)(n * n);
}

static void test_hsic_is_what_its_definition_says_and_finds_dependence(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    double x[A * D];
    mercer_data *free_data = points(ctx, A, 3, 0, x), *bound_data = NULL;
    mercer_kernel *k = parsed(ctx, "rbf(gamma=1)[1]"), *l = parsed(ctx, "rbf(gamma=1)[2]");
    mercer_test t = {.size = sizeof t};
    assert_ok(ctx, mercer_test_hsic(ctx, k, l, free_data, 199, 1, &t));
    assert_close(t.statistic, hsic(x, A), 1e-13);
    assert_true(t.p_value > 0.01);
    for (int i = 0; i < A; i++)
        x[i * D + 1] = x[i * D] * x[i * D]; /* not correlated, yet determined */
    const mercer_table table = {.size = sizeof table, .n = A, .d = D, .dtype = MERCER_F64, .values = x};
    assert_ok(ctx, mercer_data_make(ctx, &table, &bound_data));
    assert_ok(ctx, mercer_test_hsic(ctx, k, l, bound_data, 199, 1, &t));
    assert_true(t.p_value <= 0.01);
    mercer_kernel_free(k);
    mercer_kernel_free(l);
    mercer_data_free(free_data);
    mercer_data_free(bound_data);
    close_clean(ctx);
}

/* Under the hypothesis p takes each of its 1 + 19 values equally often: over 400 samples the count of each is 20, give
   or take 4.4. */
static void test_p_values_are_uniform_where_there_is_nothing_to_find(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    mercer_kernel *k = parsed(ctx, "rbf(gamma=0.5)");
    int count[21] = {0};
    double chi = 0;
    for (uint64_t s = 0; s < 400; s++) {
        double x[8 * D], z[6 * D];
        mercer_data *a = points(ctx, 8, 1000 + 2 * s, 0, x), *b = points(ctx, 6, 1001 + 2 * s, 0, z);
        mercer_test t = {.size = sizeof t};
        assert_ok(ctx, mercer_test_mmd(ctx, k, a, b, 19, s, &t));
        count[(int)(20 * t.p_value + 0.5)]++;
        mercer_data_free(a);
        mercer_data_free(b);
    }
    for (int v = 1; v <= 20; v++)
        chi += (count[v] - 20.0) * (count[v] - 20.0) / 20;
    assert_true(chi < 52); /* 19 degrees of freedom: more has a probability below 1e-4 */
    mercer_kernel_free(k);
    close_clean(ctx);
}

/* The sum of squares of a grouping, from the rows themselves. */
static double squares(const double *x, int64_t n, const int64_t *group, int64_t k) {
    double sum = 0;
    for (int64_t c = 0; c < k; c++) {
        double m[D] = {0}, size = 0;
        for (int64_t i = 0; i < n; i++)
            for (int j = 0; group[i] == c && j < D; j++) {
                m[j] += x[i * D + j];
                size += j == 0;
            }
        for (int64_t i = 0; i < n; i++)
            for (int j = 0; group[i] == c && j < D; j++)
                sum += (x[i * D + j] - m[j] / size) * (x[i * D + j] - m[j] / size);
    }
    return sum;
}

static void test_linear_clusters_are_those_of_k_means(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    double x[A * D];
    int64_t group[A];
    mercer_data *data = points(ctx, A, 5, 0, x);
    for (int i = 0; i < A; i++)
        x[i * D] += 10.0 * (i % 3); /* three groups far apart */
    mercer_data_free(data);
    const mercer_table table = {.size = sizeof table, .n = A, .d = D, .dtype = MERCER_F64, .values = x};
    assert_ok(ctx, mercer_data_make(ctx, &table, &data));
    mercer_kernel *k = parsed(ctx, "linear");
    mercer_clustering set = mercer_clustering_defaults();
    mercer_clusters c = {.size = sizeof c};
    set.clusters = 3;
    assert_ok(ctx, mercer_cluster(ctx, k, data, &set, group, &c));
    for (int i = 0; i < A; i++)
        assert_int_equal(group[i], i % 3);
    assert_close(c.objective, squares(x, A, group, 3), 1e-9);
    memset(group, 0, sizeof group);
    assert_close(c.total, squares(x, A, group, 1), 1e-8);
    set.clusters = A;
    assert_ok(ctx, mercer_cluster(ctx, k, data, &set, group, &c));
    for (int i = 0; i < A; i++)
        assert_int_equal(group[i], i); /* every row its own group */
    set.clusters = A + 1;
    assert_fails(ctx, mercer_cluster(ctx, k, data, &set, group, &c), MERCER_INVALID, "clusters must be in [1, 30]");
    mercer_kernel_free(k);
    mercer_data_free(data);
    close_clean(ctx);
}

/* ---- Spectral clustering ---- */

/* Rings of radius 1 and 3; the inner one has the even rows. */
static mercer_data *rings(mercer_ctx *ctx, int64_t n, double *x) {
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 71);
    for (int64_t i = 0; i < n; i++) {
        const double angle = 6.283185307179586 * (double)i / (double)n,
                     radius = (i % 2 ? 3 : 1) + 0.1 * mc_rng_normal(&rng);
        x[2 * i] = radius * cos(angle);
        x[2 * i + 1] = radius * sin(angle);
    }
    const mercer_table table = {.size = sizeof table, .n = n, .d = 2, .dtype = MERCER_F64, .values = x};
    mercer_data *data = NULL;
    assert_ok(ctx, mercer_data_make(ctx, &table, &data));
    return data;
}

/* With next to nothing between the rings L has the eigenvalue 0 nearly twice. */
static void check_rings(mercer_ctx *ctx, int64_t n, const char *text, double second) {
    double *x = calloc((size_t)(2 * n), sizeof *x), eigenvalues[2];
    int64_t *group = calloc((size_t)n, sizeof *group);
    mercer_data *data = rings(ctx, n, x);
    mercer_kernel *k = parsed(ctx, text);
    const mercer_clustering set = mercer_clustering_defaults();
    mercer_clusters c = {.size = sizeof c};
    assert_ok(ctx, mercer_cluster_spectral(ctx, k, data, &set, group, eigenvalues, &c));
    for (int64_t i = 0; i < n; i++)
        assert_int_equal(group[i], i % 2);
    assert_true(eigenvalues[0] < 1e-8 && eigenvalues[1] >= eigenvalues[0] && eigenvalues[1] < second);
    mercer_kernel_free(k);
    mercer_data_free(data);
    free(group);
    free(x);
}

static void test_spectral_clusters_follow_rings(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    check_rings(ctx, 200, "rbf(sigma=0.3)", 1e-3);
    check_rings(ctx, 1600, "rbf(sigma=0.2)", 1e-6); /* by Krylov spaces */
    close_clean(ctx);
}

static void test_a_negative_value_and_rows_alone_are_told(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    const double x[] = {1, 2, -3, 4};
    double eigenvalues[4];
    int64_t group[4];
    mercer_data *data = NULL;
    const mercer_table table = {.size = sizeof table, .n = 4, .d = 1, .dtype = MERCER_F64, .values = x};
    assert_ok(ctx, mercer_data_make(ctx, &table, &data));
    mercer_kernel *linear = parsed(ctx, "linear"), *far = parsed(ctx, "rbf(gamma=1000000)");
    mercer_clustering set = mercer_clustering_defaults();
    mercer_clusters c = {.size = sizeof c};
    assert_fails(ctx, mercer_cluster_spectral(ctx, linear, data, &set, group, eigenvalues, &c), MERCER_DATA,
                 "rows 1 and 3 is -3");
    set.clusters = 4;
    /* no row is joined to another */
    assert_ok(ctx, mercer_cluster_spectral(ctx, far, data, &set, group, eigenvalues, &c));
    for (int i = 0; i < 4; i++)
        assert_int_equal(group[i], i);
    set.clusters = 5;
    assert_fails(ctx, mercer_cluster_spectral(ctx, far, data, &set, group, eigenvalues, &c), MERCER_INVALID, "[1, 4]");
    mercer_kernel_free(linear);
    mercer_kernel_free(far);
    mercer_data_free(data);
    close_clean(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mmd_is_what_its_definition_says_and_tells_samples_apart),
        cmocka_unit_test(test_hsic_is_what_its_definition_says_and_finds_dependence),
        cmocka_unit_test(test_p_values_are_uniform_where_there_is_nothing_to_find),
        cmocka_unit_test(test_linear_clusters_are_those_of_k_means),
        cmocka_unit_test(test_spectral_clusters_follow_rings),
        cmocka_unit_test(test_a_negative_value_and_rows_alone_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
