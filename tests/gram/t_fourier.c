#include "base/rng.h"
#include "base/status.h"
#include "gram/features/fourier.h"
#include "gram/features/spectral_density.h"
#include "support.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { D = 4, N = 12, COUNT = 6000 };

static mercer_data *points(mercer_ctx *ctx, bool sparse) {
    double x[N * D];
    int64_t start[N + 1] = {0};
    int32_t column[N * D];
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 5);
    for (int i = 0; i < N * D; i++) {
        x[i] = 0.5 * mc_rng_normal(&rng);
        column[i] = i % D;
        start[i / D + 1] = i + 1;
    }
    mercer_table table = {.size = sizeof table, .n = N, .d = D, .dtype = MERCER_F64, .values = x};
    if (sparse) {
        table.row_start = start;
        table.column = column;
    }
    mercer_data *data = NULL;
    assert_ok(ctx, mercer_data_make(ctx, &table, &data));
    return data;
}

/* The worst |estimate - k(x, z)| over pairs, and the mean square; the reference evaluator is the oracle. */
static double worst_error(mercer_ctx *ctx, const char *text, uint64_t seed, int64_t count, double *mean_square) {
    mercer_data *data = points(ctx, false);
    mercer_kernel *kernel = NULL;
    mc_fourier *f = NULL;
    assert_ok(ctx, mercer_kernel_parse(ctx, text, &kernel));
    assert_ok(ctx, mc_fourier_open(ctx, kernel, D, seed, count, &f));
    double *psi = calloc((size_t)(N * 2 * count), sizeof *psi), worst = 0, x[D], z[D], exact;
    assert_ok(ctx, mc_fourier_rows(ctx, f, data, 0, N, psi));
    *mean_square = 0;
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < N; j++) {
            double sum = 0;
            for (int64_t k = 0; k < 2 * count; k++)
                sum += psi[i * 2 * count + k] * psi[j * 2 * count + k];
            mercer_data_row(data, i, x);
            mercer_data_row(data, j, z);
            assert_ok(ctx, mercer_kernel_value(ctx, kernel, x, z, D, &exact));
            const double error = sum * f->mass / (double)count - exact;
            worst = fmax(worst, fabs(error));
            *mean_square += error * error / (N * N);
        }
    free(psi);
    mc_fourier_close(f);
    mercer_kernel_free(kernel);
    mercer_data_free(data);
    return worst;
}

/* COUNT draws of something in [-mass, mass]: six standard deviations of the mean are mass * 6 / sqrt(2 COUNT) at most.
   */
static void test_every_stationary_expression_is_estimated_without_bias(void **state) {
    (void)state;
    static const struct {
        const char *text;
        double mass;
    } cases[] = {
        {"rbf(gamma=0.5)", 1},
        {"rbf(gamma=[0.1, 2, 0.7, 1])", 1},
        {"laplacian(gamma=0.6)", 1},
        {"exponential(gamma=0.8)", 1},
        {"matern(nu=0.5, length_scale=1.3)", 1},
        {"matern(nu=1.5, length_scale=0.9)", 1},
        {"matern(nu=2.5, length_scale=[1, 2, 0.5, 1])", 1},
        {"rq(alpha=0.4, length_scale=1.2)", 1},
        {"rq(alpha=3, length_scale=0.7)", 1},
        {"periodic(period=2.5, length_scale=0.8)", 1},
        {"0.5*rbf(gamma=0.3) + 2*matern(length_scale=1) + 0.25", 2.75},
        {"rbf(gamma=0.3)*laplacian(gamma=0.2)", 1},
        {"rbf(gamma=1)[1:2] + periodic(period=3)[4]*rbf(gamma=0.1)[3]", 2},
        {"(0.5*rbf(gamma=0.2) + 0.5*rq(length_scale=1))^3", 1},
        {"exp(1.2*rbf(gamma=0.4))", 3.3201169227365472},
        {"normalize(exp(rbf(gamma=0.4) + laplacian(gamma=1)))", 1},
    };
    mercer_ctx *ctx = open_ctx(2);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        double mean_square;
        const double worst = worst_error(ctx, cases[i].text, test_seed(), COUNT, &mean_square);
        if (!(worst <= cases[i].mass * 6 / sqrt(2.0 * COUNT)))
            fail_msg("%s: off by %g", cases[i].text, worst);
    }
    close_clean(ctx);
}

/* However many arrivals a law has in the mean, a number of it is drawn at once: the spread of the frequencies is what
   it must be. */
static void test_laws_of_large_numbers_are_drawn_at_once(void **state) {
    (void)state;
    static const struct {
        const char *kernel;
        double square; /* the mean of omega^2 */
    } rows[] = {{"periodic(period=1, length_scale=1e-3)", 4 * 9.8696044010893586 * 1e6},
                {"periodic(period=1, length_scale=7.0710e-4)", 4 * 9.8696044010893586 / (7.0710e-4 * 7.0710e-4)},
                {"periodic(period=1, length_scale=1e-9)", 4 * 9.8696044010893586 * 1e18},
                {"rq(alpha=1e300, length_scale=2)", 0.25}};
    mercer_ctx *ctx = open_ctx(1);
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        mercer_kernel *kernel = NULL;
        double omega[2000], sum = 0;
        assert_ok(ctx, mercer_kernel_parse(ctx, rows[k].kernel, &kernel));
        assert_ok(ctx, mc_spectrum_draw(ctx, kernel, 1, test_seed(), k < 2 ? 20 : 2000, omega));
        for (int i = 0; i < (k < 2 ? 20 : 2000); i++)
            sum += omega[i] * omega[i] / (k < 2 ? 20 : 2000);
        const double ratio = sum / rows[k].square;
        assert_true(ratio > (k < 2 ? 0.1 : 0.85) && ratio < (k < 2 ? 4 : 1.15));
        mercer_kernel_free(kernel);
    }
    close_clean(ctx);
}

