/* memory.c: the heap behind a context: hook, byte count, peak, hard limit. See memory.h for the contract. */
#include "base/memory.h"
#include "base/cgroup.h"
#include "base/ctx.h"
#include "base/print.h"
#include "base/spare_blocks.h"
#include "base/status.h"
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

struct mc_heap {
    void *(*hook)(void *user, void *block, size_t old_size, size_t new_size);
    void *user;
    size_t limit;
    atomic_size_t used, peak;
    atomic_size_t holders; /* the context and every live block */
    mc_spare_blocks spare; /* of the C library's; used and spare together stay within the limit */
    mc_heap *of;           /* that this is a share of; NULL: none */
    atomic_bool retired;   /* nobody will ask for another block */
};

/* Sits in the 64 bytes before each block. */
typedef struct header {
    mc_heap *heap;
    void *raw;       /* what the hook returned */
    size_t raw_size; /* what it was asked for, and counted as */
    size_t room;     /* what there is */
    size_t size;     /* what the caller asked for */
} header;
_Static_assert(sizeof(header) <= MC_ALIGN, "the header must fit before the block");

enum { HUGE_PAGE = 2 << 20 };

/* Large blocks are matrices, read from end to end: huge pages save most of the faults of filling them. A hint; failure
   is no matter. */
