/* row_cache.c: see row_cache.h. Slots of one row each lie in slabs that are taken as they are needed; a list in order of last use says
   which slot to give up. A mark per slot and piece says which pieces of its row have been computed. */
#include "solve/row_cache.h"
#include "base/memory.h"
#include "base/status.h"
#include <string.h>

enum { SLAB_BYTES = 64 << 20 };

struct mc_row_cache {
    mc_row_source source;
    int64_t pieces;
    const int64_t *start;
    size_t row_bytes;
    int64_t slots, used, slab_slots, slabs;
    char **slab;
    int64_t *slot_of; /* n: -1 when the row is not kept */
    int64_t *id_of;   /* slot: its row */
    int64_t *newer, *older; /* slot: neighbours in the order of use; slots: the end */
    int64_t newest, oldest;
    bool *have;       /* slots x pieces */
    int64_t *missing; /* slots: one batch of rows to compute */
    void **target;
    int64_t computed;
};

static size_t entry_bytes(mercer_dtype dtype) {
    return dtype == MERCER_F64 ? sizeof(double) : sizeof(float);
}

static mercer_status take_tables(mercer_ctx *ctx, mc_row_cache *c) {
    const int64_t n = c->source.n, slots = c->slots;
    if (MC_ALLOC(ctx, c->slab, (slots - 1) / c->slab_slots + 1) || MC_ALLOC(ctx, c->slot_of, n) || MC_ALLOC(ctx, c->id_of, slots)
        || MC_ALLOC(ctx, c->newer, slots) || MC_ALLOC(ctx, c->older, slots) || MC_ALLOC(ctx, c->have, slots * c->pieces)
        || MC_ALLOC(ctx, c->missing, slots) || MC_ALLOC(ctx, c->target, slots))
        return MERCER_MEMORY;
    for (int64_t i = 0; i < n; i++)
        c->slot_of[i] = -1;
    return MERCER_OK;
}

mercer_status mc_row_cache_open(mercer_ctx *ctx, const mc_row_source *source, int64_t pieces, const int64_t *start, size_t bytes,
                                mc_row_cache **out) {
    *out = NULL;
    const size_t row_bytes = ((size_t)source->n * entry_bytes(source->dtype) + MC_ALIGN - 1) / MC_ALIGN * MC_ALIGN;
    const int64_t fit = (int64_t)(bytes / row_bytes);
    if (fit < 2)
        return mc_fail(ctx, MERCER_MEMORY, "two rows of the kernel matrix take %zu bytes and %zu are left for them; raise the memory limit",
                       2 * row_bytes, bytes);
    mc_row_cache *c = NULL;
    MC_TRY(MC_ALLOC(ctx, c, 1));
    *c = (mc_row_cache){.source = *source, .pieces = pieces, .start = start, .row_bytes = row_bytes, .newest = -1, .oldest = -1};
    c->slots = fit < source->n ? fit : source->n;
    c->slab_slots = (int64_t)(SLAB_BYTES / row_bytes) > 0 ? (int64_t)(SLAB_BYTES / row_bytes) : 1;
    if (take_tables(ctx, c)) {
        mc_row_cache_close(c);
        return MERCER_MEMORY;
    }
    *out = c;
    return MERCER_OK;
}

void mc_row_cache_close(mc_row_cache *c) {
    if (!c)
        return;
    for (int64_t i = 0; i < c->slabs; i++)
        mc_free(c->slab[i]);
    void *tables[] = {c->slab, c->slot_of, c->id_of, c->newer, c->older, c->have, c->missing, c->target};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        mc_free(tables[i]);
    mc_free(c);
}

int64_t mc_row_cache_computed(const mc_row_cache *c) {
    return c->computed;
}

static char *slot_at(const mc_row_cache *c, int64_t slot, int64_t column) {
    return c->slab[slot / c->slab_slots] + (size_t)(slot % c->slab_slots) * c->row_bytes
           + (size_t)column * entry_bytes(c->source.dtype);
}

static void unlink_slot(mc_row_cache *c, int64_t s) {
    *(c->newer[s] < 0 ? &c->newest : &c->older[c->newer[s]]) = c->older[s];
    *(c->older[s] < 0 ? &c->oldest : &c->newer[c->older[s]]) = c->newer[s];
}

static void link_newest(mc_row_cache *c, int64_t s) {
    c->newer[s] = -1;
    c->older[s] = c->newest;
    *(c->newest < 0 ? &c->oldest : &c->newer[c->newest]) = s;
    c->newest = s;
}

