/* sweep_isa.c: the bodies of sweep.h for one instruction set; compiled once per set with MC_SWEEP_BODY naming the table.

   Four rows of A and two columns are worked on at a time: an entry of A is loaded and widened once for up to four multiplications. Sums
   along a row run in eight lanes that are added in order at the end, whatever the width of the registers. */
#include "gram/sweep.h"
#include <string.h>

#define INLINE static inline __attribute__((always_inline))

enum { LANES = 8, ROWS = 4, COLUMNS = 2 };
typedef double lanes __attribute__((vector_size(64)));
typedef float narrow __attribute__((vector_size(32)));

INLINE lanes widened(const float *p) {
    narrow v;
    memcpy(&v, p, sizeof v);
    return __builtin_convertvector(v, lanes);
}

INLINE lanes at(const double *p) {
    lanes v;
    memcpy(&v, p, sizeof v);
    return v;
}

INLINE void put(double *p, lanes v) {
    memcpy(p, &v, sizeof v);
}

INLINE double sum(lanes v) {
    double s = v[0];
    for (int l = 1; l < LANES; l++)
        s += v[l];
    return s;
}

/* The last n % LANES entries of the rows, one by one. */
INLINE void finish(const mc_sweep *s, int64_t i, int rows, int64_t k, int columns, bool along, bool across) {
    for (int64_t j = s->n / LANES * LANES; j < s->n; j++)
        for (int r = 0; r < rows; r++)
            for (int c = 0; c < columns; c++) {
                const double a = (double)s->A[(i + r) * s->ld + j];
                if (along)
                    s->Y[(k + c) * s->ys + i + r] += a * s->V[(k + c) * s->vs + j];
                if (across)
                    s->Z[(k + c) * s->zs + j] += a * s->U[(k + c) * s->us + i + r];
            }
}

/* Rows i .. i + rows - 1 against columns k .. k + columns - 1. */
INLINE void strip(const mc_sweep *s, int64_t i, const int rows, int64_t k, const int columns, bool along, bool across) {
    lanes y[ROWS][COLUMNS] = {{{0}}}, u[ROWS][COLUMNS];
    for (int r = 0; r < rows && across; r++)
        for (int c = 0; c < columns; c++)
            u[r][c] = s->U[(k + c) * s->us + i + r] - (lanes){0};
    for (int64_t j = 0; j + LANES <= s->n; j += LANES) {
        lanes v[COLUMNS], z[COLUMNS];
        for (int c = 0; c < columns; c++) {
            v[c] = along ? at(s->V + (k + c) * s->vs + j) : (lanes){0};
            z[c] = across ? at(s->Z + (k + c) * s->zs + j) : (lanes){0};
        }
        for (int r = 0; r < rows; r++) {
            const lanes a = widened(s->A + (i + r) * s->ld + j);
            for (int c = 0; c < columns; c++) {
                if (along)
                    y[r][c] += a * v[c];
                if (across)
                    z[c] += a * u[r][c];
            }
        }
        for (int c = 0; c < columns && across; c++)
            put(s->Z + (k + c) * s->zs + j, z[c]);
    }
    for (int r = 0; r < rows && along; r++)
        for (int c = 0; c < columns; c++)
            s->Y[(k + c) * s->ys + i + r] += sum(y[r][c]);
    finish(s, i, rows, k, columns, along, across);
}

INLINE void sweep(const mc_sweep *s, bool along, bool across) {
    int64_t i = 0;
    for (; i + ROWS <= s->m; i += ROWS) {
        int64_t k = 0;
        for (; k + COLUMNS <= s->t; k += COLUMNS)
            strip(s, i, ROWS, k, COLUMNS, along, across);
        for (; k < s->t; k++)
            strip(s, i, ROWS, k, 1, along, across);
    }
    for (; i < s->m; i++)
        for (int64_t k = 0; k < s->t; k++)
            strip(s, i, 1, k, 1, along, across);
}

static void rows(const mc_sweep *s) {
    sweep(s, true, false);
}

static void columns(const mc_sweep *s) {
    sweep(s, false, true);
}

static void both(const mc_sweep *s) {
    sweep(s, true, true);
}

const mc_sweep_body MC_SWEEP_BODY = {rows, columns, both};