static void test_what_is_not_stationary_is_named(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    static const char *const texts[] = {"rbf(gamma=1) + linear", "poly",
                                        "white + rbf(gamma=1)",  "rbf(gamma=1)*cosine",
                                        "form([[1,0],[0,1]])",   "weigh(norm, rbf(gamma=1))",
                                        "rbf(gamma=1)^1e19",     "rbf(gamma=1)^1.5",
                                        "exp(1e6*rbf(gamma=1))", "periodic(length_scale=1e-6)"};
    static const char *const named[] = {"'linear'", "poly",        "'white'", "'cosine'",    "form",
                                        "weigh",    "1e+19 draws", "^1.5",    "1e+06 draws", "5e+11 draws"};
    for (int i = 0; i < 10; i++) {
        mercer_kernel *kernel = NULL;
        mc_fourier *f = NULL;
        assert_ok(ctx, mercer_kernel_parse(ctx, texts[i], &kernel));
        assert_fails(ctx, mc_fourier_open(ctx, kernel, 2, 1, 10, &f), MERCER_INVALID, named[i]);
        assert_null(f);
        mercer_kernel_free(kernel);
    }
    close_clean(ctx);
}

/* Orthogonal frequencies beat independent ones at the same count: here those of one block of four against the law of
   independence. */
static void test_frequencies_of_a_block_are_orthogonal(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    mercer_kernel *kernel = NULL;
    double omega[3 * D * D];
    assert_ok(ctx, mercer_kernel_parse(ctx, "2*rbf(gamma=0.5)", &kernel));
    assert_ok(ctx, mc_spectrum_draw(ctx, kernel, D, 9, 3 * D, omega));
    for (int i = 0; i < 3 * D; i++)
        for (int j = 0; j < i; j++) {
            double dot = 0;
            for (int c = 0; c < D; c++)
                dot += omega[i * D + c] * omega[j * D + c];
            if (i / D == j / D)
                assert_close(dot, 0, 1e-13);
            else
                assert_true(fabs(dot) > 1e-9);
        }
    mercer_kernel_free(kernel);
    double with = 0, square;
    for (uint64_t seed = 0; seed < 60; seed++) {
        worst_error(ctx, "rbf(gamma=0.5)", seed, 2 * D, &square);
        with += square / 60;
    }
    double without = 0; /* independent: E (cos - k)^2 / count = ((1 + k^4) / 2 - k^2) / count for a Gaussian */
    mercer_data *data = points(ctx, false);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            double x[D], z[D], r2 = 0;
            mercer_data_row(data, i, x);
            mercer_data_row(data, j, z);
            for (int c = 0; c < D; c++)
                r2 += (x[c] - z[c]) * (x[c] - z[c]);
            const double k = exp(-0.5 * r2);
            without += ((1 + pow(k, 4)) / 2 - k * k) / (2 * D) / (N * N);
        }
    assert_true(with < 0.8 * without);
    mercer_data_free(data);
    close_clean(ctx);
}

static void test_sparse_rows_and_kept_frequencies_give_the_same_features(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    mercer_data *dense = points(ctx, false), *sparse = points(ctx, true), *kept = NULL;
    mercer_kernel *kernel = NULL;
    mc_fourier *f = NULL, *g = NULL;
    assert_ok(ctx, mercer_kernel_parse(ctx, "matern(length_scale=1)", &kernel));
    assert_ok(ctx, mc_fourier_open(ctx, kernel, D, 3, 10, &f));
    double rows[20 * D], a[N * 20], b[N * 20], c[5 * 20];
    for (int i = 0; i < 20 * D; i++)
        rows[i] = f->omega[i % D * 10 + i / D % 10];
    const mercer_table table = {.size = sizeof table, .n = 20, .d = D, .dtype = MERCER_F64, .values = rows};
    assert_ok(ctx, mercer_data_make(ctx, &table, &kept));
    assert_ok(ctx, mc_fourier_from_rows(ctx, kept, &g));
    assert_ok(ctx, mc_fourier_rows(ctx, f, dense, 0, N, a));
    assert_ok(ctx, mc_fourier_rows(ctx, g, sparse, 0, N, b));
    assert_ok(ctx, mc_fourier_rows(ctx, g, sparse, 3, 8, c));
    assert_memory_equal(a, b, sizeof a);
    assert_memory_equal(a + 3 * 20, c, sizeof c);
    mc_fourier_close(f);
    mc_fourier_close(g);
    mercer_kernel_free(kernel);
    mercer_data_free(dense);
    mercer_data_free(sparse);
    mercer_data_free(kept);
    close_clean(ctx);
}

static mercer_status open_again(mercer_ctx *ctx, void *arg) {
    mc_fourier *f = NULL;
    const mercer_status status = mc_fourier_open(ctx, arg, D, 1, 20, &f);
    mc_fourier_close(f);
    return status;
}

static void test_survives_failing_memory(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    mercer_kernel *kernel = NULL;
    assert_ok(ctx, mercer_kernel_parse(ctx, "rbf(gamma=1) + matern(length_scale=2)", &kernel));
    assert_survives_failing_memory(open_again, kernel);
    mercer_kernel_free(kernel);
    close_clean(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_stationary_expression_is_estimated_without_bias),
        cmocka_unit_test(test_laws_of_large_numbers_are_drawn_at_once),
        cmocka_unit_test(test_what_is_not_stationary_is_named),
        cmocka_unit_test(test_frequencies_of_a_block_are_orthogonal),
        cmocka_unit_test(test_sparse_rows_and_kept_frequencies_give_the_same_features),
        cmocka_unit_test(test_survives_failing_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
