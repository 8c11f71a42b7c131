/* The estimated evidence against the exact one. */
#include "base/memory.h"
#include "base/rng.h"
#include "data/table/data.h"
#include "kernel/language/kernel.h"
#include "learn/gp/evidence.h"
#include "learn/gp/evidence_estimate.h"
#include "support.h"
#include <math.h>
#include <string.h>

enum { SEEDS = 40, FEW_SEEDS = 4, SLOTS = 16, CASES = 4 };

typedef struct setup {
    mercer_data *data;
    mercer_kernel *kernel;
    mc_problem p;
} setup;

static setup prepare(mercer_ctx *ctx, const char *kernel, int64_t n, bool weighted) {
    setup s = {0};
    assert_ok(ctx, mercer_data_generate(ctx, "friedman1", n, 0.1, test_seed(), &s.data));
    assert_ok(ctx, mercer_kernel_parse(ctx, kernel, &s.kernel));
    assert_ok(ctx, mc_problem_open(ctx, "standard", mc_admit_proved, s.kernel, s.data, &s.p));
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 5);
    if (weighted) {
        assert_ok(ctx, MC_ALLOC(ctx, s.p.root, n));
        for (int64_t i = 0; i < n; i++)
            s.p.root[i] = sqrt(0.5 + mc_rng_uniform(&rng));
    }
    return s;
}

static void put_away(setup *s) {
    mc_problem_close(&s->p);
    mercer_kernel_free(s->kernel);
    mercer_data_free(s->data);
}

static double exact_evidence(mercer_ctx *ctx, const setup *s, double noise, double *gradient) {
    mc_evidence *e = NULL;
    double value;
    assert_ok(ctx, mc_evidence_open(ctx, s->p.x, s->p.outputs, s->p.Y, s->p.root, &e));
    assert_ok(ctx, mc_evidence_value(ctx, e, s->p.kernel, noise, &value, gradient));
    mc_evidence_close(e);
    return value;
}

/* The first of these probes of one case; every case has others, so that all estimates are independent. */
static uint64_t first_seed(int number) {
    return test_seed() * 1000 + (uint64_t)(number * SEEDS);
}

static int seeds_of_a_case(void) {
    return test_sparse() ? FEW_SEEDS : SEEDS;
}

/* How many estimates are within so many errors of the exact value; the gradient is right on average, to within its own
   spread. */
static int count_inside(mercer_ctx *ctx, const setup *s, double noise, uint64_t first, double width) {
    const int seeds = seeds_of_a_case();
    double exact[SLOTS], gradient[SLOTS], sum[SLOTS] = {0}, squares[SLOTS] = {0};
    const double value = exact_evidence(ctx, s, noise, exact);
    double *alpha = NULL;
    int inside = 0;
    assert_ok(ctx, MC_ALLOC(ctx, alpha, s->p.n * s->p.outputs));
    for (int seed = 0; seed < seeds; seed++) {
        mc_evidence_estimate found;
        assert_ok(
            ctx, mc_estimate_evidence(ctx, &s->p, s->p.kernel, noise, first + (uint64_t)seed, alpha, gradient, &found));
        inside += fabs(found.value - value) <= width * found.error;
        for (int64_t i = 0; i <= s->p.kernel->slots; i++) {
            sum[i] += gradient[i] / seeds;
            squares[i] += gradient[i] * gradient[i] / seeds;
        }
    }
    mc_free(alpha);
    for (int64_t i = 0; i <= s->p.kernel->slots && !test_sparse(); i++) {
        const double spread = sqrt(fmax(0, squares[i] - sum[i] * sum[i]) / seeds);
        if (fabs(sum[i] - exact[i]) > 5 * spread + 1e-3 * fabs(exact[i]))
            fail_msg("slope %lld is %g on average, not %g (+- %g)", (long long)i, sum[i], exact[i], spread);
    }
    return inside;
}

/* Two errors hold 95.45% of all estimates together, within four and a half deviations of that count. Few seeds, where a
   tool makes each of them slow, show only that nothing is far off. */
