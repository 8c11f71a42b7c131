#include "base/rng.h"
#include "base/status.h"
#include "data/table/data.h"
#include "gram/operator/gram_matrix.h"
#include "gram/store/stored.h"
#include "support.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 700, D = 3, T = 12 };

typedef struct setup {
    mercer_kernel *kernel;
    mercer_data *data;
    mc_gram *gram;
    double V[N * T], Y[N * T];
} setup;

static setup *prepare(mercer_ctx *ctx, int64_t n) {
    setup *s = calloc(1, sizeof *s);
    double values[N * D];
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 4);
    for (int i = 0; i < N * D; i++)
        values[i] = mc_rng_normal(&rng);
    for (int i = 0; i < N * T; i++)
        s->V[i] = mc_rng_normal(&rng);
    const mercer_table table = {.size = sizeof table, .n = n, .d = D, .dtype = MERCER_F64, .values = values};
    assert_ok(ctx, mercer_data_make(ctx, &table, &s->data));
    assert_ok(ctx, mercer_kernel_parse(ctx, "rbf(gamma=0.4) + 0.1*linear", &s->kernel));
    assert_ok(ctx, mc_gram_open(ctx, s->kernel, s->data, NULL, MERCER_F64, &s->gram));
    return s;
}

static void put_away(setup *s) {
    mc_gram_close(s->gram);
    mercer_kernel_free(s->kernel);
    mercer_data_free(s->data);
    free(s);
}

/* Sizes around the edges of a stripe; counts of columns that the bodies cut differently. */
static void test_a_product_is_that_of_the_matrix(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    const int64_t sizes[] = {1, 2, 255, 256, 257, 511, 513, N};
    double *exact = calloc(N * T, sizeof *exact);
    for (size_t c = 0; c < sizeof sizes / sizeof sizes[0]; c++) {
        setup *s = prepare(ctx, sizes[c]);
        mc_stored *k = NULL;
        assert_ok(ctx, mc_stored_open(ctx, s->gram, T, true, &k));
        const mc_matrix K = mc_stored_matrix(k), split = mc_stored_split_matrix(k),
                        reduced = mc_stored_reduced_matrix(k);
        const double storing = split.errors(split.self, T).entry - mc_gram_entry_error(s->gram);
        const double error = storing * N * 4; /* |V| < 4 */
        assert_true(mc_stored_is_split(k) && error < 1e-7);
        for (int64_t t = 1; t <= T; t += t < 6 ? 1 : 6) {
            assert_ok(ctx, mc_gram_apply(ctx, s->gram, t, s->V, exact));
            assert_ok(ctx, K.apply(ctx, K.self, t, s->V, s->Y));
            for (int64_t i = 0; i < sizes[c] * t; i++)
                assert_close(s->Y[i], exact[i], 2e-6 * sqrt((double)N) * 3);
            assert_ok(ctx, split.apply(ctx, split.self, t, s->V, s->Y));
            for (int64_t i = 0; i < sizes[c] * t; i++)
                assert_true(fabs(s->Y[i] - exact[i]) <= error);
            assert_ok(ctx, reduced.apply(ctx, reduced.self, t, s->V, s->Y));
            for (int64_t i = 0; i < sizes[c] * t; i++)
                assert_true(fabs(s->Y[i] - exact[i]) <= 2e-6 * sqrt((double)N) * 3);
        }
        assert_ok(ctx, K.diagonal(ctx, K.self, s->Y));
        assert_ok(ctx, mc_gram_diagonal(ctx, s->gram, exact));
        for (int64_t i = 0; i < sizes[c]; i++)
            assert_close(s->Y[i], exact[i], 1e-6 * fabs(exact[i]));
        mc_stored_close(k);
        put_away(s);
    }
    free(exact);
    close_clean(ctx);
}

/* Enough stripes for all the groups there can be: x x'v in closed form. */
static void test_many_stripes_add_up(void **state) {
    (void)state;
    enum { MANY = 9000 };
    mercer_ctx *ctx = open_ctx(2);
    double *x = calloc(MANY, sizeof *x), *v = calloc(MANY, sizeof *v), *y = calloc(MANY, sizeof *y), sum = 0;
    for (int i = 0; i < MANY; i++) {
        x[i] = sin(i);
        v[i] = cos(3 * i) + 0.1;
        sum += x[i] * v[i];
    }
    const mercer_table table = {.size = sizeof table, .n = MANY, .d = 1, .dtype = MERCER_F64, .values = x};
    mercer_data *data = NULL;
    mercer_kernel *kernel = NULL;
    mc_gram *gram = NULL;
    mc_stored *k = NULL;
    assert_ok(ctx, mercer_data_make(ctx, &table, &data));
    assert_ok(ctx, mercer_kernel_parse(ctx, "linear", &kernel));
    assert_ok(ctx, mc_gram_open(ctx, kernel, data, NULL, MERCER_F64, &gram));
    assert_ok(ctx, mc_stored_open(ctx, gram, 1, false, &k));
    const mc_matrix K = mc_stored_matrix(k);
    assert_ok(ctx, K.apply(ctx, K.self, 1, v, y));
    for (int i = 0; i < MANY; i++)
        assert_close(y[i], x[i] * sum, 0x1p-23 * MANY); /* entries of floats, each of 1 at most, times as much */
    mc_stored_close(k);
    mc_gram_close(gram);
    mercer_kernel_free(kernel);
    mercer_data_free(data);
    free(x);
    free(v);
    free(y);
    close_clean(ctx);
}

