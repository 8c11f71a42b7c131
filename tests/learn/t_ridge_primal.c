/* The solve in features against the solve in rows: the same function, the same report, the same leave-one-out error. */
#include "machines_of_test.h"
#include "certify/ridge_certificate.h"
#include "model/model.h"

static const char *const kernels[] = {"linear",
                                      "1 + linear",
                                      "poly(degree=2, gamma=0.5)",
                                      "linear[1:2] + 0.3*linear[3]^2",
                                      "normalize(1 + linear)",
                                      "(1 + linear[1])*(2 + linear[2:3])"};
enum { KERNELS = 6 };

static void compare_reports(const mercer_report *a, const mercer_report *b) {
    assert_close(a->norm, b->norm, 1e-10);
    assert_close(a->objective, b->objective, 1e-10);
    assert_close(a->loo_rmse, b->loo_rmse, 1e-10);
    assert_close(a->dof, b->dof, 1e-9);
    assert_close(a->gcv, b->gcv, 1e-9);
}

/* Weights and rows are the same function of H. */
static void compare_functions(mercer_ctx *ctx, const mercer_model *f, const mercer_model *g) {
    double ff, fg, gg, apart;
    assert_ok(ctx, mercer_model_inner(ctx, f, 1, f, 1, &ff));
    assert_ok(ctx, mercer_model_inner(ctx, f, 1, g, 1, &fg));
    assert_ok(ctx, mercer_model_inner(ctx, g, 1, g, 1, &gg));
    assert_ok(ctx, mercer_model_distance(ctx, f, 1, g, 1, &apart));
    assert_close(ff, gg, 1e-9);
    assert_close(fg, gg, 1e-9);
    assert_true(apart <= 1e-4 * sqrt(gg));
    assert_ok(ctx, mercer_model_distance(ctx, f, 1, f, 1, &apart));
    assert_true(apart == 0);
}

static void test_features_give_what_rows_give(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    for (int k = 0; k < KERNELS; k++)
        for (int variant = 0; variant < 4; variant++) {
            sheet s = random_sheet(ROWS, OUTPUTS, 60);
            const sheet probe = random_sheet(ROWS, OUTPUTS, 61);
            s.weighted = variant & 1;
            mercer_ridge set = plain(0.3);
            set.intercept = variant & 2;
            set.loo = true;
            set.solver = "primal";
            mercer_model *ours = fit_sheet(ctx, kernels[k], &s, &set);
            set.solver = "cholesky";
            mercer_model *theirs = fit_sheet(ctx, kernels[k], &s, &set);
            const mercer_report *a = mercer_model_report(ours), *b = mercer_model_report(theirs);
            assert_string_equal(a->solver, "primal");
            double f[ROWS * OUTPUTS], g[ROWS * OUTPUTS];
            predict_sheet(ctx, ours, &probe, f);
            predict_sheet(ctx, theirs, &probe, g);
            for (int64_t i = 0; i < ROWS * OUTPUTS; i++)
                assert_close(f[i], g[i], 1e-10);
            compare_reports(a, b);
            compare_functions(ctx, ours, theirs);
            assert_int_equal(mercer_model_centres(ours), 0);
            assert_true(a->certificate.residual_relative < 1e-10 && a->certificate.prediction_error_bound < 1e-7);
            assert_true(a->certificate.objective_gap >= 0 && a->certificate.objective_gap < 1e-15 * a->objective);
            mercer_model_free(ours);
            mercer_model_free(theirs);
        }
    close_clean(ctx);
}

/* n rows of d normal numbers, every third one zero, as a sparse or a dense table. */
static mercer_data *table_of(mercer_ctx *ctx, int64_t n, int64_t d, bool sparse) {
    double *x = calloc((size_t)(n * d), sizeof *x), *values = calloc((size_t)(n * d), sizeof *values),
           *y = calloc((size_t)n, sizeof *y);
    int64_t *start = calloc((size_t)n + 1, sizeof *start), stored = 0;
    int32_t *column = calloc((size_t)(n * d), sizeof *column);
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 62);
    for (int64_t i = 0; i < n * d; i++) {
        x[i] = i % 3 ? mc_rng_normal(&rng) : 0;
        if (i % d == 0)
            start[i / d] = stored;
        if (x[i] != 0) {
            values[stored] = x[i];
            column[stored++] = (int32_t)(i % d);
        }
        y[i / d] += x[i] * (double)(i % d % 5) + 0.01 * mc_rng_normal(&rng);
    }
    start[n] = stored;
    mercer_table table = {.size = sizeof table,
                          .n = n,
                          .d = d,
                          .dtype = MERCER_F64,
                          .values = sparse ? values : x,
                          .target = y,
                          .outputs = 1};
    table.row_start = sparse ? start : NULL;
    table.column = sparse ? column : NULL;
    mercer_data *data = NULL;
    assert_ok(ctx, mercer_data_make(ctx, &table, &data));
    free(x);
    free(values);
    free(y);
    free(start);
    free(column);
    return data;
}

