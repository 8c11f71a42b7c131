/* Every operation on handles against plain loops: random shapes, both layouts of every operand, both precisions, and
   leading dimensions larger than need be. */
#include "base/rng.h"
#include "linalg/cholesky.h"
#include "linalg/dense.h"
#include "linalg/eigen.h"
#include "support.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 40, MOST = 40, GAP = 3 };

static mc_rng rng;

static int64_t any(int64_t most) {
    return 1 + mc_rng_below(&rng, most);
}

static double get(mc_dense A, int64_t i, int64_t j) {
    const int64_t at = A.layout == MC_ROW_MAJOR      ? i * A.ld + j
                       : A.layout == MC_COLUMN_MAJOR ? i + j * A.ld
                                                     : mc_packed_place(A.rows, i > j ? i : j, i > j ? j : i);
    return A.dtype == MERCER_F64 ? ((const double *)A.a)[at] : (double)((const float *)A.a)[at];
}

/* A matrix of random numbers that lies in some way; free a. */
static mc_dense random_matrix(mercer_dtype dtype, int64_t rows, int64_t columns) {
    const bool by_rows = mc_rng_below(&rng, 2);
    const int64_t ld = (by_rows ? columns : rows) + mc_rng_below(&rng, GAP), count = ld * (by_rows ? rows : columns);
    double *wide = malloc((size_t)count * sizeof *wide);
    float *narrow = malloc((size_t)count * sizeof *narrow);
    assert_true(wide && narrow);
    for (int64_t i = 0; i < count; i++)
        narrow[i] = (float)(wide[i] = mc_rng_normal(&rng));
    free(dtype == MERCER_F64 ? (void *)narrow : (void *)wide);
    if (dtype == MERCER_F64)
        return by_rows ? mc_row_major(wide, rows, columns, ld) : mc_column_major(wide, rows, columns, ld);
    return by_rows ? mc_row_major_f32(narrow, rows, columns, ld) : mc_column_major_f32(narrow, rows, columns, ld);
}

static double *copy(mc_dense A) {
    double *out = malloc((size_t)(A.rows * A.columns) * sizeof *out);
    assert_non_null(out);
    for (int64_t i = 0; i < A.rows; i++)
        for (int64_t j = 0; j < A.columns; j++)
            out[i * A.columns + j] = get(A, i, j);
    return out;
}

static double tolerance(mercer_dtype dtype) {
    return dtype == MERCER_F64 ? 1e-12 : 1e-4;
}

static double product(mc_dense A, mc_dense B, int64_t i, int64_t j) {
    double sum = 0;
    for (int64_t k = 0; k < A.columns; k++)
        sum += get(A, i, k) * get(B, k, j);
    return sum;
}

static void check_products(mercer_dtype dtype) {
    const int64_t m = any(MOST), n = any(MOST), k = any(MOST);
    mc_dense A = random_matrix(dtype, m, k), B = random_matrix(dtype, k, n), C = random_matrix(dtype, m, n);
    mc_dense x = random_matrix(dtype, k, 1), y = random_matrix(dtype, m, 1), S = random_matrix(dtype, m, m);
    double *c = copy(C), *before = copy(y), *s = copy(S);
    mc_gemm(0.5, A, B, -2, C);
    mc_gemv(0.5, A, x, -2, y);
    mc_syrk(0.5, A, -2, S);
    for (int64_t i = 0; i < m; i++) {
        assert_close(get(y, i, 0), 0.5 * product(A, x, i, 0) - 2 * before[i], 100 * tolerance(dtype));
        for (int64_t j = 0; j < n; j++)
            assert_close(get(C, i, j), 0.5 * product(A, B, i, j) - 2 * c[i * n + j], 100 * tolerance(dtype));
        for (int64_t j = 0; j < m; j++) /* the other half stays as it was */
            assert_close(get(S, i, j),
                         j > i ? s[i * m + j] : 0.5 * product(A, mc_transposed(A), i, j) - 2 * s[i * m + j],
                         100 * tolerance(dtype));
    }
    void *all[] = {A.a, B.a, C.a, x.a, y.a, S.a, c, before, s};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
}

