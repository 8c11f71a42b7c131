#include "support.h"
#include "base/clock.h"
#include "base/ctx.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "base/rng.h"
#include "backend/blas.h"
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { N = 100003, GRAIN = 1000 };

typedef struct sums {
    const double *x;
    double part[N / GRAIN + 1];
} sums;

static void add_chunk(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)thread;
    sums *s = arg;
    double total = 0;
    for (int64_t i = begin; i < end; i++)
        total += s->x[i];
    s->part[chunk] = total;
}

static double sum_with(int threads, const double *x) {
    static sums s;
    s.x = x;
    mercer_ctx *ctx = open_ctx(threads);
    assert_ok(ctx, mc_for(ctx, N, GRAIN, add_chunk, &s));
    close_clean(ctx);
    double total = 0;
    for (int64_t c = 0; c < mc_chunk_count(N, GRAIN); c++)
        total += s.part[c];
    return total;
}

static void test_same_bits_on_any_number_of_threads(void **state) {
    (void)state;
    static double x[N];
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 0);
    for (int64_t i = 0; i < N; i++)
        x[i] = mc_rng_normal(&rng);
    const double one = sum_with(1, x);
    for (int threads = 2; threads <= 8; threads++) {
        const double many = sum_with(threads, x);
        assert_memory_equal(&one, &many, sizeof one);
    }
}

/* Of one index 5 ms, of many nothing. */
static void nap_by_length(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)arg;
    (void)chunk;
    (void)thread;
    const struct timespec nap = {.tv_nsec = end - begin == 1 ? 5000000 : 0};
    nanosleep(&nap, NULL);
}

/* ---- Loops inside loops, in several threads of the program, in a child ---- */

typedef struct grid {
    mercer_ctx *ctx;
    int seen[40][50];
    atomic_int inside[4]; /* by thread: nobody else is in there */
} grid;

typedef struct line {
    grid *g;
    int64_t row;
} line;

static void mark_cells(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk;
    (void)thread;
    line *l = arg;
    for (int64_t j = begin; j < end; j++)
        l->g->seen[l->row][j]++;
}

static void mark_row(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk;
    (void)end;
    grid *g = arg;
    assert_true(thread >= 0 && thread < 4);
    assert_int_equal(atomic_fetch_add(&g->inside[thread], 1), 0);
    line l = {g, begin};
    const struct timespec nap = {.tv_nsec = 20000};
    nanosleep(&nap, NULL);
    mc_for(g->ctx, 50, 7, mark_cells, &l);
    atomic_fetch_sub(&g->inside[thread], 1);
}

static void *mark_all(void *out) {
    for (int round = 0; round < 50; round++) {
        grid g = {.ctx = open_ctx(4)};
        assert_ok(g.ctx, mc_for(g.ctx, 40, 1, mark_row, &g));
        close_clean(g.ctx);
        for (int i = 0; i < 40 * 50; i++)
            *(int *)out += g.seen[i / 50][i % 50] != 1;
    }
    return NULL;
}

static void test_every_index_is_run_once_whoever_helps(void **state) {
    (void)state;
    pthread_t threads[3];
    int wrong[4] = {0};
    for (int t = 0; t < 3; t++)
        assert_int_equal(pthread_create(&threads[t], NULL, mark_all, &wrong[t]), 0);
    mark_all(&wrong[3]);
    for (int t = 0; t < 3; t++)
        pthread_join(threads[t], NULL);
    for (int t = 0; t < 4; t++)
        assert_int_equal(wrong[t], 0);
}

