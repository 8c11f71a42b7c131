/* Dense algebra on a device against that of the processor: every layout, sizes around the splits, failing calls. */
#include "../gram/checking_device.h"
#include "base/ctx.h"
#include "base/rng.h"
#include "linalg/cholesky.h"
#include "linalg/dense.h"
#include "linalg/eigen.h"
#include "support.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const int64_t sizes[] = {1, 2, 3, 17, 128, 301, 2600};
enum { SIZES = sizeof sizes / sizeof *sizes, T = 3 };

/* A positive definite matrix in a layout, here. */
static mc_dense draw_matrix(mercer_ctx *ctx, mc_layout layout, int64_t n) {
    mc_dense A;
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, (uint64_t)n);
    assert_ok(ctx, mc_dense_allocate(ctx, NULL, layout, MERCER_F64, n, n, &A));
    double *a = A.a;
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = j; i < n; i++) {
            const double v = i == j ? 3 * sqrt((double)n) + 1 : mc_rng_normal(&rng); /* no eigenvalue below sqrt(n) */
            if (layout == MC_PACKED)
                a[mc_packed_place(n, i, j)] = v;
            else
                a[i + j * n] = a[j + i * n] = v;
        }
    return A;
}

static double *draw_vectors(mercer_ctx *ctx, int64_t count) {
    double *v = NULL;
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 7);
    assert_ok(ctx, (v = malloc((size_t)count * sizeof *v)) ? MERCER_OK : MERCER_MEMORY);
    for (int64_t i = 0; i < count; i++)
        v[i] = mc_rng_normal(&rng);
    return v;
}

static mc_dense copy_to_device(mercer_ctx *ctx, mc_device *device, mc_dense A) {
    mc_dense there;
    assert_ok(ctx, mc_dense_allocate(ctx, device, A.layout, A.dtype, A.rows, A.columns, &there));
    assert_ok(ctx, mc_dense_copy(ctx, A, there));
    return there;
}

/* Of the halves that count. */
static void assert_same_triangle(mercer_ctx *ctx, mc_dense A, mc_dense there, double tolerance) {
    mc_dense back;
    assert_ok(ctx, mc_dense_allocate(ctx, NULL, A.layout, A.dtype, A.rows, A.columns, &back));
    assert_ok(ctx, mc_dense_copy(ctx, there, back));
    const double *a = A.a, *b = back.a;
    for (int64_t j = 0; j < A.rows; j++)
        for (int64_t i = j; i < A.rows; i++) {
            const int64_t at = A.layout == MC_PACKED      ? mc_packed_place(A.rows, i, j)
                               : A.layout == MC_ROW_MAJOR ? i * A.ld + j
                                                          : i + j * A.ld;
            if (!(fabs(a[at] - b[at]) <= tolerance))
                fail_msg("order %lld, layout %d: (%lld, %lld) is %g here and %g there", (long long)A.rows,
                         (int)A.layout, (long long)i, (long long)j, a[at], b[at]);
        }
    mc_dense_free(&back);
}

static void check_factor(mercer_ctx *ctx, mc_device *device, mc_layout layout, int64_t n) {
    mc_dense A = draw_matrix(ctx, layout, n), there = copy_to_device(ctx, device, A);
    double *X = draw_vectors(ctx, n * T), *Y = malloc((size_t)(n * T) * sizeof *Y), *d = malloc((size_t)n * 16);
    int64_t bad = -1, bad_there = -1;
    memcpy(Y, X, (size_t)(n * T) * sizeof *Y);
    assert_ok(ctx, mc_potrf(ctx, A, &bad));
    assert_ok(ctx, mc_potrf(ctx, there, &bad_there));
    assert_int_equal(bad, 0);
    assert_int_equal(bad_there, 0);
    assert_same_triangle(ctx, A, there, 1e-11);
    assert_ok(ctx, mc_dense_diagonal(ctx, A, d));
    assert_ok(ctx, mc_dense_diagonal(ctx, there, d + n));
    for (int64_t i = 0; i < n; i++)
        assert_close(d[i], d[n + i], 1e-12);
    assert_ok(ctx, mc_potrs(ctx, A, mc_row_major(X, n, T, T)));
    assert_ok(ctx, mc_potrs(ctx, there, mc_row_major(Y, n, T, T)));
    for (int64_t i = 0; i < n * T; i++)
        assert_close(X[i], Y[i], 1e-11);
    assert_ok(ctx, mc_trtrs(ctx, A, false, mc_column_major(X, n, T, n)));
    assert_ok(ctx, mc_trtrs(ctx, there, false, mc_column_major(Y, n, T, n)));
    for (int64_t i = 0; i < n * T; i++)
        assert_close(X[i], Y[i], 1e-11);
    assert_ok(ctx, mc_potri(ctx, A));
    assert_ok(ctx, mc_potri(ctx, there));
    assert_same_triangle(ctx, A, there, 1e-11);
    mc_dense_free(&A);
    mc_dense_free(&there);
    free(X);
    free(Y);
    free(d);
}

