#include "base/rng.h"
#include "solve/interior.h"
#include "solve/smo.h"
#include "solve/together.h"
#include "support.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A problem of n points in the plane with its Gaussian Gram matrix, and room for 2n variables. */
typedef struct sample {
    int64_t n;
    double *K, *diagonal, *q, *low, *high, *beta, *f, *y;
    float *single;
    int64_t *row;
    uint8_t *group;
} sample;

static sample sample_new(int64_t n) {
    const size_t square = (size_t)(n * n), two = (size_t)(2 * n);
    return (sample){.n = n,
                    .K = calloc(square, sizeof(double)),
                    .single = calloc(square + MC_TOGETHER_BEYOND, sizeof(float)),
                    .diagonal = calloc(two, sizeof(double)),
                    .q = calloc(two, sizeof(double)),
                    .low = calloc(two, sizeof(double)),
                    .high = calloc(two, sizeof(double)),
                    .beta = calloc(two, sizeof(double)),
                    .f = calloc(two, sizeof(double)),
                    .y = calloc(two, sizeof(double)),
                    .row = calloc(two, sizeof(int64_t)),
                    .group = calloc(two, 1)};
}

static void sample_free(sample *s) {
    void *blocks[] = {s->K, s->single, s->diagonal, s->q, s->low, s->high, s->beta, s->f, s->y, s->row, s->group};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        free(blocks[i]);
}

static void round_K(sample *s) {
    for (int64_t i = 0; i < s->n * s->n; i++)
        s->single[i] = (float)s->K[i];
    for (int64_t i = 0; i < s->n; i++)
        s->diagonal[i] = s->K[i * s->n + i];
}

/* y = sign of a curve through noisy points; targets of a regression are the height above it. */
static sample random_sample(int64_t n, uint64_t item, double gamma) {
    sample s = sample_new(n);
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, item);
    double *x = calloc((size_t)(2 * n), sizeof *x);
    for (int64_t i = 0; i < n; i++) {
        x[2 * i] = mc_rng_normal(&rng);
        x[2 * i + 1] = mc_rng_normal(&rng);
        s.y[i] = x[2 * i + 1] - sin(2 * x[2 * i]) + 0.3 * mc_rng_normal(&rng);
    }
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            s.K[i * n + j] = exp(-gamma * (pow(x[2 * i] - x[2 * j], 2) + pow(x[2 * i + 1] - x[2 * j + 1], 2)));
    round_K(&s);
    free(x);
    return s;
}

static void as_classifier(sample *s, double C) {
    for (int64_t i = 0; i < s->n; i++) {
        s->y[i] = s->y[i] > 0 ? 1 : -1;
        s->q[i] = -s->y[i];
        s->low[i] = s->y[i] > 0 ? 0 : -C;
        s->high[i] = s->y[i] > 0 ? C : 0;
    }
}

static mc_smo_problem problem_of(const sample *s, mercer_dtype dtype, double tolerance) {
    return (mc_smo_problem){.dual = {.m = s->n, .q = s->q, .low = s->low, .high = s->high},
                            .rows = mc_rows_stored(s->n, dtype, dtype == MERCER_F64 ? (void *)s->K : (void *)s->single, s->n,
                                                   s->diagonal),
                            .tolerance = tolerance,
                            .steps_max = 100000000};
}

/* f = K beta from the raw numbers. */
static long double value_at(const sample *s, const mc_dual *d, int64_t i) {
    long double f = 0;
    for (int64_t t = 0; t < d->m; t++)
        f += (long double)s->K[i * s->n + (d->row ? d->row[t] : t)] * s->beta[t];
    return f;
}

/* The largest violation of max over U of v <= min over D of v, group by group, from the raw numbers. */
static double true_violation(const sample *s, const mc_dual *d) {
    double top[2] = {-INFINITY, -INFINITY}, bottom[2] = {INFINITY, INFINITY};
    for (int64_t t = 0; t < d->m; t++) {
        const int g = d->group ? d->group[t] : 0;
        const double v = (double)-(value_at(s, d, d->row ? d->row[t] : t) + d->q[t]);
        assert_true(s->beta[t] >= d->low[t] && s->beta[t] <= d->high[t]);
        if (s->beta[t] < d->high[t])
            top[g] = fmax(top[g], v);
        if (s->beta[t] > d->low[t])
            bottom[g] = fmin(bottom[g], v);
    }
    return fmax(top[0] - bottom[0], top[1] - bottom[1]);
}

