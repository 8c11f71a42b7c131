#include "support.h"
#include "data/table/data.h"
#include "data/read/read.h"
#include "data/npy/npy_write.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A version 1 file: header text, then bytes. */
static int64_t make_npy(char *out, const char *dictionary, const void *bytes, size_t size) {
    const size_t length = strlen(dictionary);
    memcpy(out, "\x93NUMPY\x01\x00", 8);
    out[8] = (char)(length & 255);
    out[9] = (char)(length >> 8);
    memcpy(out + 10, dictionary, length);
    if (size)
        memcpy(out + 10 + length, bytes, size);
    return (int64_t)(10 + length + size);
}

static mercer_status parse(mercer_ctx *ctx, const char *dictionary, const void *bytes, size_t size,
                           mercer_data **data) {
    char file[1024];
    mercer_read set = mercer_read_defaults();
    set.target = "";
    return mc_data_parse(ctx, file, make_npy(file, dictionary, bytes, size), "t.npy", &set, data);
}

static void test_every_type_and_both_orders(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(0);
    const float f4[] = {1, 2, 3, 4, 5, 6};
    const double f8[] = {1, 2, 3, 4, 5, 6};
    const int32_t i4[] = {1, 2, 3, 4, 5, 6};
    const int64_t i8[] = {1, 2, 3, 4, 5, 6};
    const uint8_t u1[] = {1, 2, 3, 4, 5, 6};
    const struct {
        const char *type;
        const void *bytes;
        size_t size;
    } cases[] = {{"<f4", f4, sizeof f4},
                 {"<f8", f8, sizeof f8},
                 {"<i4", i4, sizeof i4},
                 {"<i8", i8, sizeof i8},
                 {"|u1", u1, sizeof u1}};
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++)
        for (int fortran = 0; fortran < 2; fortran++) {
            char text[128];
            snprintf(text, sizeof text, "{'descr': '%s', 'fortran_order': %s, 'shape': (2, 3), }\n", cases[k].type,
                     fortran ? "True" : "False");
            mercer_data *data = NULL;
            assert_ok(ctx, parse(ctx, text, cases[k].bytes, cases[k].size, &data));
            for (int i = 0; i < 2; i++)
                for (int j = 0; j < 3; j++)
                    assert_true(mc_data_value(data, i, j) == (fortran ? j * 2 + i + 1 : i * 3 + j + 1));
            mercer_data_free(data);
        }
    mercer_data *data = NULL;
    const int32_t negative[] = {-5, 7};
    assert_ok(ctx, parse(ctx, "{'shape': (2,), 'fortran_order': False, \"descr\": \"<i4\"}", negative, sizeof negative,
                         &data));
    assert_true(data->n == 2 && data->d == 1 && mc_data_value(data, 0, 0) == -5);
    mercer_data_free(data);
    close_clean(ctx);
}

static void test_last_column_is_the_target(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(0);
    const double x[] = {1, 2, 0.5, 4, 5, 6.5};
    char file[512];
    const int64_t size = make_npy(file, "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }", x, sizeof x);
    mercer_data *data = NULL;
    assert_ok(ctx, mc_data_parse(ctx, file, size, "whatever", NULL, &data));
    assert_true(data->d == 2 && mercer_data_target(data, 1, 0) == 6.5);
    mercer_data_free(data);
    mercer_read set = mercer_read_defaults();
    set.target = "1,3";
    assert_ok(ctx, mc_data_parse(ctx, file, size, "whatever", &set, &data));
    assert_true(data->d == 1 && mercer_data_outputs(data) == 2 && mercer_data_target(data, 1, 1) == 6.5);
    mercer_data_free(data);
    close_clean(ctx);
}

