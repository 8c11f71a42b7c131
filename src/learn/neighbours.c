/* neighbours.c: the rows nearest in feature space, and what they say.

       |phi(x) - phi(z)|^2 = k(x,x) + k(z,z) - 2 k(x,z)

   A strip of rows x meets the centres z block by block: the block of K comes from the tile engine, is turned into squared distances in
   place, and every row keeps its k least in a heap, the worst on top. Of equal distances the earlier centre stays: centres come in
   order and only a smaller distance displaces the worst, which is the last of the largest. Nothing larger than a strip by a block is
   ever held. Rows are independent, so the bits are the same on any number of threads.

   The square is a difference of numbers of the size of k, and below the error of that difference it means nothing: there it counts as
   zero, so that copies of a row are at distance zero and tied. */
#include "learn/neighbours.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "base/status.h"
#include "base/work.h"
#include "data/data.h"
#include "gram/gram.h"
#include "kernel/kernel.h"
#include <float.h>
#include <math.h>

enum { STRIP = 512, BLOCK = 2048, GRAIN = 8 };

typedef struct neighbour {
    double square; /* of the distance */
    int64_t at;
} neighbour;

typedef struct search {
    const mc_fitted *f;
    const mc_gram *gram;
    int64_t k;
    double noise;            /* error of a computed square beside that of its sum */
    double *own, *diagonal;  /* k(x,x) of all rows, k(z,z) of all centres */
    double *block;           /* STRIP x BLOCK */
    neighbour *heap;         /* STRIP x k */
    int64_t row, rows;       /* the strip */
    int64_t column, columns; /* the block */
    double *out;
} search;

static bool worse(neighbour a, neighbour b) {
    return a.square > b.square || (a.square == b.square && a.at > b.at);
}

/* Let item down from the top of a heap of count. */
static void sink(neighbour *heap, int64_t count, neighbour item) {
    int64_t at = 0;
    for (int64_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && worse(heap[child + 1], heap[child]))
            child++;
        if (!worse(heap[child], item))
            break;
        heap[at] = heap[child];
    }
    heap[at] = item;
}

static void rise(neighbour *heap, int64_t at, neighbour item) {
    for (; at > 0 && worse(item, heap[(at - 1) / 2]); at = (at - 1) / 2)
        heap[at] = heap[(at - 1) / 2];
    heap[at] = item;
}

/* The worst to the end, again and again: nearest first. */
static void sort_heap(neighbour *heap, int64_t count) {
    while (count-- > 1) {
        const neighbour last = heap[count];
        heap[count] = heap[0];
        sink(heap, count, last);
    }
}

/* K(x, z) -> squared distances. */
static void measure(const search *s, double own, const double *diagonal, double *values) {
    for (int64_t j = 0; j < s->columns; j++) {
        const double sum = own + diagonal[j], square = sum - 2 * values[j];
        values[j] = square > s->noise + 4 * DBL_EPSILON * sum ? square : 0;
    }
}

static void look(const search *s, double *values, neighbour *heap) {
    int64_t j = 0;
    for (; j < s->columns && s->column + j < s->k; j++)
        rise(heap, s->column + j, (neighbour){values[j], s->column + j});
    for (double worst = heap[0].square; j < s->columns; j++)
        if (values[j] < worst) {
            sink(heap, s->k, (neighbour){values[j], s->column + j});
            worst = heap[0].square;
        }
}

static void look_rows(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk, (void)thread;
    const search *s = arg;
    for (int64_t i = begin; i < end; i++) {
        measure(s, s->own[s->row + i], s->diagonal + s->column, s->block + i * BLOCK);
        look(s, s->block + i * BLOCK, s->heap + i * s->k);
    }
}

/* What a neighbour's row is multiplied by; where some stand at distance zero, they alone count. */
static double share(const search *s, const neighbour *nearest, int64_t j) {
    if (!s->f->by_distance)
        return 1;
    return nearest[0].square == 0 ? nearest[j].square == 0 : 1 / sqrt(nearest[j].square);
}

static void vote(const search *s, const neighbour *nearest, double *out) {
    const int64_t outputs = s->f->outputs, width = outputs + 1;
    double weight = 0;
    for (int64_t j = 0; j < s->k; j++) {
        const double *row = s->f->alpha + nearest[j].at * width, q = share(s, nearest, j);
        weight += q * row[outputs];
        for (int64_t c = 0; c < outputs; c++)
            out[c] += q * row[c];
    }
    for (int64_t c = 0; c < outputs; c++)
        out[c] /= weight;
}

