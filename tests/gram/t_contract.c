#include "kernel/language/parameters.h"
#include "../kernel/random_kernel.h"
#include "data/table/data.h"
#include "gram/gradient/contract.h"
#include "support.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 150, D = 3, SLOTS = 64 };

/* M_ij = cos(i + j) + 1/(1 + |i - j|), symmetric and ugly. */
static double weight(int64_t i, int64_t j) {
    return cos((double)(i + j)) + 1 / (1 + fabs((double)(i - j)));
}

static void block(const void *self, int64_t i0, int64_t i1, int64_t j0, int64_t j1, double *out, int64_t ld) {
    (void)self;
    for (int64_t i = i0; i < i1; i++)
        for (int64_t j = j0; j < j1; j++)
            out[(i - i0) * ld + j - j0] = weight(i, j);
}

static mercer_data *points(mercer_ctx *ctx, uint64_t item) {
    double x[N * D];
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, item);
    for (int i = 0; i < N * D; i++)
        x[i] = 2 * mc_rng_uniform(&rng);
    memcpy(x + 3 * D, x + 7 * D, D * sizeof *x); /* a duplicate row */
    mercer_data *data = NULL;
    assert_ok(ctx,
              mercer_data_make(
                  ctx, &(mercer_table){.size = sizeof(mercer_table), .n = N, .d = D, .dtype = MERCER_F64, .values = x},
                  &data));
    return data;
}

static void by_reference(const mercer_kernel *kernel, const mercer_data *data, double *sums, double *size) {
    double x[N][D], g[SLOTS];
    for (int64_t i = 0; i < N; i++)
        mercer_data_row(data, i, x[i]);
    for (int64_t k = 0; k < kernel->slots; k++)
        sums[k] = size[k] = 0;
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < N; j++) {
            mc_eval_gradient(kernel->root, x[i], x[j], D, g);
            for (int64_t k = 0; k < kernel->slots; k++) {
                sums[k] += weight(i, j) * g[k];
                size[k] += fabs(weight(i, j) * g[k]);
            }
        }
}

static void check_kernel(mercer_ctx *ctx, const char *text, const mercer_kernel *kernel, const mercer_data *data) {
    double fast[SLOTS], slow[SLOTS], size[SLOTS];
    if (kernel->slots <= SLOTS) {
        assert_ok(ctx, mc_gram_contract(ctx, kernel, data, block, NULL, fast));
        by_reference(kernel, data, slow, size);
        for (int64_t k = 0; k < kernel->slots; k++)
            if (isfinite(size[k]) && !(fabs(fast[k] - slow[k]) <= 1e-11 * size[k] + 1e-300))
                fail_msg("%s: slot %lld: %.17g, the reference evaluator says %.17g", text, (long long)k, fast[k],
                         slow[k]);
    }
}

static void check(mercer_ctx *ctx, const char *text, const mercer_data *data) {
    mercer_kernel *kernel = NULL;
    assert_ok(ctx, mercer_kernel_parse(ctx, text, &kernel));
    check_kernel(ctx, text, kernel, data);
    mercer_kernel_free(kernel);
}

/* Exponents have slopes where their numbers come from ranges. */
static void test_exponents_that_were_chosen_equal_the_reference(void **state) {
    (void)state;
    static const struct {
        const char *text;
        double at;
        int slots;
    } chosen[] = {{"2*matern(nu=0.2..9, length_scale=1.3)", 1.2, 3},
                  {"matern(nu=0.2..9, length_scale=[1, 2, 3])*rbf(gamma=0.3)", 2.5, 5},
                  {"0.5*brownian(hurst=0.1..0.9)*matern(nu=1.5, length_scale=2)", 0.4, 3}};
    mercer_ctx *ctx = open_ctx(2);
    mercer_data *data = points(ctx, 4);
    for (size_t i = 0; i < sizeof chosen / sizeof *chosen; i++) {
        mercer_kernel *open = NULL, *kernel = NULL;
        assert_ok(ctx, mercer_kernel_parse(ctx, chosen[i].text, &open));
        assert_ok(ctx, mc_kernel_choose(ctx, open, &chosen[i].at, &kernel));
        assert_int_equal(kernel->slots, chosen[i].slots);
        check_kernel(ctx, chosen[i].text, kernel, data);
        mercer_kernel_free(open);
        mercer_kernel_free(kernel);
    }
    mercer_data_free(data);
    close_clean(ctx);
}

