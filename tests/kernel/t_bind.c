#include "base/rng.h"
#include "kernel/language/kernel.h"
#include "support.h"
#include "data/npy/npy_write.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Columns age, income, "body mass"; variance of all nine entries and of the columns by NumPy. */
static const double values[] = {1, 2, 3.5, -1, 4, 0, 2.5, 0, 1};
static const char *const names[] = {"age", "income", "body mass"};
static const double variance_all = 2.52469135802469136, variance_12 = 2.70138888888888889,
                    variance_3 = 2.16666666666666667;

static mercer_data *table(mercer_ctx *ctx, const char *const *columns) {
    mercer_data *data = NULL;
    const mercer_table t = {.size = sizeof t, .n = 3, .d = 3, .dtype = MERCER_F64, .values = values, .names = columns};
    assert_ok(ctx, mercer_data_make(ctx, &t, &data));
    return data;
}

static mercer_kernel *bound(mercer_ctx *ctx, const char *text, const mercer_data *data) {
    mercer_kernel *kernel = NULL, *out = NULL;
    assert_ok(ctx, mercer_kernel_parse(ctx, text, &kernel));
    assert_ok(ctx, mercer_kernel_bind(ctx, kernel, data, &out));
    mercer_kernel_free(kernel);
    return out;
}

static void expect_parameter(mercer_ctx *ctx, const char *text, const mercer_data *data, double wanted) {
    mercer_kernel *kernel = bound(ctx, text, data);
    assert_false(kernel->open);
    assert_int_equal(kernel->d, mercer_data_columns(data));
    assert_close(mercer_kernel_parameter(kernel, 0), wanted, 1e-14);
    mercer_kernel_free(kernel);
}

static void test_bandwidths_come_from_the_columns_in_view(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    mercer_data *data = table(ctx, names);
    expect_parameter(ctx, "rbf", data, 1 / (3 * variance_all));
    expect_parameter(ctx, "rbf[1:2]", data, 1 / (2 * variance_12));
    expect_parameter(ctx, "rbf[2, 1]", data, 1 / (2 * variance_12));
    expect_parameter(ctx, "rbf[\"body mass\"]", data, 1 / variance_3);
    expect_parameter(ctx, "(rbf[1])[3, 2]", data, 1 / variance_3);
    expect_parameter(ctx, "laplacian", data, 1 / (3 * sqrt(variance_all)));
    expect_parameter(ctx, "exponential", data, sqrt(2 / (3 * variance_all)));
    expect_parameter(ctx, "matern", data, sqrt(3 * variance_all / 2));
    expect_parameter(ctx, "matern[3]", data, sqrt(variance_3 / 2));
    mercer_kernel *rq = bound(ctx, "rq", data);
    assert_close(mercer_kernel_parameter(rq, 1), sqrt(3 * variance_all / 2), 1e-14);
    mercer_kernel_free(rq);
    mercer_data_free(data);
    close_clean(ctx);
}

static void test_constant_data_count_as_variance_one(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    const double same[] = {2, 2, 2, 2};
    mercer_data *data = NULL;
    const mercer_table t = {.size = sizeof t, .n = 2, .d = 2, .dtype = MERCER_F64, .values = same};
    assert_ok(ctx, mercer_data_make(ctx, &t, &data));
    expect_parameter(ctx, "rbf", data, 0.5);
    mercer_data_free(data);
    close_clean(ctx);
}

static void test_dense_sparse_single_and_threads_agree(void **state) {
    (void)state;
    enum { N = 3000, D = 7 };
    static double dense[N * D];
    static float single[N * D];
    static double stored[N * D];
    static int64_t start[N + 1];
    static int32_t column[N * D];
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 30);
    int64_t count = 0;
    for (int64_t i = 0; i < N * D; i++) {
        single[i] = (float)(mc_rng_below(&rng, 3) ? 0 : 5 + mc_rng_normal(&rng));
        dense[i] = single[i];
        if (dense[i] != 0) {
            stored[count] = dense[i];
            column[count++] = (int32_t)(i % D);
        }
        start[i / D + 1] = count;
    }
    double mean = 0, variance = 0;
    for (int64_t i = 0; i < N * D; i++)
        mean += dense[i] / (N * D);
    for (int64_t i = 0; i < N * D; i++)
        variance += (dense[i] - mean) * (dense[i] - mean) / (N * D);
    const mercer_table tables[] = {
        {.size = sizeof(mercer_table), .n = N, .d = D, .dtype = MERCER_F64, .values = dense},
        {.size = sizeof(mercer_table), .n = N, .d = D, .dtype = MERCER_F32, .values = single},
        {.size = sizeof(mercer_table),
         .n = N,
         .d = D,
         .dtype = MERCER_F64,
         .values = stored,
         .row_start = start,
         .column = column},
    };
    double first[3];
    for (int threads = 1; threads <= 3; threads++) {
        mercer_ctx *ctx = open_ctx(threads);
        for (int k = 0; k < 3; k++) {
            mercer_data *data = NULL;
            assert_ok(ctx, mercer_data_make(ctx, &tables[k], &data));
            mercer_kernel *kernel = bound(ctx, "rbf", data);
            const double gamma = mercer_kernel_parameter(kernel, 0);
            assert_close(gamma * D * variance, 1, 1e-12);
            if (threads == 1)
                first[k] = gamma;
            assert_true(first[k] == gamma);
            mercer_kernel_free(kernel);
            mercer_data_free(data);
        }
        close_clean(ctx);
    }
}

