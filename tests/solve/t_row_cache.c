#include "base/rng.h"
#include "solve/row_cache.h"
#include "solve/smo.h"
#include "support.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* K_ij = 1000 i + j (symmetry does not matter here), and a count of what was asked for. */
typedef struct counted {
    int64_t n, asked;
    mercer_dtype dtype;
    double diagonal[64];
} counted;

static mercer_status fill_counted(mercer_ctx *ctx, const void *self, const int64_t *ids, int64_t count, int64_t j0, int64_t j1,
                                  void *const *out) {
    (void)ctx;
    counted *c = (counted *)(uintptr_t)self;
    c->asked += count * (j1 - j0);
    for (int64_t k = 0; k < count; k++)
        for (int64_t j = j0; j < j1; j++)
            if (c->dtype == MERCER_F64)
                ((double *)out[k])[j - j0] = (double)(1000 * ids[k] + j);
            else
                ((float *)out[k])[j - j0] = (float)(1000 * ids[k] + j);
    return MERCER_OK;
}

static const int64_t start[] = {0, 10, 25, 30, 60};

static mc_row_source source_of(counted *c, mercer_dtype dtype) {
    *c = (counted){.n = 60, .dtype = dtype};
    for (int i = 0; i < 60; i++)
        c->diagonal[i] = i;
    return (mc_row_source){.n = 60, .dtype = dtype, .diagonal = c->diagonal, .fill = fill_counted, .self = c};
}

static double entry(const mc_rows *rows, const void *const *pieces, int64_t j) {
    const void *p = pieces[j >= rows->split];
    const int64_t at = j >= rows->split ? j - rows->split : j;
    return rows->dtype == MERCER_F64 ? ((const double *)p)[at] : (double)((const float *)p)[at];
}

static int64_t column_of(int64_t a, int64_t b, int64_t j) {
    const int64_t first = start[a + 1] - start[a];
    return b < 0 ? j : j < first ? start[a] + j : start[b] + j - first;
}

/* Random batches through a view, every entry checked. */
static void check_view(mercer_ctx *ctx, mc_row_cache *cache, int64_t a, int64_t b, mc_rng *rng) {
    mc_row_view view;
    mc_rows rows;
    assert_ok(ctx, mc_row_view_open(ctx, cache, a, b, &view, &rows));
    assert_true(rows.diagonal[rows.n - 1] == (double)column_of(a, b, rows.n - 1));
    for (int turn = 0; turn < 20; turn++) {
        int64_t ids[60], count = 0;
        const void *out[120];
        for (int64_t i = 0; i < rows.n && count < rows.most; i++)
            if (mc_rng_below(rng, 4) == 0)
                ids[count++] = i;
        assert_ok(ctx, rows.take(ctx, &rows, ids, count, out));
        for (int64_t k = 0; k < count; k++)
            for (int64_t j = 0; j < rows.n; j++)
                assert_true(entry(&rows, out + 2 * k, j) == (double)(1000 * column_of(a, b, ids[k]) + column_of(a, b, j)));
    }
    mc_row_view_close(&view);
}

static void test_rows_are_right_however_few_are_kept(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 1);
    for (int dtype = 0; dtype < 2; dtype++)
        for (size_t slots = 2; slots <= 60; slots += 29) {
            counted c;
            const mc_row_source source = source_of(&c, (mercer_dtype)dtype);
            mc_row_cache *cache = NULL;
            assert_ok(ctx, mc_row_cache_open(ctx, &source, 4, start, slots * (dtype ? 512 : 256), &cache));
            check_view(ctx, cache, 0, 1, &rng);
            check_view(ctx, cache, 1, 3, &rng);
            check_view(ctx, cache, 0, -1, &rng);
            check_view(ctx, cache, 2, 3, &rng);
            assert_int_equal(mc_row_cache_computed(cache), c.asked);
            mc_row_cache_close(cache);
        }
    close_clean(ctx);
}

static void test_a_piece_computed_for_one_pair_serves_the_others(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    counted c;
    const mc_row_source source = source_of(&c, MERCER_F32);
    mc_row_cache *cache = NULL;
    assert_ok(ctx, mc_row_cache_open(ctx, &source, 4, start, 1 << 20, &cache));
    for (int64_t a = 0; a < 4; a++)
        for (int64_t b = a + 1; b < 4; b++) {
            mc_row_view view;
            mc_rows rows;
            int64_t ids[60];
            const void *out[120];
            assert_ok(ctx, mc_row_view_open(ctx, cache, a, b, &view, &rows));
            for (int64_t i = 0; i < rows.n; i++)
                ids[i] = i;
            assert_ok(ctx, rows.take(ctx, &rows, ids, rows.n, out));
            mc_row_view_close(&view);
        }
    assert_int_equal(c.asked, 60 * 60); /* six pairs, and every entry computed once */
    mc_row_cache_close(cache);
    close_clean(ctx);
}

