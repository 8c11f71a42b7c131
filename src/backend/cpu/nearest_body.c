/* nearest_body.c: the body of nearest.h for one instruction set; compiled once per set with ISA_TABLE naming it. The
   products of a panel with the rows stay in registers, and hardly ever is one below its limit: nothing is written. */
#include "backend/nearest.h"
#include <string.h>

#define INLINE static inline __attribute__((always_inline))

typedef float wide __attribute__((vector_size(64)));
enum { LANES = 16 };

#if defined(__AVX__)
#include <immintrin.h>
#endif
#if defined(__AVX512F__)
enum { ROWS = 8, PARTS = 2 };
#else
enum { ROWS = 4, PARTS = 1 };
#endif
_Static_assert(MC_NEAREST_ROWS % ROWS == 0 && MC_NEAREST_COLUMNS % (PARTS * LANES) == 0, "whole blocks");

INLINE wide load_wide(const float *p) {
    wide v;
    memcpy(&v, p, sizeof v);
    return v;
}

INLINE unsigned lanes_below(wide v, float limit) {
#if defined(__AVX512F__)
    return _mm512_cmp_ps_mask((__m512)v, _mm512_set1_ps(limit), _CMP_LT_OQ);
#else
    unsigned mask = 0;
    int any = 0;
    for (int q = 0; q < LANES; q++)
        any |= v[q] < limit;
    for (int q = 0; any && q < LANES; q++)
        mask |= (unsigned)(v[q] < limit) << q;
    return mask;
#endif
}

static void prune_candidates(const mc_nearest *s, int64_t r) {
    mc_nearest_candidate *list = s->list + r * s->capacity;
    int64_t left = 0;
    for (int64_t j = 0; j < s->capacity; j++)
        if (list[j].t < s->limit[r])
            list[left++] = list[j];
    s->held[r] = left;
}

/* One more candidate of row r; the limit is moved by settle_candidates. */
INLINE void offer_candidate(const mc_nearest *s, int64_t r, float t, int64_t at) {
    float *best = s->best + r * s->k;
    int64_t j = s->k - 1;
    if (t < best[j]) {
        for (; j > 0 && best[j - 1] > t; j--)
            best[j] = best[j - 1];
        best[j] = t;
    }
    if (s->held[r] == s->capacity)
        prune_candidates(s, r);
    if (s->held[r] < s->capacity)
        s->list[r * s->capacity + s->held[r]++] = (mc_nearest_candidate){t, (int32_t)at};
    else
        s->held[r] = s->capacity + 1;
}

static void sort_nearest(const mc_nearest *s, int64_t r) {
    const float least = s->best[r * s->k + s->k - 1];
    s->limit[r] = s->differences ? least + s->grow * least + s->root[r] * __builtin_sqrtf(least) + s->slack[r]
                                 : least + s->slack[r];
}

/* The points of the mask, of which t are the squares and the first is number at, to row r. */
static void offer_all(const mc_nearest *s, int64_t r, const float *t, unsigned mask, int64_t at) {
    for (; mask; mask &= mask - 1) {
        const int q = __builtin_ctz(mask);
        offer_candidate(s, r, t[q], at + q);
    }
    sort_nearest(s, r);
}

/* So many rows from r on with PARTS vectors of points, the first of which is number at. */
INLINE void compare_points(const mc_nearest *s, const float *z, const float *norm, int64_t r, int rows, int64_t at,
                           bool differences) {
    wide t[ROWS][PARTS];
    for (int i = 0; i < rows; i++)
        for (int p = 0; p < PARTS; p++)
            t[i][p] = differences ? (wide){0} : load_wide(norm + p * LANES);
    const float *x = s->x + r;
    for (int64_t j = 0; j < s->d; j++, z += MC_NEAREST_COLUMNS, x += MC_NEAREST_ROWS) {
        wide point[PARTS];
        for (int p = 0; p < PARTS; p++)
            point[p] = load_wide(z + p * LANES);
        for (int i = 0; i < rows; i++)
            for (int p = 0; p < PARTS; p++)
                t[i][p] += differences ? (point[p] - x[i]) * (point[p] - x[i]) : x[i] * point[p];
    }
    for (int64_t i = 0; i < rows && r + i < s->rows; i++)
        for (int p = 0; p < PARTS; p++) {
            const unsigned mask = lanes_below(t[i][p], s->limit[r + i]);
            if (__builtin_expect(mask != 0, 0))
                offer_all(s, r + i, (const float *)&t[i][p], mask, at + p * LANES);
        }
}

