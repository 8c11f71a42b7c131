#include "support.h"
#include "base/ctx.h"
#include "base/workspace.h"
#include <string.h>

static void test_blocks_are_aligned_and_zero(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    for (int64_t n = 0; n < 300; n += 37) {
        char *block = mc_alloc(ctx, n, 1);
        assert_non_null(block);
        assert_int_equal((uintptr_t)block % MC_ALIGN, 0);
        for (int64_t i = 0; i < n; i++)
            assert_int_equal(block[i], 0);
        mc_free(block);
    }
    close_clean(ctx);
}

static void test_growing_keeps_the_old_bytes(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    int *v = mc_grow_block(ctx, NULL, 3, sizeof *v);
    v[2] = 7;
    v = mc_grow_block(ctx, v, 1000, sizeof *v);
    assert_int_equal(v[2], 7);
    assert_int_equal(v[999], 0);
    mc_free(v);
    close_clean(ctx);
}

static void test_limit_is_hard_and_named(void **state) {
    (void)state;
    mercer_options options = mercer_options_defaults();
    options.memory_limit = 1 << 20;
    mercer_ctx *ctx = NULL;
    assert_int_equal(mercer_open(&options, &ctx), MERCER_OK);
    assert_null(mc_alloc(ctx, 1 << 20, 1));
    assert_non_null(strstr(mercer_message(ctx), "limit of 1 MiB"));
    void *half = mc_alloc(ctx, 1 << 19, 1);
    assert_non_null(half);
    assert_true(mercer_memory_peak(ctx) >= 1 << 19 && mercer_memory_peak(ctx) <= 1 << 20);
    assert_int_equal(mc_memory_check(ctx, 1 << 20, "the Gram matrix"), MERCER_MEMORY);
    mc_free(half);
    close_clean(ctx);
}

static void test_overflowing_products_are_refused(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    assert_null(mc_alloc(ctx, INT64_MAX, 16));
    assert_null(mc_alloc(ctx, -1, 1));
    mc_work w;
    assert_int_equal(mc_work_open(ctx, &w, mc_work_need(INT64_MAX, 8)), MERCER_MEMORY);
    close_clean(ctx);
}

static void test_a_block_outlives_its_context(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    char *block = mc_alloc(ctx, 10, 1);
    mercer_close(ctx);
    block[9] = 1;
    mc_free(block);
}

static mercer_status open_and_close(mercer_ctx *ctx, void *arg) {
    (void)arg;
    mc_work w;
    const mercer_status status = mc_work_open(ctx, &w, mc_work_need(10, 8));
    mc_work_close(&w);
    return status;
}

static void test_open_survives_failing_memory(void **state) {
    (void)state;
    assert_survives_failing_memory(open_and_close, NULL);
}

static void test_a_buffer_keeps_its_block_until_it_must_grow(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    mc_buffer buffer = {0};
    char *first = mc_buffer_reserve(ctx, &buffer, 1000);
    assert_non_null(first);
    first[999] = 7;
    assert_ptr_equal(mc_buffer_reserve(ctx, &buffer, 10), first);
    assert_int_equal(first[999], 7);
    assert_non_null(mc_buffer_reserve(ctx, &buffer, 100000));
    assert_null(mc_buffer_reserve(ctx, &buffer, SIZE_MAX / 2));
    assert_null(buffer.block);
    mc_buffer_close(&buffer);
    close_clean(ctx);
}

/* One function, run to count and run to cut. */
static void lay_out(mc_work *work, int64_t n, double **reals, char **bytes) {
    *reals = mc_work_take(work, n, sizeof **reals);
    *bytes = mc_work_take(work, n + 3, 1);
}

static void test_a_workspace_that_counts_asks_for_what_cutting_takes(void **state) {
    (void)state;
    double *reals;
    char *bytes;
    mercer_ctx *ctx = open_ctx(1);
    for (int64_t n = 0; n < 300; n += 7) {
        mc_work counted = {0}, work;
        lay_out(&counted, n, &reals, &bytes);
        assert_true(!reals && !bytes);
        assert_ok(ctx, mc_work_open(ctx, &work, counted.used));
        lay_out(&work, n, &reals, &bytes);
        assert_true(work.used == counted.used && work.used == work.size);
        assert_true(bytes == (char *)reals + mc_work_need(n, sizeof *reals));
        mc_work_close(&work);
    }
    mc_work endless = {0};
    for (int i = 0; i < 9; i++)
        mc_work_take(&endless, INT64_MAX, 8);
    assert_true(endless.used == SIZE_MAX / 4);
    assert_int_equal(mc_work_open(ctx, &endless, endless.used), MERCER_MEMORY);
    close_clean(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blocks_are_aligned_and_zero),
        cmocka_unit_test(test_growing_keeps_the_old_bytes),
        cmocka_unit_test(test_limit_is_hard_and_named),
        cmocka_unit_test(test_overflowing_products_are_refused),
        cmocka_unit_test(test_a_block_outlives_its_context),
        cmocka_unit_test(test_open_survives_failing_memory),
        cmocka_unit_test(test_a_buffer_keeps_its_block_until_it_must_grow),
        cmocka_unit_test(test_a_workspace_that_counts_asks_for_what_cutting_takes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
