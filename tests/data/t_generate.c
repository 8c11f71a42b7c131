#include "support.h"
#include "data/table/data.h"
#include "data/read/read.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static mercer_data *generate(mercer_ctx *ctx, const char *name, int64_t n, double noise) {
    mercer_data *data = NULL;
    assert_ok(ctx, mercer_data_generate(ctx, name, n, noise, 7, &data));
    return data;
}

static uint64_t mix(uint64_t h, const double *x, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        uint64_t bits;
        memcpy(&bits, &x[i], sizeof bits);
        h = (h ^ bits) * 0x9E3779B97F4A7C15u;
        h ^= h >> 31;
    }
    return h;
}

static void test_every_generator_makes_finite_data_with_a_target(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(0);
    int count = 0;
    const char *const *names = mercer_generators(&count);
    assert_true(count >= 12);
    for (int k = 0; k < count; k++) {
        mercer_data *data = generate(ctx, names[k], 300, 0.1);
        assert_int_equal(mercer_data_rows(data), 300);
        assert_true((mercer_data_outputs(data) == 1) != (mercer_data_classes(data) >= 2));
        assert_int_equal(mc_first_not_finite(MERCER_F64, data->values, 300 * data->d), -1);
        assert_string_equal(mercer_data_column_name(data, 0), "x1");
        mercer_data_free(data);
    }
    close_clean(ctx);
}

/* Recorded once; every build, compiler and number of threads must give these bits. */
static void test_same_bits_everywhere(void **state) {
    (void)state;
    for (int threads = 1; threads <= 4; threads += 3) {
        mercer_ctx *ctx = open_ctx(threads);
        uint64_t h = 0;
        int count = 0;
        const char *const *names = mercer_generators(&count);
        for (int k = 0; k < count; k++) {
            mercer_data *data = generate(ctx, names[k], 5000, 0.3);
            h = mix(h, data->values, 5000 * data->d);
            if (data->target)
                h = mix(h, data->target, 5000);
            mercer_data_free(data);
        }
        assert_true(h == 0x98f26bda7eb0f3cdu);
        close_clean(ctx);
    }
}

/* Without noise the formulas hold exactly; the C library is the oracle. */
static void test_formulas(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(0);
    mercer_data *data = generate(ctx, "friedman1", 200, 0);
    const double pi = acos(-1);
    for (int64_t i = 0; i < 200; i++) {
        double x[10];
        mercer_data_row(data, i, x);
        assert_close(mercer_data_target(data, i, 0),
                     10 * sin(pi * x[0] * x[1]) + 20 * (x[2] - 0.5) * (x[2] - 0.5) + 10 * x[3] + 5 * x[4], 1e-13);
    }
    mercer_data_free(data);
    data = generate(ctx, "friedman3", 200, 0);
    for (int64_t i = 0; i < 200; i++) {
        double x[4];
        mercer_data_row(data, i, x);
        assert_close(mercer_data_target(data, i, 0), atan((x[1] * x[2] - 1 / (x[1] * x[3])) / x[0]), 1e-13);
    }
    mercer_data_free(data);
    data = generate(ctx, "circles", 100, 0);
    for (int64_t i = 0; i < 100; i++) {
        double x[2];
        mercer_data_row(data, i, x);
        assert_close(hypot(x[0], x[1]), mercer_data_class(data, i) ? 0.5 : 1, 1e-14);
    }
    mercer_data_free(data);
    close_clean(ctx);
}

static void test_noise_has_the_spread_asked_for(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(0);
    enum { N = 20000 };
    mercer_data *noisy = generate(ctx, "sinc", N, 0.5);
    double square = 0;
    for (int64_t i = 0; i < N; i++) {
        double x;
        mercer_data_row(noisy, i, &x);
        const double e = mercer_data_target(noisy, i, 0) - sin(x) / x;
        square += e * e;
    }
    assert_true(fabs(square / N - 0.25) < 5 * 0.25 * sqrt(2.0 / N));
    mercer_data_free(noisy);
    close_clean(ctx);
}

static void test_bad_requests_are_named(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(0);
    mercer_data *data = NULL;
    assert_fails(ctx, mercer_data_generate(ctx, "moon", 5, 0, 0, &data), MERCER_INVALID, "did you mean 'moons'?");
    assert_fails(ctx, mercer_data_generate(ctx, "moons", 0, 0, 0, &data), MERCER_INVALID, "n must be");
    assert_fails(ctx, mercer_data_generate(ctx, "moons", 5, NAN, 0, &data), MERCER_INVALID, "noise");
    close_clean(ctx);
}

