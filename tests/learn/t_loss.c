#include "loss_of_test.h"
#include <unistd.h>

/* ---- The certificate, by the definitions and the reference evaluator ---- */

static long double entropy_term(long double q) {
    return q > 0 ? q * logl(q) : 0;
}

/* Loss and conjugate of one row, y F and the dual value v. */
static void terms(const char *machine, const mercer_loss *set, double y, long double F, long double v,
                  long double out[2]) {
    const long double r = y - F;
    if (strcmp(machine, "logistic") == 0) {
        out[0] = log1pl(expl(-y * F));
        out[1] = entropy_term(-y * v) + entropy_term(1 + y * v);
    } else if (strcmp(machine, "squared-hinge") == 0) {
        out[0] = powl(fmaxl(0, 1 - y * F), 2) / 2;
        out[1] = y * v <= 0 ? v * v / 2 + y * v : INFINITY;
    } else if (strcmp(machine, "huber") == 0) {
        out[0] = fabsl(r) <= set->delta ? r * r / 2 : set->delta * (fabsl(r) - set->delta / 2);
        out[1] = v * v / 2 + y * v;
    } else {
        const double tau = set->tau;
        out[0] = strcmp(machine, "absolute") == 0 ? fabsl(r) : r > 0 ? tau * r : (tau - 1) * r;
        out[1] = y * v;
    }
}

typedef struct sums {
    long double primal, dual, total; /* total: sum of the coefficients */
} sums;

static sums scalar_sums(mercer_ctx *ctx, const char *machine, const mercer_loss *set, const mercer_model *model,
                        const table *t, int64_t decision) {
    sums s = {0, 0, 0};
    for (int64_t i = 0; i < t->n; i++) {
        const double c = t->weighted ? t->w[i] : 1, alpha = coefficient_of_row(model, i, decision);
        const double y = takes_classes(machine) ? (t->class_of[i] == decision ? 1 : -1) : t->y[i];
        const long double f = expansion(ctx, model, t, decision, t->x + i * D);
        long double two[2];
        terms(machine, set, y, f + mercer_model_intercept(model, decision), -set->lambda * alpha / c, two);
        s.primal += c * two[0] + set->lambda / 2 * alpha * f;
        s.dual -= c * two[1] + set->lambda / 2 * alpha * f;
        s.total += alpha;
    }
    return s;
}

static sums softmax_sums(mercer_ctx *ctx, const mercer_loss *set, const mercer_model *model, const table *t) {
    sums s = {0, 0, 0};
    for (int64_t i = 0; i < t->n; i++) {
        const double c = t->weighted ? t->w[i] : 1;
        long double sum = 0, own = 0;
        for (int64_t k = 0; k < t->classes; k++) {
            const double alpha = coefficient_of_row(model, i, k);
            const long double f = expansion(ctx, model, t, k, t->x + i * D), F = f + mercer_model_intercept(model, k);
            sum += expl(F);
            own = t->class_of[i] == k ? F : own;
            s.primal += set->lambda / 2 * alpha * f;
            s.dual -= c * entropy_term((t->class_of[i] == k) - set->lambda * alpha / c) + set->lambda / 2 * alpha * f;
            s.total += alpha;
        }
        s.primal += c * (logl(sum) - own);
    }
    return s;
}

static void check_certificate(mercer_ctx *ctx, const char *machine, mercer_loss *set, const char *kernel, table *t) {
    mercer_model *model = fit_loss(ctx, machine, set, kernel, t);
    const mercer_certificate *c = &mercer_model_report(model)->certificate;
    sums s = {0, 0, 0};
    if (strcmp(machine, "logistic") == 0 && t->classes > 2)
        s = softmax_sums(ctx, set, model, t);
    else
        for (int64_t k = 0; k < mercer_model_decisions(model); k++) {
            const sums one = scalar_sums(ctx, machine, set, model, t, k);
            s = (sums){s.primal + one.primal, s.dual + one.dual, fmaxl(s.total, fabsl(one.total))};
        }
    assert_string_equal(c->kind, "gap");
    assert_close(mercer_model_report(model)->objective, (double)s.primal, 1e-10);
    assert_true(fabs(c->dual - (double)s.dual) <= c->rounding + 1e-10 * fabs(c->dual));
    assert_true(c->gap >= c->primal - c->dual - 1e-14 * fabs(c->primal) && c->objective_gap == c->gap);
    assert_true(c->gap - c->rounding <= set->tolerance * fabs(c->primal) && c->primal >= c->dual);
    assert_close(c->distance, sqrt(c->objective_gap / set->lambda), 1e-12);
    if (set->intercept || !strcmp(machine, "quantile") || !strcmp(machine, "absolute"))
        assert_true(fabsl(s.total) <= 1e-10 * (double)t->n / set->lambda);
    else
        assert_true(isfinite(c->prediction_error_bound));
    mercer_model_free(model);
}

