#include "checking_device.h"
#include "base/ctx.h"
#include "dense.h"
#include <string.h>

static void test_what_is_left_is_the_diagonal_of_the_remainder(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    dense m = gaussian(700, 2, 0);
    const mc_matrix entries = matrix_of(&m);
    mc_lowrank *f = NULL;
    assert_ok(ctx, mc_lowrank_open(ctx, &entries, NULL, 7, &f));
    assert_close(f->trace, 700, 1e-9);
    assert_ok(ctx, mc_lowrank_grow(ctx, f, 150, 0));
    assert_int_equal(f->rank, 150);
    double left = 0;
    for (int64_t i = 0; i < m.n; i++) {
        assert_close(f->left[i], fmax(0, 1 - factor_at(f, i, i)), 2e-5);
        left += f->left[i];
    }
    assert_close(left, f->trace_left, 1e-9);
    assert_true(f->trace_left < 0.05 * f->trace && f->gain > 0);
    for (int64_t a = 0; a < f->rank; a++) /* the factor is exact at its pivots */
        for (int64_t j = 0; j < m.n; j++)
            assert_close(factor_at(f, f->pivot[a], j), m.K[f->pivot[a] * m.n + j], 3e-4);
    mc_lowrank_close(f);
    free(m.K);
    close_clean(ctx);
}

/* v'(K - F F')v >= 0 for random v and for the v that power iteration on the negative side finds. */
static void test_the_remainder_is_positive_semidefinite(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    dense m = gaussian(200, 1, 0);
    const mc_matrix entries = matrix_of(&m);
    mc_lowrank *f = NULL;
    assert_ok(ctx, mc_lowrank_open(ctx, &entries, NULL, 3, &f));
    assert_ok(ctx, mc_lowrank_grow(ctx, f, 30, 0));
    double *E = calloc(200 * 200, sizeof *E), v[200], w[200];
    for (int64_t i = 0; i < 200; i++) {
        v[i] = sin((double)(i * i));
        for (int64_t j = 0; j < 200; j++)
            E[i * 200 + j] = m.K[i * 200 + j] - factor_at(f, i, j);
    }
    double form = 0;
    for (int step = 0; step < 300; step++) { /* towards the least eigenvector: v <- (c I - E) v, c the trace left */
        double norm = 0;
        form = 0;
        for (int64_t i = 0; i < 200; i++) {
            double sum = 0;
            for (int64_t j = 0; j < 200; j++)
                sum += E[i * 200 + j] * v[j];
            form += v[i] * sum;
            w[i] = f->trace_left * v[i] - sum;
            norm += w[i] * w[i];
        }
        for (int64_t i = 0; i < 200; i++)
            v[i] = w[i] / sqrt(norm);
    }
    assert_true(form > -1e-5);
    free(E);
    mc_lowrank_close(f);
    free(m.K);
    close_clean(ctx);
}

static void test_a_matrix_of_small_rank_is_exhausted(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    dense m = of_rank(300, 12);
    const mc_matrix entries = matrix_of(&m);
    mc_lowrank *f = NULL;
    assert_ok(ctx, mc_lowrank_open(ctx, &entries, NULL, 1, &f));
    assert_ok(ctx, mc_lowrank_grow(ctx, f, 200, 0));
    assert_true(f->exhausted);
    assert_int_equal(f->rank, 12);
    assert_true(f->trace_left < 1e-5 * f->trace);
    for (int64_t i = 0; i < 300; i += 37)
        for (int64_t j = 0; j < 300; j++)
            assert_close(factor_at(f, i, j), m.K[i * 300 + j], 1e-4); /* factors of floats, 12 of them */
    assert_ok(ctx, mc_lowrank_grow(ctx, f, 250, 0));                  /* asking again changes nothing */
    assert_int_equal(f->rank, 12);
    mc_lowrank_close(f);
    free(m.K);
    close_clean(ctx);
}

