/* few_columns_body.c: the bodies of few_columns.h for one instruction set; compiled once per set with ISA_TABLE naming
   the table.

   Sums along a row run in as many lanes as a register has, which are added by halves at the end: four rows against up
   to COLUMNS columns at a time. Sums across take SPAN vectors of a row against as many columns. What is left of a row
   after the last whole vector is filled up with zeros. */
#include "backend/few_columns.h"
#include <string.h>

#define INLINE static inline __attribute__((always_inline))

#if defined(__AVX512F__)
#include <immintrin.h>
enum { LANES = 8, COLUMNS = 5, SPAN = 2, MOST = 64 };
#elif defined(__AVX2__)
#include <immintrin.h>
enum { LANES = 4, COLUMNS = 2, SPAN = 4, MOST = 12 };
#else
enum { LANES = 2, COLUMNS = 2, SPAN = 4, MOST = 4 };
#endif
enum { ROWS = 4 };
typedef double lanes __attribute__((vector_size(8 * LANES)));

INLINE lanes load_lanes(const double *p) {
    lanes v;
    memcpy(&v, p, sizeof v);
    return v;
}

/* As many as there are, then zeros. */
INLINE lanes load_some(const double *p, int64_t count) {
    if (count >= LANES)
        return load_lanes(p);
#if defined(__AVX512F__)
    return (lanes)_mm512_maskz_loadu_pd((__mmask8)((1u << count) - 1), p);
#elif defined(__AVX2__)
    return (lanes)_mm256_maskload_pd(p, _mm256_cmpgt_epi64(_mm256_set1_epi64x(count), _mm256_set_epi64x(3, 2, 1, 0)));
#else
    return (lanes){p[0]};
#endif
}

/* sum + a * b, in one rounding where there is an instruction for it: said here, for a compiler that may choose would
   choose otherwise for one row than for four. */
INLINE lanes add_product(lanes sum, lanes a, lanes b) {
#if defined(__AVX512F__)
    return (lanes)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)sum);
#elif defined(__AVX2__)
    return (lanes)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)sum);
#else
    return sum + a * b;
#endif
}

/* p <- p + sum, in as many places as there are. No lane of sum is picked by number: it would have to lie in memory. */
INLINE void add_some(double *p, int64_t count, lanes sum) {
    const lanes v = load_some(p, count) + sum;
    if (count >= LANES) {
        memcpy(p, &v, sizeof v);
        return;
    }
#if defined(__AVX512F__)
    _mm512_mask_storeu_pd(p, (__mmask8)((1u << count) - 1), (__m512d)v);
#elif defined(__AVX2__)
    _mm256_maskstore_pd(p, _mm256_cmpgt_epi64(_mm256_set1_epi64x(count), _mm256_set_epi64x(3, 2, 1, 0)), (__m256d)v);
#else
    p[0] = v[0];
#endif
}

/* By halves. */
INLINE double sum_lanes(lanes v) {
#if defined(__AVX512F__)
    return _mm512_reduce_add_pd((__m512d)v);
#elif defined(__AVX2__)
    const __m128d half = _mm256_castpd256_pd128(v) + _mm256_extractf128_pd(v, 1);
    return half[0] + half[1];
#else
    return v[0] + v[1];
#endif
}

/* ---- Along the rows ---- */

/* Rows i .. i + rows - 1 against columns k .. k + columns - 1. */
INLINE void strip_along(const mc_few_columns *p, int64_t i, const int rows, int64_t k, const int columns) {
    lanes y[ROWS][COLUMNS] = {{{0}}};
    const double *A = p->A + i * p->ld, *V = p->V + k * p->vs;
    for (int64_t j = 0; j < p->n; j += LANES) {
        lanes v[COLUMNS];
        for (int c = 0; c < columns; c++)
            v[c] = load_some(V + c * p->vs + j, p->n - j);
        for (int r = 0; r < rows; r++) {
            const lanes a = load_some(A + r * p->ld + j, p->n - j);
            for (int c = 0; c < columns; c++)
                y[r][c] = add_product(y[r][c], a, v[c]);
        }
    }
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < columns; c++)
            p->Y[(i + r) * p->ys + k + c] = sum_lanes(y[r][c]);
}

INLINE void rows_along(const mc_few_columns *p, int64_t k, const int columns) {
    int64_t i = 0;
    for (; i + ROWS <= p->m; i += ROWS)
        strip_along(p, i, ROWS, k, columns);
    for (; i < p->m; i++)
        strip_along(p, i, 1, k, columns);
}

/* ---- Across ---- */

/* Vectors from column j of A on, `span` of them, against columns k .. k + columns - 1 of U. */
INLINE void strip_across(const mc_few_columns *p, int64_t j, const int span, int64_t k, const int columns) {
    lanes z[COLUMNS][SPAN] = {{{0}}};
    const int64_t left = p->n - j;
    for (int64_t i = 0; i < p->m; i++) {
        lanes a[SPAN];
        for (int s = 0; s < span; s++)
            a[s] = load_some(p->A + i * p->ld + j + s * LANES, left - s * LANES);
        for (int c = 0; c < columns; c++) {
            const lanes u = p->U[i * p->us + k + c] - (lanes){0};
            for (int s = 0; s < span; s++)
                z[c][s] = add_product(z[c][s], a[s], u);
        }
    }
    for (int c = 0; c < columns; c++)
        for (int s = 0; s < span; s++)
            add_some(p->Z + (k + c) * p->zs + j + s * LANES, left - s * LANES, z[c][s]);
}

INLINE void rows_across(const mc_few_columns *p, int64_t k, const int columns) {
    int64_t j = 0;
    for (; j + SPAN * LANES <= p->n; j += SPAN * LANES)
        strip_across(p, j, SPAN, k, columns);
    for (; j < p->n; j += LANES)
        strip_across(p, j, 1, k, columns);
}

/* ---- A number of columns that the compiler must know ---- */

typedef void some_columns(const mc_few_columns *p, int64_t k);

#define OF_COLUMNS(count)                                                                                              \
    static void along_##count(const mc_few_columns *p, int64_t k) {                                                    \
        rows_along(p, k, count);                                                                                       \
    }                                                                                                                  \
    static void across_##count(const mc_few_columns *p, int64_t k) {                                                   \
        rows_across(p, k, count);                                                                                      \
    }

OF_COLUMNS(1)
OF_COLUMNS(2)
#if defined(__AVX512F__)
OF_COLUMNS(3)
OF_COLUMNS(4)
OF_COLUMNS(5)
static some_columns *const along[] = {along_1, along_2, along_3, along_4, along_5};
static some_columns *const across[] = {across_1, across_2, across_3, across_4, across_5};
#else
static some_columns *const along[] = {along_1, along_2};
static some_columns *const across[] = {across_1, across_2};
#endif

/* In as few parts as there must be, of about the same size. */
INLINE void in_parts(const mc_few_columns *p, some_columns *const *by_count) {
    int64_t parts = (p->t + COLUMNS - 1) / COLUMNS;
    for (int64_t k = 0, width; parts > 0; k += width, parts--) {
        width = (p->t - k + parts - 1) / parts;
        by_count[width - 1](p, k);
    }
}

static void multiply_rows(const mc_few_columns *p) {
    in_parts(p, along);
}

static void multiply_columns(const mc_few_columns *p) {
    in_parts(p, across);
}

const mc_few_columns_body ISA_TABLE = {multiply_rows, multiply_columns, MOST};
