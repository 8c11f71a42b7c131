/* t_smo.c: quadratic programs by SMO, judged by the raw numbers; it runs t_interior.c and t_batch_smo.c too. */
#include "smo_of_test.h"
#include "qp/interior.h"
#include "qp/smo_working_set.h"
#include <stdio.h>

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
    /* of every k(x, z) <= 1 */
    const double rounding = dtype == MERCER_F64 ? 1e-10 : fmax(1e-5, 3e-8 * pow(mass_of(&s, n), 2) / dual);
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

/* Four variables at their bounds leave an interval, whose middle is taken; one that stands a few units in the last
   place beside its bound leaves the same. */
static void test_what_rounding_left_at_a_bound_does_not_choose_the_intercept(void **state) {
    (void)state;
    const double q[] = {-1, -1, 1, 1}, low[] = {0, 0, -2, -2}, high[] = {2, 2, 0, 0}, f[] = {0.2, 1.7, 0.3, -1.8};
    const mc_dual dual = {.m = 4, .q = q, .low = low, .high = high};
    const double left[4][4] = {
        {2, 5.6e-16, -2, 0}, {2 - 4.5e-16, 0, -2, 0}, {2, 0, -2 + 4.5e-16, 0}, {2, 0, -2, -1e-16}};
    mc_smo_result exact, rounded;
    mc_dual_optimality(&dual, (const double[]){2, 0, -2, 0}, f, &exact);
    assert_close(exact.intercept[0], 0.05, 1e-15);
    for (int k = 0; k < 4; k++) {
        mc_dual_optimality(&dual, left[k], f, &rounded);
        assert_true(rounded.intercept[0] == exact.intercept[0]);
    }
    mc_dual_optimality(&dual, (const double[]){2, 1e-9, -2, 0}, f, &rounded); /* free, though little */
    assert_close(rounded.intercept[0], -0.7, 1e-15);
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

/* A memory limit too low for the matrix of the shrunk quadratic program leaves it out: the optimum is the same, the
   work is more. */
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

/* All variables as one set over K where it lies, and, with groups named although there is one, working sets that are
   gathered. */
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

/* f may hold what variables elsewhere add: f - K beta = 4q here, with -3q for q, has the slopes of 0 and q, and so the
   same steps to the same optimum. A program whose progress is judged by beta'(f/2 + q), which rises on the way, would
   end early. */
static void test_what_others_add_to_f_does_not_end_it(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    sample s = random_sample(1501, 18, 3);
    as_classifier(&s, 10000);
    mc_smo_problem p = problem_of(&s, MERCER_F64, 1e-6);
    p.dual.group = s.group; /* sets are gathered: there are many rounds */
    mc_smo_result alone, beside_others;
    assert_ok(ctx, mc_smo_solve(ctx, &p, s.beta, s.f, &alone));
    assert_true(alone.converged && alone.rounds > 128);
    for (int64_t i = 0; i < s.n; i++) {
        s.f[i] = 4 * s.q[i];
        s.q[i] *= -3;
        s.beta[i] = 0;
    }
    assert_ok(ctx, mc_smo_solve(ctx, &p, s.beta, s.f, &beside_others));
    for (int64_t i = 0; i < s.n; i++)
        s.q[i] /= -3;
    assert_true(beside_others.converged && true_violation(&s, &p.dual) <= 2 * p.tolerance);
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
static void test_a_constant_kernel_and_opposite_duplicates_end(void **state) {
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
    FILE *file = open_set("heart_scale");
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

static mercer_status solve_again(mercer_ctx *ctx, void *arg) {
    sample *s = arg;
    memset(s->beta, 0, (size_t)s->n * sizeof *s->beta);
    memset(s->f, 0, (size_t)s->n * sizeof *s->f);
    const mc_smo_problem p = problem_of(s, MERCER_F32, 1e-3);
    mc_smo_result r;
    bool moved;
    mercer_status status = mc_interior_solve(ctx, &p.dual, &p.rows, NULL, s->beta, s->f, &moved);
    return status ? status : mc_smo_solve(ctx, &p, s->beta, s->f, &r);
}

/* Steps of a set of the first count variables, or of all over K where it lies, with slopes in floats. */
static void check_rough_steps(const char *isa, int64_t n, int64_t count, double C) {
    mercer_ctx *ctx = open_isa(isa, 1);
    sample s = random_sample(n, 77 + (uint64_t)n, 0.8);
    as_classifier(&s, C);
    const mc_smo_problem p = problem_of(&s, MERCER_F32, 1e-2);
    int64_t *variable = calloc((size_t)n, sizeof *variable);
    for (int64_t k = 0; k < count; k++)
        variable[k] = n - count + k;
    mc_working_set set;
    bool moved;
    assert_ok(ctx, mc_working_set_open(ctx, &p.dual, &p.rows, count, &set));
    assert_ok(ctx, mc_working_set_load(ctx, &set, variable, count, count == n, s.beta, s.f));
    set.block.tolerance = p.tolerance;
    set.block.steps_max = 1000000;
    assert_true(mc_working_set_step(ctx, &set, 0.25, true));
    assert_true(set.block.steps > 0 && set.block.steps < set.block.steps_max);
    assert_ok(ctx, mc_working_set_store(ctx, &set, s.beta, s.f, &moved));
    const double drift = mc_working_set_drift(&set, s.f);
    assert_true(moved && drift >= 0 && drift < 1e-5 * fmax(C, 1));
    for (int64_t t = 0; t < n - count; t++) /* the others take no part, so that what is left is judged */
        s.low[t] = s.high[t] = s.beta[t];
    assert_true(true_violation(&s, &p.dual) <= p.tolerance + 3e-5 * fmax(C, 1));
    assert_close(group_sum(&s, &p.dual, 0), 0, 1e-12 * C * (double)n);
    mc_working_set_close(&set);
    free(variable);
    sample_free(&s);
    close_clean(ctx);
}

static void test_slopes_in_floats_lead_to_the_optimum_of_a_set(void **state) {
    (void)state;
    for (int k = 0; k < MC_ISA_COUNT; k++)
        for (int64_t n = 301; n < 320 && mc_isa_runs((mc_isa)k); n += 6) {
            check_rough_steps(mc_isa_name((mc_isa)k), n, n, 1);
            check_rough_steps(mc_isa_name((mc_isa)k), n, n - 40, 10);
        }
}

/* Slopes less a number that they are far from: a float of that size is as coarse as the tolerance. */
static void test_a_drift_of_slopes_in_floats_is_seen(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    sample s = random_sample(200, 5, 0.8);
    as_classifier(&s, 10);
    const mc_smo_problem p = problem_of(&s, MERCER_F32, 1e-3);
    int64_t variable[200];
    for (int64_t k = 0; k < 200; k++)
        variable[k] = k;
    mc_working_set set;
    bool moved;
    assert_ok(ctx, mc_working_set_open(ctx, &p.dual, &p.rows, 200, &set));
    assert_ok(ctx, mc_working_set_load(ctx, &set, variable, 200, true, s.beta, s.f));
    set.block.tolerance = p.tolerance;
    set.block.steps_max = 3000;
    assert_true(mc_working_set_step(ctx, &set, 1e5, true));
    assert_ok(ctx, mc_working_set_store(ctx, &set, s.beta, s.f, &moved));
    assert_true(mc_working_set_drift(&set, s.f) > p.tolerance);
    mc_working_set_close(&set);
    sample_free(&s);
    close_clean(ctx);
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
        cmocka_unit_test(test_what_rounding_left_at_a_bound_does_not_choose_the_intercept),
        cmocka_unit_test(test_a_regression_is_optimal_by_the_raw_numbers),
        cmocka_unit_test(test_two_sums_are_kept_apart),
        cmocka_unit_test(test_shrinking_is_undone),
        cmocka_unit_test(test_many_free_variables_are_one_set),
        cmocka_unit_test(test_what_others_add_to_f_does_not_end_it),
        cmocka_unit_test(test_the_bits_do_not_depend_on_the_threads),
        cmocka_unit_test(test_every_instruction_set_finds_the_optimum),
        cmocka_unit_test(test_a_warm_start_costs_nothing),
        cmocka_unit_test(test_the_steps_are_capped_and_the_answer_feasible),
        cmocka_unit_test(test_the_clock_can_stop_it),
        cmocka_unit_test(test_a_constant_kernel_and_opposite_duplicates_end),
        cmocka_unit_test(test_heart_scale_matches_the_published_optimum),
        cmocka_unit_test(test_an_interior_point_finds_the_optimum_at_any_C),
        cmocka_unit_test(test_an_interior_point_keeps_two_sums),
        cmocka_unit_test(test_an_interior_point_needs_no_upper_bound),
        cmocka_unit_test(test_programs_over_one_matrix_are_solved_in_a_batch),
        cmocka_unit_test(test_newton_steps_in_between_lead_to_the_optimum),
        cmocka_unit_test(test_slopes_in_floats_lead_to_the_optimum_of_a_set),
        cmocka_unit_test(test_a_drift_of_slopes_in_floats_is_seen),
        cmocka_unit_test(test_survives_failing_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
