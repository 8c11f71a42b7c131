/* The optimum by a dense solve is the oracle; wrong coefficients are made on purpose and every bound must hold against
   it, and not by a mile. */
#include "base/status.h"
#include "kernel/language/kernel.h"
#include "gram/operator/gram_matrix.h"
#include "certify/ridge_certificate.h"
#include "../learn/machines_of_test.h"
#include "model/model.h"

typedef struct trial {
    mc_problem p;
    double alpha[ROWS * OUTPUTS], b[OUTPUTS];
    mercer_model *optimum;
} trial;

static void open_trial(mercer_ctx *ctx, trial *t, const sheet *s, const char *kernel_text, double lambda,
                       bool intercept) {
    mercer_ridge set = plain(lambda);
    set.intercept = intercept;
    t->optimum = fit_sheet(ctx, kernel_text, s, &set);
    mercer_data *data = data_of(ctx, s);
    mercer_kernel *kernel = kernel_of(ctx, kernel_text);
    assert_ok(ctx, mc_problem_open(ctx, "none", mc_admit_proved, kernel, data, &t->p));
    mercer_kernel_free(kernel);
    mercer_data_free(data);
}

static void close_trial(trial *t) {
    mc_problem_close(&t->p);
    mercer_model_free(t->optimum);
}

/* Coefficients off by about size: in a random direction, or so that only their sum is off, or only b. */
static void perturb(trial *t, double size, int how, mc_rng *rng) {
    const mc_fitted *f = &t->optimum->f;
    const int64_t cells = t->p.n * t->p.outputs;
    for (int64_t i = 0; i < cells; i++)
        t->alpha[i] = f->alpha[i] + (how == 0 ? size * mc_rng_normal(rng) : how == 1 ? size : 0);
    for (int64_t k = 0; k < t->p.outputs; k++)
        t->b[k] = f->intercept[k] + (how == 2 ? size : 0);
}

static double worst_difference(mercer_ctx *ctx, const trial *t, const sheet *probe) {
    double best[ROWS * OUTPUTS], seen[ROWS * OUTPUTS], worst = 0;
    predict_sheet(ctx, t->optimum, probe, best);
    mercer_model copy = *t->optimum;
    copy.f.alpha = (double *)t->alpha;
    copy.f.intercept = (double *)t->b;
    predict_sheet(ctx, &copy, probe, seen);
    for (int64_t i = 0; i < probe->n * probe->outputs; i++)
        worst = fmax(worst, fabs(best[i] - seen[i]));
    return worst;
}

/* k(x_i, x_j) of rbf(gamma=0.4). */
static long double gauss(const sheet *s, int64_t i, int64_t j) {
    long double sum = 0;
    for (int64_t c = 0; c < s->d; c++)
        sum += powl((long double)s->x[i * s->d + c] - s->x[j * s->d + c], 2);
    return expl(-0.4L * sum);
}

/* How much larger the objective is than at the fitted coefficients, a, whose residuals are e = y - Ka - b: with d and c
   what was added to a and b, and h = Kd,

       w |h + c|^2 + lambda d'h + 2 (lambda a - w e)'h - 2 c w'e.

   The difference of two objectives would be lost in their rounding. */
static double true_gap(const trial *t, const sheet *s, double lambda, int64_t k) {
    const mc_fitted *f = &t->optimum->f;
    const int64_t n = s->n, outputs = s->outputs;
    const long double c = (long double)t->b[k] - f->intercept[k];
    long double gap = 0;
    for (int64_t i = 0; i < n; i++) {
        const long double w = s->weighted ? s->w[i] : 1, a = f->alpha[i * outputs + k],
                          d = t->alpha[i * outputs + k] - a;
        long double h = 0, e = (long double)s->y[i * outputs + k] - f->intercept[k];
        for (int64_t j = 0; j < n; j++) {
            h += gauss(s, i, j) * ((long double)t->alpha[j * outputs + k] - f->alpha[j * outputs + k]);
            e -= gauss(s, i, j) * f->alpha[j * outputs + k];
        }
        gap += w * (h + c) * (h + c) + lambda * d * h + 2 * (lambda * a - w * e) * h - 2 * c * w * e;
    }
    return (double)gap;
}