static void test_too_little_room_is_said(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    counted c;
    const mc_row_source source = source_of(&c, MERCER_F32);
    mc_row_cache *cache = NULL;
    assert_fails(ctx, mc_row_cache_open(ctx, &source, 4, start, 300, &cache), MERCER_MEMORY, "raise the memory limit");
    assert_null(cache);
    close_clean(ctx);
}

/* A Gaussian Gram matrix, entry by entry. */
typedef struct gaussian {
    int64_t n;
    double *x;
} gaussian;

static mercer_status fill_gaussian(mercer_ctx *ctx, const void *self, const int64_t *ids, int64_t count, int64_t j0, int64_t j1,
                                   void *const *out) {
    (void)ctx;
    const gaussian *g = self;
    for (int64_t k = 0; k < count; k++)
        for (int64_t j = j0; j < j1; j++)
            ((float *)out[k])[j - j0] = (float)exp(-pow(g->x[ids[k]] - g->x[j], 2));
    return MERCER_OK;
}

static void test_the_optimum_does_not_depend_on_how_many_rows_are_kept(void **state) {
    (void)state;
    enum { N = 500 };
    const int64_t whole[] = {0, N};
    mercer_ctx *ctx = open_ctx(2);
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 2);
    double x[N], q[N], low[N], high[N], ones[N], first = 0;
    for (int i = 0; i < N; i++) {
        x[i] = 3 * mc_rng_normal(&rng);
        q[i] = sin(x[i]) + 0.5 * mc_rng_normal(&rng) > 0 ? -1 : 1;
        low[i] = q[i] < 0 ? 0 : -1;
        high[i] = q[i] < 0 ? 1 : 0;
        ones[i] = 1;
    }
    const gaussian g = {N, x};
    const mc_row_source source = {.n = N, .dtype = MERCER_F32, .diagonal = ones, .fill = fill_gaussian, .self = &g};
    for (size_t slots = N; slots >= 4; slots /= 5) {
        mc_row_cache *cache = NULL;
        mc_row_view view;
        mc_smo_problem p = {.dual = {.m = N, .q = q, .low = low, .high = high}, .tolerance = 1e-4, .steps_max = 1000000};
        assert_ok(ctx, mc_row_cache_open(ctx, &source, 1, whole, slots * 2048, &cache));
        assert_ok(ctx, mc_row_view_open(ctx, cache, 0, -1, &view, &p.rows));
        double beta[N] = {0}, f[N] = {0};
        mc_smo_result r;
        assert_ok(ctx, mc_smo_solve(ctx, &p, beta, f, &r));
        assert_true(r.converged);
        first = slots == N ? r.objective : first;
        assert_close(r.objective, first, 1e-6);
        mc_row_view_close(&view);
        mc_row_cache_close(cache);
    }
    close_clean(ctx);
}

static mercer_status open_and_take(mercer_ctx *ctx, void *arg) {
    const mc_row_source *source = arg;
    mc_row_cache *cache = NULL;
    mc_row_view view = {0};
    mc_rows rows;
    const int64_t ids[] = {3, 7, 12};
    const void *out[6];
    mercer_status status = mc_row_cache_open(ctx, source, 4, start, 1 << 16, &cache);
    if (!status)
        status = mc_row_view_open(ctx, cache, 0, 1, &view, &rows);
    if (!status)
        status = rows.take(ctx, &rows, ids, 3, out);
    mc_row_view_close(&view);
    mc_row_cache_close(cache);
    return status;
}

static void test_survives_failing_memory(void **state) {
    (void)state;
    counted c;
    mc_row_source source = source_of(&c, MERCER_F32);
    assert_survives_failing_memory(open_and_take, &source);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_are_right_however_few_are_kept),
        cmocka_unit_test(test_a_piece_computed_for_one_pair_serves_the_others),
        cmocka_unit_test(test_too_little_room_is_said),
        cmocka_unit_test(test_the_optimum_does_not_depend_on_how_many_rows_are_kept),
        cmocka_unit_test(test_survives_failing_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
