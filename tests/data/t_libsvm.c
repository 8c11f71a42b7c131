#include "support.h"
#include "base/rng.h"
#include "data/table/data.h"
#include "data/read/read.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static mercer_data *parse(mercer_ctx *ctx, const char *text, const mercer_read *set) {
    mercer_data *data = NULL;
    assert_ok(ctx, mc_data_parse(ctx, text, (int64_t)strlen(text), "t", set, &data));
    return data;
}

static void test_labels_values_comments_and_qid(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(0);
    mercer_data *data = parse(
        ctx, "# a comment 1:2\n+1 1:0.5 20:2 # of 3:1\n\n-1 qid:3 2:1e-3\r\n  # again\n1\n+1.0 3:4\t19:0 20:-1", NULL);
    assert_int_equal(mercer_data_rows(data), 4);
    assert_int_equal(mercer_data_columns(data), 20);
    assert_true(mercer_data_is_sparse(data));
    assert_int_equal(mercer_data_stored(data), 5); /* a zero is not stored */
    assert_true(mc_data_value(data, 0, 0) == 0.5 && mc_data_value(data, 0, 19) == 2
                && mc_data_value(data, 1, 1) == 1e-3);
    assert_true(mc_data_value(data, 3, 2) == 4 && mc_data_value(data, 3, 18) == 0 && mc_data_value(data, 3, 19) == -1);
    assert_int_equal(mercer_data_outputs(data), 1); /* two values in four rows are numbers */
    assert_true(mercer_data_target(data, 1, 0) == -1);
    assert_string_equal(mercer_data_column_name(data, 19), "x20");
    mercer_data_free(data);
    close_clean(ctx);
}

static void test_density_decides_the_storage(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(0);
    mercer_data *data = parse(ctx, "1 1:1 2:2\n2 8:1 9:1 10:3\n", NULL); /* 5 of 20 cells */
    assert_false(mercer_data_is_sparse(data));
    double row[10];
    mercer_data_row(data, 1, row);
    assert_true(row[9] == 3 && row[0] == 0);
    mercer_data_free(data);
    data = parse(ctx, "1 1:1 2:2\n2 16:3\n", NULL); /* 3 of 32 */
    assert_true(mercer_data_is_sparse(data));
    mercer_data_free(data);
    mercer_read set = mercer_read_defaults();
    set.dtype = MERCER_F32;
    data = parse(ctx, "1 1:0.1 2:2\n2 100:3\n", &set);
    assert_true(((const float *)data->values)[0] == 0.1f);
    mercer_data_free(data);
    close_clean(ctx);
}

static void test_classes_and_no_target(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(0);
    const char *text = "+1 1:1\n-1 1:1\n+1 1:1\n1 1:1\n1 1:1\n-1 1:1\n1 1:1\n1 1:1\n1 1:1\n1 1:1\n";
    mercer_data *data = parse(ctx, text, NULL);
    assert_int_equal(mercer_data_classes(data), 2);
    assert_string_equal(mercer_data_label(data, 0), "-1");
    assert_string_equal(mercer_data_label(data, 1), "1");
    mercer_data_free(data);
    mercer_read set = mercer_read_defaults();
    set.target = "";
    data = parse(ctx, text, &set);
    assert_int_equal(mercer_data_classes(data) + mercer_data_outputs(data), 0);
    mercer_data_free(data);
    close_clean(ctx);
}

static void test_malformed_lines_are_named(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(0);
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"1 1:1\n2 3:1 2:1\n", "line 2: index 2 stands after index 3"},
        {"1 1:1\n2 3:1 3:1\n", "line 2: index 3 stands after index 3"},
        {"1 1:1\n2 0:1\n", "line 2: index 0 in '0:1'; indices begin at 1"},
        {"1 1:1\n2 99999999999999999999:1\n", "line 2: the index in '99999999999999999999:1' is past"},
        {"1 1:1\n2 2147483647:1\n", "past 2147483646"},
        {"1 1:1\n2 x:1\n", "line 2: expected index:value, found 'x:1'"},
        {"1 1:1\n2 -3:1\n", "line 2: expected index:value, found '-3:1'"},
        {"1 1:1\n2 5\n", "line 2: expected ':' and a value after index 5"},
        {"1 1:1\n2 5:\n", "line 2: the value of index 5, '', is not a number"},
        {"1 1:1\n2 5:a\n", "line 2: the value of index 5, 'a', is not a number"},
        {"1 1:1\n2 5:1x\n", "line 2: the value of index 5, '1x', is not a number"},
        {"1 1:1\n2 5:nan\n", "line 2: the value 'nan' of index 5 is not finite"},
        {"1 1:1\n2 5:-Inf\n", "line 2: the value '-Inf' of index 5 is not finite"},
        {"1 1:1\n2 5:1e999\n", "line 2: the value '1e999' of index 5 is not finite"},
        {"1 1:1\nnan 5:1\n", "line 2: the label 'nan' is not finite"},
        {"1 1:1\n1,3 5:1\n", "line 2: '1,3' gives a row several labels"},
        {"1 1:1\nx 5:1\n", "line 2: expected a number as label, found 'x'"},
        {"1 1:1\n3:1 5:1\n", "line 2: expected a label, found '3:1'"},
        {"# nothing\n", "is empty"},
        {"1\n2\n", "no index:value pair"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        mercer_data *data = NULL;
        assert_fails(ctx, mc_data_parse(ctx, cases[i].text, (int64_t)strlen(cases[i].text), "t.svm", NULL, &data),
                     MERCER_DATA, cases[i].message);
        assert_null(data);
    }
    mercer_data *data = NULL;
    mercer_read set = mercer_read_defaults();
    set.target = "age";
    assert_fails(ctx, mc_data_parse(ctx, "1 1:1\n", 6, "t.svm", &set, &data), MERCER_INVALID,
                 "its target is the label");
    set = mercer_read_defaults();
    set.dtype = MERCER_F32;
    assert_fails(ctx, mc_data_parse(ctx, "1 1:1e39\n", 9, "t.svm", &set, &data), MERCER_DATA, "float32");
    close_clean(ctx);
}

