/* device_block.c: see device_block.h. A packed triangle is written as its two halves and the square below; the second
   half lies by rows, which is the upper half of a symmetric K by columns. */
#include "gram/device/device_block.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/status.h"
#include "linalg/triangle.h"

enum { ROWS = 128, COLUMNS = 32 }; /* of a block of threads: block.cu */

typedef struct block_region {
    int64_t i, j; /* of K */
    int64_t half;
    mc_dense A;
} block_region;

static mercer_status write_region(mercer_ctx *ctx, mc_device *device, void *program, mc_device_argument a,
                                  block_region r) {
    const bool by_rows = r.A.layout == MC_ROW_MAJOR;
    const mc_dense A = by_rows ? mc_transposed(r.A) : r.A;
    a.i0 = r.i, a.i1 = r.i + A.rows;
    a.j0 = r.j, a.j1 = r.j + A.columns;
    a.half = by_rows ? -r.half : r.half;
    a.out = (mc_address)(uintptr_t)A.a;
    a.ld = A.ld;
    const mc_launch shape = {.grid = {mc_chunk_count(A.rows, ROWS), mc_chunk_count(A.columns, COLUMNS)},
                             .threads = ROWS};
    return A.rows && A.columns ? mc_device_launch(ctx, device, program, "block", &shape, &a, sizeof a) : MERCER_OK;
}

static mercer_status write_regions(mercer_ctx *ctx, mc_device *device, void *program, const mc_device_argument *a,
                                   mc_dense A) {
    if (A.layout != MC_PACKED)
        return write_region(ctx, device, program, *a, (block_region){0, 0, 0, A});
    const mc_halves h = mc_triangle_split(A);
    const int64_t n1 = h.first.rows;
    MC_TRY(write_region(ctx, device, program, *a, (block_region){0, 0, 1, h.first}));
    MC_TRY(write_region(ctx, device, program, *a, (block_region){n1, 0, 0, h.below}));
    return write_region(ctx, device, program, *a, (block_region){n1, n1, 1, h.second});
}

static mercer_status copy_vector(mercer_ctx *ctx, mc_device *device, const double *from, int64_t n, mc_address *out) {
    *out = 0;
    if (!from)
        return MERCER_OK;
    MC_TRY(mc_device_allocate(ctx, device, (size_t)n * sizeof *from, out));
    return mc_device_upload(ctx, device, *out, from, (size_t)n * sizeof *from);
}

static mercer_status build_block(mercer_ctx *ctx, const mc_device_gram *op, void **program) {
    char *source = NULL;
    *program = NULL;
    MC_TRY(mc_device_block_source(ctx, mc_device_gram_of(op), &source));
    const mercer_status status = mc_device_build(ctx, mc_device_gram_device(op), source, program);
    mc_free(source);
    return status;
}

mercer_status mc_device_gram_write_lower(mercer_ctx *ctx, const mc_device_gram *op, mc_dense A) {
    void *program;
    MC_TRY(build_block(ctx, op, &program));
    return write_region(ctx, mc_device_gram_device(op), program, *mc_device_gram_argument(op),
                        (block_region){0, 0, 1, A});
}

mercer_status mc_device_gram_write(mercer_ctx *ctx, mc_device_gram *op, const double *root, const double *shift,
                                   mc_dense A) {
    mc_device *device = mc_device_gram_device(op);
    mc_device_argument a = *mc_device_gram_argument(op);
    void *program = NULL;
    mercer_status status = build_block(ctx, op, &program);
    MC_THEN(status, copy_vector(ctx, device, root, a.n, &a.scale));
    MC_THEN(status, copy_vector(ctx, device, shift, a.n, &a.shift));
    MC_THEN(status, write_regions(ctx, device, program, &a, A));
    mc_device_release(device, a.scale, (size_t)a.n * sizeof *root);
    mc_device_release(device, a.shift, (size_t)a.n * sizeof *shift);
    return status;
}