static void test_every_covered_atom_equals_the_reference(void **state) {
    (void)state;
    static const char *const text[] = {"2*rbf(gamma=0.7)",
                                       "rbf(gamma=[0.1, 2, 0.7])",
                                       "laplacian(gamma=0.3)",
                                       "laplacian(gamma=[1, 2, 3])",
                                       "exponential(gamma=0.6)",
                                       "exponential(gamma=[0.5, 1, 2])",
                                       "matern(nu=0.5, length_scale=0.8)",
                                       "matern(nu=0.8, length_scale=[1, 2, 3])",
                                       "wendland(k=0, length_scale=3)",
                                       "wendland(k=1, length_scale=[5, 3, 4])",
                                       "wendland(k=2, length_scale=5)",
                                       "sinc(length_scale=[2, 3, 4]) + brownian(hurst=0.6)",
                                       "log(p=1.2, length_scale=2) + 2*multiquadric(c=0.7)",
                                       "log(length_scale=3, centred=1)*multiquadric(c=2, centred=1)[1:2]",
                                       "matern(nu=1.5, length_scale=[1, 2, 3])",
                                       "3*matern(nu=2.5, length_scale=0.9)",
                                       "rq(alpha=0.7, length_scale=1.1)",
                                       "rq(alpha=2, length_scale=[0.4, 1, 2])",
                                       "periodic(period=1.3, length_scale=0.6)",
                                       "periodic(period=[1, 2, 3], length_scale=[0.5, 1, 2])",
                                       "poly(degree=3, c=0.5, gamma=0.25)",
                                       "0.5*linear + 2*rbf(gamma=1)*matern(nu=1.5, length_scale=2)[1:2] + 0.1",
                                       "exp(0.3*linear)*rq(alpha=1, length_scale=1)",
                                       "weigh(1 + x[1]^2, 0.7*rbf(gamma=0.4))",
                                       "(0.5 + rbf(gamma=1)[2])^3",
                                       "logarithmic(0.6*rbf(gamma=0.3)) + bessel_i0(2*matern(length_scale=2))",
                                       "arcsin(0.7*rq(length_scale=2)*rbf(gamma=0.1))",
                                       "normalize(2*rbf(gamma=1) + 0.5*linear)",
                                       "0.3*arccos(order=1) + 2*rbf(gamma=0.2)"};
    mercer_ctx *ctx = open_ctx(2);
    mercer_data *data = points(ctx, 1);
    for (size_t i = 0; i < sizeof text / sizeof text[0]; i++)
        check(ctx, text[i], data);
    mercer_data_free(data);
    close_clean(ctx);
}

static void test_random_expressions_equal_the_reference(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    mercer_data *data = points(ctx, 2);
    for (uint64_t trial = 0; trial < 12; trial++) {
        char text[RANDOM_KERNEL_SIZE];
        mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 1000 + trial);
        random_kernel(&rng, D, text);
        check(ctx, text, data);
    }
    mercer_data_free(data);
    close_clean(ctx);
}

static void test_same_bits_on_any_number_of_threads(void **state) {
    (void)state;
    double one[SLOTS] = {0}, many[SLOTS] = {0};
    for (int threads = 1; threads <= 4; threads++) {
        mercer_ctx *ctx = open_ctx(threads);
        mercer_data *data = points(ctx, 3);
        mercer_kernel *kernel = NULL;
        assert_ok(ctx,
                  mercer_kernel_parse(ctx, "0.5*rbf(gamma=[0.1, 2, 0.7]) + 2*matern(nu=2.5, length_scale=1)", &kernel));
        assert_ok(ctx, mc_gram_contract(ctx, kernel, data, block, NULL, threads == 1 ? one : many));
        if (threads > 1)
            assert_memory_equal(one, many, (size_t)kernel->slots * sizeof *one);
        mercer_kernel_free(kernel);
        mercer_data_free(data);
        close_clean(ctx);
    }
}

static mercer_status contract_again(mercer_ctx *ctx, void *arg) {
    mercer_kernel *kernel = arg;
    double x[] = {0, 0, 0, 1, 2, 3}, gradient[SLOTS];
    mercer_data *data = NULL;
    mercer_status status = mercer_data_make(
        ctx, &(mercer_table){.size = sizeof(mercer_table), .n = 2, .d = D, .dtype = MERCER_F64, .values = x}, &data);
    if (!status)
        status = mc_gram_contract(ctx, kernel, data, block, NULL, gradient);
    mercer_data_free(data);
    return status;
}

static void test_survives_failing_memory(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    static const char *const text[] = {"weigh(norm, 2*rbf(gamma=1)[1:2] + linear*3)",
                                       "normalize(rbf(gamma=1) + linear)"};
    for (int i = 0; i < 2; i++) {
        mercer_kernel *kernel = NULL;
        assert_ok(ctx, mercer_kernel_parse(ctx, text[i], &kernel));
        assert_survives_failing_memory(contract_again, kernel);
        mercer_kernel_free(kernel);
    }
    close_clean(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_covered_atom_equals_the_reference),
        cmocka_unit_test(test_exponents_that_were_chosen_equal_the_reference),
        cmocka_unit_test(test_random_expressions_equal_the_reference),
        cmocka_unit_test(test_same_bits_on_any_number_of_threads),
        cmocka_unit_test(test_survives_failing_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