static void test_certificates_are_those_of_the_definitions(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    for (int i = 0; i < COUNT; i++)
        for (int variant = 0; variant < 4; variant++) {
            table t = random_table(60, variant < 2 ? 2 : 4, (uint64_t)(10 * i + variant));
            t.weighted = variant % 2;
            mercer_loss set = settings(LOSSES[i], variant ? 0.05 : 2, 1e-8);
            set.intercept = i < SMOOTH && variant < 3;
            set.solver = i < SMOOTH && variant == 1 ? "pcg" : set.solver;
            check_certificate(ctx, LOSSES[i], &set, "rbf(gamma=0.6)", &t);
            check_certificate(ctx, LOSSES[i], &set, variant ? "linear + 0.2*poly(degree=2)" : "linear", &t);
        }
    close_clean(ctx);
}

/* ---- Identities ---- */

static void test_huber_with_a_wide_delta_is_ridge(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    const table t = random_table(80, 2, 200);
    mercer_loss set = settings("huber", 0.3, 1e-12);
    set.delta = 100;
    mercer_ridge ridge = mercer_ridge_defaults();
    ridge.lambda = 0.3;
    ridge.intercept = true;
    ridge.scale = "none";
    mercer_data *data = data_of(ctx, &t, false);
    mercer_kernel *kernel = NULL;
    mercer_model *b = NULL, *a = fit_loss(ctx, "huber", &set, "rbf(gamma=0.6)", &t);
    assert_ok(ctx, mercer_kernel_parse(ctx, "rbf(gamma=0.6)", &kernel));
    assert_ok(ctx, mercer_fit(ctx, "ridge", &ridge, kernel, data, &b));
    assert_same_values(ctx, a, b, &t, 1e-6);
    assert_close(2 * mercer_model_report(a)->objective, mercer_model_report(b)->objective, 1e-10);
    mercer_model_free(a);
    mercer_model_free(b);
    mercer_kernel_free(kernel);
    mercer_data_free(data);
    close_clean(ctx);
}

static void test_least_absolute_errors_are_the_median_and_a_tube_of_no_width(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    const table t = random_table(70, 2, 201);
    mercer_loss set = settings("absolute", 0.2, 1e-11), half = settings("quantile", 0.1, 1e-11);
    half.tau = 0.5;
    mercer_svm svr = plain("svr", 1e-9);
    svr.epsilon = 0;
    svr.C = 5;
    mercer_model *a = fit_loss(ctx, "absolute", &set, "rbf(gamma=0.6)", &t),
                 *b = fit_loss(ctx, "quantile", &half, "rbf(gamma=0.6)", &t);
    mercer_model *c = fit(ctx, "svr", &svr, "rbf(gamma=0.6)", &t);
    assert_same_values(ctx, a, b, &t, 1e-4);
    assert_same_values(ctx, a, c, &t, 1e-4);
    assert_close(mercer_model_report(a)->objective, 2 * mercer_model_report(b)->objective, 1e-9);
    assert_close(mercer_model_report(a)->objective, 0.2 * mercer_model_report(c)->objective, 1e-7);
    mercer_model_free(a);
    mercer_model_free(b);
    mercer_model_free(c);
    close_clean(ctx);
}

