/* euclidean.c: see euclidean.h. Rows become points as the centres did (point_index.h), and backend/nearest.h screens in
   floats. By products, of a row x and a centre z, both after the scaling,

       t = |z|^2 - 2 <x, z>,     |computed t - t| <= e = 1.1 (d + 8) 2^-24 (|z| + 2 |x|) |z|:

   the k-th least t is at most e above the k-th least computed one, T, so that the k nearest are among those with a
   computed t up to T + 2 e. By differences, where there is a tree, the computed distance r is within

       a r + b,     a = (d / 2 + 4) 2^-24,  b = 1.01 2^-24 (|x| + |z|)

   of the true one, and the k nearest are among those with r up to R + 2 (a R + b), R the k-th least, and so are the
   boxes that hold them. The squares of the candidates alone are summed up in double, from the differences of the data,
   and choose. A row with too many candidates meets all centres in double. Nothing that floats do reaches an answer, nor
   does the order in which points are met, and rows are independent: it is the same on any machine, with and without the
   tree, and on any number of threads. */
#include "predict/euclidean.h"
#include "backend/dispatch.h"
#include "base/ctx.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/status.h"
#include "base/workspace.h"
#include "data/table/data.h"
#include "kernel/language/node.h"
#include "kernel/language/kernel.h"
#include "predict/packed_cache.h"
#include "predict/point_index.h"
#include <math.h>
#include <string.h>

enum { CHUNK = 64, FEW = 64, MOST_COLUMNS = 4096, CACHE = 192 << 10, SPARE = 96, FEW_ROWS = 64 };
enum { SPARED = 4 }; /* a tree pays where a row meets less than one panel in so many */
enum { LINES = MC_NEAREST_ROWS, WIDTH = MC_NEAREST_COLUMNS };

typedef struct euclidean_search {
    const mercer_data *rows, *centres;
    const mc_point_index *index; /* NULL: all centres are met in double */
    mc_nearest_body *screen;
    int64_t d, k, capacity;
    double *weight;         /* d */
    int32_t *order, *panel; /* the rows, those of a panel together; the panel of each row */
    char *scratch;          /* of each thread */
    int64_t scratch_each;
    mc_neighbour *out;
} euclidean_search;

/* What a thread works with. */
typedef struct bench {
    double *row, *other; /* d each: as they are in the data */
    double *u;           /* d: a row as a point */
    double *norm;        /* of CHUNK rows, as what follows */
    float *x, *root, *slack, *best, *limit;
    mc_nearest_candidate *list;
    int64_t *held;
} bench;

/* ---- Which kernels ---- */

/* The parameter that weighs coordinates: its number, and whether it is a scale or its inverse. */
static const struct weighing {
    mc_atom atom;
    int parameter;
} weighings[] = {{MC_RBF, 0}, {MC_EXPONENTIAL, 0}, {MC_MATERN, 1}, {MC_RQ, 1}, {MC_LINEAR, -1}};

static const struct weighing *weighing_of(const mercer_kernel *kernel) {
    const mc_node *node = mc_node_bare(kernel->root);
    for (size_t i = 0; i < sizeof weighings / sizeof *weighings && node->kind == MC_ATOM; i++)
        if (node->atom == weighings[i].atom)
            return &weighings[i];
    return NULL;
}

bool mc_is_euclidean(const mercer_kernel *kernel, const mercer_data *rows, const mercer_data *centres, int64_t k) {
    const bool dense = !rows->row_start && !centres->row_start && !rows->texts && !centres->texts;
    return dense && k <= FEW && centres->d <= MOST_COLUMNS && centres->n < INT32_MAX && weighing_of(kernel);
}

/* One number for all coordinates changes no order. */
static void take_weights(const mercer_kernel *kernel, int64_t d, double *weight) {
    const struct weighing *w = weighing_of(kernel);
    const mc_node *node = mc_node_bare(kernel->root);
    for (int64_t j = 0; j < d; j++) {
        const mc_value *value = w->parameter < 0 ? NULL : &node->parameter[w->parameter];
        const double number = !value || value->kind == MC_VALUE_NUMBER ? 1 : mc_value_at(value, j);
        weight[j] = node->atom == MC_RBF ? sqrt(number) : node->atom == MC_EXPONENTIAL ? number : 1 / number;
    }
}

