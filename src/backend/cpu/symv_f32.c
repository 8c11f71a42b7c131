/* symv_f32.c: the bodies of symv_f32.h for one instruction set; compiled once per set with ISA_TABLE naming the table.

   Four rows of A and up to COLUMNS columns are worked on at a time, as the registers allow: an entry of A is loaded and
   widened once for twice as many multiplications. Sums along a row run in eight lanes that are added by halves at the
   end, whatever the width of the registers; neither they nor the sums across depend on how many columns go together.
   The first columns fetch the rows that follow. */
#include "backend/symv_f32.h"
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
INLINE lanes widen_floats(const float *p) {
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

INLINE lanes load_lanes(const double *p) {
    lanes v;
    memcpy(&v, p, sizeof v);
    return v;
}

INLINE void store_lanes(double *p, lanes v) {
    memcpy(p, &v, sizeof v);
}

/* By halves. */
INLINE double sum_lanes(lanes v) {
    const four h = __builtin_shufflevector(v, v, 0, 1, 2, 3) + __builtin_shufflevector(v, v, 4, 5, 6, 7);
    const two q = __builtin_shufflevector(h, h, 0, 1) + __builtin_shufflevector(h, h, 2, 3);
    return q[0] + q[1];
}

/* The sums of four vectors, each by halves. */
INLINE four sums_of(lanes a, lanes b, lanes c, lanes d) {
    const lanes ab = __builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11)
                     + __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15);
    const lanes cd = __builtin_shufflevector(c, d, 0, 1, 2, 3, 8, 9, 10, 11)
                     + __builtin_shufflevector(c, d, 4, 5, 6, 7, 12, 13, 14, 15);
    const lanes twos = __builtin_shufflevector(ab, cd, 0, 1, 4, 5, 8, 9, 12, 13)
                       + __builtin_shufflevector(ab, cd, 2, 3, 6, 7, 10, 11, 14, 15);
    return __builtin_shufflevector(twos, twos, 0, 2, 4, 6) + __builtin_shufflevector(twos, twos, 1, 3, 5, 7);
}

INLINE void add_four(double *y, four sums) {
    four v;
    memcpy(&v, y, sizeof v);
    v += sums;
    memcpy(y, &v, sizeof v);
}

/* The last n % LANES entries of the rows, one by one. */
INLINE void multiply_last_columns(const mc_symv_f32 *s, int64_t i, int rows, int64_t k, int columns, bool along,
                                  bool across, bool split) {
    for (int64_t j = s->n / LANES * LANES; j < s->n; j++)
        for (int r = 0; r < rows; r++)
            for (int c = 0; c < columns; c++) {
                const int64_t place = (i + r) * s->ld + j;
                const double a = (double)s->A[place] + (split ? s->unit * (double)s->low[place] : 0);
                if (along)
                    s->Y[(k + c) * s->ys + i + r] += a * s->V[(k + c) * s->vs + j];
                if (across)
                    s->Z[(k + c) * s->zs + j] += a * s->U[(k + c) * s->us + i + r];
            }
}

/* Rows i .. i + rows - 1 against columns k .. k + columns - 1. */
INLINE void multiply_row_strip(const mc_symv_f32 *s, int64_t i, const int rows, int64_t k, const int columns,
                               bool along, bool across, bool split) {
    lanes y[ROWS][COLUMNS] = {{{0}}}, u[ROWS][COLUMNS];
    const int64_t whole = s->n / LANES * LANES, vs = s->vs, zs = s->zs, ld = s->ld;
    const double *V = along ? s->V + k * vs : NULL;
    double *Z = across ? s->Z + k * zs : NULL;
    const float *A = s->A + i * ld;
    const int16_t *low = split ? s->low + i * ld : NULL;
    for (int r = 0; r < rows && across; r++)
        for (int c = 0; c < columns; c++)
            u[r][c] = s->U[(k + c) * s->us + i + r] - (lanes){0};
    for (int64_t j = 0; j < whole; j += LANES) {
        lanes v[COLUMNS], z[COLUMNS];
        for (int c = 0; c < columns; c++) {
            v[c] = along ? load_lanes(V + c * vs + j) : (lanes){0};
            z[c] = across ? load_lanes(Z + c * zs + j) : (lanes){0};
        }
        for (int r = 0; r < rows; r++) {
            if (k == 0)
                __builtin_prefetch(A + (rows + r) * ld + j);
            const lanes high = widen_floats(A + r * ld + j),
                        a = split ? high + s->unit * widened_whole(low + r * ld + j) : high;
            for (int c = 0; c < columns; c++) {
                if (along)
                    y[r][c] += a * v[c];
                if (across)
                    z[c] += a * u[r][c];
            }
        }
        for (int c = 0; c < columns && across; c++)
            store_lanes(Z + c * zs + j, z[c]);
    }
    for (int c = 0; c < columns && along; c++)
        if (rows == ROWS)
            add_four(s->Y + (k + c) * s->ys + i, sums_of(y[0][c], y[1][c], y[2][c], y[3][c]));
        else
            s->Y[(k + c) * s->ys + i] += sum_lanes(y[0][c]);
    multiply_last_columns(s, i, rows, k, columns, along, across, split);
}

