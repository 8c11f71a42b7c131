#include "base/rng.h"
#include "data/table/data.h"
#include "kernel/language/kernel.h"
#include "model/model.h"
#include "support.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { N = 60, M = 9 };

static mercer_data *noisy_sine(mercer_ctx *ctx, int64_t n, uint64_t item, bool weights) {
    double x[N], y[N], w[N];
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, item);
    for (int64_t i = 0; i < n; i++) {
        x[i] = 6 * mc_rng_uniform(&rng);
        y[i] = 10 + sin(2 * x[i]) + 0.1 * mc_rng_normal(&rng);
        w[i] = 0.5 + mc_rng_uniform(&rng);
    }
    const mercer_table table = {.size = sizeof table,
                                .n = n,
                                .d = 1,
                                .dtype = MERCER_F64,
                                .values = x,
                                .target = y,
                                .outputs = 1,
                                .weights = weights ? w : NULL};
    mercer_data *data = NULL;
    assert_ok(ctx, mercer_data_make(ctx, &table, &data));
    return data;
}

static mercer_model *fit(mercer_ctx *ctx, const char *text, const mercer_data *data, const mercer_gp *set) {
    return fit_model(ctx, "gp", set, text, data);
}

/* Gauss-Jordan in long double, so that nothing is shared with the library. */
static void invert(long double *A, int n) {
    long double *B = calloc((size_t)(n * n), sizeof *B);
    for (int i = 0; i < n; i++)
        B[i * n + i] = 1;
    for (int c = 0; c < n; c++) {
        const long double pivot = A[c * n + c];
        for (int j = 0; j < n; j++) {
            A[c * n + j] /= pivot;
            B[c * n + j] /= pivot;
        }
        for (int i = 0; i < n; i++) {
            const long double f = A[i * n + c];
            for (int j = 0; j < n && i != c; j++) {
                A[i * n + j] -= f * A[c * n + j];
                B[i * n + j] -= f * B[c * n + j];
            }
        }
    }
    memcpy(A, B, (size_t)(n * n) * sizeof *A);
    free(B);
}

static void test_mean_and_std_are_the_textbook_formulas(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    mercer_data *data = noisy_sine(ctx, N, 1, true), *fresh = noisy_sine(ctx, M, 2, false);
    mercer_gp set = mercer_gp_defaults();
    set.learn = false;
    set.noise = 0.04;
    set.scale = "none";
    mercer_model *model = fit(ctx, "2*rbf(gamma=0.7)", data, &set);
    mercer_posterior *posterior = NULL;
    double mean[M], std[M];
    assert_ok(ctx, mercer_predict(ctx, model, fresh, mean));
    assert_ok(ctx, mercer_posterior_open(ctx, model, &posterior));
    assert_ok(ctx, mercer_posterior_std(ctx, posterior, fresh, std));
    static long double A[N * N];
    double x, z, weight = 0, m = 0;
    for (int i = 0; i < N; i++) {
        weight += data->weight[i];
        m += data->weight[i] * data->target[i];
        for (int j = 0; j < N; j++) {
            mercer_data_row(data, i, &x);
            mercer_data_row(data, j, &z);
            A[i * N + j] = 2 * expl(-0.7L * (x - z) * (x - z)) + (i == j ? 0.04L / data->weight[i] : 0);
        }
    }
    m /= weight;
    invert(A, N);
    for (int t = 0; t < M; t++) {
        long double k[N], mu = m, var = 2;
        double at;
        mercer_data_row(fresh, t, &at);
        for (int i = 0; i < N; i++) {
            mercer_data_row(data, i, &x);
            k[i] = 2 * expl(-0.7L * (x - at) * (x - at));
        }
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++) {
                mu += k[i] * A[i * N + j] * (data->target[j] - m);
                var -= k[i] * A[i * N + j] * k[j];
            }
        assert_close(mean[t], (double)mu, 1e-9);
        assert_close(std[t] * std[t], (double)var, 1e-9);
    }
    mercer_posterior_free(posterior);
    mercer_model_free(model);
    mercer_data_free(data);
    mercer_data_free(fresh);
    close_clean(ctx);
}

