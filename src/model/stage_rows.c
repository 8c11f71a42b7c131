/* stage_rows.c: rows are dealt out in pieces that keep the classes' shares, as folds do. */
#include "model/stage_rows.h"
#include "base/memory.h"
#include "base/status.h"
#include "data/table/folds.h"

enum {
    PIECE = 64, /* rows, about */
    HELD_MOST = 4000
};

/* Into place; returns how many there are. */
static int64_t list_pieces(mc_stage_rows *s, int64_t from, int64_t to) {
    int64_t count = 0;
    for (int64_t i = 0; i < s->data->n; i++)
        if (s->piece[i] >= from && s->piece[i] < to)
            s->place[count++] = i;
    return count;
}

mercer_status mc_stage_rows_split(mercer_ctx *ctx, const mercer_data *data, mc_stage_rows *out) {
    const int64_t n = data->n, held = n / 10 < HELD_MOST ? n / 10 : HELD_MOST;
    out->data = data;
    out->pieces = n / PIECE < 2 ? 2 : n / PIECE;
    out->held_pieces = (held * out->pieces + n - 1) / n;
    MC_TRY(MC_ALLOC(ctx, out->piece, n));
    MC_TRY(MC_ALLOC(ctx, out->place, n));
    MC_TRY(mc_data_folds(ctx, data, out->pieces, NULL, ctx->options.seed + 1, out->piece));
    if (data->class_of)
        MC_TRY(MC_ALLOC(ctx, out->example, data->classes));
    return mc_data_take(ctx, data, out->place, list_pieces(out, 0, out->held_pieces), &out->held);
}

int64_t mc_stage_rows_to_learn(const mc_stage_rows *s) {
    return s->data->n - s->held->n;
}

mercer_status mc_stage_rows_take(mercer_ctx *ctx, mc_stage_rows *s, int64_t wanted) {
    const int64_t most = s->pieces - s->held_pieces, n = s->data->n;
    int64_t pieces = wanted >= mc_stage_rows_to_learn(s) ? most : (wanted * s->pieces + n - 1) / n;
    pieces = pieces < 1 ? 1 : pieces > most ? most : pieces;
    if (s->taken && pieces == s->taken_pieces)
        return MERCER_OK;
    mercer_data_free(s->taken);
    s->taken = NULL;
    s->taken_pieces = pieces;
    int64_t count = list_pieces(s, s->held_pieces, s->held_pieces + pieces);
    if (s->data->class_of)
        count = mc_rows_of_every_class(s->data, s->piece, s->held_pieces, s->example, s->place, count);
    return mc_data_take(ctx, s->data, s->place, count, &s->taken);
}

void mc_stage_rows_close(mc_stage_rows *s) {
    mc_free(s->piece);
    mc_free(s->place);
    mc_free(s->example);
    mercer_data_free(s->held);
    mercer_data_free(s->taken);
}
