#include "support.h"
#include "eval_long.h"
#include "kernel/proof/refute.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct answer {
    mercer_kernel *kernel;
    mercer_proof *proof;
    const mercer_witness *witness;
} answer;

static answer refute(mercer_ctx *ctx, const char *text, int64_t d) {
    answer a = {0};
    assert_ok(ctx, mercer_kernel_parse(ctx, text, &a.kernel));
    assert_ok(ctx, mercer_prove(ctx, a.kernel, d, &a.proof));
    a.witness = mercer_proof_witness(a.proof);
    if (!a.witness)
        fail_msg("%s was not refuted", text);
    return a;
}

static void drop(answer *a) {
    mercer_proof_free(a->proof);
    mercer_kernel_free(a->kernel);
}

static const char *const closed[] = {
    "tanh(a=1, c=1)",
    "tanh(a=1, c=0)",
    "tanh(a=1, c=20)",
    "linear - rbf(gamma=1)",
    "rbf(gamma=1) - 0.5*rbf(gamma=2)",
    "(1 + linear)^1.5",
    "(1 + linear)^2.5",
    "(1 + linear)^3.5",
    "(2 + linear)^4.5",
    "(1 + linear)^6.5",
    "-1*linear",
    "form([[1, 2], [2, 1]])",
    "exp(-1*linear)",
    "exp(-1*linear^2)",
    "(1 + rbf(gamma=1))^0.5",
    "chi2 - 0.9",
    "intersection - 0.5*linear",
    "rbf(gamma=2) - 0.5*rbf(gamma=1)",
    "normalize(linear) - 0.1*white",
    "(linear^2)^0.5",
    "weigh(x[1], -1*rbf(gamma=1))",
    "(linear - rbf(gamma=1))[2]",
    "arccos(order=2) - 0.9*arccos",
    "periodic - 0.9",
};
enum { CLOSED = sizeof closed / sizeof closed[0] };

/* The referee has 64 bits of mantissa and shares no code with the library. */
static void test_witnesses_stand_before_the_referee(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    for (int k = 0; k < CLOSED; k++) {
        answer a = refute(ctx, closed[k], 0);
        const long double form = form_long(a.kernel->root, a.witness);
        assert_true(a.witness->value + a.witness->bound < 0);
        if (!(form < 0 && fabsl(form - a.witness->value) <= a.witness->bound + 1e-18L))
            fail_msg("%s: %.20Lg against %.17g +- %g", closed[k], form, a.witness->value, a.witness->bound);
        drop(&a);
    }
    close_clean(ctx);
}

static void test_pairs_break_cauchy_schwarz(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    int pairs = 0;
    for (int k = 0; k < CLOSED; k++) {
        answer a = refute(ctx, closed[k], 0);
        const mercer_witness *w = a.witness;
        if (w->pair[0] >= 0) {
            const double *x = w->points + w->pair[0] * w->d, *z = w->points + w->pair[1] * w->d;
            const mc_node *root = a.kernel->root;
            const long double xz = eval_long(root, x, z, w->d);
            assert_true(xz * xz > eval_long(root, x, x, w->d) * eval_long(root, z, z, w->d));
            pairs++;
        } else
            assert_int_equal(w->pair[1], -1);
        drop(&a);
    }
    assert_true(pairs >= 4);
    close_clean(ctx);
}

/* Short numbers: at most 4 significant digits in points, and weights that are whole or have at most 4 decimals. */
static bool is_short(double v, double digits) {
    const double unit = v == 0 ? 1 : pow(10, digits - 1 - floor(log10(fabs(v))));
    return fabs(v * unit - nearbyint(v * unit)) < 1e-6;
}

static void test_witnesses_are_small(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int64_t points;
    } most[] = {
        {"linear - rbf(gamma=1)", 1}, {"-1*linear", 1},        {"form([[1, 2], [2, 1]])", 1},
        {"tanh(a=1, c=0)", 2},        {"tanh(a=1, c=1)", 2},   {"rbf(gamma=1) - 0.5*rbf(gamma=2)", 3},
        {"(1 + linear)^0.5", 3},      {"(1 + linear)^1.5", 4}, {"(1 + linear)^2.5", 5},
        {"(1 + linear)^3.5", 6},      {"1 - rbf(gamma=1)", 2}, {"rbf(gamma=1) - 0.5", 3},
    };
    mercer_ctx *ctx = open_ctx(1);
    for (size_t k = 0; k < sizeof most / sizeof most[0]; k++) {
        answer a = refute(ctx, most[k].text, 0);
        if (a.witness->count > most[k].points)
            fail_msg("%s: %d points", most[k].text, (int)a.witness->count);
        for (int64_t i = 0; i < a.witness->count * a.witness->d; i++)
            assert_true(is_short(a.witness->points[i], 4));
        for (int64_t i = 0; i < a.witness->count; i++)
            assert_true(fabs(a.witness->weights[i] * 1e4 - nearbyint(a.witness->weights[i] * 1e4)) < 1e-6);
        drop(&a);
    }
    close_clean(ctx);
}

