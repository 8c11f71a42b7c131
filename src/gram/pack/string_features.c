/* string_features.c: the coordinates of the spectrum kernel. The strings of p bytes that occur in either side are
   numbered, exactly, whatever p is; a row is then a sparse vector of counts, and the kernel the inner product that the
   tiles know. Counts are whole numbers, so that no order of summation changes a bit.

   One pass over the texts numbers the parts and counts them; the numbering is then forgotten. */
#include "gram/pack/string_features.h"
#include "base/memory.h"
#include "base/status.h"
#include "base/workspace.h"
#include "kernel/evaluate/spectrum_kernel.h"

enum { CAPACITY = 256 }; /* strings that there is room for at first */

typedef struct entry {
    uint64_t key;
    int64_t last_seen; /* its last place among the coordinates */
} entry;

/* Open addressing with linear probing. */
typedef struct numbering {
    mercer_ctx *ctx;
    int32_t *slot; /* number of a part, from 1; 0: free */
    int64_t slots; /* a power of two, twice the capacity */
    int64_t count, capacity;
    entry *entry;      /* of each number */
    const char **part; /* of each number, where keys do not tell parts apart; NULL: they do */
    bool exact;        /* they do */
} numbering;

/* Compressed rows while they are made. */
typedef struct rows {
    mc_packed_points *out;
    int64_t count, capacity;
} rows;

static const char *text_of(const mc_node *node, const mercer_data *data, int64_t i) {
    return data->text[i * data->texts + (int64_t)node->parameter[1].number];
}

static int64_t length_of(const mc_node *node) {
    return (int64_t)node->parameter[0].number;
}

/* ---- Numbers ---- */

static bool is_part(const numbering *n, int32_t id, const mc_part_walk *w) {
    return n->entry[id].key == w->key && (n->exact || mc_part_equal(w, n->part[id]));
}

static void fill_slots(numbering *n) {
    for (int64_t id = 0; id < n->count; id++) {
        uint64_t s = mc_part_hash(n->entry[id].key) & (uint64_t)(n->slots - 1);
        while (n->slot[s])
            s = (s + 1) & (uint64_t)(n->slots - 1);
        n->slot[s] = (int32_t)id + 1;
    }
}

static mercer_status grow_entries(numbering *n, int64_t capacity) {
    entry *grown = mc_grow_block(n->ctx, n->entry, capacity, sizeof *grown);
    MC_TRY(grown ? MERCER_OK : MERCER_MEMORY);
    n->entry = grown;
    if (n->exact)
        return MERCER_OK;
    const char **part = mc_grow_block(n->ctx, n->part, capacity, sizeof *part);
    MC_TRY(part ? MERCER_OK : MERCER_MEMORY);
    n->part = part;
    return MERCER_OK;
}

static mercer_status grow_numbering(numbering *n) {
    const int64_t capacity = n->capacity ? 2 * n->capacity : CAPACITY;
    if (capacity > INT32_MAX)
        return mc_fail(n->ctx, MERCER_MEMORY, "spectrum: more than %lld different strings", (long long)n->count);
    MC_TRY(grow_entries(n, capacity));
    mc_free(n->slot);
    MC_TRY(MC_ALLOC(n->ctx, n->slot, 2 * capacity));
    n->slots = 2 * capacity;
    n->capacity = capacity;
    fill_slots(n);
    return MERCER_OK;
}

static void close_numbering(numbering *n) {
    mc_free(n->slot);
    mc_free(n->entry);
    mc_free(n->part);
}

/* The number of the part, which is given one where it has none: there is room. */
static int32_t number_of(numbering *n, const mc_part_walk *w) {
    uint64_t s = mc_part_hash(w->key) & (uint64_t)(n->slots - 1);
    while (n->slot[s] && !is_part(n, n->slot[s] - 1, w))
        s = (s + 1) & (uint64_t)(n->slots - 1);
    if (!n->slot[s]) {
        n->entry[n->count] = (entry){.key = w->key, .last_seen = -1};
        if (!n->exact)
            n->part[n->count] = w->at;
        n->slot[s] = (int32_t)++n->count;
    }
    return n->slot[s] - 1;
}

/* ---- Rows ---- */

