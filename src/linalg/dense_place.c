/* dense_place.c: numbers of a matrix in a place, and from one place to another. */
#include "backend/device_dense.h"
#include "base/ctx.h"
#include "base/memory.h"
#include "base/status.h"
#include "data/table/data.h"
#include "linalg/cholesky.h"
#include "linalg/dense.h"
#include "linalg/triangle.h"
#include <string.h>

static int64_t numbers_of(mc_dense A) {
    if (A.layout == MC_PACKED)
        return A.place == MC_DEVICE ? A.ld * (A.rows - A.rows / 2) : mc_packed_count(A.rows);
    return A.rows * A.columns;
}

static size_t bytes_of(mc_dense A) {
    return (size_t)numbers_of(A) * mc_dtype_size(A.dtype);
}

static mc_address address_of(mc_dense A) {
    return (mc_address)(uintptr_t)A.a;
}

/* Rows of the rectangle that both triangles lie in: those of the first begin a line below those of the second. */
static int64_t aligned_rows(int64_t n) {
    return (n + 2 * MC_DEVICE_LINE - 1) / MC_DEVICE_LINE * MC_DEVICE_LINE;
}

mercer_status mc_dense_allocate(mercer_ctx *ctx, mc_device *device, mc_layout layout, mercer_dtype dtype, int64_t rows,
                                int64_t columns, mc_dense *out) {
    *out = (mc_dense){.place = device ? MC_DEVICE : MC_HOST,
                      .layout = layout,
                      .dtype = dtype,
                      .rows = rows,
                      .columns = columns,
                      .device = device};
    out->ld = layout == MC_PACKED ? (device ? aligned_rows(rows) : 0) : layout == MC_ROW_MAJOR ? columns : rows;
    if (!device) {
        out->a = mc_alloc_unset(ctx, numbers_of(*out), mc_dtype_size(dtype));
        return out->a ? MERCER_OK : MERCER_MEMORY;
    }
    mc_address at = 0;
    const mercer_status status = mc_device_allocate(ctx, device, bytes_of(*out), &at);
    out->a = (void *)(uintptr_t)at;
    return status;
}

void mc_dense_free(mc_dense *A) {
    if (A->place == MC_DEVICE && A->a)
        mc_device_release(A->device, address_of(*A), bytes_of(*A));
    else if (A->place == MC_HOST)
        mc_free(A->a);
    A->a = NULL;
}

/* A line is what lies together: a column, a row, the whole of what is packed. */
static mercer_status copy_lines(mercer_ctx *ctx, mc_dense from, mc_dense to, int64_t lines, size_t bytes) {
    const size_t size = mc_dtype_size(from.dtype);
    mercer_status status = MERCER_OK;
    for (int64_t i = 0; i < lines && !status; i++) {
        const uintptr_t source = (uintptr_t)from.a + (uintptr_t)(i * from.ld) * size,
                        target = (uintptr_t)to.a + (uintptr_t)(i * to.ld) * size;
        if (from.place == MC_DEVICE)
            status = mc_device_download(ctx, from.device, (void *)target, (mc_address)source, bytes);
        else if (to.place == MC_DEVICE)
            status = mc_device_upload(ctx, to.device, (mc_address)target, (const void *)source, bytes);
        else
            memcpy((void *)target, (const void *)source, bytes);
    }
    return status;
}

/* Columns of the first triangle with what lies below it, then rows of the second. */
static mercer_status copy_triangles(mercer_ctx *ctx, mc_dense from, mc_dense to) {
    const mc_halves a = mc_triangle_split(from), b = mc_triangle_split(to);
    const size_t size = mc_dtype_size(from.dtype);
    mercer_status status = MERCER_OK;
    for (int64_t j = 0; j < a.first.rows && !status; j++)
        status = copy_lines(ctx, mc_submatrix(a.first, j, j, 1, 1), mc_submatrix(b.first, j, j, 1, 1), 1,
                            (size_t)(from.rows - j) * size);
    for (int64_t i = 0; i < a.second.rows && !status; i++)
        status = copy_lines(ctx, mc_submatrix(a.second, i, 0, 1, 1), mc_submatrix(b.second, i, 0, 1, 1), 1,
                            (size_t)(i + 1) * size);
    return status;
}

mercer_status mc_dense_copy(mercer_ctx *ctx, mc_dense from, mc_dense to) {
    if (from.layout == MC_PACKED && from.place != to.place)
        return copy_triangles(ctx, from, to);
    const int64_t lines = from.layout == MC_ROW_MAJOR ? from.rows : from.columns,
                  length = from.layout == MC_ROW_MAJOR ? from.columns : from.rows;
    const bool together = from.layout == MC_PACKED || (from.ld == length && to.ld == length);
    return together ? copy_lines(ctx, from, to, 1, bytes_of(from))
                    : copy_lines(ctx, from, to, lines, (size_t)length * mc_dtype_size(from.dtype));
}

mercer_status mc_device_for_algebra(mercer_ctx *ctx, double operations, double bytes, mc_device **out) {
    *out = NULL;
    if (ctx->job.whole) /* the device serves one thread */
        return MERCER_OK;
    MC_TRY(mc_device_for_operations(ctx, operations, 0, out));
    if (*out && (!mc_device_has_dense(ctx, *out) || bytes > (double)((*out)->limit - (*out)->used)))
        *out = NULL;
    return MERCER_OK;
}
