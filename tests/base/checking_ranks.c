#include "support.h"
#include "base/checking_ranks.h"
#include "base/ctx.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct group {
    checking_run *run;
    pthread_mutex_t lock;
    pthread_cond_t change;
    int waiting;
    long generation;
    bool broken;
    const void *mine[CHECKING_RANKS];
    const int64_t *counts[CHECKING_RANKS];
} group;

typedef struct seat {
    group *group;
    int rank;
    int calls;
    long live, taken; /* blocks */
    mercer_ctx *ctx;
} seat;

/* Until all are here; false: they will not come. */
static bool meet(group *g) {
    pthread_mutex_lock(&g->lock);
    const long now = g->generation;
    if (!g->broken && ++g->waiting == g->run->count) {
        g->waiting = 0;
        g->generation++;
        pthread_cond_broadcast(&g->change);
    }
    while (!g->broken && g->generation == now)
        pthread_cond_wait(&g->change, &g->lock);
    const bool met = g->generation != now;
    pthread_mutex_unlock(&g->lock);
    return met;
}

static void break_group(group *g) {
    pthread_mutex_lock(&g->lock);
    g->broken = true;
    pthread_cond_broadcast(&g->change);
    pthread_mutex_unlock(&g->lock);
}

static bool begin_call(seat *s, const void *mine, const int64_t *counts) {
    const checking_run *run = s->group->run;
    if (s->rank == run->fail_rank && run->fail_after >= 0 && s->calls++ == run->fail_after) {
        break_group(s->group);
        return false;
    }
    s->calls += s->rank != run->fail_rank || run->fail_after < 0;
    s->group->mine[s->rank] = mine;
    s->group->counts[s->rank] = counts;
    return meet(s->group);
}

static void *seat_join(const void *communicator, int *rank, int *count, char *why) {
    seat *s = *(seat *const *)communicator;
    (void)why;
    *rank = s->rank;
    *count = s->group->run->count;
    return s;
}

static void seat_leave(void *self, bool together) {
    seat *s = self;
    if (!together)
        break_group(s->group);
}

static bool seat_gather(void *self, const void *mine, size_t bytes, void *all) {
    seat *s = self;
    if (!begin_call(s, mine, NULL))
        return false;
    for (int k = 0; k < s->group->run->count; k++)
        memcpy((char *)all + (size_t)k * bytes, s->group->mine[k], bytes);
    return meet(s->group);
}

static bool seat_gather_parts(void *self, const double *mine, const int64_t *counts, double *all) {
    seat *s = self;
    if (!begin_call(s, mine, counts))
        return false;
    for (int k = 0; k < s->group->run->count; k++) {
        if (s->group->counts[k][k] != counts[k])
            abort();
        if (all != s->group->mine[k])
            memcpy(all, s->group->mine[k], (size_t)counts[k] * sizeof *all);
        all += counts[k];
    }
    return meet(s->group);
}

static bool seat_exchange(void *self, const double *out, const int64_t *out_counts, double *in,
                          const int64_t *in_counts) {
    seat *s = self;
    if (!begin_call(s, out, out_counts))
        return false;
    for (int k = 0; k < s->group->run->count; k++) {
        const double *from = s->group->mine[k];
        for (int r = 0; r < s->rank; r++)
            from += s->group->counts[k][r];
        if (s->group->counts[k][s->rank] != in_counts[k])
            abort();
        memcpy(in, from, (size_t)in_counts[k] * sizeof *in);
        in += in_counts[k];
    }
    return meet(s->group);
}

static const char *seat_message(void *self) {
    (void)self;
    return "a call was made to fail";
}

static const mc_ranks_calls calls = {.abi = MC_RANKS_ABI,
                                     .join = seat_join,
                                     .leave = seat_leave,
                                     .gather = seat_gather,
                                     .gather_parts = seat_gather_parts,
                                     .exchange = seat_exchange,
                                     .message = seat_message};

