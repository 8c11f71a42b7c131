/* Every implementation of mc_matrix, through its table: whatever a solver may ask for is the same K. */
#include "gram/operator/gram_matrix.h"
#include "gram/store/stored.h"
#include "learn/common/kernel_matrix.h"
#include "linalg/cholesky.h"
#include "support.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 300, T = 3, FEW = 5, GAP = 7 };
static const int64_t FEW_IDS[FEW] = {0, 3, 77, 255, 299};
static const double FEW_C[FEW] = {1, -2, 0.5, 3, -0.25};

typedef struct setup {
    mercer_ctx *ctx;
    mercer_data *data;
    mercer_kernel *kernel;
    mc_gram *gram, *fast;
    mc_stored *stored;
    mc_kernel_matrix rows;
    double K[N * N], diagonal[N], wide[N * (N + GAP)];
    float narrow[N * (N + GAP)];
} setup;

static setup *prepare(void) {
    setup *s = calloc(1, sizeof *s);
    assert_non_null(s);
    s->ctx = open_ctx(2);
    assert_ok(s->ctx, mercer_data_generate(s->ctx, "friedman1", N, 0.1, 5, &s->data));
    assert_ok(s->ctx, mercer_kernel_parse(s->ctx, "2*rbf(gamma=0.4) + 0.3*linear", &s->kernel));
    assert_ok(s->ctx, mc_gram_open(s->ctx, s->kernel, s->data, NULL, MERCER_F64, &s->gram));
    assert_ok(s->ctx, mc_gram_open(s->ctx, s->kernel, s->data, NULL, MERCER_F32, &s->fast));
    assert_ok(s->ctx, mc_stored_open(s->ctx, s->gram, T, true, &s->stored));
    assert_ok(s->ctx, mc_kernel_matrix_open(s->ctx, s->kernel, s->data, NULL, true, &s->rows));
    assert_ok(s->ctx, mc_gram_block(s->ctx, s->gram, 0, N, 0, N, MERCER_F64, s->K, N));
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < N; j++)
            s->narrow[i * (N + GAP) + j] = (float)(s->wide[i * (N + GAP) + j] = s->K[i * N + j]);
    for (int64_t i = 0; i < N; i++)
        s->diagonal[i] = s->K[i * N + i];
    return s;
}

static void put_away(setup *s) {
    mc_kernel_matrix_close(&s->rows);
    mc_stored_close(s->stored);
    mc_gram_close(s->fast);
    mc_gram_close(s->gram);
    mercer_kernel_free(s->kernel);
    mercer_data_free(s->data);
    close_clean(s->ctx);
    free(s);
}

static double top(const setup *s) {
    double most = 0;
    for (int64_t i = 0; i < N; i++)
        most = fmax(most, s->diagonal[i]);
    return most;
}

static void check_apply(const setup *s, const mc_matrix *K, double tolerance) {
    static double V[N * T], Y[N * T];
    for (int64_t i = 0; i < N * T; i++)
        V[i] = sin((double)i);
    assert_ok(s->ctx, K->apply(s->ctx, K->self, T, V, Y));
    for (int64_t i = 0; i < N; i += 7)
        for (int64_t c = 0; c < T; c++) {
            double sum = 0;
            for (int64_t j = 0; j < N; j++)
                sum += s->K[i * N + j] * V[j * T + c];
            assert_close(Y[i * T + c], sum, tolerance * N);
        }
}

static void check_entries(const setup *s, const mc_matrix *K, double tolerance) {
    static double rows[FEW * N], pairs[FEW * FEW], block[FEW * FEW], diagonal[N];
    static float narrow[FEW * N];
    assert_ok(s->ctx, mc_matrix_rows(s->ctx, K, MERCER_F32, FEW_IDS, FEW, 0, N, narrow, N));
    if (K->dtype == MERCER_F64)
        assert_ok(s->ctx, mc_matrix_rows(s->ctx, K, MERCER_F64, FEW_IDS, FEW, 0, N, rows, N));
    assert_ok(s->ctx, mc_matrix_pairs(s->ctx, K, FEW_IDS, FEW, pairs));
    assert_ok(s->ctx, mc_matrix_diagonal(s->ctx, K, diagonal));
    for (int64_t r = 0; r < FEW; r++)
        for (int64_t j = 0; j < N; j++) {
            const double k = s->K[FEW_IDS[r] * N + j];
            assert_close((double)narrow[r * N + j], k, tolerance + 1e-7 * top(s));
            if (K->dtype == MERCER_F64)
                assert_close(rows[r * N + j], k, tolerance);
        }
    for (int64_t i = 0; i < N; i++)
        assert_close(diagonal[i], s->diagonal[i], tolerance);
    for (int64_t a = 0; a < FEW * FEW; a++)
        assert_close(pairs[a], s->K[FEW_IDS[a / FEW] * N + FEW_IDS[a % FEW]], tolerance);
    if (!K->block && !K->whole.a)
        return;
    assert_ok(s->ctx, mc_matrix_block(s->ctx, K, MERCER_F64, FEW_IDS, FEW, block));
    for (int64_t a = 0; a < FEW * FEW; a++)
        assert_close(block[a], s->K[FEW_IDS[a / FEW] * N + FEW_IDS[a % FEW]], tolerance);
}

