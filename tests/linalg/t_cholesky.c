/* Oracles: LAPACK's own packed routines (dpftrf, dpftrs, dpftri) and long double residuals. */
#include "base/ctx.h"
#include "base/memory.h"
#include "base/rng.h"
#include "linalg/cholesky.h"
#include "linalg/dense.h"
#include "support.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

void dpftrf_(const char *transr, const char *uplo, const int *n, double *a, int *info, size_t, size_t);
void dpftrs_(const char *transr, const char *uplo, const int *n, const int *nrhs, const double *a, double *b,
             const int *ldb, int *info, size_t, size_t);
void dpftri_(const char *transr, const char *uplo, const int *n, double *a, int *info, size_t, size_t);
void dtrttf_(const char *transr, const char *uplo, const int *n, const double *a, const int *lda, double *arf,
             int *info, size_t, size_t);

/* Orders around every edge: of the packed format (odd, even), of a leaf and of a tile. */
static const int64_t orders[] = {1, 2, 3, 4, 5, 17, 64, 255, 256, 257, 511, 512, 513, 514, 770, 1023, 1030};
enum { ORDERS = sizeof orders / sizeof orders[0] };

/* A Gram matrix of a Gaussian with something on the diagonal: smooth, badly scaled, like those that come in life. */
static double *smooth(mercer_ctx *ctx, int64_t n, double shift) {
    double *A = mc_alloc(ctx, mc_packed_count(n), sizeof *A);
    double x[2048];
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, (uint64_t)n);
    for (int64_t i = 0; i < n; i++)
        x[i] = 6 * mc_rng_normal(&rng);
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = j; i < n; i++)
            A[mc_packed_place(n, i, j)] = exp(-(x[i] - x[j]) * (x[i] - x[j]) / 2) + (i == j ? shift : 0);
    return A;
}

static double *copy(mercer_ctx *ctx, const double *from, int64_t count) {
    double *to = mc_alloc(ctx, count, sizeof *to);
    memcpy(to, from, (size_t)count * sizeof *to);
    return to;
}

static double *columns_of(mercer_ctx *ctx, int64_t n, int64_t t) {
    double *X = mc_alloc(ctx, n * t, sizeof *X);
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 99);
    for (int64_t i = 0; i < n * t; i++)
        X[i] = mc_rng_normal(&rng);
    return X;
}

static void test_packed_places_are_lapacks(void **state) {
    (void)state;
    for (int n = 1; n < 12; n++) {
        double full[144], packed[78];
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                full[i + j * n] = 100 * i + j;
        int info = 1;
        dtrttf_("N", "L", &n, full, &n, packed, &info, 1, 1);
        assert_int_equal(info, 0);
        assert_int_equal(mc_packed_count(n), n * (n + 1) / 2);
        for (int j = 0; j < n; j++)
            for (int i = j; i < n; i++)
                assert_true(packed[mc_packed_place(n, i, j)] == 100 * i + j);
    }
}