static void test_headers_that_lie_or_break_are_refused(void **state) {
    (void)state;
    mercer_options options = mercer_options_defaults();
    options.memory_limit = 1 << 20;
    mercer_ctx *ctx = NULL;
    assert_int_equal(mercer_open(&options, &ctx), MERCER_OK);
    static const struct {
        const char *dictionary, *message;
    } cases[] = {
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000, 2), }",
         "promises 1000000000000 x 2 elements"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (4611686018427387904, 4), }", "promises"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999999, 4), }", "was expected"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (1, 1), }", "8 bytes follow"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (0, 2), }", "follow"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (), }", "0 dimensions"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (1, 1, 2), }", "3 dimensions"},
        {"{'descr': '<c8', 'fortran_order': False, 'shape': (1, 2), }", "type '<c8'"},
        {"{'descr': '>f8', 'fortran_order': False, 'shape': (1, 2), }", "type '>f8'"},
        {"{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (2,), }", "was expected"},
        {"{'descr': '<f8', 'fortran_order': Maybe, 'shape': (2,), }", "was expected"},
        {"{'descr': '<f8', 'shape': (2,), }", "was expected"},
        {"{'descr': '<f8", "was expected"},
        {"", "was expected"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (-1, 2), }", "was expected"},
    };
    const double x[] = {1, 2};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        mercer_data *data = NULL;
        assert_fails(ctx, parse(ctx, cases[i].dictionary, x, sizeof x, &data), MERCER_DATA, cases[i].message);
    }
    mercer_data *data = NULL;
    assert_fails(ctx, mc_data_parse(ctx, "\x93NUMPY", 6, "t", NULL, &data), MERCER_DATA, "was expected");
    assert_fails(ctx, mc_data_parse(ctx, "\x93NUMPY\x01\x00\xff\xff{", 11, "t", NULL, &data), MERCER_DATA,
                 "was expected");
    assert_fails(ctx, mc_data_parse(ctx, "1,2\n", 4, "t.npy", NULL, &data), MERCER_DATA, "was expected");
    close_clean(ctx);
}

static void test_not_finite_values_are_named(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(0);
    const double infinite[] = {1, 2, 3, -INFINITY}, missing[] = {1, 2, NAN, 4};
    const char *shape = "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2), }";
    mercer_data *data = NULL;
    assert_fails(ctx, parse(ctx, shape, infinite, sizeof infinite, &data), MERCER_DATA,
                 "row 2, column 2: the value is infinite");
    assert_fails(ctx, parse(ctx, shape, missing, sizeof missing, &data), MERCER_DATA,
                 "row 2, column 1: the value is missing");
    char file[512];
    mercer_read set = mercer_read_defaults();
    set.target = "";
    set.missing = MERCER_MISSING_MEAN;
    assert_ok(ctx, mc_data_parse(ctx, file, make_npy(file, shape, missing, sizeof missing), "t.npy", &set, &data));
    assert_true(mc_data_value(data, 1, 0) == 1 && mercer_data_missing(data) == 1);
    mercer_data_free(data);
    close_clean(ctx);
}

/* ---- Arrays of many blocks ---- */

enum { N = 2500, M = 37, TARGET = 5 };

static int value_at(int i, int j) {
    return (i * 31 + j * 7) % 100;
}

static void put_element(char *out, const char *type, int value) {
    const int64_t i8 = value;
    const double f8 = value;
    const float f4 = (float)value;
    const bool real = type[1] == 'f';
    memcpy(out,
           !real            ? (const void *)&i8
           : type[2] == '8' ? (const void *)&f8
                            : (const void *)&f4,
           (size_t)(type[2] - '0'));
}

/* An array with value_at(i, j) everywhere, as the bytes of a file. */
static char *large_array(const char *type, bool fortran, int64_t *size) {
    const size_t element = (size_t)(type[2] - '0');
    char text[128], *bytes = test_malloc(N * M * element), *file = test_malloc(N * M * element + 200);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < M; j++)
            put_element(bytes + element * (size_t)(fortran ? j * N + i : i * M + j), type, value_at(i, j));
    snprintf(text, sizeof text, "{'descr': '%s', 'fortran_order': %s, 'shape': (%d, %d), }", type,
             fortran ? "True" : "False", N, M);
    *size = make_npy(file, text, bytes, N * M * element);
    test_free(bytes);
    return file;
}

static void assert_large_array(const mercer_data *data, bool target) {
    assert_int_equal(data->n, N);
    assert_int_equal(data->d, M - target);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < data->d; j++)
            if (mc_data_value(data, i, j) != value_at(i, j + (target && j >= TARGET)))
                fail_msg("element %d, %d is %g", i, j, mc_data_value(data, i, j));
    for (int i = 0; i < N && target; i++)
        assert_true(mercer_data_target(data, i, 0) == value_at(i, TARGET));
}

