/* Models as functions of H: inner products and distances against sums over all pairs, and the reproducing property. */
#include "../learn/machines_of_test.h"

static const char *const KERNEL = "rbf(gamma=0.5) + 0.1*linear";

static double inner_of(mercer_ctx *ctx, const mercer_model *f, const mercer_model *g) {
    double value = 0;
    assert_ok(ctx, mercer_model_inner(ctx, f, 0, g, 0, &value));
    return value;
}

static double distance_of(mercer_ctx *ctx, const mercer_model *f, const mercer_model *g) {
    double value = 0;
    assert_ok(ctx, mercer_model_distance(ctx, f, 0, g, 0, &value));
    return value;
}

/* sum_ij alpha_i beta_j k(x_i, z_j), by the reference evaluator. */
static double pairs(mercer_ctx *ctx, const mercer_model *f, const sheet *x, const mercer_model *g, const sheet *z) {
    double sum = 0;
    for (int64_t i = 0; i < x->n; i++)
        for (int64_t j = 0; j < z->n; j++) {
            double value = 0;
            assert_ok(ctx,
                      mercer_kernel_value(ctx, mercer_model_kernel(f), x->x + i * x->d, z->x + j * z->d, x->d, &value));
            sum += mercer_model_coefficient(f, i, 0) * mercer_model_coefficient(g, j, 0) * value;
        }
    return sum;
}

static void test_inner_products_are_sums_over_pairs(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    const sheet x = random_sheet(ROWS, 1, 1), z = random_sheet(ROWS / 2, 1, 2);
    const mercer_ridge set = plain(0.1);
    mercer_model *f = fit_sheet(ctx, KERNEL, &x, &set), *g = fit_sheet(ctx, KERNEL, &z, &set);
    const double ff = inner_of(ctx, f, f), fg = inner_of(ctx, f, g), gg = inner_of(ctx, g, g);
    assert_close(fg, pairs(ctx, f, &x, g, &z), 1e-10);
    assert_close(fg, inner_of(ctx, g, f), 1e-12);
    assert_close(sqrt(ff), mercer_model_report(f)->norm, 1e-12);
    assert_true(fg * fg <= ff * gg); /* Cauchy and Schwarz */
    assert_close(distance_of(ctx, f, g), sqrt(ff - 2 * fg + gg), 1e-12);
    assert_true(distance_of(ctx, f, f) == 0);
    mercer_model_free(f);
    mercer_model_free(g);
    close_clean(ctx);
}

/* lambda = 0 on one row x with the target k(x, x) is the function k(x, .). */
static void test_a_value_is_an_inner_product_with_the_kernel(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    const sheet x = random_sheet(ROWS, 1, 3);
    const mercer_ridge set = plain(0.1), interpolate = plain(0);
    mercer_model *f = fit_sheet(ctx, KERNEL, &x, &set);
    sheet one = random_sheet(1, 1, 4);
    double value, k;
    assert_ok(ctx, mercer_kernel_value(ctx, mercer_model_kernel(f), one.x, one.x, one.d, &k));
    one.y[0] = k;
    mercer_model *section = fit_sheet(ctx, KERNEL, &one, &interpolate);
    predict_sheet(ctx, f, &one, &value);
    assert_close(inner_of(ctx, f, section), value, 1e-10);
    assert_close(inner_of(ctx, section, section), k, 1e-10);
    mercer_model_free(section);
    mercer_model_free(f);
    close_clean(ctx);
}

/* Two fits of nearly the same problem: the distance keeps its digits. */
static void test_close_functions_cost_no_digits(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    const sheet x = random_sheet(ROWS, 1, 5);
    const double step = 1e-7;
    mercer_ridge set = plain(1);
    mercer_model *f = fit_sheet(ctx, KERNEL, &x, &set);
    set.lambda = 1 + step;
    mercer_model *g = fit_sheet(ctx, KERNEL, &x, &set);
    set.lambda = 1 + 10 * step;
    mercer_model *h = fit_sheet(ctx, KERNEL, &x, &set);
    assert_close(distance_of(ctx, f, h) / distance_of(ctx, f, g), 10, 1e-5); /* 10 steps of 1e-7 bend by 1e-6 */
    mercer_model_free(f);
    mercer_model_free(g);
    mercer_model_free(h);
    close_clean(ctx);
}

static void test_functions_of_different_spaces_are_refused(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    const sheet x = random_sheet(ROWS, 1, 6);
    mercer_ridge set = plain(0.1);
    double value;
    mercer_model *f = fit_sheet(ctx, "rbf(gamma=0.5)", &x, &set), *g = fit_sheet(ctx, "linear", &x, &set);
    set.scale = "standard";
    mercer_model *scaled = fit_sheet(ctx, "rbf(gamma=0.5)", &x, &set);
    assert_fails(ctx, mercer_model_inner(ctx, f, 0, g, 0, &value), MERCER_INVALID, "different spaces");
    assert_fails(ctx, mercer_model_distance(ctx, f, 0, scaled, 0, &value), MERCER_INVALID,
                 "scale their columns differently");
    assert_fails(ctx, mercer_model_inner(ctx, f, 1, f, 0, &value), MERCER_INVALID, "decision 1 of a model that has 1");
    mercer_model_free(f);
    mercer_model_free(g);
    mercer_model_free(scaled);
    close_clean(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_inner_products_are_sums_over_pairs),
        cmocka_unit_test(test_a_value_is_an_inner_product_with_the_kernel),
        cmocka_unit_test(test_close_functions_cost_no_digits),
        cmocka_unit_test(test_functions_of_different_spaces_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
