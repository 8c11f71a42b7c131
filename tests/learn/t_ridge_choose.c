/* lambda from a norm or from degrees of freedom: the way back from what a fit with a known lambda reports, and the ends
   of both ranges; and the slopes a search for lambda and the kernel follows. */
#include "kernel/language/parameters.h"
#include "learn/ridge/ridge_gradient.h"
#include "machines_of_test.h"
#include "model/model.h"

static const char *const kernels[] = {"rbf(gamma=0.4)", "linear", "1 + poly(degree=2, c=0)",
                                      "matern(nu=0.5, length_scale=2)"};
enum { KERNELS = 4, FOLDS = 4 };

static mercer_ridge variant_of(sheet *s, int variant) {
    mercer_ridge set = mercer_ridge_defaults();
    set.scale = "none";
    set.solver = "eigen";
    s->weighted = variant & 1;
    set.intercept = variant & 2;
    return set;
}

static mercer_path_row row_at(mercer_ctx *ctx, const char *text, const sheet *s, const mercer_ridge *set,
                              double lambda) {
    mercer_data *data = data_of(ctx, s);
    mercer_kernel *kernel = kernel_of(ctx, text);
    mercer_path_row row;
    mercer_ridge plain_set = *set;
    plain_set.norm_bound = INFINITY;
    plain_set.dof = 0;
    assert_ok(ctx, fit_path(ctx, "ridge", kernel, data, &plain_set, &lambda, 1, NULL, NULL, &row));
    mercer_kernel_free(kernel);
    mercer_data_free(data);
    return row;
}

static void test_a_norm_leads_back_to_its_lambda(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    for (int k = 0; k < KERNELS; k++)
        for (int variant = 0; variant < 4; variant++)
            for (double lambda = 1e-3; lambda < 1e7; lambda *= 97) {
                sheet s = random_sheet(30, OUTPUTS, 50);
                mercer_ridge set = variant_of(&s, variant), known = set;
                known.lambda = lambda;
                known.solver = "cholesky";
                mercer_model *given = fit_sheet(ctx, kernels[k], &s, &known);
                set.norm_bound = row_at(ctx, kernels[k], &s, &set, lambda).norm;
                mercer_model *found = fit_sheet(ctx, kernels[k], &s, &set);
                const mercer_report *r = mercer_model_report(found);
                /* a small lambda moves the norm little */
                assert_close(r->lambda / lambda, 1, lambda > 0.01 ? 1e-7 : 1e-4);
                assert_close(r->norm / set.norm_bound, 1, lambda > 0.01 ? 1e-6 : 1e-5); /* rounding of K, over lambda */
                assert_close(row_at(ctx, kernels[k], &s, &set, r->lambda).norm / set.norm_bound, 1, 1e-11);
                assert_string_equal(r->solver, "eigen");
                /* What is measured is below 1e-9 of the target. The certificate adds what its own product may have
                   rounded: the worst-case error of an entry times sum |alpha|, which grows like 1 / lambda. */
                const double target = r->certificate.residual / r->certificate.residual_relative;
                const double rounding = r->certificate.rounding / target;
                assert_true(r->certificate.residual_relative < 1e-9 + rounding);
                assert_true(rounding < 1e-9 + 1e-11 / lambda);
                double a[ROWS * OUTPUTS], b[ROWS * OUTPUTS];
                predict_sheet(ctx, given, &s, a);
                predict_sheet(ctx, found, &s, b);
                for (int64_t i = 0; i < s.n * s.outputs; i++)
                    assert_close(a[i], b[i], 1e-7);
                mercer_model_free(given);
                mercer_model_free(found);
            }
    close_clean(ctx);
}

static void test_a_slack_bound_leaves_the_least_squares_function(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    for (int k = 1; k < KERNELS; k++)
        for (int variant = 0; variant < 4; variant++) {
            sheet s = random_sheet(25, 1, 51);
            mercer_ridge set = variant_of(&s, variant), zero = set;
            zero.lambda = 0;
            mercer_model *free_ = fit_sheet(ctx, kernels[k], &s, &zero);
            const double norm = mercer_model_report(free_)->norm;
            set.norm_bound = norm * (1 + 1e-6);
            mercer_model *slack = fit_sheet(ctx, kernels[k], &s, &set);
            assert_true(mercer_model_report(slack)->lambda == 0);
            set.norm_bound = norm * (1 - 1e-6);
            mercer_model *tight = fit_sheet(ctx, kernels[k], &s, &set);
            assert_true(mercer_model_report(tight)->lambda > 0);
            const double met = row_at(ctx, kernels[k], &s, &set, mercer_model_report(tight)->lambda).norm;
            assert_close(met / set.norm_bound, 1, 1e-11);
            set.norm_bound = 1e-9;
            mercer_model *tiny = fit_sheet(ctx, kernels[k], &s, &set);
            assert_close(mercer_model_report(tiny)->norm / 1e-9, 1, 1e-8);
            mercer_model_free(free_);
            mercer_model_free(slack);
            mercer_model_free(tight);
            mercer_model_free(tiny);
        }
    close_clean(ctx);
}