/* f <- K beta. */
static void write_f(sample *s, const mc_dual *d) {
    for (int64_t i = 0; i < s->n; i++)
        s->f[i] = (double)value_at(s, d, i);
}

static double group_sum(const sample *s, const mc_dual *d, int g) {
    long double sum = 0;
    for (int64_t t = 0; t < d->m; t++)
        if ((d->group ? d->group[t] : 0) == g)
            sum += s->beta[t];
    return (double)sum;
}

/* Primal minus dual of a classifier from the raw numbers. */
static double true_gap(const sample *s, const mc_dual *d, double C, double b, double *dual) {
    long double norm = 0, loss = 0, linear = 0;
    for (int64_t i = 0; i < s->n; i++) {
        const long double f = value_at(s, d, i);
        norm += f * s->beta[i];
        linear += s->y[i] * s->beta[i];
        loss += fmaxl(0, 1 - s->y[i] * (f + b));
    }
    *dual = (double)(linear - norm / 2);
    return (double)(norm / 2 + C * loss) - *dual;
}

static double mass_of(const sample *s, int64_t n) {
    double sum = 0;
    for (int64_t t = 0; t < n; t++)
        sum += fabs(s->beta[t]);
    return sum;
}

static void check_classifier(int64_t n, double C, mercer_dtype dtype, double slack) {
    mercer_ctx *ctx = open_ctx(2);
    sample s = random_sample(n, (uint64_t)n, 0.8);
    as_classifier(&s, C);
    const mc_smo_problem p = problem_of(&s, dtype, 1e-4);
    mc_smo_result r;
    assert_ok(ctx, mc_smo_solve(ctx, &p, s.beta, s.f, &r));
    double dual;
    const double gap = true_gap(&s, &p.dual, C, r.intercept[0], &dual);
    assert_true(r.converged && r.violation <= 1e-4);
    assert_true(true_violation(&s, &p.dual) <= 1e-4 + slack);
    assert_close(group_sum(&s, &p.dual, 0), 0, 1e-12 * C * (double)n);
    const double rounding = dtype == MERCER_F64 ? 1e-10 : fmax(1e-5, 3e-8 * pow(mass_of(&s, n), 2) / dual); /* of every k(x, z) <= 1 */
    assert_close(-r.objective, dual, rounding);
    assert_true(gap >= -1e-9 * dual && gap <= (1e-4 + slack) * C * (double)n);
    sample_free(&s);
    close_clean(ctx);
}

static void test_a_classifier_is_optimal_by_the_raw_numbers(void **state) {
    (void)state;
    for (int k = -2; k <= 3; k++) {
        check_classifier(300, pow(10, k), MERCER_F64, 1e-10);
        check_classifier(300, pow(10, k), MERCER_F32, 1e-6 * pow(10, k + 2));
    }
    check_classifier(1500, 1, MERCER_F32, 1e-4); /* more variables than one working set holds */
}

static void test_two_points_have_a_closed_form(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    for (int k = 0; k < 2; k++) { /* points -1 and 3 on a line: w = 1/2, b = -1/2, alpha = 1/8, or cut at C = 1/10 */
        sample s = sample_new(2);
        const double x[] = {-1, 3}, C = k ? 0.1 : INFINITY;
        for (int i = 0; i < 4; i++)
            s.K[i] = x[i / 2] * x[i % 2];
        round_K(&s);
        s.y[0] = -1;
        s.y[1] = 1;
        as_classifier(&s, C);
        const mc_smo_problem p = problem_of(&s, MERCER_F64, 1e-9);
        mc_smo_result r;
        assert_ok(ctx, mc_smo_solve(ctx, &p, s.beta, s.f, &r));
        assert_close(s.beta[1], k ? 0.1 : 0.125, 1e-12);
        assert_close(s.beta[0], -s.beta[1], 1e-15);
        assert_close(r.intercept[0], k ? -0.4 : -0.5, 1e-12);
        sample_free(&s);
    }
    close_clean(ctx);
}