/* Four rows against `columns` columns, a number that the compiler must know. */
INLINE void some_columns(const mc_symv_f32 *s, int64_t i, int64_t k, int64_t columns, bool along, bool across,
                         bool split) {
    switch (columns) {
    case 1: multiply_row_strip(s, i, ROWS, k, 1, along, across, split); break;
    case 2: multiply_row_strip(s, i, ROWS, k, 2, along, across, split); break;
#if defined(__AVX512F__)
    case 3: multiply_row_strip(s, i, ROWS, k, 3, along, across, split); break;
    case 4: multiply_row_strip(s, i, ROWS, k, 4, along, across, split); break;
    default: multiply_row_strip(s, i, ROWS, k, 5, along, across, split); break;
#endif
    }
}

/* Columns in as few parts as there must be, of about the same size. */
INLINE void multiply_block(const mc_symv_f32 *s, bool along, bool across, bool split) {
    int64_t i = 0;
    for (; i + ROWS <= s->m; i += ROWS)
        for (int64_t k = 0, parts = (s->t + COLUMNS - 1) / COLUMNS, width; parts > 0; k += width, parts--) {
            width = (s->t - k + parts - 1) / parts;
            some_columns(s, i, k, width, along, across, split);
        }
    for (; i < s->m; i++)
        for (int64_t k = 0; k < s->t; k++)
            multiply_row_strip(s, i, 1, k, 1, along, across, split);
}

static void multiply_along(const mc_symv_f32 *s) {
    multiply_block(s, true, false, false);
}

static void multiply_across(const mc_symv_f32 *s) {
    multiply_block(s, false, true, false);
}

static void multiply_both(const mc_symv_f32 *s) {
    multiply_block(s, true, true, false);
}

static void multiply_split_along(const mc_symv_f32 *s) {
    multiply_block(s, true, false, true);
}

static void multiply_split_both(const mc_symv_f32 *s) {
    multiply_block(s, true, true, true);
}

/* ---- Floats throughout ----

   Here memory takes about as long as the multiplications. Blocks of BLOCK rows stay in the first cache while all
   columns meet them, sums along rows first, then sums across; meanwhile the lines of the next block are asked for one
   by one, so that memory is never idle. */

enum {
    WIDE = 16,   /* floats of a vector, and of a line of the cache */
    FLUSH = 128, /* rows that a sum of floats across runs over */
    BLOCK = 16,
    FEW = 8,                     /* rows of a block; where one part has all columns, and memory has them wait anyway */
    SPAN = COLUMNS == 5 ? 4 : 2, /* vectors that sums across take at a time */
    COLUMNS_AT_ONCE = 10         /* columns, at most */
};
typedef float wide __attribute__((vector_size(64)));
typedef float quarter __attribute__((vector_size(16)));

INLINE wide floats_at(const float *p) {
    wide v;
    memcpy(&v, p, sizeof v);
    return v;
}

/* By halves. */
INLINE double sum_floats(wide v) {
    const narrow h = __builtin_shufflevector(v, v, 0, 1, 2, 3, 4, 5, 6, 7)
                     + __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15);
    const quarter q = __builtin_shufflevector(h, h, 0, 1, 2, 3) + __builtin_shufflevector(h, h, 4, 5, 6, 7);
    return (double)((q[0] + q[2]) + (q[1] + q[3]));
}

/* The halves of two vectors added up. */
INLINE wide add_halves(wide a, wide b) {
    return __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23)
           + __builtin_shufflevector(a, b, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31);
}

/* sum_floats of four vectors. */
INLINE four sums_of_floats(wide a, wide b, wide c, wide d) {
    const wide ab = add_halves(a, b), cd = add_halves(c, d);
    const wide fours = __builtin_shufflevector(ab, cd, 0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27)
                       + __builtin_shufflevector(ab, cd, 4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31);
    const wide twos =
        fours + __builtin_shufflevector(fours, fours, 2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13);
    const wide ones = twos + __builtin_shufflevector(twos, twos, 1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14);
    return __builtin_convertvector((quarter)__builtin_shufflevector(ones, ones, 0, 4, 8, 12), four);
}

INLINE int64_t block_of(int64_t columns) {
    return columns <= COLUMNS ? FEW : BLOCK;
}

/* Some rows, some columns, and the sums across of these. */
typedef struct reduced_task {
    const mc_symv_fast *s;
    int64_t i0, i1, k;
    float (*z)[MC_SYMV_FAST_WIDTH];
} reduced_task;

