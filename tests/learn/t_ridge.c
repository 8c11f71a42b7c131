/* Oracles: dense systems by LAPACK (dgesv, dgelsd), refitting without each row, ordinary least squares. */
#include "machines_of_test.h"
#include "model/model.h"

void dgesv_(const int *n, const int *nrhs, double *a, const int *lda, int *ipiv, double *b, const int *ldb, int *info);
void dgelsd_(const int *m, const int *n, const int *nrhs, double *a, const int *lda, double *b, const int *ldb,
             double *s, const double *rcond, int *rank, double *work, const int *lwork, int *iwork, int *info);

static double rbf(const sheet *s, int64_t i, int64_t j, double gamma) {
    double r = 0;
    for (int64_t c = 0; c < s->d; c++)
        r += (s->x[i * s->d + c] - s->x[j * s->d + c]) * (s->x[i * s->d + c] - s->x[j * s->d + c]);
    return exp(-gamma * r);
}

/* [K + lambda/w, 1; 1', 0] [alpha; b] = [y; 0] in full, the border left out without an intercept. */
static void solve_dense(const sheet *s, double gamma, double lambda, bool intercept, int64_t k, double *alpha,
                        double *b) {
    static double A[(ROWS + 1) * (ROWS + 1)];
    double rhs[ROWS + 1];
    int pivots[ROWS + 1], info;
    const int n = (int)s->n, m = n + intercept, one = 1;
    for (int i = 0; i < m; i++)
        for (int j = 0; j < m; j++)
            A[i + j * m] =
                i < n && j < n ? rbf(s, i, j, gamma) + (i == j ? lambda / (s->weighted ? s->w[i] : 1) : 0) : i != j;
    for (int i = 0; i < m; i++)
        rhs[i] = i < n ? s->y[i * s->outputs + k] : 0;
    dgesv_(&m, &one, A, &m, pivots, rhs, &m, &info);
    assert_int_equal(info, 0);
    memcpy(alpha, rhs, (size_t)n * sizeof *alpha);
    *b = intercept ? rhs[n] : 0;
}

static void test_coefficients_solve_the_dense_system(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    for (int variant = 0; variant < 8; variant++) {
        sheet s = random_sheet(ROWS, OUTPUTS, 1);
        s.weighted = variant & 1;
        mercer_ridge set = plain(0.3);
        set.intercept = variant & 2;
        set.solver = variant & 4 ? "eigen" : "cholesky";
        mercer_model *model = fit_sheet(ctx, "rbf(gamma=0.4)", &s, &set);
        for (int64_t k = 0; k < OUTPUTS; k++) {
            double alpha[ROWS], b;
            solve_dense(&s, 0.4, 0.3, set.intercept, k, alpha, &b);
            assert_close(model->f.intercept[k], b, 1e-11);
            for (int64_t i = 0; i < ROWS; i++)
                assert_close(model->f.alpha[i * OUTPUTS + k], alpha[i], 1e-11);
        }
        assert_string_equal(mercer_model_report(model)->solver, set.solver);
        mercer_model_free(model);
    }
    close_clean(ctx);
}

static void test_a_weight_is_a_repeated_row(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    for (int intercept = 0; intercept < 2; intercept++) {
        sheet few = random_sheet(20, 1, 2), many = {.d = few.d, .outputs = 1};
        few.weighted = true;
        for (int64_t i = 0; i < few.n; i++) {
            few.w[i] = (double)(i % 4); /* none, one, two or three times */
            for (int64_t r = 0; r < i % 4; r++, many.n++) {
                memcpy(many.x + many.n * few.d, few.x + i * few.d, (size_t)few.d * 8);
                many.y[many.n] = few.y[i];
            }
        }
        mercer_ridge set = plain(0.7);
        set.intercept = intercept;
        mercer_model *a = fit_sheet(ctx, "rbf(gamma=0.4)", &few, &set),
                     *b = fit_sheet(ctx, "rbf(gamma=0.4)", &many, &set);
        const sheet probe = random_sheet(ROWS, 1, 3);
        double fa[ROWS], fb[ROWS];
        predict_sheet(ctx, a, &probe, fa);
        predict_sheet(ctx, b, &probe, fb);
        for (int i = 0; i < ROWS; i++)
            assert_close(fa[i], fb[i], 1e-12);
        assert_int_equal(mercer_model_centres(a), 15);
        assert_close(mercer_model_report(a)->objective, mercer_model_report(b)->objective, 1e-12);
        assert_close(mercer_model_report(a)->norm, mercer_model_report(b)->norm, 1e-12);
        mercer_model_free(a);
        mercer_model_free(b);
    }
    close_clean(ctx);
}

