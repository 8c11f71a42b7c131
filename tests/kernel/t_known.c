/* Every expression of docs/known_kernels.md gets the verdict that stands there. */
#include "support.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static FILE *open_list(void) {
    char path[1024];
    const char *tests = getenv("MERCER_TESTS");
    snprintf(path, sizeof path, "%s/../docs/known_kernels.md", tests ? tests : "../tests");
    FILE *file = fopen(path, "r");
    if (!file)
        fail_msg("cannot open %s", path);
    return file;
}

static mercer_verdict verdict_of(mercer_ctx *ctx, const char *text, int64_t d) {
    mercer_kernel *kernel = NULL;
    mercer_proof *proof = NULL;
    assert_ok(ctx, mercer_kernel_parse(ctx, text, &kernel));
    assert_ok(ctx, mercer_prove(ctx, kernel, d, &proof));
    const mercer_verdict verdict = mercer_proof_verdict(proof);
    mercer_proof_free(proof);
    mercer_kernel_free(kernel);
    return verdict;
}

/* "| `expression` | columns | yes | why |"; false: another line. */
static bool read_row(char *line, const char **expression, int64_t *d, mercer_verdict *truth) {
    char *end = strncmp(line, "| `", 3) == 0 ? strstr(line, "` | ") : NULL;
    if (!end)
        return false;
    *end = '\0';
    *expression = line + 3;
    *d = atoll(end + 4);
    const char *answer = strstr(end + 4, "| ");
    *truth = answer && strncmp(answer, "| yes |", 7) == 0 ? MERCER_PROVED : MERCER_REFUTED;
    return true;
}

static void test_known_kernels_are_settled(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    FILE *file = open_list();
    char line[512];
    int count = 0, wrong = 0, item = 0;
    while (fgets(line, sizeof line, file)) {
        const char *expression;
        int64_t d;
        mercer_verdict truth;
        if (!read_row(line, &expression, &d, &truth) || !test_takes(item++))
            continue;
        const mercer_verdict got = verdict_of(ctx, expression, d);
        if (got != truth)
            print_error("%s on %lld columns: wanted %d, got %d\n", expression, (long long)d, truth, got);
        wrong += got != truth;
        count++;
    }
    fclose(file);
    assert_true(item >= 150 && count > 0);
    assert_int_equal(wrong, 0);
    close_clean(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_known_kernels_are_settled)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
