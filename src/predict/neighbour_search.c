/* neighbour_search.c: the rows nearest in feature space.

       |phi(x) - phi(z)|^2 = k(x,x) + k(z,z) - 2 k(x,z)

   A strip of rows x meets the centres z block by block: the block of K comes from the tile engine, is turned into
   squared distances in place, and every row keeps its k least in a heap, the worst on top. Of equal distances the
   earlier centre stays: centres come in order and only a smaller distance displaces the worst, which is the last of the
   largest. Nothing larger than a strip by a block is ever held. Rows are independent, so the bits are the same on any
   number of threads.

   The square is a difference of numbers of the size of k, and below the error of that difference it means nothing:
   there it counts as zero, so that copies of a row are at distance zero and tied.

   Where entries are long sums a screening in float32 goes first. With |K32 - K64| <= e a square t made of floats is
   within d = 2 e of the one s made of doubles, and s, which counts as 0 up to c, is at most max(t + d, 0) and at least
   t - d - c. The k-th least s is at most max(T + d, 0), T the k-th least t, so the k nearest are among those with t <=
   max(T, 0) + 2 d + c. These alone are computed in double, to the bits that a block would have, and choose as ever: the
   answer is the same. A row with too many of them is done in full. Where the kernel falls with the Euclidean distance
   and votes are uniform, euclidean.c has the nearest at less. */
#include "predict/neighbour_search.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "base/sort.h"
#include "base/status.h"
#include "data/table/data.h"
#include "kernel/language/kernel.h"
#include <float.h>
#include <math.h>
#include <string.h>

enum { STRIP = MC_NEIGHBOUR_STRIP, BLOCK = 1024, GRAIN = 8, LANES = 16 };
/* coordinates, neighbours and centres from, to and from which floats look first */
enum { LONG = 64, FEW = 64, MANY = 8192 };

/* Let item down from the top of a heap of count. */
static void sift_down(mc_neighbour *heap, int64_t count, mc_neighbour item) {
    int64_t at = 0;
    for (int64_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && mc_is_farther(heap[child + 1], heap[child]))
            child++;
        if (!mc_is_farther(heap[child], item))
            break;
        heap[at] = heap[child];
    }
    heap[at] = item;
}

static void sift_up(mc_neighbour *heap, int64_t at, mc_neighbour item) {
    for (; at > 0 && mc_is_farther(item, heap[(at - 1) / 2]); at = (at - 1) / 2)
        heap[at] = heap[(at - 1) / 2];
    heap[at] = item;
}

/* The worst to the end, again and again: nearest first. */
void mc_neighbour_sort(mc_neighbour *heap, int64_t count) {
    while (count-- > 1) {
        const mc_neighbour last = heap[count];
        heap[count] = heap[0];
        sift_down(heap, count, last);
    }
}

/* K(x, z) -> squared distances. */
static void to_squared_distances(const mc_neighbour_search *s, double own, const double *diagonal, int64_t count,
                                 double *values) {
    for (int64_t j = 0; j < count; j++) {
        const double sum = own + diagonal[j], square = sum - 2 * values[j];
        values[j] = square > s->noise + 4 * DBL_EPSILON * sum ? square : 0;
    }
}

static void offer_block_to_heap(const mc_neighbour_search *s, double *values, mc_neighbour *heap) {
    int64_t j = 0;
    for (; j < s->columns && s->column + j < s->k; j++)
        sift_up(heap, s->column + j, (mc_neighbour){values[j], s->column + j});
    for (double worst = heap[0].square; j < s->columns; j++)
        if (values[j] < worst) {
            sift_down(heap, s->k, (mc_neighbour){values[j], s->column + j});
            worst = heap[0].square;
        }
}

