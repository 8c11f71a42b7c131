#include "support.h"
#include "base/rng.h"
#include "data/table/data.h"
#include "data/table/scale.h"
#include <math.h>
#include <string.h>

enum { N = 9000, D = 3 };

/* Columns of ugly spread: large offset, tiny spread, constant. */
static mercer_data *ugly(mercer_ctx *ctx, mercer_dtype dtype) {
    static double x[N * D];
    static float f[N * D];
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 30);
    for (int i = 0; i < N; i++) {
        x[i * D] = 1e6 + mc_rng_normal(&rng);
        x[i * D + 1] = 1e-200 * mc_rng_uniform(&rng);
        x[i * D + 2] = -7.1;
    }
    for (int k = 0; k < N * D; k++)
        f[k] = (float)(k % D == 1 ? x[k] * 1e190 : x[k]);
    const mercer_table t = {
        .size = sizeof t, .n = N, .d = D, .dtype = dtype, .values = dtype == MERCER_F32 ? (void *)f : (void *)x};
    mercer_data *data = NULL;
    assert_ok(ctx, mercer_data_make(ctx, &t, &data));
    return data;
}

static void test_standard_gives_mean_zero_and_variance_one(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(0);
    for (int dtype = MERCER_F32; dtype <= MERCER_F64; dtype++) {
        mercer_data *data = ugly(ctx, (mercer_dtype)dtype), *scaled = NULL;
        mc_scale scale;
        assert_ok(ctx, mc_scale_fit(ctx, MC_SCALE_STANDARD, data, &scale));
        assert_ok(ctx, mc_scale_apply(ctx, &scale, data, &scaled));
        for (int j = 0; j < D; j++) {
            long double sum = 0, square = 0;
            for (int i = 0; i < N; i++) {
                sum += (long double)mc_data_value(scaled, i, j);
                square += (long double)mc_data_value(scaled, i, j) * (long double)mc_data_value(scaled, i, j);
            }
            assert_close((double)(sum / N), 0, dtype == MERCER_F64 ? 1e-9 : 1e-3);
            assert_close((double)(square / N), j == 2 ? 0 : 1, dtype == MERCER_F64 ? 1e-9 : 1e-3);
        }
        assert_true(scale.factor[2] == 1);
        mercer_data_free(scaled);
        mercer_data_free(data);
        mc_scale_free(&scale);
    }
    close_clean(ctx);
}

static void test_minmax_gives_zero_to_one(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(0);
    mercer_data *data = ugly(ctx, MERCER_F64), *scaled = NULL;
    mc_scale scale;
    assert_ok(ctx, mc_scale_fit(ctx, MC_SCALE_MINMAX, data, &scale));
    assert_ok(ctx, mc_scale_apply(ctx, &scale, data, &scaled));
    for (int j = 0; j < 2; j++) {
        double low = INFINITY, high = -INFINITY;
        for (int i = 0; i < N; i++) {
            low = fmin(low, mc_data_value(scaled, i, j));
            high = fmax(high, mc_data_value(scaled, i, j));
        }
        assert_true(low == 0);
        assert_close(high, 1, 1e-12);
    }
    mercer_data_free(scaled);
    mercer_data_free(data);
    mc_scale_free(&scale);
    close_clean(ctx);
}

static mc_scaling chosen(mercer_ctx *ctx, double second_spread) {
    double x[40 * 2];
    for (int i = 0; i < 40; i++) {
        x[2 * i] = i % 2 ? 1 : -1;
        x[2 * i + 1] = 100 + (i % 2 ? second_spread : -second_spread);
    }
    const mercer_table t = {.size = sizeof t, .n = 40, .d = 2, .dtype = MERCER_F64, .values = x};
    mercer_data *data = NULL;
    mc_scale scale;
    assert_ok(ctx, mercer_data_make(ctx, &t, &data));
    assert_ok(ctx, mc_scale_fit(ctx, MC_SCALE_AUTO, data, &scale));
    mercer_data_free(data);
    const mc_scaling kind = scale.kind;
    mc_scale_free(&scale);
    return kind;
}