static const char *write_npy(char path[32], const char *file, int64_t size) {
    strcpy(path, "/tmp/mercer-test-XXXXXX.npy");
    const int fd = mkstemps(path, 4);
    assert_true(fd >= 0 && write(fd, file, (size_t)size) == size);
    close(fd);
    return path;
}

static void check_array(const char *type, bool fortran, bool target, int threads) {
    mercer_ctx *ctx = open_ctx(threads);
    int64_t size;
    char *file = large_array(type, fortran, &size), path[32];
    mercer_read set = mercer_read_defaults();
    set.target = target ? "6" : "";
    set.kind = target ? MERCER_TARGET_NUMBER : MERCER_TARGET_NONE;
    mercer_data *from_memory = NULL, *from_file = NULL;
    assert_ok(ctx, mc_data_parse(ctx, file, size, "t.npy", &set, &from_memory));
    assert_ok(ctx, mercer_data_read(ctx, write_npy(path, file, size), &set, &from_file));
    unlink(path);
    assert_large_array(from_memory, target);
    assert_large_array(from_file, target);
    mercer_data_free(from_memory);
    mercer_data_free(from_file);
    test_free(file);
    close_clean(ctx);
}

static void test_large_arrays_of_every_type_in_both_orders(void **state) {
    (void)state;
    static const char *const types[] = {"<f4", "<f8", "<i2", "<i4", "<i8", "<u2", "<u4", "<u8", "|i1", "|u1"};
    for (size_t k = 0; k < sizeof types / sizeof types[0]; k++)
        for (int way = 0; way < 4; way++)
            check_array(types[k], way & 1, way & 2, 1 + (int)k % 3);
}

static void test_a_value_deep_in_a_large_array_is_named(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(3);
    for (int fortran = 0; fortran < 2; fortran++) {
        int64_t size;
        char *file = large_array("<f4", fortran, &size), path[32];
        const float bad = fortran ? NAN : -INFINITY;
        const int64_t elements = size - (int64_t)(N * M * sizeof bad), place = fortran ? 34 * N + 2000 : 2000 * M + 34;
        memcpy(file + elements + place * (int64_t)sizeof bad, &bad, sizeof bad);
        mercer_data *data = NULL;
        write_npy(path, file, size);
        assert_fails(ctx, mercer_data_read(ctx, path, NULL, &data), MERCER_DATA,
                     fortran ? "row 2001, column 35: the value is missing"
                             : "row 2001, column 35: the value is infinite");
        unlink(path);
        test_free(file);
    }
    close_clean(ctx);
}

static void test_a_subnormal_float_keeps_its_value(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    const float tiny[] = {1e-40f, -1e-45f, 0, -0.0f};
    mercer_data *data = NULL;
    assert_ok(ctx, parse(ctx, "{'descr': '<f4', 'fortran_order': False, 'shape': (4,), }", tiny, sizeof tiny, &data));
    for (int i = 0; i < 4; i++)
        assert_true(mc_data_value(data, i, 0) == (double)tiny[i]
                    && !signbit(mc_data_value(data, i, 0)) == !signbit(tiny[i]));
    mercer_data_free(data);
    close_clean(ctx);
}

