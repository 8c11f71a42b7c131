/* Newton's steps on the free variables against the conditions of optimality, computed from the raw numbers, and against
   LAPACK's solution of the linear system that they are among the free variables that were found. */
#include "qp/active_set_newton.h"
#include "smo_of_test.h"

void dgesv_(const int *n, const int *columns, double *A, const int *lda, int *pivot, double *b, const int *ldb,
            int *info);

static mc_dual dual_of(const sample *s, bool regression) {
    return (mc_dual){.m = regression ? 2 * s->n : s->n,
                     .row = regression ? s->row : NULL,
                     .q = s->q,
                     .low = s->low,
                     .high = s->high};
}

/* Nearly optimal, by pairs. */
static void solve_roughly(mercer_ctx *ctx, sample *s, const mc_dual *dual, mercer_dtype dtype, double tolerance) {
    mc_smo_problem problem = problem_of(s, dtype, tolerance);
    mc_smo_result result;
    problem.dual = *dual;
    memset(s->beta, 0, (size_t)dual->m * sizeof *s->beta);
    memset(s->f, 0, (size_t)s->n * sizeof *s->f);
    assert_ok(ctx, mc_smo_solve(ctx, &problem, s->beta, s->f, &result));
}

static long double objective(const sample *s, const mc_dual *d) {
    long double sum = 0;
    for (int64_t t = 0; t < d->m; t++)
        sum += s->beta[t] * (value_at(s, d, d->row ? d->row[t] : t) / 2 + d->q[t]);
    return sum;
}

/* ---- The free variables ---- */

/* [K_FF 1; 1' 0] [beta_F; nu] = [-q_F - K_FB beta_B; -sum of beta_B], F the free variables, by LU. */
static void solve_free_variables(const sample *s, const mc_dual *d, const int64_t *F, int64_t count, double *x) {
    const int order = (int)count + 1, one = 1;
    int *pivot = calloc((size_t)order, sizeof *pivot), info;
    double *A = calloc((size_t)(order * order), sizeof *A), rest = 0;
    for (int64_t a = 0; a < count; a++) {
        const int64_t i = d->row ? d->row[F[a]] : F[a];
        long double right = -(value_at(s, d, i) + d->q[F[a]]);
        for (int64_t b = 0; b < count; b++) {
            const int64_t j = d->row ? d->row[F[b]] : F[b];
            A[a * order + b] = s->K[i * s->n + j];
            right += (long double)s->K[i * s->n + j] * s->beta[F[b]];
        }
        A[a * order + count] = A[count * order + a] = 1;
        x[a] = (double)right;
        rest += s->beta[F[a]];
    }
    x[count] = rest; /* the sum of all is kept at 0, so F has minus what the others have */
    dgesv_(&order, &one, A, &order, pivot, x, &order, &info);
    assert_int_equal(info, 0);
    free(A);
    free(pivot);
}

static int64_t free_variables(const sample *s, const mc_dual *d, int64_t *F) {
    int64_t count = 0;
    for (int64_t t = 0; t < d->m; t++)
        if (s->beta[t] > d->low[t] && s->beta[t] < d->high[t])
            F[count++] = t;
    return count;
}

static void check_free_variables(const sample *s, const mc_dual *d, double C) {
    int64_t *F = calloc((size_t)d->m, sizeof *F);
    const int64_t count = free_variables(s, d, F);
    double *x = calloc((size_t)count + 1, sizeof *x);
    assert_true(count >= 2);
    solve_free_variables(s, d, F, count, x);
    for (int64_t a = 0; a < count; a++)
        assert_close(s->beta[F[a]], x[a], 1e-6 * C); /* K_FF of a Gaussian has a condition of 1e8 or so */
    free(F);
    free(x);
}

/* ---- Claims ---- */