/* The printed numbers are enough to check the claim, also where seven digits would not show the sign. */
static void test_printed_values_add_up_to_what_is_claimed(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    static const char *const texts[] = {"(1 + linear)^1.5", "exp(linear) - 0.5000001*linear^2", "tanh(a=1, c=0)",
                                        "rbf - 0.5"};
    for (size_t t = 0; t < sizeof texts / sizeof texts[0]; t++) {
        answer a = refute(ctx, texts[t], 0);
        const mercer_witness *w = a.witness;
        const char *rest = strstr(mercer_proof_text(a.proof), " are\n\n");
        long double sum = 0;
        if (!rest || w->count > 9)
            fail_msg("%s: no values are printed", texts[t]);
        rest += strlen(" are\n\n");
        for (int64_t i = 0; i < w->count * w->count; i++)
            sum += (long double)w->weights[i / w->count] * w->weights[i % w->count] * strtold(rest, (char **)&rest);
        rest = strstr(rest, ") is ") + strlen(") is ");
        const long double value = strtold(rest, (char **)&rest);
        const long double bound =
            strncmp(rest, ", exactly", 9) == 0 ? 0 : strtold(rest + strlen(", give or take "), NULL);
        if (!(fabsl(sum - value) <= bound + 1e-18L * fabsl(value)) || !(fabsl(value - w->value) <= bound)
            || !(value + bound < 0))
            fail_msg("%s: %.20Lg printed, %.20Lg, give or take %Lg, claimed", texts[t], sum, value, bound);
        drop(&a);
    }
    close_clean(ctx);
}

static void test_a_witness_names_the_values_of_what_was_open(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    answer a = refute(ctx, "rbf - 0.5", 0), b = refute(ctx, "-linear", 0);
    assert_string_equal(a.witness->kernel, "rbf(gamma=1) - 0.5");
    assert_string_equal(b.witness->kernel, "-linear");
    drop(&a);
    drop(&b);
    close_clean(ctx);
}

static void test_points_have_the_columns_asked_for(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    static const int64_t columns[] = {1, 2, 3, 10, 784};
    for (int k = 0; k < 5; k++) {
        answer a = refute(ctx, "tanh(a=0.01, c=0.1)", columns[k]);
        assert_int_equal(a.witness->d, columns[k]);
        assert_true(form_long(a.kernel->root, a.witness) < 0);
        drop(&a);
    }
    answer a = refute(ctx, "rbf(gamma=1)[5] - linear[3]", 0);
    assert_true(a.witness->d >= 5);
    drop(&a);
    close_clean(ctx);
}

static void test_chi2_is_refuted_without_negative_entries(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    static const char *const texts[] = {"chi2 - 0.9", "intersection - 0.5*linear", "linear - chi2",
                                        "intersection - chi2", "(1 + intersection)^0.5"};
    for (int k = 0; k < 5; k++) {
        answer a = refute(ctx, texts[k], 2);
        for (int64_t i = 0; i < a.witness->count * a.witness->d; i++)
            assert_true(a.witness->points[i] >= 0);
        drop(&a);
    }
    close_clean(ctx);
}

/* An open parameter falls with one value it may get, and the text says which. */
static void test_open_kernels_name_the_instance(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    static const char *const texts[][2] = {
        {"rbf - 0.5*rbf(gamma=2)", "may become rbf(gamma=1) - 0.5*rbf(gamma=2)"},
        {"tanh(a=0..1, c=0)", "may become tanh(a=1, c=0)"},
        {"tanh(a={0, 2}, c=0)", "may become tanh(a=2, c=0)"},
        {"-1*rbf[age]", "may become -rbf(gamma=1)[age]"},
    };
    for (int k = 0; k < 4; k++) {
        answer a = refute(ctx, texts[k][0], 0);
        if (!strstr(mercer_proof_text(a.proof), texts[k][1]))
            fail_msg("%s: %s", texts[k][0], mercer_proof_text(a.proof));
        drop(&a);
    }
    close_clean(ctx);
}

static void test_the_same_seed_gives_the_same_witness(void **state) {
    (void)state;
    for (int k = 0; k < CLOSED; k++) {
        mercer_ctx *one = open_ctx(1), *two = open_ctx(2);
        answer a = refute(one, closed[k], 0), b = refute(two, closed[k], 0);
        assert_string_equal(mercer_proof_text(a.proof), mercer_proof_text(b.proof));
        assert_memory_equal(a.witness->points, b.witness->points,
                            (size_t)(a.witness->count * a.witness->d) * sizeof(double));
        drop(&a);
        drop(&b);
        close_clean(one);
        close_clean(two);
    }
}

