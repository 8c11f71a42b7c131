/* Q' A Q = T checked by its definition in long double, the eigenvalues of T against LAPACK's of A, the bits on any
   number of threads. */
#include "backend/blas.h"
#include "base/rng.h"
#include "linalg/tridiagonal.h"
#include "support.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One above each size at which the method changes: a panel of 32 columns, strips of 128, other threads from 768 on. */
static const int64_t orders[] = {1, 2, 3, 31, 33, 65, 130, 257, 800};
enum { ORDERS = sizeof orders / sizeof orders[0] };

typedef enum kind { RANDOM, RANK_ONE, TRIDIAGONAL_ALREADY, GRADED, ZERO, KINDS } kind;

static double entry_of(mc_rng *rng, kind k, int64_t i, int64_t j, int64_t n) {
    switch (k) {
    case RANDOM: return mc_rng_normal(rng);
    case RANK_ONE: return (double)((i + 1) * (j + 1)) / (double)(n * n);
    case TRIDIAGONAL_ALREADY: return llabs(i - j) <= 1 ? mc_rng_normal(rng) : 0;
    case GRADED: return mc_rng_normal(rng) * exp2(-40.0 * (double)(i + j) / (double)(2 * n));
    default: return 0;
    }
}

static double *make(kind k, int64_t n) {
    double *A = calloc((size_t)(n * n), sizeof *A);
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, (uint64_t)(n * KINDS) + k);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j <= i; j++)
            A[i * n + j] = A[j * n + i] = entry_of(&rng, k, i, j, n);
    return A;
}

/* What a reduction leaves: R in place of A, and Q written out. */
typedef struct reduced {
    int64_t n;
    double *R, *diagonal, *below, *tau, *Q;
} reduced;

static reduced reduce(mercer_ctx *ctx, const double *A, int64_t n) {
    reduced r = {.n = n,
                 .R = malloc((size_t)(n * n) * 8),
                 .diagonal = calloc((size_t)n, 8),
                 .below = calloc((size_t)n, 8),
                 .tau = calloc((size_t)n, 8),
                 .Q = calloc((size_t)(n * n), 8)};
    double *scratch = calloc((size_t)mc_tridiagonal_workspace(n), 8);
    memcpy(r.R, A, (size_t)(n * n) * 8);
    assert_ok(ctx, mc_sytrd(ctx, mc_column_major(r.R, n, n, n), r.diagonal, r.below, r.tau, scratch));
    for (int64_t i = 0; i < n; i++)
        r.Q[i * n + i] = 1;
    assert_ok(ctx, mc_ormtr(ctx, mc_column_major(r.R, n, n, n), r.tau, mc_column_major(r.Q, n, n, n), scratch));
    free(scratch);
    return r;
}

static void reduced_free(reduced *r) {
    double *blocks[] = {r->R, r->diagonal, r->below, r->tau, r->Q};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        free(blocks[i]);
}

static double largest(const double *A, int64_t count) {
    double most = 0;
    for (int64_t i = 0; i < count; i++)
        most = fmax(most, fabs(A[i]));
    return most;
}

/* (A Q - Q T)(., k) and (Q'Q - I)(., k): both are 0 but for rounding, which grows with n at most. */
static void check_column(const reduced *r, const double *A, int64_t k, double size) {
    const int64_t n = r->n;
    const double *q = r->Q + k * n, slack = 4 * (double)n * 0x1p-52;
    for (int64_t i = 0; i < n; i++) {
        long double left = -(long double)r->diagonal[k] * q[i], inner = -(long double)(i == k);
        left -= k > 0 ? (long double)r->below[k - 1] * q[i - n] : 0;
        left -= k + 1 < n ? (long double)r->below[k] * q[i + n] : 0;
        for (int64_t j = 0; j < n; j++) {
            left += (long double)A[i * n + j] * q[j];
            inner += (long double)r->Q[i * n + j] * q[j];
        }
        assert_true(fabsl(left) <= slack * size && fabsl(inner) <= slack);
    }
}

static void check_reduction(kind k, int64_t n) {
    mercer_ctx *ctx = open_ctx(2);
    double *A = make(k, n);
    reduced r = reduce(ctx, A, n);
    const double size = (double)n * largest(A, n * n);
    for (int64_t c = 0; c<n; c += n> 300 ? 97 : n > 100 ? 11 : 1)
        check_column(&r, A, c, size);
    reduced_free(&r);
    free(A);
    close_clean(ctx);
}

static void test_the_reflections_give_back_the_matrix(void **state) {
    (void)state;
    for (int o = 0; o < ORDERS; o++)
        for (int k = 0; k < KINDS; k++)
            if (orders[o] < 300 || k == RANDOM)
                check_reduction((kind)k, orders[o]);
}

static void eigenvalues(double *A, int64_t order, double *w) {
    const int n = (int)order, lwork = 4 * n + 100, liwork = 100;
    int info, integers[100];
    double *work = calloc((size_t)lwork, 8);
    dsyevd_("N", "L", &n, A, &n, w, work, &lwork, integers, &liwork, &info, 1, 1);
    assert_int_equal(info, 0);
    free(work);
}

/* T written out has the spectrum of A. */
static void test_the_spectrum_stays(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    for (int k = 0; k < KINDS; k++) {
        const int64_t n = 200;
        double *A = make((kind)k, n), *T = calloc((size_t)(n * n), 8), a[200], t[200];
        reduced r = reduce(ctx, A, n);
        for (int64_t i = 0; i < n; i++) {
            T[i * n + i] = r.diagonal[i];
            if (i + 1 < n)
                T[i * n + i + 1] = T[(i + 1) * n + i] = r.below[i];
        }
        eigenvalues(A, n, a);
        eigenvalues(T, n, t);
        const double most = fmax(fabs(a[0]), fabs(a[n - 1]));
        for (int64_t i = 0; i < n; i++)
            assert_close(t[i], a[i], 100 * 0x1p-52 * most);
        reduced_free(&r);
        free(A);
        free(T);
    }
    close_clean(ctx);
}

static void test_the_bits_do_not_depend_on_the_threads(void **state) {
    (void)state;
    const int64_t n = 800;
    double *A = make(RANDOM, n);
    mercer_ctx *one = open_ctx(1), *three = open_ctx(3);
    reduced a = reduce(one, A, n), b = reduce(three, A, n);
    assert_memory_equal(a.R, b.R, (size_t)(n * n) * 8);
    assert_memory_equal(a.diagonal, b.diagonal, (size_t)n * 8);
    assert_memory_equal(a.Q, b.Q, (size_t)(n * n) * 8);
    reduced_free(&a);
    reduced_free(&b);
    free(A);
    close_clean(one);
    close_clean(three);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_reflections_give_back_the_matrix),
        cmocka_unit_test(test_the_spectrum_stays),
        cmocka_unit_test(test_the_bits_do_not_depend_on_the_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