static void test_factor_solve_and_inverse_agree_with_lapack(void **state) {
    (void)state;
    enum { T = 3 };
    mercer_ctx *ctx = open_ctx(2);
    for (int k = 0; k < ORDERS; k++) {
        const int64_t n = orders[k], count = mc_packed_count(n);
        const int order = (int)n, t = T;
        double *A = smooth(ctx, n, 0.1), *L = copy(ctx, A, count), *X = columns_of(ctx, n, T);
        double *Xt = mc_alloc(ctx, n * T, 8), *diagonal = mc_alloc(ctx, n, 8);
        for (int64_t i = 0; i < n; i++)
            for (int c = 0; c < T; c++)
                Xt[i + c * n] = X[i * T + c];
        int64_t bad = -1;
        int info = 1;
        assert_ok(ctx, mc_potrf(ctx, mc_packed(n, L), &bad));
        assert_int_equal(bad, 0);
        dpftrf_("N", "L", &order, A, &info, 1, 1);
        assert_int_equal(info, 0);
        for (int64_t i = 0; i < count; i++)
            assert_close(L[i], A[i], 1e-12);
        assert_ok(ctx, mc_potrs(ctx, mc_packed(n, L), mc_row_major(X, n, T, T)));
        dpftrs_("N", "L", &order, &t, A, Xt, &order, &info, 1, 1);
        for (int64_t i = 0; i < n; i++)
            for (int c = 0; c < T; c++)
                assert_close(X[i * T + c], Xt[i + c * n], 1e-11);
        assert_ok(ctx, mc_cholesky_inverse_diagonal(ctx, mc_packed(n, L), diagonal));
        dpftri_("N", "L", &order, A, &info, 1, 1);
        for (int64_t i = 0; i < n; i++)
            assert_close(diagonal[i], A[mc_packed_place(n, i, i)], 1e-11);
        double *all[] = {A, L, X, Xt, diagonal};
        for (int b = 0; b < 5; b++)
            mc_free(all[b]);
    }
    close_clean(ctx);
}

static void test_the_whole_inverse_is_lapacks(void **state) {
    (void)state;
    static const int64_t sizes[] = {1, 2, 3, 7, 256, 257, 700, 1025, 1300};
    mercer_ctx *ctx = open_ctx(2);
    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
        const int64_t n = sizes[k];
        double *A = smooth(ctx, n, 1), *L = smooth(ctx, n, 1);
        int64_t bad;
        const int order = (int)n;
        int info = 0;
        dpftrf_("N", "L", &order, A, &info, 1, 1);
        dpftri_("N", "L", &order, A, &info, 1, 1);
        assert_ok(ctx, mc_potrf(ctx, mc_packed(n, L), &bad));
        assert_ok(ctx, mc_potri(ctx, mc_packed(n, L)));
        for (int64_t i = 0; i < mc_packed_count(n); i++)
            assert_close(L[i], A[i], 1e-11);
        mc_free(A);
        mc_free(L);
    }
    close_clean(ctx);
}

static void test_many_columns_are_each_solved(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    const int64_t n = 300, t = 200;
    double *L = smooth(ctx, n, 1), *X = columns_of(ctx, n, t), *one = mc_alloc(ctx, n, 8);
    for (int64_t i = 0; i < n; i++)
        one[i] = X[i * t + 150];
    int64_t bad;
    assert_ok(ctx, mc_potrf(ctx, mc_packed(n, L), &bad));
    assert_ok(ctx, mc_potrs(ctx, mc_packed(n, L), mc_row_major(X, n, t, t)));
    assert_ok(ctx, mc_potrs(ctx, mc_packed(n, L), mc_row_major(one, n, 1, 1)));
    for (int64_t i = 0; i < n; i++)
        assert_close(one[i], X[i * t + 150], 1e-13);
    mc_free(L);
    mc_free(X);
    mc_free(one);
    close_clean(ctx);
}

/* The first minor that is not positive: everything before it is the identity, so its order is known. */
static void test_the_bad_minor_is_named(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    for (int k = 0; k < ORDERS; k++) {
        const int64_t n = orders[k];
        for (int64_t place = 0; place < n; place += n / 7 + 1) {
            double *A = mc_alloc(ctx, mc_packed_count(n), sizeof *A);
            for (int64_t i = 0; i < n; i++)
                A[mc_packed_place(n, i, i)] = i == place ? -1 : 1;
            int64_t bad = 0;
            assert_ok(ctx, mc_potrf(ctx, mc_packed(n, A), &bad));
            assert_int_equal(bad, place + 1);
            mc_free(A);
        }
    }
    close_clean(ctx);
}

