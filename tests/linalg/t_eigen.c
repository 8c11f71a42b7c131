/* Oracles: residuals |A u - w u| in long double, the spectrum of the path graph in closed form. */
#include "base/ctx.h"
#include "base/memory.h"
#include "base/rng.h"
#include "linalg/eigen.h"
#include "linalg/lanczos.h"
#include "support.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static double *random_symmetric(mercer_ctx *ctx, int64_t n) {
    double *A = mc_alloc(ctx, n * n, sizeof *A);
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, (uint64_t)n);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j <= i; j++)
            A[i * n + j] = A[j * n + i] = mc_rng_normal(&rng) * exp(3 * mc_rng_normal(&rng));
    return A;
}

/* The k largest alone: A u = w u, u'u = 1, and the values of the whole decomposition, whose ends are in all. LAPACK
   asks 50 n 2^-52 |A| of this algorithm in its own tests; 30 of them are seen. */
static void check_largest(mercer_ctx *ctx, int64_t n, const double *A, const double *all) {
    const int64_t k = n < 7 ? n : 7;
    double *copy = mc_alloc(ctx, n * n, 8), *U = mc_alloc(ctx, n * k, 8), w[7];
    memcpy(copy, A, (size_t)(n * n) * 8);
    assert_ok(ctx, mc_syevr_largest(ctx, mc_column_major(copy, n, n, n), w, mc_column_major(U, n, k, n)));
    const double scale = mc_eigen_cutoff(n, all) * 50;
    for (int64_t c = 0; c < k; c++) {
        assert_true(fabs(w[c] - all[n - k + c]) <= scale);
        for (int64_t other = 0; other <= c; other++) {
            long double inner = -(long double)(other == c);
            for (int64_t j = 0; j < n; j++)
                inner += (long double)U[c * n + j] * U[other * n + j];
            assert_true(fabsl(inner) < 1e-11);
        }
        for (int64_t i = 0; i < n; i++) {
            long double r = -(long double)w[c] * U[c * n + i];
            for (int64_t j = 0; j < n; j++)
                r += (long double)A[i * n + j] * U[c * n + j];
            assert_true(fabsl(r) <= scale);
        }
    }
    mc_free(copy);
    mc_free(U);
}

/* A U = U diag(w), and U'U = I in every stride-th column. */
static void check_pairs(mercer_ctx *ctx, int64_t n, double *A, int64_t stride) {
    double *U = mc_alloc(ctx, n * n, 8), *w = mc_alloc(ctx, n, 8);
    memcpy(U, A, (size_t)(n * n) * 8);
    assert_ok(ctx, mc_syevd(ctx, mc_column_major(U, n, n, n), w));
    const double scale = mc_eigen_cutoff(n, w) * 4;
    for (int64_t k = 0; k < n; k++)
        assert_true(k == 0 || w[k - 1] <= w[k]);
    for (int64_t k = 0; k < n; k += stride)
        for (int64_t i = 0; i < n; i++) {
            long double r = -(long double)w[k] * U[k * n + i], inner = -(long double)(i == k);
            for (int64_t j = 0; j < n; j++) {
                r += (long double)A[i * n + j] * U[k * n + j];
                inner += (long double)U[i * n + j] * U[k * n + j];
            }
            assert_true(fabsl(r) <= scale && fabsl(inner) < 1e-13);
        }
    check_largest(ctx, n, A, w);
    mc_free(A);
    mc_free(U);
    mc_free(w);
}

static void test_pairs_satisfy_their_equation(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    for (int64_t n = 1; n < 200; n += 33)
        check_pairs(ctx, n, random_symmetric(ctx, n), 1);
    for (int64_t n = 255; n < 600; n += 115)
        check_pairs(ctx, n, random_symmetric(ctx, n), 37);
    close_clean(ctx);
}