INLINE void compare_panel(const mc_nearest *s, int64_t panel, bool differences) {
    const float *z = s->z + panel * s->d * MC_NEAREST_COLUMNS, *norm = s->norm + panel * MC_NEAREST_COLUMNS;
    for (int64_t part = 0; part < MC_NEAREST_COLUMNS; part += PARTS * LANES)
        for (int64_t r = 0; r < s->rows; r += ROWS)
            compare_points(s, z + part, norm + part, r, ROWS, panel * MC_NEAREST_COLUMNS + part, differences);
}

/* ---- The tree ---- */

typedef float each __attribute__((vector_size(4 * MC_NEAREST_ROWS))); /* one number for each row */

typedef struct branch {
    each gap; /* the square of the distance to its box, of every row */
    int64_t node, from, to;
} branch;

INLINE each load_each(const float *p) {
    each v;
    memcpy(&v, p, sizeof v);
    return v;
}

INLINE each larger_of(each a, each b) {
#if defined(__AVX__)
    return (each)_mm256_max_ps((__m256)a, (__m256)b);
#else
    for (int i = 0; i < MC_NEAREST_ROWS; i++)
        a[i] = a[i] > b[i] ? a[i] : b[i];
    return a;
#endif
}

/* The rows for which it is near enough, a bit each. */
INLINE unsigned rows_within(each gap, each limit) {
#if defined(__AVX__)
    return (unsigned)_mm256_movemask_ps(_mm256_cmp_ps((__m256)gap, (__m256)limit, _CMP_LE_OQ));
#else
    unsigned mask = 0;
    for (int i = 0; i < MC_NEAREST_ROWS; i++)
        mask |= (unsigned)(gap[i] <= limit[i]) << i;
    return mask;
#endif
}

INLINE branch look_at(const mc_nearest *s, int64_t node, int64_t from, int64_t to) {
    const float *low = s->box + 2 * s->d * node, *high = low + s->d;
    branch b = {.node = node, .from = from, .to = to};
    for (int64_t j = 0; j < s->d; j++) {
        const each x = load_each(s->x + j * MC_NEAREST_ROWS),
                   gap = larger_of(larger_of(low[j] - x, x - high[j]), (each){0});
        b.gap += gap * gap;
    }
    return b;
}

INLINE float sum_of_lanes(each v) {
    float sum = 0;
    for (int i = 0; i < MC_NEAREST_ROWS; i++)
        sum += v[i];
    return sum;
}

/* A panel with all rows, or, where few of them are near, with these. */
INLINE void compare_leaf(const mc_nearest *s, int64_t panel, unsigned rows) {
    const float *z = s->z + panel * s->d * MC_NEAREST_COLUMNS;
    if (__builtin_popcount(rows) > MC_NEAREST_ROWS / 2) {
        compare_panel(s, panel, true);
        return;
    }
    for (; rows; rows &= rows - 1)
        for (int64_t part = 0; part < MC_NEAREST_COLUMNS; part += PARTS * LANES)
            compare_points(s, z + part, NULL, __builtin_ctz(rows), 1, panel * MC_NEAREST_COLUMNS + part, true);
}

/* The nearer half first: what it holds rules out more of the other. */
static int64_t walk_tree(const mc_nearest *s) {
    branch todo[64];
    int count = 0;
    int64_t met = 0;
    todo[count++] = look_at(s, 1, s->from, s->to);
    while (count > 0) {
        const branch b = todo[--count];
        const unsigned rows = rows_within(b.gap, load_each(s->limit));
        if (!rows)
            continue;
        if (b.to - b.from == 1) {
            compare_leaf(s, b.from, rows);
            met += __builtin_popcount(rows);
            continue;
        }
        const int64_t middle = (b.from + b.to) / 2;
        const branch left = look_at(s, 2 * b.node, b.from, middle), right = look_at(s, 2 * b.node + 1, middle, b.to);
        const bool first = sum_of_lanes(left.gap) <= sum_of_lanes(right.gap);
        todo[count++] = first ? right : left;
        todo[count++] = first ? left : right;
    }
    return met;
}

static int64_t screen_rows(const mc_nearest *s) {
    if (s->box)
        return walk_tree(s);
    if (s->differences)
        for (int64_t panel = s->from; panel < s->to; panel++)
            compare_panel(s, panel, true);
    else
        for (int64_t panel = s->from; panel < s->to; panel++)
            compare_panel(s, panel, false);
    return s->rows * (s->to - s->from);
}

mc_nearest_body *const ISA_TABLE = screen_rows;
