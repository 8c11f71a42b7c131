/* t_leave_out.c: rows and folds left out in closed form, from a factor and from a spectrum, against refitting without
   them by elimination in long double: random systems, weights, several outputs, with and without an intercept. */
#include "base/rng.h"
#include "learn/common/leave_out.h"
#include "linalg/cholesky.h"
#include "linalg/eigen.h"
#include "support.h"
#include <math.h>
#include <string.h>

enum { N = 70, T = 2, COLUMNS = T + 1, LAMBDAS = 3 };

typedef struct smoother {
    double K[N][N], y[N][T], root[N], lambda[LAMBDAS];
    bool intercept, weighted;
} smoother;

static void draw(smoother *m, uint64_t round) {
    mc_rng r = mc_rng_at(test_seed(), 900, round);
    double x[N][3];
    for (int i = 0; i < N; i++) {
        for (int k = 0; k < 3; k++)
            x[i][k] = mc_rng_normal(&r);
        for (int k = 0; k < T; k++)
            m->y[i][k] = 3 + sin(x[i][k]) + 0.1 * mc_rng_normal(&r);
    }
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            m->K[i][j] = exp(-pow(x[i][0] - x[j][0], 2) - pow(x[i][1] - x[j][1], 2) - pow(x[i][2] - x[j][2], 2));
    m->weighted = round & 1;
    m->intercept = round & 2;
    for (int i = 0; i < N; i++)
        m->root[i] = m->weighted ? 0.5 + mc_rng_uniform(&r) : 1;
    for (int l = 0; l < LAMBDAS; l++)
        m->lambda[l] = pow(10, -2 * l) * (1 + mc_rng_uniform(&r));
}

/* ---- Refitting ---- */

/* a (size x size + T) <- its last T columns solved for, with pivots. */
static void eliminate(int size, long double a[N + 1][N + 1 + T]) {
    for (int c = 0; c < size; c++) {
        int pivot = c;
        for (int i = c; i < size; i++)
            pivot = fabsl(a[i][c]) > fabsl(a[pivot][c]) ? i : pivot;
        for (int j = 0; j < size + T; j++) {
            const long double swap = a[c][j];
            a[c][j] = a[pivot][j];
            a[pivot][j] = swap;
        }
        for (int i = 0; i < size; i++)
            for (int j = size + T - 1; i != c && j >= c; j--)
                a[i][j] -= a[i][c] / a[c][c] * a[c][j];
    }
    for (int i = 0; i < size; i++)
        for (int k = 0; k < T; k++)
            a[i][size + k] /= a[i][i];
}

/* y - f - b on the rows of a fold, from the others alone: K alpha + lambda W^-1 alpha + b = y, sum alpha = 0. */
static void refit(const smoother *m, double lambda, const int64_t *fold, int64_t out, double residuals[N][T]) {
    static long double a[N + 1][N + 1 + T];
    int kept[N], n = 0;
    for (int i = 0; i < N; i++)
        if (fold[i] != out)
            kept[n++] = i;
    const int size = n + m->intercept;
    memset(a, 0, sizeof a);
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++)
            a[i][j] = m->K[kept[i]][kept[j]];
        a[i][i] += lambda / ((long double)m->root[kept[i]] * m->root[kept[i]]);
        if (m->intercept)
            a[i][n] = a[n][i] = 1;
        for (int k = 0; k < T; k++)
            a[i][size + k] = m->y[kept[i]][k];
    }
    eliminate(size, a);
    for (int row = 0; row < N; row++)
        for (int k = 0; fold[row] == out && k < T; k++) {
            long double f = m->intercept ? a[n][size + k] : 0;
            for (int i = 0; i < n; i++)
                f += m->K[row][kept[i]] * a[i][size + k];
            residuals[row][k] = (double)(m->y[row][k] - f);
        }
}

static void assert_residuals(const double *got, double wanted[N][T]) {
    for (int i = 0; i < N; i++)
        for (int k = 0; k < T; k++)
            assert_close(got[i * T + k], wanted[i][k], 1e-8 * (1 + fabs(wanted[i][k])));
}

/* ---- From a factor ---- */

typedef struct solved {
    double A[N * (N + 1) / 2]; /* the factor */
    double X[N * COLUMNS];
    mc_leave_out out;
} solved;

static void move_intercept(mc_leave_out *x, double *X) {
    mc_leave_out_begin(x);
    for (int k = 0; k < T && x->intercept; k++) {
        double above = 0;
        for (int i = 0; i < N; i++)
            above += mc_leave_out_root(x, i) * X[i * x->step + k];
        for (int i = 0; i < N; i++)
            X[i * x->step + k] -= above / x->g * X[i * x->step + T];
    }
}

