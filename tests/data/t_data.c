#include "support.h"
#include "base/rng.h"
#include "base/sort.h"
#include "data/table/data.h"
#include "data/encode/dict.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static void test_dense_values_come_back(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(0);
    const double x[] = {1, 2, 99, 3, 4, 99, 5, 6, 99}, y[] = {7, 8, 9, 10, 11, 12}, w[] = {1, 0, 2};
    const char *const names[] = {"a", "b"};
    const mercer_table t = {.size = sizeof t,
                            .n = 3,
                            .d = 2,
                            .dtype = MERCER_F64,
                            .values = x,
                            .stride = 3,
                            .target = y,
                            .outputs = 2,
                            .weights = w,
                            .names = names};
    mercer_data *data = NULL;
    assert_ok(ctx, mercer_data_make(ctx, &t, &data));
    assert_int_equal(mercer_data_rows(data), 3);
    assert_int_equal(mercer_data_columns(data), 2);
    assert_int_equal(mercer_data_outputs(data), 2);
    assert_int_equal(mercer_data_classes(data), 0);
    assert_false(mercer_data_is_sparse(data));
    assert_int_equal(mercer_data_stored(data), 6);
    double row[2];
    mercer_data_row(data, 2, row);
    assert_true(row[0] == 5 && row[1] == 6);
    assert_true(mercer_data_target(data, 1, 1) == 10);
    assert_true(isnan(mercer_data_target(data, 3, 0)) && isnan(mercer_data_target(data, 0, 2)));
    assert_string_equal(mercer_data_column_name(data, 1), "b");
    assert_null(mercer_data_column_name(data, 2));
    assert_null(mercer_data_text(data, 0, 0));
    assert_int_equal(mercer_data_class(data, 0), -1);
    assert_int_equal(data->schema.count, 4);
    assert_int_equal(data->schema.column[3].kind, MC_COLUMN_TARGET);
    assert_string_equal(mercer_data_target_name(data, 0), "y");
    assert_string_equal(mercer_data_target_name(data, 1), "y2");
    assert_null(mercer_data_target_name(data, 2));
    assert_int_equal(mercer_data_missing(data), 0);
    mercer_data_free(data);
    close_clean(ctx);
}

/* Looked at where they are, unless they have gaps; rows that are taken, or fitted to, are copies. */
static void test_borrowed_values_stay_the_callers(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(0);
    double x[] = {1, 2, 3, 4, 5, 6};
    mercer_table t = {.size = sizeof t, .n = 3, .d = 2, .dtype = MERCER_F64, .values = x, .borrow = true};
    mercer_data *data = NULL, *copy = NULL, *gaps = NULL;
    assert_ok(ctx, mercer_data_make(ctx, &t, &data));
    assert_ptr_equal(data->values, x);
    assert_ok(ctx, mercer_data_take(ctx, data, NULL, 3, &copy));
    t.n = 2, t.stride = 3;
    assert_ok(ctx, mercer_data_make(ctx, &t, &gaps));
    assert_true(gaps->values != (void *)x);
    x[4] = NAN;
    double row[2];
    mercer_data_row(copy, 2, row);
    assert_true(row[0] == 5 && row[1] == 6);
    mercer_data_row(gaps, 1, row);
    assert_true(row[0] == 4 && row[1] == 5);
    mercer_data_free(data);
    mercer_data_free(copy);
    mercer_data_free(gaps);
    t.n = 3, t.stride = 0;
    assert_fails(ctx, mercer_data_make(ctx, &t, &data), MERCER_DATA, "the value in row 3, column 1 is not finite");
    close_clean(ctx);
}

