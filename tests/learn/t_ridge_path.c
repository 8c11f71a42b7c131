/* The path of lambdas and the residuals of folds against refitting: every number is found again by fits that know
   nothing of it. */
#include "machines_of_test.h"
#include "model/model.h"

static const double lambdas[] = {1e-4, 30, 0.05, 1};
enum { LAMBDAS = 4, FOLDS = 4 };
static const char text[] = "rbf(gamma=0.4)";

static mercer_ridge variant_of(sheet *s, int variant, double lambda) {
    mercer_ridge set = plain(lambda);
    s->weighted = variant & 1;
    set.intercept = variant & 2;
    return set;
}

/* Rows whose fold is not k, or only those. */
static sheet part_of(const sheet *s, const int64_t *fold, int64_t k, bool only) {
    sheet part = *s;
    part.n = 0;
    for (int64_t i = 0; i < s->n; i++) {
        if ((fold[i] == k) != only)
            continue;
        memcpy(part.x + part.n * s->d, s->x + i * s->d, (size_t)s->d * 8);
        memcpy(part.y + part.n * s->outputs, s->y + i * s->outputs, (size_t)s->outputs * 8);
        part.w[part.n++] = s->w[i];
    }
    return part;
}

/* y - f of the rows of fold k, predicted from the others, into their places. */
static void refit_fold(mercer_ctx *ctx, const sheet *s, const mercer_ridge *set, const int64_t *fold, int64_t k,
                       double *out) {
    const sheet rest = part_of(s, fold, k, false), left = part_of(s, fold, k, true);
    double f[ROWS * OUTPUTS];
    mercer_model *model = fit_sheet(ctx, text, &rest, set);
    sheet asked = left;
    asked.weighted = false;
    predict_sheet(ctx, model, &asked, f);
    for (int64_t i = 0, a = 0; i < s->n; i++)
        for (int64_t c = 0; fold[i] == k && c < s->outputs; c++, a++)
            out[i * s->outputs + c] = s->y[i * s->outputs + c] - f[a];
    mercer_model_free(model);
}

static double rmse_of(const sheet *s, const double *e) {
    double sum = 0, weight = 0;
    for (int64_t i = 0; i < s->n; i++) {
        const double w = s->weighted ? s->w[i] : 1;
        for (int64_t c = 0; c < s->outputs && w > 0; c++)
            sum += w * e[i * s->outputs + c] * e[i * s->outputs + c];
        weight += w;
    }
    return sqrt(sum / weight / (double)s->outputs);
}

static void path_of(mercer_ctx *ctx, const char *kernel_text, const sheet *s, const mercer_ridge *set, const double *at,
                    int64_t count, mercer_path_row *out) {
    mercer_data *data = data_of(ctx, s);
    mercer_kernel *kernel = kernel_of(ctx, kernel_text);
    assert_ok(ctx, fit_path(ctx, "ridge", kernel, data, set, at, count, NULL, NULL, out));
    mercer_kernel_free(kernel);
    mercer_data_free(data);
}

static void folds_of(mercer_ctx *ctx, const sheet *s, const mercer_ridge *set, const int64_t *fold, double *residuals,
                     double *rmse) {
    mercer_data *data = data_of(ctx, s);
    mercer_kernel *kernel = kernel_of(ctx, text);
    assert_ok(ctx, mercer_fit_folds(ctx, "ridge", set, kernel, data, fold, residuals, NULL, rmse));
    mercer_kernel_free(kernel);
    mercer_data_free(data);
}

/* ---- The path ---- */

static void test_left_out_errors_are_what_refitting_gives(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    int64_t alone[ROWS];
    for (int64_t i = 0; i < ROWS; i++)
        alone[i] = i;
    for (int variant = 0; variant < 4; variant++) {
        sheet s = random_sheet(20, OUTPUTS, 31);
        mercer_ridge set = variant_of(&s, variant, 1);
        mercer_path_row rows[LAMBDAS];
        path_of(ctx, text, &s, &set, lambdas, LAMBDAS, rows);
        for (int l = 0; l < LAMBDAS; l++) {
            double e[ROWS * OUTPUTS];
            set.lambda = lambdas[l];
            for (int64_t i = 0; i < s.n; i++)
                refit_fold(ctx, &s, &set, alone, i, e);
            assert_true(rows[l].value == lambdas[l]);
            assert_close(rows[l].loo_rmse, rmse_of(&s, e), 1e-9);
        }
    }
    close_clean(ctx);
}