/* epsilon regression: beta = alpha - alpha*, both halves over the same rows. */
static void as_regression(sample *s, double C, double epsilon) {
    for (int64_t t = 0; t < 2 * s->n; t++) {
        const int64_t i = t % s->n;
        const bool up = t < s->n;
        s->row[t] = i;
        s->q[t] = -s->y[i] + (up ? epsilon : -epsilon);
        s->low[t] = up ? 0 : -C;
        s->high[t] = up ? C : 0;
        s->group[t] = !up;
    }
}

static void test_a_regression_is_optimal_by_the_raw_numbers(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    sample s = random_sample(400, 7, 0.5);
    as_regression(&s, 2, 0.1);
    mc_smo_problem p = problem_of(&s, MERCER_F32, 1e-4);
    p.dual.m = 2 * s.n;
    p.dual.row = s.row;
    mc_smo_result r;
    assert_ok(ctx, mc_smo_solve(ctx, &p, s.beta, s.f, &r));
    assert_true(r.converged && true_violation(&s, &p.dual) <= 1.5e-4);
    assert_close(group_sum(&s, &p.dual, 0), 0, 1e-10);
    double both = 0;
    for (int64_t i = 0; i < s.n; i++)
        both = fmax(both, fmin(s.beta[i], -s.beta[i + s.n])); /* a row leaves the tube on one side only */
    assert_true(both == 0);
    sample_free(&s);
    close_clean(ctx);
}

static void test_two_sums_are_kept_apart(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    sample s = random_sample(700, 8, 0.5);
    as_regression(&s, 1, 0);
    mc_smo_problem p = problem_of(&s, MERCER_F64, 1e-5);
    p.dual.m = 2 * s.n;
    p.dual.row = s.row;
    p.dual.group = s.group;
    const double nu = 0.3;
    double left = nu * (double)s.n / 2;
    for (int64_t i = 0; i < s.n && left > 0; i++) { /* the start: each sum is C nu n / 2 */
        s.beta[i] = fmin(1, left);
        s.beta[i + s.n] = -s.beta[i];
        left -= s.beta[i];
    }
    mc_smo_result r;
    write_f(&s, &p.dual);
    assert_ok(ctx, mc_smo_solve(ctx, &p, s.beta, s.f, &r));
    assert_true(r.converged && true_violation(&s, &p.dual) <= 1.1e-5);
    assert_close(group_sum(&s, &p.dual, 0), nu * (double)s.n / 2, 1e-10);
    assert_close(group_sum(&s, &p.dual, 1), -nu * (double)s.n / 2, 1e-10);
    assert_true(r.intercept[0] > r.intercept[1]); /* they differ by the width of the tube */
    sample_free(&s);
    close_clean(ctx);
}

/* A memory limit too low for the matrix of the shrunk programme leaves it out: the optimum is the same, the work is more. */
static void test_shrinking_is_undone(void **state) {
    (void)state;
    sample s = random_sample(4000, 16, 10);
    as_classifier(&s, 100);
    mc_smo_result result[2];
    const size_t limit = 21 << 18;
    for (int k = 0; k < 2; k++) {
        mercer_options options = mercer_options_defaults();
        options.memory_limit = k ? limit : 0;
        mercer_ctx *ctx = NULL;
        assert_int_equal(mercer_open(&options, &ctx), MERCER_OK);
        const mc_smo_problem p = problem_of(&s, MERCER_F32, 1e-4);
        memset(s.beta, 0, (size_t)s.n * sizeof *s.beta);
        memset(s.f, 0, (size_t)s.n * sizeof *s.f);
        assert_ok(ctx, mc_smo_solve(ctx, &p, s.beta, s.f, &result[k]));
        assert_true(result[k].converged && true_violation(&s, &p.dual) <= 2e-4);
        assert_true(k ? mercer_memory_peak(ctx) < limit : mercer_memory_peak(ctx) > limit);
        close_clean(ctx);
    }
    assert_close(result[0].objective, result[1].objective, 1e-6);
    sample_free(&s);
}