static void test_sparse_rows_equal_their_dense_form(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(0);
    const float x[] = {1, 2, 3};
    const int64_t start[] = {0, 2, 2, 3};
    const int32_t column[] = {0, 3, 2};
    const mercer_table t = {
        .size = sizeof t, .n = 3, .d = 4, .dtype = MERCER_F32, .values = x, .row_start = start, .column = column};
    mercer_data *data = NULL;
    assert_ok(ctx, mercer_data_make(ctx, &t, &data));
    assert_true(mercer_data_is_sparse(data));
    assert_int_equal(mercer_data_stored(data), 3);
    const double dense[3][4] = {{1, 0, 0, 2}, {0, 0, 0, 0}, {0, 0, 3, 0}};
    for (int i = 0; i < 3; i++) {
        double row[4];
        mercer_data_row(data, i, row);
        assert_memory_equal(row, dense[i], sizeof row);
        for (int j = 0; j < 4; j++)
            assert_true(mc_data_value(data, i, j) == dense[i][j]);
    }
    assert_string_equal(mercer_data_column_name(data, 2), "x3");
    mercer_data_free(data);
    close_clean(ctx);
}

static void test_labels_sort_numbers_first_then_text(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(0);
    const double x[6] = {0};
    const char *const labels[] = {"b", "10", "9", "B", "-1e1", "10"};
    const mercer_table t = {.size = sizeof t, .n = 6, .d = 1, .dtype = MERCER_F64, .values = x, .labels = labels};
    mercer_data *data = NULL;
    assert_ok(ctx, mercer_data_make(ctx, &t, &data));
    static const char *const sorted[] = {"-1e1", "9", "10", "B", "b"};
    assert_int_equal(mercer_data_classes(data), 5);
    for (int k = 0; k < 5; k++)
        assert_string_equal(mercer_data_label(data, k), sorted[k]);
    for (int i = 0; i < 6; i++)
        assert_string_equal(mercer_data_label(data, mercer_data_class(data, i)), labels[i]);
    mercer_data_free(data);
    close_clean(ctx);
}

/* Texts are recognised by address first: equal texts at many addresses, and many texts side by side, are still told by
   what they say. */
static void test_labels_at_many_addresses(void **state) {
    (void)state;
    enum { ROWS = 3000, CLASSES = 150 };
    mercer_ctx *ctx = open_ctx(0);
    static double x[ROWS];
    static char text[ROWS][8];
    static const char *labels[ROWS];
    for (int i = 0; i < ROWS; i++) {
        snprintf(text[i], sizeof text[i], "c%d", i * 7 % CLASSES);
        labels[i] = i % 3 ? text[i] : text[i * 7 % CLASSES * 43 % CLASSES]; /* 43 is 1/7: the first row of this class */
    }
    const mercer_table t = {.size = sizeof t, .n = ROWS, .d = 1, .dtype = MERCER_F64, .values = x, .labels = labels};
    mercer_data *data = NULL;
    assert_ok(ctx, mercer_data_make(ctx, &t, &data));
    assert_int_equal(mercer_data_classes(data), CLASSES);
    for (int i = 0; i < ROWS; i++)
        assert_string_equal(mercer_data_label(data, mercer_data_class(data, i)), labels[i]);
    mercer_data_free(data);
    close_clean(ctx);
}

static void test_taking_keeps_classes_and_repeats_rows(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(0);
    const double x[] = {1, 2, 3, 4};
    const char *const labels[] = {"a", "b", "c", "a"};
    const mercer_table t = {.size = sizeof t, .n = 4, .d = 1, .dtype = MERCER_F64, .values = x, .labels = labels};
    mercer_data *data = NULL, *some = NULL;
    assert_ok(ctx, mercer_data_make(ctx, &t, &data));
    const int64_t rows[] = {3, 2, 3};
    assert_ok(ctx, mercer_data_take(ctx, data, rows, 3, &some));
    mercer_data_free(data);
    assert_int_equal(mercer_data_classes(some), 3);
    assert_true(mc_data_value(some, 0, 0) == 4 && mc_data_value(some, 1, 0) == 3 && mc_data_value(some, 2, 0) == 4);
    assert_int_equal(mercer_data_class(some, 1), 2);
    mercer_data *never = NULL;
    const int64_t outside[] = {0, 3};
    assert_fails(ctx, mercer_data_take(ctx, some, outside, 2, &never), MERCER_INVALID, "rows[1] is 3");
    assert_fails(ctx, mercer_data_take(ctx, some, NULL, 4, &never), MERCER_INVALID, "count");
    mercer_data_free(some);
    close_clean(ctx);
}