static void test_written_arrays_read_back(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(0);
    char path[] = "/tmp/mercer-test-XXXXXX.npy";
    close(mkstemps(path, 4));
    const double x[] = {1, -0.1, 1e-320, 4, 5, 1e300};
    mercer_read set = mercer_read_defaults();
    set.target = "";
    mercer_data *data = NULL;
    assert_ok(ctx, mc_npy_write(ctx, path, x, 3, 2));
    assert_ok(ctx, mercer_data_read(ctx, path, &set, &data));
    assert_int_equal(data->n, 3);
    assert_memory_equal(data->values, x, sizeof x);
    mercer_data_free(data);
    if (access("/usr/bin/python3", X_OK) || system("/usr/bin/python3 -c 'import numpy' 2>/dev/null")) {
        print_message("# SKIPPED: NumPy is not installed\n");
    } else {
        char command[256];
        snprintf(command, sizeof command,
                 "/usr/bin/python3 -c \"import numpy as n; a = n.load('%s'); "
                 "assert a.shape == (3, 2) and a[1, 0] == 1e-320 and a[2, 1] == 1e300\"",
                 path);
        assert_int_equal(system(command), 0);
    }
    unlink(path);
    assert_fails(ctx, mc_npy_write(ctx, "/nowhere/at/all.npy", x, 3, 2), MERCER_IO, "/nowhere");
    assert_fails(ctx, mc_npy_write(ctx, path, x, -3, 2), MERCER_INVALID, "-3");
    close_clean(ctx);
}

static const char *const types[] = {"f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"};
enum { TYPES = sizeof types / sizeof types[0] };

/* One file per type and order, in three header versions. */
static const char write_files[] =
    "import numpy as n\n"
    "a = (n.arange(30000) % 100).reshape(10000, 3)\n"
    "for k, t in enumerate('f4 f8 i1 i2 i4 i8 u1 u2 u4 u8'.split()):\n"
    "    for o in 'CF':\n"
    "        with open(f'{FOLDER}/{t}{o}.npy', 'wb') as f:\n"
    "            n.lib.format.write_array(f, a.astype(t, order=o), version=(1 + k % 3, 0))\n";

static void test_files_of_numpy_read_the_same(void **state) {
    (void)state;
    if (access("/usr/bin/python3", X_OK) || system("/usr/bin/python3 -c 'import numpy' 2>/dev/null")) {
        print_message("# SKIPPED: NumPy is not installed\n");
        return;
    }
    mercer_ctx *ctx = open_ctx(2);
    char folder[] = "/tmp/mercer-test-XXXXXX", command[1024], path[64];
    assert_non_null(mkdtemp(folder));
    snprintf(command, sizeof command, "/usr/bin/python3 -W ignore -c \"FOLDER = '%s'\n%s\"", folder, write_files);
    assert_int_equal(system(command), 0);
    for (int k = 0; k < 2 * TYPES; k++) {
        snprintf(path, sizeof path, "%s/%s%c.npy", folder, types[k / 2], "CF"[k % 2]);
        mercer_read set = mercer_read_defaults();
        set.target = "";
        mercer_data *data = NULL;
        assert_ok(ctx, mercer_data_read(ctx, path, &set, &data));
        assert_int_equal(data->n, 10000);
        for (int64_t i = 0; i < 30000; i++)
            assert_true(((const double *)data->values)[i] == (double)(i % 100));
        mercer_data_free(data);
        unlink(path);
    }
    rmdir(folder);
    close_clean(ctx);
}

static mercer_status read_all(mercer_ctx *ctx, void *arg) {
    (void)arg;
    const double x[] = {1, 2, NAN, 4};
    char file[512];
    mercer_read set = mercer_read_defaults();
    set.missing = MERCER_MISSING_DROP;
    mercer_data *data = NULL;
    const int64_t size = make_npy(file, "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2), }", x, sizeof x);
    mercer_status status = mc_data_parse(ctx, file, size, "t.npy", &set, &data);
    mercer_data_free(data);
    if (!status)
        status = mc_npy_write(ctx, "/dev/null", x, 2, 2);
    return status;
}

static void test_npy_survives_failing_memory(void **state) {
    (void)state;
    assert_survives_failing_memory(read_all, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_type_and_both_orders),
        cmocka_unit_test(test_last_column_is_the_target),
        cmocka_unit_test(test_headers_that_lie_or_break_are_refused),
        cmocka_unit_test(test_not_finite_values_are_named),
        cmocka_unit_test(test_large_arrays_of_every_type_in_both_orders),
        cmocka_unit_test(test_a_value_deep_in_a_large_array_is_named),
        cmocka_unit_test(test_a_subnormal_float_keeps_its_value),
        cmocka_unit_test(test_written_arrays_read_back),
        cmocka_unit_test(test_files_of_numpy_read_the_same),
        cmocka_unit_test(test_npy_survives_failing_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