static void test_a_quantile_has_its_share_of_rows_below(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    const table t = random_table(200, 2, 202);
    for (double tau = 0.1; tau < 1; tau += 0.2) {
        mercer_loss set = settings("quantile", 2, 1e-9);
        set.tau = tau;
        mercer_model *model = fit_loss(ctx, "quantile", &set, "rbf(gamma=0.1)", &t);
        double *f = values_of(ctx, model, &t, mercer_predict);
        int64_t below = 0, on = 0;
        for (int64_t i = 0; i < t.n; i++) {
            on += fabs(t.y[i] - f[i]) < 1e-4;
            below += t.y[i] - f[i] < -1e-4;
        }
        assert_true((double)below <= tau * (double)t.n + 1e-9 && (double)(below + on) >= tau * (double)t.n - 1e-9);
        free(f);
        mercer_model_free(model);
    }
    close_clean(ctx);
}

static void test_both_solvers_find_the_same_function(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    for (int i = 0; i < SMOOTH; i++)
        for (int intercept = 0; intercept < 2; intercept++) {
            const table t = random_table(150, 2, (uint64_t)(300 + i));
            mercer_loss set = settings(LOSSES[i], 0.01, 1e-12);
            set.intercept = intercept;
            set.solver = "cholesky";
            mercer_model *a = fit_loss(ctx, LOSSES[i], &set, "rbf(gamma=0.6)", &t);
            set.solver = "pcg";
            mercer_model *b = fit_loss(ctx, LOSSES[i], &set, "rbf(gamma=0.6)", &t);
            assert_same_values(ctx, a, b, &t, 1e-4);
            assert_close(mercer_model_report(a)->objective, mercer_model_report(b)->objective, 1e-11);
            mercer_model_free(a);
            mercer_model_free(b);
        }
    close_clean(ctx);
}

static void hear(void *user, const char *line) {
    *(int *)user += (strstr(line, "products") && strstr(line, "gap")) || strstr(line, "begun");
}

/* Also where the part of the rows that it begins with lacks a class. */
static void test_a_stand_in_of_low_rank_leads_to_the_same_function(void **state) {
    (void)state;
    int heard = 0;
    mercer_options options = mercer_options_defaults();
    mercer_ctx *ctx = NULL;
    options.log = hear, options.log_user = &heard;
    assert_ok(ctx, mercer_open(&options, &ctx));
    for (int i = 0; i < SMOOTH; i++)
        for (int64_t classes = 1; classes < 4; classes++) {
            table t = random_table(1000, classes, (uint64_t)(350 + i));
            for (int64_t row = 0; classes == 1 && row < t.n; row++)
                t.class_of[row] = row == 1 || row == 17;
            mercer_loss set = settings(LOSSES[i], 0.5, 1e-7);
            set.solver = "pcg";
            heard = 0;
            mercer_model *a = fit_loss(ctx, LOSSES[i], &set, "rbf(gamma=0.01)", &t);
            assert_true(heard > 1 && mercer_model_report(a)->certificate.gap_relative <= 1e-7);
            set.tolerance = 1e-12; /* which single precision does not reach */
            mercer_model *b = fit_loss(ctx, LOSSES[i], &set, "rbf(gamma=0.01)", &t);
            assert_close(mercer_model_report(a)->objective, mercer_model_report(b)->objective, 1e-7);
            assert_same_values(ctx, a, b, &t, 0.01);
            mercer_model_free(a);
            mercer_model_free(b);
        }
    close_clean(ctx);
}

/* A whole weight of two is the row twice. */
static void test_a_weight_of_two_is_the_row_twice_and_of_zero_no_row(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    for (int i = 0; i < COUNT; i++)
        for (int classes = 2; classes < 4; classes++) {
            table t = random_table(60, classes, 400), twice = t;
            t.weighted = true;
            for (int64_t r = 0; r < t.n; r++)
                t.w[r] = r % 5 == 0 ? 2 : r % 7 == 0 ? 0 : 1;
            twice.n = 0;
            for (int64_t r = 0; r < t.n; r++)
                for (double w = 0; w < t.w[r]; w++, twice.n++) {
                    memcpy(twice.x + twice.n * D, t.x + r * D, D * sizeof(double));
                    twice.y[twice.n] = t.y[r];
                    twice.class_of[twice.n] = t.class_of[r];
                }
            const mercer_loss set = settings(LOSSES[i], 0.3, 1e-11);
            mercer_model *a = fit_loss(ctx, LOSSES[i], &set, "rbf(gamma=0.6)", &t);
            mercer_model *b = fit_loss(ctx, LOSSES[i], &set, "rbf(gamma=0.6)", &twice);
            assert_close(mercer_model_report(a)->objective, mercer_model_report(b)->objective, 1e-9);
            assert_same_values(ctx, a, b, &twice, 1e-8);
            mercer_model_free(a);
            mercer_model_free(b);
        }
    close_clean(ctx);
}