static void test_equal_rows_are_used_once(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    dense m = gaussian(120, 50, 100); /* 21 different points, one of them 100 times */
    const mc_matrix entries = matrix_of(&m);
    mc_lowrank *f = NULL;
    assert_ok(ctx, mc_lowrank_open(ctx, &entries, NULL, 1, &f));
    assert_ok(ctx, mc_lowrank_grow(ctx, f, 120, 0));
    assert_true(f->exhausted && f->rank <= 20);
    int copies = 0;
    for (int64_t a = 0; a < f->rank; a++)
        copies += f->pivot[a] == 0 || f->pivot[a] >= 20;
    assert_int_equal(copies, 1);
    mc_lowrank_close(f);
    free(m.K);
    close_clean(ctx);
}

static void test_it_stops_at_the_trace_asked_for_and_goes_on_from_there(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    dense m = gaussian(400, 1, 0);
    const mc_matrix entries = matrix_of(&m);
    mc_lowrank *f = NULL;
    assert_ok(ctx, mc_lowrank_open(ctx, &entries, NULL, 1, &f));
    assert_ok(ctx, mc_lowrank_grow(ctx, f, 400, 40));
    const int64_t first = f->rank;
    assert_true(f->trace_left <= 40 && first < 100);
    assert_ok(ctx, mc_lowrank_grow(ctx, f, 400, 4));
    assert_true(f->trace_left <= 4 && f->rank > first);
    for (int64_t i = 0; i < m.n; i++)
        assert_close(f->left[i], fmax(0, 1 - factor_at(f, i, i)), 2e-5);
    mc_lowrank_close(f);
    free(m.K);
    close_clean(ctx);
}

static void test_a_scaled_matrix_is_factored_as_if_written_out(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    dense m = gaussian(150, 1, 0), scaled = gaussian(150, 1, 0);
    double s[150];
    for (int64_t i = 0; i < 150; i++)
        s[i] = i % 7 == 0 ? 0 : 0.5 + (double)(i % 5);
    for (int64_t i = 0; i < 150 * 150; i++)
        scaled.K[i] *= s[i / 150] * s[i % 150];
    const mc_matrix plain = matrix_of(&m), written = matrix_of(&scaled);
    mc_lowrank *f = NULL, *g = NULL;
    assert_ok(ctx, mc_lowrank_open(ctx, &plain, s, 5, &f));
    assert_ok(ctx, mc_lowrank_open(ctx, &written, NULL, 5, &g));
    assert_ok(ctx, mc_lowrank_grow(ctx, f, 40, 0));
    assert_ok(ctx, mc_lowrank_grow(ctx, g, 40, 0));
    assert_memory_equal(f->pivot, g->pivot, 40 * sizeof *f->pivot);
    for (int64_t a = 0; a < 40; a++)
        assert_true(f->pivot[a] % 7 != 0); /* a row of scale 0 is never drawn */
    for (int64_t i = 0; i < 150; i++)
        assert_close(factor_at(f, i, 3), factor_at(g, i, 3), 1e-4); /* both of floats */
    mc_lowrank_close(f);
    mc_lowrank_close(g);
    free(m.K);
    free(scaled.K);
    close_clean(ctx);
}

/* The first two pivots of 4 rows: their joint law in closed form against 20,000 seeds. The blocks of ten proposals make
   the second pivot go through the rejection. */