static void test_the_error_bars_hold(void **state) {
    (void)state;
    static const struct {
        const char *kernel;
        double noise;
        bool weighted;
    } cases[CASES] = {{"20*rbf(gamma=0.05)", 0.1, false},
                      {"20*rbf(gamma=0.3)", 1, true},
                      {"9*matern(nu=1.5, length_scale=[2, 2, 3, 3, 4, 9, 9, 9, 9, 9])", 0.05, false},
                      {"5*exponential(gamma=0.3) + 0.2*linear", 0.5, false}};
    mercer_ctx *ctx = open_ctx(2);
    const double width = test_sparse() ? 6 : 2;
    int inside = 0;
    for (int k = 0; k < CASES; k++) {
        setup s = prepare(ctx, cases[k].kernel, 300, cases[k].weighted);
        inside += count_inside(ctx, &s, cases[k].noise, first_seed(k), width);
        put_away(&s);
    }
    const double all = CASES * seeds_of_a_case(), share = erf(width / sqrt(2));
    if (inside < all * share - 4.5 * sqrt(all * share * (1 - share)))
        fail_msg("%d of %g estimates are within %g errors, seed %llu", inside, all, width,
                 (unsigned long long)test_seed());
    close_clean(ctx);
}

static void test_the_same_bits_on_any_number_of_threads(void **state) {
    (void)state;
    double value[2], gradient[2][SLOTS];
    for (int threads = 1; threads <= 2; threads++) {
        mercer_ctx *ctx = open_ctx(threads);
        setup s = prepare(ctx, "20*rbf(gamma=0.05)", 1500, true);
        mc_evidence *e = NULL;
        assert_ok(ctx, mc_evidence_open_estimated(ctx, &s.p, 3, &e));
        assert_ok(ctx, mc_evidence_value(ctx, e, s.p.kernel, 0.2, &value[threads - 1], gradient[threads - 1]));
        assert_true(mc_evidence_error(e) > 0);
        mc_evidence_close(e);
        put_away(&s);
        close_clean(ctx);
    }
    assert_true(value[0] == value[1] && memcmp(gradient[0], gradient[1], 3 * sizeof(double)) == 0);
}

/* Where there is no memory for a factorisation: the mean with its certificate, the evidence with its error. */
static void test_a_process_of_more_rows_than_memory_can_factor(void **state) {
    (void)state;
    enum { ROWS = 3000 };
    mercer_report report[2];
    for (int small = 0; small < 2; small++) {
        mercer_options options = mercer_options_defaults();
        options.memory_limit = small ? 30 << 20 : 256 << 20; /* n^2 / 2 doubles are 34 MiB */
        options.threads = 2;                                 /* each has blocks of its own, which count */
        mercer_ctx *ctx = NULL;
        assert_int_equal(mercer_open(&options, &ctx), MERCER_OK);
        mercer_data *data = NULL;
        mercer_kernel *kernel = NULL;
        mercer_model *model = NULL;
        mercer_gp set = mercer_gp_defaults();
        set.learn = false;
        set.noise = 0.1;
        assert_ok(ctx, mercer_data_generate(ctx, "friedman1", ROWS, 0.3, test_seed(), &data));
        assert_ok(ctx, mercer_kernel_parse(ctx, "20*rbf(gamma=0.05)", &kernel));
        assert_ok(ctx, mercer_fit(ctx, "gp", &set, kernel, data, &model));
        report[small] = *mercer_model_report(model);
        assert_string_equal(report[small].solver, small ? "pcg" : "cholesky");
        mercer_model_free(model);
        mercer_kernel_free(kernel);
        mercer_data_free(data);
        close_clean(ctx);
    }
    assert_true(report[0].log_evidence_error == 0 && report[1].log_evidence_error > 0);
    assert_true(fabs(report[1].log_evidence - report[0].log_evidence) <= 4 * report[1].log_evidence_error);
    assert_true(report[1].certificate.residual_relative < 1e-5);
    assert_close(report[1].norm, report[0].norm, 1e-4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_error_bars_hold),
        cmocka_unit_test(test_the_same_bits_on_any_number_of_threads),
        cmocka_unit_test(test_a_process_of_more_rows_than_memory_can_factor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
