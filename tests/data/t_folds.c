#include "base/rng.h"
#include "data/table/folds.h"
#include "support.h"
#include <string.h>

enum { N = 1003, CLASSES = 4 };

static void assert_even(const int64_t *count, int64_t k) {
    int64_t low = INT64_MAX, high = 0;
    for (int64_t f = 0; f < k; f++) {
        low = count[f] < low ? count[f] : low;
        high = count[f] > high ? count[f] : high;
    }
    assert_true(high - low <= 1);
}

static void count_folds(const int32_t *fold, const int32_t *key, int32_t wanted, int64_t k, int64_t *count) {
    memset(count, 0, (size_t)k * sizeof *count);
    for (int i = 0; i < N; i++) {
        assert_true(fold[i] >= 0 && fold[i] < k);
        count[fold[i]] += !key || key[i] == wanted;
    }
}

static void test_plain_folds_are_even(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    for (int64_t k = 2; k < 20; k++) {
        int32_t fold[N];
        int64_t count[20];
        assert_ok(ctx, mc_folds_make(ctx, MC_FOLDS_PLAIN, N, k, NULL, 5, fold));
        count_folds(fold, NULL, 0, k, count);
        assert_even(count, k);
    }
    close_clean(ctx);
}

static void test_stratified_folds_are_even_in_every_class(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    int32_t key[N], fold[N];
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 60);
    for (int i = 0; i < N; i++)
        key[i] = (int32_t)(mc_rng_below(&rng, 10) ? mc_rng_below(&rng, 2) : mc_rng_below(&rng, CLASSES));
    for (int64_t k = 2; k < 12; k++) {
        int64_t count[12];
        assert_ok(ctx, mc_folds_make(ctx, MC_FOLDS_STRATIFIED, N, k, key, 5, fold));
        count_folds(fold, NULL, 0, k, count);
        assert_even(count, k);
        for (int32_t c = 0; c < CLASSES; c++) {
            count_folds(fold, key, c, k, count);
            assert_even(count, k);
        }
    }
    close_clean(ctx);
}

static void test_rows_held_out_are_a_seeded_choice_in_order(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    for (int64_t held = 0; held <= N; held += 59) {
        int64_t place[N], again[N], other[N];
        bool seen[N] = {false};
        assert_ok(ctx, mc_hold_out(ctx, N, held, 5, place));
        assert_ok(ctx, mc_hold_out(ctx, N, held, 5, again));
        assert_ok(ctx, mc_hold_out(ctx, N, held, 6, other));
        assert_memory_equal(place, again, sizeof place);
        assert_true(held == 0 || held == N || memcmp(place, other, sizeof place) != 0);
        for (int64_t i = 0; i < N; i++) {
            assert_true(place[i] >= 0 && place[i] < N && !seen[place[i]]);
            assert_true(i == 0 || i == N - held || place[i] > place[i - 1]);
            seen[place[i]] = true;
        }
    }
    close_clean(ctx);
}

static void test_groups_are_never_split(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    int32_t key[N], fold[N], home[100];
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 61);
    for (int i = 0; i < N; i++)
        key[i] = (int32_t)mc_rng_below(&rng, 100);
    assert_ok(ctx, mc_folds_make(ctx, MC_FOLDS_GROUPED, N, 5, key, 5, fold));
    memset(home, -1, sizeof home);
    for (int i = 0; i < N; i++) {
        assert_true(home[key[i]] < 0 || home[key[i]] == fold[i]);
        home[key[i]] = fold[i];
    }
    int64_t count[5];
    count_folds(fold, NULL, 0, 5, count);
    for (int f = 0; f < 5; f++)
        assert_true(count[f] > N / 5 - 20 && count[f] < N / 5 + 20); /* a group has about ten rows */
    close_clean(ctx);
}

