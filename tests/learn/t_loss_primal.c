/* Smooth losses in the weights of explicit features, and predictions by weights that centres were summed up to. */
#include "loss_of_test.h"

/* Systems that are written out, and such as conjugate gradients solve for many classes. */
static const char *const KERNELS[] = {"linear", "0.5*linear + poly(degree=2, c=0.3)", "poly(degree=8, c=1, gamma=0.2)"};
enum { KERNELS_ = sizeof KERNELS / sizeof *KERNELS };

/* ---- The solver ---- */

static double *bounds_of(mercer_ctx *ctx, const mercer_model *model, const table *t) {
    return values_of(ctx, model, t, mercer_prediction_bound);
}

/* Each decision is as near to the optimum as it says, so that two are no farther apart than both say. */
static void assert_within_bounds(mercer_ctx *ctx, const mercer_model *a, const mercer_model *b, const table *t) {
    double *x = decide(ctx, a, t), *y = decide(ctx, b, t), *p = bounds_of(ctx, a, t), *q = bounds_of(ctx, b, t);
    const int64_t decisions = mercer_model_decisions(a);
    for (int64_t i = 0; i < t->n * decisions; i++)
        if (!(fabs(x[i] - y[i]) <= p[i / decisions] + q[i / decisions]))
            fail_msg("decision %lld: %.17g and %.17g, bounds %g and %g", (long long)i, x[i], y[i], p[i / decisions],
                     q[i / decisions]);
    free(x), free(y), free(p), free(q);
}

static void check_against_pcg(mercer_ctx *ctx, const char *machine, const char *kernel, const mercer_loss *set,
                              const table *t) {
    mercer_loss other = *set;
    other.solver = "pcg";
    mercer_model *a = fit_loss(ctx, machine, set, kernel, t), *b = fit_loss(ctx, machine, &other, kernel, t);
    const mercer_report *r = mercer_model_report(a);
    assert_string_equal(r->solver, "primal");
    const mercer_certificate *c = &r->certificate;
    if (!(c->gap - c->rounding <= set->tolerance * c->primal && r->iterations < 40 * t->classes))
        fail_msg("%s, %s: gap %g after %lld steps", machine, kernel, r->certificate.gap_relative,
                 (long long)r->iterations);
    assert_close(r->objective, mercer_model_report(b)->objective, 2 * set->tolerance);
    assert_within_bounds(ctx, a, b, t);
    mercer_model_free(a);
    mercer_model_free(b);
}

static void test_features_lead_to_the_function_that_rows_lead_to(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    int64_t item = 0;
    for (int i = 0; i < SMOOTH; i++)
        for (int k = 0; k < KERNELS_; k++)
            for (int variant = 0; variant < 4; variant++) {
                if (!test_takes(item++))
                    continue;
                table t =
                    random_table(variant ? 260 : 90, variant == 3 ? 4 : 2 + variant % 2, (uint64_t)(40 + variant));
                mercer_loss set = settings(LOSSES[i], variant % 2 ? 0.01 : 3, 1e-8);
                t.weighted = variant == 2;
                set.intercept = variant != 1;
                if (variant || k < 2) /* 165 features are more than 90 rows */
                    check_against_pcg(ctx, LOSSES[i], KERNELS[k], &set, &t);
            }
    close_clean(ctx);
}

static void test_a_kernel_without_features_is_refused(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    const table t = random_table(50, 2, 3);
    mercer_loss set = settings("logistic", 1, 1e-6);
    mercer_model *model = NULL;
    set.solver = "primal";
    assert_fails(ctx, try_loss(ctx, "logistic", &set, "rbf(gamma=1)", &t, &model), MERCER_INVALID,
                 "solver primal needs a kernel with explicit features");
    assert_null(model);
    close_clean(ctx);
}

static void test_the_same_bits_on_any_number_of_threads(void **state) {
    (void)state;
    static const int threads[] = {1, 2, 3, 7};
    for (int k = 0; k < KERNELS_; k++)
        for (int64_t classes = 2; classes < 5; classes += 2) {
            const table t = random_table(900, classes, 71);
            double *values[4];
            for (int j = 0; j < 4; j++) {
                mercer_ctx *ctx = open_ctx(threads[j]);
                const mercer_loss set = settings("logistic", 0.05, 1e-6);
                mercer_model *model = fit_loss(ctx, "logistic", &set, KERNELS[k], &t);
                values[j] = decide(ctx, model, &t);
                assert_true(
                    j == 0
                    || memcmp(values[0], values[j], (size_t)(t.n * mercer_model_decisions(model)) * sizeof(double))
                           == 0);
                mercer_model_free(model);
                close_clean(ctx);
            }
            for (int j = 0; j < 4; j++)
                free(values[j]);
        }
}