/* Several panels, lanes and tiles: 595 features go through in one lane of three tiles, 40 in eight lanes of one. */
static void compare_large(mercer_ctx *ctx, int64_t n, int64_t d, const char *text, bool sparse) {
    mercer_data *data = table_of(ctx, n, d, sparse);
    mercer_kernel *kernel = kernel_of(ctx, text);
    mercer_model *model[2] = {NULL, NULL};
    double *f[2];
    for (int i = 0; i < 2; i++) {
        mercer_ridge set = plain(2);
        set.intercept = set.loo = true;
        set.solver = i ? "cholesky" : "auto";
        f[i] = calloc((size_t)n, sizeof **f);
        assert_ok(ctx, mercer_fit(ctx, "ridge", &set, kernel, data, &model[i]));
        assert_ok(ctx, mercer_predict(ctx, model[i], data, f[i]));
    }
    assert_string_equal(mercer_model_report(model[0])->solver, "primal");
    assert_close(mercer_model_report(model[0])->loo_rmse, mercer_model_report(model[1])->loo_rmse, 1e-9);
    for (int64_t i = 0; i < n; i++)
        assert_close(f[0][i], f[1][i], 1e-9);
    for (int i = 0; i < 2; i++) {
        free(f[i]);
        mercer_model_free(model[i]);
    }
    mercer_kernel_free(kernel);
    mercer_data_free(data);
}

static void test_panels_lanes_and_tiles_add_up(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    compare_large(ctx, 1100, 33, "poly(degree=2, gamma=0.1)", false);
    compare_large(ctx, 1500, 40, "linear", true);
    close_clean(ctx);
}

static void test_threads_do_not_change_a_bit(void **state) {
    (void)state;
    enum { N = 4200, D = 12 };
    double weights[2][D];
    double loo[2];
    for (int run = 0; run < 2; run++) {
        mercer_ctx *ctx = open_ctx(run ? 3 : 1);
        mercer_data *data = table_of(ctx, N, D, false);
        mercer_kernel *kernel = kernel_of(ctx, "linear");
        mercer_ridge set = plain(1);
        set.intercept = set.loo = true;
        set.solver = "primal";
        mercer_model *model = NULL;
        assert_ok(ctx, mercer_fit(ctx, "ridge", &set, kernel, data, &model));
        memcpy(weights[run], model->f.primal, sizeof weights[run]);
        loo[run] = mercer_model_report(model)->loo_rmse;
        mercer_model_free(model);
        mercer_kernel_free(kernel);
        mercer_data_free(data);
        close_clean(ctx);
    }
    assert_memory_equal(weights[0], weights[1], sizeof weights[0]);
    assert_true(loo[0] == loo[1]);
}

static void test_it_is_refused_where_it_has_no_meaning(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    const sheet s = random_sheet(20, 1, 63);
    mercer_ridge set = plain(1);
    set.solver = "primal";
    assert_fails(ctx, try_sheet(ctx, "rbf(gamma=1)", &s, &set), MERCER_INVALID, "explicit features");
    assert_fails(ctx, try_sheet(ctx, "poly(degree=4)", &s, &set), MERCER_INVALID, "as there are rows");
    set.lambda = 1e-300;
    assert_fails(ctx, try_sheet(ctx, "linear + linear[1]", &s, &set), MERCER_NUMERIC, "lost in the rounding");
    close_clean(ctx);
}

/* lambda = 0, found from a norm, found from degrees of freedom: as from the eigenvalues of K. */
static void test_every_lambda_is_that_of_the_rows(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    for (int variant = 0; variant < 12; variant++) {
        sheet s = random_sheet(ROWS, OUTPUTS, 66);
        mercer_ridge set = mercer_ridge_defaults();
        s.weighted = variant & 1;
        set.intercept = variant & 2;
        set.scale = "none";
        set.loo = variant / 4 > 0;
        if (variant / 4 == 0)
            set.lambda = 0;
        else if (variant / 4 == 1)
            set.norm_bound = 0.4;
        else
            set.dof = 2.5;
        mercer_model *model[2];
        for (int i = 0; i < 2; i++) {
            set.solver = i ? "eigen" : "auto";
            model[i] = fit_sheet(ctx, "linear + linear[1]", &s, &set);
        }
        const mercer_report *a = mercer_model_report(model[0]), *b = mercer_model_report(model[1]);
        assert_string_equal(a->solver, "primal");
        assert_close(a->lambda, b->lambda, 1e-7);
        assert_close(a->norm, b->norm, 1e-9);
        assert_close(a->objective, b->objective, 1e-9);
        assert_int_equal(a->rank, b->rank);
        assert_true(a->certificate.residual_relative < 1e-11);
        if (set.loo)
            compare_reports(a, b);
        mercer_model_free(model[0]);
        mercer_model_free(model[1]);
    }
    close_clean(ctx);
}

