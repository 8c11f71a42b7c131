/* string_features.c: the coordinates of kernels of texts. The features that occur in either side are numbered, exactly;
   a row is then a sparse vector of their values, and the kernel the inner product that the tiles know. Where values are
   whole numbers no order of summation changes a bit.

   Rows of a problem are there already (kernel/evaluate/attached_rows.c): an operator on some of them takes what it
   needs. */
#include "gram/pack/string_features.h"
#include "base/memory.h"
#include "base/status.h"
#include "kernel/evaluate/text_features.h"
#include "kernel/evaluate/text_rows.h"

static bool fits_bytes(const mc_text_rows *rows) {
    return rows->whole && rows->top <= UINT8_MAX;
}

/* ---- Rows that are known ---- */

static mercer_status take_side(mercer_ctx *ctx, mc_tile_part *p, const mercer_data *data, const mc_text_rows *from,
                               mc_packed_points *out) {
    MC_TRY(MC_ALLOC(ctx, out->start, data->n + 1));
    out->texts = from;
    for (int64_t i = 0; i < data->n; i++) {
        const int64_t at = mc_text_row_place(data, i), count = from->start[at + 1] - from->start[at];
        out->start[i + 1] = out->start[i] + count;
        p->longest = count > p->longest ? count : p->longest;
    }
    return MERCER_OK;
}

int64_t mc_string_features_row(const mc_packed_points *pack, const mercer_data *data, int64_t i, double *values,
                               int32_t **coordinate) {
    const mc_text_rows *from = pack->texts;
    const int64_t at = pack->own ? i : mc_text_row_place(data, i), begin = from->start[at],
                  count = from->start[at + 1] - begin;
    for (int64_t k = 0; k < count; k++)
        values[k] = mc_text_row_value(from, begin + k);
    *coordinate = count > 0 ? from->coordinate + begin : NULL; /* of texts that are all too short there are none */
    return count;
}

/* ---- Rows of this operator ---- */

static mercer_status keep_side(mercer_ctx *ctx, mc_tile_part *p, mc_text_side *side, mc_packed_points *out) {
    MC_TRY(MC_ALLOC(ctx, out->own, 1));
    *out->own = side->rows;
    out->texts = out->own;
    out->start = side->rows.start;
    side->rows = (mc_text_rows){0};
    p->longest = out->own->longest > p->longest ? out->own->longest : p->longest;
    p->narrow &= fits_bytes(out->own);
    p->rounding = out->own->rounding > p->rounding ? out->own->rounding : p->rounding;
    return MERCER_OK;
}

static mercer_status number_sides(mercer_ctx *ctx, mc_tile_part *p, const mercer_data *x, const mercer_data *z) {
    mc_text_side side[2] = {{.data = x}, {.data = z}};
    const int sides = z == x ? 1 : 2;
    mercer_status status = mc_text_rows_make(ctx, p->strings, side, sides);
    p->d = side[0].rows.d;
    p->narrow = true;
    MC_THEN(status, keep_side(ctx, p, &side[0], &p->left));
    if (sides == 2)
        MC_THEN(status, keep_side(ctx, p, &side[1], &p->right));
    mc_text_rows_free(&side[0].rows);
    mc_text_rows_free(&side[1].rows);
    return status;
}

void mc_string_features_release(mc_packed_points *pack) {
    if (pack->own) {
        pack->own->start = NULL; /* is the points' */
        mc_text_rows_free(pack->own);
    }
    mc_free(pack->own);
    pack->own = NULL;
    pack->texts = NULL;
}

mercer_status mc_string_features_open(mercer_ctx *ctx, mc_tile_part *p, const mercer_data *x, const mercer_data *z) {
    const mc_text_rows *known = mc_text_rows_of(p->strings, x, z);
    if (!known)
        return number_sides(ctx, p, x, z);
    p->d = known->d;
    p->rounding = known->rounding;
    p->narrow = fits_bytes(known);
    MC_TRY(take_side(ctx, p, x, known, &p->left));
    return z == x ? MERCER_OK : take_side(ctx, p, z, known, &p->right);
}

/* ---- Before they are made ---- */

/* Rows that are known have their own number, and no numbering. */
static int64_t known_total(const mc_text_rows *known, const mercer_data *data) {
    int64_t total = 0;
    for (int64_t i = 0; i < data->n; i++) {
        const int64_t at = mc_text_row_place(data, i);
        total += known->start[at + 1] - known->start[at];
    }
    return total;
}

mc_string_need mc_string_features_need(const mc_node *node, const mercer_data *x, const mercer_data *z) {
    const mc_text_rows *known = mc_text_rows_of(node, x, z);
    mc_string_need need = {.coordinates = known ? known->d : 0};
    for (int s = 0; s < (z == x ? 1 : 2); s++) {
        const mercer_data *data = s ? z : x;
        need.values += known ? known_total(known, data) : mc_text_rows_total(node, data);
        need.coordinates += known ? 0 : mc_text_rows_different(node, data);
    }
    if (known)
        return need;
    need.opening = mc_text_rows_bytes(node, need.values, need.coordinates);
    need.coordinates = need.values < need.coordinates ? need.values : need.coordinates;
    return need;
}