static void test_factor_solve_and_invert(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    mc_device *device = open_test_device(ctx);
    for (int i = 0; i < SIZES; i++)
        for (mc_layout layout = MC_COLUMN_MAJOR; layout <= MC_PACKED; layout++)
            check_factor(ctx, device, layout, sizes[i]);
    assert_int_equal(device->used, 0);
    mc_device_close(device);
    close_clean(ctx);
}

/* The diagonal of the inverse is that of the whole inverse. */
static void test_diagonal_of_the_inverse(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    mc_device *device = open_test_device(ctx);
    for (int i = 0; i < SIZES - 1; i++) {
        const int64_t n = sizes[i];
        mc_dense A = draw_matrix(ctx, MC_PACKED, n), one, two;
        double *d = malloc((size_t)n * 16);
        int64_t bad = 0;
        assert_ok(ctx, mc_potrf(ctx, A, &bad));
        one = copy_to_device(ctx, device, A);
        two = copy_to_device(ctx, device, A);
        assert_ok(ctx, mc_cholesky_inverse_diagonal(ctx, one, d));
        assert_ok(ctx, mc_potri(ctx, two));
        assert_ok(ctx, mc_dense_diagonal(ctx, two, d + n));
        for (int64_t k = 0; k < n; k++)
            assert_close(d[k], d[n + k], 1e-13);
        mc_dense_free(&A);
        mc_dense_free(&one);
        mc_dense_free(&two);
        free(d);
    }
    mc_device_close(device);
    close_clean(ctx);
}

/* The order of the first minor that is not positive, in either half. */
static void test_what_is_not_positive_is_named(void **state) {
    (void)state;
    enum { N = 40 };
    mercer_ctx *ctx = open_ctx(1);
    mc_device *device = open_test_device(ctx);
    static const int64_t wrong[] = {0, 7, 19, 20, 21, 39};
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        mc_dense A = draw_matrix(ctx, MC_PACKED, N);
        ((double *)A.a)[mc_packed_place(N, wrong[k], wrong[k])] = -1;
        mc_dense there = copy_to_device(ctx, device, A);
        int64_t bad = 0;
        assert_ok(ctx, mc_potrf(ctx, there, &bad));
        assert_int_equal(bad, wrong[k] + 1);
        mc_dense_free(&A);
        mc_dense_free(&there);
    }
    mc_device_close(device);
    close_clean(ctx);
}

static void test_products(void **state) {
    (void)state;
    enum { M = 23, N = 11, K = 31 };
    mercer_ctx *ctx = open_ctx(1);
    mc_device *device = open_test_device(ctx);
    double *a = draw_vectors(ctx, M * K), *b = draw_vectors(ctx, K * N), c[2][M * N];
    for (int layouts = 0; layouts < 8; layouts++) {
        const mc_dense A = layouts & 1 ? mc_row_major(a, M, K, K) : mc_column_major(a, M, K, M),
                       B = layouts & 2 ? mc_row_major(b, K, N, N) : mc_column_major(b, K, N, K);
        mc_dense C[2];
        for (int i = 0; i < 2; i++)
            C[i] = layouts & 4 ? mc_row_major(c[i], M, N, N) : mc_column_major(c[i], M, N, M);
        mc_dense X = copy_to_device(ctx, device, A), Y = copy_to_device(ctx, device, B),
                 Z = copy_to_device(ctx, device, C[1]);
        assert_ok(ctx, mc_parallel_gemm(ctx, A, B, C[0]));
        assert_ok(ctx, mc_parallel_gemm(ctx, X, Y, Z));
        assert_ok(ctx, mc_dense_copy(ctx, Z, C[1]));
        for (int i = 0; i < M * N; i++)
            assert_close(c[0][i], c[1][i], 1e-12);
        mc_dense_free(&X);
        mc_dense_free(&Y);
        mc_dense_free(&Z);
    }
    free(a);
    free(b);
    mc_device_close(device);
    close_clean(ctx);
}