static void hint_huge(void *block, size_t size) {
#ifdef MADV_HUGEPAGE
    const uintptr_t begin = ((uintptr_t)block + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    const uintptr_t end = ((uintptr_t)block + size) / HUGE_PAGE * HUGE_PAGE;
    if (size >= 4 * HUGE_PAGE && begin < end)
        madvise((void *)begin, end - begin, MADV_HUGEPAGE);
#else
    (void)block, (void)size;
#endif
}

static void *libc_hook(void *user, void *block, size_t old_size, size_t new_size) {
    (void)user, (void)old_size;
    if (!new_size) {
        free(block);
        return NULL;
    }
    void *fresh = realloc(block, new_size);
    if (fresh)
        hint_huge(fresh, new_size);
    return fresh;
}

/* MemAvailable of /proc/meminfo in bytes; free physical pages where there is no such file. */
static size_t memory_of_machine(void) {
    FILE *file = fopen("/proc/meminfo", "r");
    char line[128];
    unsigned long long kib = 0;
    while (file && fgets(line, sizeof line, file) && sscanf(line, "MemAvailable: %llu kB", &kib) != 1)
        ;
    if (file)
        fclose(file);
    if (kib)
        return (size_t)kib * 1024;
    const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    return pages > 0 && page > 0 ? (size_t)pages * (size_t)page : SIZE_MAX;
}

static size_t memory_available(void) {
    const size_t machine = memory_of_machine(), own = mc_own_memory();
    return own < machine ? own : machine;
}

static mc_fact memory_left;

mc_heap *mc_heap_open(const mercer_options *options) {
    void *(*hook)(void *, void *, size_t, size_t) = options->memory ? options->memory : libc_hook;
    mc_heap *heap = hook(options->memory_user, NULL, 0, sizeof *heap);
    if (!heap)
        return NULL;
    *heap = (mc_heap){.hook = hook, .user = options->memory_user};
    heap->limit =
        options->memory_limit ? options->memory_limit : mc_cached_fact(&memory_left, memory_available) / 5 * 4;
    atomic_init(&heap->holders, 1);
    return heap;
}

void mc_heap_release(mc_heap *heap) {
    if (atomic_fetch_sub(&heap->holders, 1) == 1) {
        mc_spare_clear(&heap->spare);
        mc_heap *const of = heap->of;
        heap->hook(heap->user, heap, sizeof *heap, 0);
        if (of)
            mc_heap_release(of);
    }
}

void mc_heap_retire(mc_heap *heap) {
    atomic_store(&heap->retired, true);
    mc_spare_clear(&heap->spare);
}

size_t mc_heap_spare(const mc_heap *heap) {
    return atomic_load(&heap->spare.bytes);
}

size_t mc_heap_used(const mc_heap *heap) {
    return atomic_load(&heap->used);
}

size_t mc_heap_peak(const mc_heap *heap) {
    return atomic_load(&heap->peak);
}

size_t mc_heap_limit(const mc_heap *heap) {
    return heap->limit;
}

void mc_heap_lower(mc_heap *heap, size_t limit) {
    heap->limit = limit < heap->limit ? limit : heap->limit;
}

static header *header_of(void *block) {
    return (header *)(void *)((char *)block - MC_ALIGN);
}

/* Count bytes in, unless that would pass the limit. */
static bool charge_heap(mc_heap *heap, size_t bytes) {
    const size_t before = atomic_fetch_add(&heap->used, bytes);
    if (bytes > heap->limit || before > heap->limit - bytes) {
        atomic_fetch_sub(&heap->used, bytes);
        return false;
    }
    if (atomic_load(&heap->spare.bytes) > heap->limit - before - bytes)
        mc_spare_clear(&heap->spare);
    size_t peak = atomic_load(&heap->peak);
    while (before + bytes > peak && !atomic_compare_exchange_weak(&heap->peak, &peak, before + bytes))
        ;
    return true;
}

const char *mc_bytes_text(double bytes, char text[32]) {
    static const char *const unit[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    int k = 0;
    while (bytes >= 1024 && k < 4) {
        bytes /= 1024;
        k++;
    }
    mc_print(text, 32, "%.4g %s", bytes, unit[k]);
    return text;
}

static void *fail_allocation(mercer_ctx *ctx, size_t bytes, bool over_limit) {
    char want[32], used[32], limit[32];
    mc_bytes_text((double)bytes, want);
    if (over_limit)
        mc_fail(ctx, MERCER_MEMORY, "memory: %s more would pass the limit of %s (%s in use); raise the memory limit",
                want, mc_bytes_text((double)ctx->heap->limit, limit),
                mc_bytes_text((double)mc_heap_used(ctx->heap), used));
    else
        mc_fail(ctx, MERCER_MEMORY, "memory: the system has no %s left", want);
    return NULL;
}

/* Of zeros: the C library has large blocks from the system, which hands them out so, page by page as they are touched.
   To write zeros over gigabytes takes seconds in which nothing looks at the clock. */
static void *obtain_raw_block(mc_heap *heap, size_t size, bool zero, size_t *room) {
    void *raw = mc_spare_take(&heap->spare, size, room);
    if (raw)
        return zero ? memset(raw, 0, size) : raw;
    *room = size;
    if (!zero || heap->hook != libc_hook) {
        raw = heap->hook(heap->user, NULL, 0, size);
        return raw && zero ? memset(raw, 0, size) : raw;
    }
    raw = calloc(1, size);
    if (raw)
        hint_huge(raw, size);
    return raw;
}

static bool may_keep(mc_heap *heap, size_t room) {
    const size_t held = mc_heap_used(heap) + mc_heap_spare(heap);
    return heap->hook == libc_hook && !atomic_load(&heap->retired) && held <= heap->limit && room <= heap->limit - held;
}

static void give_raw_block_back(mc_heap *heap, void *raw, size_t size, size_t room) {
    atomic_fetch_sub(&heap->used, size);
    if (may_keep(heap, room))
        mc_spare_put(&heap->spare, raw, room);
    else
        heap->hook(heap->user, raw, size, 0);
}

/* ---- A share of a heap ---- */

static void *share_hook(void *user, void *block, size_t old_size, size_t new_size) {
    mc_heap *of = user;
    size_t room;
    if (!new_size) {
        give_raw_block_back(of, block, old_size, old_size);
        return NULL;
    }
    if (!charge_heap(of, new_size))
        return NULL;
    void *raw = obtain_raw_block(of, new_size, false, &room);
    if (!raw)
        atomic_fetch_sub(&of->used, new_size);
    return raw;
}

mc_heap *mc_heap_share(mc_heap *of, size_t limit) {
    mc_heap *heap = share_hook(of, NULL, 0, sizeof *heap);
    if (!heap)
        return NULL;
    *heap = (mc_heap){.hook = share_hook, .user = of, .limit = limit, .of = of};
    atomic_init(&heap->holders, 1);
    atomic_fetch_add(&of->holders, 1);
    return heap;
}

bool mc_heap_has_hook(const mc_heap *heap) {
    return heap->hook != libc_hook && heap->hook != share_hook;
}

/* ---- Blocks ---- */

static void *allocate_block(mercer_ctx *ctx, int64_t count, size_t size, bool zero) {
    size_t bytes;
    if (count < 0 || __builtin_mul_overflow((size_t)count, size, &bytes) || bytes > SIZE_MAX / 2)
        return fail_allocation(ctx, SIZE_MAX, true);
    mc_heap *heap = ctx->heap;
    const size_t raw_size = bytes + 2 * MC_ALIGN; /* the header, and room to align */
    if (!charge_heap(heap, raw_size))
        return fail_allocation(ctx, bytes, true);
    size_t room;
    void *raw = obtain_raw_block(heap, raw_size, zero, &room);
    if (!raw) {
        atomic_fetch_sub(&heap->used, raw_size);
        return fail_allocation(ctx, bytes, false);
    }
    atomic_fetch_add(&heap->holders, 1);
    char *block = (char *)raw + MC_ALIGN;
    block += (size_t)(-(intptr_t)block & (MC_ALIGN - 1));
    *header_of(block) = (header){.heap = heap, .raw = raw, .raw_size = raw_size, .room = room, .size = bytes};
    return block;
}

void *mc_alloc_unset(mercer_ctx *ctx, int64_t count, size_t size) {
    return allocate_block(ctx, count, size, false);
}

void *mc_alloc(mercer_ctx *ctx, int64_t count, size_t size) {
    return allocate_block(ctx, count, size, true);
}

/* Copies rather than asking the hook to grow: alignment would be lost, and growth is geometric wherever it happens. */
void *mc_grow_block(mercer_ctx *ctx, void *block, int64_t count, size_t size) {
    char *fresh = mc_alloc_unset(ctx, count, size);
    if (!fresh)
        return NULL;
    const size_t now = header_of(fresh)->size, old = block ? header_of(block)->size : 0, kept = old < now ? old : now;
    if (kept)
        memcpy(fresh, block, kept);
    memset(fresh + kept, 0, now - kept);
    mc_free(block);
    return fresh;
}

void mc_free(void *block) {
    if (!block)
        return;
    const header h = *header_of(block);
    give_raw_block_back(h.heap, h.raw, h.raw_size, h.room);
    mc_heap_release(h.heap);
}

void mc_buffer_close(mc_buffer *buffer) {
    mc_free(buffer->block);
    *buffer = (mc_buffer){0};
}

void *mc_buffer_reserve(mercer_ctx *ctx, mc_buffer *buffer, size_t bytes) {
    if (buffer->block && buffer->size >= bytes)
        return buffer->block;
    mc_buffer_close(buffer);
    buffer->block = mc_alloc_unset(ctx, (int64_t)(bytes < INT64_MAX ? bytes : INT64_MAX), 1);
    buffer->size = buffer->block ? bytes : 0;
    return buffer->block;
}

char *mc_copy_text(mercer_ctx *ctx, const char *text, size_t length) {
    char *copy = mc_alloc(ctx, (int64_t)length + 1, 1);
    if (copy && length)
        memcpy(copy, text, length);
    return copy;
}

size_t mc_memory_left(const mercer_ctx *ctx) {
    const size_t used = mc_heap_used(ctx->heap);
    return used < ctx->heap->limit ? ctx->heap->limit - used : 0;
}

mercer_status mc_memory_check(mercer_ctx *ctx, size_t bytes, const char *what) {
    if (bytes <= mc_memory_left(ctx))
        return MERCER_OK;
    char want[32], left[32], limit[32];
    return mc_fail(ctx, MERCER_MEMORY, "%s needs %s and %s of the limit of %s are left; raise the memory limit", what,
                   mc_bytes_text((double)bytes, want), mc_bytes_text((double)mc_memory_left(ctx), left),
                   mc_bytes_text((double)ctx->heap->limit, limit));
}

/* ---- The address space ---- */

/* A line of /proc/self/status, "VmSize:", in bytes; 0 where there is none. */
static size_t status_of(const char *name) {
    FILE *file = fopen("/proc/self/status", "r");
    const size_t length = strlen(name);
    char line[256];
    unsigned long long kib = 0;
    while (file && fgets(line, sizeof line, file)
           && (strncmp(line, name, length) != 0 || sscanf(line + length, ": %llu kB", &kib) != 1))
        ;
    if (file)
        fclose(file);
    return (size_t)kib * 1024;
}

/* asked: what getrlimit answered. */
static size_t left_of(int asked, const struct rlimit *r, const char *used) {
    if (asked != 0 || r->rlim_cur == RLIM_INFINITY)
        return SIZE_MAX;
    const size_t taken = status_of(used), all = (size_t)r->rlim_cur;
    return taken < all ? all - taken : 0;
}

size_t mc_address_left(void) {
    struct rlimit as, own;
    const size_t space = left_of(getrlimit(RLIMIT_AS, &as), &as, "VmSize"),
                 data = left_of(getrlimit(RLIMIT_DATA, &own), &own, "VmData");
    return space < data ? space : data;
}