static void test_tiny_and_huge_weights_do_no_harm(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    sheet s = random_sheet(30, 1, 4), kept = s;
    s.weighted = true;
    kept.n = 20;
    for (int64_t i = 0; i < s.n; i++)
        s.w[i] = i < 20 ? 1 : 1e-250;
    mercer_ridge set = plain(0.5);
    mercer_model *a = fit_sheet(ctx, "rbf(gamma=0.4)", &s, &set), *b = fit_sheet(ctx, "rbf(gamma=0.4)", &kept, &set);
    double fa[30], fb[30];
    kept.n = 30;
    predict_sheet(ctx, a, &kept, fa);
    predict_sheet(ctx, b, &kept, fb);
    for (int i = 0; i < 30; i++)
        assert_close(fa[i], fb[i], 1e-13);
    mercer_model_free(a);
    mercer_model_free(b);
    close_clean(ctx);
}

static void test_shifting_the_target_shifts_the_intercept_only(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    sheet s = random_sheet(ROWS, 1, 5);
    mercer_ridge set = plain(0.1);
    set.intercept = true;
    mercer_model *a = fit_sheet(ctx, "rbf(gamma=0.4)", &s, &set);
    for (int64_t i = 0; i < ROWS; i++)
        s.y[i] += 1e9;
    mercer_model *b = fit_sheet(ctx, "rbf(gamma=0.4)", &s, &set);
    assert_close(b->f.intercept[0] - 1e9, a->f.intercept[0], 1e-6); /* 1e9 + y keeps seven digits after the point */
    for (int64_t i = 0; i < ROWS; i++)
        assert_close(a->f.alpha[i], b->f.alpha[i], 1e-5);
    mercer_model_free(a);
    mercer_model_free(b);
    close_clean(ctx);
}

static void test_order_of_rows_does_not_matter(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    const sheet s = random_sheet(ROWS, OUTPUTS, 6);
    sheet t = s;
    int64_t order[ROWS];
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 7);
    mc_rng_shuffle(&rng, order, ROWS);
    for (int64_t i = 0; i < ROWS; i++) {
        memcpy(t.x + i * t.d, s.x + order[i] * s.d, (size_t)s.d * 8);
        memcpy(t.y + i * OUTPUTS, s.y + order[i] * OUTPUTS, OUTPUTS * 8);
    }
    mercer_ridge set = plain(1e-3);
    set.intercept = true;
    mercer_model *a = fit_sheet(ctx, "rbf(gamma=0.4)", &s, &set), *b = fit_sheet(ctx, "rbf(gamma=0.4)", &t, &set);
    for (int64_t i = 0; i < ROWS * OUTPUTS; i++)
        assert_close(b->f.alpha[i], a->f.alpha[order[i / OUTPUTS] * OUTPUTS + i % OUTPUTS], 1e-9);
    mercer_model_free(a);
    mercer_model_free(b);
    close_clean(ctx);
}

static void test_several_outputs_are_separate_fits(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    const sheet s = random_sheet(ROWS, OUTPUTS, 8);
    mercer_ridge set = plain(0.2);
    set.intercept = true;
    set.loo = true;
    mercer_model *all = fit_sheet(ctx, "rbf(gamma=0.4)", &s, &set);
    double square = 0, objective = 0;
    for (int64_t k = 0; k < OUTPUTS; k++) {
        sheet one = s;
        one.outputs = 1;
        for (int64_t i = 0; i < ROWS; i++)
            one.y[i] = s.y[i * OUTPUTS + k];
        mercer_model *single = fit_sheet(ctx, "rbf(gamma=0.4)", &one, &set);
        for (int64_t i = 0; i < ROWS; i++)
            assert_close(single->f.alpha[i], all->f.alpha[i * OUTPUTS + k], 1e-12);
        square += pow(mercer_model_report(single)->loo_rmse, 2) / OUTPUTS;
        objective += mercer_model_report(single)->objective;
        mercer_model_free(single);
    }
    assert_close(mercer_model_report(all)->loo_rmse, sqrt(square), 1e-12);
    assert_close(mercer_model_report(all)->objective, objective, 1e-12);
    mercer_model_free(all);
    close_clean(ctx);
}

/* ---- lambda = 0 ---- */

