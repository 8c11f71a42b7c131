/* aligned_texts.c: kernels that compare texts place by place. As points these have a coordinate for every string at
   every place, of which two texts share a few; comparing the texts themselves, 64 places at a time, costs a tenth of
   looking for them. Products with vectors still go through the coordinates (factored.c). */
#include "gram/pack/aligned_texts.h"
#include "base/memory.h"
#include "base/status.h"
#include "base/workspace.h"
#include "kernel/evaluate/text_features.h"
#include <string.h>

enum { PLACES = 64 };

bool mc_part_aligned(const mc_tile_part *part) {
    return part->strings && part->strings->atom == MC_WEIGHTED_DEGREE;
}

static int64_t padded_length(int64_t length) {
    return (length + PLACES - 1) / PLACES * PLACES;
}

static const char *text_of(const mc_node *atom, const mercer_data *data, int64_t i) {
    return data->text[i * data->texts + (int64_t)atom->parameter[MC_TEXT_COLUMN].number];
}

static int64_t total_bytes(const mc_node *atom, const mercer_data *data) {
    int64_t total = 0;
    for (int64_t i = 0; i < data->n; i++)
        total += padded_length((int64_t)strlen(text_of(atom, data, i)));
    return total;
}

static mercer_status open_texts(mercer_ctx *ctx, int64_t n, mc_aligned_texts **out) {
    MC_TRY(MC_ALLOC(ctx, *out, 1));
    MC_TRY(MC_ALLOC(ctx, (*out)->at, n + 1));
    return MC_ALLOC(ctx, (*out)->length, n);
}

mercer_status mc_aligned_texts_make(mercer_ctx *ctx, const mc_node *atom, const mercer_data *data,
                                    mc_aligned_texts **out) {
    MC_TRY(open_texts(ctx, data->n, out));
    mc_aligned_texts *t = *out;
    MC_TRY(MC_ALLOC(ctx, t->bytes, total_bytes(atom, data)));
    for (int64_t i = 0; i < data->n; i++) {
        t->length[i] = (int64_t)strlen(text_of(atom, data, i));
        t->at[i + 1] = t->at[i] + padded_length(t->length[i]);
        memcpy(t->bytes + t->at[i], text_of(atom, data, i), (size_t)t->length[i]);
    }
    return MERCER_OK;
}

mercer_status mc_aligned_texts_take(mercer_ctx *ctx, const mc_aligned_texts *from, const int64_t *ids, int64_t count,
                                    mc_aligned_texts **out) {
    MC_TRY(open_texts(ctx, count, out));
    mc_aligned_texts *t = *out;
    for (int64_t j = 0; j < count; j++) {
        t->length[j] = from->length[ids[j]];
        t->at[j + 1] = t->at[j] + padded_length(t->length[j]);
    }
    MC_TRY(MC_ALLOC(ctx, t->bytes, t->at[count]));
    for (int64_t j = 0; j < count; j++)
        memcpy(t->bytes + t->at[j], from->bytes + from->at[ids[j]], (size_t)t->length[j]);
    return MERCER_OK;
}

void mc_aligned_texts_free(mc_aligned_texts *texts) {
    if (!texts)
        return;
    mc_free(texts->bytes);
    mc_free(texts->at);
    mc_free(texts->length);
    mc_free(texts);
}

size_t mc_aligned_texts_bytes(const mc_node *atom, const mercer_data *data) {
    if (atom->atom != MC_WEIGHTED_DEGREE || (int64_t)atom->parameter[MC_TEXT_COLUMN].number >= data->texts)
        return 0;
    return mc_work_need(total_bytes(atom, data), 1) + mc_work_need(2 * data->n + 1, sizeof(int64_t)) + 8 * MC_ALIGN;
}

/* Columns past the end repeat the last one, as in pack.c. */
void mc_aligned_texts_tile(const mc_tile_part *part, const mc_tile_ops *ops, const int64_t *row, int64_t first,
                           int64_t n, void *out) {
    const mc_aligned_texts *x = part->left.aligned, *z = part->right.aligned;
    mc_alignment o = {.p = (int)part->strings->parameter[0].number};
    for (int l = 0; l < o.p; l++)
        o.weight[l] = mc_degree_weight(o.p, l + 1);
    for (int r = 0; r < ops->rows; r++) {
        o.row[r] = x->bytes + x->at[row[r]];
        o.row_length[r] = x->length[row[r]];
    }
    for (int64_t j = 0; j < ops->columns; j++) {
        const int64_t k = first + j < n ? first + j : n - 1;
        o.column[j] = z->bytes + z->at[k];
        o.column_length[j] = z->length[k];
    }
    ops->align(&o, out);
}