static void test_norm_and_objective_are_those_of_the_fit(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    for (int variant = 0; variant < 4; variant++) {
        sheet s = random_sheet(ROWS, OUTPUTS, 32);
        mercer_ridge set = variant_of(&s, variant, 1);
        mercer_path_row rows[LAMBDAS];
        path_of(ctx, text, &s, &set, lambdas, LAMBDAS, rows);
        for (int l = 0; l < LAMBDAS; l++) {
            set.lambda = lambdas[l];
            mercer_model *model = fit_sheet(ctx, text, &s, &set);
            assert_close(rows[l].norm, mercer_model_report(model)->norm, 1e-9);
            assert_close(rows[l].objective, mercer_model_report(model)->objective, 1e-9);
            mercer_model_free(model);
        }
    }
    close_clean(ctx);
}

static void test_a_fit_that_leaves_out_reports_freedom_and_gcv(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    for (int variant = 0; variant < 8; variant++) {
        sheet s = random_sheet(ROWS, OUTPUTS, 43);
        mercer_ridge set = variant_of(&s, variant, 0.2);
        set.loo = true;
        set.solver = variant & 4 ? "eigen" : "cholesky";
        mercer_path_row row;
        path_of(ctx, text, &s, &set, &set.lambda, 1, &row);
        mercer_model *model = fit_sheet(ctx, text, &s, &set);
        assert_close(mercer_model_report(model)->dof, row.dof, 1e-9);
        assert_close(mercer_model_report(model)->gcv, row.gcv, 1e-9);
        mercer_model_free(model);
        set.loo = false;
        set.solver = "cholesky";
        model = fit_sheet(ctx, text, &s, &set);
        assert_true(isnan(mercer_model_report(model)->dof) && isnan(mercer_model_report(model)->gcv));
        mercer_model_free(model);
    }
    close_clean(ctx);
}

/* The hat matrix has in its i-th column the fit to the i-th unit vector. */
static double trace_of_hat(mercer_ctx *ctx, const sheet *s, const mercer_ridge *set) {
    double trace = 0;
    for (int64_t i = 0; i < s->n; i++) {
        sheet unit = *s;
        double f[ROWS];
        memset(unit.y, 0, sizeof unit.y);
        unit.y[i] = 1;
        mercer_model *model = fit_sheet(ctx, text, &unit, set);
        predict_sheet(ctx, model, &unit, f);
        trace += f[i];
        mercer_model_free(model);
    }
    return trace;
}

static void test_degrees_of_freedom_are_the_trace_and_gcv_its_formula(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    for (int variant = 0; variant < 4; variant++) {
        sheet s = random_sheet(25, 1, 33);
        mercer_ridge set = variant_of(&s, variant, 1);
        mercer_path_row rows[LAMBDAS];
        path_of(ctx, text, &s, &set, lambdas, LAMBDAS, rows);
        for (int l = 0; l < LAMBDAS; l++) {
            double f[ROWS], e[ROWS];
            set.lambda = lambdas[l];
            mercer_model *model = fit_sheet(ctx, text, &s, &set);
            predict_sheet(ctx, model, &s, f);
            for (int64_t i = 0; i < s.n; i++)
                e[i] = s.y[i] - f[i];
            mercer_model_free(model);
            const double dof = trace_of_hat(ctx, &s, &set);
            assert_close(rows[l].dof, dof, 1e-9);
            assert_close(rows[l].gcv, pow(rmse_of(&s, e) / (1 - dof / (double)s.n), 2), 1e-6 * rows[l].gcv);
        }
    }
    close_clean(ctx);
}

static void test_lambda_zero_is_the_minimum_norm_function(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    const char *kernels[] = {"laplacian(gamma=1)", "linear", "1 + linear"};
    const double ranks[] = {20, 3, 4}, zero[] = {0};
    for (int k = 0; k < 3; k++)
        for (int intercept = 0; intercept < 2; intercept++) {
            const sheet s = random_sheet(20, 1, 34);
            mercer_ridge set = plain(0);
            set.intercept = intercept;
            mercer_path_row row;
            path_of(ctx, kernels[k], &s, &set, zero, 1, &row);
            mercer_model *model = fit_sheet(ctx, kernels[k], &s, &set);
            assert_close(row.norm, mercer_model_report(model)->norm, 1e-9);
            assert_close(row.objective, mercer_model_report(model)->objective, 1e-9);
            assert_close(row.dof, ranks[k] + (k == 1 && intercept), 1e-9);
            assert_int_equal(isnan(row.loo_rmse), k > 0);
            if (k == 0)
                assert_close(row.loo_rmse, mercer_model_report(model)->loo_rmse, 1e-9);
            mercer_model_free(model);
        }
    close_clean(ctx);
}

