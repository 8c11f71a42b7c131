#include "support.h"
#include <math.h>
#include <string.h>

enum { N = 37, M = 11, T = 3 };

typedef struct fixture {
    mercer_data *x, *z;
    mercer_kernel *kernel;
} fixture;

static mercer_status open_fixture(mercer_ctx *ctx, const char *text, fixture *f) {
    *f = (fixture){0};
    mercer_kernel *parsed = NULL;
    mercer_status status = mercer_data_generate(ctx, "friedman1", N, 0.1, 1, &f->x);
    if (!status)
        status = mercer_data_generate(ctx, "friedman1", M, 0.1, 2, &f->z);
    if (!status)
        status = mercer_kernel_parse(ctx, text, &parsed);
    if (!status)
        status = mercer_kernel_bind(ctx, parsed, f->x, &f->kernel);
    mercer_kernel_free(parsed);
    return status;
}

static void close_fixture(fixture *f) {
    mercer_data_free(f->x);
    mercer_data_free(f->z);
    mercer_kernel_free(f->kernel);
}

static double reference_entry(mercer_ctx *ctx, const fixture *f, const mercer_data *other, int64_t i, int64_t j) {
    double x[16], z[16], value = NAN;
    mercer_data_row(f->x, i, x);
    mercer_data_row(other, j, z);
    assert_ok(ctx, mercer_kernel_value(ctx, f->kernel, x, z, mercer_data_columns(f->x), &value));
    return value;
}

static void check_against_reference(const char *text, bool symmetric) {
    mercer_ctx *ctx = open_ctx(2);
    fixture f;
    double K[N * N];
    assert_ok(ctx, open_fixture(ctx, text, &f));
    const mercer_data *other = symmetric ? f.x : f.z;
    const int64_t m = mercer_data_rows(other);
    assert_ok(ctx, mercer_gram(ctx, f.kernel, f.x, symmetric ? NULL : f.z, K));
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < m; j++)
            assert_close(K[i * m + j], reference_entry(ctx, &f, other, i, j), 1e-12);
    close_fixture(&f);
    close_clean(ctx);
}

static void test_every_entry_is_the_reference(void **state) {
    (void)state;
    check_against_reference("rbf + 0.5*linear", true);
    check_against_reference("rbf + 0.5*linear", false);
    check_against_reference("matern(nu=2.5)[1:3]*poly", false);
}

static void test_a_product_is_the_matrix_times_the_columns(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    fixture f;
    double K[N * M], v[M * T], out[N * T];
    assert_ok(ctx, open_fixture(ctx, "rbf", &f));
    for (int k = 0; k < M * T; k++)
        v[k] = sin(3.0 * k);
    assert_ok(ctx, mercer_gram(ctx, f.kernel, f.x, f.z, K));
    assert_ok(ctx, mercer_gram_apply(ctx, f.kernel, f.x, f.z, MERCER_F64, v, T, out));
    for (int64_t i = 0; i < N; i++)
        for (int64_t t = 0; t < T; t++) {
            double sum = 0;
            for (int64_t j = 0; j < M; j++)
                sum += K[i * M + j] * v[j * T + t];
            assert_close(out[i * T + t], sum, 1e-12);
        }
    assert_fails(ctx, mercer_gram_apply(ctx, f.kernel, f.x, f.z, MERCER_F64, v, 0, out), MERCER_INVALID, "at least 1");
    close_fixture(&f);
    close_clean(ctx);
}

static mercer_status whole_matrix(mercer_ctx *ctx, void *arg) {
    (void)arg;
    fixture f;
    double K[N * N];
    mercer_status status = open_fixture(ctx, "rbf", &f);
    if (!status)
        status = mercer_gram(ctx, f.kernel, f.x, NULL, K);
    close_fixture(&f);
    return status;
}

static void test_failing_memory_leaves_nothing(void **state) {
    (void)state;
    assert_survives_failing_memory(whole_matrix, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_entry_is_the_reference),
        cmocka_unit_test(test_a_product_is_the_matrix_times_the_columns),
        cmocka_unit_test(test_failing_memory_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