/* All variables as one set over K where it lies, and, with groups named although there is one, working sets that are gathered. */
static void test_many_free_variables_are_one_set(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    sample s = random_sample(1501, 17, 1000); /* lanes are not filled up */
    as_classifier(&s, 10);
    mc_smo_problem p = problem_of(&s, MERCER_F32, 1e-4);
    mc_smo_result whole, gathered;
    assert_ok(ctx, mc_smo_solve(ctx, &p, s.beta, s.f, &whole));
    assert_true(whole.converged && true_violation(&s, &p.dual) <= 2e-4);
    memset(s.beta, 0, (size_t)s.n * sizeof *s.beta);
    memset(s.f, 0, (size_t)s.n * sizeof *s.f);
    p.dual.group = s.group;
    assert_ok(ctx, mc_smo_solve(ctx, &p, s.beta, s.f, &gathered));
    assert_close(whole.objective, gathered.objective, 1e-6);
    assert_true(whole.steps < gathered.steps && 2 * whole.rounds < gathered.rounds);
    sample_free(&s);
    close_clean(ctx);
}

static void test_the_bits_do_not_depend_on_the_threads(void **state) {
    (void)state;
    sample s = random_sample(2500, 10, 0.8);
    as_classifier(&s, 10);
    double *first = calloc((size_t)s.n, sizeof *first);
    for (int threads = 1; threads <= 7; threads += 3) {
        mercer_ctx *ctx = open_ctx(threads);
        const mc_smo_problem p = problem_of(&s, MERCER_F32, 1e-3);
        mc_smo_result r;
        memset(s.beta, 0, (size_t)s.n * sizeof *s.beta);
        memset(s.f, 0, (size_t)s.n * sizeof *s.f);
        assert_ok(ctx, mc_smo_solve(ctx, &p, s.beta, s.f, &r));
        if (threads == 1)
            memcpy(first, s.beta, (size_t)s.n * sizeof *first);
        assert_memory_equal(first, s.beta, (size_t)s.n * sizeof *first);
        close_clean(ctx);
    }
    free(first);
    sample_free(&s);
}

static void test_every_instruction_set_finds_the_optimum(void **state) {
    (void)state;
    const char *names[] = {"portable", "avx2", "avx512"};
    double first = 0;
    for (int k = 0; k < 3; k++) {
        mercer_options options = mercer_options_defaults();
        options.isa = names[k];
        mercer_ctx *ctx = NULL;
        if (mercer_open(&options, &ctx) != MERCER_OK) {
            print_message("# this machine has no %s\n", names[k]);
            mercer_close(ctx);
            continue;
        }
        sample s = random_sample(900, 11, 0.8);
        as_classifier(&s, 5);
        const mc_smo_problem p = problem_of(&s, MERCER_F32, 1e-6);
        mc_smo_result r;
        assert_ok(ctx, mc_smo_solve(ctx, &p, s.beta, s.f, &r));
        assert_true(r.converged);
        first = k ? first : r.objective;
        assert_close(r.objective, first, 1e-8);
        sample_free(&s);
        close_clean(ctx);
    }
}

static void test_a_warm_start_costs_nothing(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    sample s = random_sample(600, 12, 0.8);
    as_classifier(&s, 1);
    mc_smo_problem p = problem_of(&s, MERCER_F32, 1e-3);
    mc_smo_result cold, warm;
    assert_ok(ctx, mc_smo_solve(ctx, &p, s.beta, s.f, &cold));
    assert_ok(ctx, mc_smo_solve(ctx, &p, s.beta, s.f, &warm));
    assert_true(cold.rounds > 0 && warm.rounds == 0 && warm.converged);
    const double t = 3; /* C -> tC: t beta is feasible, f scales with it, no entry of K is needed */
    for (int64_t i = 0; i < s.n; i++) {
        s.beta[i] *= t;
        s.f[i] *= t;
        s.low[i] *= t;
        s.high[i] *= t;
    }
    assert_ok(ctx, mc_smo_solve(ctx, &p, s.beta, s.f, &warm));
    assert_true(warm.converged && true_violation(&s, &p.dual) <= 1.1e-3);
    sample_free(&s);
    close_clean(ctx);
}