static void test_auto_standardises_when_spreads_differ_tenfold(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(0);
    assert_int_equal(chosen(ctx, 9.9), MC_SCALE_NONE);
    assert_int_equal(chosen(ctx, 10.1), MC_SCALE_STANDARD);
    assert_int_equal(chosen(ctx, 0.11), MC_SCALE_NONE);
    assert_int_equal(chosen(ctx, 0.09), MC_SCALE_STANDARD);
    assert_int_equal(chosen(ctx, 0), MC_SCALE_NONE); /* a constant column has no spread to compare */
    close_clean(ctx);
}

static void test_sparse_zeros_stay_zeros_and_count(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(0);
    const double x[] = {3, -4, 3};
    const int64_t start[] = {0, 2, 3, 3, 3};
    const int32_t column[] = {0, 1, 0};
    const mercer_table t = {
        .size = sizeof t, .n = 4, .d = 3, .dtype = MERCER_F64, .values = x, .row_start = start, .column = column};
    mercer_data *data = NULL, *scaled = NULL;
    mc_scale scale;
    assert_ok(ctx, mercer_data_make(ctx, &t, &data));
    assert_ok(ctx, mc_scale_fit(ctx, MC_SCALE_STANDARD, data, &scale));
    assert_close(scale.factor[0], 1 / 1.5, 1e-15);     /* values 3 3 0 0: standard deviation 1.5 */
    assert_close(scale.factor[1], 1 / sqrt(3), 1e-15); /* -4 0 0 0 */
    assert_true(scale.factor[2] == 1 && scale.shift[0] == 0 && scale.shift[1] == 0);
    assert_ok(ctx, mc_scale_apply(ctx, &scale, data, &scaled));
    assert_int_equal(mercer_data_stored(scaled), 3);
    assert_close(mc_data_value(scaled, 0, 0), 2, 1e-15);
    mc_scale_free(&scale);
    mercer_data_free(scaled);
    assert_ok(ctx, mc_scale_fit(ctx, MC_SCALE_MINMAX, data, &scale));
    assert_true(scale.factor[1] == 0.25 && scale.shift[1] == 0);
    mc_scale_free(&scale);
    assert_ok(ctx, mc_scale_fit(ctx, MC_SCALE_AUTO, data, &scale));
    assert_int_equal(scale.kind, MC_SCALE_NONE);
    mc_scale_free(&scale);
    mercer_data_free(data);
    close_clean(ctx);
}

static void test_sparse_rows_under_a_dense_scaling_become_dense(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(0);
    const double x[] = {2, 10, 4, 30}, value[] = {4};
    const int64_t start[] = {0, 1, 1};
    const int32_t column[] = {0};
    const mercer_table t = {.size = sizeof t, .n = 2, .d = 2, .dtype = MERCER_F64, .values = x};
    const mercer_table sparse = {.size = sizeof sparse,
                                 .n = 2,
                                 .d = 2,
                                 .dtype = MERCER_F64,
                                 .values = value,
                                 .row_start = start,
                                 .column = column};
    mercer_data *data = NULL, *rows = NULL, *scaled = NULL;
    mc_scale scale;
    assert_ok(ctx, mercer_data_make(ctx, &t, &data));
    assert_ok(ctx, mercer_data_make(ctx, &sparse, &rows));
    assert_ok(ctx, mc_scale_fit(ctx, MC_SCALE_STANDARD, data, &scale)); /* means 3 and 20, deviations 1 and 10 */
    assert_ok(ctx, mc_scale_apply(ctx, &scale, rows, &scaled));
    assert_false(mercer_data_is_sparse(scaled));
    const double expected[] = {1, -2, -3, -2};
    for (int k = 0; k < 4; k++)
        assert_close(mc_data_value(scaled, k / 2, k % 2), expected[k], 1e-15);
    mercer_data_free(scaled);
    mercer_data_free(rows);
    mercer_data_free(data);
    mc_scale_free(&scale);
    close_clean(ctx);
}