INLINE void reduced_along(const reduced_task *t, int64_t i, const int rows, const int columns) {
    wide y[ROWS][COLUMNS] = {{{0}}};
    const mc_symv_fast *s = t->s;
    const float *A = s->A + i * s->ld, *V = s->V + t->k * s->vs;
    for (int64_t j = 0; j < s->n; j += WIDE) {
        wide v[COLUMNS];
        for (int c = 0; c < columns; c++)
            v[c] = floats_at(V + c * s->vs + j);
        for (int r = 0; r < rows; r++) {
            const wide a = floats_at(A + r * s->ld + j);
            for (int c = 0; c < columns; c++)
                y[r][c] += a * v[c];
        }
    }
    for (int c = 0; c < columns; c++)
        if (rows == ROWS)
            add_four(s->Y + (t->k + c) * s->ys + i, sums_of_floats(y[0][c], y[1][c], y[2][c], y[3][c]));
        else
            s->Y[(t->k + c) * s->ys + i] += sum_floats(y[0][c]);
}

INLINE void reduced_across(const reduced_task *t, int64_t j, const int width, const int columns) {
    wide z[SPAN][COLUMNS];
    const mc_symv_fast *s = t->s;
    const float *U = s->U + t->k * s->us;
    for (int p = 0; p < width; p++)
        for (int c = 0; c < columns; c++)
            z[p][c] = floats_at(t->z[c] + j + p * WIDE);
    for (int64_t i = t->i0; i < t->i1; i++) {
        wide a[SPAN];
        for (int p = 0; p < width; p++)
            a[p] = floats_at(s->A + i * s->ld + j + p * WIDE);
        for (int c = 0; c < columns; c++)
            for (int p = 0; p < width; p++)
                z[p][c] += a[p] * U[c * s->us + i];
    }
    for (int p = 0; p < width; p++)
        for (int c = 0; c < columns; c++)
            memcpy(t->z[c] + j + p * WIDE, &z[p][c], sizeof z[p][c]);
}

INLINE void reduced_block(const reduced_task *t, const int columns) {
    int64_t i = t->i0, j = 0;
    for (; i + ROWS <= t->i1; i += ROWS)
        reduced_along(t, i, ROWS, columns);
    for (; i < t->i1; i++)
        reduced_along(t, i, 1, columns);
    for (; j + SPAN * WIDE <= t->s->n; j += SPAN * WIDE)
        reduced_across(t, j, SPAN, columns);
    for (; j < t->s->n; j += WIDE)
        reduced_across(t, j, 1, columns);
}

/* A number of columns that the compiler must know. */
INLINE void reduced_columns(const reduced_task *t, int64_t columns) {
    switch (columns) {
    case 1: reduced_block(t, 1); break;
    case 2: reduced_block(t, 2); break;
#if defined(__AVX512F__)
    case 3: reduced_block(t, 3); break;
    case 4: reduced_block(t, 4); break;
    default: reduced_block(t, 5); break;
#endif
    }
}

/* Rows i0 .. i1 - 1 against columns k .. k + count - 1. */
INLINE void reduced_rows(const mc_symv_fast *s, int64_t i0, int64_t i1, int64_t k, int64_t count,
                         float z[][MC_SYMV_FAST_WIDTH]) {
    int64_t parts = (count + COLUMNS - 1) / COLUMNS;
    for (int64_t done = 0, width; parts > 0; done += width, parts--) {
        width = (count - done + parts - 1) / parts;
        reduced_columns(&(reduced_task){s, i0, i1, k + done, z + done}, width);
    }
}

static void reduced_pass(const mc_symv_fast *s, int64_t k, int64_t count) {
    float z[COLUMNS_AT_ONCE][MC_SYMV_FAST_WIDTH];
    for (int64_t from = 0; from < s->m; from += FLUSH) {
        const int64_t end = from + FLUSH < s->m ? from + FLUSH : s->m;
        memset(z, 0, (size_t)count * sizeof z[0]);
        for (int64_t i = from, block = block_of(count); i < end; i += block)
            reduced_rows(s, i, i + block < end ? i + block : end, k, count, z);
        for (int64_t c = 0; c < count; c++)
            for (int64_t j = 0; j < s->n; j++)
                s->Z[(k + c) * s->zs + j] += (double)z[c][j];
    }
}

static void multiply_reduced(const mc_symv_fast *s) {
    for (int64_t k = 0, times = (s->t + COLUMNS_AT_ONCE - 1) / COLUMNS_AT_ONCE, count; times > 0; k += count, times--) {
        count = (s->t - k + times - 1) / times;
        reduced_pass(s, k, count);
    }
}

const mc_symv_f32_body ISA_TABLE = {multiply_along,       multiply_across,     multiply_both,
                                    multiply_split_along, multiply_split_both, multiply_reduced};
