#include "support.h"
#include "base/rng.h"
#include <math.h>
#include <string.h>

static mercer_gram_facts facts_of(mercer_ctx *ctx, const double *K, int64_t n) {
    mercer_gram_facts f = {.size = sizeof f};
    assert_ok(ctx, mercer_gram_check(ctx, K, n, &f));
    return f;
}

static void test_the_identity_is_positive_with_full_rank(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    const double K[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    const mercer_gram_facts f = facts_of(ctx, K, 3);
    assert_true(f.positive);
    assert_int_equal(f.rank, 3);
    assert_close(f.eigenvalue_min, 1, 1e-15);
    assert_close(f.eigenvalue_max, 1, 1e-15);
    assert_close(f.cauchy_schwarz, -1, 1e-15);
    close_clean(ctx);
}

/* Eigenvalues 3 and -1. */
static void test_an_indefinite_matrix_is_told(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    const double K[4] = {1, 2, 2, 1};
    const mercer_gram_facts f = facts_of(ctx, K, 2);
    assert_false(f.positive);
    assert_int_equal(f.rank, 1);
    assert_close(f.eigenvalue_min, -1, 1e-14);
    assert_close(f.eigenvalue_max, 3, 1e-14);
    assert_close(f.cauchy_schwarz, 3, 1e-15);
    assert_int_equal(f.row, 0);
    assert_int_equal(f.column, 1);
    close_clean(ctx);
}

/* Eigenvalues 3 and -1, and 3 and 1, times powers of two at the ends of the range: the largest may have no double. */
static void test_the_size_of_a_matrix_does_not_matter(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    const int powers[] = {-1070, -1040, -600, 600, 1022};
    for (size_t k = 0; k < sizeof powers / sizeof *powers; k++)
        for (int positive = 0; positive < 2; positive++) {
            const double unit = ldexp(1, powers[k]), on = (1 + positive) * unit, off = (2 - positive) * unit;
            const double K[4] = {on, off, off, on};
            const mercer_gram_facts f = facts_of(ctx, K, 2);
            assert_int_equal(f.positive, positive);
            assert_int_equal(f.rank, 1 + positive);
            assert_true(fabs(f.eigenvalue_min / unit - (positive ? 1 : -1)) < 1e-14);
            assert_true(f.eigenvalue_max == INFINITY ? powers[k] == 1022 : fabs(f.eigenvalue_max / unit - 3) < 1e-14);
        }
    close_clean(ctx);
}

static void test_a_product_with_its_transpose_has_the_rank_of_the_factor(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    enum { n = 40, r = 7 };
    double P[n * r], K[n * n];
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 1);
    for (int i = 0; i < n * r; i++)
        P[i] = mc_rng_normal(&rng);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            K[i * n + j] = 0;
            for (int k = 0; k < r; k++)
                K[i * n + j] += P[i * r + k] * P[j * r + k];
        }
    const mercer_gram_facts f = facts_of(ctx, K, n);
    assert_true(f.positive);
    assert_int_equal(f.rank, r);
    assert_true(f.cauchy_schwarz <= 1e-15);
    close_clean(ctx);
}

static void test_asymmetry_is_the_largest_difference(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    const double K[4] = {1, 0.25, 0.75, 1};
    assert_close(facts_of(ctx, K, 2).asymmetry, 0.5, 1e-15);
    close_clean(ctx);
}

static void test_nothing_and_one_row_are_matrices_too(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    const double one = 2;
    assert_true(facts_of(ctx, &one, 0).positive);
    const mercer_gram_facts f = facts_of(ctx, &one, 1);
    assert_int_equal(f.rank, 1);
    assert_close(f.eigenvalue_max, 2, 0);
    assert_close(f.cauchy_schwarz, 0, 0);
    close_clean(ctx);
}

static void test_what_is_not_a_finite_matrix_is_refused(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    const double K[4] = {1, 0, NAN, 1};
    mercer_gram_facts f = {.size = sizeof f};
    assert_fails(ctx, mercer_gram_check(ctx, K, 2, &f), MERCER_DATA, "K(2, 1) is nan");
    assert_fails(ctx, mercer_gram_check(ctx, K, -1, &f), MERCER_INVALID, "got -1");
    close_clean(ctx);
}

static mercer_status check_once(mercer_ctx *ctx, void *arg) {
    mercer_gram_facts f = {.size = sizeof f};
    return mercer_gram_check(ctx, arg, 2, &f);
}

static void test_a_check_survives_failing_memory(void **state) {
    (void)state;
    double K[4] = {1, 0, 0, 1};
    assert_survives_failing_memory(check_once, K);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_identity_is_positive_with_full_rank),
        cmocka_unit_test(test_an_indefinite_matrix_is_told),
        cmocka_unit_test(test_the_size_of_a_matrix_does_not_matter),
        cmocka_unit_test(test_a_product_with_its_transpose_has_the_rank_of_the_factor),
        cmocka_unit_test(test_asymmetry_is_the_largest_difference),
        cmocka_unit_test(test_nothing_and_one_row_are_matrices_too),
        cmocka_unit_test(test_what_is_not_a_finite_matrix_is_refused),
        cmocka_unit_test(test_a_check_survives_failing_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