static void test_one_huge_index_costs_no_memory(void **state) {
    (void)state;
    mercer_options options = mercer_options_defaults();
    options.memory_limit = 1 << 20;
    mercer_ctx *ctx = NULL;
    assert_int_equal(mercer_open(&options, &ctx), MERCER_OK);
    mercer_data *data = parse(ctx, "1 2147483646:1\n2 1:1\n", NULL);
    assert_int_equal(mercer_data_columns(data), 2147483646);
    assert_string_equal(mercer_data_column_name(data, 2147483645), "x");
    mercer_data_free(data);
    close_clean(ctx);
}

/* Several pieces of text, lines across their borders, comments with colons: every value, and the same bits on 1 to 4
   threads. */
static void test_large_text_reads_the_same_on_any_number_of_threads(void **state) {
    (void)state;
    enum { N = 40000, D = 60 };
    static double value[N][3];
    static int column[N][3];
    char *text = test_malloc((size_t)N * 120);
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 50);
    size_t n = 0;
    for (int i = 0; i < N; i++) {
        n += (size_t)sprintf(text + n, "%d.5", i);
        int j = 0;
        for (int k = 0; k < 3; k++) {
            j += 1 + (int)mc_rng_below(&rng, D / 3);
            column[i][k] = j - 1;
            value[i][k] = mc_rng_normal(&rng);
            n += (size_t)sprintf(text + n, " %d:%.17g", j, value[i][k]);
        }
        n += (size_t)sprintf(text + n, "%s\n", i % 3 ? "" : " # 1:2 3:4");
    }
    for (int threads = 1; threads <= 4; threads++) {
        mercer_ctx *ctx = open_ctx(threads);
        mercer_data *data = parse(ctx, text, NULL);
        assert_int_equal(mercer_data_rows(data), N);
        assert_int_equal(mercer_data_stored(data), 3 * N);
        for (int i = 0; i < N; i++) {
            assert_true(data->target[i] == i + 0.5);
            for (int k = 0; k < 3; k++) {
                assert_int_equal(data->column[3 * i + k], column[i][k]);
                assert_true(((const double *)data->values)[3 * i + k] == value[i][k]);
            }
        }
        mercer_data_free(data);
        close_clean(ctx);
    }
    test_free(text);
}

static mercer_status read_all(mercer_ctx *ctx, void *arg) {
    const char *text = arg;
    mercer_data *data = NULL;
    const mercer_status status = mc_data_parse(ctx, text, (int64_t)strlen(text), "t", NULL, &data);
    mercer_data_free(data);
    return status;
}

static void test_reading_survives_failing_memory(void **state) {
    (void)state;
    char sparse[] = "1 1:1\n2 50:2\n1 50:1\n1 1:1\n1 1:1\n1 1:1\n1 1:1\n1 1:1\n1 1:1\n1 1:1\n",
         dense[] = "1.5 1:1\n2 2:2\n";
    assert_survives_failing_memory(read_all, sparse);
    assert_survives_failing_memory(read_all, dense);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_labels_values_comments_and_qid),
        cmocka_unit_test(test_density_decides_the_storage),
        cmocka_unit_test(test_classes_and_no_target),
        cmocka_unit_test(test_malformed_lines_are_named),
        cmocka_unit_test(test_one_huge_index_costs_no_memory),
        cmocka_unit_test(test_large_text_reads_the_same_on_any_number_of_threads),
        cmocka_unit_test(test_reading_survives_failing_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
