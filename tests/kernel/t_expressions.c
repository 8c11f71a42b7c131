#include "support.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 512 };

static FILE *open_list(void) {
    const char *folder = getenv("MERCER_TESTS");
    char path[LINE];
    snprintf(path, sizeof path, "%s/kernel/expressions.txt", folder ? folder : "tests");
    FILE *file = fopen(path, "r");
    if (!file)
        fail_msg("cannot open %s: set MERCER_TESTS to the folder of the tests", path);
    return file;
}

/* "error COLUMN text" */
static void expect_error(mercer_ctx *ctx, int line, const char *text, const char *expected) {
    mercer_kernel *kernel = NULL;
    char *message = NULL, place[40];
    const long column = strtol(expected, &message, 10);
    const mercer_status status = mercer_kernel_parse(ctx, text, &kernel);
    if (status != MERCER_SYNTAX || kernel)
        fail_msg("line %d: '%s' should not parse", line, text);
    snprintf(place, sizeof place, "column %ld: ", column);
    if (mercer_message_offset(ctx) != column - 1 || strstr(mercer_message(ctx), place) != mercer_message(ctx)
        || !strstr(mercer_message(ctx), message + 1))
        fail_msg("line %d: '%s': wanted '%s%s', got '%s'", line, text, place, message + 1, mercer_message(ctx));
}

static void expect_text(mercer_ctx *ctx, int line, const char *text, const char *canonical) {
    mercer_kernel *kernel = NULL;
    if (mercer_kernel_parse(ctx, text, &kernel))
        fail_msg("line %d: '%s': %s", line, text, mercer_message(ctx));
    assert_string_equal(mercer_message(ctx), "");
    if (strcmp(mercer_kernel_text(kernel), canonical) != 0)
        fail_msg("line %d: '%s' became '%s', not '%s'", line, text, mercer_kernel_text(kernel), canonical);
    mercer_kernel_free(kernel);
}

static void test_every_line_of_the_list_holds(void **state) {
    (void)state;
    static const char mark[] = " # expect: ";
    mercer_ctx *ctx = open_ctx(1);
    FILE *file = open_list();
    char line[LINE];
    int number = 0, checked = 0;
    while (fgets(line, sizeof line, file)) {
        number++;
        line[strcspn(line, "\n")] = '\0';
        char *expected = strstr(line, mark);
        if (!expected || line[0] == '#')
            continue;
        *expected = '\0';
        expected += strlen(mark);
        if (strncmp(expected, "error ", 6) == 0)
            expect_error(ctx, number, line, expected + 6);
        else {
            expect_text(ctx, number, line, expected);
            expect_text(ctx, number, expected, expected);
        }
        checked++;
    }
    fclose(file);
    assert_true(checked > 200);
    close_clean(ctx);
}

/* Build "head head ... middle tail tail ..." and parse it. */
static mercer_status parse_repeated(mercer_ctx *ctx, const char *head, const char *middle, const char *tail,
                                    int times) {
    char *text = calloc((size_t)times, strlen(head) + strlen(tail) + 1 + strlen(middle));
    char *end = text;
    for (int i = 0; i < times; i++)
        end = stpcpy(end, head);
    end = stpcpy(end, middle);
    for (int i = 0; i < times; i++)
        end = stpcpy(end, tail);
    mercer_kernel *kernel = NULL, *again = NULL;
    const mercer_status status = mercer_kernel_parse(ctx, text, &kernel);
    if (!status)
        assert_ok(ctx, mercer_kernel_parse(ctx, mercer_kernel_text(kernel), &again));
    mercer_kernel_free(kernel);
    mercer_kernel_free(again);
    free(text);
    return status;
}

