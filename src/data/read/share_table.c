/* share_table.c: see share_table.h. */
#include "data/read/share_table.h"
#include "base/ctx.h"
#include "base/memory.h"
#include "base/ranks.h"
#include "base/status.h"

static int64_t run_begin(int64_t count, int64_t rank, int64_t ranks) {
    return rank < ranks ? rank * (count / ranks) : count;
}

void mc_share_run(const mercer_ctx *ctx, int64_t count, int64_t *from, int64_t *to) {
    *from = run_begin(count, mercer_rank(ctx), mercer_ranks(ctx));
    *to = run_begin(count, mercer_rank(ctx) + 1, mercer_ranks(ctx));
}

static mercer_status gather_cells(mercer_ctx *ctx, const int64_t *rows, int64_t width, const double *own, double *all) {
    int64_t *counts = ctx->ranks->counts;
    for (int k = 0; k < ctx->ranks->count; k++)
        counts[k] = rows[k] * width;
    return width ? mc_ranks_gather_parts(ctx, own, counts, all) : MERCER_OK;
}

/* rows: of each rank. The table of all, in place of the own. */
static mercer_status gather_table(mercer_ctx *ctx, const int64_t *rows, uint64_t what, mc_raw *raw) {
    double *x = raw->x, *y = raw->y;
    raw->x = raw->y = NULL;
    raw->n = 0;
    for (int k = 0; k < ctx->ranks->count; k++)
        raw->n += rows[k];
    mercer_status status = mc_ranks_agree(ctx, MC_RANKS_ROWS, what + 1, mc_raw_allocate(ctx, raw));
    MC_THEN(status, gather_cells(ctx, rows, raw->dx, x, raw->x));
    MC_THEN(status, gather_cells(ctx, rows, raw->dy, y, raw->y));
    mc_free(x);
    mc_free(y);
    return status;
}

mercer_status mc_raw_share(mercer_ctx *ctx, mc_raw *raw, uint64_t what, mercer_status status, bool *good) {
    MC_TRY(mc_ranks_agree(ctx, MC_RANKS_ROWS, what, status));
    int64_t *rows = ctx->ranks->counts + ctx->ranks->count;
    const int64_t own = *good ? raw->n : -1;
    MC_TRY(mc_ranks_gather(ctx, &own, sizeof own, rows));
    for (int k = 0; k < ctx->ranks->count; k++)
        *good &= rows[k] >= 0;
    return *good ? gather_table(ctx, rows, what, raw) : MERCER_OK;
}

/* Columns of which some rank has seen something else than numbers; flags: columns of each rank, then the own. */
static mercer_status gather_special(mercer_ctx *ctx, mc_raw *raw, bool *flags) {
    const int64_t all = mercer_ranks(ctx) * raw->columns;
    for (int64_t j = 0; j < raw->columns; j++)
        flags[all + j] = raw->column[j].special;
    MC_TRY(mc_ranks_gather(ctx, flags + all, (size_t)raw->columns * sizeof *flags, flags));
    for (int64_t k = 0; k < all; k++)
        raw->column[k % raw->columns].special |= flags[k];
    return MERCER_OK;
}

mercer_status mc_raw_share_in_place(mercer_ctx *ctx, mc_raw *raw, uint64_t what, mercer_status status) {
    bool *flags = NULL;
    const int ranks = ctx->ranks->count;
    int64_t *rows = ctx->ranks->counts + ranks, from, to;
    mc_share_run(ctx, raw->n, &from, &to);
    MC_THEN(status, MC_ALLOC(ctx, flags, (ranks + 1) * raw->columns));
    status = mc_ranks_agree(ctx, MC_RANKS_ROWS, what, status);
    for (int k = 0; k < ranks; k++)
        rows[k] = run_begin(raw->n, k + 1, ranks) - run_begin(raw->n, k, ranks);
    MC_THEN(status, gather_cells(ctx, rows, raw->dx, raw->x + from * raw->dx, raw->x));
    MC_THEN(status, gather_cells(ctx, rows, raw->dy, raw->y + from * raw->dy, raw->y));
    MC_THEN(status, gather_special(ctx, raw, flags));
    mc_free(flags);
    return status;
}