static void test_the_pivots_have_the_law_of_the_plain_method(void **state) {
    (void)state;
    enum { SEEDS = 20000 };
    mercer_ctx *ctx = open_ctx(1);
    double K[16] = {2, 1.2, 0.3, 0, 1.2, 1, 0.2, 0.1, 0.3, 0.2, 1.5, 1.0, 0, 0.1, 1.0, 1.1};
    const dense m = {.n = 4, .K = K};
    const mc_matrix entries = matrix_of(&m);
    double expected[16] = {0}, trace = 0, chi2 = 0;
    int seen[16] = {0};
    for (int i = 0; i < 4; i++)
        trace += K[i * 5];
    for (int i = 0; i < 4; i++) {
        double rest[4], sum = 0;
        for (int j = 0; j < 4; j++)
            sum += rest[j] = i == j ? 0 : K[j * 5] - K[i * 4 + j] * K[i * 4 + j] / K[i * 5];
        for (int j = 0; j < 4; j++)
            expected[i * 4 + j] = SEEDS * K[i * 5] / trace * rest[j] / sum;
    }
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        mc_lowrank *f = NULL;
        assert_ok(ctx, mc_lowrank_open(ctx, &entries, NULL, seed, &f));
        assert_ok(ctx, mc_lowrank_grow(ctx, f, 2, 0));
        seen[f->pivot[0] * 4 + f->pivot[1]]++;
        mc_lowrank_close(f);
    }
    for (int c = 0; c < 16; c++)
        if (c % 5)
            chi2 += pow(seen[c] - expected[c], 2) / expected[c];
        else
            assert_int_equal(seen[c], 0);
    assert_true(chi2 < 31.3); /* 11 degrees of freedom: passed once in a thousand */
    close_clean(ctx);
}

static void test_the_bits_do_not_depend_on_the_threads(void **state) {
    (void)state;
    dense m = gaussian(1500, 3, 0);
    const mc_matrix entries = matrix_of(&m);
    mercer_ctx *one = open_ctx(1), *five = open_ctx(5);
    mc_lowrank *f = NULL, *g = NULL;
    assert_ok(one, mc_lowrank_open(one, &entries, NULL, 11, &f));
    assert_ok(five, mc_lowrank_open(five, &entries, NULL, 11, &g));
    assert_ok(one, mc_lowrank_grow(one, f, 300, 0));
    assert_ok(five, mc_lowrank_grow(five, g, 300, 0));
    assert_memory_equal(f->pivot, g->pivot, 300 * sizeof *f->pivot);
    assert_memory_equal(f->left, g->left, 1500 * sizeof *f->left);
    for (int64_t k = 0; k < 300; k++)
        assert_memory_equal(mc_lowrank_column(f, k), mc_lowrank_column(g, k), 1500 * sizeof(float));
    mc_lowrank_close(f);
    mc_lowrank_close(g);
    free(m.K);
    close_clean(one);
    close_clean(five);
}

static mercer_status factor_again(mercer_ctx *ctx, void *arg) {
    const mc_matrix entries = matrix_of(arg);
    mc_lowrank *f = NULL;
    mercer_status status = mc_lowrank_open(ctx, &entries, NULL, 1, &f);
    if (!status)
        status = mc_lowrank_grow(ctx, f, 100, 0);
    if (!status)
        status = mc_lowrank_grow(ctx, f, 160, 0);
    mc_lowrank_close(f);
    return status;
}

static void test_survives_failing_memory(void **state) {
    (void)state;
    dense m = gaussian(200, 20, 0);
    assert_survives_failing_memory(factor_again, &m);
    free(m.K);
}

static void test_the_bytes_forecast_are_enough(void **state) {
    (void)state;
    dense m = gaussian(1000, 200, 0);
    const mc_matrix entries = matrix_of(&m);
    mercer_ctx *free_ctx = open_ctx(3);
    for (int64_t rank = 1; rank <= 600; rank += 83) {
        mercer_options options = mercer_options_defaults();
        options.threads = 3;
        options.memory_limit = mercer_memory_used(free_ctx) + mc_lowrank_bytes(free_ctx, 1000, rank);
        mercer_ctx *ctx = NULL;
        assert_int_equal(mercer_open(&options, &ctx), MERCER_OK);
        mc_lowrank *f = NULL;
        assert_ok(ctx, mc_lowrank_open(ctx, &entries, NULL, 2, &f));
        assert_ok(ctx, mc_lowrank_grow(ctx, f, rank, 0));
        assert_int_equal(f->rank, rank);
        mc_lowrank_close(f);
        close_clean(ctx);
    }
    close_clean(free_ctx);
    free(m.K);
}

/* ---- On a device ---- */

enum { ON_DEVICE = 500, COLUMNS = 150 }; /* more than a panel, in several blocks */