static void test_learning_finds_the_noise_and_survives_a_file(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    mercer_data *data = noisy_sine(ctx, N, 3, false);
    mercer_model *model = fit(ctx, "rbf", data, NULL), *again = NULL;
    const mercer_report *r = mercer_model_report(model);
    assert_true(sqrt(r->lambda) > 0.05 && sqrt(r->lambda) < 0.2); /* it was 0.1 */
    assert_true(isfinite(r->log_evidence) && isfinite(r->loo_log_density) && r->loo_rmse < 0.2);
    assert_string_equal(r->stopped, "no");
    assert_true(r->certificate.residual_relative < 1e-9);
    char path[] = "/tmp/mercer-gp-XXXXXX";
    assert_true(close(mkstemp(path)) == 0);
    assert_ok(ctx, mercer_model_save(ctx, model, path));
    assert_ok(ctx, mercer_model_load(ctx, path, &again));
    unlink(path);
    mercer_posterior *a = NULL, *b = NULL;
    double one[N], two[N];
    assert_ok(ctx, mercer_posterior_open(ctx, model, &a));
    assert_ok(ctx, mercer_posterior_open(ctx, again, &b));
    assert_ok(ctx, mercer_posterior_std(ctx, a, data, one));
    assert_ok(ctx, mercer_posterior_std(ctx, b, data, two));
    assert_memory_equal(one, two, sizeof one);
    assert_true(mercer_model_report(again)->log_evidence == r->log_evidence);
    mercer_posterior_free(a);
    mercer_posterior_free(b);
    mercer_model_free(model);
    mercer_model_free(again);
    mercer_data_free(data);
    close_clean(ctx);
}

/* A factor 1 is a factor: what is learned is what is learned from a little more than 1, in the same valley, and the
   model keeps it. */
static void test_a_factor_of_one_is_learned(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    mercer_data *data = noisy_sine(ctx, 40, 9, false);
    mercer_model *one = fit(ctx, "1.0*rbf(gamma=1) + 0.1*white", data, NULL),
                 *two = fit(ctx, "1.01*rbf(gamma=1) + 0.1*white", data, NULL);
    mercer_gp set = mercer_gp_defaults();
    set.learn = false;
    mercer_model *fixed = fit(ctx, "1.0*rbf(gamma=1) + 0.1*white", data, &set);
    assert_close(mercer_model_report(one)->log_evidence, mercer_model_report(two)->log_evidence, 1e-4);
    assert_true(mercer_model_report(one)->log_evidence > mercer_model_report(fixed)->log_evidence);
    assert_int_equal(mercer_kernel_parameters(mercer_model_kernel(one)), 3);
    assert_string_equal(mercer_kernel_text(mercer_model_kernel(fixed)), "1*rbf(gamma=1) + 0.1*white");
    mercer_model_free(one);
    mercer_model_free(two);
    mercer_model_free(fixed);
    mercer_data_free(data);
    close_clean(ctx);
}

