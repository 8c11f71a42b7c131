/* nearest_body.c: the body of nearest.h for one instruction set; compiled once per set with ISA_TABLE naming it. The
   products of a panel with the rows stay in registers, and hardly ever is one below its limit: nothing is written. */
#include "backend/nearest.h"
#include <string.h>

#define INLINE static inline __attribute__((always_inline))

typedef float wide __attribute__((vector_size(64)));
enum { LANES = 16 };

#if defined(__AVX512F__)
#include <immintrin.h>
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

INLINE unsigned below(wide v, float limit) {
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

static void prune(const mc_nearest *s, int64_t r) {
    mc_candidate *list = s->list + r * s->capacity;
    int64_t left = 0;
    for (int64_t j = 0; j < s->capacity; j++)
        if (list[j].t < s->limit[r])
            list[left++] = list[j];
    s->held[r] = left;
}

static void offer(const mc_nearest *s, int64_t r, float t, int64_t at) {
    float *best = s->best + r * s->k;
    if (!(t < s->limit[r]))
        return;
    if (t < best[s->k - 1]) {
        int64_t j = s->k - 1;
        for (; j > 0 && best[j - 1] > t; j--)
            best[j] = best[j - 1];
        best[j] = t;
        s->limit[r] = best[s->k - 1] + s->slack[r];
    }
    if (s->held[r] == s->capacity)
        prune(s, r);
    if (s->held[r] < s->capacity)
        s->list[r * s->capacity + s->held[r]++] = (mc_candidate){t, (int32_t)at};
    else
        s->held[r] = s->capacity + 1;
}

/* ROWS rows from r on with PARTS vectors of points, the first of which is number at. */
INLINE void meet(const mc_nearest *s, const float *z, const float *norm, int64_t r, int64_t at) {
    wide t[ROWS][PARTS];
    for (int i = 0; i < ROWS; i++)
        for (int p = 0; p < PARTS; p++)
            t[i][p] = load_wide(norm + p * LANES);
    const float *x = s->x + r;
    for (int64_t j = 0; j < s->d; j++, z += MC_NEAREST_COLUMNS, x += MC_NEAREST_ROWS) {
        wide point[PARTS];
        for (int p = 0; p < PARTS; p++)
            point[p] = load_wide(z + p * LANES);
        for (int i = 0; i < ROWS; i++)
            for (int p = 0; p < PARTS; p++)
                t[i][p] += x[i] * point[p];
    }
    for (int64_t i = 0; i < ROWS && r + i < s->rows; i++)
        for (int p = 0; p < PARTS; p++)
            for (unsigned mask = below(t[i][p], s->limit[r + i]); mask; mask &= mask - 1) {
                const int q = __builtin_ctz(mask);
                offer(s, r + i, t[i][p][q], at + p * LANES + q);
            }
}

static void screen(const mc_nearest *s) {
    for (int64_t panel = s->from; panel < s->to; panel++) {
        const float *z = s->z + panel * s->d * MC_NEAREST_COLUMNS, *norm = s->norm + panel * MC_NEAREST_COLUMNS;
        for (int64_t part = 0; part < MC_NEAREST_COLUMNS; part += PARTS * LANES)
            for (int64_t r = 0; r < s->rows; r += ROWS)
                meet(s, z + part, norm + part, r, panel * MC_NEAREST_COLUMNS + part);
    }
}

mc_nearest_body *const ISA_TABLE = screen;