static void test_the_bits_do_not_depend_on_the_threads(void **state) {
    (void)state;
    mercer_ctx *one = open_ctx(1), *five = open_ctx(5);
    setup *a = prepare(one, N), *b = prepare(five, N);
    mc_stored *ka = NULL, *kb = NULL;
    assert_ok(one, mc_stored_open(one, a->gram, T, true, &ka));
    assert_ok(five, mc_stored_open(five, b->gram, T, true, &kb));
    const mc_matrix Ka = mc_stored_matrix(ka), Kb = mc_stored_matrix(kb);
    assert_ok(one, Ka.apply(one, Ka.self, T, a->V, a->Y));
    assert_ok(five, Kb.apply(five, Kb.self, T, b->V, b->Y));
    assert_memory_equal(a->Y, b->Y, sizeof a->Y);
    const mc_matrix Sa = mc_stored_reduced_matrix(ka), Sb = mc_stored_reduced_matrix(kb);
    assert_ok(one, Sa.apply(one, Sa.self, T, a->V, a->Y));
    assert_ok(five, Sb.apply(five, Sb.self, T, b->V, b->Y));
    assert_memory_equal(a->Y, b->Y, sizeof a->Y);
    mc_stored_close(ka);
    mc_stored_close(kb);
    put_away(a);
    put_away(b);
    close_clean(one);
    close_clean(five);
}

static mercer_status store_again(mercer_ctx *ctx, void *arg) {
    setup *s = arg;
    mc_stored *k = NULL;
    MC_TRY(mc_stored_open(ctx, s->gram, T, true, &k));
    const mc_matrix K = mc_stored_matrix(k);
    const mercer_status status = K.apply(ctx, K.self, T, s->V, s->Y);
    mc_stored_close(k);
    return status;
}

static mercer_ctx *open_limited(size_t bytes) {
    mercer_options options = mercer_options_defaults();
    options.threads = 2;
    mercer_ctx *ctx = open_ctx(2), *limited = NULL;
    options.memory_limit = mercer_memory_used(ctx) + bytes;
    close_clean(ctx);
    assert_int_equal(mercer_open(&options, &limited), MERCER_OK);
    return limited;
}

static void test_survives_failing_memory_and_keeps_to_its_forecast(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    setup *s = prepare(ctx, N);
    assert_survives_failing_memory(store_again, s);
    mercer_ctx *limited = open_limited(mc_stored_bytes(N, T, true) + mc_gram_block_bytes(ctx, s->gram));
    assert_ok(limited, store_again(limited, s));
    close_clean(limited);
    put_away(s);
    close_clean(ctx);
}

static void test_pairs_and_rows_are_entries_of_the_matrix(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    setup *s = prepare(ctx, N);
    mc_stored *k = NULL;
    assert_ok(ctx, mc_stored_open(ctx, s->gram, 1, true, &k));
    const mc_matrix entries = mc_gram_matrix(s->gram), storing = mc_stored_matrix(k);
    const int64_t rows[] = {5, 699, 0, 5, 300};
    double pairs[25], same[25], exact;
    float *also = calloc(5 * N, sizeof *also);
    float *taken = calloc(5 * N, sizeof *taken);
    mercer_ctx *limited = open_limited(mc_gram_part_bytes(ctx, s->kernel, s->data, MERCER_F64, 5));
    assert_ok(limited, entries.pairs(limited, entries.self, rows, 5, pairs));
    close_clean(limited);
    assert_ok(ctx, entries.rows(ctx, entries.self, MERCER_F32, rows, 5, 0, N, taken, N));
    assert_ok(ctx, storing.rows(ctx, storing.self, MERCER_F32, rows, 5, 0, N, also, N));
    assert_ok(ctx, storing.pairs(ctx, storing.self, rows, 5, same));
    for (int i = 0; i < 5 * N; i++)
        assert_close((double)also[i], (double)taken[i], 1e-6 * (1 + fabs((double)taken[i])));
    mc_stored_close(k);
    for (int a = 0; a < 5; a++)
        for (int b = 0; b < 5; b++) {
            assert_ok(ctx,
                      mc_gram_block(ctx, s->gram, rows[a], rows[a] + 1, rows[b], rows[b] + 1, MERCER_F64, &exact, 1));
            assert_close(pairs[a * 5 + b], exact, 1e-14 * (1 + fabs(exact)));
            assert_close(same[a * 5 + b], exact, 1e-11);
            assert_close((double)taken[a * N + rows[b]], exact, 1e-6 * (1 + fabs(exact)));
        }
    free(taken);
    free(also);
    put_away(s);
    close_clean(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_product_is_that_of_the_matrix),
        cmocka_unit_test(test_many_stripes_add_up),
        cmocka_unit_test(test_the_bits_do_not_depend_on_the_threads),
        cmocka_unit_test(test_survives_failing_memory_and_keeps_to_its_forecast),
        cmocka_unit_test(test_pairs_and_rows_are_entries_of_the_matrix),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
