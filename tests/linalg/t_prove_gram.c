/* Oracles: a spectrum in closed form, and products P'P of whole numbers, exact and singular, shifted either way. */
#include "base/rng.h"
#include "support.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 70 };

static mercer_gram_proof proof_of(mercer_ctx *ctx, const double *K, int64_t n, double *weights) {
    mercer_gram_proof p = {.size = sizeof p};
    assert_ok(ctx, mercer_gram_prove(ctx, K, n, weights, &p));
    return p;
}

/* 2 on the diagonal, -1 beside it, has the least eigenvalue 2 - 2 cos(pi/(n+1)); this one has it lowered by s. */
static double fill_path(int n, double s, double *K) {
    const double sine = sin(acos(-1) / (2 * (n + 1)));
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            K[i * n + j] = i == j ? 2 - s : abs(i - j) == 1 ? -1 : 0;
    return 4 * sine * sine - s;
}

static void test_a_known_spectrum_is_decided_down_to_rounding(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    double K[N * N], v[N];
    const double least = fill_path(N, 0, K);
    const mercer_gram_proof first = proof_of(ctx, K, N, v);
    assert_int_equal(first.verdict, MERCER_PROVED);
    assert_true(first.bound > 0 && first.bound <= least * (1 + 1e-12));
    assert_true(first.rounding < 1e-11 && v[0] == 0 && v[N - 1] == 0);
    const double apart[] = {4 * first.rounding, -4 * first.rounding, 0};
    for (int k = 0; k < 3; k++) {
        const double now = fill_path(N, least - apart[k], K);
        const mercer_gram_proof p = proof_of(ctx, K, N, v);
        assert_int_equal(p.verdict, k);
        assert_true(k != 0 || (p.bound >= 0 && p.bound <= now));
        assert_true(k != 1 || (p.bound < 0 && p.bound >= now - 1e-14));
    }
    close_clean(ctx);
}

/* An eigenvalue of -3.4e308: a double does not reach so low. */
static void test_a_refutation_has_a_finite_bound(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    const double off = -1.7e308, K[4] = {off, off, off, off};
    double v[2];
    const mercer_gram_proof p = proof_of(ctx, K, 2, v);
    assert_int_equal(p.verdict, MERCER_REFUTED);
    assert_true(p.bound < -1e308 && isfinite(p.bound));
    close_clean(ctx);
}

static long double form_of(const double *K, const double *v) {
    long double sum = 0;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            sum += (long double)v[i] * K[i * N + j] * v[j];
    return sum;
}

/* scale (P'P + shift I), with P of whole numbers, rank rows. */
static void fill_product(mc_rng *rng, int rank, double shift, int power, double *K) {
    double P[N * N];
    for (int i = 0; i < rank * N; i++)
        P[i] = floor(9 * mc_rng_uniform(rng)) - 4;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            double sum = i == j ? shift : 0;
            for (int k = 0; k < rank; k++)
                sum += P[k * N + i] * P[k * N + j];
            K[i * N + j] = ldexp(sum, power);
        }
}

static void test_singular_products_are_left_open_and_shifted_ones_decided(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 1);
    const double shift[] = {0x1p-25, -0x1p-25, 0};
    const int power[] = {0, 900, -900};
    double K[N * N], v[N];
    for (int trial = 0; trial < 45; trial++) {
        const int wanted = trial % 3, rank = 1 + (int)(mc_rng_uniform(&rng) * (N - 1)), p = power[trial / 3 % 3];
        fill_product(&rng, rank, shift[wanted], p, K);
        const mercer_gram_proof proof = proof_of(ctx, K, N, v);
        assert_int_equal(proof.verdict, wanted);
        assert_true(wanted != MERCER_REFUTED || form_of(K, v) < 0);
        assert_true(wanted != MERCER_PROVED || proof.bound <= ldexp(shift[0], p));
    }
    close_clean(ctx);
}

static void test_halves_that_differ_refute(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    const double apart[4] = {1, 0.25, 0.5, 1}, near[4] = {1, 0.25, 0.25 + 0x1p-52, 1};
    double v[2] = {7, 7};
    const mercer_gram_proof p = proof_of(ctx, apart, 2, v);
    assert_int_equal(p.verdict, MERCER_REFUTED);
    assert_close(p.asymmetry, 0.25, 0);
    assert_int_equal(p.asymmetric[0], 0);
    assert_int_equal(p.asymmetric[1], 1);
    assert_true(v[0] == 0 && v[1] == 0);
    assert_int_equal(proof_of(ctx, near, 2, NULL).verdict, MERCER_PROVED);
    close_clean(ctx);
}