static void test_degrees_of_freedom_are_met(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    for (int k = 0; k < KERNELS; k++)
        for (int variant = 0; variant < 4; variant++) {
            static const double wanted[] = {1.001, 1.5, 2.9};
            for (int w = 0; w < 3; w++) {
                sheet s = random_sheet(30, OUTPUTS, 52);
                mercer_ridge set = variant_of(&s, variant);
                set.dof = wanted[w];
                mercer_model *model = fit_sheet(ctx, kernels[k], &s, &set);
                const double lambda = mercer_model_report(model)->lambda;
                assert_true(lambda > 0);
                assert_close(row_at(ctx, kernels[k], &s, &set, lambda).dof, wanted[w], 1e-9);
                mercer_model_free(model);
            }
        }
    close_clean(ctx);
}

static void test_wishes_that_cannot_be_met_are_refused(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    const sheet s = random_sheet(10, 1, 53);
    const double bad[] = {0, -1, NAN, -INFINITY};
    for (int i = 0; i < 4; i++) {
        mercer_ridge set = mercer_ridge_defaults();
        set.norm_bound = bad[i];
        assert_fails(ctx, try_sheet(ctx, "linear", &s, &set), MERCER_INVALID, "norm-bound must be in");
    }
    mercer_ridge set = mercer_ridge_defaults();
    set.dof = -1;
    assert_fails(ctx, try_sheet(ctx, "linear", &s, &set), MERCER_INVALID, "dof must be in");
    set.dof = 3;
    assert_fails(ctx, try_sheet(ctx, "linear", &s, &set), MERCER_INVALID, "above 0 and below 3 on these rows, got 3");
    set.intercept = true;
    assert_ok(ctx, try_sheet(ctx, "linear", &s, &set));
    set.dof = 1;
    assert_fails(ctx, try_sheet(ctx, "linear", &s, &set), MERCER_INVALID, "above 1 and below 4");
    set.dof = 2;
    set.norm_bound = 1;
    assert_fails(ctx, try_sheet(ctx, "linear", &s, &set), MERCER_INVALID, "give one of them");
    set.dof = 0;
    set.lambda = 0.5;
    assert_fails(ctx, try_sheet(ctx, "linear", &s, &set), MERCER_INVALID, "lambda = 0.5 and norm-bound");
    set.lambda = 1;
    set.solver = "cholesky";
    assert_fails(ctx, try_sheet(ctx, "linear", &s, &set), MERCER_INVALID, "must be auto, eigen or primal");
    set.solver = "auto";
    set.allow_indefinite = true;
    assert_fails(ctx, try_sheet(ctx, "linear", &s, &set), MERCER_INVALID, "proved");
    close_clean(ctx);
}

static void test_threads_do_not_change_a_bit(void **state) {
    (void)state;
    double lambda[2][2];
    for (int run = 0; run < 2; run++) {
        mercer_ctx *ctx = open_ctx(run ? 3 : 1);
        mercer_data *data = NULL;
        mercer_kernel *kernel = kernel_of(ctx, "rbf");
        assert_ok(ctx, mercer_data_generate(ctx, "friedman1", 400, 0.1, 5, &data));
        for (int wish = 0; wish < 2; wish++) {
            mercer_ridge set = mercer_ridge_defaults();
            mercer_model *model = NULL;
            set.intercept = true;
            if (wish)
                set.dof = 20;
            else
                set.norm_bound = 3;
            assert_ok(ctx, mercer_fit(ctx, "ridge", &set, kernel, data, &model));
            lambda[run][wish] = mercer_model_report(model)->lambda;
            mercer_model_free(model);
        }
        mercer_kernel_free(kernel);
        mercer_data_free(data);
        close_clean(ctx);
    }
    assert_memory_equal(lambda[0], lambda[1], sizeof lambda[0]);
}

/* ---- Slopes ---- */

void dgesv_(const int *n, const int *nrhs, double *a, const int *lda, int *ipiv, double *b, const int *ldb, int *info);

/* gamma, the length scale, lambda. */
enum { FREE = 3 };
static const char ranges[] = "rbf(gamma=0.1..10) + matern(nu=1.5, length_scale=0.1..10)[1, 2]";

static double value_by_hand(const sheet *s, const double *at, int64_t i, int64_t j) {
    double square = 0, first = 0;
    for (int64_t c = 0; c < s->d; c++) {
        const double u = s->x[i * s->d + c] - s->x[j * s->d + c];
        square += u * u;
        first += c < 2 ? u * u : 0;
    }
    const double r = sqrt(3 * first) / at[1];
    return exp(-at[0] * square) + (1 + r) * exp(-r);
}