static void test_the_steps_are_capped_and_the_answer_feasible(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    sample s = random_sample(600, 13, 0.8);
    as_classifier(&s, 1);
    mc_smo_problem p = problem_of(&s, MERCER_F32, 1e-3);
    p.steps_max = 17;
    mc_smo_result r;
    assert_ok(ctx, mc_smo_solve(ctx, &p, s.beta, s.f, &r));
    assert_true(!r.converged && r.steps == 17 && r.violation > 1e-3);
    assert_close(group_sum(&s, &p.dual, 0), 0, 1e-13);
    sample_free(&s);
    close_clean(ctx);
}

static void test_the_clock_can_stop_it(void **state) {
    (void)state;
    mercer_options options = mercer_options_defaults();
    options.time_limit = 1e-9;
    mercer_ctx *ctx = NULL;
    assert_int_equal(mercer_open(&options, &ctx), MERCER_OK);
    sample s = random_sample(600, 14, 0.8);
    as_classifier(&s, 1);
    const mc_smo_problem p = problem_of(&s, MERCER_F32, 1e-9);
    mc_smo_result r;
    assert_int_equal(mc_smo_solve(ctx, &p, s.beta, s.f, &r), MERCER_TIME);
    assert_true(!r.converged);
    assert_close(group_sum(&s, &p.dual, 0), 0, 1e-13);
    sample_free(&s);
    close_clean(ctx);
}

/* Every pair of a constant kernel has curvature zero: the steps go to the bounds. */
static void test_a_constant_kernel_and_opposite_twins_end(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    sample s = sample_new(40);
    for (int64_t i = 0; i < 40 * 40; i++)
        s.K[i] = 3;
    for (int64_t i = 0; i < 40; i++)
        s.y[i] = i % 4 ? 1 : -1;
    round_K(&s);
    as_classifier(&s, 2);
    const mc_smo_problem p = problem_of(&s, MERCER_F64, 1e-3);
    mc_smo_result r;
    assert_ok(ctx, mc_smo_solve(ctx, &p, s.beta, s.f, &r));
    assert_true(r.converged);
    assert_close(r.objective, -40, 1e-12); /* ten of each class at C = 2: the smaller class is all at its bound */
    sample_free(&s);
    close_clean(ctx);
}

static void test_heart_scale_matches_the_published_optimum(void **state) {
    (void)state;
    FILE *file = open_shared("small/heart_scale");
    if (!file)
        skip();
    enum { N = 270, D = 13 };
    sample s = sample_new(N);
    double *x = calloc(N * D, sizeof *x);
    char line[1024];
    for (int64_t i = 0; i < N && fgets(line, sizeof line, file); i++) {
        char *p = line;
        s.y[i] = strtod(p, &p);
        for (long j; (j = strtol(p, &p, 10)) > 0;)
            x[i * D + j - 1] = strtod(p + 1, &p);
    }
    fclose(file);
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < N; j++) {
            double r2 = 0;
            for (int64_t k = 0; k < D; k++)
                r2 += pow(x[i * D + k] - x[j * D + k], 2);
            s.K[i * N + j] = exp(-r2 / D);
        }
    round_K(&s);
    as_classifier(&s, 1);
    mercer_ctx *ctx = open_ctx(2);
    const mc_smo_problem p = problem_of(&s, MERCER_F32, 1e-3);
    mc_smo_result r;
    assert_ok(ctx, mc_smo_solve(ctx, &p, s.beta, s.f, &r));
    int64_t vectors = 0;
    for (int64_t i = 0; i < N; i++)
        vectors += s.beta[i] != 0;
    assert_true(fabs(r.objective + 100.877288) < 1e-5);
    assert_true(fabs(-r.intercept[0] - 0.424462) < 1e-3);
    assert_int_equal(vectors, 132);
    free(x);
    sample_free(&s);
    close_clean(ctx);
}

/* ---- From the inside ---- */

