/* sweep_isa.c: the bodies of sweep.h for one instruction set; compiled once per set with MC_SWEEP_BODY naming the table.

   Four rows of A and up to COLUMNS columns are worked on at a time, as the registers allow: an entry of A is loaded and widened once for
   twice as many multiplications. Sums along a row run in eight lanes that are added by halves at the end, whatever the width of the
   registers; neither they nor the sums across depend on how many columns go together. The first columns fetch the rows that follow. */
#include "gram/sweep.h"
#include <string.h>

#define INLINE static inline __attribute__((always_inline))

#if defined(__AVX512F__)
#include <immintrin.h>
enum { COLUMNS = 5 };
#else
enum { COLUMNS = 2 };
#endif
enum { LANES = 8, ROWS = 4 };
typedef double lanes __attribute__((vector_size(64)));
typedef double four __attribute__((vector_size(32)));
typedef double two __attribute__((vector_size(16)));
typedef float narrow __attribute__((vector_size(32)));

/* Compilers convert eight floats in two halves, which costs more than the multiplications. */
INLINE lanes widened(const float *p) {
#if defined(__AVX512F__)
    return (lanes)_mm512_cvtps_pd(_mm256_loadu_ps(p));
#else
    narrow v;
    memcpy(&v, p, sizeof v);
    return __builtin_convertvector(v, lanes);
#endif
}

/* Eight whole numbers of 16 bits as doubles. */
INLINE lanes widened_whole(const int16_t *p) {
#if defined(__AVX512F__)
    return (lanes)_mm512_cvtepi32_pd(_mm256_cvtepi16_epi32(_mm_loadu_si128((const __m128i *)(const void *)p)));
#else
    lanes v;
    for (int k = 0; k < LANES; k++)
        v[k] = (double)p[k];
    return v;
#endif
}

INLINE lanes at(const double *p) {
    lanes v;
    memcpy(&v, p, sizeof v);
    return v;
}

INLINE void put(double *p, lanes v) {
    memcpy(p, &v, sizeof v);
}

/* By halves. */
INLINE double sum(lanes v) {
    const four h = __builtin_shufflevector(v, v, 0, 1, 2, 3) + __builtin_shufflevector(v, v, 4, 5, 6, 7);
    const two q = __builtin_shufflevector(h, h, 0, 1) + __builtin_shufflevector(h, h, 2, 3);
    return q[0] + q[1];
}

/* The last n % LANES entries of the rows, one by one. */
INLINE void finish(const mc_sweep *s, int64_t i, int rows, int64_t k, int columns, bool along, bool across, bool fine) {
    for (int64_t j = s->n / LANES * LANES; j < s->n; j++)
        for (int r = 0; r < rows; r++)
            for (int c = 0; c < columns; c++) {
                const int64_t place = (i + r) * s->ld + j;
                const double a = (double)s->A[place] + (fine ? s->unit * (double)s->low[place] : 0);
                if (along)
                    s->Y[(k + c) * s->ys + i + r] += a * s->V[(k + c) * s->vs + j];
                if (across)
                    s->Z[(k + c) * s->zs + j] += a * s->U[(k + c) * s->us + i + r];
            }
}

/* Rows i .. i + rows - 1 against columns k .. k + columns - 1. */
INLINE void strip(const mc_sweep *s, int64_t i, const int rows, int64_t k, const int columns, bool along, bool across, bool fine) {
    lanes y[ROWS][COLUMNS] = {{{0}}}, u[ROWS][COLUMNS];
    const int64_t whole = s->n / LANES * LANES, vs = s->vs, zs = s->zs, ld = s->ld;
    const double *V = along ? s->V + k * vs : NULL;
    double *Z = across ? s->Z + k * zs : NULL;
    const float *A = s->A + i * ld;
    const int16_t *low = fine ? s->low + i * ld : NULL;
    for (int r = 0; r < rows && across; r++)
        for (int c = 0; c < columns; c++)
            u[r][c] = s->U[(k + c) * s->us + i + r] - (lanes){0};
    for (int64_t j = 0; j < whole; j += LANES) {
        lanes v[COLUMNS], z[COLUMNS];
        for (int c = 0; c < columns; c++) {
            v[c] = along ? at(V + c * vs + j) : (lanes){0};
            z[c] = across ? at(Z + c * zs + j) : (lanes){0};
        }
        for (int r = 0; r < rows; r++) {
            if (k == 0)
                __builtin_prefetch(A + (rows + r) * ld + j);
            const lanes high = widened(A + r * ld + j), a = fine ? high + s->unit * widened_whole(low + r * ld + j) : high;
            for (int c = 0; c < columns; c++) {
                if (along)
                    y[r][c] += a * v[c];
                if (across)
                    z[c] += a * u[r][c];
            }
        }
        for (int c = 0; c < columns && across; c++)
            put(Z + c * zs + j, z[c]);
    }
    for (int r = 0; r < rows && along; r++)
        for (int c = 0; c < columns; c++)
            s->Y[(k + c) * s->ys + i + r] += sum(y[r][c]);
    finish(s, i, rows, k, columns, along, across, fine);
}

