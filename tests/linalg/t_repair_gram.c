/* Oracles: the eigenvalues of an arrow in closed form, the alternating projections of Higham (2002) written out by
   Jacobi's rotations, and mercer_gram_prove for every matrix that comes back. */
#include "base/rng.h"
#include "support.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 24 };

static mercer_gram_repaired repair(mercer_ctx *ctx, const double *K, int64_t n, bool keep, double *out) {
    mercer_gram_repaired r = {.size = sizeof r};
    mercer_gram_proof p = {.size = sizeof p};
    assert_ok(ctx, mercer_gram_repair(ctx, K, n, keep, out, &r));
    assert_ok(ctx, mercer_gram_prove(ctx, out, n, NULL, &p));
    assert_int_equal(p.verdict, MERCER_PROVED);
    assert_true(p.bound == r.bound);
    return r;
}

static double distance_of(const double *A, const double *B, int n) {
    double sum = 0;
    for (int i = 0; i < n * n; i++)
        sum += (A[i] - B[i]) * (A[i] - B[i]);
    return sqrt(sum);
}

static void fill_random(mc_rng *rng, double *K, bool symmetric) {
    for (int i = 0; i < N * N; i++)
        K[i] = 2 * mc_rng_uniform(rng) - 1;
    for (int i = 0; symmetric && i < N; i++)
        for (int j = 0; j < i; j++)
            K[i * N + j] = K[j * N + i];
}

/* One plane rotation that makes A_pq zero, on A and on the rows of V. */
static void rotate(double *A, double *V, int n, int p, int q) {
    const double angle = 0.5 * atan2(2 * A[p * n + q], A[q * n + q] - A[p * n + p]), c = cos(angle), s = sin(angle);
    for (int k = 0; k < n; k++) {
        const double a = A[k * n + p], b = A[k * n + q];
        A[k * n + p] = c * a - s * b;
        A[k * n + q] = s * a + c * b;
    }
    for (int k = 0; k < n; k++) {
        const double a = A[p * n + k], b = A[q * n + k], u = V[p * n + k], v = V[q * n + k];
        A[p * n + k] = c * a - s * b;
        A[q * n + k] = s * a + c * b;
        V[p * n + k] = c * u - s * v;
        V[q * n + k] = s * u + c * v;
    }
}

/* X <- its part with eigenvalues above 0. */
static void project(double *X, int n) {
    double A[N * N], V[N * N] = {0};
    memcpy(A, X, sizeof A);
    for (int i = 0; i < n; i++)
        V[i * n + i] = 1;
    for (int sweep = 0; sweep < 12; sweep++)
        for (int p = 0; p < n; p++)
            for (int q = p + 1; q < n; q++)
                rotate(A, V, n, p, q);
    memset(X, 0, sizeof A);
    for (int k = 0; k < n; k++)
        for (int i = 0; A[k * n + k] > 0 && i < n; i++)
            for (int j = 0; j < n; j++)
                X[i * n + j] += A[k * n + k] * V[k * n + i] * V[k * n + j];
}

static void test_negative_eigenvalues_go_and_the_distance_is_theirs(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 1);
    double K[N * N], out[N * N], wanted[N * N];
    for (int trial = 0; trial < 6; trial++) {
        fill_random(&rng, K, trial % 2 == 0);
        for (int i = 0; i < N * N; i++)
            wanted[i] = (K[i] + K[i % N * N + i / N]) / 2;
        project(wanted, N);
        const mercer_gram_repaired r = repair(ctx, K, N, false, out);
        assert_true(distance_of(out, wanted, N) < 1e-11);
        assert_close(r.distance, distance_of(K, wanted, N), 1e-11);
        assert_true(r.least <= r.distance && r.least > r.distance * (1 - 1e-10));
        assert_true(r.negative > 0 && r.eigenvalue_min < 0);
    }
    close_clean(ctx);
}

/* 1 on the diagonal and a beside it in the first row: eigenvalues 1 +- |a| sqrt(n - 1). */
static void test_an_arrow_is_moved_by_its_one_negative_eigenvalue(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    const double scales[] = {1, 0x1p900, 0x1p-900};
    for (int t = 0; t < 3; t++) {
        double K[N * N] = {0}, out[N * N];
        for (int i = 0; i < N; i++) {
            K[i * N + i] = scales[t];
            K[i] = K[i * N] = (i ? 0.5 : 1) * scales[t];
        }
        const mercer_gram_repaired r = repair(ctx, K, N, false, out);
        const double below = 0.5 * sqrt(N - 1) - 1;
        assert_close(r.distance / scales[t], below, 1e-11);
        assert_close(r.eigenvalue_min / scales[t], -below, 1e-13);
        assert_int_equal(r.negative, 1);
        assert_int_equal(r.iterations, 0);
    }
    close_clean(ctx);
}