static void test_an_interior_point_finds_the_optimum_at_any_C(void **state) {
    (void)state;
    sample s = random_sample(150, 17, 0.8);
    double *first = calloc((size_t)s.n, sizeof *first);
    for (double C = 1e-8; C < 1e9; C *= 1e4)
        for (int threads = 1; threads <= 3; threads += 2) {
            mercer_ctx *ctx = open_ctx(threads);
            bool moved;
            as_classifier(&s, C);
            for (int64_t i = 0; i < s.n; i += 7)
                s.low[i] = s.high[i] = 0; /* rows left out */
            const mc_smo_problem p = problem_of(&s, MERCER_F64, 1e-4);
            memset(s.beta, 0, (size_t)s.n * sizeof *s.beta);
            memset(s.f, 0, (size_t)s.n * sizeof *s.f);
            assert_ok(ctx, mc_interior(ctx, &p.dual, &p.rows, s.beta, s.f, &moved));
            assert_true(moved && true_violation(&s, &p.dual) <= 1e-5); /* a tenth of the tolerance */
            assert_close(group_sum(&s, &p.dual, 0), 0, 1e-12 * C * (double)s.n);
            assert_true(threads == 1 || !memcmp(first, s.beta, (size_t)s.n * sizeof *first));
            memcpy(first, s.beta, (size_t)s.n * sizeof *first);
            close_clean(ctx);
        }
    free(first);
    sample_free(&s);
}

/* Two variables to a row, two sums, and a part of f that is not of these variables. */
static void test_an_interior_point_keeps_two_sums(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    sample s = random_sample(120, 18, 0.5);
    as_regression(&s, 1e3, 0);
    mc_smo_problem p = problem_of(&s, MERCER_F64, 1e-5);
    p.dual.m = 2 * s.n;
    p.dual.row = s.row;
    p.dual.group = s.group;
    for (int64_t i = 0; i < s.n / 2; i++)
        s.beta[s.n + i] = -(s.beta[i] = 300);
    write_f(&s, &p.dual);
    for (int64_t i = 0; i < s.n; i++)
        s.f[i] += 0.5 * s.y[i];
    bool moved;
    assert_ok(ctx, mc_interior(ctx, &p.dual, &p.rows, s.beta, s.f, &moved));
    for (int64_t t = 0; t < 2 * s.n; t++) /* the same said by q */
        s.q[t] += 0.5 * s.y[t % s.n];
    assert_true(moved && true_violation(&s, &p.dual) <= 1e-7);
    assert_close(group_sum(&s, &p.dual, 0), 150 * (double)s.n, 1e-10);
    assert_close(group_sum(&s, &p.dual, 1), -150 * (double)s.n, 1e-10);
    sample_free(&s);
    close_clean(ctx);
}

static void test_an_interior_point_needs_no_upper_bound(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    sample s = sample_new(2);
    s.K[0] = 1; /* the two points of the closed form above */
    s.K[1] = s.K[2] = -3;
    s.K[3] = 9;
    round_K(&s);
    s.y[0] = -1;
    s.y[1] = 1;
    as_classifier(&s, INFINITY);
    const mc_smo_problem p = problem_of(&s, MERCER_F32, 1e-9);
    bool moved;
    assert_ok(ctx, mc_interior(ctx, &p.dual, &p.rows, s.beta, s.f, &moved));
    assert_close(s.beta[1], 0.125, 1e-7);
    assert_close(s.beta[0], -s.beta[1], 1e-12);
    s.low[1] = -INFINITY; /* no bound at all: nothing is done */
    assert_ok(ctx, mc_interior(ctx, &p.dual, &p.rows, s.beta, s.f, &moved));
    assert_false(moved);
    sample_free(&s);
    close_clean(ctx);
}

static mercer_status solve_again(mercer_ctx *ctx, void *arg) {
    sample *s = arg;
    memset(s->beta, 0, (size_t)s->n * sizeof *s->beta);
    memset(s->f, 0, (size_t)s->n * sizeof *s->f);
    const mc_smo_problem p = problem_of(s, MERCER_F32, 1e-3);
    mc_smo_result r;
    bool moved;
    mercer_status status = mc_interior(ctx, &p.dual, &p.rows, s->beta, s->f, &moved);
    return status ? status : mc_smo_solve(ctx, &p, s->beta, s->f, &r);
}

enum { TOGETHER = 3 };