static void test_a_child_of_fork_has_threads_of_its_own(void **state) {
    (void)state;
    int wrong = 0, status = 0;
    mark_all(&wrong);
    const pid_t child = fork();
    if (child == 0) {
        mark_all(&wrong);
        _exit(wrong != 0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void nap_and_sign(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    nap_by_length(NULL, chunk, begin, end, thread);
    ((int *)arg)[chunk] = thread;
}

/* A loop whose body was quick, over a few slow chunks and then over many: help comes although none was expected. */
static void test_a_loop_that_turns_out_long_is_shared(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(4);
    int by[40] = {0}, helped = 0;
    for (int trial = 0; trial < 50 && !helped; trial++) { /* 40 naps of 5 ms; on a busy machine help may come late */
        for (int round = 0; round < 3; round++)
            assert_ok(ctx, mc_for(ctx, 1000000, 500000, nap_by_length, NULL));
        assert_ok(ctx, mc_for(ctx, 40, 1, nap_and_sign, by));
        for (int k = 0; k < 40; k++)
            helped += by[k] != 0;
    }
    assert_true(helped > 0);
    close_clean(ctx);
}

static void flush_chunk(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)begin;
    (void)end;
    (void)thread;
    double *out = arg;
    volatile double tiny = 1e-308;
    out[chunk] = tiny * 1e-5;
}

static void test_subnormals_are_flushed_inside_and_kept_outside(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    double out[64];
    memset(out, 1, sizeof out);
    assert_ok(ctx, mc_for(ctx, 64, 1, flush_chunk, out));
#if defined(__x86_64__)
    for (int i = 0; i < 64; i++)
        assert_true(out[i] == 0.0);
#endif
    volatile double tiny = 1e-308;
    assert_true(tiny * 1e-5 > 0.0);
    close_clean(ctx);
}

static void slow_chunk(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)arg;
    (void)chunk;
    (void)begin;
    (void)end;
    (void)thread;
    const struct timespec wait = {.tv_nsec = 2000000};
    nanosleep(&wait, NULL);
}

static int stop_at_once(void *user, const mercer_progress *p) {
    assert_string_equal(p->phase, "test");
    assert_true(p->done > 0 && p->done <= 1);
    ++*(int *)user;
    return 1;
}

static void test_cancel_stops_the_loop(void **state) {
    (void)state;
    int calls = 0;
    mercer_options options = mercer_options_defaults();
    options.threads = 2;
    options.progress = stop_at_once;
    options.progress_user = &calls;
    mercer_ctx *ctx = NULL;
    assert_int_equal(mercer_open(&options, &ctx), MERCER_OK);
    mc_begin_phase(ctx, "test");
    assert_int_equal(mc_for(ctx, 100000, 1, slow_chunk, NULL), MERCER_CANCELLED);
    assert_int_equal(calls, 1);
    close_clean(ctx);
}

static void test_time_limit_stops_the_loop(void **state) {
    (void)state;
    mercer_options options = mercer_options_defaults();
    options.threads = 2;
    options.time_limit = 0.05;
    mercer_ctx *ctx = NULL;
    assert_int_equal(mercer_open(&options, &ctx), MERCER_OK);
    assert_int_equal(mc_for(ctx, 100000, 1, slow_chunk, NULL), MERCER_TIME);
    assert_non_null(strstr(mercer_message(ctx), "0.05 s"));
    ctx->options.time_limit = 1e6; /* a nap may last as long as it likes on a busy machine */
    mc_begin_call(ctx);
    assert_int_equal(mc_for(ctx, 1, 1, slow_chunk, NULL), MERCER_OK);
    close_clean(ctx);
}

static int within_the_span(void *user, const mercer_progress *p) {
    assert_true(p->done >= 0.5 && p->done <= 0.75);
    ++*(int *)user;
    return 0;
}

static void test_a_loop_reports_inside_its_span(void **state) {
    (void)state;
    int calls = 0;
    mercer_options options = mercer_options_defaults();
    options.threads = 2;
    options.progress = within_the_span;
    options.progress_user = &calls;
    mercer_ctx *ctx = NULL;
    assert_int_equal(mercer_open(&options, &ctx), MERCER_OK);
    mc_begin_phase(ctx, "test");
    mc_set_phase_span(ctx, 0.5, 0.75);
    assert_ok(ctx, mc_for(ctx, 120, 1, slow_chunk, NULL));
    assert_true(calls > 0);
    close_clean(ctx);
}

typedef struct listener {
    int steps, others;
    double last, goal;
} listener;

static int listen(void *user, const mercer_progress *p) {
    listener *l = user;
    l->others += p->step == 0;
    if (p->step == 0)
        return 0;
    assert_string_equal(p->watches, "residual");
    assert_int_equal(p->step, l->steps % 3 + 1);
    l->steps++;
    l->last = p->measure;
    l->goal = p->goal;
    return 0;
}

static void test_every_step_is_told_when_asked_for_and_ten_a_second_otherwise(void **state) {
    (void)state;
    for (int every = 0; every < 2; every++) {
        listener l = {0};
        mercer_options options = mercer_options_defaults();
        options.progress = listen;
        options.progress_user = &l;
        options.every_step = every;
        mercer_ctx *ctx = NULL;
        assert_int_equal(mercer_open(&options, &ctx), MERCER_OK);
        mc_begin_phase(ctx, "test");
        for (int k = 0; k < 6; k++) {
            if (k == 3)
                mc_progress_start(ctx);
            assert_ok(ctx, mc_progress_step(ctx, -1, (mc_watch){"residual", 1.0 / (k + 1), 0.1}));
            assert_ok(ctx, mc_report_progress(ctx, -1));
        }
        if (every) {
            assert_int_equal(l.steps, 6);
            assert_true(l.last == 1.0 / 6 && l.goal == 0.1 && l.others == 0);
        } else {
            assert_true(l.steps < 6);
        }
        close_clean(ctx);
    }
}

static void test_a_shield_holds_a_stop_back(void **state) {
    (void)state;
    mercer_options options = mercer_options_defaults();
    options.threads = 2;
    options.time_limit = 1e6;
    mercer_ctx *ctx = NULL;
    assert_int_equal(mercer_open(&options, &ctx), MERCER_OK);
    assert_true(mc_time_left(ctx) > 0 && mc_time_left(ctx) <= 1e6);
    ctx->options.time_limit = 0.02;
    mc_shield_from_stop(ctx, true);
    assert_ok(ctx, mc_for(ctx, 40, 1, slow_chunk, NULL)); /* 40 ms, all of them */
    mc_shield_from_stop(ctx, false);
    assert_true(mc_time_left(ctx) < 0);
    assert_int_equal(mc_for(ctx, 40, 1, slow_chunk, NULL), MERCER_TIME);
    assert_int_equal(mc_stop_taken(ctx), MERCER_TIME);
    assert_string_equal(mercer_message(ctx), "");
    assert_int_equal(mc_stop_taken(ctx), MERCER_OK);
    mc_shield_from_stop(ctx, true); /* the best answer so far is finished behind the shield */
    assert_ok(ctx, mc_for(ctx, 4, 1, slow_chunk, NULL));
    mc_shield_from_stop(ctx, false);
    close_clean(ctx);
}

/* OpenMP's, where BLAS is built on it: that comes with BLAS, and a weak symbol may not find it in a program that
   names BLAS alone, as this one and the command do. */
static void *openmp_symbol(const char *name) {
    return dlsym(RTLD_DEFAULT, name);
}

/* A product as every module calls it: the bits must not know how many threads the caller gave to BLAS or to OpenMP. */
static void product(double *c) {
    enum { SIZE = 300 };
    static double a[SIZE * SIZE];
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 1);
    for (int i = 0; i < SIZE * SIZE; i++)
        a[i] = mc_rng_normal(&rng);
    const int n = SIZE;
    const double one = 1, zero = 0;
    const mc_region region = mc_blas_begin();
    dgemm_("N", "T", &n, &n, &n, &one, a, &n, a, &n, &zero, c, &n, 1, 1);
    mc_blas_end(region);
}