static void vote_rows(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk, (void)thread;
    const search *s = arg;
    for (int64_t i = begin; i < end; i++) {
        sort_heap(s->heap + i * s->k, s->k);
        vote(s, s->heap + i * s->k, s->out + (s->row + i) * s->f->outputs);
    }
}

static mercer_status search_strip(mercer_ctx *ctx, search *s) {
    const int64_t m = s->f->centres->n;
    for (s->column = 0; s->column < m; s->column += BLOCK) {
        s->columns = m - s->column < BLOCK ? m - s->column : BLOCK;
        MC_TRY(mc_gram_block(ctx, s->gram, s->row, s->row + s->rows, s->column, s->column + s->columns, MERCER_F64, s->block, BLOCK));
        MC_TRY(mc_for(ctx, s->rows, GRAIN, look_rows, s));
    }
    return mc_for(ctx, s->rows, GRAIN, vote_rows, s);
}

static mercer_status search_rows(mercer_ctx *ctx, search *s, int64_t n) {
    for (s->row = 0; s->row < n; s->row += STRIP) {
        s->rows = n - s->row < STRIP ? n - s->row : STRIP;
        MC_TRY(search_strip(ctx, s));
    }
    return MERCER_OK;
}

/* k(x,x), by the judge's formula. */
static mercer_status diagonal_of(mercer_ctx *ctx, const mercer_kernel *kernel, const mercer_data *x, double *out) {
    mc_gram *gram = NULL;
    MC_TRY(mc_gram_open(ctx, kernel, x, NULL, MERCER_F64, &gram));
    const mercer_status status = mc_gram_diagonal(ctx, gram, out);
    mc_gram_close(gram);
    return status;
}

/* k(x,x) of the rows; NaN is let pass where distances themselves are not asked for. */
static mercer_status own_values(mercer_ctx *ctx, const mc_fitted *f, const mercer_data *rows, double *out) {
    const mercer_status status = diagonal_of(ctx, f->kernel, rows, out);
    if (status != MERCER_DATA || f->by_distance || !mc_kernel_precomputed(f->kernel))
        return status;
    mc_unfail(ctx);
    return MERCER_OK;
}

static size_t work_bytes(int64_t n, int64_t m, int64_t k) {
    const int64_t strip = n < STRIP ? n : STRIP;
    return mc_work_need(n, 8) + mc_work_need(m, 8) + mc_work_need(strip * BLOCK, 8) + mc_work_need(strip * k, sizeof(neighbour));
}

size_t mc_neighbours_bytes(mercer_ctx *ctx, const mercer_kernel *kernel, const mercer_data *rows, const mercer_data *centres, int64_t k) {
    return work_bytes(rows->n, centres->n, k) + mc_gram_bytes(ctx, kernel, rows, centres, MERCER_F64, 0);
}

static mercer_status prepare(mercer_ctx *ctx, search *s, const mercer_data *rows, mc_work *work) {
    const int64_t n = rows->n, m = s->f->centres->n, strip = n < STRIP ? n : STRIP;
    s->own = mc_work_take(work, n, 8);
    s->diagonal = mc_work_take(work, m, 8);
    s->block = mc_work_take(work, strip * BLOCK, 8);
    s->heap = mc_work_take(work, strip * s->k, sizeof(neighbour));
    MC_TRY(own_values(ctx, s->f, rows, s->own));
    return diagonal_of(ctx, s->f->kernel, s->f->centres, s->diagonal);
}

/* Rows of a matrix that lack k(x,x) get a number larger than any: which centres are nearest does not depend on it. */
static void fill_unknown(search *s, int64_t n) {
    const double beyond = 4 * mc_gram_entry_size(s->gram);
    for (int64_t i = 0; i < n; i++)
        s->own[i] = isnan(s->own[i]) ? beyond : s->own[i];
}

mercer_status mc_neighbours_decide(mercer_ctx *ctx, const mc_fitted *f, const mercer_data *rows, double *out) {
    search s = {.f = f, .k = f->report.neighbors, .out = out};
    mc_gram *gram = NULL;
    mc_work work;
    MC_TRY(mc_work_open(ctx, &work, work_bytes(rows->n, f->centres->n, s.k)));
    mercer_status status = prepare(ctx, &s, rows, &work);
    if (!status)
        status = mc_gram_open(ctx, f->kernel, rows, f->centres, MERCER_F64, &gram);
    if (!status) {
        s.gram = gram;
        fill_unknown(&s, rows->n);
        s.noise = 2 * mc_gram_entry_error(gram);
        status = search_rows(ctx, &s, rows->n);
    }
    mc_gram_close(gram);
    mc_work_close(&work);
    return status;
}