/* Every third row is left out of each; rows that nobody asked for have no room. beta and f of all of them behind each other. */
static mercer_status solve_together(mercer_ctx *ctx, const sample *s, mercer_dtype dtype, double *beta, double *f, double *bound) {
    mc_dual dual[TOGETHER];
    double *betas[TOGETHER], *fs[TOGETHER];
    int64_t steps[TOGETHER] = {0};
    mc_room room[2] = {0};
    for (int64_t k = 0; k < TOGETHER; k++) {
        double *low = bound + 2 * k * s->n, *high = low + s->n;
        for (int64_t i = 0; i < s->n; i++) {
            low[i] = i % TOGETHER == k ? 0 : s->low[i];
            high[i] = i % TOGETHER == k ? 0 : s->high[i];
        }
        dual[k] = (mc_dual){.m = s->n, .q = s->q, .low = low, .high = high};
        betas[k] = memset(beta + k * s->n, 0, (size_t)s->n * sizeof *beta);
        fs[k] = memset(f + k * s->n, 0, (size_t)s->n * sizeof *f);
    }
    const void *K = dtype == MERCER_F64 ? (const void *)s->K : (const void *)s->single;
    const mc_together problem = {.n = s->n, .dtype = dtype, .K = K, .diagonal = s->diagonal, .tolerance = 1e-3, .steps_max = 10000000,
                                 .count = TOGETHER, .dual = dual, .beta = betas, .f = fs, .steps = steps, .room = room};
    const mercer_status status = mc_together_solve(ctx, &problem);
    mc_room_close(&room[0]);
    mc_room_close(&room[1]);
    return status;
}

static void test_programmes_over_one_matrix_are_solved_together(void **state) {
    (void)state;
    sample s = random_sample(900, 16, 3);
    as_classifier(&s, 20);
    double *own = calloc((size_t)(4 * TOGETHER * s.n), sizeof *own), *first = calloc((size_t)(TOGETHER * s.n), sizeof *first);
    for (int run = 0; run < 3; run++) {
        mercer_ctx *ctx = open_ctx(run == 1 ? 1 : 3);
        assert_ok(ctx, solve_together(ctx, &s, run == 2 ? MERCER_F64 : MERCER_F32, own, own + TOGETHER * s.n, own + 2 * TOGETHER * s.n));
        for (int64_t k = 0; k < TOGETHER && run != 1; k++) {
            const double *low = own + (2 * TOGETHER + 2 * k) * s.n;
            const mc_dual dual = {.m = s.n, .q = s.q, .low = low, .high = low + s.n};
            memcpy(s.beta, own + k * s.n, (size_t)s.n * sizeof *s.beta);
            assert_true(true_violation(&s, &dual) <= 1.2e-3);
            assert_close(group_sum(&s, &dual, 0), 0, 1e-9);
        }
        if (run == 1)
            assert_memory_equal(first, own, (size_t)(TOGETHER * s.n) * sizeof *own);
        memcpy(first, own, (size_t)(TOGETHER * s.n) * sizeof *own);
        close_clean(ctx);
    }
    free(own);
    free(first);
    sample_free(&s);
}

static void test_survives_failing_memory(void **state) {
    (void)state;
    sample s = random_sample(60, 15, 0.8);
    as_classifier(&s, 1);
    assert_survives_failing_memory(solve_again, &s);
    sample_free(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_classifier_is_optimal_by_the_raw_numbers),
        cmocka_unit_test(test_two_points_have_a_closed_form),
        cmocka_unit_test(test_a_regression_is_optimal_by_the_raw_numbers),
        cmocka_unit_test(test_two_sums_are_kept_apart),
        cmocka_unit_test(test_shrinking_is_undone),
        cmocka_unit_test(test_many_free_variables_are_one_set),
        cmocka_unit_test(test_the_bits_do_not_depend_on_the_threads),
        cmocka_unit_test(test_every_instruction_set_finds_the_optimum),
        cmocka_unit_test(test_a_warm_start_costs_nothing),
        cmocka_unit_test(test_the_steps_are_capped_and_the_answer_feasible),
        cmocka_unit_test(test_the_clock_can_stop_it),
        cmocka_unit_test(test_a_constant_kernel_and_opposite_twins_end),
        cmocka_unit_test(test_heart_scale_matches_the_published_optimum),
        cmocka_unit_test(test_an_interior_point_finds_the_optimum_at_any_C),
        cmocka_unit_test(test_an_interior_point_keeps_two_sums),
        cmocka_unit_test(test_an_interior_point_needs_no_upper_bound),
        cmocka_unit_test(test_programmes_over_one_matrix_are_solved_together),
        cmocka_unit_test(test_survives_failing_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