static void test_zero_lambda_interpolates(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    for (int intercept = 0; intercept < 2; intercept++) {
        const sheet s = random_sheet(30, 1, 9);
        mercer_ridge set = plain(0);
        set.intercept = intercept;
        mercer_model *model = fit_sheet(ctx, "laplacian(gamma=1)", &s, &set);
        double f[30];
        predict_sheet(ctx, model, &s, f);
        for (int i = 0; i < 30; i++)
            assert_close(f[i], s.y[i], 1e-11);
        const mercer_report *r = mercer_model_report(model);
        assert_string_equal(r->solver, "eigen");
        assert_string_equal(r->certificate.kind, "gradient");
        assert_int_equal(r->rank, 30);
        assert_true(isinf(r->certificate.prediction_error_bound));
        assert_true(r->certificate.objective_gap < 1e-18 && r->certificate.residual_relative < 1e-10);
        mercer_model_free(model);
    }
    close_clean(ctx);
}

/* A linear kernel has rank d: least squares in d unknowns, of least norm. */
static void test_zero_lambda_on_a_singular_kernel_is_least_squares(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    for (int variant = 0; variant < 4; variant++) {
        sheet s = random_sheet(40, 1, 10);
        s.weighted = variant & 2;
        const bool intercept = variant & 1;
        mercer_ridge set = plain(0);
        set.intercept = intercept;
        mercer_model *model = fit_sheet(ctx, "linear", &s, &set);
        assert_int_equal(mercer_model_report(model)->rank, 3);
        assert_true(mercer_model_report(model)->certificate.residual_relative < 1e-12);
        const int m = 40, p = 3 + intercept, one = 1, work_size = 4000;
        double A[160], b[40], sigma[4], work[4000], rcond = -1, f[40];
        int rank, iwork[400], info;
        for (int i = 0; i < m; i++) {
            const double root = s.weighted ? sqrt(s.w[i]) : 1;
            for (int j = 0; j < p; j++)
                A[i + j * m] = root * (j < 3 ? s.x[i * 3 + j] : 1);
            b[i] = root * s.y[i];
        }
        dgelsd_(&m, &p, &one, A, &m, b, &m, sigma, &rcond, &rank, work, &work_size, iwork, &info);
        assert_int_equal(info, 0);
        predict_sheet(ctx, model, &s, f);
        for (int i = 0; i < m; i++) {
            double expected = intercept ? b[3] : 0;
            for (int j = 0; j < 3; j++)
                expected += b[j] * s.x[i * 3 + j];
            assert_close(f[i], expected, 1e-11);
        }
        double norm = 0;
        for (int j = 0; j < 3; j++)
            norm += b[j] * b[j];
        assert_close(mercer_model_report(model)->norm, sqrt(norm), 1e-11);
        mercer_model_free(model);
    }
    close_clean(ctx);
}

static void test_the_limit_of_small_lambda_is_zero_lambda(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    for (int intercept = 0; intercept < 2; intercept++) {
        const sheet s = random_sheet(25, 1, 11), probe = random_sheet(ROWS, 1, 12);
        mercer_ridge zero = plain(0), small = plain(1e-7);
        zero.intercept = small.intercept = intercept;
        const char *kernels[] = {"laplacian(gamma=1)", "1 + linear", "linear", "poly(degree=2, c=0)"};
        for (int k = 0; k < 4; k++) {
            mercer_model *a = fit_sheet(ctx, kernels[k], &s, &zero), *b = fit_sheet(ctx, kernels[k], &s, &small);
            double fa[ROWS], fb[ROWS];
            predict_sheet(ctx, a, &probe, fa);
            predict_sheet(ctx, b, &probe, fb);
            for (int i = 0; i < ROWS; i++)
                assert_close(fa[i], fb[i], 1e-5);
            assert_close(a->f.intercept[0], b->f.intercept[0], 1e-5);
            mercer_model_free(a);
            mercer_model_free(b);
        }
    }
    close_clean(ctx);
}

/* ---- Leave one out ---- */