/* More lambdas than a batch holds: each row is the one it would be alone, up to rounding. */
static void test_a_long_path_is_many_short_ones(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    enum { MANY = 150 };
    sheet s = random_sheet(ROWS, OUTPUTS, 35);
    mercer_ridge set = variant_of(&s, 3, 1);
    double at[MANY];
    mercer_path_row rows[MANY], one;
    for (int l = 0; l < MANY; l++)
        at[l] = pow(10, -6 + 0.06 * l);
    path_of(ctx, text, &s, &set, at, MANY, rows);
    for (int l = 0; l < MANY; l++) {
        path_of(ctx, text, &s, &set, at + l, 1, &one);
        assert_close(rows[l].loo_rmse, one.loo_rmse, 1e-9);
        assert_close(rows[l].gcv, one.gcv, 1e-9);
        assert_true(l == 0
                    || (rows[l].norm < rows[l - 1].norm && rows[l].dof < rows[l - 1].dof
                        && rows[l].objective > rows[l - 1].objective));
    }
    close_clean(ctx);
}

static void test_threads_do_not_change_a_bit(void **state) {
    (void)state;
    enum { N = 500 };
    mercer_path_row rows[2][LAMBDAS];
    static double residuals[2][N];
    int64_t fold[N];
    for (int64_t i = 0; i < N; i++)
        fold[i] = i * 7 % 5;
    for (int run = 0; run < 2; run++) {
        mercer_ctx *ctx = open_ctx(run ? 3 : 1);
        mercer_data *data = NULL;
        mercer_kernel *kernel = kernel_of(ctx, "rbf");
        assert_ok(ctx, mercer_data_generate(ctx, "friedman1", N, 0.1, 5, &data));
        mercer_ridge set = mercer_ridge_defaults();
        set.intercept = true;
        assert_ok(ctx, fit_path(ctx, "ridge", kernel, data, &set, lambdas, LAMBDAS, NULL, fold, rows[run]));
        assert_ok(ctx, mercer_fit_folds(ctx, "ridge", &set, kernel, data, fold, residuals[run], NULL, NULL));
        mercer_kernel_free(kernel);
        mercer_data_free(data);
        close_clean(ctx);
    }
    assert_memory_equal(rows[0], rows[1], sizeof rows[0]);
    assert_memory_equal(residuals[0], residuals[1], sizeof residuals[0]);
}

/* ---- Folds ---- */

/* Folds of unlike sizes with odd names. */
static void name_folds(const sheet *s, int64_t *fold) {
    static const int64_t names[FOLDS] = {-3, 1000000007, 0, 5};
    for (int64_t i = 0; i < s->n; i++)
        fold[i] = names[(i * i + i / 3) % FOLDS];
}

static void test_fold_residuals_are_what_refitting_gives(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    for (int variant = 0; variant < 4; variant++) {
        sheet s = random_sheet(40, OUTPUTS, 36);
        mercer_ridge set = variant_of(&s, variant, 0.05);
        int64_t fold[ROWS];
        double ours[ROWS * OUTPUTS], theirs[ROWS * OUTPUTS], rmse;
        name_folds(&s, fold);
        folds_of(ctx, &s, &set, fold, ours, &rmse);
        for (int64_t i = 0; i < s.n; i++)
            refit_fold(ctx, &s, &set, fold, fold[i], theirs);
        for (int64_t i = 0; i < s.n * s.outputs; i++)
            assert_close(ours[i], theirs[i], 1e-9);
        assert_close(rmse, rmse_of(&s, theirs), 1e-10);
    }
    close_clean(ctx);
}

/* Variance of y_i given the rows of other folds: k_ii + lambda / w_i - k'(K + lambda / W)^-1 k over those rows, by
   elimination. */
static double variance_given(const sheet *s, const int64_t *fold, int64_t row, double lambda) {
    long double A[ROWS][ROWS + 1];
    int64_t m = 0, rest[ROWS];
    for (int64_t i = 0; i < s->n; i++)
        if (fold[i] != fold[row])
            rest[m++] = i;
    rest[m] = row;
    for (int64_t a = 0; a <= m; a++)
        for (int64_t b = 0; b <= m; b++) {
            long double distance = 0;
            for (int64_t j = 0; j < s->d; j++) {
                const long double u = s->x[rest[a] * s->d + j] - s->x[rest[b] * s->d + j];
                distance += u * u;
            }
            A[a][b] = expl(-0.4L * distance) + (a == b ? lambda / (s->weighted ? s->w[rest[a]] : 1) : 0);
        }
    for (int64_t p = 0; p < m; p++) /* what elimination leaves in the last corner is the conditional variance */
        for (int64_t a = p + 1; a <= m; a++) {
            const long double factor = A[a][p] / A[p][p];
            for (int64_t b = p; b <= m; b++)
                A[a][b] -= factor * A[p][b];
        }
    return (double)A[m][m];
}