static void test_hostile_nesting_is_refused_in_time(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    enum { MANY = 200000 };
    const char *const nests[][3] = {
        {"(", "linear", ")"},
        {"exp(", "linear", ")"},
        {"normalize(1+", "linear", ")"},
        {"weigh(norm,", "white", ")"},
        {"weigh(exp(", "norm", "),white)"},
        {"(", "linear", "[1])"},
        {"weigh((", "norm", "),white)"},
    };
    for (size_t i = 0; i < sizeof nests / sizeof nests[0]; i++) {
        assert_fails(ctx, parse_repeated(ctx, nests[i][0], nests[i][1], nests[i][2], MANY), MERCER_SYNTAX, "column");
        assert_ok(ctx, parse_repeated(ctx, nests[i][0], nests[i][1], nests[i][2], 1));
    }
    assert_ok(ctx, parse_repeated(ctx, "(", "linear", ")", 199));
    assert_fails(ctx, parse_repeated(ctx, "(", "linear", ")", 200), MERCER_SYNTAX, "nested more than 200 deep");
    assert_ok(ctx, parse_repeated(ctx, "exp(-", "linear", ")", 199));
    assert_ok(ctx, parse_repeated(ctx, "-", "linear", "", MANY));
    assert_fails(ctx, parse_repeated(ctx, "weigh(-", "norm", "", MANY), MERCER_SYNTAX, "column");
    close_clean(ctx);
}

static void test_long_lists_are_refused_or_read(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    enum { MANY = 200000 };
    assert_fails(ctx, parse_repeated(ctx, "linear+", "white", "", MANY), MERCER_SYNTAX,
                 "more than 4096 terms in a row");
    assert_fails(ctx, parse_repeated(ctx, "rbf(1)*", "white", "", MANY), MERCER_SYNTAX,
                 "more than 4096 factors in a row");
    assert_ok(ctx, parse_repeated(ctx, "linear+", "white", "", 4095));
    assert_ok(ctx, parse_repeated(ctx, "(linear^0.5+white)*", "white", "", 2000));
    assert_fails(ctx, parse_repeated(ctx, "weigh(1+", "1", ",white)", MANY), MERCER_SYNTAX, "column");
    assert_fails(ctx, parse_repeated(ctx, "", "weigh(1", "+norm", MANY), MERCER_SYNTAX,
                 "a function of more than 1000 parts");
    assert_fails(ctx, parse_repeated(ctx, "", "rbf(gamma=[1", ",1", MANY), MERCER_SYNTAX, "expected ',' or ']'");
    assert_fails(ctx, parse_repeated(ctx, "additive(", "rbf", ")[1:1000]", 2), MERCER_SYNTAX, "more than 262144 parts");
    assert_fails(ctx, parse_repeated(ctx, "additive(", "rbf", ")[1]", 200), MERCER_SYNTAX, "nested more than 200 deep");
    assert_ok(ctx, parse_repeated(ctx, "additive(", "rbf", ")[1]", 100));
    close_clean(ctx);
}

static void test_series_are_bounded(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    assert_fails(ctx, parse_repeated(ctx, "", "series(1", ",1", 64), MERCER_SYNTAX, "expected ','");
    assert_fails(ctx, parse_repeated(ctx, "", "series(1", ",1", 65), MERCER_SYNTAX, "at most 65 coefficients");
    assert_ok(ctx, parse_repeated(ctx, "series(", "rbf(1)", ",1,2,3)", 6));
    assert_fails(ctx, parse_repeated(ctx, "series(", "rbf(1)", ",1,2,3)", 60), MERCER_SYNTAX,
                 "a series within a series has more than 65536 parts");
    assert_fails(ctx, parse_repeated(ctx, "series(", "rbf(1)", ",1)", 300), MERCER_SYNTAX, "nested more than");
    close_clean(ctx);
}

static void test_every_prefix_parses_or_points_inside(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    const char text[] =
        "-0.5*rbf(sigma=[1, 2.5e0], gamma={1,2})[1:3, \"a b\", age] + weigh(x[1]^-2/norm, form([[1, 2], [2, 1]]))";
    char prefix[sizeof text];
    for (size_t n = 0; n < sizeof text; n++) {
        memcpy(prefix, text, n);
        prefix[n] = '\0';
        mercer_kernel *kernel = NULL;
        if (mercer_kernel_parse(ctx, prefix, &kernel))
            assert_in_range(mercer_message_offset(ctx), 0, n);
        mercer_kernel_free(kernel);
    }
    close_clean(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_line_of_the_list_holds),
        cmocka_unit_test(test_hostile_nesting_is_refused_in_time),
        cmocka_unit_test(test_long_lists_are_refused_or_read),
        cmocka_unit_test(test_series_are_bounded),
        cmocka_unit_test(test_every_prefix_parses_or_points_inside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