static void solve(mercer_ctx *ctx, const smoother *m, double lambda, solved *s) {
    int64_t bad;
    for (int i = 0; i < N; i++) {
        for (int j = 0; j <= i; j++)
            s->A[mc_packed_place(N, i, j)] = m->root[i] * m->K[i][j] * m->root[j] + (i == j ? lambda : 0);
        for (int k = 0; k < T; k++)
            s->X[i * COLUMNS + k] = m->root[i] * m->y[i][k];
        s->X[i * COLUMNS + T] = m->root[i];
    }
    assert_ok(ctx, mc_potrf(ctx, mc_packed(N, s->A), &bad));
    assert_int_equal(bad, 0);
    assert_ok(ctx, mc_potrs(ctx, mc_packed(N, s->A), mc_row_major(s->X, N, COLUMNS, COLUMNS)));
    s->out = (mc_leave_out){N, T, m->intercept, m->weighted ? m->root : NULL, s->X, COLUMNS, 0};
    move_intercept(&s->out, s->X);
}

static void each_row_is_its_own_fold(int64_t *fold) {
    for (int i = 0; i < N; i++)
        fold[i] = i;
}

static void test_rows_by_the_diagonal_of_the_inverse(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    static smoother m;
    static solved s;
    int64_t fold[N];
    double wanted[N][T], B[N], E[N * T];
    each_row_is_its_own_fold(fold);
    for (uint64_t round = 0; round < 4; round++) {
        draw(&m, round);
        solve(ctx, &m, m.lambda[0], &s);
        assert_ok(ctx, mc_cholesky_inverse_diagonal(ctx, mc_packed(N, s.A), B));
        const mc_loo_result all = mc_leave_rows_out(&s.out, B, 1, NULL, 0, E, T);
        assert_int_equal(all.broken, -1);
        double squares = 0;
        for (int i = 0; i < N; i++) {
            refit(&m, m.lambda[0], fold, i, wanted);
            for (int k = 0; k < T; k++) {
                squares += pow(m.root[i] * wanted[i][k], 2);
                E[i * T + k] /= m.root[i];
            }
        }
        assert_residuals(E, wanted);
        assert_close(all.squares, squares, 1e-8 * squares);
    }
    close_clean(ctx);
}

/* Sizes on both sides of what the spectrum takes for a small fold. */
static void draw_folds(int64_t *fold, uint64_t round) {
    mc_rng r = mc_rng_at(test_seed(), 901, round);
    const int size[] = {1, 2, 16, 17, 34};
    for (int f = 0, i = 0; f < 5; f++)
        for (int a = 0; a < size[f]; a++)
            fold[i++] = 10 * f;
    for (int i = N - 1; i > 0; i--) {
        const int64_t j = (int64_t)(mc_rng_uniform(&r) * (i + 1)), swap = fold[i];
        fold[i] = fold[j];
        fold[j] = swap;
    }
}

static void refit_folds(const smoother *m, double lambda, const int64_t *fold, double wanted[N][T]) {
    for (int64_t f = 0; f < 5; f++)
        refit(m, lambda, fold, 10 * f, wanted);
}

static void test_folds_by_the_inverse(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    static smoother m;
    static solved s;
    static double C[N * N], E[N * T], left[N * T], wanted[N][T];
    int64_t fold[N], rows[N];
    for (uint64_t round = 0; round < 4; round++) {
        draw(&m, round);
        draw_folds(fold, round);
        solve(ctx, &m, m.lambda[1], &s);
        assert_ok(ctx, mc_potri(ctx, mc_packed(N, s.A)));
        for (int64_t f = 0; f < 5; f++) {
            int64_t count = 0;
            bool defined = false;
            for (int i = 0; i < N; i++)
                if (fold[i] == 10 * f)
                    rows[count++] = i;
            const mc_dense room = f % 2 ? mc_packed(count, C) : mc_column_major(C, count, count, count);
            assert_ok(ctx, mc_leave_fold_out(ctx, &s.out, s.A, rows, count, room, E, &defined));
            assert_true(defined);
            for (int64_t a = 0; a < count * T; a++)
                left[rows[a / T] * T + a % T] = E[a] / m.root[rows[a / T]];
        }
        refit_folds(&m, m.lambda[1], fold, wanted);
        assert_residuals(left, wanted);
    }
    close_clean(ctx);
}

/* ---- From a spectrum ---- */

typedef struct spectrum {
    double U[N * N], m[N], H[N * LAMBDAS], X[N * LAMBDAS * COLUMNS];
    mc_leave_out out[LAMBDAS];
} spectrum;

static double coordinate(const smoother *m, const spectrum *s, int j, int k) {
    double sum = 0;
    for (int i = 0; i < N; i++)
        sum += s->U[j * N + i] * m->root[i] * (k < T ? m->y[i][k] : 1);
    return sum;
}

