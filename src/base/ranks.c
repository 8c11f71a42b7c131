/* ranks.c: see ranks.h. */
#include "base/ranks.h"
#include "base/clock.h"
#include "base/ctx.h"
#include "base/hash.h"
#include "base/library.h"
#include "base/memory.h"
#include "base/print.h"
#include "base/status.h"
#include <dlfcn.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Without padding: it is compared and sent as bytes. */
struct mc_rank_note {
    int64_t step;
    uint64_t what;
    int32_t place, status, asked, unused;
    double busy;
};

bool mc_ranks_share(const mercer_ctx *ctx) {
    return ctx->ranks && ctx->ranks->count > 1 && !ctx->ranks->own && !ctx->job.whole;
}

void mc_ranks_begin_own(mercer_ctx *ctx) {
    if (ctx->ranks && !ctx->job.whole)
        ctx->ranks->own++;
}

void mc_ranks_end_own(mercer_ctx *ctx) {
    if (ctx->ranks && !ctx->job.whole)
        ctx->ranks->own--;
}

bool mc_ranks_is_silent(const mercer_ctx *ctx) {
    return ctx->ranks && ctx->ranks->rank > 0;
}

int mercer_rank(const mercer_ctx *ctx) {
    return ctx && ctx->ranks ? ctx->ranks->rank : 0;
}

int mercer_ranks(const mercer_ctx *ctx) {
    return ctx && ctx->ranks ? ctx->ranks->count : 1;
}

int mercer_slowest_rank(const mercer_ctx *ctx, double *seconds) {
    const mc_ranks *r = ctx ? ctx->ranks : NULL;
    int slowest = 0;
    double sum = 0;
    for (int k = 0; r && k < r->count; k++) {
        slowest = r->note[k].busy > r->note[slowest].busy ? k : slowest;
        sum += r->note[k].busy;
    }
    if (seconds)
        *seconds = mercer_ranks(ctx) > 1 ? (r->count * r->note[slowest].busy - sum) / (r->count - 1) : 0;
    return slowest;
}

/* ---- Agreeing ---- */

static mercer_status lose_others(mercer_ctx *ctx) {
    mc_ranks *r = ctx->ranks;
    r->parted = r->lost = true;
    return mc_fail(ctx, MERCER_INTERNAL, "rank %d of %d cannot reach the others: %s", r->rank, r->count,
                   r->calls->message(r->self));
}

static int first_failed(const mc_ranks *r) {
    for (int k = 0; k < r->count; k++)
        if (r->note[k].status)
            return k;
    return -1;
}

static bool same_place(const mc_rank_note *a, const mc_rank_note *b) {
    return a->step == b->step && a->what == b->what && a->place == b->place;
}

/* Those that are not where the first rank is; every rank sees the same. */
static int first_elsewhere(const mc_ranks *r) {
    for (int k = 1; k < r->count; k++)
        if (!same_place(&r->note[0], &r->note[k]))
            return k;
    return -1;
}

/* What the failed rank has to say; a rank that failed in the same way says it in its own words. */
static mercer_status take_failure(mercer_ctx *ctx, int failed) {
    mc_ranks *r = ctx->ranks;
    const mercer_status status = (mercer_status)r->note[failed].status;
    const char *words = r->words + (int64_t)failed * MC_MESSAGE_SIZE;
    char mine[MC_MESSAGE_SIZE];
    memcpy(mine, ctx->message, sizeof mine);
    if (!r->calls->gather(r->self, mine, sizeof mine, r->words))
        return lose_others(ctx);
    if (r->note[r->rank].status != r->note[failed].status || strcmp(words, mine) != 0)
        mc_fail(ctx, status, "rank %d: %.900s", failed, *words ? words : mercer_status_text(status));
    return status;
}

static mercer_status name_parted(mercer_ctx *ctx, int elsewhere) {
    const mc_ranks *r = ctx->ranks;
    const int ended = r->note[0].place == MC_RANKS_END ? 0 : elsewhere;
    if (r->note[ended].place == MC_RANKS_END && r->note[elsewhere].place != r->note[0].place)
        return mc_fail(ctx, MERCER_INTERNAL, "rank %d has ended while others were at work", ended);
    return mc_fail(ctx, MERCER_INTERNAL,
                   "ranks 0 and %d no longer do the same work: each must run the same program on the same data, with "
                   "the same libraries",
                   elsewhere);
}

static mercer_status take_stop(mercer_ctx *ctx) {
    mc_ranks *r = ctx->ranks;
    mercer_status asked = MERCER_OK;
    for (int k = 0; k < r->count; k++)
        asked = r->note[k].asked ? (mercer_status)r->note[k].asked : asked;
    if (!asked || ctx->shield)
        return MERCER_OK;
    r->asked = MERCER_OK;
    return ctx->told = ctx->stop = mc_fail(ctx, asked, "stopped by the caller");
}