static void look_rows(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk, (void)thread;
    const mc_neighbour_search *s = arg;
    for (int64_t r = begin; r < end; r++) {
        const int64_t i = s->list[r] - s->row;
        to_squared_distances(s, s->own[s->row + i], s->diagonal + s->column, s->columns, s->place[r]);
        offer_block_to_heap(s, s->place[r], s->heap + i * s->k);
    }
}

/* The listed rows against all centres, in double. */
static mercer_status search_in_full(mercer_ctx *ctx, mc_neighbour_search *s) {
    const int64_t m = s->f->centres->n;
    for (int64_t r = 0; r < s->listed; r++)
        s->place[r] = (double *)s->block + r * BLOCK;
    for (s->column = 0; s->column < m && s->listed; s->column += BLOCK) {
        s->columns = m - s->column < BLOCK ? m - s->column : BLOCK;
        MC_TRY(
            mc_gram_scatter(ctx, s->gram, s->list, s->listed, s->column, s->column + s->columns, MERCER_F64, s->place));
        MC_TRY(mc_for(ctx, s->listed, GRAIN, look_rows, s));
    }
    return MERCER_OK;
}

/* ---- Screening in float32 ---- */

static double limit_of(const mc_neighbour_search *s, const mc_neighbour *heap) {
    return fmax(heap[0].square, 0) + s->slack;
}

static int64_t prune_candidates(mc_neighbour *list, int64_t count, double limit) {
    int64_t left = 0;
    for (int64_t j = 0; j < count; j++)
        if (list[j].square <= limit)
            list[left++] = list[j];
    return left;
}

/* One more that may be among the nearest, of row i. */
static void offer_candidate(const mc_neighbour_search *s, int64_t i, mc_neighbour item) {
    mc_neighbour *heap = s->heap + i * s->k, *list = s->candidate + i * s->capacity;
    if (item.at < s->k)
        sift_up(heap, item.at, item);
    else if (item.square < heap[0].square)
        sift_down(heap, s->k, item);
    if (s->held[i] == s->capacity && item.at >= s->k)
        s->held[i] = prune_candidates(list, s->capacity, limit_of(s, heap));
    if (s->held[i] < s->capacity)
        list[s->held[i]++] = item;
    else
        s->held[i] = s->capacity + 1;
}

/* Squares from floats, LANES at a time: most of those hold no candidate. */
static void screen_row_float32(const mc_neighbour_search *s, int64_t i, const float *values) {
    const double own = s->own[s->row + i], *diagonal = s->diagonal + s->column;
    for (int64_t j = 0; j < s->columns && s->held[i] <= s->capacity; j += LANES) {
        const int64_t count = s->columns - j < LANES ? s->columns - j : LANES;
        const double limit = s->column + j < s->k ? INFINITY : limit_of(s, s->heap + i * s->k);
        double square[LANES], least = INFINITY;
        for (int64_t q = 0; q < count; q++)
            square[q] = own + diagonal[j + q] - 2 * (double)values[j + q];
        for (int64_t q = 0; q < count; q++)
            least = square[q] < least ? square[q] : least;
        for (int64_t q = 0; q < count && least <= limit && s->held[i] <= s->capacity; q++)
            if (square[q] <= limit || s->column + j + q < s->k)
                offer_candidate(s, i, (mc_neighbour){square[q], s->column + j + q});
    }
}

static void screen_rows(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk, (void)thread;
    const mc_neighbour_search *s = arg;
    for (int64_t i = begin; i < end; i++)
        screen_row_float32(s, i, (const float *)s->block + i * BLOCK);
}

static int by_column(const void *arg, int64_t a, int64_t b) {
    const mc_neighbour_search *s = arg;
    const int64_t x = s->candidate[a].at, y = s->candidate[b].at;
    return x < y ? -1 : x > y;
}