static void test_blas_keeps_its_bits_and_the_callers_settings(void **state) {
    (void)state;
    static double once[300 * 300], again[300 * 300];
    void (*set_threads)(int);
    int (*get_threads)(void);
    void *set = openmp_symbol("omp_set_num_threads"), *get = openmp_symbol("omp_get_max_threads");
    if (!set || !get)
        skip_test("this BLAS does not run on OpenMP");
    memcpy(&set_threads, &set, sizeof set);
    memcpy(&get_threads, &get, sizeof get);
    set_threads(1);
    product(once);
    for (int threads = 2; threads <= 5; threads++) {
        set_threads(threads);
        const mc_region region = mc_blas_begin();
        assert_int_equal(get_threads(), 1);
        mc_blas_end(region);
        product(again);
        assert_memory_equal(once, again, sizeof once);
        assert_int_equal(get_threads(), threads);
    }
}

static void test_a_stopwatch_counts_no_more_than_this_process_has_used(void **state) {
    (void)state;
    const mc_stopwatch watch = mc_stopwatch_start();
    const struct timespec nap = {.tv_nsec = 20000000};
    const double began = mc_clock_seconds();
    const clock_t used = clock(); /* of the process, by all its threads */
    assert_int_equal(nanosleep(&nap, NULL), 0);
    assert_true(mc_clock_seconds() - began >= 0.02);
    assert_true(mc_stopwatch_read(&watch) <= (double)(clock() - used) / CLOCKS_PER_SEC + 1e-3);
    const mc_stopwatch busy = mc_stopwatch_start();
    for (const clock_t end = clock() + CLOCKS_PER_SEC / 100; clock() < end;)
        continue;
    assert_true(mc_stopwatch_read(&busy) > 0.005);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_bits_on_any_number_of_threads),
        cmocka_unit_test(test_subnormals_are_flushed_inside_and_kept_outside),
        cmocka_unit_test(test_every_index_is_run_once_whoever_helps),
        cmocka_unit_test(test_a_child_of_fork_has_threads_of_its_own),
        cmocka_unit_test(test_a_loop_that_turns_out_long_is_shared),
        cmocka_unit_test(test_cancel_stops_the_loop),
        cmocka_unit_test(test_time_limit_stops_the_loop),
        cmocka_unit_test(test_a_loop_reports_inside_its_span),
        cmocka_unit_test(test_every_step_is_told_when_asked_for_and_ten_a_second_otherwise),
        cmocka_unit_test(test_a_shield_holds_a_stop_back),
        cmocka_unit_test(test_a_stopwatch_counts_no_more_than_this_process_has_used),
        cmocka_unit_test(test_blas_keeps_its_bits_and_the_callers_settings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