static double loo_by_refitting(mercer_ctx *ctx, const sheet *s, const mercer_ridge *set) {
    mercer_ridge without = *set;
    without.loo = false;
    double sum = 0, weight = 0;
    for (int64_t i = 0; i < s->n; i++) {
        sheet rest = *s, left = *s;
        const int64_t last = --rest.n;
        memcpy(rest.x + i * s->d, s->x + last * s->d, (size_t)s->d * 8); /* the last row takes its place */
        memcpy(rest.y + i * s->outputs, s->y + last * s->outputs, (size_t)s->outputs * 8);
        rest.w[i] = s->w[last];
        left.n = 1;
        memcpy(left.x, s->x + i * s->d, (size_t)s->d * 8);
        mercer_model *model = fit_sheet(ctx, "rbf(gamma=0.4)", &rest, &without);
        double f[OUTPUTS];
        predict_sheet(ctx, model, &left, f);
        const double w = s->weighted ? s->w[i] : 1;
        for (int64_t k = 0; k < s->outputs; k++)
            sum += w * pow(s->y[i * s->outputs + k] - f[k], 2);
        weight += w;
        mercer_model_free(model);
    }
    return sqrt(sum / weight / (double)s->outputs);
}

static void test_leave_one_out_is_what_refitting_gives(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    for (int variant = 0; variant < 8; variant++) {
        sheet s = random_sheet(25, OUTPUTS, 13);
        s.weighted = variant & 1;
        mercer_ridge set = plain(0.05);
        set.intercept = variant & 2;
        set.solver = variant & 4 ? "eigen" : "cholesky";
        set.loo = true;
        mercer_model *model = fit_sheet(ctx, "rbf(gamma=0.4)", &s, &set);
        assert_close(mercer_model_report(model)->loo_rmse, loo_by_refitting(ctx, &s, &set), 1e-11);
        mercer_model_free(model);
    }
    close_clean(ctx);
}

static void test_leave_one_out_says_where_it_has_no_meaning(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    sheet s = random_sheet(1, 1, 14);
    mercer_ridge set = plain(1);
    set.intercept = true;
    set.loo = true;
    mercer_kernel *kernel = kernel_of(ctx, "linear");
    mercer_data *one = data_of(ctx, &s);
    mercer_model *model = NULL;
    assert_fails(ctx, mercer_fit(ctx, "ridge", &set, kernel, one, &model), MERCER_NUMERIC, "row 1");
    s = random_sheet(20, 1, 14);
    mercer_data *many = data_of(ctx, &s);
    set.lambda = 0;
    set.solver = "eigen";
    assert_fails(ctx, mercer_fit(ctx, "ridge", &set, kernel, many, &model), MERCER_NUMERIC, "rank 3 of 20");
    set.loo = false;
    assert_ok(ctx, mercer_fit(ctx, "ridge", &set, kernel, many, &model));
    assert_true(isnan(mercer_model_report(model)->loo_rmse));
    mercer_model_free(model);
    mercer_data_free(one);
    mercer_data_free(many);
    mercer_kernel_free(kernel);
    close_clean(ctx);
}

/* ---- Classes ---- */

static void test_classes_get_an_output_each(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    const char *names[3] = {"blue", "red", "10"};
    for (int classes = 2; classes <= 3; classes++) {
        sheet s = random_sheet(ROWS, 1, 15);
        const char *labels[ROWS];
        for (int i = 0; i < ROWS; i++) {
            labels[i] = names[i % classes];
            s.x[i * 3] += 8 * (i % classes);
        }
        mercer_table table = {
            .size = sizeof table, .n = ROWS, .d = 3, .dtype = MERCER_F64, .values = s.x, .labels = labels};
        mercer_data *data = NULL;
        assert_ok(ctx, mercer_data_make(ctx, &table, &data));
        mercer_kernel *kernel = kernel_of(ctx, "rbf(gamma=0.1)");
        mercer_ridge set = plain(0.1);
        mercer_model *model = NULL;
        assert_ok(ctx, mercer_fit(ctx, "ridge", &set, kernel, data, &model));
        assert_int_equal(mercer_model_outputs(model), classes);
        assert_int_equal(mercer_model_classes(model), classes);
        double f[ROWS * 3];
        assert_ok(ctx, mercer_predict(ctx, model, data, f));
        for (int i = 0; i < ROWS; i++)
            for (int k = 0; k < classes; k++)
                assert_true(f[i * classes + k] <= f[i * classes + mercer_data_class(data, i)]);
        if (classes == 2)
            for (int i = 0; i < ROWS; i++)
                assert_close(f[2 * i], -f[2 * i + 1], 1e-12);
        mercer_model_free(model);
        mercer_kernel_free(kernel);
        mercer_data_free(data);
    }
    close_clean(ctx);
}

/* ---- Failures ---- */

