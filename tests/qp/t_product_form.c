/* t_product_form.c: K = F F', D + F F' in product form, and the interior-point method over both. */
#include "smo_of_test.h"
#include "base/rng.h"
#include "qp/interior.h"
#include "qp/product_form.h"
#include <float.h>

enum { N = 240, COLUMNS = 11 };

typedef struct cloud {
    double x[N * COLUMNS], diagonal[N];
} cloud;

static double dot(const cloud *c, int64_t i, int64_t j) {
    double sum = 0;
    for (int k = 0; k < COLUMNS; k++)
        sum += c->x[i * COLUMNS + k] * c->x[j * COLUMNS + k];
    return sum;
}

static mercer_status column(mercer_ctx *ctx, const void *arg, int64_t i, double *out) {
    (void)ctx;
    for (int64_t j = 0; j < N; j++)
        out[j] = dot(arg, i, j);
    return MERCER_OK;
}

static cloud random_cloud(void) {
    cloud c;
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 1);
    for (int64_t i = 0; i < N * COLUMNS; i++)
        c.x[i] = mc_rng_normal(&rng);
    for (int64_t i = 0; i < N; i++)
        c.diagonal[i] = dot(&c, i, i);
    return c;
}

static double entry(const mc_pivoted_cholesky *t, int64_t i, int64_t j) {
    double sum = 0;
    for (int64_t p = 0; p < t->panels; p++)
        for (int c = 0; c < MC_PIVOTED_PANEL; c++)
            sum += t->F[(p * N + i) * MC_PIVOTED_PANEL + c] * t->F[(p * N + j) * MC_PIVOTED_PANEL + c];
    return sum;
}

static void test_a_factor_of_low_rank_is_the_matrix(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    const cloud c = random_cloud();
    mc_pivoted_cholesky low_rank;
    assert_ok(ctx, mc_pivoted_cholesky_open(ctx, N, c.diagonal, column, &c, COLUMNS - 1, &low_rank));
    assert_true(low_rank.rank == -1 && !low_rank.F); /* above what was asked for */
    assert_ok(ctx, mc_pivoted_cholesky_open(ctx, N, c.diagonal, column, &c, N / 2, &low_rank));
    assert_int_equal(low_rank.rank, COLUMNS);
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < N; j++)
            assert_close(entry(&low_rank, i, j), dot(&c, i, j), 1e-14 * COLUMNS);
    mc_pivoted_cholesky_close(&low_rank);
    close_clean(ctx);
}

/* Gaussian elimination of D + F F' in long double, the pivots as they come: it is positive definite. */
static void eliminate(const mc_pivoted_cholesky *t, const double *D, const double *b, double *x) {
    long double *A = calloc(N * (N + 1), sizeof *A);
    for (int64_t i = 0; i < N; i++) {
        for (int64_t j = 0; j < N; j++)
            A[i * (N + 1) + j] = (long double)entry(t, i, j) + (i == j ? (long double)D[i] : 0);
        A[i * (N + 1) + N] = b[i];
    }
    for (int64_t k = 0; k < N; k++)
        for (int64_t i = k + 1; i < N; i++) {
            const long double factor = A[i * (N + 1) + k] / A[k * (N + 1) + k];
            for (int64_t j = k; j <= N; j++)
                A[i * (N + 1) + j] -= factor * A[k * (N + 1) + j];
        }
    for (int64_t i = N - 1; i >= 0; i--) {
        long double sum = A[i * (N + 1) + N];
        for (int64_t j = i + 1; j < N; j++)
            sum -= A[i * (N + 1) + j] * (long double)x[j];
        x[i] = (double)(sum / A[i * (N + 1) + i]);
    }
    free(A);
}

/* D as in the last steps of an interior-point method: as few entries are small as F has columns, the others large. */
static void test_the_product_form_solves_where_the_diagonal_spans_all_scales(void **state) {
    (void)state;
    const cloud c = random_cloud();
    double b[N], D[N], x[N], y[N], first[N];
    for (int threads = 1; threads <= 3; threads += 2) {
        mercer_ctx *ctx = open_ctx(threads);
        mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 2);
        mc_pivoted_cholesky low_rank;
        mc_product_form form;
        mc_work work;
        assert_ok(ctx, mc_pivoted_cholesky_open(ctx, N, c.diagonal, column, &c, N / 2, &low_rank));
        mc_work counted = {0};
        mc_product_form_lay_out(&counted, N, low_rank.panels, &form);
        assert_ok(ctx, mc_work_open(ctx, &work, counted.used));
        mc_product_form_lay_out(&work, N, low_rank.panels, &form);
        form.low_rank = &low_rank;
        for (int64_t i = 0; i < N; i++) {
            const double u = mc_rng_uniform(&rng);
            D[i] = i % 23 == 0 ? pow(10, -14 + 4 * u) : pow(10, -3 + 15 * u);
            b[i] = mc_rng_normal(&rng);
        }
        memcpy(form.d, D, sizeof D);
        memcpy(x, b, sizeof b);
        assert_ok(ctx, mc_product_form_factor(ctx, &form));
        mc_product_form_solve(&form, x);
        eliminate(&low_rank, D, b, y);
        double top = 0;
        for (int64_t i = 0; i < N; i++)
            top = fmax(top, fabs(y[i]));
        for (int64_t i = 0; i < N; i++)
            assert_close(x[i], y[i], 1e-9 * top);
        assert_true(threads == 1 || !memcmp(first, x, sizeof x));
        memcpy(first, x, sizeof x);
        mc_work_close(&work);
        mc_pivoted_cholesky_close(&low_rank);
        close_clean(ctx);
    }
}

/* Multipliers at any C, from F alone: nobody asks for rows. */
static void test_an_interior_point_needs_only_a_factor_of_low_rank(void **state) {
    (void)state;
    const cloud c = random_cloud();
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 3);
    sample s = sample_new(N);
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < N; j++)
            s.K[i * N + j] = dot(&c, i, j);
    for (int64_t i = 0; i < N; i++) {
        s.diagonal[i] = c.diagonal[i];
        s.y[i] = c.x[i * COLUMNS] + 0.5 * mc_rng_normal(&rng) > 0 ? 1 : -1;
    }
    for (double C = 1e-6; C < 1e9; C *= 1e3) {
        mercer_ctx *ctx = open_ctx(2);
        mc_pivoted_cholesky low_rank;
        bool moved;
        assert_ok(ctx, mc_pivoted_cholesky_open(ctx, N, c.diagonal, column, &c, N / 2, &low_rank));
        as_classifier(&s, C);
        const mc_smo_problem p = problem_of(&s, MERCER_F64, 1e-4);
        const mc_matrix none = {.n = N, .dtype = MERCER_F64, .diag = s.diagonal};
        memset(s.beta, 0, N * sizeof *s.beta);
        memset(s.f, 0, N * sizeof *s.f);
        assert_ok(ctx, mc_interior_solve(ctx, &p.dual, &none, &low_rank, s.beta, s.f, &moved));
        assert_true(moved && true_violation(&s, &p.dual) <= fmax(1e-5, 1e-13 * C * N));
        assert_close(group_sum(&s, &p.dual, 0), 0, 1e-12 * C * N);
        mc_pivoted_cholesky_close(&low_rank);
        close_clean(ctx);
    }
    sample_free(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_factor_of_low_rank_is_the_matrix),
        cmocka_unit_test(test_the_product_form_solves_where_the_diagonal_spans_all_scales),
        cmocka_unit_test(test_an_interior_point_needs_only_a_factor_of_low_rank),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
