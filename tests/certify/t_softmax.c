/* Bounds of the decisions of logistic on several classes: those of a rough fit against a fit as good as can be. */
#include "base/rng.h"
#include "support.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 24, D = 2, CLASSES = 4 };

typedef struct trial {
    int64_t n, classes;
    double x[MOST * D], w[MOST], lambda, tolerance;
    const char *label[MOST], *kernel;
    bool weighted;
} trial;

static double pick(mc_rng *rng, double low, double high) {
    return pow(10, low + (high - low) * mc_rng_uniform(rng));
}

static trial draw(uint64_t item) {
    static const char *const names[] = {"a", "b", "c", "d"}, *const kernels[] = {"rbf(gamma=0.7)", "linear",
                                                                                 "poly(degree=2)",
                                                                                 "100*matern(nu=1.5)"};
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, item);
    trial t = {.classes = 3 + mc_rng_below(&rng, CLASSES - 2)};
    t.n = t.classes + mc_rng_below(&rng, MOST - t.classes + 1);
    t.kernel = kernels[mc_rng_below(&rng, 4)];
    t.lambda = pick(&rng, -3, 2);
    t.tolerance = pick(&rng, -8, -1);
    t.weighted = mc_rng_below(&rng, 3) == 0;
    for (int64_t i = 0; i < t.n; i++) {
        const int64_t c = i < t.classes ? i : mc_rng_below(&rng, t.classes);
        t.label[i] = names[c];
        t.w[i] = pick(&rng, -1, 1);
        for (int j = 0; j < D; j++)
            t.x[i * D + j] = (double)(c * j) + mc_rng_normal(&rng);
    }
    return t;
}

static mercer_model *fit(mercer_ctx *ctx, const trial *t, const mercer_data *data, double tolerance) {
    mercer_kernel *kernel = NULL;
    mercer_model *model = NULL;
    const mercer_machine *row = mercer_machine_find("logistic");
    void *set = calloc(1, row->size);
    char text[40];
    assert_ok(ctx, mercer_settings_init(ctx, "logistic", set, row->size));
    assert_ok(ctx, mercer_settings_put(ctx, set, "scale", "none"));
    assert_ok(ctx, mercer_settings_put(ctx, set, "intercept", "yes"));
    snprintf(text, sizeof text, "%.17g", t->lambda);
    assert_ok(ctx, mercer_settings_put(ctx, set, "lambda", text));
    snprintf(text, sizeof text, "%.17g", tolerance);
    assert_ok(ctx, mercer_settings_put(ctx, set, "tolerance", text));
    assert_ok(ctx, mercer_kernel_parse(ctx, t->kernel, &kernel));
    assert_ok(ctx, mercer_fit(ctx, "logistic", set, kernel, data, &model));
    mercer_kernel_free(kernel);
    free(set);
    return model;
}

/* Intercepts move together freely: the decisions of each row less their mean. */
static void decide(mercer_ctx *ctx, const trial *t, const mercer_model *model, const mercer_data *data, double *out,
                   double *bound) {
    assert_ok(ctx, mercer_decide(ctx, model, data, out));
    assert_ok(ctx, mercer_prediction_bound(ctx, model, data, bound));
    double sum = 0;
    for (int64_t k = 0; k < t->classes; k++)
        sum += mercer_model_intercept(model, k);
    for (int64_t i = 0; i < t->n * t->classes; i++)
        out[i] -= sum / (double)t->classes;
}

static bool check(mercer_ctx *ctx, const trial *t) {
    const mercer_table table = {.size = sizeof table,
                                .n = t->n,
                                .d = D,
                                .dtype = MERCER_F64,
                                .values = t->x,
                                .weights = t->weighted ? t->w : NULL,
                                .labels = (const char *const *)t->label};
    mercer_data *data = NULL;
    assert_ok(ctx, mercer_data_make(ctx, &table, &data));
    mercer_model *rough = fit(ctx, t, data, t->tolerance), *best = fit(ctx, t, data, 1e-10);
    double a[MOST * CLASSES], b[MOST * CLASSES], of_a[MOST], of_b[MOST];
    decide(ctx, t, rough, data, a, of_a);
    decide(ctx, t, best, data, b, of_b);
    for (int64_t i = 0; i < t->n * t->classes; i++)
        assert_true(!(fabs(a[i] - b[i]) > of_a[i / t->classes] + of_b[i / t->classes]));
    mercer_model_free(rough);
    mercer_model_free(best);
    mercer_data_free(data);
    return isfinite(of_a[0]) && isfinite(of_b[0]);
}

static void test_decisions_of_many_classes_keep_within_their_bounds(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    const int many = getenv("MERCER_CLAIMS") ? atoi(getenv("MERCER_CLAIMS")) : 200;
    int known = 0;
    for (int item = 0; item < many; item++) {
        const trial t = draw((uint64_t)item);
        known += check(ctx, &t);
    }
    assert_true(known > many / 3);
    close_clean(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_decisions_of_many_classes_keep_within_their_bounds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
