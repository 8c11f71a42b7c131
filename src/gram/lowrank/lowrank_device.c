/* lowrank_device.c: see lowrank_device.h. Columns lie there in the blocks they came in, n floats each, one after the
   other. */
#include "gram/lowrank/lowrank_device.h"
#include "backend/device_dense.h"
#include "base/extremes.h"
#include "base/memory.h"
#include "base/status.h"

typedef struct column_block {
    mc_address at;
    int64_t first, count;
} column_block;

struct mc_device_columns {
    mc_device *device;
    int64_t n;
    column_block *block;
    int64_t blocks, capacity;
};

mercer_status mc_device_columns_place(mercer_ctx *ctx, const mc_lowrank *f, int64_t rank, mc_device **out) {
    const double n = (double)f->n, added = (double)(rank - f->rank), operations = n * added * (double)(rank + f->rank);
    *out = NULL;
    if (f->part.ranks > 1 || f->scale)
        return MERCER_OK;
    return mc_device_for_algebra(ctx, operations, ((double)rank + 1) * (n + 1024) * sizeof(float), out);
}

/* ---- Blocks ---- */

static size_t block_bytes(const mc_device_columns *c, int64_t count) {
    return (size_t)(c->n * count) * sizeof(float);
}

static mercer_status take_block(mercer_ctx *ctx, mc_device_columns *c, int64_t first, int64_t count) {
    if (c->blocks == c->capacity) {
        column_block *more = NULL;
        MC_TRY(MC_ALLOC(ctx, more, 2 * c->capacity + 16));
        for (int64_t i = 0; i < c->blocks; i++)
            more[i] = c->block[i];
        mc_free(c->block);
        c->block = more;
        c->capacity = 2 * c->capacity + 16;
    }
    mc_address at = 0;
    MC_TRY(mc_device_allocate(ctx, c->device, block_bytes(c, count), &at));
    c->block[c->blocks++] = (column_block){at, first, count};
    return MERCER_OK;
}

/* The columns of a block there or back, panel by panel. */
static mercer_status copy_block(mercer_ctx *ctx, const mc_device_columns *c, const mc_lowrank *f, const column_block *b,
                                bool back) {
    for (int64_t k = 0, run; k < b->count; k += run) {
        const int64_t to_end = MC_PANEL - (b->first + k) % MC_PANEL;
        run = mc_min_count(to_end, b->count - k);
        float *here = mc_lowrank_column(f, b->first + k);
        const mc_address there = b->at + block_bytes(c, k);
        MC_TRY(back ? mc_device_download(ctx, c->device, here, there, block_bytes(c, run))
                    : mc_device_upload(ctx, c->device, there, here, block_bytes(c, run)));
    }
    return MERCER_OK;
}

mercer_status mc_device_columns_open(mercer_ctx *ctx, mc_device *device, const mc_lowrank *f, mc_device_columns **out) {
    mc_device_columns *c = NULL;
    *out = NULL;
    MC_TRY(MC_ALLOC(ctx, c, 1));
    *c = (mc_device_columns){.device = device, .n = f->n};
    mercer_status status = f->rank ? take_block(ctx, c, 0, f->rank) : MERCER_OK;
    if (f->rank)
        MC_THEN(status, copy_block(ctx, c, f, &c->block[0], false));
    if (status)
        mc_device_columns_close(c);
    else
        *out = c;
    return status;
}

void mc_device_columns_close(mc_device_columns *c) {
    if (!c)
        return;
    for (int64_t i = 0; i < c->blocks; i++)
        mc_device_release(c->device, c->block[i].at, block_bytes(c, c->block[i].count));
    mc_free(c->block);
    mc_free(c);
}

bool mc_device_columns_leaves_it(mercer_ctx *ctx, const mc_device_columns *c, mercer_status status) {
    return mc_device_leaves_it(ctx, c->device, status);
}

/* ---- Growing ---- */

static mc_device_matrix floats_at(mc_address at, int64_t ld) {
    return (mc_device_matrix){MERCER_F32, at, ld};
}

/* T <- (T - F B) L^-T; small: B, then L. */
static mercer_status orthogonalise_columns(mercer_ctx *ctx, const mc_device_columns *c, int64_t rank,
                                           mc_address small) {
    const column_block *fresh = &c->block[c->blocks - 1];
    const int64_t count = fresh->count;
    const mc_device_matrix T = floats_at(fresh->at, c->n);
    for (const column_block *b = c->block; b < fresh; b++)
        MC_TRY(mc_device_gemm(ctx, c->device, false, true, c->n, count, b->count, -1, floats_at(b->at, c->n),
                              floats_at(small + (mc_address)(b->first * count) * sizeof(float), count), 1, T));
    return mc_device_trsm(ctx, c->device, true, false, true, c->n, count, 1,
                          floats_at(small + (mc_address)(rank * count) * sizeof(float), count), T);
}

mercer_status mc_device_columns_extend(mercer_ctx *ctx, mc_device_columns *c, const mc_lowrank *f, int64_t count,
                                       const float *B, const float *L) {
    const size_t before = (size_t)(f->rank * count) * sizeof(float), square = (size_t)(count * count) * sizeof(float);
    mc_address small = 0;
    MC_TRY(take_block(ctx, c, f->rank, count));
    MC_TRY(copy_block(ctx, c, f, &c->block[c->blocks - 1], false));
    MC_TRY(mc_device_allocate(ctx, c->device, before + square, &small));
    mercer_status status = before ? mc_device_upload(ctx, c->device, small, B, before) : MERCER_OK;
    MC_THEN(status, mc_device_upload(ctx, c->device, small + before, L, square));
    MC_THEN(status, orthogonalise_columns(ctx, c, f->rank, small));
    MC_THEN(status, copy_block(ctx, c, f, &c->block[c->blocks - 1], true));
    mc_device_release(c->device, small, before + square);
    return status;
}