static void test_bound_text_has_every_number_and_reads_back(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    mercer_data *data = table(ctx, names);
    mercer_kernel *kernel =
        bound(ctx, "2*rbf[income, age] + (matern[income])[2:3]*rbf(gamma=[1, 2])[\"body mass\", 1]", data);
    mercer_kernel *again = NULL;
    assert_null(strstr(mercer_kernel_text(kernel), "income"));
    assert_non_null(strstr(mercer_kernel_text(kernel), "[2, 1]"));
    assert_ok(ctx, mercer_kernel_parse(ctx, mercer_kernel_text(kernel), &again));
    assert_true(mc_node_equal(kernel->root, again->root));
    double a, b;
    assert_ok(ctx, mercer_kernel_value(ctx, kernel, values, values + 3, 3, &a));
    assert_ok(ctx, mercer_kernel_value(ctx, again, values, values + 3, 3, &b));
    assert_true(a == b);
    assert_fails(ctx, mercer_kernel_value(ctx, kernel, values, values, 4, &a), MERCER_DATA, "bound to 3 columns");
    mercer_kernel_free(kernel);
    mercer_kernel_free(again);
    mercer_data_free(data);
    close_clean(ctx);
}

static void test_columns_without_names_are_x1_x2(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    mercer_data *data = table(ctx, NULL);
    mercer_kernel *kernel = bound(ctx, "linear[x3, x1]", data);
    assert_string_equal(mercer_kernel_text(kernel), "linear[3, 1]");
    mercer_kernel_free(kernel);
    mercer_data_free(data);
    close_clean(ctx);
}

static void test_equal_parts_merge_once_bound(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    mercer_data *data = table(ctx, names);
    mercer_kernel *kernel = bound(ctx, "linear[age] + 2*linear[1] + rbf(gamma=1..2)", data);
    assert_string_equal(mercer_kernel_text(kernel), "3*linear[1] + rbf(gamma=1..2)");
    assert_true(kernel->ranges);
    mercer_kernel_free(kernel);
    mercer_data_free(data);
    close_clean(ctx);
}

static void test_kernels_of_numbers_are_refused_for_texts_alone(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    const char *const rows[] = {"one", "two"}, *const name[] = {"word"};
    const mercer_table texts = {.size = sizeof texts, .n = 2, .texts = 1, .text = rows, .text_names = name};
    const struct {
        const char *text, *atom; /* atom: the one refused, NULL: none */
    } row[] = {{"rbf", "rbf"},
               {"1 + 2*linear", "linear"},
               {"spectrum[word] + rbf(gamma=1)", "rbf"},
               {"1 + spectrum(p=2)[word]", NULL},
               {"normalize(spectrum[word]) + 0.1*white", NULL}};
    mercer_data *data = NULL;
    assert_ok(ctx, mercer_data_make(ctx, &texts, &data));
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        mercer_kernel *kernel = NULL, *out = NULL;
        char sentence[120];
        assert_ok(ctx, mercer_kernel_parse(ctx, row[i].text, &kernel));
        const mercer_status status = mercer_kernel_bind(ctx, kernel, data, &out);
        snprintf(sentence, sizeof sentence,
                 "%s reads columns of numbers, and the data have texts alone; take spectrum(p=3)[word]", row[i].atom);
        assert_int_equal(status, row[i].atom ? MERCER_DATA : MERCER_OK);
        if (status)
            assert_string_equal(mercer_message(ctx), sentence);
        mercer_kernel_free(out);
        mercer_kernel_free(kernel);
    }
    mercer_data_free(data);
    close_clean(ctx);
}

