/* point_index.c: see point_index.h. The tree is built level by level, so that all threads are at work below the first
   few: every node finds the box of its points and puts those of its halves apart by quickselect along the longest side.
   */
#include "predict/point_index.h"
#include "base/ctx.h"
#include "base/hash.h"
#include "base/parallel.h"
#include "base/status.h"
#include "data/table/data.h"
#include <math.h>
#include <string.h>

enum { WIDTH = MC_NEAREST_COLUMNS, CHUNK = 256, SAMPLE = 256 };
enum { TREE_COLUMNS = 16, TREE_POINTS = 512 }; /* up to and from which a tree is worth its making */

/* What the making takes beside the index. */
typedef struct index_builder {
    mc_point_index *index;
    const mercer_data *centres;
    double *row;    /* d of every thread */
    double *length; /* of every chunk, the largest */
    uint64_t *hash;
    int32_t *slot; /* rows by hash, from 1; 0: free */
    int32_t *copies;
    int64_t slots;
    float *u;               /* points x d: for a tree */
    int64_t first, *bounds; /* the first node of a level; its panels, of each of these nodes the first and the end */
    mc_work work;
} index_builder;

/* ---- Where the points are ---- */

double mc_point_of_row(const mc_point_index *index, const double *row, double *u) {
    double square = 0;
    for (int64_t j = 0; j < index->d; j++) {
        u[j] = index->scale * index->weight[j] * (row[j] - index->mean[j]);
        square += u[j] * u[j];
    }
    return sqrt(square);
}

static size_t row_size(const index_builder *m) {
    return (size_t)m->centres->d * mc_dtype_size(m->centres->dtype);
}

static const char *row_bytes(const index_builder *m, int64_t row) {
    return (const char *)m->centres->values + (size_t)row * row_size(m);
}

/* Of some of the rows: any point in their midst will do. */
static void find_mean(index_builder *m) {
    mc_point_index *index = m->index;
    const int64_t n = m->centres->n, count = n < SAMPLE ? n : SAMPLE;
    for (int64_t i = 0; i < count; i++) {
        mc_data_values(m->centres, i * n / count, m->row);
        for (int64_t j = 0; j < index->d; j++)
            index->mean[j] += m->row[j] / (double)count;
    }
}

static double length_of(const mc_point_index *index, const double *row) {
    double sum = 0, largest = 0;
    for (int64_t j = 0; j < index->d; j++) {
        const double u = fabs(index->weight[j] * (row[j] - index->mean[j]));
        largest = u > largest ? u : largest;
    }
    for (int64_t j = 0; j < index->d && largest > 0; j++) {
        const double u = index->weight[j] * (row[j] - index->mean[j]) / largest;
        sum += u * u;
    }
    return largest * sqrt(sum);
}

static void read_rows(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    index_builder *m = arg;
    double *row = m->row + thread * m->index->d, most = 0;
    for (int64_t i = begin; i < end; i++) {
        m->hash[i] = mc_hash(0, row_bytes(m, i), row_size(m));
        mc_data_values(m->centres, i, row);
        most = fmax(most, length_of(m->index, row));
    }
    m->length[chunk] = most;
}

static void choose_scale(index_builder *m) {
    double most = 0;
    int exponent = 0;
    for (int64_t c = 0; c < mc_chunk_count(m->centres->n, CHUNK); c++)
        most = fmax(most, m->length[c]);
    if (most > 0 && isfinite(most))
        frexp(most, &exponent);
    m->index->scale = ldexp(1, -exponent);
    m->index->reach = most * m->index->scale;
}

/* ---- Copies ---- */

static bool are_copies(const index_builder *m, int64_t a, int64_t b) {
    return m->hash[a] == m->hash[b] && memcmp(row_bytes(m, a), row_bytes(m, b), row_size(m)) == 0;
}

/* How many rows before this one are the same. */
static int32_t count_earlier(index_builder *m, int64_t i) {
    int64_t slot = (int64_t)(m->hash[i] & (uint64_t)(m->slots - 1));
    while (m->slot[slot] && !are_copies(m, m->slot[slot] - 1, i))
        slot = (slot + 1) & (m->slots - 1);
    if (!m->slot[slot])
        m->slot[slot] = (int32_t)i + 1;
    return m->copies[m->slot[slot] - 1]++;
}

static void leave_out_copies(index_builder *m) {
    mc_point_index *index = m->index;
    for (int64_t i = 0; i < m->centres->n; i++)
        if (count_earlier(m, i) < index->k)
            index->at[index->points++] = (int32_t)i;
    index->panels = mc_chunk_count(index->points, WIDTH);
}

/* ---- The tree ---- */

static bool wants_tree(int64_t points, int64_t d) {
    return d <= TREE_COLUMNS && points >= TREE_POINTS;
}