static void test_products(void **state) {
    (void)state;
    rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 1);
    for (int round = 0; round < ROUNDS; round++)
        check_products(round % 2 ? MERCER_F64 : MERCER_F32);
}

/* The entry of a lower triangle whose diagonal is far from 0: what stands above is not looked at. */
static double lower(mc_dense L, int64_t i, int64_t j) {
    return i < j ? 0 : get(L, i, j);
}

static void raise_diagonal(mc_dense L) {
    for (int64_t i = 0; i < L.rows; i++)
        if (L.dtype == MERCER_F64)
            ((double *)L.a)[i * (L.ld + 1)] = 8 + (double)i;
        else
            ((float *)L.a)[i * (L.ld + 1)] = 8 + (float)i;
}

static void check_triangles(mercer_dtype dtype, bool transposed) {
    const int64_t n = any(MOST), t = any(MOST);
    mc_dense L = random_matrix(dtype, n, n), B = random_matrix(dtype, n, t);
    raise_diagonal(L);
    double *b = copy(B);
    mc_trmm(3, L, transposed, B);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < t; j++) {
            double sum = 0;
            for (int64_t k = 0; k < n; k++)
                sum += (transposed ? lower(L, k, i) : lower(L, i, k)) * b[k * t + j];
            assert_close(get(B, i, j), 3 * sum, 1000 * tolerance(dtype));
        }
    mc_dense x = mc_submatrix(B, 0, 0, n, 1); /* its steps are ld long where B lies by rows */
    mc_trsv(L, transposed, x);
    for (int64_t i = 0; i < n; i++)
        assert_close(get(x, i, 0), 3 * b[i * t], 300 * tolerance(dtype));
    mc_trmm(1, L, transposed, x);
    mc_trsm(1. / 3, L, transposed, B);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < t; j++)
            assert_close(get(B, i, j), b[i * t + j], 100 * tolerance(dtype));
    free(L.a);
    free(B.a);
    free(b);
}

static void test_triangles(void **state) {
    (void)state;
    rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 2);
    for (int round = 0; round < ROUNDS; round++)
        check_triangles(round % 2 ? MERCER_F64 : MERCER_F32, round / 2 % 2);
}

/* A = I + v v' / n in this layout, of which only the lower half is written. */
static mc_dense definite(mc_layout layout, mercer_dtype dtype, int64_t n, const double *v) {
    const int64_t ld = n + GAP;
    double *wide = malloc((size_t)(n * ld) * sizeof *wide);
    float *narrow = malloc((size_t)(n * ld) * sizeof *narrow);
    assert_true(wide && narrow);
    for (int64_t i = 0; i < n * ld; i++)
        narrow[i] = (float)(wide[i] = NAN);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j <= i; j++) {
            const int64_t at = layout == MC_PACKED      ? mc_packed_place(n, i, j)
                               : layout == MC_ROW_MAJOR ? i * ld + j
                                                        : i + j * ld;
            narrow[at] = (float)(wide[at] = (i == j) + v[i] * v[j] / (double)n);
        }
    free(dtype == MERCER_F64 ? (void *)narrow : (void *)wide);
    return (mc_dense){.layout = layout,
                      .dtype = dtype,
                      .rows = n,
                      .columns = n,
                      .ld = layout == MC_PACKED ? 0 : ld,
                      .a = dtype == MERCER_F64 ? (void *)wide : (void *)narrow};
}

/* A^-1 = I - v v' / (n + v'v), by Sherman and Morrison. */
static void check_factor(mercer_ctx *ctx, mc_layout layout, mercer_dtype dtype, int64_t n) {
    double *v = malloc((size_t)n * sizeof *v), size = (double)n;
    assert_non_null(v);
    for (int64_t i = 0; i < n; i++) {
        v[i] = mc_rng_normal(&rng);
        size += v[i] * v[i];
    }
    mc_dense A = definite(layout, dtype, n, v), X = random_matrix(dtype, n, 3);
    double *x = copy(X);
    int64_t bad = -1;
    assert_ok(ctx, mc_potrf(ctx, A, &bad));
    assert_int_equal(bad, 0);
    assert_ok(ctx, mc_potrs(ctx, A, X));
    for (int64_t c = 0; c < 3; c++) {
        double along = 0;
        for (int64_t i = 0; i < n; i++)
            along += v[i] * x[i * 3 + c];
        for (int64_t i = 0; i < n; i++)
            assert_close(get(X, i, c), x[i * 3 + c] - v[i] * along / size, 10 * tolerance(dtype));
    }
    assert_ok(ctx, mc_potri(ctx, A));
    for (int64_t i = 0; i < n; i += 7)
        for (int64_t j = 0; j <= i; j += 3)
            assert_close(get(A, i, j), (i == j) - v[i] * v[j] / size, 10 * tolerance(dtype));
    free(A.a);
    free(X.a);
    free(x);
    free(v);
}

