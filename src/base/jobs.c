/* jobs.c: see jobs.h. */
#include "base/jobs.h"
#include "base/ctx.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "base/status.h"
#include <string.h>

/* What went wrong on a thread, and in which job. */
typedef struct job_failure {
    mercer_status status;
    int64_t job;
    char message[MC_MESSAGE_SIZE];
} job_failure;

typedef struct jobs {
    mercer_ctx *ctx;
    mercer_ctx before; /* what each job's begins as: the calling thread changes ctx meanwhile */
    int64_t count;
    size_t bytes;
    mc_job *job;
    void *arg;
    atomic_int stop;
    job_failure *failed; /* of each thread */
} jobs;

int mc_jobs_at_once(const mercer_ctx *ctx, int64_t count, size_t bytes) {
    const size_t room = mc_memory_left(ctx) / 2 / (bytes ? bytes : 1);
    const int threads = mc_heap_has_hook(ctx->heap) ? 1 : mc_for_threads(ctx, count);
    return room < (size_t)threads ? (int)room : threads;
}

static mercer_status open_job(const jobs *j, int64_t k, int thread, mercer_ctx *own) {
    *own = j->before;
    own->threads = 1;
    own->options.progress = NULL;
    own->options.log = NULL;
    own->job = (mc_job_link){.whole = j->ctx,
                             .stop = (atomic_int *)&j->stop,
                             .done = (double)k / (double)j->count,
                             .share = 1 / (double)j->count,
                             .on_calling_thread = thread == 0};
    memset(&own->device, 0, sizeof own->device); /* which serves the whole, one call at a time */
    memcpy(own->device.wanted, "cpu", sizeof "cpu");
    own->heap = mc_heap_share(j->ctx->heap, j->bytes);
    return own->heap ? MERCER_OK : mc_fail(own, MERCER_MEMORY, "memory: the system has none left");
}

static void note_failure(jobs *j, const mercer_ctx *own, mercer_status status, int64_t k, int thread) {
    job_failure *f = &j->failed[thread];
    atomic_store_explicit(&j->stop, (int)status, memory_order_relaxed);
    if (f->status && (f->message[0] || !own->message[0]))
        return;
    *f = (job_failure){.status = status, .job = k};
    memcpy(f->message, own->message, sizeof f->message);
}

static void run_job(void *arg, int64_t k, int64_t begin, int64_t end, int thread) {
    (void)begin, (void)end;
    jobs *j = arg;
    mercer_ctx own;
    if (atomic_load_explicit(&j->stop, memory_order_relaxed))
        return;
    mercer_status status = open_job(j, k, thread, &own);
    if (!status) {
        status = j->job(&own, j->arg, k);
        mc_heap_release(own.heap);
    }
    if (status)
        note_failure(j, &own, status, k, thread);
}

/* A job that was stopped because of another has nothing to say. */
static bool says_more(const job_failure *a, const job_failure *b) {
    return !b || (a->message[0] != '\0') > (b->message[0] != '\0')
           || ((a->message[0] != '\0') == (b->message[0] != '\0') && a->job < b->job);
}

/* The first job of those that failed says why; a stop is the context's too. */
static mercer_status report_failure(jobs *j, int threads) {
    const job_failure *first = NULL;
    for (int k = 0; k < threads; k++)
        if (j->failed[k].status && says_more(&j->failed[k], first))
            first = &j->failed[k];
    if (!first)
        return MERCER_OK;
    if (first->status == MERCER_TIME || first->status == MERCER_CANCELLED)
        j->ctx->told = j->ctx->stop = first->status;
    return mc_fail(j->ctx, first->status, "%s", first->message);
}

mercer_status mc_run_jobs(mercer_ctx *ctx, int64_t count, size_t bytes, mc_job *job, void *arg) {
    jobs j = {.ctx = ctx, .before = *ctx, .count = count, .bytes = bytes, .job = job, .arg = arg};
    const int threads = mc_jobs_at_once(ctx, count, bytes), most = threads > 1 ? threads : 1;
    MC_TRY(MC_ALLOC(ctx, j.failed, most));
    mercer_status status = mc_for_few(ctx, most, count, 1, run_job, &j);
    const mercer_status failed = report_failure(&j, most);
    mc_free(j.failed);
    return status ? status : failed;
}