static void test_sparse_take_matches_row_by_row(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    enum { N = 3000, D = 17 };
    static int64_t start[N + 1];
    static int32_t column[N * D];
    static double value[N * D];
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 21);
    for (int i = 0; i < N; i++) {
        start[i + 1] = start[i];
        for (int32_t j = 0; j < D; j++)
            if (mc_rng_uniform(&rng) < 0.2) {
                column[start[i + 1]] = j;
                value[start[i + 1]++] = mc_rng_normal(&rng);
            }
    }
    const mercer_table t = {
        .size = sizeof t, .n = N, .d = D, .dtype = MERCER_F64, .values = value, .row_start = start, .column = column};
    mercer_data *data = NULL, *some = NULL;
    assert_ok(ctx, mercer_data_make(ctx, &t, &data));
    static int64_t rows[N];
    mc_rng_shuffle(&rng, rows, N);
    assert_ok(ctx, mercer_data_take(ctx, data, rows, N, &some));
    for (int i = 0; i < N; i++) {
        double a[D], b[D];
        mercer_data_row(data, rows[i], a);
        mercer_data_row(some, i, b);
        assert_memory_equal(a, b, sizeof a);
    }
    mercer_data_free(some);
    mercer_data_free(data);
    close_clean(ctx);
}

static void test_bad_tables_are_refused_by_name(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(0);
    const double x[] = {1, NAN, 3, 4}, fine[] = {1, 2, 3, 4}, w[] = {1, -1}, none[] = {0, 0};
    const int64_t start[] = {0, 2, 4}, falls[] = {0, 3, 2};
    const int32_t twice[] = {0, 0, 0, 1}, wide[] = {0, 2, 0, 1};
    const char *const names[] = {"age", "height"}, *const labels[] = {"a", NULL};
    const struct {
        mercer_table table;
        mercer_status status;
        const char *text;
    } cases[] = {
        {{.n = 0, .d = 1, .values = x}, MERCER_INVALID, "at least one row"},
        {{.n = 2, .d = 2}, MERCER_INVALID, "values is NULL"},
        {{.n = 2, .d = 2, .values = x, .dtype = MERCER_F64, .names = names}, MERCER_DATA, "row 1, column 2 ('height')"},
        {{.n = 2, .d = 2, .values = fine, .stride = 1, .dtype = MERCER_F64}, MERCER_INVALID, "stride"},
        {{.n = 2, .d = 2, .values = fine, .dtype = MERCER_F64, .weights = w}, MERCER_DATA, "weight of row 2"},
        {{.n = 2, .d = 2, .values = fine, .dtype = MERCER_F64, .weights = none}, MERCER_DATA, "all 2 weights"},
        {{.n = 2, .d = 2, .values = fine, .dtype = MERCER_F64, .target = x, .outputs = 1},
         MERCER_DATA,
         "target of row 2"},
        {{.n = 2, .d = 2, .values = fine, .dtype = MERCER_F64, .outputs = 1}, MERCER_INVALID, "go together"},
        {{.n = 2, .d = 2, .values = fine, .dtype = MERCER_F64, .labels = labels}, MERCER_INVALID, "label of row 2"},
        {{.n = 2, .d = 2, .values = fine, .dtype = MERCER_F64, .row_start = falls, .column = twice},
         MERCER_INVALID,
         "falls"},
        {{.n = 2, .d = 2, .values = fine, .dtype = MERCER_F64, .row_start = start, .column = twice},
         MERCER_INVALID,
         "increase"},
        {{.n = 2, .d = 2, .values = fine, .dtype = MERCER_F64, .row_start = start, .column = wide},
         MERCER_INVALID,
         "outside"},
        {{.n = 2, .d = 2, .values = x, .dtype = MERCER_F64, .row_start = start, .column = (int32_t[]){0, 1, 0, 1}},
         MERCER_DATA,
         "row 1, column 2"},
        {{.n = INT64_MAX / 2, .d = INT64_MAX / 2, .values = fine, .dtype = MERCER_F64}, MERCER_MEMORY, "memory"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        mercer_data *data = NULL;
        mercer_table table = cases[i].table;
        table.size = sizeof table;
        assert_fails(ctx, mercer_data_make(ctx, &table, &data), cases[i].status, cases[i].text);
        assert_null(data);
    }
    mercer_data_free(NULL);
    close_clean(ctx);
}

static int by_value(const void *arg, int64_t a, int64_t b) {
    const int *key = arg;
    return key[a] - key[b];
}

static void test_sort_is_ordered_and_stable(void **state) {
    (void)state;
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 22);
    for (int64_t n = 0; n < 200; n++) {
        int key[200];
        int64_t items[200], scratch[200];
        for (int64_t i = 0; i < n; i++) {
            key[i] = (int)mc_rng_below(&rng, 10);
            items[i] = i;
        }
        mc_sort(items, scratch, n, by_value, key);
        for (int64_t i = 1; i < n; i++)
            assert_true(key[items[i - 1]] < key[items[i]]
                        || (key[items[i - 1]] == key[items[i]] && items[i - 1] < items[i]));
    }
}