/* The squared error, times weights, on the rows of a fold of the function that solves (K + lambda / W) alpha + b = y,
   1'alpha = 0 on the others. */
static double fold_by_hand(const sheet *s, const double *at, bool intercept, const int64_t *fold, int64_t k,
                           double *weight) {
    int64_t row[ROWS], m = 0;
    int pivots[ROWS + 1], info, outputs = (int)s->outputs;
    double A[(ROWS + 1) * (ROWS + 1)] = {0}, rhs[(ROWS + 1) * OUTPUTS] = {0}, sum = 0;
    for (int64_t i = 0; i < s->n; i++)
        if (fold[i] != k)
            row[m++] = i;
    const int size = (int)(m + intercept);
    for (int64_t a = 0; a < m; a++) {
        for (int64_t b = 0; b < m; b++)
            A[a * size + b] = value_by_hand(s, at, row[a], row[b]);
        A[a * size + a] += at[2] / (s->weighted ? s->w[row[a]] : 1);
        if (intercept)
            A[a * size + m] = A[m * size + a] = 1;
        for (int64_t c = 0; c < s->outputs; c++)
            rhs[c * size + a] = s->y[row[a] * s->outputs + c];
    }
    dgesv_(&size, &outputs, A, &size, pivots, rhs, &size, &info);
    assert_int_equal(info, 0);
    for (int64_t i = 0; i < s->n; i++) {
        if (fold[i] != k)
            continue;
        const double w = s->weighted ? s->w[i] : 1;
        *weight += w;
        for (int64_t c = 0; c < s->outputs; c++) {
            double f = intercept ? rhs[c * size + m] : 0;
            for (int64_t a = 0; a < m; a++)
                f += rhs[c * size + a] * value_by_hand(s, at, row[a], i);
            sum += w * pow(s->y[i * s->outputs + c] - f, 2);
        }
    }
    return sum;
}

/* folds 0: every row alone, all together; otherwise the mean over the folds. */
static double log_error_by_hand(const sheet *s, const double *at, bool intercept, const int64_t *fold, int64_t folds) {
    double sum = 0, all = 0, means = 0;
    for (int64_t k = 0; k < (folds ? folds : s->n); k++) {
        double weight = 0;
        const double square = fold_by_hand(s, at, intercept, fold, k, &weight);
        sum += square;
        all += weight;
        means += sqrt(square / weight / (double)s->outputs);
    }
    return folds ? log(means / (double)folds) : 0.5 * log(sum / all / (double)s->outputs);
}

static mercer_status count_rows(mercer_ctx *ctx, void *arg, int64_t l, const double *residuals) {
    (void)ctx;
    (void)l;
    *(int64_t *)arg += residuals != NULL;
    return MERCER_OK;
}

/* at: where, then the value and the slopes. */
static mercer_status slopes_at(mercer_ctx *ctx, const mercer_data *data, mercer_ridge set, const double *at,
                               const int64_t *fold, double *out) {
    mercer_kernel *open = NULL, *kernel = NULL;
    mc_open_value value[2];
    int64_t place[2], shown = 0;
    mc_slopes slopes = {.count = 2, .place = place, .by_value = out + 1};
    set.lambda = at[2];
    mercer_status status = mercer_kernel_parse(ctx, ranges, &open);
    if (!status && mc_kernel_open_values(open, value, 2) == 2)
        status = mc_kernel_choose(ctx, open, at, &kernel);
    for (int i = 0; i < 2 && !status; i++)
        place[i] = value[i].value->offset;
    if (!status)
        status = mc_ridge_slopes(ctx, kernel, data, &set, fold, count_rows, &shown, &slopes);
    assert_true(status || shown == 1);
    out[0] = slopes.value;
    out[3] = slopes.by_lambda;
    mercer_kernel_free(open);
    mercer_kernel_free(kernel);
    return status;
}

