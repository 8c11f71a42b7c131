/* row_store.c: see row_store.h. Places are taken in order, PIECE rows to a block of memory. */
#include "qp/row_store.h"
#include "base/ctx.h"
#include "base/memory.h"
#include "base/status.h"

enum { PIECE = 32, LANES = 16 };

struct mc_row_store {
    int64_t width, ld, most, count;
    int64_t *place; /* width: of each row; -1: not kept */
    float **piece;
};

static int64_t piece_count(const mc_row_store *s) {
    return (s->most + PIECE - 1) / PIECE;
}

void mc_row_store_clear(mc_row_store *s) {
    for (int64_t i = 0; i < s->width; i++)
        s->place[i] = -1;
    s->count = 0;
}

mercer_status mc_row_store_open(mercer_ctx *ctx, int64_t width, int64_t most, mc_row_store **out) {
    mc_row_store *s = NULL;
    *out = NULL;
    MC_TRY(MC_ALLOC(ctx, s, 1));
    *s = (mc_row_store){.width = width, .ld = (width + LANES - 1) / LANES * LANES, .most = most < width ? most : width};
    if (MC_ALLOC(ctx, s->place, width) || MC_ALLOC(ctx, s->piece, piece_count(s))) {
        mc_row_store_close(s);
        return MERCER_MEMORY;
    }
    mc_row_store_clear(s);
    *out = s;
    return MERCER_OK;
}

void mc_row_store_close(mc_row_store *s) {
    if (!s)
        return;
    for (int64_t k = 0; s->piece && k < piece_count(s); k++)
        mc_free(s->piece[k]);
    mc_free(s->piece);
    mc_free(s->place);
    mc_free(s);
}

static float *stored_row_at(const mc_row_store *s, int64_t place) {
    return s->piece[place / PIECE] + place % PIECE * s->ld;
}

const float *mc_row_store_row(const mc_row_store *s, int64_t row) {
    return s->place[row] < 0 ? NULL : stored_row_at(s, s->place[row]);
}

/* Another piece of memory, unless that leaves less than as much again. */
static mercer_status allocate_piece(mercer_ctx *ctx, mc_row_store *s) {
    float **piece = &s->piece[s->count / PIECE];
    const size_t bytes = (size_t)(PIECE * s->ld) * sizeof(float);
    if (*piece)
        return MERCER_OK;
    if (mc_memory_left(ctx) / 2 < bytes) {
        s->most = s->count;
        return MERCER_OK;
    }
    *piece = mc_alloc_unset(ctx, PIECE * s->ld, sizeof(float));
    return *piece ? MERCER_OK : MERCER_MEMORY;
}

mercer_status mc_row_store_add(mercer_ctx *ctx, mc_row_store *s, int64_t row, float **out) {
    *out = NULL;
    if (s->count < s->most)
        MC_TRY(allocate_piece(ctx, s));
    if (s->count == s->most)
        return MERCER_OK;
    s->place[row] = s->count++;
    *out = stored_row_at(s, s->place[row]);
    return MERCER_OK;
}