static char *temporary(void) {
    static char path[] = "/tmp/mercer-test-XXXXXX.csv";
    strcpy(path, "/tmp/mercer-test-XXXXXX.csv");
    const int fd = mkstemps(path, 4);
    assert_true(fd >= 0);
    close(fd);
    return path;
}

static void assert_same(const mercer_data *a, const mercer_data *b) {
    assert_int_equal(a->n, b->n);
    assert_int_equal(a->d, b->d);
    for (int64_t i = 0; i < a->n; i++) {
        for (int64_t j = 0; j < a->d; j++)
            assert_true(mc_data_value(a, i, j) == mc_data_value(b, i, j));
        assert_int_equal(mercer_data_class(a, i), mercer_data_class(b, i));
        for (int64_t k = 0; k < a->outputs; k++)
            assert_true(mercer_data_target(a, i, k) == mercer_data_target(b, i, k));
    }
    for (int64_t k = 0; k < a->classes; k++)
        assert_string_equal(mercer_data_label(a, k), mercer_data_label(b, k));
}

static void test_what_is_written_reads_back_to_the_same_doubles(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(0);
    int count = 0;
    const char *const *names = mercer_generators(&count);
    char *path = temporary();
    for (int k = 0; k < count; k++) {
        mercer_data *data = generate(ctx, names[k], 100, 0.1), *back = NULL;
        assert_ok(ctx, mercer_data_write(ctx, data, path));
        assert_ok(ctx, mercer_data_read(ctx, path, NULL, &back));
        assert_same(data, back);
        mercer_data_free(back);
        mercer_data_free(data);
    }
    unlink(path);
    close_clean(ctx);
}

static void test_awkward_names_labels_and_text_are_quoted(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(0);
    const char *text =
        "\"a,\"\"1\"\"\",s,w,y\n1.5,\"x,y\",1,\"NA\"\n2.5,\"line\nbreak\",2,\" p\"\n3.5,,0.5,\"q\"\"\"\n";
    mercer_read set = mercer_read_defaults();
    set.text = "s";
    set.weights = "w";
    mercer_data *data = NULL, *back = NULL;
    assert_ok(ctx, mc_data_parse(ctx, text, (int64_t)strlen(text), "t.csv", &set, &data));
    char *path = temporary();
    assert_ok(ctx, mercer_data_write(ctx, data, path));
    set.weights = "weight";
    assert_ok(ctx, mercer_data_read(ctx, path, &set, &back));
    assert_same(data, back);
    assert_string_equal(mercer_data_column_name(back, 0), "a,\"1\"");
    assert_int_equal(mercer_data_classes(back), 3);
    for (int64_t i = 0; i < 3; i++) {
        assert_string_equal(mercer_data_text(data, i, 0), mercer_data_text(back, i, 0));
        assert_true(data->weight[i] == back->weight[i]);
    }
    mercer_data_free(back);
    mercer_data_free(data);
    unlink(path);
    assert_fails(ctx, mercer_data_read(ctx, path, NULL, &back), MERCER_IO, path);
    close_clean(ctx);
}

static mercer_status generate_and_write(mercer_ctx *ctx, void *arg) {
    mercer_data *data = NULL;
    mercer_status status = mercer_data_generate(ctx, arg, 50, 0.1, 1, &data);
    if (!status)
        status = mercer_data_write(ctx, data, "/dev/null");
    mercer_data_free(data);
    return status;
}

static void test_generate_and_write_survive_failing_memory(void **state) {
    (void)state;
    assert_survives_failing_memory(generate_and_write, (void *)(uintptr_t) "moons");
    assert_survives_failing_memory(generate_and_write, (void *)(uintptr_t) "sinc");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_generator_makes_finite_data_with_a_target),
        cmocka_unit_test(test_same_bits_everywhere),
        cmocka_unit_test(test_formulas),
        cmocka_unit_test(test_noise_has_the_spread_asked_for),
        cmocka_unit_test(test_bad_requests_are_named),
        cmocka_unit_test(test_what_is_written_reads_back_to_the_same_doubles),
        cmocka_unit_test(test_awkward_names_labels_and_text_are_quoted),
        cmocka_unit_test(test_generate_and_write_survive_failing_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
