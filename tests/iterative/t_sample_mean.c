/* The error of a mean of few numbers: twice it holds 95.45% of samples, however few they are. */
#include "base/rng.h"
#include "iterative/sample_mean.h"
#include "support.h"
#include <math.h>

enum { GROUPS = 20000, MOST = 40 };

/* Quantiles of Student's law for a share of 95% within, from the tables that every textbook prints. */
static void test_probabilities_are_those_of_the_tables(void **state) {
    (void)state;
    static const struct {
        int64_t degrees;
        double t;
    } rows[] = {{1, 12.706},  {2, 4.3027},  {3, 3.1824},  {4, 2.7764},  {5, 2.5706},
                {11, 2.2010}, {12, 2.1788}, {30, 2.0423}, {120, 1.9799}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_close(mc_student_probability(rows[i].degrees, rows[i].t), 0.95, 1e-5);
    assert_close(mc_student_probability(1, 1), 0.5, 1e-15); /* Cauchy's law */
    assert_close(mc_student_probability(2, 1), 1 / sqrt(3), 1e-15);
    assert_true(mc_student_probability(7, 0) == 0);
}

static int64_t count_held(int64_t count, double width) {
    int64_t held = 0;
    for (int64_t group = 0; group < GROUPS; group++) {
        mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, (uint64_t)(group * MOST + count));
        double x[MOST];
        for (int64_t i = 0; i < count; i++)
            x[i] = 3 + 5 * mc_rng_normal(&rng);
        const mc_sample_mean found = mc_find_sample_mean(count, x);
        held += fabs(found.mean - 3) <= width * found.error;
    }
    return held;
}

/* The share among 20,000 groups within four and a half of its own deviations. */
static void test_two_errors_hold_as_often_as_two_deviations(void **state) {
    (void)state;
    static const int64_t counts[] = {2, 3, 5, 12, 40};
    const double share = erf(sqrt(2)), bar = 4.5 * sqrt(share * (1 - share) / GROUPS);
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        const double found = (double)count_held(counts[i], 2) / GROUPS;
        if (fabs(found - share) > bar)
            fail_msg("two errors of %lld numbers hold %g of the groups, not %g +- %g, seed %llu", (long long)counts[i],
                     found, share, bar, (unsigned long long)test_seed());
    }
}

static void test_of_many_numbers_it_is_the_standard_error(void **state) {
    (void)state;
    enum { MANY = 10000 };
    static double x[MANY];
    for (int i = 0; i < MANY; i++)
        x[i] = i % 2 ? 1 : -1;
    const mc_sample_mean found = mc_find_sample_mean(MANY, x);
    assert_true(fabs(found.mean) < 1e-12);
    assert_close(found.error, 0.01, 1e-3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_probabilities_are_those_of_the_tables),
        cmocka_unit_test(test_two_errors_hold_as_often_as_two_deviations),
        cmocka_unit_test(test_of_many_numbers_it_is_the_standard_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