/* What is left of the candidates, as pairs in the order of columns; rows with too many go to the list. */
static int64_t list_pairs(mc_neighbour_search *s) {
    int64_t count = 0;
    for (int64_t i = 0; i < s->rows; i++) {
        if (s->held[i] > s->capacity) {
            s->list[s->listed++] = s->row + i;
            continue;
        }
        s->held[i] = prune_candidates(s->candidate + i * s->capacity, s->held[i], limit_of(s, s->heap + i * s->k));
        for (int64_t j = 0; j < s->held[i]; j++)
            s->order[count++] = i * s->capacity + j;
    }
    mc_sort(s->order, s->order + STRIP * s->capacity, count, by_column, s);
    for (int64_t k = 0; k < count; k++) {
        s->pair_row[k] = s->row + s->order[k] / s->capacity;
        s->pair_column[k] = s->candidate[s->order[k]].at;
    }
    return count;
}

/* The candidates of a row, which stand in the order of centres, choose again by their exact squares. */
static void choose_among_candidates(const mc_neighbour_search *s, int64_t i) {
    mc_neighbour *heap = s->heap + i * s->k, *list = s->candidate + i * s->capacity;
    for (int64_t j = 0; j < s->held[i]; j++) {
        to_squared_distances(s, s->own[s->row + i], s->diagonal + list[j].at, 1, &list[j].square);
        if (j < s->k)
            sift_up(heap, j, list[j]);
        else if (list[j].square < heap[0].square)
            sift_down(heap, s->k, list[j]);
    }
}

static mercer_status confirm_candidates(mercer_ctx *ctx, mc_neighbour_search *s) {
    const int64_t count = list_pairs(s);
    MC_TRY(mc_gram_pairs(ctx, s->gram, s->pair_row, s->pair_column, count, s->value));
    for (int64_t k = 0; k < count; k++)
        s->candidate[s->order[k]].square = s->value[k];
    for (int64_t i = 0; i < s->rows; i++)
        if (s->held[i] <= s->capacity)
            choose_among_candidates(s, i);
    if (s->listed > s->rows / 4)
        s->fast = NULL; /* it does not pay */
    return MERCER_OK;
}

static mercer_status search_by_floats(mercer_ctx *ctx, mc_neighbour_search *s) {
    const int64_t m = s->f->centres->n;
    memset(s->held, 0, (size_t)s->rows * sizeof *s->held);
    for (s->column = 0; s->column < m; s->column += BLOCK) {
        s->columns = m - s->column < BLOCK ? m - s->column : BLOCK;
        MC_TRY(mc_gram_block(ctx, s->fast, s->row, s->row + s->rows, s->column, s->column + s->columns, MERCER_F32,
                             s->block, BLOCK));
        MC_TRY(mc_for(ctx, s->rows, GRAIN, screen_rows, s));
    }
    return confirm_candidates(ctx, s);
}

/* ---- A strip ---- */

mercer_status mc_neighbour_search_strip(mercer_ctx *ctx, mc_neighbour_search *s) {
    s->listed = 0;
    if (s->fast)
        MC_TRY(search_by_floats(ctx, s));
    else
        for (; s->listed < s->rows; s->listed++)
            s->list[s->listed] = s->row + s->listed;
    return search_in_full(ctx, s);
}

double mc_neighbour_noise(const mc_gram *gram) {
    return 2 * mc_gram_entry_error(gram);
}

/* ---- Memory ---- */

/* Whether floats look first: entries that are long sums over full rows, few neighbours among many. */
static bool screening_pays(const mercer_kernel *kernel, const mercer_data *rows, const mercer_data *centres,
                           int64_t k) {
    const bool full = !rows->row_start && !centres->row_start && centres->d >= LONG;
    return full && k <= FEW && centres->n >= MANY && !mc_kernel_precomputed(kernel);
}

static int64_t candidates_for(int64_t k) {
    return 2 * k + 64;
}