/* ---- A run ---- */

static void *seat_memory(void *user, void *block, size_t old_size, size_t new_size) {
    seat *s = user;
    checking_run *run = s->group->run;
    (void)old_size;
    if (!new_size) {
        s->live -= block != NULL;
        free(block);
        return NULL;
    }
    if (s->rank == run->memory_rank && ++s->taken == run->memory_after) {
        run->failed_memory = true;
        return NULL;
    }
    void *fresh = realloc(block, new_size);
    s->live += fresh && !block;
    return fresh;
}

static int seat_progress(void *user, const mercer_progress *progress) {
    const seat *s = user;
    (void)progress;
    return s->rank == s->group->run->stop_rank;
}

static mercer_status run_body(seat *s) {
    const checking_run *run = s->group->run;
    mercer_options options = mercer_options_defaults();
    options.threads = 1;
    options.memory_limit = (size_t)1 << 30;
    options.memory = seat_memory;
    options.memory_user = s;
    options.progress = run->stop_rank >= 0 ? seat_progress : NULL;
    options.progress_user = s;
    options.every_step = true;
    mercer_status status = mercer_open(&options, &s->ctx);
    if (!status)
        status = mc_ranks_join(s->ctx, &calls, &s);
    if (!status)
        status = run->body(s->ctx, s->rank, run->arg);
    return status;
}

static void *run_rank(void *arg) {
    seat *s = arg;
    checking_run *run = s->group->run;
    run->status[s->rank] = run_body(s);
    snprintf(run->message[s->rank], sizeof run->message[s->rank], "%.500s", mercer_message(s->ctx));
    if (!s->ctx || !s->ctx->ranks)
        break_group(s->group); /* as the end of the process does that has not joined */
    mercer_close(s->ctx);
    return NULL;
}

checking_run checking_run_of(int count, checking_body *body, void *arg) {
    return (checking_run){
        .count = count, .body = body, .arg = arg, .fail_after = -1, .stop_rank = -1, .memory_rank = -1};
}

void checking_run_all(checking_run *run) {
    group g = {.run = run, .lock = PTHREAD_MUTEX_INITIALIZER, .change = PTHREAD_COND_INITIALIZER};
    seat seats[CHECKING_RANKS];
    pthread_t thread[CHECKING_RANKS];
    alarm(120);
    for (int k = 0; k < run->count; k++) {
        seats[k] = (seat){.group = &g, .rank = k};
        if (pthread_create(&thread[k], NULL, run_rank, &seats[k]) != 0)
            abort();
    }
    run->left = 0;
    for (int k = 0; k < run->count; k++) {
        pthread_join(thread[k], NULL);
        run->left += seats[k].live;
    }
    run->calls = seats[0].calls;
    alarm(0);
}

void checking_run_failing_calls(int count, int odd, checking_body *body, void *arg, int most) {
    for (int k = 0;; k++) {
        checking_run run = checking_run_of(count, body, arg);
        run.fail_rank = odd;
        run.fail_after = k;
        checking_run_all(&run);
        assert_int_equal(run.left, 0);
        if (run.status[odd] == MERCER_OK)
            break;
        assert_int_equal(run.status[odd], MERCER_INTERNAL);
        assert_non_null(strstr(run.message[odd], "made to fail"));
        assert_in_range(k, 0, most);
    }
}

void checking_run_failing_memory(int count, int odd, checking_body *body, void *arg) {
    for (long k = 1;; k++) {
        checking_run run = checking_run_of(count, body, arg);
        run.memory_rank = odd;
        run.memory_after = k;
        checking_run_all(&run);
        assert_int_equal(run.left, 0);
        if (!run.failed_memory)
            break;
        assert_int_equal(run.status[odd], MERCER_MEMORY);
        for (int other = 0; other < count; other++)
            assert_true(run.status[other] == MERCER_MEMORY || run.status[other] == MERCER_INTERNAL);
    }
}