static void test_factors_in_every_layout_and_precision(void **state) {
    (void)state;
    const int64_t orders[] = {1, 2, 37, 256, 257, 601};
    rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 3);
    mercer_ctx *ctx = open_ctx(2);
    for (size_t k = 0; k < sizeof orders / sizeof *orders; k++)
        for (int layout = MC_COLUMN_MAJOR; layout <= MC_PACKED; layout++) {
            check_factor(ctx, (mc_layout)layout, MERCER_F64, orders[k]);
            check_factor(ctx, (mc_layout)layout, MERCER_F32, orders[k]);
        }
    close_clean(ctx);
}

/* Of rank 2: the third pivot is nothing but rounding. */
static void test_a_pivoted_factor_stops_at_the_rank(void **state) {
    (void)state;
    enum { N = 9 };
    double A[N * N], L[N * N], u[N], v[N];
    int64_t pivots[N], rank = 0;
    rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 4);
    mercer_ctx *ctx = open_ctx(1);
    for (int i = 0; i < N; i++) {
        u[i] = mc_rng_normal(&rng);
        v[i] = mc_rng_normal(&rng);
    }
    for (int i = 0; i < N * N; i++)
        L[i] = A[i] = u[i % N] * u[i / N] + v[i % N] * v[i / N];
    assert_ok(ctx, mc_pstrf(ctx, mc_column_major(L, N, N, N), 1e-12, pivots, &rank));
    assert_int_equal(rank, 2);
    for (int i = 0; i < N; i++)
        for (int j = 0; j <= i; j++) {
            const double sum = L[i] * L[j] + (j > 0 ? L[i + N] * L[j + N] : 0);
            assert_close(sum, A[pivots[i] + N * pivots[j]], 1e-12);
        }
    assert_fails(ctx, mc_pstrf(ctx, mc_packed(N, L), 0, pivots, &rank), MERCER_INVALID, "square");
    close_clean(ctx);
}

extern void dpstrf_(const char *uplo, const int *n, double *A, const int *ld, int *pivots, int *rank,
                    const double *tolerance, double *work, int *info, size_t);

/* The same pivots and factor as LAPACK's on one thread, and the same bits on one and on three. */
static void check_pivoted_factor(int64_t n, int64_t columns, bool by_rows) {
    const int64_t ld = n + GAP;
    double *A[3], *G = malloc((size_t)(n * columns) * sizeof *G), *work = malloc((size_t)n * 16);
    int *found = malloc((size_t)n * sizeof *found);
    int64_t *pivots[2], rank[2];
    for (int64_t i = 0; i < n * columns; i++)
        G[i] = mc_rng_normal(&rng) * exp2((double)(i / columns % 7)); /* far apart: no two pivots are near */
    for (int k = 0; k < 3; k++)
        assert_non_null(A[k] = calloc((size_t)(n * ld), sizeof *A[k]));
    mc_gemm(1, mc_row_major(G, n, columns, columns), mc_transposed(mc_row_major(G, n, columns, columns)), 0,
            mc_row_major(A[0], n, n, ld));
    for (int k = 1; k < 3; k++)
        memcpy(A[k], A[0], (size_t)(n * ld) * sizeof *A[0]);
    for (int k = 0; k < 2; k++) {
        mercer_ctx *ctx = open_ctx(k == 0 ? 1 : 3);
        assert_non_null(pivots[k] = malloc((size_t)n * sizeof *pivots[k]));
        const mc_dense M = by_rows ? mc_row_major(A[k], n, n, ld) : mc_column_major(A[k], n, n, ld);
        assert_ok(ctx, mc_pstrf(ctx, M, 1e-9, pivots[k], &rank[k]));
        close_clean(ctx);
    }
    const int order = (int)n, step = (int)ld;
    const double tolerance = 1e-9;
    int theirs = 0, info = 0;
    dpstrf_(by_rows ? "U" : "L", &order, A[2], &step, found, &theirs, &tolerance, work, &info, 1);
    assert_int_equal(rank[0], theirs);
    assert_int_equal(rank[1], theirs);
    assert_memory_equal(A[0], A[1], (size_t)(n * ld) * sizeof *A[0]);
    assert_memory_equal(pivots[0], pivots[1], (size_t)n * sizeof *pivots[0]);
    for (int64_t j = 0; j < theirs; j++) {
        assert_int_equal(pivots[0][j], found[j] - 1);
        for (int64_t i = j; i < n; i++) {
            const int64_t at = by_rows ? i * ld + j : i + j * ld;
            assert_close(A[0][at], A[2][at], 1e-8 * fabs(A[2][0]));
        }
    }
    for (int k = 0; k < 3; k++)
        free(A[k]);
    free(pivots[0]), free(pivots[1]), free(G), free(work), free(found);
}

