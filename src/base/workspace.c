/* workspace.c: one block cut into aligned slices. */
#include "base/workspace.h"
#include "base/status.h"
#include <assert.h>
#include <string.h>

size_t mc_work_need(int64_t count, size_t size) {
    size_t bytes;
    if (count < 0 || __builtin_mul_overflow((size_t)count, size, &bytes) || bytes > SIZE_MAX / 4 - MC_ALIGN)
        return SIZE_MAX / 4;
    return (bytes + MC_ALIGN - 1) / MC_ALIGN * MC_ALIGN;
}

mercer_status mc_work_open(mercer_ctx *ctx, mc_work *work, size_t bytes) {
    *work = (mc_work){.size = bytes};
    return MC_ALLOC(ctx, work->block, (int64_t)(bytes < INT64_MAX ? bytes : INT64_MAX));
}

/* used stays within what no limit allows, however many slices are too large. */
void *mc_work_take(mc_work *work, int64_t count, size_t size) {
    char *slice = work->block ? work->block + work->used : NULL;
    const size_t used = work->used + mc_work_need(count, size);
    work->used = used < SIZE_MAX / 4 ? used : SIZE_MAX / 4;
    assert(!work->block || work->used <= work->size);
    return slice;
}

void mc_work_close(mc_work *work) {
    mc_free(work->block);
    *work = (mc_work){0};
}

mercer_status mc_work_slices(mercer_ctx *ctx, mc_work *work, const mc_slice *slices, int count) {
    size_t bytes = 0;
    for (int k = 0; k < count && bytes < SIZE_MAX / 4; k++)
        bytes += mc_work_need(slices[k].count, slices[k].size);
    MC_TRY(mc_work_open(ctx, work, bytes));
    for (int k = 0; k < count; k++) {
        void *const slice = mc_work_take(work, slices[k].count, slices[k].size);
        memcpy(slices[k].pointer, &slice, sizeof slice); /* a pointer of another type */
    }
    return MERCER_OK;
}

size_t mc_slices_bytes(mc_slices *cut, void *self) {
    mc_work counted = {0};
    cut(&counted, self);
    return counted.used;
}

mercer_status mc_work_lay(mercer_ctx *ctx, mc_work *work, mc_slices *cut, void *self) {
    const mercer_status status = mc_work_open(ctx, work, mc_slices_bytes(cut, self));
    if (!status)
        cut(work, self);
    return status;
}

int64_t mc_most_within(mc_bytes_of_count *bytes_of, const void *arg, int64_t most, size_t bytes) {
    int64_t low = 0, high = most + 1; /* low fits, or nothing does */
    if (bytes_of(arg, most) <= bytes)
        return most;
    while (high - low > 1) {
        const int64_t middle = low + (high - low) / 2;
        *(bytes_of(arg, middle) <= bytes ? &low : &high) = middle;
    }
    return low;
}