/* ---- The rows ---- */

static void lay_out_bench(mc_work *work, int64_t d, int64_t k, bench *b) {
    b->row = mc_work_take(work, d, sizeof(double));
    b->other = mc_work_take(work, d, sizeof(double));
    b->u = mc_work_take(work, d, sizeof(double));
    b->norm = mc_work_take(work, CHUNK, sizeof(double));
    b->x = mc_work_take(work, CHUNK * d, sizeof(float));
    b->root = mc_work_take(work, CHUNK, sizeof(float));
    b->slack = mc_work_take(work, CHUNK, sizeof(float));
    b->limit = mc_work_take(work, CHUNK, sizeof(float));
    b->best = mc_work_take(work, CHUNK * k, sizeof(float));
    b->list = mc_work_take(work, CHUNK * (2 * k + SPARE), sizeof(mc_nearest_candidate));
    b->held = mc_work_take(work, CHUNK, sizeof(int64_t));
}

static int64_t bench_bytes(int64_t d, int64_t k) {
    mc_work counted = {0};
    lay_out_bench(&counted, d, k, &(bench){0});
    return (int64_t)counted.used;
}

/* How far above the k-th least a candidate may be, of a row of that norm. */
static float slack_of_products(const euclidean_search *s, double norm) {
    const double reach = s->index->reach;
    return (float)(2.5 * 1.1 * (double)(s->d + 8) * 0x1p-24 * (reach + 2 * norm) * reach + 0x1p-100);
}

static void allow_for_rounding(const euclidean_search *s, const bench *b, int64_t r, double norm) {
    const double unit = 0x1p-24 * (norm + s->index->reach);
    b->norm[r] = norm;
    b->root[r] = (float)(4.5 * unit);
    b->slack[r] = s->index->box ? (float)(5 * unit * unit + 0x1p-100) : slack_of_products(s, norm);
}

/* Row r of the chunk into its place among LINES side by side. A row that floats do not hold has no limit at all. */
static void place_row(const euclidean_search *s, const bench *b, int64_t r) {
    const double norm = mc_point_of_row(s->index, b->row, b->u), factor = s->index->box ? 1 : -2;
    const bool held = norm < 0x1p30 && isfinite(s->index->reach);
    float *x = b->x + r / LINES * LINES * s->d + r % LINES;
    for (int64_t j = 0; j < s->d; j++)
        x[j * LINES] = (float)(factor * b->u[j]);
    allow_for_rounding(s, b, r, norm);
    b->held[r] = held ? 0 : s->capacity + 1;
    b->limit[r] = held ? INFINITY : -INFINITY;
    for (int64_t j = 0; j < s->k; j++)
        b->best[r * s->k + j] = INFINITY;
}

static mc_nearest nearest_of(const euclidean_search *s, const bench *b, int64_t r, int64_t rows) {
    return (mc_nearest){.d = s->d,
                        .k = s->k,
                        .capacity = s->capacity,
                        .rows = rows - r < LINES ? rows - r : LINES,
                        .x = b->x + r * s->d,
                        .z = s->index->z,
                        .norm = s->index->norm,
                        .to = s->index->panels,
                        .grow = (float)(1.25 * (double)(2 * s->d + 20) * 0x1p-24),
                        .root = b->root + r,
                        .slack = b->slack + r,
                        .best = b->best + r * s->k,
                        .limit = b->limit + r,
                        .list = b->list + r * s->capacity,
                        .held = b->held + r};
}

/* The rows from r on with all panels, as many at a time as a cache holds. */
static void screen_all(const euclidean_search *s, const bench *b, int64_t begin, int64_t rows) {
    const int64_t fits = CACHE / (s->d * WIDTH * (int64_t)sizeof(float)), each = fits > 1 ? fits : 1;
    for (int64_t from = 0; from < s->index->panels; from += each)
        for (int64_t r = begin; r < rows; r += LINES) {
            mc_nearest n = nearest_of(s, b, r, rows);
            n.from = from;
            n.to = from + each < n.to ? from + each : n.to;
            s->screen(&n);
        }
}