static void test_scaling_is_done_in_place(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    for (int k = 0; k < 10; k++) {
        const int64_t n = orders[k];
        double *A = smooth(ctx, n, 0), *B = copy(ctx, A, mc_packed_count(n)), s[2048];
        for (int64_t i = 0; i < n; i++)
            s[i] = 0.5 + (double)i;
        assert_ok(ctx, mc_packed_scale(ctx, n, A, s, 3));
        for (int64_t j = 0; j < n; j++)
            for (int64_t i = j; i < n; i++)
                assert_close(A[mc_packed_place(n, i, j)], s[i] * B[mc_packed_place(n, i, j)] * s[j] + (i == j ? 3 : 0),
                             1e-15);
        mc_free(A);
        mc_free(B);
    }
    close_clean(ctx);
}

/* Everything a factorisation gives, as bytes: the factor, its inverse, the inverse of the matrix, solutions, the
   diagonal. */
static double *bits_with(int threads, int64_t n, int64_t *count) {
    mercer_ctx *ctx = open_ctx(threads);
    const int64_t packed = mc_packed_count(n);
    *count = packed * 3 + n * 3;
    double *all = calloc((size_t)*count, sizeof *all), *L = smooth(ctx, n, 1e-3), *X = columns_of(ctx, n, 2),
           *whole = all + 2 * packed;
    int64_t bad;
    assert_ok(ctx, mc_potrf(ctx, mc_packed(n, L), &bad));
    memcpy(all, L, (size_t)packed * 8);
    memcpy(whole, L, (size_t)packed * 8);
    assert_ok(ctx, mc_potri(ctx, mc_packed(n, whole)));
    assert_ok(ctx, mc_potrs(ctx, mc_packed(n, L), mc_row_major(X, n, 2, 2)));
    memcpy(all + 3 * packed, X, (size_t)n * 16);
    assert_ok(ctx, mc_cholesky_inverse_diagonal(ctx, mc_packed(n, L), all + 3 * packed + 2 * n));
    memcpy(all + packed, L, (size_t)packed * 8);
    mc_free(L);
    mc_free(X);
    close_clean(ctx);
    return all;
}

static void test_same_bits_on_any_number_of_threads(void **state) {
    (void)state;
    int64_t count;
    double *one = bits_with(1, 1030, &count);
    static const int threads[] = {2, 3, 7, 16};
    for (size_t k = 0; k < sizeof threads / sizeof *threads; k++) {
        double *many = bits_with(threads[k], 1030, &count);
        assert_memory_equal(one, many, (size_t)count * 8);
        free(many);
    }
    free(one);
}

static int never(void *user, const mercer_progress *p) {
    assert_true(p->done >= *(double *)user && p->done <= 1);
    *(double *)user = p->done;
    return 0;
}

static void test_progress_rises_and_the_clock_stops_it(void **state) {
    (void)state;
    double last = 0;
    mercer_options options = mercer_options_defaults();
    options.progress = never;
    options.progress_user = &last;
    options.threads = 1;
    mercer_ctx *ctx = NULL;
    assert_int_equal(mercer_open(&options, &ctx), MERCER_OK);
    const int64_t n = 2000;
    double *A = smooth(ctx, n, 1), *B = copy(ctx, A, mc_packed_count(n));
    int64_t bad;
    mc_begin_call(ctx);
    ctx->next_progress = 0;
    assert_ok(ctx, mc_potrf(ctx, mc_packed(n, A), &bad));
    assert_true(last > 0);
    mc_begin_call(ctx);
    ctx->options.time_limit = 1e-3;
    assert_int_equal(mc_potrf(ctx, mc_packed(n, B), &bad), MERCER_TIME);
    mc_free(A);
    mc_free(B);
    close_clean(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_packed_places_are_lapacks),
        cmocka_unit_test(test_factor_solve_and_inverse_agree_with_lapack),
        cmocka_unit_test(test_the_whole_inverse_is_lapacks),
        cmocka_unit_test(test_many_columns_are_each_solved),
        cmocka_unit_test(test_the_bad_minor_is_named),
        cmocka_unit_test(test_scaling_is_done_in_place),
        cmocka_unit_test(test_same_bits_on_any_number_of_threads),
        cmocka_unit_test(test_progress_rises_and_the_clock_stops_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
