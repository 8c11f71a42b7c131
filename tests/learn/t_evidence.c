#include "base/rng.h"
#include "data/table/data.h"
#include "kernel/language/kernel.h"
#include "learn/gp/evidence.h"
#include "learn/gp/gp_learn.h"
#include "support.h"
#include <math.h>
#include <string.h>

enum { N = 40, D = 2, T = 2 };

typedef struct setup {
    double x[N * D], Y[N * T], root[N];
    mercer_data *data;
} setup;

static setup prepare(mercer_ctx *ctx) {
    setup s;
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 5);
    for (int i = 0; i < N; i++) {
        s.x[2 * i] = mc_rng_normal(&rng);
        s.x[2 * i + 1] = mc_rng_normal(&rng);
        s.Y[2 * i] = sin(2 * s.x[2 * i]) + 0.1 * mc_rng_normal(&rng);
        s.Y[2 * i + 1] = cos(s.x[2 * i + 1]) + 0.1 * mc_rng_normal(&rng);
        s.root[i] = sqrt(0.5 + mc_rng_uniform(&rng));
    }
    assert_ok(
        ctx, mercer_data_make(
                 ctx, &(mercer_table){.size = sizeof(mercer_table), .n = N, .d = D, .dtype = MERCER_F64, .values = s.x},
                 &s.data));
    return s;
}

static mercer_kernel *parse(mercer_ctx *ctx, const char *text) {
    mercer_kernel *kernel = NULL;
    assert_ok(ctx, mercer_kernel_parse(ctx, text, &kernel));
    return kernel;
}

/* One point by hand: y ~ N(0, k + noise). */
static void test_one_row_is_a_normal_density(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    const double x[] = {3}, y[] = {1.5};
    mercer_data *data = NULL;
    mc_evidence *e = NULL;
    assert_ok(ctx,
              mercer_data_make(
                  ctx, &(mercer_table){.size = sizeof(mercer_table), .n = 1, .d = 1, .dtype = MERCER_F64, .values = x},
                  &data));
    mercer_kernel *kernel = parse(ctx, "2*rbf(gamma=1)");
    assert_ok(ctx, mc_evidence_open(ctx, data, 1, y, NULL, &e));
    double value, gradient[3], rmse;
    assert_ok(ctx, mc_evidence_value(ctx, e, kernel, 0.5, &value, gradient));
    assert_close(value, -0.5 * (1.5 * 1.5 / 2.5 + log(2.5) + log(2 * acos(-1))), 1e-14);
    const double slope = 0.5 * (1.5 * 1.5 / (2.5 * 2.5) - 1 / 2.5);
    assert_close(gradient[0], slope, 1e-14); /* the factor */
    assert_close(gradient[1], 0, 1e-14);     /* gamma does nothing to one point */
    assert_close(gradient[2], slope, 1e-14); /* the noise */
    assert_close(mc_evidence_alpha(e)[0], 1.5 / 2.5, 1e-14);
    assert_ok(ctx, mc_evidence_value(ctx, e, kernel, 0.5, &value, NULL));
    assert_ok(ctx, mc_evidence_leave_one_out(ctx, e, &value, &rmse));
    assert_close(rmse, 1.5, 1e-14); /* with no other row the prediction is 0 */
    mc_evidence_close(e);
    mercer_kernel_free(kernel);
    mercer_data_free(data);
    close_clean(ctx);
}

static double value_at(mercer_ctx *ctx, mc_evidence *e, const mercer_kernel *kernel, const double *theta) {
    mercer_kernel *moved = NULL;
    double value;
    assert_ok(ctx, mc_kernel_with(ctx, kernel, theta, &moved));
    assert_ok(ctx, mc_evidence_value(ctx, e, moved, theta[kernel->slots], &value, NULL));
    mercer_kernel_free(moved);
    return value;
}