/* ---- Probabilities ---- */

static void test_probabilities_sum_to_one_and_their_largest_is_the_prediction(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    for (int64_t classes = 2; classes < 5; classes++) {
        const table t = random_table(90, classes, 500);
        const mercer_loss set = settings("logistic", 0.1, 1e-9);
        mercer_model *model = fit_loss(ctx, "logistic", &set, "rbf(gamma=0.6)", &t);
        double *f = values_of(ctx, model, &t, mercer_predict), *p = values_of(ctx, model, &t, mercer_predict_proba);
        for (int64_t i = 0; i < t.n; i++) {
            double sum = 0, weight = 0;
            int64_t best = 0, likely = 0;
            for (int64_t k = 0; k < classes; k++) {
                best = f[i * classes + k] > f[i * classes + best] ? k : best;
                likely = p[i * classes + k] > p[i * classes + likely] ? k : likely;
                sum += p[i * classes + k];
                weight += exp(f[i * classes + k]);
            }
            assert_int_equal(best, likely);
            assert_close(sum, 1, 1e-15);
            for (int64_t k = 0; k < classes && classes > 2; k++)
                assert_close(p[i * classes + k], exp(f[i * classes + k]) / weight, 1e-12);
            if (classes == 2)
                assert_close(p[2 * i], 1 / (1 + exp(-f[2 * i])), 1e-14);
        }
        free(f);
        free(p);
        mercer_model_free(model);
    }
    close_clean(ctx);
}

static void test_the_log_loss_is_the_mean_of_the_logarithms(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    for (int64_t item = 0, classes = 2; item < 6; classes = 2 + ++item % 3) { /* from 3 on far below 1e-16 */
        const table t = random_table(40, classes, 501);
        const mercer_loss set = settings("logistic", item < 3 ? 0.1 : 1e-16, 1e-9);
        mercer_model *model = fit_loss(ctx, "logistic", &set, item < 3 ? "rbf(gamma=0.6)" : "1000*rbf(gamma=50)", &t);
        double *p = values_of(ctx, model, &t, mercer_predict_proba), sum = 0;
        for (int64_t i = 0; i < t.n; i++) {
            double others = 0;
            for (int64_t k = 0; k < classes; k++)
                others += k == t.class_of[i] ? 0 : p[i * classes + k];
            sum -= log1p(-others) / (double)t.n;
        }
        mercer_data *data = data_of(ctx, &t, true);
        mercer_scores scores = {.size = sizeof scores};
        assert_ok(ctx, mercer_score(ctx, model, data, &scores));
        assert_close(scores.log_loss / sum, 1, 1e-12);
        mercer_data_free(data);
        free(p);
        mercer_model_free(model);
    }
    close_clean(ctx);
}

/* ---- Hard cases ---- */

static void test_separable_rows_with_a_tiny_lambda_still_have_an_optimum(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    for (int64_t classes = 2; classes < 4; classes++)
        for (int solver = 0; solver < 2; solver++) {
            const table t = random_table(48, classes, 600);
            mercer_loss set = settings("logistic", 1e-9, 1e-6);
            set.solver = solver || classes > 2 ? "pcg" : "cholesky";
            mercer_model *model = fit_loss(ctx, "logistic", &set, "rbf(gamma=2)", &t);
            const mercer_report *r = mercer_model_report(model);
            assert_true(isfinite(r->objective) && r->objective > 0 && r->objective < 1e-2);
            assert_true(r->certificate.gap <= 1e-3 * r->objective);
            double *p = values_of(ctx, model, &t, mercer_predict_proba);
            for (int64_t i = 0; i < t.n; i++)
                assert_true(p[i * classes + t.class_of[i]] > 0.99);
            free(p);
            mercer_model_free(model);
        }
    close_clean(ctx);
}

/* Large values of K beside lambda: where rows of little curvature hid most of the residual, steps of one per cent stood
   still. */
