/* The short search behind a fit for which nothing is given finds a kernel about as good as there is. */
#include "tune_of_test.h"

static double score_by_default(mercer_ctx *ctx, const mercer_data *data) {
    mercer_ridge ridge = mercer_ridge_defaults();
    mercer_search *search = NULL;
    ridge.intercept = true;
    assert_ok(ctx, mercer_tune_default(ctx, "ridge", &ridge, data, &search));
    const double score = mercer_search_candidate(search, mercer_search_report(search)->best).score;
    mercer_search_free(search);
    return score;
}

/* The evidence of a smooth target goes on to long scales and a factor some 1e9 times the noise, which no lambda that is
   compared goes with. The error is then twice the noise, on few rows as on many. */
static void test_the_error_of_a_smooth_target_is_its_noise(void **state) {
    (void)state;
    const double noise = 0.1;
    mercer_ctx *ctx = open_ctx(2);
    for (uint64_t seed = 1; seed <= (test_sparse() ? 1 : 2); seed++) {
        mercer_data *data = NULL;
        assert_ok(ctx, mercer_data_generate(ctx, "friedman1", 1000, noise, seed, &data));
        assert_true(score_by_default(ctx, data) < 1.2 * noise);
        mercer_data_free(data);
    }
    close_clean(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_error_of_a_smooth_target_is_its_noise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
