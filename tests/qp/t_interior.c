/* t_interior.c: the interior-point method; run with the tests of SMO. */
#include "smo_of_test.h"
#include "qp/interior.h"

void test_an_interior_point_finds_the_optimum_at_any_C(void **state) {
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
            assert_ok(ctx, mc_interior_solve(ctx, &p.dual, &p.rows, NULL, s.beta, s.f, &moved));
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
void test_an_interior_point_keeps_two_sums(void **state) {
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
    assert_ok(ctx, mc_interior_solve(ctx, &p.dual, &p.rows, NULL, s.beta, s.f, &moved));
    for (int64_t t = 0; t < 2 * s.n; t++) /* the same said by q */
        s.q[t] += 0.5 * s.y[t % s.n];
    assert_true(moved && true_violation(&s, &p.dual) <= p.tolerance);
    assert_close(group_sum(&s, &p.dual, 0), 150 * (double)s.n, 1e-10);
    assert_close(group_sum(&s, &p.dual, 1), -150 * (double)s.n, 1e-10);
    sample_free(&s);
    close_clean(ctx);
}

void test_an_interior_point_needs_no_upper_bound(void **state) {
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
    assert_ok(ctx, mc_interior_solve(ctx, &p.dual, &p.rows, NULL, s.beta, s.f, &moved));
    assert_close(s.beta[1], 0.125, 1e-7);
    assert_close(s.beta[0], -s.beta[1], 1e-12);
    s.low[1] = -INFINITY; /* no bound at all: nothing is done */
    assert_ok(ctx, mc_interior_solve(ctx, &p.dual, &p.rows, NULL, s.beta, s.f, &moved));
    assert_false(moved);
    sample_free(&s);
    close_clean(ctx);
}
