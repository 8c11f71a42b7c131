/* parallel.c: the parallel loop, with the two things that must be set around it: flush-to-zero and the BLAS thread
   count. */
#include "base/parallel.h"
#include "base/clock.h"
#include "base/ctx.h"
#include "base/threads.h"
#include "base/progress.h"
#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

/* The controls of OpenBLAS, looked up weakly: any other BLAS links as well. */
extern void openblas_set_num_threads(int threads) __attribute__((weak));
extern int openblas_get_num_threads(void) __attribute__((weak));
extern int openblas_get_parallel(void) __attribute__((weak)); /* 0: one thread, 1: its own, 2: OpenMP's */

/* Those of OpenMP, which it may be built on. They are asked for while the program runs: OpenMP comes with BLAS, and
   of a weak symbol in a library that a program does not name itself the linker may make nothing. */
static struct {
    pthread_once_t once;
    void (*set_num_threads)(int threads);
    int (*get_max_threads)(void);
} openmp = {.once = PTHREAD_ONCE_INIT};

static void find_openmp(void) {
    void *set = dlsym(RTLD_DEFAULT, "omp_set_num_threads"), *get = dlsym(RTLD_DEFAULT, "omp_get_max_threads");
    if (!set || !get)
        return;
    memcpy(&openmp.set_num_threads, &set, sizeof set);
    memcpy(&openmp.get_max_threads, &get, sizeof get);
}

static int openmp_threads(void) {
    pthread_once(&openmp.once, find_openmp);
    return openmp.get_max_threads ? openmp.get_max_threads() : 1;
}

#if defined(__x86_64__)
enum { FLUSH = 0x8040 }; /* flush to zero, denormals are zero */

static unsigned flush_on(void) {
    const unsigned csr = _mm_getcsr();
    _mm_setcsr(csr | FLUSH);
    return csr;
}

static void flush_restore(unsigned csr) {
    _mm_setcsr(csr);
}

unsigned mc_keep_subnormals(void) {
    const unsigned csr = _mm_getcsr();
    _mm_setcsr(csr & ~(unsigned)FLUSH);
    return csr;
}
#else
static unsigned flush_on(void) {
    return 0;
}

static void flush_restore(unsigned csr) {
    (void)csr;
}

unsigned mc_keep_subnormals(void) {
    return 0;
}
#endif

void mc_restore_subnormals(unsigned before) {
    flush_restore(before);
}

int64_t mc_chunk_count(int64_t n, int64_t grain) {
    return n <= 0 ? 0 : (n - 1) / grain + 1;
}

typedef struct loop {
    mc_shared shared; /* first: the pool hands it back */
    mercer_ctx *ctx;
    int64_t n, grain, chunks;
    mc_body *body;
    void *arg;
    int64_t own; /* indices that the calling thread has run, */
    double busy; /* and the seconds it took: not those in which it woke others or waited for them */
    atomic_llong next;
    atomic_bool stop;
} loop;

/* Inside a body: a loop in there is run by the thread that comes to it. */
static _Thread_local bool is_inside;

static bool has_chunks(const loop *l) {
    return atomic_load_explicit(&l->next, memory_order_relaxed) < l->chunks
           && !atomic_load_explicit(&l->stop, memory_order_relaxed);
}

static bool run_next_chunk(loop *l, int thread) {
    const int64_t c = atomic_fetch_add(&l->next, 1);
    if (c >= l->chunks)
        return false;
    const int64_t begin = c * l->grain, end = begin + l->grain < l->n ? begin + l->grain : l->n;
    l->body(l->arg, c, begin, end, thread);
    if (thread != 0)
        return true;
    l->own += end - begin;
    if (mc_report_progress(l->ctx, (double)(c + 1) / (double)l->chunks) != MERCER_OK)
        atomic_store(&l->stop, true);
    return true;
}

/* One thread's share: chunks are handed out in order, so a slow thread delays nobody. */
static void run_chunks(loop *l, int thread) {
    const unsigned csr = flush_on();
    while (!atomic_load_explicit(&l->stop, memory_order_relaxed) && run_next_chunk(l, thread))
        continue;
    flush_restore(csr);
}

int mc_for_threads(const mercer_ctx *ctx, int64_t chunks) {
    return chunks < 1 ? 1 : chunks < ctx->threads ? (int)chunks : ctx->threads;
}

/* ---- Which loops are worth sharing ----

   What a loop will take is what its body took per index the last time, whoever called it. Nothing but the choice of
   threads depends on it, and a wrong guess is found out: a loop that was to be short and is not gets help after all. */
static const double worth_sharing = 8e-6, worth_waking = 40e-6; /* seconds */
enum { BODIES = 256 };
static struct {
    _Atomic(mc_body *) body;
    _Atomic float seconds; /* per index */
} body_costs[BODIES];

static size_t place_of(mc_body *body) {
    return ((uintptr_t)body >> 4) * 2654435761u % BODIES;
}

/* Infinite where nothing is known. */
static double expected_seconds(const loop *l) {
    const size_t k = place_of(l->body);
    if (atomic_load_explicit(&body_costs[k].body, memory_order_relaxed) != l->body)
        return INFINITY;
    return (double)atomic_load_explicit(&body_costs[k].seconds, memory_order_relaxed) * (double)l->n;
}

static void remember_seconds(const loop *l) {
    if (!l->own)
        return;
    const size_t k = place_of(l->body);
    atomic_store_explicit(&body_costs[k].seconds, (float)(l->busy / (double)l->own), memory_order_relaxed);
    atomic_store_explicit(&body_costs[k].body, l->body, memory_order_relaxed);
}