/* No condition is violated by more than rounding leaves of K beta, and the free variables solve their system. */
static void check_optimal(const sample *s, const mc_dual *dual, double C) {
    const double n = (double)s->n;
    assert_true(true_violation(s, dual) <= 1e-8 * (1 + C));
    assert_close(group_sum(s, dual, 0), 0, 1e-12 * C * n);
    for (int64_t i = 0; i < s->n; i++)
        assert_close(s->f[i], (double)value_at(s, dual, i), 1e-11 * C * n);
    check_free_variables(s, dual, C);
}

/* From a rough start to the optimum. False where it gave up, which is allowed. */
static bool check_program(mercer_ctx *ctx, uint64_t item, int64_t n, double C, bool regression) {
    sample s = random_sample(n, item, 4);
    if (regression)
        as_regression(&s, C, 0.1);
    else
        as_classifier(&s, C);
    const mc_dual dual = dual_of(&s, regression);
    const mc_matrix rows = problem_of(&s, MERCER_F64, 0).rows;
    solve_roughly(ctx, &s, &dual, MERCER_F64, 0.05);
    const long double before = objective(&s, &dual);
    const double violation = true_violation(&s, &dual);
    bool moved = false;
    assert_ok(ctx, mc_active_set_newton(ctx, &dual, &rows, 1e-9, INFINITY, s.beta, s.f, &moved));
    assert_true(objective(&s, &dual) <= before && violation > 1e-3);
    if (moved)
        check_optimal(&s, &dual, C);
    else
        assert_true(true_violation(&s, &dual) == violation);
    sample_free(&s);
    return moved;
}

static void test_steps_on_the_free_variables_end_at_the_optimum(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    static const double costs[] = {0.5, 10, 1000};
    int moved = 0;
    for (uint64_t item = 0; item < 9; item++)
        for (int regression = 0; regression < 2; regression++)
            moved += check_program(ctx, 100 + 100 * (uint64_t)regression + item, 40 + 20 * (int64_t)item,
                                   costs[item % 3], regression);
    print_message("# %d of 18 programs\n", moved);
    assert_true(moved >= 12);
    close_clean(ctx);
}

/* Both variables of a row may be off 0, though no optimum has that: one of them alone is in the system that is solved,
   and what the other leaves is not to be taken for an optimum. */
static void test_two_free_variables_of_one_row(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    for (uint64_t item = 310; item < 316; item++) {
        sample s = random_sample(60, item, 4);
        bool moved;
        as_regression(&s, 10, 0.1);
        const mc_dual dual = dual_of(&s, true);
        const mc_matrix rows = problem_of(&s, MERCER_F64, 0).rows;
        solve_roughly(ctx, &s, &dual, MERCER_F64, 0.05);
        const double both = fmin(10 - s.beta[0], 10 + s.beta[s.n]) / 2;
        s.beta[0] += both;
        s.beta[s.n] -= both;
        write_f(&s, &dual);
        assert_ok(ctx, mc_active_set_newton(ctx, &dual, &rows, 1e-9, INFINITY, s.beta, s.f, &moved));
        if (moved)
            check_optimal(&s, &dual, 10);
        sample_free(&s);
    }
    close_clean(ctx);
}

/* At the optimum there is nowhere to go: what is returned is no worse, and feasible. */
static void test_the_optimum_stays(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    sample s = random_sample(80, 300, 4);
    as_classifier(&s, 5);
    const mc_dual dual = dual_of(&s, false);
    const mc_matrix rows = problem_of(&s, MERCER_F64, 0).rows;
    bool moved;
    solve_roughly(ctx, &s, &dual, MERCER_F64, 1e-9);
    const long double before = objective(&s, &dual);
    assert_ok(ctx, mc_active_set_newton(ctx, &dual, &rows, 1e-9, INFINITY, s.beta, s.f, &moved));
    assert_true(objective(&s, &dual) <= before + 1e-12L);
    assert_true(true_violation(&s, &dual) <= 1e-8);
    sample_free(&s);
    close_clean(ctx);
}

