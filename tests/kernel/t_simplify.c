#include "base/memory.h"
#include "kernel/language/node.h"
#include "kernel/language/parse.h"
#include "kernel/language/simplify.h"
#include "random_kernel.h"
#include "support.h"
#include <math.h>
#include <string.h>

enum { D = 3, TRIALS = 4000 };

static mc_node *parsed(mercer_ctx *ctx, const char *text) {
    mc_node *node = NULL;
    const mercer_status status = mc_parse_expression(ctx, text, (mc_users){0}, &node);
    if (status)
        fail_msg("%s: %s", text, mercer_message(ctx));
    return node;
}

static char *printed(mercer_ctx *ctx, const mc_node *node) {
    char *text = NULL;
    assert_ok(ctx, mc_node_print(ctx, node, &text));
    return text;
}

static void test_printed_trees_read_back_as_they_are(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 10);
    for (int trial = 0; trial < TRIALS; trial++) {
        char text[RANDOM_KERNEL_SIZE];
        random_kernel(&rng, D, text);
        mc_node *once = parsed(ctx, text);
        assert_ok(ctx, mc_simplify_expression(ctx, &once));
        char *first = printed(ctx, once);
        mc_node *again = parsed(ctx, first);
        assert_ok(ctx, mc_simplify_expression(ctx, &again));
        char *second = printed(ctx, again);
        if (!mc_node_equal(once, again) || strcmp(first, second) != 0)
            fail_msg("%s\nprints as\n%s\nthen as\n%s", text, first, second);
        mc_node_free(once);
        mc_node_free(again);
        mc_free(first);
        mc_free(second);
    }
    close_clean(ctx);
}

static void test_simplifying_twice_changes_nothing_more(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 11);
    for (int trial = 0; trial < TRIALS; trial++) {
        char text[RANDOM_KERNEL_SIZE];
        mc_node *once = NULL, *twice = NULL;
        random_kernel(&rng, D, text);
        once = parsed(ctx, text);
        assert_ok(ctx, mc_simplify_expression(ctx, &once));
        assert_ok(ctx, mc_node_copy(ctx, once, &twice));
        assert_true(mc_node_equal(once, twice));
        assert_ok(ctx, mc_simplify_expression(ctx, &twice));
        if (!mc_node_equal(once, twice)) {
            char *a = printed(ctx, once), *b = printed(ctx, twice);
            fail_msg("%s\ngives\n%s\nthen\n%s", text, a, b);
        }
        mc_node_free(once);
        mc_node_free(twice);
    }
    close_clean(ctx);
}

/* Sum of the absolute values that meet in the expression: what rounding errors are relative to. */
static double size_of(const mc_node *node, const double *x, const double *z) {
    double size = fabs(mc_eval_kernel(node, x, z, D));
    if (node->kind != MC_COLUMNS)
        for (int i = 0; i < node->children; i++)
            size = fmax(size, size_of(node->child[i], x, z));
    return size;
}

static void test_simplifying_keeps_the_value(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 12);
    int compared = 0;
    for (int trial = 0; trial < TRIALS; trial++) {
        char text[RANDOM_KERNEL_SIZE];
        double x[D], z[D];
        random_kernel(&rng, D, text);
        for (int j = 0; j < D; j++) {
            x[j] = mc_rng_uniform(&rng);
            z[j] = mc_rng_uniform(&rng);
        }
        mc_node *node = parsed(ctx, text);
        const double before = mc_eval_kernel(node, x, z, D), size = size_of(node, x, z);
        assert_ok(ctx, mc_simplify_expression(ctx, &node));
        const double after = mc_eval_kernel(node, x, z, D);
        if (isfinite(before) && size < 1e6) {
            compared++;
            if (!(fabs(before - after) <= 1e-9 * fmax(1, size)))
                fail_msg("%s: %.17g became %.17g", text, before, after);
        }
        mc_node_free(node);
    }
    assert_true(compared > TRIALS / 2);
    close_clean(ctx);
}

static void test_sums_of_numbers_keep_their_sign(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    const char *const text[] = {"1e16 - 1 - 1e16", "0.3 - 0.1 - 0.2", "1e300 + 1 - 1e300 + 1e-300 - 1",
                                "-1e-200*1e-200"};
    const int sign[] = {-1, -1, 1, -1};
    for (int i = 0; i < 4; i++) {
        mc_node *node = parsed(ctx, text[i]);
        assert_ok(ctx, mc_simplify_expression(ctx, &node));
        if (node->kind == MC_NUMBER) {
            assert_true(node->number * sign[i] > 0);
        } else /* an underflow is left alone */
            assert_true(node->kind == MC_PRODUCT && node->child[0]->number < 0);
        mc_node_free(node);
    }
    close_clean(ctx);
}

static mercer_status parse_and_copy(mercer_ctx *ctx, void *arg) {
    mercer_kernel *kernel = NULL;
    mc_node *copy = NULL;
    mercer_status status = mercer_kernel_parse(ctx, arg, &kernel);
    if (!status)
        status = mc_node_copy(ctx, kernel->root, &copy);
    mc_node_free(copy);
    mercer_kernel_free(kernel);
    return status;
}

static void test_parsing_survives_failing_memory(void **state) {
    (void)state;
    assert_survives_failing_memory(
        parse_and_copy,
        "2*(linear - (rbf + rbf)) + 3*(-2*linear[1:3, age, \"a b\", 7])^2 - weigh(2, weigh(x[1]*-norm2^2, "
        "form([[2, 1], [1, 2]])[1:2]*form(\"A.npy\"))) + normalize(-2*(poly({1, 2}) + white)[2]) + "
        "rbf(sigma=[1, 2, 3])*white*white + matern(length_scale=1..3)");
    assert_survives_failing_memory(parse_and_copy,
                                   "additive(2*rbf + linear, order=2)[1, b] + blended(p=2, decay=0.5)[t]");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_printed_trees_read_back_as_they_are),
        cmocka_unit_test(test_simplifying_twice_changes_nothing_more),
        cmocka_unit_test(test_simplifying_keeps_the_value),
        cmocka_unit_test(test_sums_of_numbers_keep_their_sign),
        cmocka_unit_test(test_parsing_survives_failing_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