/* Rows that were to be met by differences, from r on, now by products, which take half the work. */
static void turn_to_products(const euclidean_search *s, const bench *b, int64_t begin) {
    for (int64_t i = begin * s->d; i < CHUNK * s->d; i++)
        b->x[i] *= -2;
    for (int64_t r = begin; r < CHUNK; r++)
        b->slack[r] = slack_of_products(s, b->norm[r]);
}

/* Through the tree, until it has shown that it spares too little. */
static void screen_chunk(const euclidean_search *s, const bench *b, int64_t rows) {
    int64_t r = 0;
    for (bool pays = s->index->box != NULL; pays && r < rows; r += LINES) {
        mc_nearest n = nearest_of(s, b, r, rows);
        n.differences = true;
        n.box = s->index->box;
        pays = SPARED * s->screen(&n) < n.rows * s->index->panels;
    }
    if (s->index->box)
        turn_to_products(s, b, r);
    screen_all(s, b, r, rows);
}

/* ---- In double ---- */

static double square_between(const euclidean_search *s, const double *x, const double *z) {
    double lane[8] = {0};
    for (int64_t j = 0; j < s->d; j++) {
        const double u = s->weight[j] * (x[j] - z[j]);
        lane[j % 8] += u * u;
    }
    return ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}

/* One more into the nearest of a row, of which there are *count, at most k. */
static void insert_neighbour(const euclidean_search *s, const bench *b, int64_t at, int64_t *count, mc_neighbour *out) {
    mc_data_values(s->centres, at, b->other);
    const mc_neighbour item = {square_between(s, b->row, b->other), at};
    if (*count == s->k && !mc_is_farther(out[s->k - 1], item))
        return;
    int64_t j = *count < s->k ? (*count)++ : s->k - 1;
    for (; j > 0 && mc_is_farther(out[j - 1], item); j--)
        out[j] = out[j - 1];
    out[j] = item;
}

static void confirm_row(const euclidean_search *s, const bench *b, int64_t r, mc_neighbour *out) {
    const mc_nearest_candidate *list = b->list + r * s->capacity;
    int64_t count = 0;
    if (b->held[r] > s->capacity)
        for (int64_t i = 0; i < s->index->points; i++)
            insert_neighbour(s, b, s->index->at[i], &count, out);
    else
        for (int64_t j = 0; j < b->held[r]; j++)
            if (list[j].t < b->limit[r])
                insert_neighbour(s, b, s->index->at[list[j].at], &count, out);
}

/* ---- Chunks ---- */

static bench bench_of(const euclidean_search *s, int thread) {
    mc_work work = {.block = s->scratch + thread * s->scratch_each, .size = (size_t)s->scratch_each};
    bench b;
    lay_out_bench(&work, s->d, s->k, &b);
    return b;
}

static void search_chunk(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk;
    const euclidean_search *s = arg;
    const bench b = bench_of(s, thread);
    memset(b.x, 0, (size_t)(CHUNK * s->d) * sizeof *b.x);
    for (int64_t r = end - begin; r < CHUNK; r++)
        b.limit[r] = -INFINITY;
    for (int64_t i = begin; i < end; i++) {
        mc_data_values(s->rows, s->order[i], b.row);
        place_row(s, &b, i - begin);
    }
    screen_chunk(s, &b, end - begin);
    for (int64_t i = begin; i < end; i++) {
        mc_data_values(s->rows, s->order[i], b.row);
        confirm_row(s, &b, i - begin, s->out + s->order[i] * s->k);
    }
}

static void search_in_double(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk;
    const euclidean_search *s = arg;
    const bench b = bench_of(s, thread);
    for (int64_t i = begin; i < end; i++) {
        int64_t count = 0;
        mc_data_values(s->rows, i, b.row);
        for (int64_t at = 0; at < s->centres->n; at++)
            insert_neighbour(s, &b, at, &count, s->out + i * s->k);
    }
}

/* ---- Rows in the order of the tree ---- */