/* Leaving rows out of least squares, one by one, as refitting does. */
static void test_least_squares_leaves_rows_out_as_refitting_does(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    sheet s = random_sheet(ROWS, 1, 67);
    mercer_ridge set = plain(0);
    set.intercept = set.loo = true;
    set.solver = "primal";
    mercer_model *all = fit_sheet(ctx, "linear", &s, &set);
    double sum = 0, f[ROWS];
    set.loo = false;
    for (int64_t i = 0; i < s.n; i++) {
        sheet less = s;
        less.n = s.n - 1;
        memmove(less.x + i * s.d, s.x + (i + 1) * s.d, (size_t)((s.n - 1 - i) * s.d) * sizeof *s.x);
        memmove(less.y + i, s.y + i + 1, (size_t)(s.n - 1 - i) * sizeof *s.y);
        mercer_model *one = fit_sheet(ctx, "linear", &less, &set);
        predict_sheet(ctx, one, &s, f);
        sum += (s.y[i] - f[i]) * (s.y[i] - f[i]);
        mercer_model_free(one);
    }
    assert_close(mercer_model_report(all)->loo_rmse, sqrt(sum / (double)s.n), 1e-9);
    mercer_model_free(all);
    close_clean(ctx);
}

/* The bound on predictions and the gap hold for weights that are off. */
static void test_the_certificate_of_weights_that_are_off_holds(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    for (int intercept = 0; intercept < 2; intercept++) {
        const sheet s = random_sheet(ROWS, 1, 68);
        mercer_ridge set = plain(0.5);
        set.intercept = intercept;
        set.solver = "primal";
        mercer_model *model = fit_sheet(ctx, "poly(degree=2, gamma=0.5)", &s, &set);
        mercer_data *data = data_of(ctx, &s);
        mercer_kernel *kernel = kernel_of(ctx, "poly(degree=2, gamma=0.5)");
        mc_problem problem;
        mc_residual_findings good, bad;
        double before[ROWS], after[ROWS];
        assert_ok(ctx, mc_problem_open(ctx, "none", mc_admit_proved, kernel, data, &problem));
        assert_ok(ctx, mc_certify_weights(ctx, &problem, 0.5, intercept, model->f.primal, model->f.intercept, &good));
        predict_sheet(ctx, model, &s, before);
        for (int64_t j = 0; j < model->f.features; j++)
            model->f.primal[j] += 1e-3 * (double)(j % 3 - 1);
        model->f.intercept[0] += intercept ? 1e-2 : 0;
        predict_sheet(ctx, model, &s, after);
        assert_ok(ctx, mc_certify_weights(ctx, &problem, 0.5, intercept, model->f.primal, model->f.intercept, &bad));
        assert_true(bad.objective > good.objective && bad.objective - good.objective <= bad.certificate.objective_gap);
        for (int64_t i = 0; i < s.n; i++)
            assert_true(fabs(after[i] - before[i]) <= bad.certificate.prediction_error_bound);
        assert_true(bad.certificate.residual > 1e3 * good.certificate.residual);
        mc_problem_close(&problem);
        mercer_model_free(model);
        mercer_kernel_free(kernel);
        mercer_data_free(data);
    }
    close_clean(ctx);
}

/* Learning new rows by weights is learning them by centres. */
static void test_weights_learn_new_rows_as_centres_do(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    const sheet s = random_sheet(ROWS, OUTPUTS, 69), fresh = random_sheet(ROWS, OUTPUTS, 70);
    double f[2][ROWS * OUTPUTS];
    mercer_data *rows = data_of(ctx, &fresh);
    for (int i = 0; i < 2; i++) {
        mercer_ridge set = plain(0.5);
        set.solver = i ? "cholesky" : "primal";
        mercer_model *from = fit_sheet(ctx, "1 + linear", &s, &set), *to = NULL;
        mercer_update how = mercer_update_defaults();
        how.passes = 2;
        assert_ok(ctx, mercer_model_update(ctx, from, rows, &how, &to));
        assert_int_equal(mercer_model_features(to), i ? 0 : COLUMNS_ + 1);
        predict_sheet(ctx, to, &s, f[i]);
        mercer_model_free(from);
        mercer_model_free(to);
    }
    for (int64_t i = 0; i < ROWS * OUTPUTS; i++)
        assert_close(f[0][i], f[1][i], 1e-10);
    mercer_data_free(rows);
    close_clean(ctx);
}

