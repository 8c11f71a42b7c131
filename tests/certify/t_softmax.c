/* The certificate of logistic on several classes: its decisions within their bounds, those of a rough fit against a fit
   as good as can be, and its two sides against the same sums in long double. */
#include "../kernel/eval_long.h"
#include "base/rng.h"
#include "certify/loss_certificate.h"
#include "kernel/language/kernel.h"
#include "support.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 24, D = 2, CLASSES = 4 };
typedef long double truth;

typedef struct trial {
    int64_t n, classes;
    double x[MOST * D], w[MOST], lambda, tolerance;
    const char *label[MOST], *kernel;
    bool weighted, intercept;
} trial;

static double pick(mc_rng *rng, double low, double high) {
    return pow(10, low + (high - low) * mc_rng_uniform(rng));
}

static trial draw(uint64_t item) {
    static const char *const names[] = {"a", "b", "c", "d"}, *const kernels[] = {"rbf(gamma=0.7)", "linear",
                                                                                 "poly(degree=2)",
                                                                                 "100*matern(nu=1.5)"};
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, item);
    trial t = {.classes = 3 + mc_rng_below(&rng, CLASSES - 2), .intercept = true};
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
    assert_ok(ctx, mercer_settings_put(ctx, set, "intercept", t->intercept ? "yes" : "no"));
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

static mercer_data *data_of(mercer_ctx *ctx, const trial *t) {
    const mercer_table table = {.size = sizeof table,
                                .n = t->n,
                                .d = D,
                                .dtype = MERCER_F64,
                                .values = t->x,
                                .weights = t->weighted ? t->w : NULL,
                                .labels = (const char *const *)t->label};
    mercer_data *data = NULL;
    assert_ok(ctx, mercer_data_make(ctx, &table, &data));
    return data;
}

static bool check(mercer_ctx *ctx, const trial *t) {
    mercer_data *data = data_of(ctx, t);
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
    const int many = getenv("MERCER_CLAIMS") ? atoi(getenv("MERCER_CLAIMS")) : test_sparse() ? 40 : 200;
    int known = 0;
    for (int item = 0; item < many; item++) {
        const trial t = draw((uint64_t)item);
        known += check(ctx, &t);
    }
    assert_true(known > many / 3);
    close_clean(ctx);
}

/* ---- The two sides in long double ---- */

/* alpha: n x classes, its rows made to sum to 0 by the coefficient of their own class; f = K alpha. */
static void expand(const trial *t, const mercer_model *model, truth *alpha, truth *f) {
    const int64_t k = t->classes;
    memset(alpha, 0, MOST * CLASSES * sizeof *alpha);
    memset(f, 0, MOST * CLASSES * sizeof *f);
    for (int64_t c = 0; c < mercer_model_centres(model); c++)
        for (int64_t j = 0; j < k; j++)
            alpha[mercer_model_row(model, c) * k + j] = mercer_model_coefficient(model, c, j);
    for (int64_t i = 0; i < t->n; i++) {
        truth *own = alpha + i * k + (t->label[i][0] - 'a'), sum = -*own;
        for (int64_t j = 0; j < k; j++)
            sum += alpha[i * k + j];
        *own = -sum;
    }
    for (int64_t i = 0; i < t->n * t->n; i++) {
        const truth K = (truth)eval_long(mercer_model_kernel(model)->root, t->x + i / t->n * D, t->x + i % t->n * D, D);
        for (int64_t j = 0; j < k; j++)
            f[i / t->n * k + j] += K * alpha[i % t->n * k + j];
    }
}

/* log sum exp F - F_own, to the last digits of itself. */
static truth loss_of(int64_t k, const truth *F, int64_t own) {
    truth most = F[own], others = 0;
    for (int64_t j = 0; j < k; j++)
        most = fmaxl(most, F[j]);
    if (most > F[own] + 1) {
        for (int64_t j = 0; j < k; j++)
            others += expl(F[j] - most);
        return logl(others) + (most - F[own]);
    }
    for (int64_t j = 0; j < k; j++)
        others += j == own ? 0 : expl(F[j] - F[own]);
    return log1pl(others);
}

/* sum q log q, the share of the own class being what the others leave. */
static truth conjugate_of(int64_t k, const truth *alpha, int64_t own, truth unit) {
    truth others = 0, sum = 0;
    for (int64_t j = 0; j < k; j++) {
        const truth q = j == own ? 0 : -unit * alpha[j];
        others += q;
        sum += q > 0 ? q * logl(q) : 0;
    }
    return sum + (others < 1 ? (1 - others) * log1pl(-others) : 0);
}

static void evaluate(const trial *t, const mercer_model *model, truth *primal, truth *dual) {
    const int64_t k = t->classes;
    const truth lambda = mercer_model_report(model)->lambda;
    truth alpha[MOST * CLASSES], f[MOST * CLASSES], energy = 0;
    expand(t, model, alpha, f);
    for (int64_t i = 0; i < t->n * k; i++)
        energy += alpha[i] * f[i];
    *primal = lambda / 2 * energy;
    *dual = -lambda / 2 * energy;
    for (int64_t i = 0; i < t->n; i++) {
        const truth weight = t->weighted ? t->w[i] : 1;
        for (int64_t j = 0; j < k; j++)
            f[i * k + j] += mercer_model_intercept(model, j);
        *primal += weight * loss_of(k, f + i * k, t->label[i][0] - 'a');
        *dual -= weight * conjugate_of(k, alpha + i * k, t->label[i][0] - 'a', lambda / weight);
    }
}