static void test_gradient_equals_central_differences(void **state) {
    (void)state;
    static const char *const text[] = {
        "1.3*rbf(gamma=[0.8, 0.3])",
        "0.7*matern(nu=1.5, length_scale=0.9) + 0.2*linear",
        "0.5*rq(alpha=1.2, length_scale=0.8)*periodic(period=2.2, length_scale=1.1)[1]",
        "normalize(poly(degree=2, c=0.4, gamma=0.9))",
        "0.6*laplacian(gamma=[0.8, 0.3])",
        "exponential(gamma=[0.5, 1.2])*0.9",
        "matern(nu=0.5, length_scale=[0.9, 1.7])",
        "1.1*matern(nu=2.5, length_scale=[0.9, 1.7])",
        "0.5*rq(alpha=0.7, length_scale=[0.8, 2])",
        "periodic(period=[2.2, 3.1], length_scale=[1.1, 0.8])*0.4 + 0.3*rbf(gamma=0.4)[2]",
        "weigh(exp(-norm2), 0.8*rbf(gamma=[0.3, 0.6])) + 0.2*exp(0.3*linear)",
        "(0.5*rbf(gamma=[0.3, 0.6]) + 0.1)^2 + 0.3*poly(degree=3, c=0.5, gamma=0.4)"};
    mercer_ctx *ctx = open_ctx(2);
    setup s = prepare(ctx);
    for (size_t q = 0; q < sizeof text / sizeof text[0]; q++) {
        mercer_kernel *kernel = parse(ctx, text[q]);
        mc_evidence *e = NULL;
        double theta[16], gradient[16], value;
        assert_ok(ctx, mc_evidence_open(ctx, s.data, T, s.Y, s.root, &e));
        for (int64_t i = 0; i < kernel->slots; i++)
            theta[i] = mercer_kernel_parameter(kernel, i);
        theta[kernel->slots] = 0.05;
        assert_ok(ctx, mc_evidence_value(ctx, e, kernel, 0.05, &value, gradient));
        for (int64_t i = 0; i <= kernel->slots; i++) {
            const double at = theta[i], h = 1e-5 * at;
            theta[i] = at + h;
            const double up = value_at(ctx, e, kernel, theta);
            theta[i] = at - h;
            const double down = value_at(ctx, e, kernel, theta);
            theta[i] = at;
            assert_close(gradient[i], (up - down) / (2 * h), 2e-6);
        }
        mc_evidence_close(e);
        mercer_kernel_free(kernel);
    }
    mercer_data_free(s.data);
    close_clean(ctx);
}

/* A column that says nothing about the target: its length scale runs to the bound that its range gives, from any start.
   */
static void test_the_data_bound_the_length_scales(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    setup s = prepare(ctx);
    double y[N], range = 0;
    for (int i = 0; i < N; i++)
        y[i] = sin(2 * s.x[2 * i]);
    for (int c = 0; c < D; c++)
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++)
                range = fmax(range, s.x[2 * i + c] - s.x[2 * j + c]);
    static const char *const text[] = {"2*rbf(gamma=[0.5, 1e-5])", "2*rbf(gamma=[0.5, 1])",
                                       "2*matern(nu=2.5, length_scale=[1, 30])"};
    for (int q = 0; q < 3; q++) {
        mercer_kernel *kernel = parse(ctx, text[q]);
        mc_evidence *e = NULL;
        assert_ok(ctx, mc_evidence_open(ctx, s.data, 1, y, NULL, &e));
        const mc_gp_search set = {
            .learn_kernel = true, .learn_noise = true, .iterations_max = 200, .seed = 1, .scale = 0.5, .x = s.data};
        mc_gp_found found;
        assert_ok(ctx, mc_gp_maximise(ctx, e, kernel, 0.05, &set, &found));
        const double value = mercer_kernel_parameter(found.kernel, 2), scale = q < 2 ? 1 / sqrt(value) : value;
        assert_true(scale > 10 * range && scale < 1.0001e5 * range);
        mc_evidence_close(e);
        mercer_kernel_free(found.kernel);
        mercer_kernel_free(kernel);
    }
    mercer_data_free(s.data);
    close_clean(ctx);
}