mercer_status mc_ranks_agree(mercer_ctx *ctx, mc_ranks_place place, uint64_t what, mercer_status status) {
    mc_ranks *r = ctx->ranks;
    if (r->parted)
        return status ? status : mc_fail(ctx, MERCER_INTERNAL, "the other ranks have ended or gone another way");
    r->busy += mc_clock_seconds() - r->since;
    const mc_rank_note mine = {.step = r->step++,
                               .what = what,
                               .place = (int32_t)place,
                               .status = (int32_t)status,
                               .asked = (int32_t)r->asked,
                               .busy = r->busy};
    if (!r->calls->gather(r->self, &mine, sizeof mine, r->note))
        return lose_others(ctx);
    r->since = mc_clock_seconds();
    const int failed = first_failed(r), elsewhere = first_elsewhere(r);
    const mercer_status of_all = failed < 0 ? MERCER_OK : take_failure(ctx, failed);
    r->parted |= elsewhere > 0;
    if (of_all)
        return of_all;
    return elsewhere > 0 ? name_parted(ctx, elsewhere) : take_stop(ctx);
}

/* What went wrong on this rank was said; the answer is that of all. */
mercer_status mercer_agree(mercer_ctx *ctx, mercer_status status) {
    if (!ctx)
        return MERCER_INVALID;
    return ctx->ranks && !ctx->job.whole ? mc_ranks_agree(ctx, MC_RANKS_END, 0, status) : status;
}

mercer_status mc_ranks_gather(mercer_ctx *ctx, const void *mine, size_t bytes, void *all) {
    mc_ranks *r = ctx->ranks;
    return r->calls->gather(r->self, mine, bytes, all) ? MERCER_OK : lose_others(ctx);
}

mercer_status mc_ranks_gather_parts(mercer_ctx *ctx, const double *mine, const int64_t *counts, double *all) {
    mc_ranks *r = ctx->ranks;
    return r->calls->gather_parts(r->self, mine, counts, all) ? MERCER_OK : lose_others(ctx);
}

mercer_status mc_ranks_exchange(mercer_ctx *ctx, const double *out, const int64_t *out_counts, double *in,
                                const int64_t *in_counts) {
    mc_ranks *r = ctx->ranks;
    return r->calls->exchange(r->self, out, out_counts, in, in_counts) ? MERCER_OK : lose_others(ctx);
}

/* ---- Joining ---- */

/* What ranks find on their machines, which must not lead them to other decisions. */
typedef struct machine_facts {
    uint64_t host, processors; /* those that it may run on */
    uint64_t memory;
    int64_t isa;
} machine_facts;

static machine_facts own_facts(const mercer_ctx *ctx) {
    char host[256] = "";
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    gethostname(host, sizeof host - 1);
    sched_getaffinity(0, sizeof allowed, &allowed);
    return (machine_facts){.host = mc_hash_text(0, host),
                           .processors = mc_hash(0, &allowed, sizeof allowed),
                           .memory = mc_heap_limit(ctx->heap),
                           .isa = ctx->isa};
}

/* Ranks of one machine share its memory, and those that may run on the same processors share these; all use the
   instructions that the least of them has, and stay under the lowest limit. */
static void settle_facts(mercer_ctx *ctx, const machine_facts *facts) {
    const machine_facts *own = &facts[ctx->ranks->rank];
    int neighbours = 0, rivals = 0;
    for (int k = 0; k < ctx->ranks->count; k++) {
        neighbours += facts[k].host == own->host;
        rivals += facts[k].host == own->host && facts[k].processors == own->processors;
        ctx->isa = facts[k].isa < (int64_t)ctx->isa ? (mc_isa)facts[k].isa : ctx->isa;
    }
    if (!ctx->options.memory_limit)
        mc_heap_lower(ctx->heap, own->memory / (size_t)neighbours);
    if (ctx->options.threads || rivals == 1)
        return;
    ctx->threads = ctx->threads / rivals > 1 ? ctx->threads / rivals : 1;
    ctx->threads_decided = "processors shared by ranks";
}

static mercer_status gather_facts(mercer_ctx *ctx, machine_facts *facts) {
    mc_ranks *r = ctx->ranks;
    machine_facts own = own_facts(ctx);
    if (!r->calls->gather(r->self, &own, sizeof own, facts))
        return lose_others(ctx);
    settle_facts(ctx, facts);
    own.memory = mc_heap_limit(ctx->heap);
    if (!r->calls->gather(r->self, &own, sizeof own, facts))
        return lose_others(ctx);
    for (int k = 0; k < r->count; k++)
        mc_heap_lower(ctx->heap, facts[k].memory);
    return MERCER_OK;
}

mercer_status mc_ranks_refuse_clock(mercer_ctx *ctx) {
    return mc_fail(ctx, MERCER_INVALID,
                   "time_limit: %d ranks cannot plan by the clocks of their machines; leave it out, and let mpirun or "
                   "the batch system end the job",
                   ctx->ranks->count);
}

