#include "base/suggest.h"
#include "support.h"
#include <string.h>

static const char *const names[] = {"linear", "laplacian", "rbf", "exp", "log", "exponential"};

static const char *nearest(const char *word) {
    return mc_suggest_name(word, strlen(word), names, 6);
}

static void test_a_slip_finds_the_name(void **state) {
    (void)state;
    assert_string_equal(nearest("rbg"), "rbf");
    assert_string_equal(nearest("RBF"), "rbf");
    assert_string_equal(nearest("brf"), "rbf");
    assert_string_equal(nearest("lapalcian"), "laplacian");
    assert_string_equal(nearest("linea"), "linear");
    assert_string_equal(nearest("exponentail"), "exponential");
    assert_string_equal(nearest("exq"), "exp");
}

static void test_the_beginning_of_a_name_finds_it_whatever_is_nearer(void **state) {
    (void)state;
    static const char *const scores[] = {"auc", "log-loss", "accuracy", "f1", "rmse"};
    assert_string_equal(mc_suggest_name("acc", 3, scores, 5), "accuracy");
    assert_string_equal(mc_suggest_name("Acc", 3, scores, 5), "accuracy");
    assert_string_equal(mc_suggest_name("auv", 3, scores, 5), "auc");
    assert_string_equal(mc_suggest_name("accuracyx", 9, scores, 5), "accuracy");
    assert_null(mc_suggest_name("a", 1, scores, 5));
    assert_string_equal(nearest("ex"), "exp"); /* of several the shortest */
    assert_string_equal(nearest("expo"), "exponential");
    assert_string_equal(nearest("Lap"), "laplacian");
}

static void test_a_stranger_finds_nothing(void **state) {
    (void)state;
    assert_null(nearest("foo"));
    assert_null(nearest("zebra"));
    assert_null(nearest(""));
    char text[200];
    memset(text, 'a', sizeof text);
    assert_null(mc_suggest_name(text, sizeof text, names, 6));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_slip_finds_the_name),
        cmocka_unit_test(test_the_beginning_of_a_name_finds_it_whatever_is_nearer),
        cmocka_unit_test(test_a_stranger_finds_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