static void check_sums(const setup *s, const mc_matrix *K, double tolerance) {
    static double f[N], bound[N];
    mc_sum_error sum_error = {bound, INFINITY};
    for (int64_t i = 0; i < N; i++) {
        f[i] = 10;
        bound[i] = 0;
    }
    assert_ok(s->ctx, mc_matrix_add(s->ctx, K, K->dtype, FEW_IDS, FEW_C, FEW, f, &sum_error));
    for (int pass = 0; pass < (K->add_at ? 2 : 1); pass++) {
        for (int64_t i = 0; i < N; i++) {
            double sum = pass && i < 3 ? 0 : 10;
            for (int64_t k = 0; k < FEW; k++)
                sum += FEW_C[k] * s->K[FEW_IDS[k] * N + i];
            assert_close(f[i], sum, 10 * tolerance);
        }
        if (K->add_at && !pass)
            assert_ok(s->ctx,
                      K->add_at(s->ctx, K->self, FEW_IDS, FEW_C, FEW, (const int64_t[]){0, 1, 2}, 3, f, &sum_error));
    }
}

static void check_packed(const setup *s, const mc_matrix *K, double tolerance) {
    static double packed[N * (N + 1) / 2], shift[N];
    for (int64_t i = 0; i < N; i++)
        shift[i] = (double)i;
    assert_ok(s->ctx, K->packed(s->ctx, K->self, shift, packed));
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j <= i; j++)
            assert_close(packed[mc_packed_place(N, i, j)], s->K[i * N + j] + (i == j ? shift[i] : 0), tolerance);
}

/* The bound is on the distance to the true K, which the double K here is within its own of. */
static void check_errors(const setup *s, const mc_matrix *K) {
    static double pairs[FEW * FEW];
    const mc_matrix_errors e = K->errors(K->self, 1);
    const double own = mc_gram_entry_error(s->gram);
    assert_true(e.entry > 0 && e.size >= top(s) * 0.99 && isfinite(e.entry + e.rest + e.product_rest));
    assert_true(e.entry < 1e-3 && e.entry >= own);
    assert_ok(s->ctx, mc_matrix_pairs(s->ctx, K, FEW_IDS, FEW, pairs));
    for (int64_t a = 0; a < FEW * FEW; a++) {
        const double k = s->K[FEW_IDS[a / FEW] * N + FEW_IDS[a % FEW]];
        assert_true(fabs(pairs[a] - k) <= e.entry + own);
        assert_true(fabs(pairs[a] - k) <= e.relative * fabs(k) + e.rest + own);
    }
}

/* A block of a few rows, of many and of all, in a context of its own, takes no more than is said, and not far less. */
static void check_bytes(const mc_matrix *K) {
    static double out[N * N];
    static const int64_t counts[] = {5, 100, N};
    int64_t ids[N];
    for (int64_t i = 0; i < N; i++)
        ids[i] = i;
    for (int k = 0; k < 3; k++) {
        mercer_ctx *fresh = open_ctx(2);
        const size_t before = mercer_memory_used(fresh), said = mc_matrix_bytes(fresh, K, K->dtype, counts[k]);
        if (K->block || K->whole.a)
            assert_ok(fresh, mc_matrix_block(fresh, K, K->dtype, ids, counts[k], out));
        else
            assert_ok(fresh, mc_matrix_pairs(fresh, K, ids, counts[k], out));
        const size_t took = mercer_memory_peak(fresh) - before;
        if (took > said || said > 3 * took + (1 << 18))
            fail_msg("a block of %d rows: %zu bytes were said, %zu taken", (int)counts[k], said, took);
        close_clean(fresh);
    }
}

static void check(const setup *s, mc_matrix K, double tolerance) {
    assert_int_equal(K.n, N);
    if (K.apply)
        check_apply(s, &K, tolerance);
    if (K.rows || K.whole.a)
        check_entries(s, &K, tolerance);
    if (K.add || K.whole.a)
        check_sums(s, &K, tolerance);
    if (K.packed)
        check_packed(s, &K, tolerance);
    if (K.errors)
        check_errors(s, &K);
    check_bytes(&K);
}

static void test_every_implementation_is_the_same_matrix(void **state) {
    (void)state;
    setup *s = prepare();
    const double fine = 1e-12 * top(s), coarse = 4e-6 * top(s);
    check(s, mc_gram_matrix(s->gram), fine);
    check(s, mc_gram_matrix(s->fast), coarse);
    check(s, mc_stored_matrix(s->stored), coarse);
    check(s, mc_stored_reduced_matrix(s->stored), coarse);
    check(s, mc_stored_split_matrix(s->stored), 1e-10 * top(s));
    check(s, mc_matrix_square(N, MERCER_F64, s->wide, N + GAP, s->diagonal), fine);
    check(s, mc_matrix_square(N, MERCER_F64, s->wide, N + GAP, NULL), fine);
    check(s, mc_matrix_square(N, MERCER_F32, s->narrow, N + GAP, NULL), coarse);
    check(s, mc_kernel_matrix_view(&s->rows, MERCER_F64, s->diagonal), fine);
    check(s, mc_kernel_matrix_view(&s->rows, MERCER_F32, s->diagonal), coarse);
    put_away(s);
}

static mercer_status ask(mercer_ctx *ctx, void *arg) {
    const setup *s = arg;
    const mc_matrix K = mc_matrix_square(N, MERCER_F32, s->narrow, N + GAP, NULL);
    double pairs[FEW * FEW], f[N] = {0};
    mercer_status status = mc_matrix_pairs(ctx, &K, FEW_IDS, FEW, pairs);
    if (!status)
        status = mc_matrix_add(ctx, &K, MERCER_F32, FEW_IDS, FEW_C, FEW, f, NULL);
    return status;
}

static void test_answers_from_memory_survive_failing_memory(void **state) {
    (void)state;
    setup *s = prepare();
    assert_survives_failing_memory(ask, s);
    put_away(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_implementation_is_the_same_matrix),
        cmocka_unit_test(test_answers_from_memory_survive_failing_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