static trial draw_small(uint64_t item) {
    static const char *const kernels[] = {"1000*rbf(gamma=3)", "30*matern(nu=1.5)", "1e5*rbf(gamma=1)"};
    trial t = draw(item);
    mc_rng rng = mc_rng_at(test_seed() + 1, MC_STREAM_TEST, item);
    t.kernel = kernels[mc_rng_below(&rng, 3)];
    t.lambda = pick(&rng, -12, -2);
    t.tolerance = pick(&rng, -11, -3);
    t.intercept = mc_rng_below(&rng, 2);
    return t;
}

/* Returns whether the objective is small. With an intercept the columns of alpha sum to 0 up to a rounding, which the
   certificate counts and the dual side here does not. */
static bool check_sides(mercer_ctx *ctx, const trial *t, int item) {
    mercer_data *data = data_of(ctx, t);
    mercer_model *model = fit(ctx, t, data, t->tolerance);
    const mercer_certificate *c = &mercer_model_report(model)->certificate;
    truth primal, dual;
    evaluate(t, model, &primal, &dual);
    const truth room = 1e-17L * primal;
    if (!(c->dual <= c->primal && c->dual <= primal + room && primal <= c->primal + room
          && (t->intercept || (c->dual <= dual + room && primal - dual <= c->gap + room))))
        fail_msg("%s, n %lld, lambda %.6g, tolerance %.3g, intercept %d, item %d: primal %.17Lg, dual %.17Lg, claimed "
                 "%.17g, %.17g, gap %.6g",
                 t->kernel, (long long)t->n, t->lambda, t->tolerance, t->intercept, item, primal, dual, c->primal,
                 c->dual, c->gap);
    mercer_model_free(model);
    mercer_data_free(data);
    return primal < 1e-5L;
}

static void test_the_sides_of_many_classes_hold_where_the_objective_is_small(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    const int many = getenv("MERCER_CLAIMS") ? atoi(getenv("MERCER_CLAIMS")) : test_sparse() ? 40 : 200;
    int small = 0;
    for (int item = 0; item < many; item++) {
        const trial t = draw_small((uint64_t)item);
        small += check_sides(ctx, &t, item);
    }
    assert_true(small > many / 4);
    close_clean(ctx);
}

/* ---- Shares near 0 and 1 ---- */

/* Shares of the classes other than the own: together all but `left`. */
static void draw_shares(mc_rng *rng, int64_t k, double left, double *q) {
    double sum = 0;
    for (int64_t j = 1; j < k; j++)
        sum += q[j] = pick(rng, -18, 0);
    for (int64_t j = 1; j < k; j++)
        q[j] *= (1 - left) / sum;
}

/* One row of class 0 and a kernel that is next to nothing, which leaves the conjugate: the dual side, lowered by its
   rounding, is no more than the exact one. Two classes are one column. */
static void check_shares(mercer_ctx *ctx, const mc_problem *p, mc_rng *rng, int64_t k, int item) {
    enum { WIDEST = 64 };
    const double y = k > 2 ? 0 : 1, cost = pick(rng, -3, 3), lambda = pick(rng, -6, 6);
    const int64_t columns = k > 2 ? k : 1;
    double q[WIDEST], alpha[WIDEST] = {0}, f[WIDEST], b[WIDEST] = {0};
    truth exact[WIDEST] = {0};
    draw_shares(rng, k, pick(rng, -16, 0), q);
    for (int64_t j = 1; j < k; j++) {
        alpha[0] += q[j] * cost / lambda;
        alpha[j] = -q[j] * cost / lambda;
        exact[j] = columns > 1 ? alpha[j] : -(truth)alpha[0];
    }
    mc_loss_task t = {.loss = mc_loss_named("logistic"), .n = 1, .k = columns, .y = &y, .cost = &cost};
    t.lambda = lambda, t.alpha = alpha, t.f = f, t.b = b;
    mc_loss_findings found;
    assert_ok(ctx, mc_loss_certify(ctx, p, &t, 1, &found));
    const truth dual = -(truth)cost * conjugate_of(k, exact, 0, (truth)lambda / cost),
                said = (truth)found.dual - (found.rounding - found.primal_rounding);
    if (!(said <= dual + 1e-18L * cost))
        fail_msg("%lld classes, item %d: dual %.17Lg and %.17Lg was claimed", (long long)k, item, dual, said);
}

static void test_the_dual_side_holds_at_shares_near_0_and_1(void **state) {
    (void)state;
    const double x[D] = {1, 2};
    const mercer_table table = {.size = sizeof table, .n = 1, .d = D, .dtype = MERCER_F64, .values = x};
    mercer_ctx *ctx = open_ctx(1);
    mc_problem p = {.n = 1};
    assert_ok(ctx, mercer_data_make(ctx, &table, &p.x));
    assert_ok(ctx, mercer_kernel_parse(ctx, "1e-100*rbf(gamma=1)", &p.kernel));
    for (int item = 0; item < 3000; item++) {
        mc_rng rng = mc_rng_at(test_seed() + 2, MC_STREAM_TEST, (uint64_t)item);
        check_shares(ctx, &p, &rng, 2 + item % 63, item);
    }
    mercer_kernel_free(p.kernel);
    mercer_data_free(p.x);
    close_clean(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_decisions_of_many_classes_keep_within_their_bounds),
        cmocka_unit_test(test_the_sides_of_many_classes_hold_where_the_objective_is_small),
        cmocka_unit_test(test_the_dual_side_holds_at_shares_near_0_and_1)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