static void decompose(mercer_ctx *ctx, const smoother *m, spectrum *s) {
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            s->U[i * N + j] = m->root[i] * m->K[i][j] * m->root[j];
    assert_ok(ctx, mc_syevd(ctx, mc_column_major(s->U, N, N, N), s->m));
    memset(s->X, 0, sizeof s->X);
    for (int l = 0; l < LAMBDAS; l++) {
        for (int j = 0; j < N; j++) {
            const double h = s->H[j * LAMBDAS + l] = 1 / (s->m[j] + m->lambda[l]);
            for (int k = 0; k < COLUMNS; k++) {
                const double c = h * coordinate(m, s, j, k);
                for (int i = 0; i < N; i++)
                    s->X[(i * LAMBDAS + l) * COLUMNS + k] += s->U[j * N + i] * c;
            }
        }
        double *X = s->X + l * COLUMNS;
        s->out[l] = (mc_leave_out){N, T, m->intercept, m->weighted ? m->root : NULL, X, LAMBDAS * COLUMNS, 0};
        move_intercept(&s->out[l], X);
    }
}

static void test_rows_by_the_spectrum(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    static smoother m;
    static spectrum s;
    static double B[N * LAMBDAS], single[N], h[N], E[N * T], wanted[N][T];
    int64_t fold[N];
    each_row_is_its_own_fold(fold);
    for (uint64_t round = 0; round < 4; round++) {
        const int l = (int)round % LAMBDAS;
        draw(&m, round);
        decompose(ctx, &m, &s);
        assert_ok(ctx, mc_spectrum_inverse_diagonals(ctx, N, s.U, s.H, LAMBDAS, B));
        for (int j = 0; j < N; j++)
            h[j] = s.H[j * LAMBDAS + l];
        assert_ok(ctx, mc_spectrum_inverse_diagonals(ctx, N, s.U, h, 1, single));
        for (int i = 0; i < N; i++)
            assert_close(single[i], B[i * LAMBDAS + l], 1e-12 * single[i]);
        assert_int_equal(mc_leave_rows_out(&s.out[l], B + l, LAMBDAS, NULL, 0, E, T).broken, -1);
        for (int i = 0; i < N; i++)
            refit(&m, m.lambda[l], fold, i, wanted);
        for (int i = 0; i < N * T; i++)
            E[i] /= m.root[i / T];
        assert_residuals(E, wanted);
    }
    close_clean(ctx);
}

/* The rows in the order of their folds, without the data that mc_fold_order_open reads. */
static void order_folds(const int64_t *fold, int64_t *place, int64_t *order, mc_fold_order *out) {
    int64_t count = 0;
    for (int64_t f = 0; f < 5; f++)
        for (int64_t i = 0; i < N; i++)
            if (fold[i] == 10 * f)
                order[count++] = i;
    for (int64_t i = 0; i < N; i++)
        place[i] = i;
    *out = (mc_fold_order){.fold = fold, .n = N, .place = place, .order = order, .largest = 34};
}

static void test_folds_by_the_spectrum(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    static smoother m;
    static spectrum s;
    static double left[LAMBDAS * N * T], wanted[N][T];
    double squares[LAMBDAS];
    int64_t fold[N], place[N], order[N];
    mc_fold_order by;
    for (uint64_t round = 0; round < 4; round++) {
        draw(&m, round);
        draw_folds(fold, round);
        order_folds(fold, place, order, &by);
        decompose(ctx, &m, &s);
        assert_ok(ctx, mc_spectrum_leave_folds_out(ctx, &by, s.out, s.U, s.H, LAMBDAS, left, squares));
        for (int l = 0; l < LAMBDAS; l++) {
            double sum = 0;
            refit_folds(&m, m.lambda[l], fold, wanted);
            assert_residuals(left + l * N * T, wanted);
            for (int i = 0; i < N * T; i++)
                sum += pow(m.root[i / T] * wanted[i / T][i % T], 2);
            assert_close(squares[l], sum, 1e-8 * sum);
        }
    }
    close_clean(ctx);
}

/* A row that alone carries the intercept cannot be left out, nor one whose diagonal contradicts its system. */
static void test_rows_that_cannot_leave_are_named(void **state) {
    (void)state;
    const double X[] = {1, 1, 2, 0}, B[] = {1, 0.5}, A[] = {1, 1};
    mc_leave_out x = {2, 1, true, NULL, X, 2, 0};
    mc_leave_out_begin(&x);
    assert_int_equal(mc_leave_rows_out(&x, B, 1, NULL, 0, NULL, 0).broken, 0);
    x.intercept = false;
    assert_int_equal(mc_leave_rows_out(&x, B, 1, A, 0, NULL, 0).broken, 1);
    assert_int_equal(mc_leave_rows_out(&x, B, 1, A, 1, NULL, 0).broken, -1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_by_the_diagonal_of_the_inverse),
        cmocka_unit_test(test_folds_by_the_inverse),
        cmocka_unit_test(test_rows_by_the_spectrum),
        cmocka_unit_test(test_folds_by_the_spectrum),
        cmocka_unit_test(test_rows_that_cannot_leave_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