static mercer_status check_possible(mercer_ctx *ctx) {
    if (ctx->ranks->count > 1 && ctx->options.time_limit > 0)
        return mc_ranks_refuse_clock(ctx);
    if (ctx->ranks->count > 1 && ctx->device.wanted[0] && strncmp(ctx->device.wanted, "cuda", 4) == 0)
        return mc_fail(ctx, MERCER_INVALID, "device %s: %d ranks compute on their processors; use device cpu",
                       ctx->device.wanted, ctx->ranks->count);
    return MERCER_OK;
}

/* A card that is named, here or in the environment, is refused by check_possible; one that nobody named is not
   taken. */
static void take_processor(mercer_ctx *ctx) {
    char *wanted = ctx->device.wanted;
    const char *outside = getenv("MERCER_DEVICE");
    if (!*wanted && outside)
        mc_print(wanted, sizeof ctx->device.wanted, "%s", outside);
    if (!*wanted || strcmp(wanted, "auto") == 0)
        memcpy(wanted, "cpu", sizeof "cpu");
}

static mercer_status settle_ranks(mercer_ctx *ctx) {
    machine_facts *facts = NULL;
    mc_ranks *r = ctx->ranks;
    mercer_status status = MC_ALLOC(ctx, facts, r->count);
    MC_THEN(status, MC_ALLOC(ctx, r->note, r->count));
    MC_THEN(status, MC_ALLOC(ctx, r->words, (int64_t)r->count * MC_MESSAGE_SIZE));
    MC_THEN(status, MC_ALLOC(ctx, r->counts, 2 * (int64_t)r->count));
    r->parted = r->lost = status != MERCER_OK; /* it cannot even say so: the others see it end */
    MC_THEN(status, gather_facts(ctx, facts));
    mc_free(facts);
    r->since = mc_clock_seconds();
    ctx->nominal = true; /* choices must not depend on how fast a rank's machine is */
    if (r->count > 1)
        take_processor(ctx);
    MC_THEN(status, check_possible(ctx));
    return r->parted ? status : mc_ranks_agree(ctx, MC_RANKS_OPEN, ctx->options.seed, status);
}

mercer_status mc_ranks_join(mercer_ctx *ctx, const mc_ranks_calls *calls, const void *communicator) {
    char why[MC_RANKS_TEXT] = "";
    mc_ranks *r = mc_alloc(ctx, 1, sizeof *r);
    if (!r)
        return MERCER_MEMORY;
    *r = (mc_ranks){.calls = calls};
    r->self = calls->join(communicator, &r->rank, &r->count, why);
    if (!r->self) {
        mc_free(r);
        return mc_fail(ctx, MERCER_INVALID, "ranks: the others cannot be joined: %s", why);
    }
    ctx->ranks = r;
    return settle_ranks(ctx);
}

/* The library stays open: MPI cannot be left and joined again. */
static mercer_status join_library(mercer_ctx *ctx) {
    char why[MC_RANKS_TEXT] = "";
    void *library = mc_library_open("mpi", why, sizeof why);
    void *symbol = library ? mc_library_symbol(library, "mercer_ranks_calls") : NULL;
    mc_ranks_entry *entry = NULL;
    memcpy(&entry, &symbol, sizeof entry); /* ISO C has no cast from a pointer to data to one to code */
    const mc_ranks_calls *calls = entry ? entry() : NULL;
    if (!library)
        return mc_fail(ctx, MERCER_INVALID,
                       "ranks mpi: %s; build Mercer where MPI is found (Debian: libopenmpi-dev), or use ranks none",
                       why);
    if (calls && calls->abi == MC_RANKS_ABI)
        return mc_ranks_join(ctx, calls, ctx->options.communicator);
    dlclose(library);
    return mc_fail(ctx, MERCER_INVALID, "ranks mpi: libmercer_mpi.so belongs to another version of Mercer");
}

mercer_status mc_ranks_open(mercer_ctx *ctx) {
    const char *wanted = ctx->options.ranks ? ctx->options.ranks : "none";
    const mercer_options *o = &ctx->options;
    if (strcmp(wanted, "none") == 0)
        return o->communicator ? mc_fail(ctx, MERCER_INVALID, "communicator: it is for ranks mpi, and ranks is none")
                               : MERCER_OK;
    if (strcmp(wanted, "mpi") != 0)
        return mc_fail(ctx, MERCER_INVALID, "ranks must be none or mpi, got '%.40s'", wanted);
    return join_library(ctx);
}

void mc_ranks_close(mercer_ctx *ctx) {
    mc_ranks *r = ctx->ranks;
    if (!r)
        return;
    if (!r->parted && r->note && r->note[r->rank].place != MC_RANKS_END)
        mc_ranks_agree(ctx, MC_RANKS_END, 0, ctx->message[0] ? MERCER_INTERNAL : MERCER_OK);
    r->calls->leave(r->self, !r->lost);
    mc_free(r->note);
    mc_free(r->words);
    mc_free(r->counts);
    mc_free(r);
    ctx->ranks = NULL;
}