static mercer_status reserve_row(mercer_ctx *ctx, rows *r, int64_t more) {
    if (r->count + more <= r->capacity)
        return MERCER_OK;
    const int64_t capacity = 2 * r->capacity > r->count + more ? 2 * r->capacity : r->count + more;
    int32_t *coordinate = mc_grow_block(ctx, r->out->coordinate, capacity, sizeof *coordinate);
    MC_TRY(coordinate ? MERCER_OK : MERCER_MEMORY);
    r->out->coordinate = coordinate;
    uint32_t *count = mc_grow_block(ctx, r->out->count, capacity, sizeof *count);
    MC_TRY(count ? MERCER_OK : MERCER_MEMORY);
    r->out->count = count;
    r->capacity = capacity;
    return MERCER_OK;
}

static mercer_status add_row(numbering *n, rows *r, mc_part_walk w) {
    const int64_t begin = r->count;
    MC_TRY(reserve_row(n->ctx, r, w.left));
    for (; w.left > 0; mc_part_next(&w)) {
        if (n->count == n->capacity)
            MC_TRY(grow_numbering(n));
        const int32_t id = number_of(n, &w);
        int64_t *seen = &n->entry[id].last_seen;
        if (*seen < begin) {
            r->out->coordinate[r->count] = id;
            r->out->count[r->count] = 0;
            *seen = r->count++;
        }
        r->out->count[*seen]++;
    }
    return MERCER_OK;
}

static mercer_status add_side(numbering *n, const mc_node *node, const mercer_data *data, mc_packed_points *out,
                              int64_t *longest) {
    rows r = {.out = out};
    MC_TRY(MC_ALLOC(n->ctx, out->start, data->n + 1));
    for (int64_t i = 0; i < data->n; i++) {
        MC_TRY(add_row(n, &r, mc_parts_of(text_of(node, data, i), (size_t)length_of(node))));
        out->start[i + 1] = r.count;
        *longest = r.count - out->start[i] > *longest ? r.count - out->start[i] : *longest;
    }
    for (int64_t id = 0; id < n->count; id++)
        n->entry[id].last_seen = -1; /* places of the other side are others */
    return MERCER_OK;
}

mercer_status mc_string_features_open(mercer_ctx *ctx, mc_tile_part *p, const mercer_data *x, const mercer_data *z) {
    numbering n = {.ctx = ctx, .exact = length_of(p->strings) <= MC_PART_EXACT};
    mercer_status status = add_side(&n, p->strings, x, &p->left, &p->longest);
    if (!status && z != x)
        status = add_side(&n, p->strings, z, &p->right, &p->longest);
    p->d = n.count > 0 ? n.count : 1; /* texts that are all too short have a coordinate, where they are 0 */
    close_numbering(&n);
    return status;
}

/* ---- Before they are made ---- */

static int64_t parts_of(const mc_node *node, const mercer_data *data, int64_t i) {
    const int64_t length = (int64_t)strlen(text_of(node, data, i)), p = length_of(node);
    return length >= p ? length - p + 1 : 0;
}

static bool has_texts(const mc_node *node, const mercer_data *data) {
    return (int64_t)node->parameter[1].number < data->texts;
}

int64_t mc_string_features_total(const mc_node *node, const mercer_data *data) {
    int64_t total = 0;
    for (int64_t i = 0; has_texts(node, data) && i < data->n; i++)
        total += parts_of(node, data, i);
    return total;
}

int64_t mc_string_features_widest(const mc_node *node, const mercer_data *data, int64_t width) {
    int64_t widest = 0, panel = 0;
    for (int64_t i = 0; has_texts(node, data) && i < data->n; i++) {
        panel = (i % width ? panel : 0) + parts_of(node, data, i);
        widest = panel > widest ? panel : widest;
    }
    return widest;
}

/* Growing doubles, and the old block goes only when the new one is there. */
size_t mc_string_features_bytes(const mc_node *node, int64_t parts) {
    const int64_t p = length_of(node), most = p < 4 ? (int64_t)1 << 8 * p : INT32_MAX;
    const int64_t different = (parts < most ? parts : most) + CAPACITY;
    const size_t each = 2 * sizeof(int32_t) + sizeof(entry) + (p > MC_PART_EXACT ? sizeof(char *) : 0);
    return mc_work_need(3 * different, each) + mc_work_need(3 * parts, sizeof(int32_t) + sizeof(uint32_t))
           + 8 * MC_ALIGN;
}