static void test_softmax_does_not_stand_still(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    table t = random_table(120, 4, 505);
    for (int64_t i = 0; i < t.n * D; i++)
        t.x[i] *= 100;
    mercer_loss set = settings("logistic", 1, 1e-6);
    set.iterations = 200;
    mercer_model *model = fit_loss(ctx, "logistic", &set, "poly(degree=2)", &t);
    const mercer_certificate *c = &mercer_model_report(model)->certificate;
    assert_true(c->gap - c->rounding <= 1e-6 * c->primal); /* rounding of such values is more */
    mercer_model_free(model);
    close_clean(ctx);
}

/* Whole steps, on rows like these, were 17 for 40 classes. */
static void test_the_steps_of_softmax_hardly_grow_with_the_classes(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    assert_true(softmax_steps(ctx, 40) <= 2 * softmax_steps(ctx, 5));
    close_clean(ctx);
}

static void test_outliers_far_from_everything_do_not_stop_huber(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    table t = random_table(60, 2, 601);
    for (int64_t i = 0; i < t.n; i++)
        t.y[i] = 1e6 + (i % 2 ? 1000 : -1000) * t.y[i] * t.y[i]; /* every row is an outlier at the start */
    mercer_loss set = settings("huber", 0.5, 1e-7);
    set.delta = 1e-3;
    mercer_model *model = fit_loss(ctx, "huber", &set, "rbf(gamma=0.6)", &t);
    assert_true(mercer_model_report(model)->certificate.gap_relative <= 1e-7);
    mercer_model_free(model);
    close_clean(ctx);
}

static void test_bad_settings_and_targets_are_refused_by_name(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    mercer_model *model = NULL;
    table t = random_table(30, 2, 602);
    mercer_loss set = settings("quantile", 1, 1e-6);
    const double taus[] = {0, 1, -0.5, 2, NAN};
    for (int i = 0; i < 5; i++) {
        set.tau = taus[i];
        assert_fails(ctx, try_loss(ctx, "quantile", &set, "rbf", &t, &model), MERCER_INVALID, "quantile: tau must be");
    }
    set = settings("huber", 1, 1e-6);
    set.delta = 0;
    assert_fails(ctx, try_loss(ctx, "huber", &set, "rbf", &t, &model), MERCER_INVALID, "huber: delta must be");
    set = settings("logistic", 0, 1e-6);
    assert_fails(ctx, try_loss(ctx, "logistic", &set, "rbf", &t, &model), MERCER_INVALID, "logistic: lambda must be");
    set = settings("logistic", 1, 1e-6);
    assert_fails(ctx, try_loss(ctx, "logistic", &set, "tanh(a=1)", &t, &model), MERCER_NOT_A_KERNEL, "");
    set.class_weight = "cow=2";
    assert_fails(ctx, try_loss(ctx, "logistic", &set, "rbf", &t, &model), MERCER_INVALID, "class-weight");
    set = settings("logistic", 1, 1e-6);
    t.weighted = true;
    for (int64_t i = 0; i < t.n; i++)
        t.w[i] = t.class_of[i] == 1;
    assert_fails(ctx, try_loss(ctx, "logistic", &set, "rbf", &t, &model), MERCER_DATA,
                 "class 'ant' has no row of positive weight");
    for (int64_t i = 0; i < t.n; i++)
        t.class_of[i] = 0;
    assert_fails(ctx, try_loss(ctx, "logistic", &set, "rbf", &t, &model), MERCER_DATA, "every row is of class 'ant'");
    t = random_table(30, 3, 603);
    set.solver = "cholesky";
    assert_fails(ctx, try_loss(ctx, "logistic", &set, "rbf", &t, &model), MERCER_INVALID, "solver pcg");
    close_clean(ctx);
}