static void test_bounds_hold_for_wrong_coefficients(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 50);
    const double lambdas[] = {1e-6, 1e-2, 1, 100};
    const sheet probe = random_sheet(ROWS, OUTPUTS, 51);
    for (int variant = 0; variant < 4 * 4 * 3; variant++) {
        const bool intercept = variant % 2, weighted = variant / 2 % 2;
        const double lambda = lambdas[variant / 4 % 4];
        const int how = variant / 16;
        if (how == 2 && !intercept)
            continue;
        sheet s = random_sheet(40, OUTPUTS, 52);
        s.weighted = weighted;
        trial t;
        open_trial(ctx, &t, &s, "rbf(gamma=0.4)", lambda, intercept);
        for (double size = 1e-12; size < 10; size *= 1e3) {
            perturb(&t, size, how, &rng);
            mc_residual_findings found;
            assert_ok(ctx, mc_certify_squared_loss(ctx, &t.p, lambda, intercept, t.alpha, t.b, &found));
            double gap = 0;
            for (int64_t k = 0; k < OUTPUTS; k++)
                gap += true_gap(&t, &s, lambda, k);
            const double off = worst_difference(ctx, &t, &probe);
            assert_true(gap <= found.certificate.objective_gap);
            assert_true(off <= found.certificate.prediction_error_bound + 1e-14);
            assert_true(found.certificate.residual >= found.certificate.rounding);
        }
        close_trial(&t);
    }
    close_clean(ctx);
}

/* A good answer must be certified as one: the bounds are worth something. */
static void test_bounds_of_a_good_answer_are_small(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    for (int intercept = 0; intercept < 2; intercept++) {
        const sheet s = random_sheet(ROWS, OUTPUTS, 53);
        mercer_ridge set = plain(0.1);
        set.intercept = intercept;
        mercer_model *model = fit_sheet(ctx, "rbf(gamma=0.4)", &s, &set);
        const mercer_certificate *c = &mercer_model_report(model)->certificate;
        assert_string_equal(c->kind, "residual");
        assert_true(c->residual_relative < 1e-12);
        assert_true(c->prediction_error_bound < 1e-10);
        assert_true(c->objective_gap < 1e-20 && c->objective_gap >= 0);
        mercer_model_free(model);
    }
    close_clean(ctx);
}

/* One row: k = K_11, (k + lambda) alpha = y. A residual r moves f(x_1) by k r / (k + lambda), and k = lambda attains
 * the bound. */
static void test_the_prediction_bound_is_attained(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    sheet s = {.n = 1, .d = 1, .outputs = 1, .x = {2}, .y = {1}};
    trial t;
    open_trial(ctx, &t, &s, "linear", 4, false);
    const double r = 1e-3;
    t.alpha[0] = (1 - r) / 8;
    t.b[0] = 0;
    mc_residual_findings found;
    assert_ok(ctx, mc_certify_squared_loss(ctx, &t.p, 4, false, t.alpha, t.b, &found));
    const double moved = 4 * r / 8;
    assert_true(found.certificate.prediction_error_bound >= moved);
    assert_true(found.certificate.prediction_error_bound <= moved * 1.02);
    close_trial(&t);
    close_clean(ctx);
}

static void test_objective_and_norm_are_the_definitions(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    sheet s = random_sheet(12, 1, 54);
    s.weighted = true;
    mercer_ridge set = plain(0.5);
    set.intercept = true;
    set.solver = "cholesky";
    mercer_model *model = fit_sheet(ctx, "1 + linear", &s, &set);
    double f[12], loss = 0, slope[3] = {0}, constant = 0;
    predict_sheet(ctx, model, &s, f);
    for (int i = 0; i < 12; i++) {
        loss += s.w[i] * pow(s.y[i] - f[i], 2);
        constant += model->f.alpha[i];
        for (int j = 0; j < 3; j++)
            slope[j] += model->f.alpha[i] * s.x[i * 3 + j];
    }
    const double square = constant * constant + slope[0] * slope[0] + slope[1] * slope[1] + slope[2] * slope[2];
    assert_close(mercer_model_report(model)->norm, sqrt(square), 1e-12);
    assert_close(mercer_model_report(model)->objective, loss + 0.5 * square, 1e-12);
    mercer_model_free(model);
    close_clean(ctx);
}

