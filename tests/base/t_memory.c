#include "support.h"
#include "base/ctx.h"
#include "base/parallel.h"
#include "base/spare_blocks.h"
#include "base/workspace.h"
#include <stdlib.h>
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

/* ---- Spare blocks ---- */

static void test_a_freed_block_serves_again_and_is_zero_where_asked_for(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    for (int round = 0; round < 3; round++) {
        char *block = mc_alloc(ctx, 1 << 20, 1);
        for (int64_t i = 0; i < 1 << 20; i += 4096)
            assert_int_equal(block[i], 0);
        memset(block, 7, 1 << 20);
        mc_free(block);
    }
    close_clean(ctx);
}

static void test_spare_blocks_are_of_about_the_size_and_bounded(void **state) {
    (void)state;
    mc_spare_blocks spare;
    memset(&spare, 0, sizeof spare); /* clang 14 does not take {0} for an atomic pointer */
    size_t got = 0;
    for (int i = 0; i < 100; i++) {
        mc_spare_put(&spare, malloc(1 << 20), 1 << 20);
        assert_true(atomic_load(&spare.bytes) <= MC_SPARE_MOST);
    }
    assert_null(mc_spare_take(&spare, (1 << 20) + 1, &got));
    assert_null(mc_spare_take(&spare, 1 << 19, &got));
    mc_spare_put(&spare, malloc(16), 16);
    mc_spare_put(&spare, malloc(MC_SPARE_LARGEST + 1), MC_SPARE_LARGEST + 1);
    void *block = mc_spare_take(&spare, 1000000, &got);
    if (block) /* not where a sanitizer looks for uses of freed blocks */
        assert_true(got == 1 << 20);
    free(block);
    mc_spare_clear(&spare);
    assert_true(atomic_load(&spare.bytes) == 0);
}

static void test_spare_blocks_give_way_to_the_limit(void **state) {
    (void)state;
    mercer_options options = mercer_options_defaults();
    options.memory_limit = 1 << 20;
    mercer_ctx *ctx = NULL;
    assert_int_equal(mercer_open(&options, &ctx), MERCER_OK);
    mc_free(mc_alloc(ctx, 600000, 1));
    void *block = mc_alloc(ctx, 900000, 1); /* would not fit beside it */
    assert_non_null(block);
    mc_free(block);
    close_clean(ctx);
}

/* A model outlives the context it was fitted with, and would hold all that the fit has freed. */
static void test_nothing_spare_outlives_the_context(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    mc_heap *heap = ctx->heap;
    void *kept = mc_alloc(ctx, 1 << 20, 1), *another = mc_alloc(ctx, 1 << 20, 1);
    mc_free(mc_alloc(ctx, 1 << 19, 1));
    mercer_close(ctx);
    assert_true(mc_heap_spare(heap) == 0);
    mc_free(another);
    assert_true(mc_heap_spare(heap) == 0);
    mc_free(kept);
}

typedef struct exchange {
    mercer_ctx *ctx;
    int wrong[64];
} exchange;

static void use_blocks(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)begin, (void)end, (void)thread;
    exchange *e = arg;
    for (int round = 0; round < 50; round++) {
        const int64_t size = (1 << 17) + 4096 * ((chunk + round) % 5);
        char *block = mc_alloc_unset(e->ctx, size, 1);
        if (!block)
            continue;
        memset(block, (int)chunk, (size_t)size);
        e->wrong[chunk] += block[0] != (char)chunk || block[size - 1] != (char)chunk;
        mc_free(block);
    }
}

static void test_threads_share_spare_blocks(void **state) {
    (void)state;
    exchange e = {.ctx = open_ctx(4)};
    assert_ok(e.ctx, mc_for(e.ctx, 64, 1, use_blocks, &e));
    for (int c = 0; c < 64; c++)
        assert_int_equal(e.wrong[c], 0);
    close_clean(e.ctx);
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
        cmocka_unit_test(test_a_freed_block_serves_again_and_is_zero_where_asked_for),
        cmocka_unit_test(test_spare_blocks_are_of_about_the_size_and_bounded),
        cmocka_unit_test(test_spare_blocks_give_way_to_the_limit),
        cmocka_unit_test(test_nothing_spare_outlives_the_context),
        cmocka_unit_test(test_threads_share_spare_blocks),
        cmocka_unit_test(test_a_workspace_that_counts_asks_for_what_cutting_takes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