static void test_a_target_of_the_other_kind_is_refused(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    const table t = random_table(30, 2, 604);
    mercer_kernel *kernel = NULL;
    mercer_model *model = NULL;
    mercer_data *classes = data_of(ctx, &t, true), *numbers = data_of(ctx, &t, false);
    assert_ok(ctx, mercer_kernel_parse(ctx, "rbf", &kernel));
    for (int i = 0; i < COUNT; i++) {
        const bool wants = takes_classes(LOSSES[i]);
        assert_fails(ctx, mercer_fit(ctx, LOSSES[i], NULL, kernel, wants ? numbers : classes, &model), MERCER_DATA,
                     wants ? "needs classes" : "needs numbers");
    }
    mercer_model *huber = NULL;
    double out[60];
    assert_ok(ctx, mercer_fit(ctx, "huber", NULL, kernel, numbers, &huber));
    assert_fails(ctx, mercer_predict_proba(ctx, huber, numbers, out), MERCER_INVALID, "huber gives no probabilities");
    mercer_model_free(huber);
    mercer_kernel_free(kernel);
    mercer_data_free(classes);
    mercer_data_free(numbers);
    close_clean(ctx);
}

static void test_the_same_bits_on_any_number_of_threads(void **state) {
    (void)state;
    for (int i = 0; i < COUNT; i++)
        for (int64_t classes = 2; classes < 4; classes++) {
            /* of smooth losses also by a surrogate */
            const table t = random_table(i < SMOOTH ? 400 : 200, classes, 700);
            double *values[3];
            for (int threads = 1; threads < 4; threads++) {
                mercer_ctx *ctx = open_ctx(threads);
                mercer_loss set = settings(LOSSES[i], 0.05, 1e-8);
                set.solver = i < SMOOTH ? "pcg" : set.solver;
                mercer_model *model = fit_loss(ctx, LOSSES[i], &set, "rbf(gamma=0.1)", &t);
                values[threads - 1] = values_of(ctx, model, &t, mercer_predict);
                mercer_model_free(model);
                close_clean(ctx);
            }
            const size_t bytes = (size_t)(t.n * (i < 2 ? classes : 1)) * sizeof(double);
            assert_memory_equal(values[0], values[1], bytes);
            assert_memory_equal(values[0], values[2], bytes);
            for (int k = 0; k < 3; k++)
                free(values[k]);
        }
}

static mercer_status fit_small(mercer_ctx *ctx, void *arg) {
    const mercer_loss *set = arg;
    const table t = random_table(20, 3, 800);
    const char *labels[20];
    for (int64_t i = 0; i < t.n; i++)
        labels[i] = NAMES[t.class_of[i]];
    const mercer_table given = {
        .size = sizeof given, .n = t.n, .d = D, .dtype = MERCER_F64, .values = t.x, .labels = labels};
    mercer_data *data = NULL;
    mercer_kernel *kernel = NULL;
    mercer_model *model = NULL;
    mercer_status status = mercer_data_make(ctx, &given, &data);
    if (!status)
        status = mercer_kernel_parse(ctx, "rbf(gamma=0.6)", &kernel);
    if (!status)
        status = mercer_fit(ctx, "logistic", set, kernel, data, &model);
    mercer_model_free(model);
    mercer_kernel_free(kernel);
    mercer_data_free(data);
    return status;
}

static void test_softmax_survives_failing_memory(void **state) {
    (void)state;
    mercer_loss set = settings("logistic", 0.5, 1e-3);
    set.iterations = 3;
    assert_survives_failing_memory(fit_small, &set);
}

/* ---- A loss of the caller's own ---- */

static double own_value(void *user, double y, double F) {
    (void)user;
    return y * F > 0 ? log1p(exp(-y * F)) : log1p(exp(y * F)) - y * F;
}

static double own_slope(void *user, double y, double F) {
    (void)user;
    return -y / (1 + exp(y * F));
}

static double own_curvature(void *user, double y, double F) {
    (void)user, (void)y;
    return 1 / ((1 + exp(F)) * (1 + exp(-F)));
}

static double own_conjugate(void *user, double y, double v) {
    (void)user;
    return (double)(entropy_term(-y * v) + entropy_term(1 + y * v));
}

static void own_range(void *user, double y, double *low, double *high) {
    (void)user;
    *low = y > 0 ? -1 : 0;
    *high = y > 0 ? 0 : 1;
}

static const mercer_own_loss LOGISTIC = {.size = sizeof LOGISTIC,
                                         .name = "mine",
                                         .classes = true,
                                         .value = own_value,
                                         .slope = own_slope,
                                         .curvature = own_curvature,
                                         .conjugate = own_conjugate,
                                         .range = own_range};