static void test_seeds_decide(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    int32_t a[N], b[N], c[N];
    assert_ok(ctx, mc_folds_make(ctx, MC_FOLDS_PLAIN, N, 5, NULL, 1, a));
    assert_ok(ctx, mc_folds_make(ctx, MC_FOLDS_PLAIN, N, 5, NULL, 1, b));
    assert_ok(ctx, mc_folds_make(ctx, MC_FOLDS_PLAIN, N, 5, NULL, 2, c));
    assert_memory_equal(a, b, sizeof a);
    assert_memory_not_equal(a, c, sizeof a);
    assert_fails(ctx, mc_folds_make(ctx, MC_FOLDS_PLAIN, 5, 6, NULL, 1, a), MERCER_INVALID, "[2, 5]");
    assert_fails(ctx, mc_folds_make(ctx, MC_FOLDS_PLAIN, 5, 1, NULL, 1, a), MERCER_INVALID, "got 1");
    const int32_t one[] = {0, 0, 0};
    assert_fails(ctx, mc_folds_make(ctx, MC_FOLDS_GROUPED, 3, 2, one, 1, a), MERCER_INVALID,
                 "1 groups cannot fill 2 folds");
    close_clean(ctx);
}

static void test_rows_of_data_get_folds_by_group_class_or_chance(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    const double x[6] = {0};
    const char *const labels[] = {"a", "b", "a", "b", "a", "b"}, *const groups[] = {"q", "r", "q", "s", "r", "s"};
    const char *const one[] = {"q", "q", "q", "q", "q", "q"};
    const mercer_table table = {
        .size = sizeof table, .n = 6, .d = 1, .dtype = MERCER_F64, .values = x, .labels = labels};
    mercer_data *data = NULL;
    int64_t fold[6];
    assert_ok(ctx, mercer_data_make(ctx, &table, &data));
    assert_ok(ctx, mercer_data_folds(ctx, data, 0, NULL, 1, fold));
    for (int64_t i = 0; i < 6; i++)
        assert_int_equal(fold[i], i);
    assert_ok(ctx, mercer_data_folds(ctx, data, 0, groups, 1, fold));
    const int64_t by_group[] = {0, 1, 0, 2, 1, 2};
    assert_memory_equal(fold, by_group, sizeof fold);
    assert_ok(ctx, mercer_data_folds(ctx, data, 2, groups, 1, fold));
    assert_true(fold[0] == fold[2] && fold[1] == fold[4] && fold[3] == fold[5] && fold[0] + fold[1] + fold[3] > 0);
    assert_ok(ctx, mercer_data_folds(ctx, data, 3, NULL, 1, fold)); /* one row of each class in each */
    for (int64_t i = 0; i < 6; i++)
        for (int64_t j = i + 2; j < 6; j += 2)
            assert_true(fold[i] != fold[j]);
    assert_fails(ctx, mercer_data_folds(ctx, data, 1, NULL, 1, fold), MERCER_INVALID, "[2, 6]");
    assert_fails(ctx, mercer_data_folds(ctx, data, 7, NULL, 1, fold), MERCER_INVALID, "got 7");
    assert_fails(ctx, mercer_data_folds(ctx, data, 4, groups, 1, fold), MERCER_INVALID, "3 groups cannot fill 4 folds");
    assert_fails(ctx, mercer_data_folds(ctx, data, 0, one, 1, fold), MERCER_INVALID, "one group, 'q'");
    mercer_data_free(data);
    close_clean(ctx);
}

static mercer_status make_all(mercer_ctx *ctx, void *arg) {
    (void)arg;
    const int32_t key[] = {0, 1, 0, 1};
    int32_t fold[4];
    for (int kind = MC_FOLDS_PLAIN; kind <= MC_FOLDS_GROUPED; kind++) {
        const mercer_status status = mc_folds_make(ctx, (mc_folding)kind, 4, 2, key, 1, fold);
        if (status)
            return status;
    }
    int64_t place[4];
    return mc_hold_out(ctx, 4, 2, 1, place);
}

static void test_folds_survive_failing_memory(void **state) {
    (void)state;
    assert_survives_failing_memory(make_all, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain_folds_are_even),
        cmocka_unit_test(test_stratified_folds_are_even_in_every_class),
        cmocka_unit_test(test_rows_held_out_are_a_seeded_choice_in_order),
        cmocka_unit_test(test_groups_are_never_split),
        cmocka_unit_test(test_seeds_decide),
        cmocka_unit_test(test_rows_of_data_get_folds_by_group_class_or_chance),
        cmocka_unit_test(test_folds_survive_failing_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
