/* euclidean.c: see euclidean.h. Coordinates are weighed, taken less the mean m of the centres, divided by a power of
   two above the largest of their norms, and rounded to floats, of which backend/nearest.h screens

       t = |z|^2 - 2 <x, z>,     |computed t - t| <= e = 1.1 (d + 8) 2^-24 (|z| + 2 |x|) |z|:

   the k-th least t is at most e above the k-th least computed one, T, so that the k nearest are among those with a
   computed t up to T + 2 e. The squares of these alone are summed up in double, from the differences of the data, and
   choose. A row with too many candidates meets all centres in double. Nothing that floats do reaches an answer, and
   rows are independent: it is the same on any machine and any number of threads. */
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
#include <math.h>
#include <string.h>

enum { CHUNK = 64, FEW = 64, MOST_COLUMNS = 4096, CACHE = 192 << 10, SPARE = 96 };
enum { LINES = MC_NEAREST_ROWS, WIDTH = MC_NEAREST_COLUMNS };

typedef struct search {
    const mercer_data *rows, *centres;
    mc_nearest_body *screen;
    int64_t d, k, capacity, panels;
    double *weight, *mean; /* d */
    double scale, reach;   /* a power of two; the largest |z| after it */
    float *z, *norm;       /* panels */
    char *scratch;         /* of each thread */
    int64_t scratch_each;
    mc_neighbour *out;
} search;

/* What a thread works with. */
typedef struct bench {
    double *row, *other;             /* d each: as they are in the data */
    float *x, *slack, *best, *limit; /* of CHUNK rows */
    mc_candidate *list;
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

/* ---- The centres ---- */

static void add_means(search *s, double *row) {
    const int64_t n = s->centres->n;
    memset(s->mean, 0, (size_t)s->d * sizeof *s->mean);
    for (int64_t i = 0; i < n; i++) {
        mc_data_values(s->centres, i, row);
        for (int64_t j = 0; j < s->d; j++)
            s->mean[j] += row[j] / (double)n;
    }
}

static double length_of(const search *s, const double *row) {
    double sum = 0, largest = 0;
    for (int64_t j = 0; j < s->d; j++)
        largest = fmax(largest, fabs(s->weight[j] * (row[j] - s->mean[j])));
    for (int64_t j = 0; j < s->d && largest > 0; j++) {
        const double u = s->weight[j] * (row[j] - s->mean[j]) / largest;
        sum += u * u;
    }
    return largest * sqrt(sum);
}

static void choose_scale(search *s, double *row) {
    double most = 0;
    int exponent = 0;
    for (int64_t i = 0; i < s->centres->n; i++) {
        mc_data_values(s->centres, i, row);
        most = fmax(most, length_of(s, row));
    }
    if (most > 0 && isfinite(most))
        frexp(most, &exponent);
    s->scale = ldexp(1, -exponent);
    s->reach = most * s->scale;
}

static void pack_panel(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)begin, (void)end;
    const search *s = arg;
    double *row = (double *)(void *)(s->scratch + thread * s->scratch_each);
    float *panel = s->z + chunk * s->d * WIDTH;
    for (int64_t q = 0; q < WIDTH; q++) {
        const int64_t i = chunk * WIDTH + q;
        double square = 0;
        if (i < s->centres->n)
            mc_data_values(s->centres, i, row);
        for (int64_t j = 0; j < s->d; j++) {
            const double u = i < s->centres->n ? s->scale * s->weight[j] * (row[j] - s->mean[j]) : 0;
            panel[j * WIDTH + q] = (float)u;
            square += u * u;
        }
        s->norm[i] = i < s->centres->n ? (float)square : INFINITY;
    }
}

/* ---- The rows ---- */

static void lay_out_bench(mc_work *work, int64_t d, int64_t k, bench *b) {
    b->row = mc_work_take(work, d, sizeof(double));
    b->other = mc_work_take(work, d, sizeof(double));
    b->x = mc_work_take(work, CHUNK * d, sizeof(float));
    b->slack = mc_work_take(work, CHUNK, sizeof(float));
    b->limit = mc_work_take(work, CHUNK, sizeof(float));
    b->best = mc_work_take(work, CHUNK * k, sizeof(float));
    b->list = mc_work_take(work, CHUNK * (2 * k + SPARE), sizeof(mc_candidate));
    b->held = mc_work_take(work, CHUNK, sizeof(int64_t));
}

static int64_t bench_bytes(int64_t d, int64_t k) {
    mc_work counted = {0};
    lay_out_bench(&counted, d, k, &(bench){0});
    return (int64_t)counted.used;
}

/* Row r of the chunk into its place among LINES side by side. A row that floats do not hold has no limit at all. */
static void place_row(const search *s, const bench *b, int64_t r) {
    double square = 0;
    float *x = b->x + r / LINES * LINES * s->d + r % LINES;
    for (int64_t j = 0; j < s->d; j++) {
        const double u = s->scale * s->weight[j] * (b->row[j] - s->mean[j]);
        x[j * LINES] = (float)(-2 * u);
        square += u * u;
    }
    const double e = 1.1 * (double)(s->d + 8) * 0x1p-24 * (s->reach + 2 * sqrt(square)) * s->reach;
    b->slack[r] = (float)(2.5 * e + 0x1p-100);
    b->held[r] = square < 0x1p60 ? 0 : s->capacity + 1;
    b->limit[r] = square < 0x1p60 ? INFINITY : -INFINITY;
    for (int64_t j = 0; j < s->k; j++)
        b->best[r * s->k + j] = INFINITY;
}