/* The cure that a message offers must cure. */
static void assert_offered_lambda_works(mercer_ctx *ctx, const char *text, const sheet *s, mercer_ridge set) {
    const char *offer = strstr(mercer_message(ctx), "lambda >= ");
    assert_non_null(offer);
    set.lambda = strtod(offer + strlen("lambda >= "), NULL);
    assert_true(set.lambda > 0);
    assert_ok(ctx, try_sheet(ctx, text, s, &set));
}

static void test_an_indefinite_kernel_fails_with_its_eigenvalue(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    for (int weighted = 0; weighted < 2; weighted++)
        for (int solver = 0; solver < 2; solver++) {
            sheet s = random_sheet(ROWS, 1, 16);
            s.weighted = weighted;
            mercer_ridge set = plain(1e-3);
            set.solver = solver ? "eigen" : "cholesky";
            assert_fails(ctx, try_sheet(ctx, "tanh(a=1, c=-1)", &s, &set), MERCER_NOT_A_KERNEL, "");
            set.allow_indefinite = true;
            assert_fails(ctx, try_sheet(ctx, "tanh(a=1, c=-1)", &s, &set), MERCER_NUMERIC, "smallest eigenvalue");
            assert_offered_lambda_works(ctx, "tanh(a=1, c=-1)", &s, set);
        }
    close_clean(ctx);
}

static void test_consent_gives_a_model_without_bounds(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    const sheet s = random_sheet(20, 1, 17);
    mercer_ridge set = plain(100);
    set.allow_indefinite = true;
    mercer_model *model = fit_sheet(ctx, "tanh(a=1, c=-1)", &s, &set);
    assert_string_equal(mercer_message(ctx), "");
    assert_true(isinf(mercer_model_report(model)->certificate.prediction_error_bound));
    assert_true(isinf(mercer_model_report(model)->certificate.objective_gap));
    assert_true(mercer_model_report(model)->certificate.residual_relative < 1e-10);
    mercer_model_free(model);
    close_clean(ctx);
}

static void test_a_lambda_lost_in_rounding_is_said_to_be(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    sheet s = random_sheet(ROWS, 1, 18);
    for (int64_t i = 1; i < ROWS; i += 2)
        memcpy(s.x + i * s.d, s.x + (i - 1) * s.d, (size_t)s.d * 8); /* pairs of equal rows: K is singular */
    mercer_ridge set = plain(1e-18);
    assert_fails(ctx, try_sheet(ctx, "rbf(gamma=0.4)", &s, &set), MERCER_NUMERIC, "rounding");
    assert_offered_lambda_works(ctx, "rbf(gamma=0.4)", &s, set);
    set.lambda = 0;
    set.solver = "cholesky";
    assert_fails(ctx, try_sheet(ctx, "rbf(gamma=0.4)", &s, &set), MERCER_NUMERIC, "minimum-norm");
    set.solver = "auto";
    assert_ok(ctx, try_sheet(ctx, "rbf(gamma=0.4)", &s, &set));
    close_clean(ctx);
}

static void test_what_cannot_be_fitted_is_refused(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    sheet s = random_sheet(10, 1, 19);
    mercer_ridge set = plain(-1);
    assert_fails(ctx, try_sheet(ctx, "linear", &s, &set), MERCER_INVALID, "lambda must be in [0");
    set = plain(NAN);
    assert_fails(ctx, try_sheet(ctx, "linear", &s, &set), MERCER_INVALID, "got nan");
    set = plain(1);
    set.solver = "magic";
    assert_fails(ctx, try_sheet(ctx, "linear", &s, &set), MERCER_INVALID, "'magic'");
    mercer_table table = {.size = sizeof table, .n = 10, .d = 3, .dtype = MERCER_F64, .values = s.x};
    const char *same[10] = {"a", "a", "a", "a", "a", "a", "a", "a", "a", "a"}, *latin[10];
    mercer_data *bare = NULL, *alike = NULL, *strange = NULL;
    assert_ok(ctx, mercer_data_make(ctx, &table, &bare));
    table.labels = same;
    assert_ok(ctx, mercer_data_make(ctx, &table, &alike));
    for (int i = 0; i < 10; i++)
        latin[i] = i % 2 ? "caf\xe9" : "tea";
    table.labels = latin;
    assert_ok(ctx, mercer_data_make(ctx, &table, &strange));
    mercer_kernel *kernel = kernel_of(ctx, "linear");
    mercer_model *model = NULL;
    assert_fails(ctx, mercer_fit(ctx, "ridge", NULL, kernel, bare, &model), MERCER_DATA, "no target");
    assert_fails(ctx, mercer_fit(ctx, "ridge", NULL, kernel, alike, &model), MERCER_DATA, "class 'a'");
    assert_fails(ctx, mercer_fit(ctx, "ridge", NULL, kernel, strange, &model), MERCER_DATA, "UTF-8");
    assert_fails(ctx, mercer_fit(ctx, "rigde", NULL, kernel, bare, &model), MERCER_INVALID, "did you mean 'ridge'?");
    assert_null(model);
    mercer_kernel_free(kernel);
    mercer_data_free(bare);
    mercer_data_free(alike);
    mercer_data_free(strange);
    close_clean(ctx);
}