/* A text without parts, a row of zeros: the others decide. */
static void test_rows_of_zeros_are_left_out(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    const double holes[] = {2, 0, 1, 0, 0, 0, 1, 0, 2}, worse[] = {2, 0, 3, 0, 0, 0, 3, 0, 2},
                 half[] = {2, 0x1p-1074, 0x1p-1074, 0};
    double v[3];
    const mercer_gram_proof p = proof_of(ctx, holes, 3, v), q = proof_of(ctx, worse, 3, v);
    assert_true(p.verdict == MERCER_PROVED && p.bound == 0);
    assert_true(q.verdict == MERCER_REFUTED && q.bound < -0.99 && q.bound > -1 - 1e-12);
    assert_true(2 * v[0] * v[0] + 6 * v[0] * v[2] + 2 * v[2] * v[2] < 0);
    assert_true(proof_of(ctx, half, 2, NULL).verdict != MERCER_PROVED);
    close_clean(ctx);
}

static void test_small_and_odd_matrices(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    const double one = 3, minus = -3, nought = 0, least = 0x1p-1074, holes[4] = {1, 0, NAN, 1};
    mercer_gram_proof p = {.size = sizeof p};
    assert_int_equal(proof_of(ctx, &one, 0, NULL).verdict, MERCER_PROVED);
    assert_int_equal(proof_of(ctx, &one, 1, NULL).verdict, MERCER_PROVED);
    assert_int_equal(proof_of(ctx, &minus, 1, NULL).verdict, MERCER_REFUTED);
    assert_int_equal(proof_of(ctx, &nought, 1, NULL).verdict, MERCER_PROVED);
    assert_int_equal(proof_of(ctx, &least, 1, NULL).verdict, MERCER_PROVED);
    assert_fails(ctx, mercer_gram_prove(ctx, holes, 2, NULL, &p), MERCER_DATA, "K(2, 1) is nan");
    assert_fails(ctx, mercer_gram_prove(ctx, holes, -1, NULL, &p), MERCER_INVALID, "got -1");
    close_clean(ctx);
}

/* diag(1e200, 1, 1e-200) about [1 a 0; a 1 b; 0 b 1], whose determinant is 1 - a^2 - b^2. */
static void fill_graded(double a, double b, double *K) {
    const double graded[] = {1e200, a * 1e100, 0, a * 1e100, 1, b * 1e-100, 0, b * 1e-100, 1e-200};
    memcpy(K, graded, sizeof graded);
}

/* What is v'Kv of rows that each lie in their own power of ten. */
static void test_a_diagonal_of_many_powers_of_ten_is_decided(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    double K[9], v[3];
    fill_graded(0.5, 0.5, K);
    const mercer_gram_proof good = proof_of(ctx, K, 3, NULL);
    assert_true(good.verdict == MERCER_PROVED && good.bound > 0 && good.bound <= 1e-200);
    fill_graded(0.5, 0.9, K);
    const mercer_gram_proof bad = proof_of(ctx, K, 3, v);
    assert_true(bad.verdict == MERCER_REFUTED && bad.bound < 0 && fabs(v[2]) > 0.4 && fabs(v[2]) <= 1);
    const long double x = v[0] * 1e100L, y = v[1], z = v[2] * 1e-100L;
    assert_true(x * x + y * y + z * z + x * y + 1.8L * y * z < 0);
    fill_graded(0, 0, K);
    K[8] = -1e-200;
    const mercer_gram_proof minus = proof_of(ctx, K, 3, v);
    assert_true(minus.verdict == MERCER_REFUTED && minus.bound == -1e-200);
    assert_true(v[0] == 0 && v[1] == 0 && v[2] == 1);
    close_clean(ctx);
}

static void test_threads_do_not_change_a_bit(void **state) {
    (void)state;
    double K[N * N], v[2][N];
    mercer_gram_proof p[2];
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 2);
    fill_product(&rng, 20, -0x1p-20, 0, K);
    for (int t = 0; t < 2; t++) {
        mercer_ctx *ctx = open_ctx(1 + 2 * t);
        p[t] = proof_of(ctx, K, N, v[t]);
        close_clean(ctx);
    }
    assert_memory_equal(v[0], v[1], sizeof v[0]);
    assert_true(p[0].verdict == MERCER_REFUTED && p[0].bound == p[1].bound && p[0].rounding == p[1].rounding);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_known_spectrum_is_decided_down_to_rounding),
        cmocka_unit_test(test_a_refutation_has_a_finite_bound),
        cmocka_unit_test(test_singular_products_are_left_open_and_shifted_ones_decided),
        cmocka_unit_test(test_halves_that_differ_refute),
        cmocka_unit_test(test_rows_of_zeros_are_left_out),
        cmocka_unit_test(test_small_and_odd_matrices),
        cmocka_unit_test(test_a_diagonal_of_many_powers_of_ten_is_decided),
        cmocka_unit_test(test_threads_do_not_change_a_bit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