static void test_fold_variances_are_conditional_variances(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    for (int variant = 0; variant < 2; variant++) {
        sheet s = random_sheet(30, 1, 41);
        const mercer_ridge set = variant_of(&s, variant, 0.05);
        int64_t fold[ROWS];
        double residuals[ROWS], variances[ROWS];
        name_folds(&s, fold);
        mercer_data *data = data_of(ctx, &s);
        mercer_kernel *kernel = kernel_of(ctx, text);
        assert_ok(ctx, mercer_fit_folds(ctx, "ridge", &set, kernel, data, fold, residuals, variances, NULL));
        for (int64_t i = 0; i < s.n; i++)
            assert_close(variances[i], variance_given(&s, fold, i, 0.05), 1e-10);
        mercer_kernel_free(kernel);
        mercer_data_free(data);
    }
    close_clean(ctx);
}

static void test_the_path_of_folds_is_that_of_single_lambdas(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    for (int variant = 0; variant < 4; variant++) {
        sheet s = random_sheet(50, OUTPUTS, 42);
        mercer_ridge set = variant_of(&s, variant, 1);
        int64_t fold[ROWS];
        double residuals[ROWS * OUTPUTS], rmse;
        mercer_path_row rows[LAMBDAS], without[LAMBDAS];
        name_folds(&s, fold);
        mercer_data *data = data_of(ctx, &s);
        mercer_kernel *kernel = kernel_of(ctx, text);
        assert_ok(ctx, fit_path(ctx, "ridge", kernel, data, &set, lambdas, LAMBDAS, NULL, fold, rows));
        assert_ok(ctx, fit_path(ctx, "ridge", kernel, data, &set, lambdas, LAMBDAS, NULL, NULL, without));
        for (int l = 0; l < LAMBDAS; l++) {
            set.lambda = lambdas[l];
            folds_of(ctx, &s, &set, fold, residuals, &rmse);
            assert_close(rows[l].fold, rmse, 1e-9);
            assert_true(isnan(without[l].fold) && rows[l].loo_rmse == without[l].loo_rmse);
        }
        mercer_kernel_free(kernel);
        mercer_data_free(data);
    }
    close_clean(ctx);
}

static void test_rows_without_weight_have_no_residual_and_no_say(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    sheet s = random_sheet(30, 1, 37);
    mercer_ridge set = variant_of(&s, 3, 0.2);
    s.w[0] = s.w[11] = 0;
    int64_t fold[ROWS], kept[ROWS];
    double all[ROWS], some[ROWS];
    name_folds(&s, fold);
    for (int64_t i = 0; i < s.n; i++)
        kept[i] = i == 0 || i == 11;
    const sheet rest = part_of(&s, kept, 1, false);
    folds_of(ctx, &s, &set, fold, all, NULL);
    int64_t fold_of_rest[ROWS];
    for (int64_t i = 0, a = 0; i < s.n; i++)
        if (!kept[i])
            fold_of_rest[a++] = fold[i];
    folds_of(ctx, &rest, &set, fold_of_rest, some, NULL);
    for (int64_t i = 0, a = 0; i < s.n; i++)
        if (kept[i])
            assert_true(isnan(all[i]));
        else
            assert_true(all[i] == some[a++]);
    close_clean(ctx);
}

static void test_a_fold_for_each_row_is_leave_one_out(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    for (int variant = 0; variant < 4; variant++) {
        sheet s = random_sheet(ROWS, OUTPUTS, 38);
        mercer_ridge set = variant_of(&s, variant, 0.01);
        int64_t fold[ROWS];
        double residuals[ROWS * OUTPUTS], rmse;
        for (int64_t i = 0; i < s.n; i++)
            fold[i] = -i;
        mercer_path_row row;
        folds_of(ctx, &s, &set, fold, residuals, &rmse);
        path_of(ctx, text, &s, &set, &set.lambda, 1, &row);
        assert_close(rmse, row.loo_rmse, 1e-10);
    }
    close_clean(ctx);
}

/* ---- Failures ---- */

