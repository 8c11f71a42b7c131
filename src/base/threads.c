/* threads.c: threads that are made when they are first wanted and stay. One mutex guards the list of what is shared; it
   is held for a few instructions, and only when somebody comes or goes. */
#include "base/threads.h"
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

/* A thread without work looks about for some 20 microseconds before it sleeps: the loops of an iteration follow each
   other at once, and waking costs more than that. More would take the core from somebody. */
enum { LOOKS = 400, WOKEN_BY_ONE = 3 };

static struct {
    pthread_mutex_t lock;
    pthread_cond_t work, done;
    pthread_once_t once;
    mc_shared *first;    /* open for helpers */
    int threads, asleep; /* of the pool, whatever they do */
    atomic_uint opened;  /* how often something was opened, for those who look without the lock */
    atomic_int looking;  /* threads that look about */
    long processors;
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER,
          .work = PTHREAD_COND_INITIALIZER,
          .done = PTHREAD_COND_INITIALIZER,
          .once = PTHREAD_ONCE_INIT};

static void pause_briefly(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#else
    atomic_thread_fence(memory_order_seq_cst);
#endif
}

/* In a child of fork none of the threads is there. */
static void forget_threads(void) {
    pool.lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    pool.work = pool.done = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
    pool.first = NULL;
    pool.threads = pool.asleep = 0;
    atomic_store(&pool.looking, 0);
}

static void prepare_pool(void) {
    pool.processors = sysconf(_SC_NPROCESSORS_ONLN);
    pthread_atfork(NULL, NULL, forget_threads);
}

/* ---- A thread of the pool ---- */

static bool wants_helper(mc_shared *s) {
    return s->joined < s->helpers && s->has_more(s);
}

static mc_shared *find_work(void) {
    mc_shared *s = pool.first;
    while (s && !wants_helper(s))
        s = s->next;
    return s;
}

/* Sleepers that what is open could use, at most so many: each who comes wakes others in turn. */
static void wake_sleepers(int wanted) {
    for (int count = wanted < pool.asleep ? wanted : pool.asleep; count > 0; count--)
        pthread_cond_signal(&pool.work);
}

static void help_loop(mc_shared *s) {
    const int thread = ++s->joined;
    atomic_fetch_add(&s->active, 1);
    if (wants_helper(s))
        wake_sleepers(WOKEN_BY_ONE);
    pthread_mutex_unlock(&pool.lock);
    s->take(s, thread);
    pthread_mutex_lock(&pool.lock);
    if (atomic_fetch_sub(&s->active, 1) == 1) /* the last touch of it: whoever shared it may be gone */
        pthread_cond_broadcast(&pool.done);
}

/* Called with the lock, which it gives back meanwhile. */
static void look_about(void) {
    if (pool.threads >= pool.processors)
        return;
    const unsigned before = atomic_load(&pool.opened);
    atomic_fetch_add(&pool.looking, 1);
    pthread_mutex_unlock(&pool.lock);
    for (int i = 0; i < LOOKS && atomic_load_explicit(&pool.opened, memory_order_relaxed) == before; i++)
        pause_briefly();
    atomic_fetch_sub(&pool.looking, 1);
    pthread_mutex_lock(&pool.lock);
}

static void sleep_until_called(void) {
    pool.asleep++;
    pthread_cond_wait(&pool.work, &pool.lock);
    pool.asleep--;
}

static void *serve_loops(void *unused) {
    (void)unused;
    pthread_mutex_lock(&pool.lock);
    for (;;) {
        mc_shared *s = find_work();
        if (!s) {
            look_about();
            s = find_work();
        }
        if (s)
            help_loop(s);
        else
            sleep_until_called();
    }
    return NULL;
}

/* Signals are for the threads of the program. False: there can be no more threads. */
static bool add_thread(void) {
    sigset_t all, before;
    pthread_t thread;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const bool made = pthread_create(&thread, NULL, serve_loops, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (made)
        pthread_detach(thread);
    pool.threads += made;
    return made;
}

/* ---- Who shares ---- */

bool mc_threads_are_awake(void) {
    return atomic_load_explicit(&pool.looking, memory_order_relaxed) > 0;
}

void mc_share_begin(mc_shared *shared) {
    pthread_once(&pool.once, prepare_pool);
    pthread_mutex_lock(&pool.lock);
    while (pool.threads < shared->helpers && add_thread())
        continue;
    shared->next = pool.first;
    pool.first = shared;
    atomic_fetch_add(&pool.opened, 1);
    const int wanted = shared->helpers - atomic_load(&pool.looking);
    wake_sleepers(wanted < WOKEN_BY_ONE ? wanted : WOKEN_BY_ONE);
    pthread_mutex_unlock(&pool.lock);
}

static void take_from_list(mc_shared *shared) {
    mc_shared **place = &pool.first;
    while (*place != shared)
        place = &(*place)->next;
    *place = shared->next;
}

/* What is at work ends soon as a rule. */
static void await_helpers(mc_shared *shared) {
    for (int i = 0; i < LOOKS && atomic_load(&shared->active); i++)
        pause_briefly();
    if (!atomic_load(&shared->active))
        return;
    pthread_mutex_lock(&pool.lock);
    while (atomic_load(&shared->active))
        pthread_cond_wait(&pool.done, &pool.lock);
    pthread_mutex_unlock(&pool.lock);
}

void mc_share_end(mc_shared *shared) {
    pthread_mutex_lock(&pool.lock);
    take_from_list(shared);
    pthread_mutex_unlock(&pool.lock);
    await_helpers(shared);
}