/* Dykstra's correction of the projections: 4000 of them come near enough. */
static void alternate(const double *K, double *X) {
    double D[N * N] = {0}, R[N * N];
    memcpy(X, K, sizeof D);
    for (int k = 0; k < 4000; k++) {
        for (int i = 0; i < N * N; i++)
            R[i] = X[i] - D[i];
        memcpy(X, R, sizeof R);
        project(X, 6);
        for (int i = 0; i < 36; i++)
            D[i] = X[i] - R[i];
        for (int i = 0; i < 6; i++)
            X[i * 6 + i] = K[i * 6 + i];
    }
}

static void test_a_kept_diagonal_is_kept_to_the_bit_and_nothing_is_nearer(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 2);
    double K[N * N], out[N * N], X[N * N];
    for (int trial = 0; trial < 3; trial++) {
        fill_random(&rng, K, false);
        for (int i = 0; i < 6; i++)
            for (int j = 0; j <= i; j++)
                K[i * 6 + j] = K[j * 6 + i] = i == j ? 1 + trial * mc_rng_uniform(&rng) : 2 * mc_rng_uniform(&rng) - 1;
        alternate(K, X);
        const mercer_gram_repaired r = repair(ctx, K, 6, true, out);
        assert_true(distance_of(out, X, 6) < 1e-5);
        assert_true(r.least <= r.distance && r.least >= r.distance * (1 - 1e-9));
        for (int i = 0; i < 6; i++)
            assert_true(out[i * 6 + i] == K[i * 6 + i]);
    }
    close_clean(ctx);
}

static void test_what_is_proved_stays_and_what_cannot_be_kept_is_named(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    mercer_gram_repaired r = {.size = sizeof r};
    const double good[] = {2, 1, 1, 2}, minus[] = {1, 0, 0, -2}, hole[] = {1, 5, 5, 0}, nought = 0, below = -3,
                 nan[] = {NAN};
    double out[4];
    assert_true(repair(ctx, good, 2, false, out).distance == 0 && memcmp(good, out, sizeof out) == 0);
    assert_true(repair(ctx, &nought, 1, false, out).distance == 0 && out[0] == 0);
    assert_close(repair(ctx, &below, 1, false, out).distance, 3, 1e-12);
    assert_fails(ctx, mercer_gram_repair(ctx, minus, 2, true, out, &r), MERCER_DATA, "K(2, 2) is -2");
    assert_fails(ctx, mercer_gram_repair(ctx, nan, 1, true, out, &r), MERCER_DATA, "K(1, 1) is nan");
    assert_fails(ctx, mercer_gram_repair(ctx, good, -1, true, out, &r), MERCER_INVALID, "got -1");
    assert_close(repair(ctx, hole, 2, true, out).least, sqrt(50), 1e-12);
    assert_true(out[0] == 1 && out[1] == 0 && out[2] == 0 && out[3] == 0);
    double held[4];
    const double graded[] = {1e200, 1e-1, 1e-1, 1e-200}, small[] = {1e200, 0, 0, 1e-200};
    assert_true(repair(ctx, small, 2, true, held).distance == 0 && memcmp(small, held, sizeof held) == 0);
    assert_true(repair(ctx, graded, 2, true, held).distance == 0 && memcmp(graded, held, sizeof held) == 0);
    assert_ok(ctx, mercer_gram_repair(ctx, good, 0, true, out, &r));
    assert_true(r.moved[0] == -1 && r.distance == 0);
    close_clean(ctx);
}

/* 1e200 beside what is moved: the distance is a number, not the root of a square that is none. */
static void test_a_distance_is_told_however_small(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    const double K[] = {1e200, 0, 0, 0, 1, 2, 0, 2, 1};
    double out[9];
    const mercer_gram_repaired r = repair(ctx, K, 3, true, out);
    assert_true(r.largest > 0.9 && r.distance >= r.largest && r.distance < 4);
    assert_close(hypot(K[5] - out[5], K[7] - out[7]), r.distance, 1e-12);
    close_clean(ctx);
}

static void test_threads_do_not_change_a_bit(void **state) {
    (void)state;
    double K[N * N], out[2][N * N];
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 3);
    fill_random(&rng, K, true);
    for (int i = 0; i < N; i++)
        K[i * N + i] = 1;
    for (int t = 0; t < 2; t++) {
        mercer_ctx *ctx = open_ctx(1 + 2 * t);
        repair(ctx, K, N, true, out[t]);
        close_clean(ctx);
    }
    assert_memory_equal(out[0], out[1], sizeof out[0]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_negative_eigenvalues_go_and_the_distance_is_theirs),
        cmocka_unit_test(test_an_arrow_is_moved_by_its_one_negative_eigenvalue),
        cmocka_unit_test(test_a_kept_diagonal_is_kept_to_the_bit_and_nothing_is_nearer),
        cmocka_unit_test(test_what_is_proved_stays_and_what_cannot_be_kept_is_named),
        cmocka_unit_test(test_a_distance_is_told_however_small),
        cmocka_unit_test(test_threads_do_not_change_a_bit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