static int64_t nodes_of(int64_t panels) {
    int64_t leaves = 1;
    while (leaves < panels)
        leaves *= 2;
    return 2 * leaves;
}

static void place_points(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk;
    index_builder *m = arg;
    const mc_point_index *index = m->index;
    double *row = m->row + thread * index->d;
    for (int64_t i = begin; i < end; i++) {
        mc_data_values(m->centres, index->at[i], row);
        mc_point_of_row(index, row, row);
        for (int64_t j = 0; j < index->d; j++)
            m->u[index->at[i] * index->d + j] = (float)row[j];
    }
}

static void find_box(const index_builder *m, const int32_t *at, int64_t count, float *low) {
    const int64_t d = m->index->d;
    float *high = low + d;
    for (int64_t j = 0; j < d; j++)
        low[j] = INFINITY, high[j] = -INFINITY;
    for (int64_t i = 0; i < count; i++)
        for (int64_t j = 0; j < d; j++) {
            const float u = m->u[at[i] * d + j];
            low[j] = u < low[j] ? u : low[j];
            high[j] = u > high[j] ? u : high[j];
        }
}

static int32_t longest_side(const float *low, int64_t d) {
    int64_t axis = 0;
    for (int64_t j = 1; j < d; j++)
        if (low[d + j] - low[j] > low[d + axis] - low[axis])
            axis = j;
    return (int32_t)axis;
}

static float middle_of(float a, float b, float c) {
    return a < b ? (b < c ? b : a < c ? c : a) : (a < c ? a : b < c ? c : b);
}

/* Quickselect: number which of at, by its coordinate u[.], comes to its place: none larger before, none less after. */
static void part_at(const float *u, int64_t d, int32_t *at, int64_t count, int64_t which) {
    for (int64_t low = 0, high = count - 1; low < high;) {
        const float pivot = middle_of(u[at[low] * d], u[at[(low + high) / 2] * d], u[at[high] * d]);
        int64_t i = low, j = high;
        while (i <= j) {
            while (u[at[i] * d] < pivot)
                i++;
            while (u[at[j] * d] > pivot)
                j--;
            if (i <= j) {
                const int32_t swapped = at[i];
                at[i++] = at[j];
                at[j--] = swapped;
            }
        }
        if (which <= j)
            high = j;
        else if (which >= i)
            low = i;
        else
            return;
    }
}

static void split_node(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)begin, (void)end, (void)thread;
    index_builder *m = arg;
    mc_point_index *index = m->index;
    const int64_t node = m->first + chunk, from = m->bounds[2 * node], to = m->bounds[2 * node + 1];
    if (from == to)
        return;
    const int64_t last = to * WIDTH < index->points ? to * WIDTH : index->points, middle = (from + to) / 2;
    int32_t *at = index->at + from * WIDTH;
    float *box = index->box + 2 * index->d * node;
    find_box(m, at, last - from * WIDTH, box);
    if (to - from == 1)
        return;
    const int32_t axis = index->axis[node] = longest_side(box, index->d);
    part_at(m->u + axis, index->d, at, last - from * WIDTH, (middle - from) * WIDTH);
    index->cut[node] = m->u[at[(middle - from) * WIDTH] * index->d + axis];
    m->bounds[4 * node] = from, m->bounds[4 * node + 1] = m->bounds[4 * node + 2] = middle;
    m->bounds[4 * node + 3] = to;
}

static mercer_status grow_tree(mercer_ctx *ctx, index_builder *m) {
    const int64_t nodes = nodes_of(m->index->panels);
    MC_TRY(mc_for(ctx, m->index->points, CHUNK, place_points, m));
    m->bounds[2] = 0, m->bounds[3] = m->index->panels;
    for (m->first = 1; m->first < nodes; m->first *= 2)
        MC_TRY(mc_for(ctx, m->first, 1, split_node, m));
    return MERCER_OK;
}

int64_t mc_point_panel(const mc_point_index *index, const double *u) {
    int64_t node = 1, from = 0, to = index->box ? index->panels : 1;
    while (to - from > 1) {
        const int64_t middle = (from + to) / 2;
        const bool right = (float)u[index->axis[node]] >= index->cut[node];
        node = 2 * node + right;
        *(right ? &from : &to) = middle;
    }
    return from;
}

/* ---- Panels ---- */

/* Where there is no point: infinite, so that no t is below any limit; by products |z|^2 is, and z must not be. */
static void pack_nothing(const mc_point_index *index, int64_t p) {
    float *to = index->z + p / WIDTH * WIDTH * index->d + p % WIDTH;
    for (int64_t j = 0; j < index->d; j++)
        to[j * WIDTH] = index->box ? INFINITY : 0;
    index->norm[p] = INFINITY;
}