/* Nothing to reflect, one eigenvalue, rank one, a tail of zeros, the ends of the range. */
static void test_ugly_matrices_have_pairs_too(void **state) {
    (void)state;
    enum { N = 260 };
    mercer_ctx *ctx = open_ctx(3);
    for (int kind = 0; kind < 6; kind++) {
        double *A = random_symmetric(ctx, N);
        for (int64_t i = 0; i < N * N; i++) {
            const int64_t a = i / N, b = i % N;
            A[i] = kind == 0   ? 0
                   : kind == 1 ? (double)(a == b)
                   : kind == 2 ? 1
                   : kind == 3 ? (a < 5 && b < 5 ? A[i] : 0)
                   : kind == 4 ? ldexp(A[i], 980)
                               : ldexp(A[i], -980);
        }
        check_pairs(ctx, N, A, 53);
    }
    close_clean(ctx);
}

static void test_coordinates_go_there_and_back(void **state) {
    (void)state;
    enum { N = 301, T = 3 };
    mercer_ctx *ctx = open_ctx(2);
    double *U = random_symmetric(ctx, N), w[N], X[N * T], G[N * T], Y[N * T];
    assert_ok(ctx, mc_syevd(ctx, mc_column_major(U, N, N, N), w));
    for (int i = 0; i < N * T; i++)
        X[i] = sin(i);
    assert_ok(ctx, mc_parallel_gemm(ctx, mc_row_major(U, N, N, N), mc_row_major(X, N, T, T), mc_row_major(G, N, T, T)));
    for (int k = 0; k < N; k += 50)
        for (int t = 0; t < T; t++) {
            double sum = 0;
            for (int i = 0; i < N; i++)
                sum += U[k * N + i] * X[i * T + t];
            assert_close(G[k * T + t], sum, 1e-13);
        }
    assert_ok(ctx,
              mc_parallel_gemm(ctx, mc_column_major(U, N, N, N), mc_row_major(G, N, T, T), mc_row_major(Y, N, T, T)));
    for (int i = 0; i < N * T; i++)
        assert_close(X[i], Y[i], 1e-13);
    mc_free(U);
    close_clean(ctx);
}

static void test_same_bits_on_any_number_of_threads(void **state) {
    (void)state;
    enum { N = 900 }; /* enough for strips */
    static double once[N * N + 2 * N], again[N * N + 2 * N];
    for (int threads = 1; threads <= 4; threads += threads) {
        mercer_ctx *ctx = open_ctx(threads);
        double *A = random_symmetric(ctx, N), *to = threads == 1 ? once : again, x[N];
        for (int i = 0; i < N; i++)
            x[i] = cos(i);
        assert_ok(ctx, mc_syevd(ctx, mc_column_major(A, N, N, N), to + N * N));
        memcpy(to, A, sizeof(double) * N * N);
        assert_ok(ctx, mc_parallel_gemm(ctx, mc_row_major(A, N, N, N), mc_row_major(x, N, 1, 1),
                                        mc_row_major(to + N * N + N, N, 1, 1)));
        if (threads > 1)
            assert_memory_equal(once, again, sizeof once);
        mc_free(A);
        close_clean(ctx);
    }
}

static void test_the_largest_have_the_same_bits_on_any_number_of_threads(void **state) {
    (void)state;
    enum { N = 900, K = 9 };
    static double once[(N + 1) * K], again[(N + 1) * K];
    for (int threads = 1; threads <= 4; threads += threads) {
        mercer_ctx *ctx = open_ctx(threads);
        double *A = random_symmetric(ctx, N), *to = threads == 1 ? once : again;
        assert_ok(ctx, mc_syevr_largest(ctx, mc_column_major(A, N, N, N), to + N * K, mc_column_major(to, N, K, N)));
        if (threads > 1)
            assert_memory_equal(once, again, sizeof once);
        mc_free(A);
        close_clean(ctx);
    }
}