static mercer_status fit_own(mercer_ctx *ctx, const mercer_own_loss *loss, const mercer_loss *set, const table *t,
                             mercer_model **out) {
    mercer_data *data = data_of(ctx, t, loss->classes);
    mercer_kernel *kernel = NULL;
    assert_ok(ctx, mercer_kernel_parse(ctx, "rbf(gamma=0.6)", &kernel));
    const mercer_status status = fit_own_loss(ctx, kernel, data, loss, set, out);
    mercer_kernel_free(kernel);
    mercer_data_free(data);
    return status;
}

static void test_a_loss_of_ones_own_equal_to_a_built_in_one_gives_the_same_function(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    table t = random_table(120, 2, 1000);
    t.weighted = true;
    for (int way = 0; way < 4; way++) {
        mercer_own_loss loss = LOGISTIC;
        mercer_loss set = settings("logistic", 0.05, 1e-9);
        mercer_model *own = NULL;
        set.solver = way & 1 ? "pcg" : "cholesky";
        loss.conjugate = way & 2 ? NULL : own_conjugate;
        assert_ok(ctx, fit_own(ctx, &loss, &set, &t, &own));
        mercer_model *built_in = fit_loss(ctx, "logistic", &set, "rbf(gamma=0.6)", &t);
        const mercer_report *a = mercer_model_report(own), *b = mercer_model_report(built_in);
        assert_string_equal(a->machine, "own-loss");
        assert_string_equal(a->certificate.kind, way & 2 ? "numerical gap" : "gap");
        assert_true(a->certificate.gap_relative < 1e-9 && a->certificate.primal >= a->certificate.dual);
        assert_close(a->certificate.dual, b->certificate.dual, 2e-9);
        assert_true(strstr(mercer_model_settings(own), "loss=mine lambda=0.05") != NULL);
        assert_same_values(ctx, own, built_in, &t, 1e-3);
        mercer_model_free(own);
        mercer_model_free(built_in);
    }
    close_clean(ctx);
}

static double poisson_value(void *user, double y, double F) {
    (void)user;
    return exp(F) - y * F;
}

static double poisson_slope(void *user, double y, double F) {
    (void)user;
    return exp(F) - y;
}

static double poisson_curvature(void *user, double y, double F) {
    (void)user, (void)y;
    return exp(F);
}

static void poisson_range(void *user, double y, double *low, double *high) {
    (void)user;
    *low = -y;
    *high = INFINITY;
}

/* With a constant kernel of no reach the intercept alone fits: exp(b) is the mean of the counts. */
static void test_a_loss_without_a_conjugate_is_certified_by_search(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    table t = random_table(100, 2, 1100);
    const mercer_own_loss loss = {.size = sizeof loss,
                                  "poisson",
                                  false,
                                  poisson_value,
                                  poisson_slope,
                                  poisson_curvature,
                                  NULL,
                                  poisson_range,
                                  NULL};
    double mean = 0;
    for (int64_t i = 0; i < t.n; i++)
        mean += (t.y[i] = floor(exp(fabs(t.y[i])))) / (double)t.n;
    for (double lambda = 0.1; lambda < 1e9; lambda *= 1e9) {
        const mercer_loss set = settings("own-loss", lambda, 1e-8);
        mercer_model *model = NULL;
        assert_ok(ctx, fit_own(ctx, &loss, &set, &t, &model));
        const mercer_report *r = mercer_model_report(model);
        assert_true(r->certificate.gap_relative <= 1e-8 && r->certificate.primal >= r->certificate.dual);
        double *values = values_of(ctx, model, &t, mercer_predict), sum = 0;
        for (int64_t i = 0; i < t.n; i++)
            sum += exp(values[i]) / (double)t.n;
        assert_close(sum, mean, 1e-3); /* the slope in the intercept is zero */
        if (lambda > 1)
            assert_close(exp(values[0]), mean, 1e-3);
        free(values);
        mercer_model_free(model);
    }
    close_clean(ctx);
}

