/* string_features.c: the coordinates of kernels of texts. The features that occur in either side are numbered, exactly;
   a row is then a sparse vector of their values, and the kernel the inner product that the tiles know. Where values are
   whole numbers no order of summation changes a bit.

   One pass over the texts numbers the features and adds them up; the numbering is then forgotten. */
#include "gram/pack/string_features.h"
#include "base/memory.h"
#include "base/status.h"
#include "base/workspace.h"
#include "kernel/evaluate/feature_numbering.h"
#include "kernel/evaluate/spectrum_kernel.h"

/* Compressed rows while they are made. */
typedef struct string_rows {
    mc_feature_numbering *numbering;
    mc_packed_points *out;
    int64_t begin, count, capacity; /* of the values: where the row begins, so far, room for */
} string_rows;

static const char *text_of(const mc_node *node, const mercer_data *data, int64_t i) {
    return data->text[i * data->texts + (int64_t)node->parameter[MC_TEXT_COLUMN].number];
}

/* ---- Rows ---- */

static mercer_status reserve_row(mercer_ctx *ctx, string_rows *r, int64_t more) {
    if (r->count + more <= r->capacity)
        return MERCER_OK;
    const int64_t capacity = 2 * r->capacity > r->count + more ? 2 * r->capacity : r->count + more;
    int32_t *coordinate = mc_grow_block(ctx, r->out->coordinate, capacity, sizeof *coordinate);
    MC_TRY(coordinate ? MERCER_OK : MERCER_MEMORY);
    r->out->coordinate = coordinate;
    double *weight = mc_grow_block(ctx, r->out->weight, capacity, sizeof *weight);
    MC_TRY(weight ? MERCER_OK : MERCER_MEMORY);
    r->out->weight = weight;
    r->capacity = capacity;
    return MERCER_OK;
}

static mercer_status add_feature(void *arg, const mc_text_feature *feature) {
    string_rows *r = arg;
    int32_t id;
    MC_TRY(mc_number_feature(r->numbering, feature, &id));
    int64_t *seen = &r->numbering->entry[id].last_seen;
    if (*seen < r->begin) {
        r->out->coordinate[r->count] = id;
        r->out->weight[r->count] = 0;
        *seen = r->count++;
    }
    r->out->weight[*seen] += feature->value;
    return MERCER_OK;
}

static void swap_values(int32_t *coordinate, double *weight, int64_t i, int64_t j) {
    const int32_t c = coordinate[i];
    const double w = weight[i];
    coordinate[i] = coordinate[j];
    weight[i] = weight[j];
    coordinate[j] = c;
    weight[j] = w;
}

/* A heap of `count` coordinates, the largest first, but for that at i. */
static void sift_down(int32_t *coordinate, double *weight, int64_t i, int64_t count) {
    for (int64_t child = 2 * i + 1; child < count; child = 2 * i + 1) {
        child += child + 1 < count && coordinate[child + 1] > coordinate[child];
        if (coordinate[i] >= coordinate[child])
            return;
        swap_values(coordinate, weight, i, child);
        i = child;
    }
}

/* By coordinate: both k(x, z) and k(z, x) then add the same products in the same order. */
static void sort_row(int32_t *coordinate, double *weight, int64_t count) {
    for (int64_t i = count / 2; i-- > 0;)
        sift_down(coordinate, weight, i, count);
    for (int64_t last = count - 1; last > 0; last--) {
        swap_values(coordinate, weight, 0, last);
        sift_down(coordinate, weight, 0, last);
    }
}

static mercer_status add_row(mc_tile_part *p, string_rows *r, const char *text) {
    const int64_t features = mc_text_feature_count(p->strings, text);
    r->begin = r->count;
    MC_TRY(reserve_row(r->numbering->ctx, r, features));
    MC_TRY(mc_text_features(p->strings, text, add_feature, r));
    p->longest = r->count - r->begin > p->longest ? r->count - r->begin : p->longest;
    if (mc_text_features_whole(p->strings))
        return MERCER_OK;
    sort_row(r->out->coordinate + r->begin, r->out->weight + r->begin, r->count - r->begin);
    if ((double)features + 20 > p->rounding)
        p->rounding = (double)features + 20; /* a value is a power by products, or a root; they are then summed up */
    return MERCER_OK;
}

static mercer_status add_side(mc_feature_numbering *n, mc_tile_part *p, const mercer_data *data,
                              mc_packed_points *out) {
    string_rows r = {.numbering = n, .out = out};
    MC_TRY(MC_ALLOC(n->ctx, out->start, data->n + 1));
    for (int64_t i = 0; i < data->n; i++) {
        MC_TRY(add_row(p, &r, text_of(p->strings, data, i)));
        out->start[i + 1] = r.count;
    }
    for (int64_t id = 0; id < n->count; id++)
        n->entry[id].last_seen = -1; /* places of the other side are others */
    return MERCER_OK;
}

mercer_status mc_string_features_open(mercer_ctx *ctx, mc_tile_part *p, const mercer_data *x, const mercer_data *z) {
    mc_feature_numbering n = {.ctx = ctx, .exact = mc_text_features_exact(p->strings)};
    mercer_status status = add_side(&n, p, x, &p->left);
    if (!status && z != x)
        status = add_side(&n, p, z, &p->right);
    p->d = n.count > 0 ? n.count : 1; /* texts that are all too short have a coordinate, where they are 0 */
    mc_close_numbering(&n);
    return status;
}

/* ---- Before they are made ---- */

static bool has_texts(const mc_node *node, const mercer_data *data) {
    return (int64_t)node->parameter[MC_TEXT_COLUMN].number < data->texts;
}

int64_t mc_string_features_total(const mc_node *node, const mercer_data *data) {
    int64_t total = 0;
    for (int64_t i = 0; has_texts(node, data) && i < data->n; i++)
        total += mc_text_feature_count(node, text_of(node, data, i));
    return total;
}

int64_t mc_string_features_widest(const mc_node *node, const mercer_data *data, int64_t width) {
    int64_t widest = 0, panel = 0;
    for (int64_t i = 0; has_texts(node, data) && i < data->n; i++) {
        panel = (i % width ? panel : 0) + mc_text_feature_count(node, text_of(node, data, i));
        widest = panel > widest ? panel : widest;
    }
    return widest;
}

/* Strings of p bytes that there are, where few enough. */
static int64_t most_different(const mc_node *node) {
    const bool counted = node->atom == MC_SUBSEQUENCE || (node->atom == MC_SPECTRUM && node->parameter[1].number == 0);
    const int64_t p = (int64_t)node->parameter[0].number;
    return counted && p < 4 ? (int64_t)1 << 8 * p : INT32_MAX;
}

/* Growing doubles, and the old block goes only when the new one is there. */
size_t mc_string_features_bytes(const mc_node *node, int64_t features) {
    const int64_t most = most_different(node), different = features < most ? features : most;
    return mc_numbering_bytes(mc_text_features_exact(node), different)
           + mc_work_need(3 * features, sizeof(int32_t) + sizeof(double)) + 8 * MC_ALIGN;
}