static void test_the_search_climbs_to_a_flat_place(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    setup s = prepare(ctx);
    mercer_kernel *kernel = parse(ctx, "rbf(gamma=[0.1, 0.1])*2");
    mc_evidence *e = NULL;
    assert_ok(ctx, mc_evidence_open(ctx, s.data, T, s.Y, NULL, &e));
    double before, after, gradient[8];
    assert_ok(ctx, mc_evidence_value(ctx, e, kernel, 0.5, &before, NULL));
    const mc_gp_search set = {
        .learn_kernel = true, .learn_noise = true, .restarts = 2, .iterations_max = 200, .seed = 1, .scale = 1};
    mc_gp_found found;
    assert_ok(ctx, mc_gp_maximise(ctx, e, kernel, 0.5, &set, &found));
    assert_true(found.converged && found.value > before + 1);
    assert_ok(ctx, mc_evidence_value(ctx, e, found.kernel, found.noise, &after, gradient));
    assert_close(after, found.value, 1e-12);
    for (int64_t i = 0; i < found.kernel->slots; i++)
        assert_true(fabs(gradient[i] * mercer_kernel_parameter(found.kernel, i)) < 1e-2);
    mc_evidence_close(e);
    mercer_kernel_free(found.kernel);
    mercer_kernel_free(kernel);
    mercer_data_free(s.data);
    close_clean(ctx);
}

/* Samples of the rows first: the evidence that a search over all rows alone comes to, at fewer evaluations of it. */
static void test_samples_lead_to_the_same_optimum(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    mercer_data *data = NULL;
    assert_ok(ctx, mercer_data_generate(ctx, "friedman1", 1030, 0.5, test_seed(), &data));
    mercer_kernel *kernel = parse(ctx, "20*exponential(gamma=0.5)");
    mc_problem p;
    mc_evidence *e = NULL;
    mc_gp_found alone, led;
    double mean = 0;
    assert_ok(ctx, mc_problem_open(ctx, "none", mc_admit_proved, kernel, data, &p));
    mc_problem_means(&p, &mean);
    assert_ok(ctx, mc_problem_centre(ctx, &p, &mean));
    assert_ok(ctx, mc_evidence_open(ctx, p.x, 1, p.Y, NULL, &e));
    const mc_gp_search set = {
        .learn_kernel = true, .learn_noise = true, .iterations_max = 200, .seed = 1, .scale = 24, .x = p.x};
    assert_ok(ctx, mc_gp_maximise(ctx, e, p.kernel, 2.4, &set, &alone));
    assert_ok(ctx, mc_gp_learn(ctx, &p, e, 2.4, &set, &led));
    assert_true(isfinite(led.value) && led.value >= alone.value - 0.1);
    mercer_kernel_free(alone.kernel);
    mercer_kernel_free(led.kernel);
    mc_evidence_close(e);
    mc_problem_close(&p);
    mercer_kernel_free(kernel);
    mercer_data_free(data);
    close_clean(ctx);
}

/* Left-out densities against n refits of the same process without the row. */
static void test_left_out_error_equals_refits(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    setup s = prepare(ctx);
    mercer_kernel *kernel = parse(ctx, "rbf(gamma=0.5)");
    mc_evidence *e = NULL;
    double value, density, rmse, squares = 0;
    assert_ok(ctx, mc_evidence_open(ctx, s.data, T, s.Y, NULL, &e));
    assert_ok(ctx, mc_evidence_value(ctx, e, kernel, 0.1, &value, NULL));
    assert_ok(ctx, mc_evidence_leave_one_out(ctx, e, &density, &rmse));
    mc_evidence_close(e);
    double sum = 0;
    for (int64_t out = 0; out < N; out++) { /* log p(y_out | rest) = L(all) - L(rest) */
        int64_t rows[N];
        double Y[N * T], rest;
        for (int64_t i = 0, m = 0; i < N; i++)
            if (i != out) {
                rows[m] = i;
                memcpy(Y + m * T, s.Y + i * T, T * sizeof *Y);
                m++;
            }
        mercer_data *less = NULL;
        assert_ok(ctx, mercer_data_take(ctx, s.data, rows, N - 1, &less));
        assert_ok(ctx, mc_evidence_open(ctx, less, T, Y, NULL, &e));
        assert_ok(ctx, mc_evidence_value(ctx, e, kernel, 0.1, &rest, NULL));
        for (int k = 0; k < T; k++) {
            double f = 0;
            for (int64_t i = 0; i < N - 1; i++)
                f +=
                    mc_evidence_alpha(e)[i * T + k] * mc_eval_kernel(kernel->root, s.x + 2 * rows[i], s.x + 2 * out, D);
            squares += (s.Y[out * T + k] - f) * (s.Y[out * T + k] - f);
        }
        sum += value - rest;
        mc_evidence_close(e);
        mercer_data_free(less);
    }
    assert_close(density, sum / (N * T), 1e-10);
    assert_close(rmse, sqrt(squares / (N * T)), 1e-10);
    mercer_kernel_free(kernel);
    mercer_data_free(s.data);
    close_clean(ctx);
}