/* A slot for a new row: one never used, or the one longest unused. */
static mercer_status find_slot(mercer_ctx *ctx, mc_row_cache *c, int64_t *slot) {
    if (c->used < c->slots && c->used == c->slabs * c->slab_slots) {
        const int64_t left = c->slots - c->used, count = left < c->slab_slots ? left : c->slab_slots;
        c->slab[c->slabs] = mc_alloc_unset(ctx, count, c->row_bytes);
        if (!c->slab[c->slabs])
            return MERCER_MEMORY;
        c->slabs++;
    }
    if (c->used < c->slots) {
        *slot = c->used++;
        return MERCER_OK;
    }
    *slot = c->oldest;
    c->slot_of[c->id_of[*slot]] = -1;
    unlink_slot(c, *slot);
    return MERCER_OK;
}

/* Every row has a slot and is newest; a batch of at most as many rows as there are slots never gives up one of its own. */
static mercer_status seat(mercer_ctx *ctx, mc_row_cache *c, int64_t id) {
    int64_t s = c->slot_of[id];
    if (s < 0) {
        MC_TRY(find_slot(ctx, c, &s));
        c->slot_of[id] = s;
        c->id_of[s] = id;
        memset(c->have + s * c->pieces, 0, (size_t)c->pieces * sizeof *c->have);
    } else {
        unlink_slot(c, s);
    }
    link_newest(c, s);
    return MERCER_OK;
}

/* Compute one piece of the rows of the batch that lack it. */
static mercer_status fill(mercer_ctx *ctx, mc_row_cache *c, const int64_t *ids, int64_t count, int64_t shift, int64_t split,
                          int64_t shift2, int64_t piece) {
    int64_t missing = 0;
    for (int64_t k = 0; k < count; k++) {
        const int64_t id = ids[k] + (ids[k] < split ? shift : shift2), s = c->slot_of[id];
        if (c->have[s * c->pieces + piece])
            continue;
        c->target[missing] = slot_at(c, s, c->start[piece]);
        c->missing[missing++] = id;
    }
    if (!missing)
        return MERCER_OK;
    const int64_t j0 = c->start[piece], j1 = c->start[piece + 1];
    MC_TRY(c->source.fill(ctx, c->source.self, c->missing, missing, j0, j1, c->target));
    c->computed += missing * (j1 - j0);
    for (int64_t k = 0; k < missing; k++)
        c->have[c->slot_of[c->missing[k]] * c->pieces + piece] = true;
    return MERCER_OK;
}

static mercer_status take_view(mercer_ctx *ctx, const mc_rows *rows, const int64_t *ids, int64_t count, const void **out) {
    const mc_row_view *v = rows->self;
    mc_row_cache *c = v->cache;
    const bool all = v->b < 0;
    const int64_t shift = all ? 0 : c->start[v->a], shift2 = all ? 0 : c->start[v->b] - rows->split;
    for (int64_t k = 0; k < count; k++)
        MC_TRY(seat(ctx, c, ids[k] + (ids[k] < rows->split ? shift : shift2)));
    for (int64_t p = 0; p < c->pieces; p++)
        if (all || p == v->a || p == v->b)
            MC_TRY(fill(ctx, c, ids, count, shift, rows->split, shift2, p));
    for (int64_t k = 0; k < count; k++) {
        const int64_t s = c->slot_of[ids[k] + (ids[k] < rows->split ? shift : shift2)];
        out[2 * k] = slot_at(c, s, shift);
        out[2 * k + 1] = all ? NULL : slot_at(c, s, c->start[v->b]);
    }
    return MERCER_OK;
}

mercer_status mc_row_view_open(mercer_ctx *ctx, mc_row_cache *cache, int64_t a, int64_t b, mc_row_view *view, mc_rows *out) {
    const int64_t *start = cache->start;
    const int64_t first = b < 0 ? cache->source.n : start[a + 1] - start[a], second = b < 0 ? 0 : start[b + 1] - start[b];
    *view = (mc_row_view){.cache = cache, .a = a, .b = b};
    MC_TRY(MC_ALLOC(ctx, view->diagonal, first + second));
    memcpy(view->diagonal, cache->source.diagonal + (b < 0 ? 0 : start[a]), (size_t)first * sizeof(double));
    if (second)
        memcpy(view->diagonal + first, cache->source.diagonal + start[b], (size_t)second * sizeof(double));
    *out = (mc_rows){.n = first + second, .split = first, .dtype = cache->source.dtype, .most = cache->slots,
                     .diagonal = view->diagonal, .take = take_view, .self = view};
    return MERCER_OK;
}

void mc_row_view_close(mc_row_view *view) {
    mc_free(view->diagonal);
    *view = (mc_row_view){0};
}
