/* parallel.c: where OpenMP lives, with the two things that must be set around it: flush-to-zero and the BLAS thread
   count. */
#include "base/parallel.h"
#include "base/ctx.h"
#include "base/progress.h"
#include <omp.h>
#include <pthread.h>
#include <stdatomic.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

/* OpenBLAS's own controls, looked up weakly: any other BLAS links as well. */
extern void openblas_set_num_threads(int threads) __attribute__((weak));
extern int openblas_get_num_threads(void) __attribute__((weak));
extern int openblas_get_parallel(void) __attribute__((weak)); /* 0: one thread, 1: its own, 2: OpenMP's */

#if defined(__x86_64__)
static unsigned flush_on(void) {
    const unsigned csr = _mm_getcsr();
    _mm_setcsr(csr | 0x8040u); /* flush to zero, denormals are zero */
    return csr;
}

static void flush_restore(unsigned csr) {
    _mm_setcsr(csr);
}
#else
static unsigned flush_on(void) {
    return 0;
}

static void flush_restore(unsigned csr) {
    (void)csr;
}
#endif

int64_t mc_chunk_count(int64_t n, int64_t grain) {
    return n <= 0 ? 0 : (n - 1) / grain + 1;
}

typedef struct loop {
    mercer_ctx *ctx;
    int64_t n, grain, chunks;
    mc_body *body;
    void *arg;
    atomic_llong next;
    atomic_bool stop;
} loop;

/* One thread's share: chunks are handed out in order, so a slow thread delays nobody. */
static void run_chunks(loop *l, int thread) {
    const unsigned csr = flush_on();
    while (!atomic_load_explicit(&l->stop, memory_order_relaxed)) {
        const int64_t c = atomic_fetch_add(&l->next, 1);
        if (c >= l->chunks)
            break;
        const int64_t begin = c * l->grain, end = begin + l->grain < l->n ? begin + l->grain : l->n;
        l->body(l->arg, c, begin, end, thread);
        if (thread == 0 && mc_report_progress(l->ctx, (double)(c + 1) / (double)l->chunks) != MERCER_OK)
            atomic_store(&l->stop, true);
    }
    flush_restore(csr);
}

int mc_for_threads(const mercer_ctx *ctx, int64_t chunks) {
    return chunks < 1 ? 1 : chunks < ctx->threads ? (int)chunks : ctx->threads;
}

mercer_status mc_for(mercer_ctx *ctx, int64_t n, int64_t grain, mc_body *body, void *arg) {
    loop l = {.ctx = ctx, .n = n, .grain = grain, .chunks = mc_chunk_count(n, grain), .body = body, .arg = arg};
    const int threads = mc_for_threads(ctx, l.chunks);
    if (threads <= 1) {
        run_chunks(&l, 0);
    } else {
#pragma omp parallel num_threads(threads)
        run_chunks(&l, omp_get_thread_num());
    }
    return ctx->shield ? MERCER_OK : ctx->stop;
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
    const mc_region region = {flush_on(), omp_get_max_threads(), process_wide()};
    omp_set_num_threads(1);
    if (region.process_wide)
        take_one_thread();
    return region;
}

void mc_blas_end(mc_region region) {
    if (region.process_wide)
        give_threads_back();
    omp_set_num_threads(region.omp_threads);
    flush_restore(region.csr);
}