static void test_misfits_are_named(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    mercer_data *data = table(ctx, names);
    const struct {
        const char *text, *message;
        int64_t offset;
    } bad[] = {
        {"rbf + linear[agge]", "no column 'agge'; did you mean 'age'?", 12},
        {"linear[zebra]", "no column 'zebra'", 6},
        {"linear[4]", "asks for column 4, but there are 3", 6},
        {"(linear[age])[2:3]", "column 'age' is not among the columns in view", 7},
        {"(linear[3])[income, 1]", "asks for column 3, but there are 2", 7},
        {"linear[age, 1]", "column 1 is listed twice", 6},
        {"rbf(gamma=[1, 2])", "rbf's gamma is for 2 columns, but there are 3 in view", 0},
        {"form([[1, 0], [0, 1]])", "form's matrix is for 2 columns", 0},
        {"form([[1, 0], [0, 1]])[age]", "but there is 1 in view", 0},
        {"weigh(x[3], linear)[1:2]", "asks for column 3, but there are 2", 0},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        mercer_kernel *kernel = NULL, *out = NULL;
        assert_ok(ctx, mercer_kernel_parse(ctx, bad[i].text, &kernel));
        if (!mercer_kernel_bind(ctx, kernel, data, &out) || !strstr(mercer_message(ctx), bad[i].message))
            fail_msg("%s: %s", bad[i].text, mercer_message(ctx));
        assert_null(out);
        assert_int_equal(mercer_message_offset(ctx), bad[i].offset);
        mercer_kernel_free(kernel);
    }
    mercer_data_free(data);
    close_clean(ctx);
}

/* Write a matrix, bind form to it, and return what came of it. */
static mercer_status bind_form(mercer_ctx *ctx, const double *A, int64_t n, int64_t m, mercer_kernel **out) {
    static const char path[] = "t_bind_form.npy";
    mercer_data *data = table(ctx, names);
    mercer_kernel *kernel = NULL;
    assert_ok(ctx, mc_npy_write(ctx, path, A, n, m));
    assert_ok(ctx, mercer_kernel_parse(ctx, "2*form(\"t_bind_form.npy\")", &kernel));
    assert_true(kernel->open);
    const mercer_status status = mercer_kernel_bind(ctx, kernel, data, out);
    mercer_kernel_free(kernel);
    mercer_data_free(data);
    remove(path);
    return status;
}

static void test_matrices_are_read_from_files(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    mercer_kernel *kernel = NULL;
    const double good[] = {2, 1, 0, 1 + 1e-15, 2, 0, 0, 0, 0.1}, lopsided[] = {2, 1, 0, 1.001, 2, 0, 0, 0, 1};
    const double small[] = {1, 0, 0, 1}, oblong[] = {1, 2, 3, 4, 5, 6};
    assert_ok(ctx, bind_form(ctx, good, 3, 3, &kernel));
    assert_false(kernel->open);
    assert_non_null(strstr(mercer_kernel_text(kernel), "0.1]])"));
    assert_int_equal(shape_of(ctx, kernel, 3).dimension, 3);
    mercer_kernel_free(kernel);
    assert_fails(ctx, bind_form(ctx, lopsided, 3, 3, &kernel), MERCER_DATA,
                 "t_bind_form.npy: form's matrix must be finite and symmetric");
    assert_null(kernel);
    assert_fails(ctx, bind_form(ctx, small, 2, 2, &kernel), MERCER_DATA,
                 "form's matrix is for 2 columns, but there are 3");
    assert_fails(ctx, bind_form(ctx, oblong, 2, 3, &kernel), MERCER_DATA, "must be square, got 2 x 3");
    mercer_data *data = table(ctx, names);
    mercer_kernel *missing = NULL;
    assert_ok(ctx, mercer_kernel_parse(ctx, "form(\"no such file.npy\")", &missing));
    assert_fails(ctx, mercer_kernel_bind(ctx, missing, data, &kernel), MERCER_IO, "no such file.npy");
    mercer_kernel_free(missing);
    mercer_data_free(data);
    close_clean(ctx);
}

static void test_overflowing_variance_asks_for_a_bandwidth(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    const double huge[] = {1e200, -1e200};
    mercer_data *data = NULL;
    mercer_kernel *kernel = NULL, *out = NULL;
    const mercer_table t = {.size = sizeof t, .n = 2, .d = 1, .dtype = MERCER_F64, .values = huge};
    assert_ok(ctx, mercer_data_make(ctx, &t, &data));
    assert_ok(ctx, mercer_kernel_parse(ctx, "rbf", &kernel));
    assert_fails(ctx, mercer_kernel_bind(ctx, kernel, data, &out), MERCER_DATA, "give rbf's gamma");
    mercer_kernel_free(kernel);
    mercer_data_free(data);
    close_clean(ctx);
}

