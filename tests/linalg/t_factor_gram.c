/* Oracle: products P'P of whole numbers, exact, whose rank is known; K - P'P is formed again in long double. */
#include "base/rng.h"
#include "support.h"
#include <math.h>
#include <string.h>

enum { N = 40 };

static void fill_product(mc_rng *rng, int rank, int power, double *K) {
    double P[N * N];
    for (int i = 0; i < rank * N; i++)
        P[i] = floor(9 * mc_rng_uniform(rng)) - 4;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            double sum = 0;
            for (int k = 0; k < rank; k++)
                sum += P[k * N + i] * P[k * N + j];
            K[i * N + j] = ldexp(sum, power);
        }
}

/* |K - P'P|_F by 2^-power. */
static double left_of(const double *K, const double *P, int power) {
    long double sum = 0;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            long double entry = ldexpl(K[i * N + j], -power);
            for (int k = 0; k < N; k++)
                entry -= ldexpl(P[k * N + i], -power / 2) * ldexpl(P[k * N + j], -power / 2);
            sum += entry * entry;
        }
    return (double)sqrtl(sum);
}

static void test_products_have_their_rank_and_the_residual_is_bounded(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 1);
    const int powers[] = {0, 900, -900, 6};
    double K[N * N], P[N * N];
    for (int trial = 0; trial < 24; trial++) {
        const int rank = (int)(mc_rng_uniform(&rng) * (N + 1)), power = powers[trial % 4];
        mercer_gram_factored f = {.size = sizeof f};
        fill_product(&rng, rank, power, K);
        assert_ok(ctx, mercer_gram_factor(ctx, K, N, 0, P, &f));
        assert_int_equal(f.rank, rank);
        const double left = left_of(K, P, power), bound = ldexp(f.residual, -power);
        assert_true(left <= bound && bound < 1e-8);
        for (int64_t i = f.rank * N; i < N * N; i++)
            assert_true(P[i] == 0);
    }
    close_clean(ctx);
}

/* P'P of this is a rounding of subnormal numbers away. */
static void test_the_residual_of_subnormal_numbers_is_not_0(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    const double K[4] = {1e-310, 0, 0, 1e-310};
    double P[4];
    mercer_gram_factored f = {.size = sizeof f};
    assert_ok(ctx, mercer_gram_factor(ctx, K, 2, 0, P, &f));
    assert_int_equal(f.rank, 2);
    assert_true(f.residual > 0);
    close_clean(ctx);
}

static void test_a_tolerance_leaves_out_what_is_below_it(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    double K[N * N] = {0}, P[N * N];
    mercer_gram_factored f = {.size = sizeof f};
    for (int i = 0; i < N; i++)
        K[i * N + i] = ldexp(1, -i);
    assert_ok(ctx, mercer_gram_factor(ctx, K, N, 0x1p-10, P, &f));
    assert_int_equal(f.rank, 10); /* 2^0 ... 2^-9; the next is not above 2^-10 */
    assert_close(f.residual, 0x1p-10 * sqrt(4.0 / 3), 1e-6);
    assert_true(f.tolerance == 0x1p-10);
    close_clean(ctx);
}

static void test_what_has_no_factor_is_refused(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    mercer_gram_factored f = {.size = sizeof f};
    const double indefinite[] = {1, 2, 2, 1}, minus = -1, skew[] = {1, 0.5, 0.25, 1}, holes[] = {1, NAN, NAN, 1},
                 nought[4] = {0};
    double P[4] = {7, 7, 7, 7};
    assert_fails(ctx, mercer_gram_factor(ctx, indefinite, 2, 0, P, &f), MERCER_NOT_A_KERNEL, "with rank 1");
    assert_fails(ctx, mercer_gram_factor(ctx, &minus, 1, 0, P, &f), MERCER_NOT_A_KERNEL, "|K - P'P| is 1");
    assert_fails(ctx, mercer_gram_factor(ctx, skew, 2, 0, P, &f), MERCER_DATA, "K(1, 2) is 0.5 but K(2, 1) is 0.25");
    assert_fails(ctx, mercer_gram_factor(ctx, holes, 2, 0, P, &f), MERCER_DATA, "K(1, 2) is nan");
    assert_fails(ctx, mercer_gram_factor(ctx, nought, 2, 1, P, &f), MERCER_INVALID, "tolerance must be in [0, 1)");
    assert_fails(ctx, mercer_gram_factor(ctx, nought, 2, NAN, P, &f), MERCER_INVALID, "tolerance");
    assert_fails(ctx, mercer_gram_factor(ctx, nought, -1, 0, P, &f), MERCER_INVALID, "got -1");
    assert_ok(ctx, mercer_gram_factor(ctx, nought, 2, 0, P, &f));
    assert_true(f.rank == 0 && f.residual == 0 && P[0] == 0 && P[3] == 0);
    assert_ok(ctx, mercer_gram_factor(ctx, nought, 0, 0, P, &f));
    close_clean(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_products_have_their_rank_and_the_residual_is_bounded),
        cmocka_unit_test(test_the_residual_of_subnormal_numbers_is_not_0),
        cmocka_unit_test(test_a_tolerance_leaves_out_what_is_below_it),
        cmocka_unit_test(test_what_has_no_factor_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