static mc_lowrank *grow_on(mercer_ctx *ctx, const mc_matrix *K, mercer_status *status) {
    mc_lowrank *f = NULL;
    *status = mc_lowrank_open(ctx, K, NULL, 7, &f);
    *status = *status ? *status : mc_lowrank_grow(ctx, f, COLUMNS / 3, 0);
    if (!*status)
        mc_lowrank_settle(f); /* what is there goes there again */
    *status = *status ? *status : mc_lowrank_grow(ctx, f, COLUMNS, 0);
    return f;
}

/* The same rows are drawn, and floats are told apart by roundings alone. */
static void test_a_device_makes_the_same_columns(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2), *there = open_ctx(2);
    mc_device *device = attach_test_device(there);
    dense m = gaussian(ON_DEVICE, 2, 0);
    const mc_matrix entries = matrix_of(&m);
    mercer_status status;
    mc_lowrank *a = grow_on(ctx, &entries, &status);
    assert_ok(ctx, status);
    mc_lowrank *b = grow_on(there, &entries, &status);
    assert_ok(there, status);
    assert_true(device->peak >= sizeof(float) * ON_DEVICE * COLUMNS && device->used > 0);
    assert_int_equal(a->rank, COLUMNS);
    assert_int_equal(b->rank, COLUMNS);
    assert_memory_equal(a->pivot, b->pivot, COLUMNS * sizeof *a->pivot);
    for (int64_t i = 0; i < m.n; i++) {
        assert_close(a->left[i], b->left[i], 1e-5);
        for (int64_t j = 0; j <= i; j++)
            assert_close(factor_at(a, i, j), factor_at(b, i, j), 1e-4);
    }
    mc_lowrank_close(a);
    mc_lowrank_close(b);
    assert_int_equal(device->used, 0);
    free(m.K);
    close_clean(ctx);
    close_clean(there);
}

/* Whatever call of the device fails, under auto the processor goes on from the columns that there are. */
static void test_a_device_that_fails_while_columns_grow(void **state) {
    (void)state;
    dense m = gaussian(ON_DEVICE, 2, 0);
    const mc_matrix entries = matrix_of(&m);
    bool failed = true;
    int faults = 0;
    if (on_a_card())
        skip();
    for (int calls = 0; failed; calls += 1 + calls / 4)
        for (int named = 0; named < 2; named++) {
            mercer_ctx *ctx = open_ctx(1);
            mercer_status status;
            attach_test_device(ctx);
            if (!named)
                strcpy(ctx->device.wanted, "auto");
            ctx->device.spent = 1e9;
            checking_device_fail_after(calls);
            mc_lowrank *f = grow_on(ctx, &entries, &status);
            failed = checking_device_failed();
            checking_device_fail_after(-1);
            assert_true(!status || (named && failed && strstr(mercer_message(ctx), "device checking:0")));
            faults += status != MERCER_OK;
            for (int64_t i = 0; !status && i < m.n; i++)
                assert_close(f->left[i], fmax(0, 1 - factor_at(f, i, i)), 2e-5);
            mc_lowrank_close(f);
            assert_int_equal(checking_device_blocks(), 0);
            close_clean(ctx);
        }
    assert_true(faults > 5);
    free(m.K);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_left_is_the_diagonal_of_the_remainder),
        cmocka_unit_test(test_the_remainder_is_positive_semidefinite),
        cmocka_unit_test(test_a_matrix_of_small_rank_is_exhausted),
        cmocka_unit_test(test_equal_rows_are_used_once),
        cmocka_unit_test(test_it_stops_at_the_trace_asked_for_and_goes_on_from_there),
        cmocka_unit_test(test_a_scaled_matrix_is_factored_as_if_written_out),
        cmocka_unit_test(test_the_pivots_have_the_law_of_the_plain_method),
        cmocka_unit_test(test_the_bits_do_not_depend_on_the_threads),
        cmocka_unit_test(test_a_device_makes_the_same_columns),
        cmocka_unit_test(test_a_device_that_fails_while_columns_grow),
        cmocka_unit_test(test_survives_failing_memory),
        cmocka_unit_test(test_the_bytes_forecast_are_enough),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
