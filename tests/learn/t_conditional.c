/* Conditionally positive functions in place of a kernel: machines whose coefficients sum to zero take them, and the
   function they find is one of the conditionally positive function itself; the others refuse, with the cure. */
#include "machines_of_test.h"
#include <math.h>

enum { N = 30, D = 2 };

typedef struct world {
    double x[N * D], y[N];
    mercer_data *data;
} world;

static void open_world(mercer_ctx *ctx, world *w) {
    for (int i = 0; i < N; i++) {
        w->x[i * D] = sin(3.7 * i), w->x[i * D + 1] = cos(1.3 * i * i);
        w->y[i] = w->x[i * D] * w->x[i * D + 1] + 5;
    }
    const mercer_table t = {
        .size = sizeof t, .n = N, .d = D, .dtype = MERCER_F64, .values = w->x, .target = w->y, .outputs = 1};
    assert_ok(ctx, mercer_data_make(ctx, &t, &w->data));
}

/* The fit of this machine, with -log(1 + r) - 3. */
static mercer_status fit_log(mercer_ctx *ctx, const world *w, const char *machine, const void *settings,
                             mercer_model **model) {
    mercer_kernel *kernel = NULL;
    assert_ok(ctx, mercer_kernel_parse(ctx, "log(p=1) - 3", &kernel));
    const mercer_status status = mercer_fit(ctx, machine, settings, kernel, w->data, model);
    mercer_kernel_free(kernel);
    return status;
}

/* sum_i a_i k(x_i, x) + b with k as it was written, and b from one row. */
static void check_function(mercer_ctx *ctx, const world *w, const mercer_model *model) {
    double a[N], f[N], sum = 0, offset = 0, size = 0;
    assert_string_equal(mercer_kernel_text(mercer_model_kernel(model)), "log(p=1, length_scale=1, centred=1)");
    mercer_model_coefficients(model, a);
    assert_ok(ctx, mercer_predict(ctx, model, w->data, f));
    for (int i = 0; i < N; i++)
        sum += a[i], size += fabs(a[i]);
    assert_true(fabs(sum) <= 1e-9 * size);
    for (int j = 0; j < N; j++) {
        double plain = 0;
        for (int i = 0; i < N; i++)
            plain -= a[i] * (log1p(hypot(w->x[i * D] - w->x[j * D], w->x[i * D + 1] - w->x[j * D + 1])) + 3);
        offset = j == 0 ? f[0] - plain : offset;
        assert_true(fabs(f[j] - plain - offset) <= 1e-9 * size);
    }
}

static void test_ridge_with_an_intercept_takes_them(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    mercer_ridge set = mercer_ridge_defaults();
    mercer_model *model = NULL;
    world w;
    open_world(ctx, &w);
    set.scale = "none";
    set.intercept = true;
    set.lambda = 0.1;
    assert_ok(ctx, fit_log(ctx, &w, "ridge", &set, &model));
    check_function(ctx, &w, model);
    mercer_model_free(model);
    mercer_data_free(w.data);
    close_clean(ctx);
}

static void test_machines_with_free_coefficients_name_the_cure(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    mercer_ridge ridge = mercer_ridge_defaults();
    mercer_svm one = mercer_svm_defaults("one-class");
    mercer_model *model = NULL;
    world w;
    open_world(ctx, &w);
    ridge.intercept = false;
    assert_int_equal(fit_log(ctx, &w, "ridge", &ridge, &model), MERCER_NOT_A_KERNEL);
    assert_non_null(strstr(mercer_message(ctx), "use log(p=1, length_scale=1, centred=1) instead"));
    assert_int_equal(fit_log(ctx, &w, "one-class", &one, &model), MERCER_NOT_A_KERNEL);
    assert_non_null(strstr(mercer_message(ctx), "use log(p=1, length_scale=1, centred=1) instead"));
    mercer_data_free(w.data);
    close_clean(ctx);
}

static void test_order_2_is_refused(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    mercer_svm svr = mercer_svm_defaults("svr");
    mercer_kernel *kernel = NULL;
    mercer_model *model = NULL;
    world w;
    open_world(ctx, &w);
    assert_ok(ctx, mercer_kernel_parse(ctx, "thin_plate + power", &kernel));
    assert_int_equal(mercer_fit(ctx, "svr", &svr, kernel, w.data, &model), MERCER_NOT_A_KERNEL);
    assert_non_null(strstr(mercer_message(ctx), "conditionally positive definite of order 2, which no machine takes"));
    mercer_kernel_free(kernel);
    mercer_data_free(w.data);
    close_clean(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ridge_with_an_intercept_takes_them),
        cmocka_unit_test(test_machines_with_free_coefficients_name_the_cure),
        cmocka_unit_test(test_order_2_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
