#include "support.h"
#include "kernel/kernel.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = {"proved", "refuted", "unknown"};

static mercer_proof *prove(mercer_ctx *ctx, const char *text, int64_t d) {
    mercer_kernel *kernel = NULL;
    mercer_proof *proof = NULL;
    assert_ok(ctx, mercer_kernel_parse(ctx, text, &kernel));
    assert_ok(ctx, mercer_prove(ctx, kernel, d, &proof));
    mercer_kernel_free(kernel);
    return proof;
}

/* verdicts.txt stands beside this file. */
static FILE *open_verdicts(void) {
    char path[1024];
    snprintf(path, sizeof path, "%s", __FILE__);
    strcpy(strrchr(path, '/') + 1, "verdicts.txt");
    FILE *file = fopen(path, "r");
    if (!file)
        fail_msg("cannot open %s", path);
    return file;
}

static void test_verdicts_are_as_expected(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    FILE *file = open_verdicts();
    char line[512];
    int count = 0, wrong = 0;
    while (fgets(line, sizeof line, file)) {
        char *mark = strstr(line, " # expect: ");
        if (line[0] == '#' || !mark)
            continue;
        const char *expected = mark + strlen(" # expect: "), *d = strstr(expected, "d=");
        *mark = '\0';
        mercer_proof *proof = prove(ctx, line, d ? atoll(d + 2) : 0);
        const char *got = names[mercer_proof_verdict(proof)];
        if (strncmp(expected, got, strlen(got)) != 0) {
            print_error("%s: wanted %s got %s\n", line, expected, got);
            wrong++;
        }
        mercer_proof_free(proof);
        count++;
    }
    fclose(file);
    assert_true(count >= 80);
    assert_int_equal(wrong, 0);
    close_clean(ctx);
}

static mercer_status parse_and_prove(mercer_ctx *ctx, void *text) {
    mercer_kernel *kernel = NULL;
    mercer_proof *proof = NULL;
    mercer_status status = mercer_kernel_parse(ctx, text, &kernel);
    if (!status)
        status = mercer_prove(ctx, kernel, 0, &proof);
    mercer_proof_free(proof);
    mercer_kernel_free(kernel);
    return status;
}

static void test_proving_survives_failing_memory(void **state) {
    (void)state;
    assert_survives_failing_memory(parse_and_prove, "weigh(exp(-norm2), rbf(gamma=1)[1:2]) + exp(linear) - 1"
                                                    " + form([[3, 1, 4], [1, 3, 4], [4, 4, 8]])^2");
    assert_survives_failing_memory(parse_and_prove, "rbf(gamma=1)[age] - 0.5*rbf(gamma=0.1..2)[age]");
    assert_survives_failing_memory(parse_and_prove, "(linear - linear[1])[1]");
}

static void test_a_fit_needs_a_proof_or_consent(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    mercer_kernel *kernel = NULL;
    assert_ok(ctx, mercer_kernel_parse(ctx, "tanh(a=1, c=0)", &kernel));
    assert_fails(ctx, mc_kernel_require(ctx, kernel, 2, false), MERCER_NOT_A_KERNEL, "is not a kernel: the sum of");
    assert_fails(ctx, mc_kernel_require(ctx, kernel, 2, false), MERCER_NOT_A_KERNEL, "--allow-indefinite");
    assert_ok(ctx, mc_kernel_require(ctx, kernel, 2, true));
    mercer_kernel_free(kernel);
    assert_ok(ctx, mercer_kernel_parse(ctx, "(linear - linear[1])[1]", &kernel));
    assert_fails(ctx, mc_kernel_require(ctx, kernel, 2, false), MERCER_NOT_A_KERNEL, "neither proved nor refuted");
    mercer_kernel_free(kernel);
    assert_ok(ctx, mercer_kernel_parse(ctx, "rbf(gamma=1)", &kernel));
    assert_ok(ctx, mc_kernel_require(ctx, kernel, 2, false));
    mercer_kernel_free(kernel);
    close_clean(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_verdicts_are_as_expected),
        cmocka_unit_test(test_proving_survives_failing_memory),
        cmocka_unit_test(test_a_fit_needs_a_proof_or_consent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