/* A = U diag(w) U', of the context's device; then the largest alone. */
static void check_eigen(mercer_ctx *ctx, int64_t n, int64_t k, double size) {
    mc_dense A = draw_matrix(ctx, MC_COLUMN_MAJOR, n), U = draw_matrix(ctx, MC_COLUMN_MAJOR, n);
    double *w = malloc((size_t)(n + k) * sizeof *w), *a = A.a, *u = U.a, *V = malloc((size_t)(n * k) * sizeof *V);
    for (int64_t i = 0; i < n * n; i++)
        a[i] = u[i] = a[i] * size;
    assert_ok(ctx, mc_syevd(ctx, U, w));
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            double sum = 0;
            for (int64_t e = 0; e < n; e++)
                sum += u[i + e * n] * (w[e] / size) * u[j + e * n];
            assert_close(sum, a[i + j * n] / size, 1e-11);
        }
    assert_ok(ctx, mc_syevr_largest(ctx, A, w + n, mc_column_major(V, n, k, n)));
    for (int64_t e = 0; e < k; e++) {
        double along = 0;
        for (int64_t i = 0; i < n; i++)
            along += V[i + e * n] * u[i + (n - k + e) * n];
        assert_close(w[n + e] / size, w[n - k + e] / size, 1e-12);
        assert_close(fabs(along), 1, 1e-9);
    }
    mc_dense_free(&A);
    mc_dense_free(&U);
    free(w);
    free(V);
}

static void test_eigenvalues(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    mc_device *device = attach_test_device(ctx);
    check_eigen(ctx, 90, 5, 1);
    check_eigen(ctx, 33, 33, 0x1p700);
    assert_true(device->peak > 0);
    assert_int_equal(device->used, 0);
    close_clean(ctx);
}

/* A device without room leaves the work to the processor. */
static void test_a_full_device_is_done_without(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    mc_device *device = attach_test_device(ctx);
    device->limit = 90 * 90 * sizeof(double);
    check_eigen(ctx, 90, 5, 1);
    device->limit = (4 * 90 * 90 + 60) * sizeof(double); /* all but what the routine works in */
    check_eigen(ctx, 90, 5, 1);
    device->limit = (4 * 40 * 40) * sizeof(double);
    for (int calls = 0; calls < 3 && !on_a_card(); calls++) {
        checking_device_fail_after(0); /* the first allocation */
        check_eigen(ctx, 40, 5, 0x1p700);
        checking_device_fail_after(-1);
    }
    assert_int_equal(device->used, 0);
    close_clean(ctx);
}

static mercer_status factor_all(mercer_ctx *ctx, mc_device *device, mc_dense A) {
    mc_dense there = {0};
    double d[40], X[40];
    int64_t bad = 0;
    for (int i = 0; i < 40; i++)
        X[i] = 1;
    mercer_status status = mc_dense_allocate(ctx, device, A.layout, A.dtype, A.rows, A.columns, &there);
    status = status ? status : mc_dense_copy(ctx, A, there);
    status = status ? status : mc_potrf(ctx, there, &bad);
    status = status ? status : mc_potrs(ctx, there, mc_row_major(X, 40, 1, 1));
    status = status ? status : mc_cholesky_inverse_diagonal(ctx, there, d);
    status = status ? status : mc_dense_copy(ctx, A, there);
    status = status ? status : mc_potrf(ctx, there, &bad);
    status = status ? status : mc_potri(ctx, there);
    mc_dense_free(&there);
    return status;
}

static void test_every_call_may_fail(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    mc_device *device = NULL;
    mercer_status status = MERCER_INTERNAL;
    assert_ok(ctx, mc_device_open_calls(ctx, checking_device_calls(), 0, 0, &device));
    mc_dense A = draw_matrix(ctx, MC_PACKED, 40);
    for (int calls = 0; status; calls += 1 + (int)test_sparse() / 4) {
        checking_device_fail_after(calls);
        status = factor_all(ctx, device, A);
        checking_device_fail_after(-1);
        assert_true(!status || strstr(mercer_message(ctx), "device checking:0") != NULL);
        assert_int_equal(device->used, 0);
        assert_int_equal(checking_device_blocks(), 0);
        assert_true(calls < 200);
    }
    mc_dense_free(&A);
    mc_device_close(device);
    close_clean(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_factor_solve_and_invert),
        cmocka_unit_test(test_diagonal_of_the_inverse),
        cmocka_unit_test(test_what_is_not_positive_is_named),
        cmocka_unit_test(test_products),
        cmocka_unit_test(test_eigenvalues),
        cmocka_unit_test(test_a_full_device_is_done_without),
        cmocka_unit_test(test_every_call_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