static void test_a_pivoted_factor_is_lapacks(void **state) {
    (void)state;
    const int64_t orders[] = {1, 2, 63, 64, 65, 130, 700};
    rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 5);
    for (size_t k = 0; k < sizeof orders / sizeof *orders; k++)
        for (int by_rows = 0; by_rows < 2; by_rows++) {
            check_pivoted_factor(orders[k], orders[k] + 3, by_rows);
            check_pivoted_factor(orders[k], (orders[k] + 2) / 3, by_rows);
        }
}

static void check_eigen(mercer_ctx *ctx, int64_t n) {
    const int64_t ld = n + GAP;
    double *A = malloc((size_t)(n * ld) * sizeof *A), *U = malloc((size_t)(n * ld) * sizeof *U);
    double *w = malloc((size_t)n * sizeof *w), *G = malloc((size_t)n * 8), *X = malloc((size_t)n * 8);
    assert_true(A && U && w && G && X);
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < ld; i++)
            U[i + j * ld] = A[i + j * ld] =
                i >= n ? NAN : cos((double)((i > j ? i : j) + 1) * 0.7) / (double)(1 + (i < j ? i : j));
    const mc_dense u = mc_column_major(U, n, n, ld);
    assert_ok(ctx, mc_syevd(ctx, u, w));
    for (int64_t i = 0; i < n; i++) /* A (column 0 of A): U diag(w) U' times it */
        X[i] = A[i];
    assert_ok(ctx, mc_parallel_gemm(ctx, mc_transposed(u), mc_row_major(X, n, 1, 1), mc_row_major(G, n, 1, 1)));
    for (int64_t i = 0; i < n; i++)
        G[i] *= w[i];
    assert_ok(ctx, mc_parallel_gemm(ctx, u, mc_row_major(G, n, 1, 1), mc_row_major(X, n, 1, 1)));
    for (int64_t i = 0; i < n; i++) {
        double sum = 0;
        for (int64_t k = 0; k < n; k++)
            sum += A[i + k * ld] * A[k];
        assert_close(X[i], sum, 1e-12);
    }
    for (int64_t j = 0; j < n; j++) /* what stands between the columns is another's */
        assert_true(isnan(U[n + j * ld]));
    void *all[] = {A, U, w, G, X};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
}

static void test_eigenvectors_of_a_part_of_a_matrix(void **state) {
    (void)state;
    double A[1] = {1}, w;
    mercer_ctx *ctx = open_ctx(2);
    check_eigen(ctx, 30);
    check_eigen(ctx, 300);
    assert_fails(ctx, mc_syevd(ctx, mc_row_major(A, 1, 1, 1), &w), MERCER_INVALID, "by columns");
    close_clean(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_products),
        cmocka_unit_test(test_triangles),
        cmocka_unit_test(test_factors_in_every_layout_and_precision),
        cmocka_unit_test(test_a_pivoted_factor_stops_at_the_rank),
        cmocka_unit_test(test_a_pivoted_factor_is_lapacks),
        cmocka_unit_test(test_eigenvectors_of_a_part_of_a_matrix),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