/* Dense systems by LAPACK, one for each row or fold left out, on both sides of the point. */
static void test_slopes_are_differences_of_refitted_errors(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    sheet s = random_sheet(24, OUTPUTS, 77);
    int64_t alone[ROWS], fold[ROWS];
    for (int64_t i = 0; i < s.n; i++) {
        alone[i] = i;
        fold[i] = i % FOLDS;
    }
    for (int variant = 0; variant < 8; variant++) {
        const double at[FREE] = {0.4, 1.7, 0.03};
        const bool few = variant & 4;
        const int64_t *leave = few ? fold : alone, folds = few ? FOLDS : 0;
        const mercer_ridge set = variant_of(&s, variant);
        double found[FREE + 1];
        mercer_data *data = data_of(ctx, &s);
        assert_ok(ctx, slopes_at(ctx, data, set, at, few ? fold : NULL, found));
        assert_close(found[0], log_error_by_hand(&s, at, set.intercept, leave, folds), 1e-10);
        for (int k = 0; k < FREE; k++) {
            double up[FREE], down[FREE];
            memcpy(up, at, sizeof up);
            memcpy(down, at, sizeof down);
            up[k] *= 1 + 1e-5;
            down[k] *= 1 - 1e-5;
            const double difference = log_error_by_hand(&s, up, set.intercept, leave, folds)
                                      - log_error_by_hand(&s, down, set.intercept, leave, folds);
            assert_close(found[k + 1], difference / (2e-5 * at[k]), 1e-6);
        }
        mercer_data_free(data);
    }
    close_clean(ctx);
}

/* The path has its gcv from an eigendecomposition. */
static void test_slopes_of_gcv_are_differences_along_the_path(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    sheet s = random_sheet(24, OUTPUTS, 78);
    for (int variant = 0; variant < 4; variant++) {
        const mercer_ridge set = variant_of(&s, variant);
        const char *const at[] = {"rbf(gamma=0.4)", "rbf(gamma=0.400004)", "rbf(gamma=0.399996)"};
        const double lambda = 0.03;
        double by_gamma, value[3];
        mercer_kernel *open = kernel_of(ctx, "rbf(gamma=0.1..10)"), *kernel = NULL;
        mercer_data *data = data_of(ctx, &s);
        mc_open_value left;
        mc_kernel_open_values(open, &left, 1);
        mc_slopes found = {.count = 1, .place = &left.value->offset, .generalised = true, .by_value = &by_gamma};
        mercer_ridge here = set;
        here.lambda = lambda;
        assert_ok(ctx, mc_kernel_choose(ctx, open, &(double){0.4}, &kernel));
        assert_ok(ctx, mc_ridge_slopes(ctx, kernel, data, &here, NULL, NULL, NULL, &found));
        for (int i = 0; i < 3; i++)
            value[i] = 0.5 * log(row_at(ctx, at[i], &s, &set, lambda).gcv);
        assert_close(found.value, value[0], 1e-10);
        assert_close(by_gamma, (value[1] - value[2]) / 8e-6, 1e-6);
        const double up = log(row_at(ctx, at[0], &s, &set, lambda * (1 + 1e-5)).gcv);
        const double down = log(row_at(ctx, at[0], &s, &set, lambda * (1 - 1e-5)).gcv);
        assert_close(found.by_lambda, 0.5 * (up - down) / (2e-5 * lambda), 1e-6);
        mercer_kernel_free(open);
        mercer_kernel_free(kernel);
        mercer_data_free(data);
    }
    close_clean(ctx);
}

static mercer_status fit_both(mercer_ctx *ctx, void *arg) {
    const sheet *s = arg;
    const mercer_table table = table_of_sheet(s);
    static const int64_t fold[12] = {0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1};
    mercer_data *data = NULL;
    mercer_kernel *kernel = NULL;
    mercer_status status = mercer_data_make(ctx, &table, &data);
    if (!status)
        status = mercer_kernel_parse(ctx, "rbf(gamma=0.5)", &kernel);
    for (int wish = 0; wish < 2 && !status; wish++) {
        mercer_ridge set = mercer_ridge_defaults();
        mercer_model *model = NULL;
        if (wish)
            set.dof = 3;
        else
            set.norm_bound = 1;
        status = mercer_fit(ctx, "ridge", &set, kernel, data, &model);
        mercer_model_free(model);
    }
    for (int way = 0; way < 2 && !status; way++) {
        const double at[FREE] = {1, 1, 1};
        double found[FREE + 1];
        status = slopes_at(ctx, data, mercer_ridge_defaults(), at, way ? fold : NULL, found);
    }
    mercer_kernel_free(kernel);
    mercer_data_free(data);
    return status;
}

static void test_choosing_survives_failing_memory(void **state) {
    (void)state;
    sheet s = random_sheet(12, 1, 54);
    assert_survives_failing_memory(fit_both, &s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_norm_leads_back_to_its_lambda),
        cmocka_unit_test(test_a_slack_bound_leaves_the_least_squares_function),
        cmocka_unit_test(test_degrees_of_freedom_are_met),
        cmocka_unit_test(test_wishes_that_cannot_be_met_are_refused),
        cmocka_unit_test(test_threads_do_not_change_a_bit),
        cmocka_unit_test(test_slopes_are_differences_of_refitted_errors),
        cmocka_unit_test(test_slopes_of_gcv_are_differences_along_the_path),
        cmocka_unit_test(test_choosing_survives_failing_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