/* The mean and variance of many draws, to five standard errors. */
static void test_samples_have_the_posterior_moments(void **state) {
    (void)state;
    enum { COUNT = 4000 };
    mercer_ctx *ctx = open_ctx(2);
    mercer_data *data = noisy_sine(ctx, 30, 4, false), *fresh = noisy_sine(ctx, M, 5, false);
    mercer_gp set = mercer_gp_defaults();
    set.learn = false;
    set.noise = 0.2;
    mercer_model *model = fit(ctx, "rbf(gamma=1)", data, &set);
    mercer_posterior *posterior = NULL;
    static double draws[M * COUNT], again[M * COUNT];
    double mean[M], std[M];
    assert_ok(ctx, mercer_predict(ctx, model, fresh, mean));
    assert_ok(ctx, mercer_posterior_open(ctx, model, &posterior));
    assert_ok(ctx, mercer_posterior_std(ctx, posterior, fresh, std));
    assert_ok(ctx, mercer_posterior_sample(ctx, posterior, fresh, 0, COUNT, test_seed(), draws));
    assert_ok(ctx, mercer_posterior_sample(ctx, posterior, fresh, 0, COUNT, test_seed(), again));
    assert_memory_equal(draws, again, sizeof draws);
    for (int i = 0; i < M; i++) {
        double sum = 0, squares = 0;
        for (int s = 0; s < COUNT; s++) {
            sum += draws[i * COUNT + s] - mean[i];
            squares += (draws[i * COUNT + s] - mean[i]) * (draws[i * COUNT + s] - mean[i]);
        }
        assert_true(fabs(sum / COUNT) < 5 * std[i] / sqrt(COUNT));
        assert_true(fabs(squares / COUNT / (std[i] * std[i]) - 1) < 5 * sqrt(2.0 / COUNT));
    }
    mercer_posterior_free(posterior);
    mercer_model_free(model);
    mercer_data_free(data);
    mercer_data_free(fresh);
    close_clean(ctx);
}

static void test_duplicates_far_rows_and_bad_input(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    const double x[] = {1, 1, 2, 2}, y[] = {3, 3.1, 5, 5.2}, far[] = {1e6, 1};
    const char *const labels[] = {"a", "b", "a", "b"};
    mercer_data *data = NULL, *fresh = NULL, *classes = NULL;
    assert_ok(ctx, mercer_data_make(ctx,
                                    &(mercer_table){.size = sizeof(mercer_table),
                                                    .n = 4,
                                                    .d = 1,
                                                    .dtype = MERCER_F64,
                                                    .values = x,
                                                    .target = y,
                                                    .outputs = 1},
                                    &data));
    assert_ok(
        ctx, mercer_data_make(
                 ctx, &(mercer_table){.size = sizeof(mercer_table), .n = 2, .d = 1, .dtype = MERCER_F64, .values = far},
                 &fresh));
    assert_ok(ctx,
              mercer_data_make(
                  ctx,
                  &(mercer_table){
                      .size = sizeof(mercer_table), .n = 4, .d = 1, .dtype = MERCER_F64, .values = x, .labels = labels},
                  &classes));
    mercer_gp set = mercer_gp_defaults();
    set.learn = false;
    set.noise = 0.01;
    mercer_model *model = fit(ctx, "3*rbf(gamma=1)", data, &set), *none = NULL;
    mercer_posterior *posterior = NULL;
    double std[2], mean[2];
    assert_ok(ctx, mercer_posterior_open(ctx, model, &posterior));
    assert_ok(ctx, mercer_posterior_std(ctx, posterior, fresh, std));
    assert_ok(ctx, mercer_predict(ctx, model, fresh, mean));
    assert_close(std[0], sqrt(3), 1e-12); /* far away: the prior */
    assert_close(mean[0], 16.3 / 4, 1e-12);
    assert_true(std[1] < 0.1);
    mercer_kernel *kernel = NULL;
    assert_ok(ctx, mercer_kernel_parse(ctx, "rbf", &kernel));
    assert_fails(ctx, mercer_fit(ctx, "gp", NULL, kernel, classes, &none), MERCER_DATA, "regresses on numbers");
    set.noise = 0;
    assert_fails(ctx, mercer_fit(ctx, "gp", &set, kernel, data, &none), MERCER_NUMERIC, "rows 1 and 2 are equal");
    set.noise = -1.5;
    assert_fails(ctx, mercer_fit(ctx, "gp", &set, kernel, data, &none), MERCER_INVALID, "noise must be in [-1");
    mercer_posterior *refused = NULL;
    mercer_model *ridge = NULL;
    assert_ok(ctx, mercer_fit(ctx, "ridge", NULL, kernel, data, &ridge));
    assert_fails(ctx, mercer_posterior_open(ctx, ridge, &refused), MERCER_INVALID, "ridge model has no uncertainty");
    mercer_model_free(ridge);
    mercer_kernel_free(kernel);
    mercer_posterior_free(posterior);
    mercer_model_free(model);
    mercer_data_free(data);
    mercer_data_free(fresh);
    mercer_data_free(classes);
    close_clean(ctx);
}