static void test_negative_values_are_named_by_row_and_column(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    const double csr[] = {1, -2, 3};
    const int64_t start[] = {0, 1, 2, 3};
    const int32_t column[] = {0, 2, 1};
    const mercer_table t = {
        .size = sizeof t, .n = 3, .d = 3, .dtype = MERCER_F64, .values = csr, .row_start = start, .column = column};
    mercer_data *dense = table(ctx, names), *sparse = NULL;
    assert_ok(ctx, mercer_data_make(ctx, &t, &sparse));
    mercer_kernel *everywhere = bound(ctx, "linear + 2*chi2", dense), *some = bound(ctx, "intersection[2:3]", dense);
    mercer_kernel *none = bound(ctx, "rbf", dense);
    assert_fails(ctx, mc_kernel_check_data(ctx, everywhere, dense), MERCER_DATA, "row 2 has one in column 1");
    assert_ok(ctx, mc_kernel_check_data(ctx, some, dense));
    assert_fails(ctx, mc_kernel_check_data(ctx, some, sparse), MERCER_DATA, "row 2 has one in column 3");
    assert_ok(ctx, mc_kernel_check_data(ctx, none, sparse));
    mercer_kernel_free(everywhere);
    mercer_kernel_free(some);
    mercer_kernel_free(none);
    mercer_data_free(dense);
    mercer_data_free(sparse);
    close_clean(ctx);
}

static void test_data_check_wants_a_finished_kernel(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    mercer_data *data = table(ctx, names);
    mercer_kernel *kernel = NULL;
    assert_ok(ctx, mercer_kernel_parse(ctx, "rbf", &kernel));
    assert_fails(ctx, mc_kernel_check_data(ctx, kernel, data), MERCER_INVALID, "bind");
    mercer_kernel_free(kernel);
    assert_ok(ctx, mercer_kernel_parse(ctx, "rbf(gamma=1..2)", &kernel));
    assert_fails(ctx, mc_kernel_check_data(ctx, kernel, data), MERCER_INVALID, "tune");
    mercer_kernel_free(kernel);
    mercer_data_free(data);
    close_clean(ctx);
}

static mercer_status bind_all(mercer_ctx *ctx, void *arg) {
    (void)arg;
    mercer_data *data = NULL;
    mercer_kernel *kernel = NULL, *out = NULL;
    const mercer_table t = {.size = sizeof t, .n = 3, .d = 3, .dtype = MERCER_F64, .values = values, .names = names};
    mercer_status status = mercer_data_make(ctx, &t, &data);
    if (!status)
        status = mercer_kernel_parse(
            ctx, "rbf[income, age] + matern[\"body mass\"]*rq[2] + rbf + form(\"t_bind_memory.npy\")", &kernel);
    if (!status)
        status = mercer_kernel_bind(ctx, kernel, data, &out);
    mercer_kernel_free(kernel);
    mercer_kernel_free(out);
    mercer_data_free(data);
    return status;
}

static void test_binding_survives_failing_memory(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    assert_ok(ctx, mc_npy_write(ctx, "t_bind_memory.npy", (double[]){1, 0, 0, 0, 1, 0, 0, 0, 1}, 3, 3));
    close_clean(ctx);
    assert_survives_failing_memory(bind_all, NULL);
    remove("t_bind_memory.npy");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bandwidths_come_from_the_columns_in_view),
        cmocka_unit_test(test_constant_data_count_as_variance_one),
        cmocka_unit_test(test_dense_sparse_single_and_threads_agree),
        cmocka_unit_test(test_bound_text_has_every_number_and_reads_back),
        cmocka_unit_test(test_columns_without_names_are_x1_x2),
        cmocka_unit_test(test_equal_parts_merge_once_bound),
        cmocka_unit_test(test_kernels_of_numbers_are_refused_for_texts_alone),
        cmocka_unit_test(test_misfits_are_named),
        cmocka_unit_test(test_matrices_are_read_from_files),
        cmocka_unit_test(test_overflowing_variance_asks_for_a_bandwidth),
        cmocka_unit_test(test_negative_values_are_named_by_row_and_column),
        cmocka_unit_test(test_data_check_wants_a_finished_kernel),
        cmocka_unit_test(test_binding_survives_failing_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