static mercer_status fit_everything(mercer_ctx *ctx, void *arg) {
    const sheet *s = arg;
    const mercer_table table = table_of_sheet(s);
    mercer_data *data = NULL;
    mercer_kernel *kernel = NULL;
    mercer_model *model = NULL;
    mercer_ridge set = mercer_ridge_defaults();
    set.scale = "standard";
    set.intercept = set.loo = true;
    mercer_status status = mercer_data_make(ctx, &table, &data);
    if (!status)
        status = mercer_kernel_parse(ctx, "rbf(gamma=0.5)", &kernel);
    for (int pass = 0; pass < 2 && !status; pass++) {
        set.solver = pass ? "eigen" : "cholesky";
        status = mercer_fit(ctx, "ridge", &set, kernel, data, &model);
        mercer_model_free(model);
    }
    mercer_kernel_free(kernel);
    mercer_data_free(data);
    return status;
}

static void test_fit_survives_failing_memory(void **state) {
    (void)state;
    sheet s = random_sheet(12, 1, 20);
    s.w[3] = 0;
    assert_survives_failing_memory(fit_everything, &s);
}

/* ---- Settings ---- */

static void test_machines_have_settings_that_can_be_put(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    assert_non_null(mercer_machine_at(0));
    assert_null(mercer_machine_at(-1));
    for (int i = 0; mercer_machine_at(i); i++)
        assert_ptr_equal(mercer_machine_find(mercer_machine_at(i)->name), mercer_machine_at(i));
    assert_null(mercer_machine_find("oracle"));
    const mercer_machine *ridge = mercer_machine_find("ridge");
    assert_int_equal(ridge->size, sizeof(mercer_ridge));
    mercer_ridge set = mercer_ridge_defaults();
    assert_true(set.lambda == 1 && !set.intercept && !set.loo && !set.allow_indefinite);
    assert_string_equal(set.solver, "auto");
    assert_ok(ctx, mercer_settings_put(ctx, &set, "lambda", "0.25"));
    assert_ok(ctx, mercer_settings_put(ctx, &set, "intercept", "yes"));
    assert_true(set.lambda == 0.25 && set.intercept);
    assert_fails(ctx, mercer_settings_put(ctx, &set, "solver", "lu"), MERCER_INVALID, "auto|cholesky|mixed|eigen");
    close_clean(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_coefficients_solve_the_dense_system),
        cmocka_unit_test(test_a_weight_is_a_repeated_row),
        cmocka_unit_test(test_tiny_and_huge_weights_do_no_harm),
        cmocka_unit_test(test_shifting_the_target_shifts_the_intercept_only),
        cmocka_unit_test(test_order_of_rows_does_not_matter),
        cmocka_unit_test(test_several_outputs_are_separate_fits),
        cmocka_unit_test(test_zero_lambda_interpolates),
        cmocka_unit_test(test_zero_lambda_on_a_singular_kernel_is_least_squares),
        cmocka_unit_test(test_the_limit_of_small_lambda_is_zero_lambda),
        cmocka_unit_test(test_leave_one_out_is_what_refitting_gives),
        cmocka_unit_test(test_leave_one_out_says_where_it_has_no_meaning),
        cmocka_unit_test(test_classes_get_an_output_each),
        cmocka_unit_test(test_an_indefinite_kernel_fails_with_its_eigenvalue),
        cmocka_unit_test(test_consent_gives_a_model_without_bounds),
        cmocka_unit_test(test_a_lambda_lost_in_rounding_is_said_to_be),
        cmocka_unit_test(test_what_cannot_be_fitted_is_refused),
        cmocka_unit_test(test_fit_survives_failing_memory),
        cmocka_unit_test(test_machines_have_settings_that_can_be_put),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