static mercer_status fit_small(mercer_ctx *ctx, void *arg) {
    const char *kernel_text = arg;
    const table t = random_table(40, 3, 800);
    const mercer_loss set = settings("logistic", 0.5, 1e-6);
    const char *labels[40];
    for (int64_t i = 0; i < t.n; i++)
        labels[i] = NAMES[t.class_of[i]];
    const mercer_table given = {
        .size = sizeof given, .n = t.n, .d = D, .dtype = MERCER_F64, .values = t.x, .labels = labels};
    mercer_data *data = NULL;
    mercer_kernel *kernel = NULL;
    mercer_model *model = NULL;
    double out[40 * 3];
    mercer_status status = mercer_data_make(ctx, &given, &data);
    if (!status)
        status = mercer_kernel_parse(ctx, kernel_text, &kernel);
    if (!status)
        status = mercer_fit(ctx, "logistic", &set, kernel, data, &model);
    if (!status)
        status = mercer_predict(ctx, model, data, out);
    mercer_model_free(model);
    mercer_kernel_free(kernel);
    mercer_data_free(data);
    return status;
}

static void test_memory_may_fail_anywhere(void **state) {
    (void)state;
    char linear[] = "linear", mapped[] = "poly(degree=2, c=0.3)";
    assert_survives_failing_memory(fit_small, linear);
    assert_survives_failing_memory(fit_small, mapped);
}

static int stop_later(void *user, const mercer_progress *progress) {
    return progress->phase && strcmp(progress->phase, "solve") == 0 && ++*(int *)user > 20;
}

/* The function that is 0 everywhere is where it starts from. */
static void test_a_stopped_fit_is_not_worse_than_its_start(void **state) {
    (void)state;
    for (int64_t classes = 2; classes < 5; classes += 2) {
        int calls = 0;
        mercer_options options = mercer_options_defaults();
        mercer_ctx *ctx = NULL;
        options.progress = stop_later, options.progress_user = &calls;
        assert_ok(ctx, mercer_open(&options, &ctx));
        const table t = random_table(900, classes, 77);
        const mercer_loss set = settings("logistic", 1e-7, 1e-12);
        mercer_model *model = NULL;
        const mercer_status status = try_loss(ctx, "logistic", &set, KERNELS[2], &t, &model);
        if (!status) {
            const mercer_certificate *c = &mercer_model_report(model)->certificate;
            if (!(c->primal - c->dual <= 1.001 * (double)t.n * log((double)classes)))
                fail_msg("primal %g, dual %g, rounding %g: more than that of 0", c->primal, c->dual, c->rounding);
        } else
            assert_int_equal(status, MERCER_CANCELLED);
        mercer_model_free(model);
        close_clean(ctx);
    }
}

/* ---- Predictions ---- */

/* What weights decide is what the centres decide, to rounding and within the bound that is claimed. */
static void check_decisions(mercer_ctx *ctx, const mercer_model *model, const table *t) {
    double *got = decide(ctx, model, t);
    const int64_t decisions = mercer_model_decisions(model);
    for (int64_t i = 0; i < t->n; i++)
        for (int64_t k = 0; k < decisions; k++) {
            const double wanted = (double)expansion(ctx, model, t, k, t->x + i * D) + mercer_model_intercept(model, k);
            assert_close(got[i * decisions + k], wanted, 1e-9);
        }
    free(got);
}

static void test_weights_decide_as_centres_do(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    for (int k = 0; k < KERNELS_; k++)
        for (int64_t classes = 2; classes < 5; classes += 2) {
            const table t = random_table(200, classes, (uint64_t)(500 + k));
            const mercer_svm svm = plain("svc", 1e-3);
            const mercer_loss loss = settings("logistic", 0.1, 1e-6);
            mercer_model *a = fit(ctx, "svc", &svm, KERNELS[k], &t),
                         *b = fit_loss(ctx, "logistic", &loss, KERNELS[k], &t);
            check_decisions(ctx, a, &t);
            check_decisions(ctx, b, &t);
            mercer_model_free(a);
            mercer_model_free(b);
        }
    close_clean(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_features_lead_to_the_function_that_rows_lead_to),
        cmocka_unit_test(test_a_kernel_without_features_is_refused),
        cmocka_unit_test(test_the_same_bits_on_any_number_of_threads),
        cmocka_unit_test(test_memory_may_fail_anywhere),
        cmocka_unit_test(test_a_stopped_fit_is_not_worse_than_its_start),
        cmocka_unit_test(test_weights_decide_as_centres_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