static void test_too_many_rows_are_refused(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    double A = 0, w = 0;
    assert_fails(
        ctx, mc_syevd(ctx, mc_column_major(&A, MC_EIGEN_LARGEST + 1, MC_EIGEN_LARGEST + 1, MC_EIGEN_LARGEST + 1), &w),
        MERCER_INVALID, "32767");
    close_clean(ctx);
}

/* The second difference on a path of n points: eigenvalues 2 - 2 cos(k pi / (n + 1)). */
static mercer_status path_apply(mercer_ctx *ctx, const void *self, int64_t t, const double *V, double *Y) {
    (void)ctx;
    const int64_t n = *(const int64_t *)self;
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < t; k++)
            Y[i * t + k] = 2 * V[i * t + k] - (i ? V[(i - 1) * t + k] : 0) - (i + 1 < n ? V[(i + 1) * t + k] : 0);
    return MERCER_OK;
}

static void test_lanczos_finds_both_ends(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    for (int64_t n = 1; n <= 60; n++) {
        mc_matrix path = {.n = n, .apply = path_apply, .self = &n};
        mc_spectrum s;
        assert_ok(ctx, mc_lanczos_spectrum(ctx, &path, 100, &s));
        const double pi = acos(-1), low = 2 - 2 * cos(pi / (double)(n + 1)),
                     high = 2 - 2 * cos(pi * (double)n / (double)(n + 1));
        assert_close(s.low, low, 1e-3 * low + 1e-12);
        assert_true(s.low >= low - 1e-13 && s.high <= high + 1e-13 && s.low - low <= s.error + 1e-12);
    }
    close_clean(ctx);
}

/* One negative direction in a thousand: that is what a fit that breaks down looks for. */
static mercer_status dent_apply(mercer_ctx *ctx, const void *self, int64_t t, const double *V, double *Y) {
    (void)ctx;
    const int64_t n = *(const int64_t *)self;
    for (int64_t i = 0; i < n * t; i++)
        Y[i] = V[i] * (i / t == 7 ? -1e-3 : (double)(i / t) / (double)n);
    return MERCER_OK;
}

static void test_lanczos_finds_a_small_negative_end(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    int64_t n = 1000;
    mc_matrix dent = {.n = n, .apply = dent_apply, .self = &n};
    mc_spectrum s;
    assert_ok(ctx, mc_lanczos_spectrum(ctx, &dent, 200, &s));
    assert_close(s.low, -1e-3, 1e-6);
    assert_true(s.steps <= 200 && s.error < 1e-4);
    close_clean(ctx);
}

static mercer_status decompose(mercer_ctx *ctx, void *arg) {
    (void)arg;
    int64_t n = 50;
    mc_matrix path = {.n = n, .apply = path_apply, .self = &n};
    mc_spectrum s;
    mercer_status status = mc_lanczos_spectrum(ctx, &path, 20, &s);
    double A[4] = {2, 1, 1, 2}, w[2], u[2];
    if (!status)
        status = mc_syevd(ctx, mc_column_major(A, 2, 2, 2), w);
    if (!status)
        status = mc_syevr_largest(ctx, mc_column_major(A, 2, 2, 2), w, mc_column_major(u, 2, 1, 2));
    return status;
}

static void test_survives_failing_memory(void **state) {
    (void)state;
    assert_survives_failing_memory(decompose, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pairs_satisfy_their_equation),
        cmocka_unit_test(test_ugly_matrices_have_pairs_too),
        cmocka_unit_test(test_coordinates_go_there_and_back),
        cmocka_unit_test(test_same_bits_on_any_number_of_threads),
        cmocka_unit_test(test_the_largest_have_the_same_bits_on_any_number_of_threads),
        cmocka_unit_test(test_too_many_rows_are_refused),
        cmocka_unit_test(test_lanczos_finds_both_ends),
        cmocka_unit_test(test_lanczos_finds_a_small_negative_end),
        cmocka_unit_test(test_survives_failing_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