static void test_bad_input_is_refused(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    const sheet s = random_sheet(10, 1, 39);
    mercer_data *data = data_of(ctx, &s);
    mercer_kernel *kernel = kernel_of(ctx, text), *bad = kernel_of(ctx, "tanh(a=1, c=-1)");
    mercer_path_row row[2];
    const double negative[] = {1, -1e-300}, nan[] = {NAN}, infinite[] = {INFINITY}, small[] = {1e-3};
    assert_fails(ctx, fit_path(ctx, "ridge", kernel, data, NULL, negative, 2, NULL, NULL, row), MERCER_INVALID,
                 "number 2 is -1e-300");
    assert_fails(ctx, fit_path(ctx, "ridge", kernel, data, NULL, nan, 1, NULL, NULL, row), MERCER_INVALID, "nan");
    assert_fails(ctx, fit_path(ctx, "ridge", kernel, data, NULL, infinite, 1, NULL, NULL, row), MERCER_INVALID, "inf");
    assert_fails(ctx, fit_path(ctx, "ridge", kernel, data, NULL, small, 0, NULL, NULL, row), MERCER_INVALID,
                 "at least one");
    assert_fails(ctx, fit_path(ctx, "ridge", bad, data, NULL, small, 1, NULL, NULL, row), MERCER_NOT_A_KERNEL, "");
    mercer_ridge set = plain(1);
    set.allow_indefinite = true;
    assert_fails(ctx, fit_path(ctx, "ridge", bad, data, &set, small, 1, NULL, NULL, row), MERCER_NUMERIC,
                 "smallest eigenvalue");
    const int64_t same[10] = {7, 7, 7, 7, 7, 7, 7, 7, 7, 7};
    double residuals[10];
    assert_fails(ctx, mercer_fit_folds(ctx, "ridge", NULL, kernel, data, same, residuals, NULL, NULL), MERCER_INVALID,
                 "fold 7");
    assert_fails(ctx, fit_path(ctx, "ridge", kernel, data, NULL, small, 1, NULL, same, row), MERCER_INVALID, "fold 7");
    set = plain(NAN);
    assert_fails(ctx, mercer_fit_folds(ctx, "ridge", &set, kernel, data, same, residuals, NULL, NULL), MERCER_INVALID,
                 "lambda must be");
    mercer_kernel_free(bad);
    mercer_kernel_free(kernel);
    mercer_data_free(data);
    close_clean(ctx);
}

static mercer_status run_everything(mercer_ctx *ctx, void *arg) {
    const sheet *s = arg;
    const mercer_table table = table_of_sheet(s);
    mercer_data *data = NULL;
    mercer_kernel *kernel = NULL;
    mercer_ridge set = mercer_ridge_defaults();
    mercer_path_row rows[LAMBDAS];
    int64_t fold[ROWS];
    double residuals[ROWS], variances[ROWS];
    name_folds(s, fold);
    set.intercept = true;
    mercer_status status = mercer_data_make(ctx, &table, &data);
    if (!status)
        status = mercer_kernel_parse(ctx, text, &kernel);
    if (!status)
        status = fit_path(ctx, "ridge", kernel, data, &set, lambdas, LAMBDAS, NULL, NULL, rows);
    if (!status)
        status = fit_path(ctx, "ridge", kernel, data, &set, lambdas, LAMBDAS, NULL, fold, rows);
    if (!status)
        status = mercer_fit_folds(ctx, "ridge", &set, kernel, data, fold, residuals, variances, NULL);
    mercer_kernel_free(kernel);
    mercer_data_free(data);
    return status;
}

static void test_both_survive_failing_memory(void **state) {
    (void)state;
    sheet s = random_sheet(12, 1, 40);
    s.w[3] = 0;
    assert_survives_failing_memory(run_everything, &s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_left_out_errors_are_what_refitting_gives),
        cmocka_unit_test(test_norm_and_objective_are_those_of_the_fit),
        cmocka_unit_test(test_a_fit_that_leaves_out_reports_freedom_and_gcv),
        cmocka_unit_test(test_degrees_of_freedom_are_the_trace_and_gcv_its_formula),
        cmocka_unit_test(test_lambda_zero_is_the_minimum_norm_function),
        cmocka_unit_test(test_a_long_path_is_many_short_ones),
        cmocka_unit_test(test_threads_do_not_change_a_bit),
        cmocka_unit_test(test_fold_residuals_are_what_refitting_gives),
        cmocka_unit_test(test_fold_variances_are_conditional_variances),
        cmocka_unit_test(test_the_path_of_folds_is_that_of_single_lambdas),
        cmocka_unit_test(test_rows_without_weight_have_no_residual_and_no_say),
        cmocka_unit_test(test_a_fold_for_each_row_is_leave_one_out),
        cmocka_unit_test(test_bad_input_is_refused),
        cmocka_unit_test(test_both_survive_failing_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