static bool is_worth_sharing(double seconds) {
    return seconds > (mc_threads_are_awake() ? worth_sharing : worth_waking);
}

/* ---- The loop ---- */

/* A thread of the pool does nothing else, ever: BLAS built on OpenMP, which asks each thread, is told once. */
static void enter_loop(void) {
    if (!is_inside && openmp_threads() > 1)
        openmp.set_num_threads(1);
    is_inside = true;
}

static void take_chunks(mc_shared *shared, int thread) {
    enter_loop();
    run_chunks((loop *)shared, thread);
}

static bool has_more_chunks(mc_shared *shared) {
    return has_chunks((loop *)shared);
}

static void share_chunks(loop *l, int threads) {
    l->shared = (mc_shared){.take = take_chunks, .has_more = has_more_chunks, .helpers = threads - 1};
    mc_share_begin(&l->shared);
    const double began = mc_clock_seconds();
    run_chunks(l, 0);
    l->busy += mc_clock_seconds() - began;
    mc_share_end(&l->shared);
}

/* Until a loop that was thought to be short has turned out not to be. */
static void run_alone(loop *l) {
    const unsigned csr = flush_on();
    const double began = mc_clock_seconds();
    while (has_chunks(l) && l->busy < worth_waking) {
        run_next_chunk(l, 0);
        l->busy = mc_clock_seconds() - began;
    }
    flush_restore(csr);
}

static void run_together(loop *l, int threads) {
    if (!is_worth_sharing(expected_seconds(l)))
        run_alone(l);
    if (has_chunks(l))
        share_chunks(l, threads);
    remember_seconds(l);
}

mercer_status mc_for_few(mercer_ctx *ctx, int most, int64_t n, int64_t grain, mc_body *body, void *arg) {
    loop l = {.ctx = ctx, .n = n, .grain = grain, .chunks = mc_chunk_count(n, grain), .body = body, .arg = arg};
    const int wanted = mc_for_threads(ctx, l.chunks), threads = wanted < most ? wanted : most;
    if (threads <= 1 || is_inside) {
        run_chunks(&l, 0);
    } else {
        is_inside = true;
        run_together(&l, threads);
        is_inside = false;
    }
    return ctx->shield ? MERCER_OK : ctx->stop;
}

mercer_status mc_for(mercer_ctx *ctx, int64_t n, int64_t grain, mc_body *body, void *arg) {
    return mc_for_few(ctx, ctx->threads, n, grain, body, arg);
}

/* ---- The threads of BLAS ----

   OpenBLAS built on OpenMP asks this thread's own setting before every call. The flavour with threads of its own has
   one setting for the whole process, so that what is known of it is the process's too: the first region to open finds
   the calling program's number and puts 1 in its place, the last to close puts that back. Two contexts in two threads
   cannot take the 1 from each other. */
static struct {
    pthread_mutex_t lock; /* held while the setting changes: regions from 0 to 1, and from 1 to 0 */
    atomic_int regions;   /* open now, in all threads; the setting is 1 as long as there is one */
    int found;
    pthread_once_t once; /* forks are looked after */
} blas_threads = {.lock = PTHREAD_MUTEX_INITIALIZER, .once = PTHREAD_ONCE_INIT};

/* In a child of fork: the threads that had regions open, and who held the lock, are not there. The setting stays what
   it was, 1 if there were any. */
static void forget_other_threads(void) {
    blas_threads.lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    atomic_store(&blas_threads.regions, 0);
}

static void look_after_children(void) {
    pthread_atfork(NULL, NULL, forget_other_threads);
}

static bool process_wide(void) {
    return openblas_get_parallel && openblas_get_parallel() == 1;
}

/* Counts step, unless fewer than least regions are open; false: they are. */
static bool count_region(int least, int step) {
    int open = atomic_load(&blas_threads.regions);
    while (open >= least && !atomic_compare_exchange_weak(&blas_threads.regions, &open, open + step))
        continue;
    return open >= least;
}

static void take_one_thread(void) {
    pthread_once(&blas_threads.once, look_after_children);
    if (count_region(1, 1))
        return;
    pthread_mutex_lock(&blas_threads.lock);
    if (!count_region(1, 1)) {
        blas_threads.found = openblas_get_num_threads();
        openblas_set_num_threads(1);
        atomic_store(&blas_threads.regions, 1);
    }
    pthread_mutex_unlock(&blas_threads.lock);
}

/* The last region, unless another opens at this moment. A number that the calling program has set meanwhile stays. */
static bool close_last(void) {
    int last = 1;
    if (!atomic_compare_exchange_strong(&blas_threads.regions, &last, 0))
        return false;
    if (openblas_get_num_threads() == 1)
        openblas_set_num_threads(blas_threads.found);
    return true;
}

static void give_threads_back(void) {
    if (count_region(2, -1))
        return;
    pthread_mutex_lock(&blas_threads.lock);
    while (!close_last() && !count_region(2, -1))
        continue;
    pthread_mutex_unlock(&blas_threads.lock);
}

mc_region mc_blas_begin(void) {
    const mc_region region = {flush_on(), openmp_threads(), process_wide()};
    if (region.omp_threads > 1)
        openmp.set_num_threads(1);
    if (region.process_wide)
        take_one_thread();
    return region;
}

void mc_blas_end(mc_region region) {
    if (region.process_wide)
        give_threads_back();
    if (region.omp_threads > 1)
        openmp.set_num_threads(region.omp_threads);
    flush_restore(region.csr);
}