/* By the checker's own formulas; and what is changed is refused. */
static void test_frequencies_are_verified(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int64_t d;
    } cases[] = {{"rbf(gamma=1) - 0.1*rbf(gamma=0.5)", 7},
                 {"matern(nu=0.8, length_scale=2) - 0.9*matern(nu=0.8, length_scale=1)", 2},
                 {"rq(alpha=1.5, length_scale=2) - 0.5*rq(alpha=1.5, length_scale=1)", 1},
                 {"rq(alpha=1, length_scale=2)^2 - 0.5*rq(alpha=2, length_scale=1)", 3},
                 {"matern(nu=1.2, length_scale=1)*0.5 - 0.001*laplacian(gamma=1)", 1},
                 {"sinc(length_scale=2)^2 - 0.3*sinc(length_scale=1)", 1},
                 {"wendland(k=0, dimension=1, length_scale=1)", 2},
                 {"wendland(k=1, dimension=3, length_scale=2)", 4},
                 {"wendland(k=2, dimension=3, length_scale=1)", 5},
                 {"exp(rbf(gamma=1)) - 1.001", 0},
                 {"0.001*rbf(gamma=1) + 0.999*periodic - 0.5", 1},
                 {"(periodic - rbf(gamma=1))^2 - 0.5", 1}};
    mercer_ctx *ctx = open_ctx(1);
    int found = 0;
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        mercer_kernel *kernel = NULL;
        mc_negative_frequency claim = {0};
        assert_ok(ctx, mercer_kernel_parse(ctx, cases[k].text, &kernel));
        assert_ok(ctx, mc_find_negative_frequency(ctx, kernel->root, cases[k].d ? cases[k].d : 1, cases[k].d, &claim));
        if (claim.found && !mc_verify_frequency(kernel->root, &claim))
            fail_msg("%s: %.17g +- %g is not confirmed", cases[k].text, claim.value, claim.bound);
        found += claim.found;
        for (int way = 0; claim.found && way < 3; way++) {
            mc_negative_frequency other = claim;
            other.value *= way == 0 ? 1.001 : way == 1 ? 0.999 : 1;
            other.mean = way == 2 ? !claim.mean : claim.mean;
            assert_false(mc_verify_frequency(kernel->root, &other));
        }
        mercer_kernel_free(kernel);
    }
    assert_true(found >= 10);
    close_clean(ctx);
}

static void test_eigenvalues_are_those_of_known_matrices(void **state) {
    (void)state;
    double v[MC_WITNESS_POINTS], K[MC_WITNESS_POINTS * MC_WITNESS_POINTS];
    for (int64_t m = 1; m <= MC_WITNESS_POINTS; m++) { /* the second difference: 2 - 2 cos(k pi / (m + 1)) */
        memset(K, 0, sizeof K);
        for (int64_t i = 0; i < m; i++) {
            K[i * m + i] = 2;
            if (i + 1 < m)
                K[i * m + i + 1] = K[(i + 1) * m + i] = -1;
        }
        const double h = 3.14159265358979323846 / (double)(m + 1);
        assert_true(mc_surely_definite(K, m));
        assert_close(mc_smallest_eigenvalue(K, m, v), (2 - 2 * cos(h)) / (2 - 2 * cos((double)m * h)), 1e-14);
    }
}

typedef struct clock_stop {
    int calls;
} clock_stop;

static int stop(void *user, const mercer_progress *progress) {
    (void)progress;
    return ++((clock_stop *)user)->calls > 0;
}

static void test_a_long_search_can_be_stopped(void **state) {
    (void)state;
    clock_stop counted = {0};
    mercer_options options = mercer_options_defaults();
    options.progress = stop;
    options.progress_user = &counted;
    mercer_ctx *ctx = NULL;
    mercer_kernel *kernel = NULL;
    mercer_proof *proof = NULL;
    assert_int_equal(mercer_open(&options, &ctx), MERCER_OK);
    assert_ok(ctx, mercer_kernel_parse(ctx, "rbf - 1e-3", &kernel));
    assert_int_equal(mercer_prove(ctx, kernel, 0, &proof), MERCER_CANCELLED);
    assert_null(proof);
    assert_true(counted.calls > 0);
    mercer_kernel_free(kernel);
    close_clean(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_witnesses_stand_before_the_referee),
        cmocka_unit_test(test_pairs_break_cauchy_schwarz),
        cmocka_unit_test(test_witnesses_are_small),
        cmocka_unit_test(test_printed_values_add_up_to_what_is_claimed),
        cmocka_unit_test(test_a_witness_names_the_values_of_what_was_open),
        cmocka_unit_test(test_points_have_the_columns_asked_for),
        cmocka_unit_test(test_chi2_is_refuted_without_negative_entries),
        cmocka_unit_test(test_open_kernels_name_the_instance),
        cmocka_unit_test(test_the_same_seed_gives_the_same_witness),
        cmocka_unit_test(test_frequencies_are_verified),
        cmocka_unit_test(test_eigenvalues_are_those_of_known_matrices),
        cmocka_unit_test(test_a_long_search_can_be_stopped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
