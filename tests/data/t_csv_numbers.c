/* t_csv_numbers.c: rows of numbers as text read back to the same doubles, in their places, whatever the threads. */
#include "base/rng.h"
#include "data/csv/csv_numbers.h"
#include "support.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 70001, LEFT = 3, RIGHT = 2 };

/* Every kind of double: whole, tiny, huge, not finite. */
static double some_number(mc_rng *rng, int64_t i) {
    static const double odd[] = {0, -0.0, 1, -1e300, 5e-324, INFINITY, -INFINITY, NAN};
    return i % 5 == 0 ? odd[i / 5 % 8] : mc_rng_normal(rng) * exp2((double)(i % 100) - 50);
}

static char *written_by(int threads, int64_t n, const double *left, const double *right, size_t *size) {
    char *bytes = NULL;
    mercer_ctx *ctx = open_ctx(threads);
    FILE *out = open_memstream(&bytes, size);
    const mc_csv_block block[] = {{left, LEFT, LEFT}, {right, 1, RIGHT}};
    assert_ok(ctx, mc_csv_numbers(ctx, n, block, 2, out));
    fclose(out);
    close_clean(ctx);
    return bytes;
}

static void assert_reads_back(const char **at, double value, char after) {
    char *end;
    const double read = strtod(*at, &end);
    assert_true(isnan(value) ? isnan(read) : memcmp(&read, &value, sizeof value) == 0);
    assert_int_equal(*end, after);
    *at = end + 1;
}

static void test_rows_read_back_on_any_number_of_threads(void **state) {
    (void)state;
    double *left = calloc(ROWS * LEFT, sizeof *left), *right = calloc(ROWS * RIGHT, sizeof *right);
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 1);
    for (int64_t i = 0; i < ROWS * LEFT; i++)
        left[i] = some_number(&rng, i);
    for (int64_t i = 0; i < ROWS * RIGHT; i++)
        right[i] = some_number(&rng, i);
    size_t size, other;
    char *one = written_by(1, ROWS, left, right, &size);
    const char *at = one;
    for (int64_t i = 0; i < ROWS; i++) {
        for (int64_t j = 0; j < LEFT; j++)
            assert_reads_back(&at, left[i * LEFT + j], ',');
        assert_reads_back(&at, right[i * RIGHT], '\n');
    }
    assert_true(at == one + size);
    static const int threads[] = {2, 3, 7, 16};
    for (size_t k = 0; k < sizeof threads / sizeof *threads; k++) {
        char *many = written_by(threads[k], ROWS, left, right, &other);
        assert_true(size == other && memcmp(one, many, size) == 0);
        free(many);
    }
    free(one);
    free(left);
    free(right);
}

static void test_no_rows_are_no_text(void **state) {
    (void)state;
    size_t size;
    free(written_by(2, 0, NULL, NULL, &size));
    assert_int_equal(size, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_read_back_on_any_number_of_threads),
        cmocka_unit_test(test_no_rows_are_no_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
