/* Names that look like numbers: whatever a file says, two labels that differ stay two. And text that is kept stays as
   it stands. */
#include "base/number.h"
#include "base/rng.h"
#include "data/read/read.h"
#include "support.h"
#include <stdlib.h>
#include <string.h>

static mercer_status parse(mercer_ctx *ctx, const char *text, const char *name, mercer_target kind, mercer_data **out) {
    mercer_read set = mercer_read_defaults();
    set.kind = kind;
    return mc_data_parse(ctx, text, (int64_t)strlen(text), name, &set, out);
}

static bool survives(const char *text) {
    double value;
    assert_true(mc_number_read(text, text + strlen(text), &value) == text + strlen(text));
    return mc_number_survives(text, text + strlen(text));
}

static void test_which_numbers_survive(void **state) {
    (void)state;
    static const char *const yes[] = {"0",
                                      "-0",
                                      "1",
                                      "1.0",
                                      "01",
                                      "+7",
                                      "0.1",
                                      "123456789012345",
                                      "9007199254740992",
                                      "9007199254740994",
                                      "1.000000000000000000e+00",
                                      "0.10000000000000001",
                                      "1.000000000000000056e-01",
                                      "1e22",
                                      "1.5e-300",
                                      "99999999999999991611392",
                                      "5e-324",
                                      "100000000000000000000",
                                      "0.0000000000000000000000000000000000000000000000000"};
    static const char *const no[] = {"9007199254740993",
                                     "-9007199254740993",
                                     "12345678901234567",
                                     "12345678901234567890",
                                     "1.00000000000000000001",
                                     "0.10000000000000000001",
                                     "1e400",
                                     "1e-400",
                                     "36893488147419103233",
                                     "1e23",
                                     "0.99999999999999999999",
                                     "90071992547409930000000000000000000000000000000000000000000000001"};
    for (size_t i = 0; i < sizeof yes / sizeof yes[0]; i++)
        if (!survives(yes[i]))
            fail_msg("%s does not survive", yes[i]);
    for (size_t i = 0; i < sizeof no / sizeof no[0]; i++)
        if (survives(no[i]))
            fail_msg("%s survives", no[i]);
}

/* The property that counts: of two whole numbers that survive, different ones have different doubles. */
static void test_numbers_that_survive_are_told_apart(void **state) {
    (void)state;
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 5);
    for (int k = 0; k < 20000; k++) {
        const uint64_t a = mc_rng_u64(&rng) >> (k % 16), b = a + 1 + (uint64_t)(k % 5);
        char one[32], two[32];
        double x, y;
        snprintf(one, sizeof one, "%llu", (unsigned long long)a);
        snprintf(two, sizeof two, "%llu", (unsigned long long)b);
        mc_number_read(one, one + strlen(one), &x);
        mc_number_read(two, two + strlen(two), &y);
        assert_false(x == y && survives(one) && survives(two));
    }
}

static void check_labels(mercer_ctx *ctx, mercer_data *data, int64_t classes, const char *const *labels) {
    assert_int_equal(mercer_data_classes(data), classes);
    for (int64_t k = 0; k < classes; k++)
        assert_string_equal(mercer_data_label(data, k), labels[k]);
    mercer_data_free(data);
    (void)ctx;
}

static void repeat(char *out, const char *const *lines, int count, int times) {
    *out = '\0';
    for (int t = 0; t < times; t++)
        for (int k = 0; k < count; k++)
            strcat(out, lines[k]);
}

static void test_long_labels_stay_apart_in_csv(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    char text[4096];
    mercer_data *data = NULL;
    static const char *const lines[] = {"1,9007199254740993\n", "2,9007199254740992\n", "3,7\n"};
    static const char *const labels[] = {"7", "9007199254740992", "9007199254740993"};
    repeat(text, lines, 3, 5);
    assert_ok(ctx, parse(ctx, text, "t.csv", MERCER_TARGET_CLASS, &data));
    check_labels(ctx, data, 3, labels);
    assert_ok(ctx, parse(ctx, text, "t.csv", MERCER_TARGET_AUTO, &data));
    check_labels(ctx, data, 3, labels);
    assert_ok(ctx, parse(ctx, text, "t.csv", MERCER_TARGET_NUMBER, &data));
    assert_int_equal(mercer_data_classes(data), 0);
    assert_true(mercer_data_target(data, 0, 0) == 9007199254740992.0);
    mercer_data_free(data);
    static const char *const parts[] = {"1,0.1000000000000000000000001\n", "2,0.1\n"};
    static const char *const part_labels[] = {"0.1", "0.1000000000000000000000001"};
    repeat(text, parts, 2, 5);
    assert_ok(ctx, parse(ctx, text, "t.csv", MERCER_TARGET_CLASS, &data));
    check_labels(ctx, data, 2, part_labels);
    close_clean(ctx);
}