/* Four rows against `columns` columns, a number that the compiler must know. */
INLINE void some_columns(const mc_sweep *s, int64_t i, int64_t k, int64_t columns, bool along, bool across, bool fine) {
    switch (columns) {
    case 1: strip(s, i, ROWS, k, 1, along, across, fine); break;
    case 2: strip(s, i, ROWS, k, 2, along, across, fine); break;
#if defined(__AVX512F__)
    case 3: strip(s, i, ROWS, k, 3, along, across, fine); break;
    case 4: strip(s, i, ROWS, k, 4, along, across, fine); break;
    default: strip(s, i, ROWS, k, 5, along, across, fine); break;
#endif
    }
}

/* Columns in as few parts as there must be, of about the same size. */
INLINE void sweep(const mc_sweep *s, bool along, bool across, bool fine) {
    int64_t i = 0;
    for (; i + ROWS <= s->m; i += ROWS)
        for (int64_t k = 0, parts = (s->t + COLUMNS - 1) / COLUMNS, width; parts > 0; k += width, parts--) {
            width = (s->t - k + parts - 1) / parts;
            some_columns(s, i, k, width, along, across, fine);
        }
    for (; i < s->m; i++)
        for (int64_t k = 0; k < s->t; k++)
            strip(s, i, 1, k, 1, along, across, fine);
}

static void rows(const mc_sweep *s) {
    sweep(s, true, false, false);
}

static void columns(const mc_sweep *s) {
    sweep(s, false, true, false);
}

static void both(const mc_sweep *s) {
    sweep(s, true, true, false);
}

static void fine_rows(const mc_sweep *s) {
    sweep(s, true, false, true);
}

static void fine_both(const mc_sweep *s) {
    sweep(s, true, true, true);
}

/* ---- Floats throughout ---- */

enum { WIDE = 16, FLUSH = 128 }; /* FLUSH: rows that a sum of floats across runs over */
typedef float wide __attribute__((vector_size(64)));
typedef float quarter __attribute__((vector_size(16)));

INLINE wide floats_at(const float *p) {
    wide v;
    memcpy(&v, p, sizeof v);
    return v;
}

/* By halves. */
INLINE double sum_floats(wide v) {
    const narrow h = __builtin_shufflevector(v, v, 0, 1, 2, 3, 4, 5, 6, 7) + __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15);
    const quarter q = __builtin_shufflevector(h, h, 0, 1, 2, 3) + __builtin_shufflevector(h, h, 4, 5, 6, 7);
    return (double)((q[0] + q[2]) + (q[1] + q[3]));
}

/* Rows i .. i + rows - 1 against columns k .. k + columns - 1; the sums across stay in z. */
INLINE void swift_strip(const mc_swift *s, int64_t i, const int rows, int64_t k, const int columns, float z[][MC_SWIFT_WIDTH]) {
    wide y[ROWS][COLUMNS] = {{{0}}}, u[ROWS][COLUMNS];
    const int64_t ld = s->ld, vs = s->vs;
    const float *A = s->A + i * ld, *V = s->V + k * vs;
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < columns; c++)
            u[r][c] = s->U[(k + c) * s->us + i + r] - (wide){0};
    for (int64_t j = 0; j < s->n; j += WIDE) {
        wide v[COLUMNS], sum[COLUMNS];
        for (int c = 0; c < columns; c++) {
            v[c] = floats_at(V + c * vs + j);
            sum[c] = floats_at(z[c] + j);
        }
        for (int r = 0; r < rows; r++) {
            if (k == 0)
                __builtin_prefetch(A + (rows + r) * ld + j);
            const wide a = floats_at(A + r * ld + j);
            for (int c = 0; c < columns; c++) {
                y[r][c] += a * v[c];
                sum[c] += a * u[r][c];
            }
        }
        for (int c = 0; c < columns; c++)
            memcpy(z[c] + j, &sum[c], sizeof sum[c]);
    }
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < columns; c++)
            s->Y[(k + c) * s->ys + i + r] += sum_floats(y[r][c]);
}

/* All rows against a number of columns that the compiler must know. */
INLINE void swift_columns(const mc_swift *s, int64_t k, const int columns) {
    float z[COLUMNS][MC_SWIFT_WIDTH];
    for (int64_t from = 0; from < s->m; from += FLUSH) {
        const int64_t end = from + FLUSH < s->m ? from + FLUSH : s->m;
        int64_t i = from;
        memset(z, 0, sizeof z);
        for (; i + ROWS <= end; i += ROWS)
            swift_strip(s, i, ROWS, k, columns, z);
        for (; i < end; i++)
            swift_strip(s, i, 1, k, columns, z);
        for (int c = 0; c < columns; c++)
            for (int64_t j = 0; j < s->n; j++)
                s->Z[(k + c) * s->zs + j] += (double)z[c][j];
    }
}

static void swift(const mc_swift *s) {
    for (int64_t k = 0, parts = (s->t + COLUMNS - 1) / COLUMNS, width; parts > 0; k += width, parts--) {
        width = (s->t - k + parts - 1) / parts;
        switch (width) {
        case 1: swift_columns(s, k, 1); break;
        case 2: swift_columns(s, k, 2); break;
#if defined(__AVX512F__)
        case 3: swift_columns(s, k, 3); break;
        case 4: swift_columns(s, k, 4); break;
        default: swift_columns(s, k, 5); break;
#endif
        }
    }
}

const mc_sweep_body MC_SWEEP_BODY = {rows, columns, both, fine_rows, fine_both, swift};