void mc_neighbour_search_slices(mc_work *work, void *self) {
    mc_neighbour_search *s = self;
    const int64_t strip = s->n < STRIP ? s->n : STRIP;
    s->own = mc_work_take(work, s->n, 8);
    s->diagonal = mc_work_take(work, s->m, 8);
    s->block = mc_work_take(work, strip * BLOCK, 8);
    s->heap = mc_work_take(work, strip * s->k, sizeof(mc_neighbour));
    s->place = mc_work_take(work, strip, 8);
    s->list = mc_work_take(work, strip, 8);
    s->held = mc_work_take(work, strip, 8);
    s->candidate = mc_work_take(work, strip * s->capacity, sizeof(mc_neighbour));
    s->pair_row = mc_work_take(work, strip * s->capacity, 8);
    s->pair_column = mc_work_take(work, strip * s->capacity, 8);
    s->order = mc_work_take(work, 2 * STRIP * s->capacity, 8);
    s->value = mc_work_take(work, strip * s->capacity, 8);
}

mc_neighbour_search mc_neighbour_search_of(const mercer_kernel *kernel, const mercer_data *rows,
                                           const mercer_data *centres, int64_t k) {
    const bool floats = screening_pays(kernel, rows, centres, k);
    return (mc_neighbour_search){.n = rows->n, .m = centres->n, .k = k, .capacity = floats ? candidates_for(k) : 0};
}

size_t mc_neighbour_search_bytes(mercer_ctx *ctx, const mercer_kernel *kernel, const mercer_data *rows,
                                 const mercer_data *centres, int64_t k) {
    mc_neighbour_search s = mc_neighbour_search_of(kernel, rows, centres, k);
    return mc_slices_bytes(mc_neighbour_search_slices, &s) + mc_gram_bytes(ctx, kernel, rows, centres, MERCER_F64, 0)
           + (s.capacity ? mc_gram_bytes(ctx, kernel, rows, centres, MERCER_F32, 0) : 0);
}

/* ---- Operators ---- */

/* Rows of a matrix that lack k(x,x) get a number larger than any: which centres are nearest does not depend on it. */
static void fill_unknown(mc_neighbour_search *s, int64_t n) {
    const double beyond = 4 * mc_gram_entry_size(s->gram);
    for (int64_t i = 0; i < n; i++)
        s->own[i] = isnan(s->own[i]) ? beyond : s->own[i];
}

/* The operator in floats, unless memory is short or it would be none. */
static mercer_status open_fast(mercer_ctx *ctx, mc_neighbour_search *s, const mercer_data *rows, mc_gram **fast) {
    const size_t bytes = mc_gram_bytes(ctx, s->f->kernel, rows, s->f->centres, MERCER_F32, 0);
    double largest = 0;
    if (!s->capacity || bytes > mc_memory_left(ctx))
        return MERCER_OK;
    MC_TRY(mc_gram_open(ctx, s->f->kernel, rows, s->f->centres, MERCER_F32, fast));
    for (int64_t i = 0; i < rows->n; i++)
        largest = fmax(largest, s->own[i]);
    double other = 0;
    for (int64_t j = 0; j < s->f->centres->n; j++)
        other = fmax(other, s->diagonal[j]);
    const double rounding = 16 * DBL_EPSILON * (largest + other);
    const double d = 2 * (mc_gram_entry_error(*fast) + mc_gram_entry_error(s->gram)) + rounding;
    s->slack = 1.01 * (2 * d + s->noise + rounding);
    s->fast = mc_gram_precision(*fast) == MERCER_F32 && isfinite(s->slack) ? *fast : NULL;
    return MERCER_OK;
}

mercer_status mc_neighbour_search_open(mercer_ctx *ctx, mc_neighbour_search *s, const mercer_data *rows, mc_gram **gram,
                                       mc_gram **fast) {
    MC_TRY(mc_gram_open(ctx, s->f->kernel, rows, s->f->centres, MERCER_F64, gram));
    s->gram = *gram;
    s->noise = mc_neighbour_noise(*gram);
    fill_unknown(s, rows->n);
    return open_fast(ctx, s, rows, fast);
}