static void find_panels(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk;
    const euclidean_search *s = arg;
    const bench b = bench_of(s, thread);
    for (int64_t i = begin; i < end; i++) {
        mc_data_values(s->rows, i, b.row);
        mc_point_of_row(s->index, b.row, b.u);
        s->panel[i] = (int32_t)mc_point_panel(s->index, b.u);
    }
}

/* By counting: start[p] is where the rows of panel p begin. */
static mercer_status order_rows(mercer_ctx *ctx, const euclidean_search *s) {
    int64_t *start = NULL;
    MC_TRY(mc_for(ctx, s->rows->n, CHUNK, find_panels, (void *)s));
    MC_TRY(MC_ALLOC(ctx, start, s->index->panels + 1));
    for (int64_t i = 0; i < s->rows->n; i++)
        start[s->panel[i] + 1]++;
    for (int64_t p = 0; p < s->index->panels; p++)
        start[p + 1] += start[p];
    for (int64_t i = 0; i < s->rows->n; i++)
        s->order[start[s->panel[i]]++] = (int32_t)i;
    mc_free(start);
    return MERCER_OK;
}

/* ---- The whole ---- */

static void lay_out_search(mc_work *work, int64_t n, int64_t threads, euclidean_search *s) {
    s->scratch_each = bench_bytes(s->d, s->k);
    s->weight = mc_work_take(work, s->d, sizeof(double));
    s->order = mc_work_take(work, n, sizeof(int32_t));
    s->panel = mc_work_take(work, n, sizeof(int32_t));
    s->scratch = mc_work_take(work, threads * s->scratch_each, 1);
}

static euclidean_search search_for(const mercer_data *rows, const mercer_data *centres, int64_t k) {
    return (euclidean_search){.rows = rows, .centres = centres, .d = centres->d, .k = k, .capacity = 2 * k + SPARE};
}

size_t mc_euclidean_bytes(mercer_ctx *ctx, int64_t n, const mercer_data *centres, int64_t k) {
    euclidean_search s = search_for(NULL, centres, k);
    mc_work counted = {0};
    lay_out_search(&counted, n, ctx->threads, &s);
    return counted.used + mc_work_need(n * k, sizeof(mc_neighbour)) + mc_point_index_bytes(ctx, centres->n, centres->d);
}

static mercer_status search_index(mercer_ctx *ctx, euclidean_search *s) {
    if (s->index->box)
        MC_TRY(order_rows(ctx, s));
    else
        for (int64_t i = 0; i < s->rows->n; i++)
            s->order[i] = (int32_t)i;
    return mc_for(ctx, s->rows->n, CHUNK, search_chunk, s);
}

/* The index of the model; one of this call's own where that has none and cannot keep it. */
static mercer_status search_by_index(mercer_ctx *ctx, euclidean_search *s, mc_packed_cache *cache) {
    mc_point_index *made = NULL;
    s->index = mc_packed_cache_points(cache);
    if (!s->index)
        MC_TRY(mc_point_index_open(ctx, s->weight, s->centres, s->k, &made));
    s->index = made ? made : s->index;
    const mercer_status status = search_index(ctx, s);
    if (made && (status || !mc_packed_cache_keep_points(ctx, cache, made)))
        mc_point_index_close(made);
    return status;
}

mercer_status mc_euclidean_nearest(mercer_ctx *ctx, const mercer_kernel *kernel, const mercer_data *rows,
                                   const mercer_data *centres, int64_t k, mc_packed_cache *cache, mc_neighbour *out) {
    euclidean_search s = search_for(rows, centres, k);
    mc_work work = {0}, counted = {0};
    lay_out_search(&counted, rows->n, ctx->threads, &s);
    MC_TRY(mc_work_open(ctx, &work, counted.used));
    lay_out_search(&work, rows->n, ctx->threads, &s);
    s.screen = *mc_bodies_of(ctx->isa)->nearest;
    s.out = out;
    take_weights(kernel, s.d, s.weight);
    const mercer_status status = mc_packed_cache_asked(cache, rows->n) < FEW_ROWS
                                     ? mc_for(ctx, rows->n, 1, search_in_double, &s)
                                     : search_by_index(ctx, &s, cache);
    mc_work_close(&work);
    return status;
}
