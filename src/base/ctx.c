/* ctx.c: opening and closing a context, and what it can be asked. */
#include "base/ctx.h"
#include "base/cgroup.h"
#include "base/memory.h"
#include "base/clock.h"
#include "base/print.h"
#include "base/progress.h"
#include "base/ranks.h"
#include "base/sized.h"
#include "base/status.h"
#include <stdint.h>
#include <string.h>

void mercer_options_init(mercer_options *set, size_t size) {
    const mercer_options defaults = {0};
    mc_sized_init(&defaults, sizeof defaults, set, size);
}

static mercer_status check_time_limit(mercer_ctx *ctx, double seconds) {
    return seconds >= 0 ? MERCER_OK
                        : mc_fail(ctx, MERCER_INVALID, "time_limit must be 0 or more seconds, got %g", seconds);
}

static mercer_status check_options(mercer_ctx *ctx) {
    const mercer_options *o = &ctx->options;
    if (o->threads < 0 || o->threads > 4096)
        return mc_fail(ctx, MERCER_INVALID, "threads must be in [0, 4096], got %d", o->threads);
    MC_TRY(check_time_limit(ctx, o->time_limit));
    if (o->device && strlen(o->device) >= sizeof ctx->device.wanted)
        return mc_fail(ctx, MERCER_INVALID, "device must be auto, cpu, cuda or cuda:NUMBER, got '%.40s'", o->device);
    mc_print(ctx->device.wanted, sizeof ctx->device.wanted, "%s", o->device ? o->device : "");
    return mc_isa_choose(ctx, o->isa, &ctx->isa);
}

/* Where the address space is limited: no more threads than have room for what each takes, and the rest is the memory
   limit. The result does not depend on the number of threads. */
static mercer_status fit_address_space(mercer_ctx *ctx) {
    const size_t slack = (size_t)16 << 20, left = mc_address_left();
    char has[32], least[32];
    if (left == SIZE_MAX)
        return MERCER_OK;
    if (left < MC_ADDRESS_THREAD + 2 * slack)
        return mc_fail(
            ctx, MERCER_MEMORY,
            "the limit on the address space (ulimit -v or -d) leaves %s, and %s is the least to compute in; raise it",
            mc_bytes_text((double)left, has), mc_bytes_text((double)(MC_ADDRESS_THREAD + 2 * slack), least));
    const size_t threads = (left / 2) / MC_ADDRESS_THREAD;
    if ((size_t)ctx->threads > threads) {
        ctx->threads = threads > 1 ? (int)threads : 1;
        ctx->threads_decided = "limit on the address space";
    }
    mc_heap_lower(ctx->heap, left - (size_t)ctx->threads * MC_ADDRESS_THREAD - slack);
    return MERCER_OK;
}

mercer_status mercer_open(const mercer_options *options, mercer_ctx **out) {
    if (!out)
        return MERCER_INVALID;
    *out = NULL;
    mercer_options chosen = mercer_options_defaults();
    const mercer_status sized = mc_sized_read(NULL, "mercer_options", options, &chosen, sizeof chosen);
    mc_heap *heap = mc_heap_open(&chosen);
    if (!heap)
        return MERCER_MEMORY;
    mercer_ctx seedling = {.heap = heap, .options = chosen}; /* enough of a context to allocate the real one */
    mercer_ctx *ctx = mc_alloc(&seedling, 1, sizeof *ctx);
    mc_heap_release(heap); /* the context's own block keeps the heap from here on */
    if (!ctx)
        return MERCER_MEMORY;
    *ctx = seedling;
    const mc_cpus all = mc_own_cpus(mc_allowed_processors()),
                  own = chosen.threads > 0 ? (mc_cpus){chosen.threads, "asked for"} : all;
    ctx->processors = all.count;
    ctx->threads = own.count;
    ctx->threads_decided = own.decided;
    mc_begin_call(ctx);
    *out = ctx;
    if (sized) /* said again, now that there is a context to say it in */
        return mc_sized_read(ctx, "mercer_options", options, &chosen, sizeof chosen);
    MC_TRY(fit_address_space(ctx));
    MC_TRY(check_options(ctx));
    return mc_ranks_open(ctx);
}

void mercer_close(mercer_ctx *ctx) {
    if (ctx && ctx->ranks)
        mc_ranks_close(ctx);
    if (ctx && ctx->device.opening)
        ctx->device.end(ctx->device.opening);
    if (ctx && ctx->device.open)
        ctx->device.close(ctx->device.open);
    if (ctx)
        mc_heap_retire(ctx->heap);
    mc_free(ctx);
}

mercer_status mercer_set_time_limit(mercer_ctx *ctx, double seconds) {
    if (!ctx)
        return MERCER_INVALID;
    mc_begin_call(ctx);
    MC_TRY(check_time_limit(ctx, seconds));
    if (seconds > 0 && mc_ranks_share(ctx))
        return mc_ranks_refuse_clock(ctx);
    ctx->options.time_limit = seconds;
    return MERCER_OK;
}

void mc_begin_call(mercer_ctx *ctx) {
    mc_clear_failure(ctx);
    ctx->stop = ctx->told = MERCER_OK;
    ctx->shield = 0;
    ctx->device.pairs = ctx->device.spent = 0;
    mc_hold_phase(ctx, NULL, 0, 0);
    mc_begin_phase(ctx, NULL);
    ctx->call_began = mc_clock_seconds();
    ctx->next_progress = ctx->call_began + 0.1;
}

size_t mercer_memory_used(const mercer_ctx *ctx) {
    if (!ctx)
        return 0;
    return mc_heap_used(ctx->heap);
}

size_t mercer_memory_peak(const mercer_ctx *ctx) {
    if (!ctx)
        return 0;
    return mc_heap_peak(ctx->heap);
}

size_t mercer_memory_limit(const mercer_ctx *ctx) {
    if (!ctx)
        return 0;
    return mc_heap_limit(ctx->heap);
}

int mercer_threads(const mercer_ctx *ctx) {
    if (!ctx)
        return 0;
    return ctx->threads;
}

const char *mercer_threads_decided(const mercer_ctx *ctx) {
    if (!ctx)
        return NULL;
    return ctx->threads_decided;
}

const char *mercer_isa(const mercer_ctx *ctx) {
    if (!ctx)
        return NULL;
    return mc_isa_name(ctx->isa);
}