static void pack_point(const index_builder *m, int64_t p, double *row) {
    const mc_point_index *index = m->index;
    float *to = index->z + p / WIDTH * WIDTH * index->d + p % WIDTH;
    mc_data_values(m->centres, index->at[p], row);
    const double norm = mc_point_of_row(index, row, row);
    for (int64_t j = 0; j < index->d; j++)
        to[j * WIDTH] = (float)row[j];
    index->norm[p] = (float)(norm * norm);
}

static void pack_panel(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)begin, (void)end;
    const index_builder *m = arg;
    for (int64_t p = chunk * WIDTH; p < (chunk + 1) * WIDTH; p++)
        if (p < m->index->points)
            pack_point(m, p, m->row + thread * m->index->d);
        else
            pack_nothing(m->index, p);
}

/* ---- The whole ---- */

/* For n points, all of which may be kept. */
static void lay_out_index(mc_point_index *index, int64_t n) {
    mc_work *work = &index->work;
    const int64_t panels = mc_chunk_count(n, WIDTH), nodes = wants_tree(n, index->d) ? nodes_of(panels) : 0;
    index->weight = mc_work_take(work, index->d, sizeof(double));
    index->mean = mc_work_take(work, index->d, sizeof(double));
    index->at = mc_work_take(work, n, sizeof(int32_t));
    index->z = mc_work_take(work, panels * WIDTH * index->d, sizeof(float));
    index->norm = mc_work_take(work, panels * WIDTH, sizeof(float));
    index->box = mc_work_take(work, nodes * 2 * index->d, sizeof(float));
    index->axis = mc_work_take(work, nodes, sizeof(int32_t));
    index->cut = mc_work_take(work, nodes, sizeof(float));
}

static void lay_out_making(index_builder *m, int64_t n, int64_t d, int64_t threads) {
    const bool tree = wants_tree(n, d);
    for (m->slots = 1; m->slots < 2 * n; m->slots *= 2)
        ;
    m->row = mc_work_take(&m->work, threads * d, sizeof(double));
    m->length = mc_work_take(&m->work, mc_chunk_count(n, CHUNK), sizeof(double));
    m->hash = mc_work_take(&m->work, n, sizeof(uint64_t));
    m->slot = mc_work_take(&m->work, m->slots, sizeof(int32_t));
    m->copies = mc_work_take(&m->work, n, sizeof(int32_t));
    m->u = mc_work_take(&m->work, tree ? n * d : 0, sizeof(float));
    m->bounds = mc_work_take(&m->work, tree ? 2 * nodes_of(mc_chunk_count(n, WIDTH)) : 0, sizeof(int64_t));
}

size_t mc_point_index_bytes(mercer_ctx *ctx, int64_t n, int64_t d) {
    mc_point_index index = {.d = d};
    index_builder m = {0};
    lay_out_index(&index, n);
    lay_out_making(&m, n, d, ctx->threads);
    return index.work.used + m.work.used;
}

static mercer_status make_index(mercer_ctx *ctx, index_builder *m) {
    mc_point_index *index = m->index;
    const int64_t n = m->centres->n;
    find_mean(m);
    MC_TRY(mc_for(ctx, n, CHUNK, read_rows, m));
    choose_scale(m);
    leave_out_copies(m);
    if (!wants_tree(index->points, index->d))
        index->box = NULL;
    else
        MC_TRY(grow_tree(ctx, m));
    return mc_for(ctx, index->panels, 1, pack_panel, m);
}

static mercer_status open_works(mercer_ctx *ctx, index_builder *m) {
    mc_point_index *index = m->index;
    const int64_t n = m->centres->n, d = index->d;
    lay_out_index(index, n);
    lay_out_making(m, n, d, ctx->threads);
    MC_TRY(mc_work_open(ctx, &index->work, index->work.used));
    MC_TRY(mc_work_open(ctx, &m->work, m->work.used));
    lay_out_index(index, n);
    lay_out_making(m, n, d, ctx->threads);
    return MERCER_OK;
}

mercer_status mc_point_index_open(mercer_ctx *ctx, const double *weight, const mercer_data *centres, int64_t k,
                                  mc_point_index **out) {
    mc_point_index *index = NULL;
    *out = NULL;
    MC_TRY(MC_ALLOC(ctx, index, 1));
    *index = (mc_point_index){.d = centres->d, .k = k};
    index_builder m = {.index = index, .centres = centres};
    mercer_status status = open_works(ctx, &m);
    if (!status)
        memcpy(index->weight, weight, (size_t)index->d * sizeof *weight);
    MC_THEN(status, make_index(ctx, &m));
    mc_work_close(&m.work);
    if (status)
        mc_point_index_close(index);
    else
        *out = index;
    return status;
}

void mc_point_index_close(mc_point_index *index) {
    if (!index)
        return;
    mc_work_close(&index->work);
    mc_free(index);
}