static void test_same_bits_on_any_number_of_threads(void **state) {
    (void)state;
    double first[D] = {0};
    for (int threads = 1; threads <= 4; threads++) {
        mercer_ctx *ctx = open_ctx(threads);
        mercer_data *data = ugly(ctx, MERCER_F64);
        mc_scale scale;
        assert_ok(ctx, mc_scale_fit(ctx, MC_SCALE_STANDARD, data, &scale));
        if (threads == 1)
            memcpy(first, scale.factor, sizeof first);
        assert_memory_equal(first, scale.factor, sizeof first);
        mc_scale_free(&scale);
        mercer_data_free(data);
        close_clean(ctx);
    }
}

static void test_spreads_beyond_a_double_are_named(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(0);
    const double x[] = {1e308, 1, -1e308, 2};
    const mercer_table t = {.size = sizeof t, .n = 2, .d = 2, .dtype = MERCER_F64, .values = x};
    const mercer_table far = {
        .size = sizeof far, .n = 1, .d = 2, .dtype = MERCER_F64, .values = (double[]){1.7e308, 1e308}};
    mercer_data *data = NULL, *there = NULL, *scaled = NULL;
    mc_scale scale;
    assert_ok(ctx, mercer_data_make(ctx, &t, &data));
    assert_fails(ctx, mc_scale_fit(ctx, MC_SCALE_STANDARD, data, &scale), MERCER_NUMERIC, "column 'x1' spans");
    mercer_data_free(data);
    const mercer_table near = {
        .size = sizeof near, .n = 2, .d = 2, .dtype = MERCER_F64, .values = (double[]){0, 1, 1e-5, 2}};
    assert_ok(ctx, mercer_data_make(ctx, &near, &data));
    assert_ok(ctx, mercer_data_make(ctx, &far, &there));
    assert_ok(ctx, mc_scale_fit(ctx, MC_SCALE_STANDARD, data, &scale));
    assert_fails(ctx, mc_scale_apply(ctx, &scale, there, &scaled), MERCER_NUMERIC, "row 1");
    mc_scale_free(&scale);
    mercer_data_free(there);
    mercer_data_free(data);
    close_clean(ctx);
}

static mercer_status fit_and_apply(mercer_ctx *ctx, void *arg) {
    (void)arg;
    const double x[] = {1, 100, 2, 300};
    const mercer_table t = {.size = sizeof t, .n = 2, .d = 2, .dtype = MERCER_F64, .values = x};
    mercer_data *data = NULL, *scaled = NULL;
    mc_scale scale = {0};
    mercer_status status = mercer_data_make(ctx, &t, &data);
    if (!status)
        status = mc_scale_fit(ctx, MC_SCALE_AUTO, data, &scale);
    if (!status)
        status = mc_scale_apply(ctx, &scale, data, &scaled);
    mercer_data_free(scaled);
    mercer_data_free(data);
    mc_scale_free(&scale);
    return status;
}

static void test_scaling_survives_failing_memory(void **state) {
    (void)state;
    assert_survives_failing_memory(fit_and_apply, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_standard_gives_mean_zero_and_variance_one),
        cmocka_unit_test(test_minmax_gives_zero_to_one),
        cmocka_unit_test(test_auto_standardises_when_spreads_differ_tenfold),
        cmocka_unit_test(test_sparse_zeros_stay_zeros_and_count),
        cmocka_unit_test(test_sparse_rows_under_a_dense_scaling_become_dense),
        cmocka_unit_test(test_same_bits_on_any_number_of_threads),
        cmocka_unit_test(test_spreads_beyond_a_double_are_named),
        cmocka_unit_test(test_scaling_survives_failing_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