static void screen_chunk(const search *s, const bench *b, int64_t rows) {
    const int64_t fits = CACHE / (s->d * WIDTH * (int64_t)sizeof(float)), each = fits > 1 ? fits : 1;
    for (int64_t from = 0; from < s->panels; from += each)
        for (int64_t r = 0; r < rows; r += LINES) {
            const mc_nearest n = {.d = s->d,
                                  .k = s->k,
                                  .capacity = s->capacity,
                                  .rows = rows - r < LINES ? rows - r : LINES,
                                  .x = b->x + r * s->d,
                                  .z = s->z,
                                  .norm = s->norm,
                                  .from = from,
                                  .to = from + each < s->panels ? from + each : s->panels,
                                  .slack = b->slack + r,
                                  .best = b->best + r * s->k,
                                  .limit = b->limit + r,
                                  .list = b->list + r * s->capacity,
                                  .held = b->held + r};
            s->screen(&n);
        }
}

/* ---- In double ---- */

static double square_between(const search *s, const double *x, const double *z) {
    double lane[8] = {0};
    for (int64_t j = 0; j < s->d; j++) {
        const double u = s->weight[j] * (x[j] - z[j]);
        lane[j % 8] += u * u;
    }
    return ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}

/* One more into the nearest of a row, of which there are *count, at most k. */
static void choose(const search *s, const bench *b, int64_t at, int64_t *count, mc_neighbour *out) {
    mc_data_values(s->centres, at, b->other);
    const mc_neighbour item = {square_between(s, b->row, b->other), at};
    if (*count == s->k && !mc_is_farther(out[s->k - 1], item))
        return;
    int64_t j = *count < s->k ? (*count)++ : s->k - 1;
    for (; j > 0 && mc_is_farther(out[j - 1], item); j--)
        out[j] = out[j - 1];
    out[j] = item;
}

static void confirm_row(const search *s, const bench *b, int64_t r, mc_neighbour *out) {
    const mc_candidate *list = b->list + r * s->capacity;
    int64_t count = 0;
    if (b->held[r] > s->capacity)
        for (int64_t i = 0; i < s->centres->n; i++)
            choose(s, b, i, &count, out);
    else
        for (int64_t j = 0; j < b->held[r]; j++)
            if (list[j].t < b->limit[r])
                choose(s, b, list[j].at, &count, out);
}

static void search_chunk(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk;
    const search *s = arg;
    mc_work work = {.block = s->scratch + thread * s->scratch_each, .size = (size_t)s->scratch_each};
    bench b;
    lay_out_bench(&work, s->d, s->k, &b);
    memset(b.x, 0, (size_t)(CHUNK * s->d) * sizeof *b.x);
    for (int64_t i = begin; i < end; i++) {
        mc_data_values(s->rows, i, b.row);
        place_row(s, &b, i - begin);
    }
    screen_chunk(s, &b, end - begin);
    for (int64_t i = begin; i < end; i++) {
        mc_data_values(s->rows, i, b.row);
        confirm_row(s, &b, i - begin, s->out + i * s->k);
    }
}

/* ---- The whole ---- */

static void lay_out_search(mc_work *work, int64_t threads, search *s) {
    s->panels = mc_chunk_count(s->centres->n, WIDTH);
    s->scratch_each = bench_bytes(s->d, s->k);
    s->weight = mc_work_take(work, s->d, sizeof(double));
    s->mean = mc_work_take(work, s->d, sizeof(double));
    s->z = mc_work_take(work, s->panels * WIDTH * s->d, sizeof(float));
    s->norm = mc_work_take(work, s->panels * WIDTH, sizeof(float));
    s->scratch = mc_work_take(work, threads * s->scratch_each, 1);
}

static search search_for(const mercer_data *rows, const mercer_data *centres, int64_t k) {
    return (search){.rows = rows, .centres = centres, .d = centres->d, .k = k, .capacity = 2 * k + SPARE};
}

size_t mc_euclidean_bytes(mercer_ctx *ctx, int64_t n, const mercer_data *centres, int64_t k) {
    search s = search_for(NULL, centres, k);
    mc_work counted = {0};
    lay_out_search(&counted, ctx->threads, &s);
    return counted.used + mc_work_need(n * k, sizeof(mc_neighbour));
}

mercer_status mc_euclidean_nearest(mercer_ctx *ctx, const mercer_kernel *kernel, const mercer_data *rows,
                                   const mercer_data *centres, int64_t k, mc_neighbour *out) {
    search s = search_for(rows, centres, k);
    mc_work work = {0}, counted = {0};
    lay_out_search(&counted, ctx->threads, &s);
    MC_TRY(mc_work_open(ctx, &work, counted.used));
    lay_out_search(&work, ctx->threads, &s);
    s.screen = *mc_bodies_of(ctx->isa)->nearest;
    s.out = out;
    double *row = (double *)(void *)s.scratch;
    take_weights(kernel, s.d, s.weight);
    add_means(&s, row);
    choose_scale(&s, row);
    mercer_status status = mc_for(ctx, s.panels, 1, pack_panel, &s);
    MC_THEN(status, mc_for(ctx, rows->n, CHUNK, search_chunk, &s));
    mc_work_close(&work);
    return status;
}