static mercer_status fit_once(mercer_ctx *ctx, void *arg) {
    const sheet *s = arg;
    const mercer_table table = table_of_sheet(s);
    mercer_data *data = NULL;
    mercer_kernel *kernel = NULL;
    mercer_model *model = NULL;
    mercer_ridge set = mercer_ridge_defaults();
    set.solver = "primal";
    set.intercept = set.loo = true;
    double phi[ROWS * 10];
    mercer_status status = mercer_data_make(ctx, &table, &data);
    if (!status)
        status = mercer_kernel_parse(ctx, "poly(degree=2, gamma=0.5)", &kernel);
    if (!status)
        status = mercer_fit(ctx, "ridge", &set, kernel, data, &model);
    if (!status)
        status = mercer_features(ctx, kernel, data, phi);
    mercer_model_free(model);
    mercer_kernel_free(kernel);
    mercer_data_free(data);
    return status;
}

static void test_it_survives_failing_memory(void **state) {
    (void)state;
    sheet s = random_sheet(20, 1, 64);
    assert_survives_failing_memory(fit_once, &s);
}

/* ---- A small lambda ---- */

/* Rounding over lambda alone would claim 1e-4 to 200 here. A kernel with a constant beside an intercept leaves one
   direction to lambda that no prediction sees. */
static void test_bounds_stay_sharp_where_lambda_is_small(void **state) {
    (void)state;
    static const char *const sharp[] = {"linear", "1 + linear", "poly(degree=2)"};
    mercer_ctx *ctx = open_ctx(2);
    mercer_data *data = NULL;
    assert_ok(ctx, mercer_data_generate(ctx, "friedman1", 4000, 1, 1, &data));
    for (int k = 0; k < 3; k++)
        for (int variant = 0; variant < 4; variant++) {
            mercer_ridge set = plain(variant & 1 ? 1e-4 : 1e-6);
            mercer_kernel *kernel = kernel_of(ctx, sharp[k]);
            mercer_model *model = NULL;
            set.intercept = variant & 2;
            set.scale = "standard";
            assert_ok(ctx, mercer_fit(ctx, "ridge", &set, kernel, data, &model));
            assert_string_equal(mercer_model_report(model)->solver, "primal");
            assert_true(mercer_model_report(model)->certificate.prediction_error_bound < 5e-6);
            mercer_model_free(model);
            mercer_kernel_free(kernel);
        }
    mercer_data_free(data);
    close_clean(ctx);
}

/* ---- The features themselves ---- */

static void test_inner_products_of_features_are_the_kernel(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    sheet s = random_sheet(15, 1, 65);
    for (int k = 0; k < KERNELS; k++) {
        mercer_data *data = data_of(ctx, &s);
        mercer_kernel *kernel = kernel_of(ctx, kernels[k]);
        const int64_t D = shape_of(ctx, kernel, s.d).dimension;
        assert_in_range(D, 1, 20);
        double phi[15 * 20], K[15 * 15];
        assert_ok(ctx, mercer_features(ctx, kernel, data, phi));
        assert_ok(ctx, mercer_gram(ctx, kernel, data, NULL, K));
        for (int64_t i = 0; i < 15 * 15; i++) {
            double sum = 0;
            for (int64_t j = 0; j < D; j++)
                sum += phi[i / 15 * D + j] * phi[i % 15 * D + j];
            assert_close(sum, K[i], 1e-12);
        }
        mercer_kernel_free(kernel);
        mercer_data_free(data);
    }
    mercer_data *data = data_of(ctx, &s);
    mercer_kernel *kernel = kernel_of(ctx, "rbf(gamma=1)");
    double phi[1];
    assert_fails(ctx, mercer_features(ctx, kernel, data, phi), MERCER_INVALID, "no feature map");
    mercer_kernel_free(kernel);
    mercer_data_free(data);
    close_clean(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_features_give_what_rows_give),
        cmocka_unit_test(test_panels_lanes_and_tiles_add_up),
        cmocka_unit_test(test_threads_do_not_change_a_bit),
        cmocka_unit_test(test_it_is_refused_where_it_has_no_meaning),
        cmocka_unit_test(test_every_lambda_is_that_of_the_rows),
        cmocka_unit_test(test_least_squares_leaves_rows_out_as_refitting_does),
        cmocka_unit_test(test_the_certificate_of_weights_that_are_off_holds),
        cmocka_unit_test(test_weights_learn_new_rows_as_centres_do),
        cmocka_unit_test(test_bounds_stay_sharp_where_lambda_is_small),
        cmocka_unit_test(test_it_survives_failing_memory),
        cmocka_unit_test(test_inner_products_of_features_are_the_kernel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
