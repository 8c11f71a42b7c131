/* principal.c: see principal.h. */
#include "solve/principal.h"
#include "base/parallel.h"
#include "base/status.h"

enum { BATCH = 256 };

static size_t entry_bytes(const mc_rows *rows) {
    return rows->dtype == MERCER_F64 ? sizeof(double) : sizeof(float);
}

static int64_t batch_of(const mc_rows *whole) {
    return whole->most < BATCH ? whole->most : BATCH;
}

size_t mc_principal_bytes(const mc_rows *whole, int64_t n) {
    return mc_work_need(n * n, entry_bytes(whole)) + mc_work_need(n, sizeof(bool)) + mc_work_need(n, sizeof(double))
           + 2 * mc_work_need(batch_of(whole), sizeof(int64_t)) + mc_work_need(2 * batch_of(whole), sizeof(void *));
}

mercer_status mc_principal_open(mercer_ctx *ctx, const mc_rows *whole, const int64_t *id, int64_t n, mc_principal *out) {
    const int64_t batch = batch_of(whole);
    *out = (mc_principal){.whole = whole, .n = n, .id = id};
    out->K = mc_alloc_unset(ctx, n * n, entry_bytes(whole));
    if (!out->K || MC_ALLOC(ctx, out->filled, n) || MC_ALLOC(ctx, out->diagonal, n) || MC_ALLOC(ctx, out->wanted, batch)
        || MC_ALLOC(ctx, out->target, batch) || MC_ALLOC(ctx, out->piece, batch)) {
        mc_principal_close(out);
        return MERCER_MEMORY;
    }
    for (int64_t k = 0; k < n; k++)
        out->diagonal[k] = whole->diagonal[id[k]];
    return MERCER_OK;
}

void mc_principal_close(mc_principal *part) {
    void *blocks[] = {part->K, part->filled, part->diagonal, part->wanted, part->target, (void *)part->piece};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        mc_free(blocks[i]);
    *part = (mc_principal){0};
}

static void copy_rows(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk;
    (void)thread;
    const mc_principal *p = arg;
    for (int64_t k = begin; k < end; k++) {
        char *row = p->K + (size_t)(p->target[k] * p->n) * entry_bytes(p->whole);
        for (int64_t j = 0; j < p->n; j++)
            if (p->whole->dtype == MERCER_F64)
                ((double *)(void *)row)[j] = ((const double *)p->piece[k])[p->id[j]];
            else
                ((float *)(void *)row)[j] = ((const float *)p->piece[k])[p->id[j]];
    }
}

static mercer_status fill(mercer_ctx *ctx, mc_principal *p, int64_t count) {
    if (count == 0)
        return MERCER_OK;
    MC_TRY(p->whole->take(ctx, p->whole, p->wanted, count, p->piece));
    MC_TRY(mc_for(ctx, count, 1, copy_rows, p));
    for (int64_t k = 0; k < count; k++)
        p->filled[p->target[k]] = true;
    return MERCER_OK;
}

static mercer_status take_part(mercer_ctx *ctx, const mc_rows *rows, const int64_t *ids, int64_t count, const void **out) {
    mc_principal *p = (mc_principal *)(uintptr_t)rows->self;
    const int64_t batch = batch_of(p->whole);
    int64_t missing = 0;
    for (int64_t k = 0; k < count; k++) {
        out[k] = p->K + (size_t)(ids[k] * p->n) * entry_bytes(p->whole);
        if (p->filled[ids[k]])
            continue;
        p->wanted[missing] = p->id[ids[k]];
        p->target[missing++] = ids[k];
        if (missing == batch) {
            MC_TRY(fill(ctx, p, missing));
            missing = 0;
        }
    }
    return fill(ctx, p, missing);
}

mc_rows mc_principal_rows(const mc_principal *part) {
    return (mc_rows){.n = part->n, .dtype = part->whole->dtype, .most = part->n,
                     .diagonal = part->diagonal, .take = take_part, .self = part};
}