/* A cached product is taken over; coefficients that differ in one bit are measured anew. */
static void test_a_cached_product_counts_for_its_own_coefficients_only(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    sheet s = random_sheet(40, OUTPUTS, 55);
    trial t;
    open_trial(ctx, &t, &s, "rbf(gamma=0.4)", 0.1, false);
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 56);
    perturb(&t, 1e-3, 0, &rng);
    mc_gram *gram = NULL;
    mc_cached_product cached;
    double product[ROWS * OUTPUTS];
    assert_ok(ctx, mc_gram_open(ctx, t.p.kernel, t.p.x, NULL, MERCER_F64, &gram));
    assert_ok(ctx, mc_cached_product_open(ctx, gram, t.p.outputs, &cached));
    const mc_matrix K = mc_cached_product_matrix(&cached);
    assert_ok(ctx, K.apply(ctx, K.self, t.p.outputs, t.alpha, product));
    mc_gram_close(gram);
    mc_residual_findings plain_one, seen, other;
    assert_ok(ctx, mc_certify_squared_loss(ctx, &t.p, 0.1, false, t.alpha, t.b, &plain_one));
    assert_ok(ctx, mc_certify_with_product(ctx, &t.p, 0.1, false, t.alpha, t.b, &cached, &seen));
    assert_true(seen.objective == plain_one.objective && seen.norm == plain_one.norm);
    assert_true(seen.certificate.residual == plain_one.certificate.residual);
    cached.KV[0] += 1; /* now it would show, if it were used */
    assert_ok(ctx, mc_certify_with_product(ctx, &t.p, 0.1, false, t.alpha, t.b, &cached, &seen));
    assert_true(seen.certificate.residual > plain_one.certificate.residual + 0.1);
    t.alpha[5] = nextafter(t.alpha[5], 9);
    assert_ok(ctx, mc_certify_with_product(ctx, &t.p, 0.1, false, t.alpha, t.b, &cached, &other));
    assert_close(other.certificate.residual, plain_one.certificate.residual, 1e-9);
    mc_cached_product_close(&cached);
    close_trial(&t);
    close_clean(ctx);
}

static mercer_status more_on_the_diagonal(mercer_ctx *ctx, const void *self, int64_t t, const double *V, double *Y) {
    MC_TRY(mc_gram_apply(ctx, self, t, V, Y));
    for (int64_t i = 0; i < mc_gram_rows(self) * t; i++)
        Y[i] += 1e-6 * V[i];
    return MERCER_OK;
}

/* A product that is read from elsewhere is compared with the rows: a K that is wrong by a millionth is found out. */
static void test_a_cached_product_of_another_matrix_is_found_out(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    sheet s = random_sheet(40, OUTPUTS, 57);
    trial t;
    open_trial(ctx, &t, &s, "rbf(gamma=0.4)", 0.1, false);
    mc_gram *gram = NULL;
    mc_cached_product cached;
    assert_ok(ctx, mc_gram_open(ctx, t.p.kernel, t.p.x, NULL, MERCER_F64, &gram));
    assert_ok(ctx, mc_cached_product_open(ctx, gram, t.p.outputs, &cached));
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 58);
    perturb(&t, 1e-3, 0, &rng);
    mc_matrix wrong = mc_gram_matrix(gram);
    wrong.apply = more_on_the_diagonal;
    assert_ok(ctx, mc_cached_product_compute(ctx, &cached, t.alpha));
    assert_true(cached.filled);
    mc_cached_product_use_matrix(&cached, &wrong);
    assert_int_equal(mc_cached_product_compute(ctx, &cached, t.alpha), MERCER_INTERNAL);
    assert_false(cached.filled);
    assert_non_null(strstr(mercer_message(ctx), "by the rows of the data"));
    mc_cached_product_close(&cached);
    mc_gram_close(gram);
    close_trial(&t);
    close_clean(ctx);
}

/* In doubles alone the rounding of the residual would claim up to 1e-2 here. */
static void test_bounds_stay_sharp_where_lambda_is_small(void **state) {
    (void)state;
    static const struct {
        const char *kernel;
        double lambda;
    } cases[] = {{"rbf(gamma=0.1)", 1e-4}, {"linear + rbf(gamma=0.1)", 1e-4}, {"matern(nu=1.5, length_scale=2)", 1e-6}};
    mercer_ctx *ctx = open_ctx(2);
    mercer_data *data = NULL;
    assert_ok(ctx, mercer_data_generate(ctx, "friedman1", 900, 1, 1, &data));
    for (int k = 0; k < 3; k++)
        for (int variant = 0; variant < 2; variant++) {
            mercer_ridge set = plain(cases[k].lambda);
            mercer_kernel *kernel = kernel_of(ctx, cases[k].kernel);
            mercer_model *model = NULL;
            set.intercept = variant;
            set.scale = "standard";
            assert_ok(ctx, mercer_fit(ctx, "ridge", &set, kernel, data, &model));
            assert_true(mercer_model_report(model)->certificate.prediction_error_bound < 2e-5);
            mercer_model_free(model);
            mercer_kernel_free(kernel);
        }
    mercer_data_free(data);
    close_clean(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bounds_hold_for_wrong_coefficients),
        cmocka_unit_test(test_bounds_of_a_good_answer_are_small),
        cmocka_unit_test(test_bounds_stay_sharp_where_lambda_is_small),
        cmocka_unit_test(test_the_prediction_bound_is_attained),
        cmocka_unit_test(test_objective_and_norm_are_the_definitions),
        cmocka_unit_test(test_a_cached_product_counts_for_its_own_coefficients_only),
        cmocka_unit_test(test_a_cached_product_of_another_matrix_is_found_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