/* Returns whether it moved; it may give up, and then changes nothing. */
static bool check_floats(mercer_ctx *ctx, uint64_t item) {
    sample s = random_sample(120, item, 4);
    as_classifier(&s, 10);
    const mc_dual dual = dual_of(&s, false);
    for (int64_t i = 0; i < s.n * s.n; i++)
        s.K[i] = (double)s.single[i];
    const mc_matrix rows = problem_of(&s, MERCER_F32, 0).rows;
    bool moved;
    solve_roughly(ctx, &s, &dual, MERCER_F32, 0.05);
    const double violation = true_violation(&s, &dual);
    assert_ok(ctx, mc_active_set_newton(ctx, &dual, &rows, 1e-7, 100, s.beta, s.f, &moved));
    assert_true(!moved && true_violation(&s, &dual) == violation); /* a factor costs more than it is worth */
    assert_ok(ctx, mc_active_set_newton(ctx, &dual, &rows, 1e-7, INFINITY, s.beta, s.f, &moved));
    assert_true(moved ? true_violation(&s, &dual) <= 2e-7 : true_violation(&s, &dual) == violation);
    if (moved)
        check_free_variables(&s, &dual, 10);
    sample_free(&s);
    return moved;
}

/* With K in floats the answer is that of the rounded matrix, to which K beta belongs. */
static void test_a_matrix_of_floats(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    int moved = 0;
    for (uint64_t item = 301; item < 311; item++)
        moved += check_floats(ctx, item);
    assert_true(moved >= 5);
    close_clean(ctx);
}

/* What other variables add to f, and q takes off again, leaves every slope as it is. Returns whether it moved. */
static bool check_with_others(mercer_ctx *ctx, uint64_t item, double others) {
    sample s = random_sample(120, item, 4);
    as_classifier(&s, 10);
    mc_dual dual = dual_of(&s, false);
    const mc_matrix rows = problem_of(&s, MERCER_F64, 0).rows;
    double *q = calloc((size_t)s.n, sizeof *q);
    bool moved;
    solve_roughly(ctx, &s, &dual, MERCER_F64, 0.05);
    for (int64_t i = 0; i < s.n; i++) {
        q[i] = dual.q[i] - others * (double)(i % 7);
        s.f[i] += others * (double)(i % 7);
    }
    dual.q = q;
    assert_ok(ctx, mc_active_set_newton(ctx, &dual, &rows, 1e-9, INFINITY, s.beta, s.f, &moved));
    dual = dual_of(&s, false);
    if (moved)
        assert_true(true_violation(&s, &dual) <= 1e-7);
    free(q);
    sample_free(&s);
    return moved;
}

static void test_what_others_add_to_f_is_no_part_of_the_objective(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    for (uint64_t item = 303; item < 306; item++) {
        const bool alone = check_with_others(ctx, item, 0);
        assert_true(check_with_others(ctx, item, 100) == alone && check_with_others(ctx, item, -100) == alone);
    }
    close_clean(ctx);
}

/* Fewer than two free variables leave nothing to solve for. */
static void test_nothing_is_done_on_a_corner(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    sample s = random_sample(20, 302, 4);
    as_classifier(&s, 1);
    const mc_dual dual = dual_of(&s, false);
    const mc_matrix rows = problem_of(&s, MERCER_F64, 0).rows;
    bool moved = true;
    assert_ok(ctx, mc_active_set_newton(ctx, &dual, &rows, 1e-9, INFINITY, s.beta, s.f, &moved));
    assert_false(moved);
    for (int64_t i = 0; i < s.n; i++)
        assert_true(s.beta[i] == 0 && s.f[i] == 0);
    sample_free(&s);
    close_clean(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_steps_on_the_free_variables_end_at_the_optimum),
        cmocka_unit_test(test_two_free_variables_of_one_row),
        cmocka_unit_test(test_the_optimum_stays),
        cmocka_unit_test(test_a_matrix_of_floats),
        cmocka_unit_test(test_what_others_add_to_f_is_no_part_of_the_objective),
        cmocka_unit_test(test_nothing_is_done_on_a_corner),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