static void test_a_saved_model_says_the_same_when_loaded(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    char path[] = "/tmp/mercer_loss_XXXXXX";
    assert_true(close(mkstemp(path)) == 0);
    for (int i = 0; i < COUNT; i++) {
        const table t = random_table(60, 3, (uint64_t)(1300 + i));
        const mercer_loss set = settings(LOSSES[i], 0.1, 1e-6);
        mercer_model *a = fit_loss(ctx, LOSSES[i], &set, "rbf(gamma=0.6)", &t), *b = NULL;
        assert_int_equal(unlink(path), 0);
        assert_ok(ctx, mercer_model_save(ctx, a, path));
        assert_ok(ctx, mercer_model_load(ctx, path, &b));
        assert_string_equal(mercer_model_report(b)->machine, LOSSES[i]);
        assert_string_equal(mercer_model_settings(a), mercer_model_settings(b));
        assert_true(mercer_model_report(a)->certificate.gap == mercer_model_report(b)->certificate.gap);
        double *x = values_of(ctx, a, &t, i ? mercer_predict : mercer_predict_proba),
               *y = values_of(ctx, b, &t, i ? mercer_predict : mercer_predict_proba);
        assert_memory_equal(x, y, (size_t)(t.n * mercer_model_outputs(a)) * sizeof *x);
        free(x);
        free(y);
        mercer_model_free(a);
        mercer_model_free(b);
    }
    assert_int_equal(unlink(path), 0);
    close_clean(ctx);
}

static int stop_at_once(void *user, const mercer_progress *progress) {
    (void)user;
    return progress->phase && strcmp(progress->phase, "solve") == 0;
}

static void test_a_stopped_fit_is_the_best_so_far_with_its_gap(void **state) {
    (void)state;
    mercer_options options = mercer_options_defaults();
    options.progress = stop_at_once;
    for (int i = 0; i < COUNT; i++) {
        mercer_ctx *ctx = NULL;
        assert_ok(ctx, mercer_open(&options, &ctx));
        const table t = random_table(200, 3, 900);
        mercer_loss set = settings(LOSSES[i], 1e-4, 1e-10);
        mercer_model *model = NULL;
        const mercer_status status = try_loss(ctx, LOSSES[i], &set, "rbf(gamma=0.6)", &t, &model);
        if (!status) { /* it may be told to stop before it has begun, or be done before it is told */
            const mercer_report *r = mercer_model_report(model);
            assert_true(strcmp(r->stopped, "caller") == 0
                        || r->certificate.gap - r->certificate.rounding < 1e-9 * r->objective);
            assert_true(r->certificate.primal >= r->certificate.dual && isfinite(r->objective));
        } else
            assert_int_equal(status, MERCER_CANCELLED);
        mercer_model_free(model);
        close_clean(ctx);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_certificates_are_those_of_the_definitions),
        cmocka_unit_test(test_huber_with_a_wide_delta_is_ridge),
        cmocka_unit_test(test_least_absolute_errors_are_the_median_and_a_tube_of_no_width),
        cmocka_unit_test(test_a_quantile_has_its_share_of_rows_below),
        cmocka_unit_test(test_both_solvers_find_the_same_function),
        cmocka_unit_test(test_a_stand_in_of_low_rank_leads_to_the_same_function),
        cmocka_unit_test(test_a_weight_of_two_is_the_row_twice_and_of_zero_no_row),
        cmocka_unit_test(test_probabilities_sum_to_one_and_their_largest_is_the_prediction),
        cmocka_unit_test(test_the_log_loss_is_the_mean_of_the_logarithms),
        cmocka_unit_test(test_separable_rows_with_a_tiny_lambda_still_have_an_optimum),
        cmocka_unit_test(test_softmax_does_not_stand_still),
        cmocka_unit_test(test_the_steps_of_softmax_hardly_grow_with_the_classes),
        cmocka_unit_test(test_outliers_far_from_everything_do_not_stop_huber),
        cmocka_unit_test(test_bad_settings_and_targets_are_refused_by_name),
        cmocka_unit_test(test_a_target_of_the_other_kind_is_refused),
        cmocka_unit_test(test_the_same_bits_on_any_number_of_threads),
        cmocka_unit_test(test_softmax_survives_failing_memory),
        cmocka_unit_test(test_a_loss_of_ones_own_equal_to_a_built_in_one_gives_the_same_function),
        cmocka_unit_test(test_a_loss_without_a_conjugate_is_certified_by_search),
        cmocka_unit_test(test_a_saved_model_says_the_same_when_loaded),
        cmocka_unit_test(test_a_stopped_fit_is_the_best_so_far_with_its_gap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
