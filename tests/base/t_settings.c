#include "support.h"
#include "base/settings.h"
#include <math.h>
#include <string.h>

typedef struct toy {
    double lambda;
    int64_t rank;
    bool intercept;
    const char *scale, *note;
} toy;

static const mercer_setting rows[] = {
    {"lambda", MERCER_REAL, offsetof(toy, lambda), 1, 0, INFINITY, NULL, NULL, "added to the diagonal", {NULL}},
    {"rank", MERCER_INTEGER, offsetof(toy, rank), 10, 1, 100, NULL, NULL, "how many", {NULL}},
    {"intercept", MERCER_FLAG, offsetof(toy, intercept), 1, 0, 1, NULL, NULL, "b", {NULL}},
    {"scale", MERCER_TEXT, offsetof(toy, scale), 0, 0, 0, "auto", "auto|none", "how to scale", {NULL}},
    {"note", MERCER_TEXT, offsetof(toy, note), 0, 0, 0, "", NULL, "any text", {NULL}},
};
enum { ROWS = sizeof rows / sizeof rows[0] };

static void test_defaults_pass_their_own_check(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    toy t;
    mc_settings_fill(rows, ROWS, &t);
    assert_true(t.lambda == 1 && t.rank == 10 && t.intercept);
    assert_string_equal(t.scale, "auto");
    assert_ok(ctx, mc_settings_check(ctx, "toy", rows, ROWS, &t));
    close_clean(ctx);
}

static void test_a_text_without_choices_takes_any(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    toy t;
    mc_settings_fill(rows, ROWS, &t);
    assert_string_equal(t.note, "");
    assert_ok(ctx, mc_settings_write(ctx, "toy", rows, ROWS, &t, "note", "A=2,B=1"));
    assert_string_equal(t.note, "A=2,B=1");
    assert_ok(ctx, mc_settings_check(ctx, "toy", rows, ROWS, &t));
    t.note = NULL;
    assert_fails(ctx, mc_settings_check(ctx, "toy", rows, ROWS, &t), MERCER_INVALID, "note");
    close_clean(ctx);
}

static void test_bad_values_are_named(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    toy t;
    mc_settings_fill(rows, ROWS, &t);
    t.lambda = NAN;
    assert_fails(ctx, mc_settings_check(ctx, "toy", rows, ROWS, &t), MERCER_INVALID, "toy: lambda must be in [0, inf]");
    t.lambda = 1;
    t.scale = "big";
    assert_fails(ctx, mc_settings_check(ctx, "toy", rows, ROWS, &t), MERCER_INVALID, "one of auto|none, got 'big'");
    t.scale = "auto|none";
    assert_fails(ctx, mc_settings_check(ctx, "toy", rows, ROWS, &t), MERCER_INVALID,
                 "one of auto|none, got 'auto|none'");
    close_clean(ctx);
}

static void test_fields_from_text(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    toy t;
    mc_settings_fill(rows, ROWS, &t);
    assert_ok(ctx, mc_settings_write(ctx, "toy", rows, ROWS, &t, "lambda", "1e-3"));
    assert_ok(ctx, mc_settings_write(ctx, "toy", rows, ROWS, &t, "rank", "7"));
    assert_ok(ctx, mc_settings_write(ctx, "toy", rows, ROWS, &t, "intercept", "no"));
    assert_ok(ctx, mc_settings_write(ctx, "toy", rows, ROWS, &t, "scale", "none"));
    assert_true(t.lambda == 1e-3 && t.rank == 7 && !t.intercept && strcmp(t.scale, "none") == 0);
    assert_fails(ctx, mc_settings_write(ctx, "toy", rows, ROWS, &t, "lambda", "-1"), MERCER_INVALID, "got -1");
    assert_fails(ctx, mc_settings_write(ctx, "toy", rows, ROWS, &t, "lambda", "1x"), MERCER_INVALID,
                 "a number, got '1x'");
    assert_fails(ctx, mc_settings_write(ctx, "toy", rows, ROWS, &t, "rank", "1.5"), MERCER_INVALID, "whole number");
    assert_fails(ctx, mc_settings_write(ctx, "toy", rows, ROWS, &t, "nope", "1"), MERCER_INVALID, "no setting 'nope'");
    assert_fails(ctx, mc_settings_write(ctx, "toy", rows, ROWS, &t, "Lamda", "1"), MERCER_INVALID,
                 "'Lamda'; did you mean 'lambda'?");
    assert_fails(ctx, mc_settings_write(ctx, "toy", rows, ROWS, &t, "zebra", "1"), MERCER_INVALID,
                 "no setting 'zebra'");
    close_clean(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults_pass_their_own_check),
        cmocka_unit_test(test_a_text_without_choices_takes_any),
        cmocka_unit_test(test_bad_values_are_named),
        cmocka_unit_test(test_fields_from_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