static mercer_status fit_and_ask(mercer_ctx *ctx, void *arg) {
    (void)arg;
    const double x[] = {1, 2, 3}, y[] = {3, 4, 6};
    double std[3], draws[3];
    mercer_gp set = mercer_gp_defaults();
    set.restarts = 0;
    set.iterations = 2;
    set.ard = true;
    mercer_data *data = NULL;
    mercer_kernel *kernel = NULL;
    mercer_model *model = NULL;
    mercer_posterior *posterior = NULL;
    mercer_status status = mercer_data_make(
        ctx,
        &(mercer_table){
            .size = sizeof(mercer_table), .n = 3, .d = 1, .dtype = MERCER_F64, .values = x, .target = y, .outputs = 1},
        &data);
    if (!status)
        status = mercer_kernel_parse(ctx, "rbf", &kernel);
    if (!status)
        status = mercer_fit(ctx, "gp", &set, kernel, data, &model);
    if (!status)
        status = mercer_posterior_open(ctx, model, &posterior);
    if (!status)
        status = mercer_posterior_std(ctx, posterior, data, std);
    if (!status)
        status = mercer_posterior_sample(ctx, posterior, data, 0, 1, 1, draws);
    mercer_posterior_free(posterior);
    mercer_model_free(model);
    mercer_kernel_free(kernel);
    mercer_data_free(data);
    return status;
}

static void test_survives_failing_memory(void **state) {
    (void)state;
    assert_survives_failing_memory(fit_and_ask, NULL);
}

/* k(x, x) below the smallest normal number: no shift of the covariance is above 0, and what is drawn is the mean. */
static void test_samples_of_a_kernel_that_is_nearly_nothing_are_the_mean(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    mercer_data *data = noisy_sine(ctx, 20, 9, false);
    mercer_gp set = mercer_gp_defaults();
    set.learn = false;
    set.noise = 0.1;
    static const char *const kernels[] = {"1e-310*rbf(gamma=1)", "1e-320*rbf(gamma=1)", "0*rbf(gamma=1)"};
    for (int k = 0; k < 3; k++) {
        mercer_model *model = fit(ctx, kernels[k], data, &set);
        mercer_posterior *posterior = NULL;
        double mean[20], drawn[20 * 3];
        assert_ok(ctx, mercer_predict(ctx, model, data, mean));
        assert_ok(ctx, mercer_posterior_open(ctx, model, &posterior));
        assert_ok(ctx, mercer_posterior_sample(ctx, posterior, data, 0, 3, 1, drawn));
        for (int i = 0; i < 20 * 3; i++)
            assert_true(drawn[i] == mean[i / 3]);
        mercer_posterior_free(posterior);
        mercer_model_free(model);
    }
    mercer_data_free(data);
    close_clean(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mean_and_std_are_the_textbook_formulas),
        cmocka_unit_test(test_learning_finds_the_noise_and_survives_a_file),
        cmocka_unit_test(test_a_factor_of_one_is_learned),
        cmocka_unit_test(test_samples_have_the_posterior_moments),
        cmocka_unit_test(test_duplicates_far_rows_and_bad_input),
        cmocka_unit_test(test_samples_of_a_kernel_that_is_nearly_nothing_are_the_mean),
        cmocka_unit_test(test_survives_failing_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