static void test_dictionary_numbers_distinct_strings(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    mc_dict dict = mc_dict_open(ctx);
    char text[32];
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < 5000; i++) {
            int64_t id = -1;
            const int length = snprintf(text, sizeof text, "%*d", i % 20, i);
            assert_ok(ctx, mc_dict_add(&dict, text, length, &id));
            assert_int_equal(id, i);
        }
    assert_int_equal(mc_dict_find(&dict, "nowhere", 7), -1);
    assert_int_equal(mc_dict_find(&dict, "0", 1), 0);
    assert_int_equal(dict.count, 5000);
    mc_dict_close(&dict);
    close_clean(ctx);
}

static mercer_status make_and_take(mercer_ctx *ctx, void *arg) {
    mercer_data *data = NULL, *some = NULL;
    mercer_status status = mercer_data_make(ctx, arg, &data);
    if (!status)
        status = mercer_data_take(ctx, data, (int64_t[]){1}, 1, &some);
    mercer_data_free(some);
    some = NULL;
    if (!status)
        status = mercer_data_weigh(ctx, data, (double[]){1, 2}, &some);
    mercer_data_free(some);
    mercer_data_free(data);
    return status;
}

static void test_make_and_take_survive_failing_memory(void **state) {
    (void)state;
    const double x[] = {1, 2, 3, 4}, w[] = {1, 1};
    const char *const names[] = {"a", "b"}, *const labels[] = {"p", "q"};
    const int64_t start[] = {0, 2, 4};
    const int32_t column[] = {0, 1, 0, 1};
    mercer_table dense = {.size = sizeof dense,
                          .n = 2,
                          .d = 2,
                          .dtype = MERCER_F64,
                          .values = x,
                          .names = names,
                          .labels = labels,
                          .weights = w};
    mercer_table sparse = {.size = sizeof sparse,
                           .n = 2,
                           .d = 2,
                           .dtype = MERCER_F64,
                           .values = x,
                           .row_start = start,
                           .column = column,
                           .target = x,
                           .outputs = 2};
    assert_survives_failing_memory(make_and_take, &dense);
    assert_survives_failing_memory(make_and_take, &sparse);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dense_values_come_back),
        cmocka_unit_test(test_borrowed_values_stay_the_callers),
        cmocka_unit_test(test_sparse_rows_equal_their_dense_form),
        cmocka_unit_test(test_labels_sort_numbers_first_then_text),
        cmocka_unit_test(test_labels_at_many_addresses),
        cmocka_unit_test(test_taking_keeps_classes_and_repeats_rows),
        cmocka_unit_test(test_sparse_take_matches_row_by_row),
        cmocka_unit_test(test_bad_tables_are_refused_by_name),
        cmocka_unit_test(test_sort_is_ordered_and_stable),
        cmocka_unit_test(test_dictionary_numbers_distinct_strings),
        cmocka_unit_test(test_make_and_take_survive_failing_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