/* Numbers that are no names stay numbers, however long. */
static void test_long_numbers_of_a_regression_stay_numbers(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    mercer_data *data = NULL;
    assert_ok(ctx,
              parse(ctx, "1,12345678901234567\n2,0.12345678901234567890\n3,2\n", "t.csv", MERCER_TARGET_AUTO, &data));
    assert_int_equal(mercer_data_classes(data), 0);
    assert_true(mercer_data_target(data, 0, 0) == 12345678901234568.0);
    assert_true(mercer_data_target(data, 1, 0) == 0.12345678901234568);
    mercer_data_free(data);
    close_clean(ctx);
}

/* What a model knows as 9007199254740993 is not what a later file calls 9007199254740992. */
static void test_known_labels_are_met_exactly(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    mercer_data *data = NULL, *later = NULL;
    assert_ok(ctx, parse(ctx, "1,9007199254740993\n2,7\n", "t.csv", MERCER_TARGET_CLASS, &data));
    char *labels[] = {"7", "9007199254740993"};
    static const char *const same = "5,9007199254740993\n6,7\n", *const other = "5,9007199254740992\n6,7\n";
    assert_ok(ctx,
              mc_data_parse_like(ctx, same, (int64_t)strlen(same), "u.csv", NULL, &data->schema, 1, 2, labels, &later));
    assert_int_equal(mercer_data_class(later, 0), 1);
    mercer_data_free(later);
    assert_fails(
        ctx, mc_data_parse_like(ctx, other, (int64_t)strlen(other), "u.csv", NULL, &data->schema, 1, 2, labels, &later),
        MERCER_DATA, "9007199254740992");
    mercer_data_free(data);
    close_clean(ctx);
}

static void test_long_labels_are_refused_where_labels_are_numbers(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    mercer_data *data = NULL;
    static const char *const svm = "7 1:1\n9007199254740993 1:2\n";
    assert_fails(ctx, parse(ctx, svm, "t.svm", MERCER_TARGET_CLASS, &data), MERCER_DATA,
                 "line 2: the label '9007199254740993'");
    assert_null(data);
    assert_ok(ctx, parse(ctx, svm, "t.svm", MERCER_TARGET_NUMBER, &data));
    mercer_data_free(data);
    char file[256];
    static const char *const head = "{'descr': '<i8', 'fortran_order': False, 'shape': (2, 2), }";
    const int64_t values[] = {1, 7, 2, 9007199254740993}, size = 128 + (int64_t)sizeof values;
    memset(file, ' ', sizeof file);
    memcpy(file, "\x93NUMPY\x01\x00\x76\x00", 10);
    memcpy(file + 10, head, strlen(head));
    file[127] = '\n';
    memcpy(file + 128, values, sizeof values);
    mercer_read set = mercer_read_defaults();
    set.kind = MERCER_TARGET_CLASS;
    assert_fails(ctx, mc_data_parse(ctx, file, size, "t.npy", &set, &data), MERCER_DATA,
                 "row 2, column 2: a label of 2^53");
    assert_null(data);
    close_clean(ctx);
}

static void test_text_that_is_kept_is_not_trimmed(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    mercer_read set = mercer_read_defaults();
    mercer_data *data = NULL;
    static const char *const ends[] = {"\n", "\r\n"};
    static const char *const kept[] = {"  ab ", " c d", "e\t", "", "  ", " q "};
    set.text = "word";
    for (int e = 0; e < 2; e++) {
        char text[256];
        snprintf(text, sizeof text, "y,word%s1,  ab %s2, c d%s3,e\t%s4,%s5,  %s6,  \" q \" %s", ends[e], ends[e],
                 ends[e], ends[e], ends[e], ends[e], ends[e]);
        set.target = "y";
        assert_ok(ctx, mc_data_parse(ctx, text, (int64_t)strlen(text), "t.csv", &set, &data));
        for (int i = 0; i < 6; i++)
            assert_string_equal(mercer_data_text(data, i, 0), kept[i]);
        mercer_data_free(data);
    }
    close_clean(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_which_numbers_survive),
        cmocka_unit_test(test_numbers_that_survive_are_told_apart),
        cmocka_unit_test(test_long_labels_stay_apart_in_csv),
        cmocka_unit_test(test_long_numbers_of_a_regression_stay_numbers),
        cmocka_unit_test(test_known_labels_are_met_exactly),
        cmocka_unit_test(test_long_labels_are_refused_where_labels_are_numbers),
        cmocka_unit_test(test_text_that_is_kept_is_not_trimmed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