/* Where nothing is learned the rows are left out when that is asked for, and the rest of the report is the same. */
static void test_rows_are_left_out_when_that_is_asked_for(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    mercer_data *data = NULL;
    assert_ok(ctx, mercer_data_generate(ctx, "friedman1", 60, 0.1, 1, &data));
    mercer_kernel *kernel = parse(ctx, "20*rbf(gamma=0.5)");
    mercer_report report[2];
    for (int asked = 0; asked < 2; asked++) {
        mercer_gp set = mercer_gp_defaults();
        mercer_model *model = NULL;
        set.learn = false;
        set.noise = 0.1;
        set.loo = asked;
        assert_ok(ctx, mercer_fit(ctx, "gp", &set, kernel, data, &model));
        report[asked] = *mercer_model_report(model);
        mercer_model_free(model);
    }
    assert_true(isnan(report[0].loo_rmse) && isnan(report[0].loo_log_density));
    assert_true(report[1].loo_rmse > 0 && isfinite(report[1].loo_log_density));
    assert_true(report[0].log_evidence == report[1].log_evidence && report[0].norm == report[1].norm);
    mercer_kernel_free(kernel);
    mercer_data_free(data);
    close_clean(ctx);
}

/* Whatever steps learning takes, the parameters stay where the kernel is one. */
static void test_every_kernel_of_one_column_can_be_learned(void **state) {
    (void)state;
    static const char *const kernels[] = {"brownian", "spline",
                                          "sinc",     "matern(nu=0.7)",
                                          "wendland", "imq",
                                          "tanimoto", "additive_chi2",
                                          "rq",       "periodic + brownian(hurst=0.8)"};
    mercer_ctx *ctx = open_ctx(1);
    for (size_t k = 0; k < sizeof kernels / sizeof kernels[0]; k++) {
        double x[40], y[40];
        for (int i = 0; i < 40; i++) {
            x[i] = 0.1 * (i + 1);
            y[i] = sin(x[i]) + 0.05 * (i % 3);
        }
        const mercer_table table = {
            .size = sizeof table, .n = 40, .d = 1, .dtype = MERCER_F64, .values = x, .target = y, .outputs = 1};
        mercer_gp set = mercer_gp_defaults();
        set.scale = "none";
        mercer_data *data = NULL;
        mercer_kernel *kernel = NULL;
        mercer_model *model = NULL;
        assert_ok(ctx, mercer_data_make(ctx, &table, &data));
        assert_ok(ctx, mercer_kernel_parse(ctx, kernels[k], &kernel));
        assert_ok(ctx, mercer_fit(ctx, "gp", &set, kernel, data, &model));
        mercer_model_free(model);
        mercer_kernel_free(kernel);
        mercer_data_free(data);
    }
    close_clean(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_row_is_a_normal_density),
        cmocka_unit_test(test_gradient_equals_central_differences),
        cmocka_unit_test(test_the_data_bound_the_length_scales),
        cmocka_unit_test(test_the_search_climbs_to_a_flat_place),
        cmocka_unit_test(test_samples_lead_to_the_same_optimum),
        cmocka_unit_test(test_left_out_error_equals_refits),
        cmocka_unit_test(test_every_kernel_of_one_column_can_be_learned),
        cmocka_unit_test(test_rows_are_left_out_when_that_is_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
