/* Pieces of work side by side (base/jobs.h). */
#include "support.h"
#include "base/clock.h"
#include "base/ctx.h"
#include "base/jobs.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "base/status.h"
#include <string.h>

enum { JOBS = 24, SHARE = 1 << 20 };

typedef struct record {
    size_t left[JOBS];
    double sum[JOBS];
    void *block[JOBS];
    int64_t fails; /* this job and those after it; 0: none */
} record;

static void add_part(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)thread;
    double *part = arg;
    part[chunk] = 0;
    for (int64_t i = begin; i < end; i++)
        part[chunk] += 1 / (1 + (double)i);
}

/* Sees its share of memory, runs a loop, and leaves a block behind. */
static mercer_status work_alone(mercer_ctx *ctx, void *arg, int64_t k) {
    record *r = arg;
    double part[10];
    r->left[k] = mc_memory_left(ctx);
    if (r->fails && k >= r->fails)
        return mc_fail(ctx, MERCER_NUMERIC, "job %d has no answer", (int)k);
    r->block[k] = mc_alloc(ctx, 1000 * (k + 1), 1);
    assert_int_equal(mercer_threads(ctx), 1);
    MC_TRY(mc_for(ctx, 1000 * (k + 1), 100 * (k + 1), add_part, part));
    for (int i = 0; i < 10; i++)
        r->sum[k] += part[i];
    return r->block[k] ? MERCER_OK : MERCER_MEMORY;
}

static void test_a_job_sees_the_same_whoever_else_works(void **state) {
    (void)state;
    record first = {0};
    for (int threads = 1; threads <= 7; threads += 2) {
        mercer_ctx *ctx = open_ctx(threads);
        record r = {0};
        assert_ok(ctx, mc_run_jobs(ctx, JOBS, SHARE, work_alone, &r));
        first = threads == 1 ? r : first;
        assert_memory_equal(first.left, r.left, sizeof r.left);
        assert_memory_equal(first.sum, r.sum, sizeof r.sum);
        for (int64_t k = 0; k < JOBS; k++) {
            assert_true(r.left[k] <= SHARE && r.left[k] > SHARE - 4096);
            mc_free(r.block[k]); /* they outlive their contexts */
        }
        close_clean(ctx);
    }
}

static void test_a_failure_is_told_and_ends_the_others(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(3);
    record r = {.fails = 9};
    assert_fails(ctx, mc_run_jobs(ctx, JOBS, SHARE, work_alone, &r), MERCER_NUMERIC, "has no answer");
    for (int64_t k = 0; k < JOBS; k++)
        mc_free(r.block[k]);
    close_clean(ctx);
}

static mercer_status ask_for_too_much(mercer_ctx *ctx, void *arg, int64_t k) {
    (void)arg, (void)k;
    void *block = mc_alloc(ctx, 2 * SHARE, 1);
    mc_free(block);
    return block ? MERCER_OK : MERCER_MEMORY;
}

static void test_a_share_is_not_passed(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    assert_fails(ctx, mc_run_jobs(ctx, JOBS, SHARE, ask_for_too_much, NULL), MERCER_MEMORY, "1 MiB");
    assert_int_equal(mc_jobs_at_once(ctx, JOBS, mc_memory_left(ctx)), 0);
    close_clean(ctx);
}

static mercer_status wait_for_stop(mercer_ctx *ctx, void *arg, int64_t k) {
    (void)arg, (void)k;
    const double began = mc_clock_seconds();
    while (mc_clock_seconds() < began + 20)
        MC_TRY(mc_report_progress(ctx, -1));
    return MERCER_OK;
}

static int say_stop(void *user, const mercer_progress *p) {
    (void)user, (void)p;
    return 1;
}

static void test_the_clock_and_the_caller_are_heard(void **state) {
    (void)state;
    for (int caller = 0; caller < 2; caller++) {
        mercer_options options = mercer_options_defaults();
        mercer_ctx *ctx = NULL;
        options.threads = 3;
        options.time_limit = caller ? 0 : 0.05;
        options.progress = caller ? say_stop : NULL;
        assert_int_equal(mercer_open(&options, &ctx), MERCER_OK);
        const double began = mc_clock_seconds();
        mc_begin_call(ctx);
        assert_int_equal(mc_run_jobs(ctx, JOBS, SHARE, wait_for_stop, NULL), caller ? MERCER_CANCELLED : MERCER_TIME);
        assert_true(mc_clock_seconds() < began + 10);
        assert_int_equal(mc_stop_taken(ctx), caller ? MERCER_CANCELLED : MERCER_TIME);
        close_clean(ctx);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_job_sees_the_same_whoever_else_works),
        cmocka_unit_test(test_a_failure_is_told_and_ends_the_others),
        cmocka_unit_test(test_a_share_is_not_passed),
        cmocka_unit_test(test_the_clock_and_the_caller_are_heard),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
