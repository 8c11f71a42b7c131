/* rectangle.c: see rectangle.h. */
#include "gram/operator/rectangle.h"
#include "base/parallel.h"
#include "gram/operator/entry_fault.h"
#include <math.h>
#include <string.h>

/* The number of row i of a rectangle in K. */
static int64_t row_of(const mc_rectangle *r, int64_t i) {
    return r->rows ? r->rows[i] : r->i0 + i;
}

/* n doubles as floats, from column j0 + at on; what floats cannot hold is a fault. */
static void narrow_run(const mc_rectangle *r, int64_t i, int64_t at, const double *values, int64_t n, float *out) {
    for (int64_t k = 0; k < n; k++)
        out[k] = (float)values[k];
    for (int64_t k = 0; r->gram->fault && k < n; k++)
        if (!isfinite(out[k]))
            mc_fault_note(r->gram, row_of(r, i), r->j0 + at + k);
}

/* A few hundred bytes: a call of a library would cost as much as they do. */
static inline void copy_bytes(char *to, const char *from, int64_t bytes) {
    int64_t at = 0;
    for (; at + 64 <= bytes; at += 64)
        memcpy(to + at, from + at, 64);
    if (at < bytes)
        memcpy(to + at, from + at, (size_t)(bytes - at));
}

static char *row_place(const mc_rectangle *r, int64_t i) {
    return r->scattered ? r->scattered[i] : (char *)r->out + i * r->ld * (int64_t)(r->dtype == MERCER_F64 ? 8 : 4);
}

/* n reals to row i of out from column at on, in its own type. */
static void copy_run(const mc_rectangle *r, int64_t i, int64_t at, const void *values, int64_t from, int64_t n) {
    const int64_t size = mc_real_size(r->gram);
    char *row = row_place(r, i);
    if (r->gram->precision == r->dtype)
        copy_bytes(row + at * size, (const char *)values + from * size, n * size);
    else if (r->dtype == MERCER_F64)
        for (int64_t k = 0; k < n; k++)
            ((double *)(void *)row)[at + k] = (double)((const float *)values)[from + k];
    else
        narrow_run(r, i, at, (const double *)values + from, n, (float *)(void *)row + at);
}

/* n doubles as floats and what these round off. */
static void split_run(const mc_rectangle *r, int64_t at, const double *values, int64_t n) {
    float *high = (float *)r->out + at;
    int16_t *low = r->low + at;
    for (int64_t k = 0; k < n; k++) {
        high[k] = (float)values[k];
        low[k] = (int16_t)(int32_t)((values[k] - (double)high[k]) * r->per_unit);
    }
}

typedef struct rows_written {
    const mc_rectangle *mc_rectangle;
    int64_t begin; /* place of the first loaded row in the rectangle */
} rows_written;

/* The lanes of one row of the strip, k of its group, to row i; what the mirror gives is left out. A panel that is whole
   and of the type of out, as most are, is copied and nothing asked. */
static void write_row(const mc_rectangle *r, const mc_strip *strip, int64_t k, int64_t i) {
    const int64_t rows = r->gram->ops->rows, width = r->gram->ops->columns, base = strip->panel * width;
    const int64_t least = r->mirror && !r->low && r->i0 + i > r->j0 ? r->i0 + i : r->j0;
    const int64_t size = mc_real_size(r->gram);
    const bool plain = !r->low && r->gram->precision == r->dtype;
    char *row = row_place(r, i);
    for (int64_t p = least > base ? (least - base) / width : 0; p < strip->panels; p++) {
        const int64_t first = base + p * width, j = first > least ? first : least,
                      end = first + width < r->j1 ? first + width : r->j1, from = (p * rows + k) * width + j - first;
        if (plain && end - j == width)
            copy_bytes(row + (j - r->j0) * size, (const char *)strip->values + from * size, width * size);
        else if (r->low)
            split_run(r, i * r->ld + j - r->j0, (const double *)strip->values + from, end - j);
        else if (j < end)
            copy_run(r, i, j - r->j0, strip->values, from, end - j);
    }
}

static void write_strip(void *arg, const mc_strip *strip) {
    const rows_written *w = arg;
    const int64_t rows = w->mc_rectangle->gram->ops->rows;
    for (int64_t k = 0; k < rows && strip->group * rows + k < strip->space->count; k++)
        write_row(w->mc_rectangle, strip, k, w->begin + strip->group * rows + k);
}

/* Task (row group, run of columns), with the space of whoever computes it. */
void mc_rectangle_fill_task(const mc_rectangle *r, int64_t chunk, mc_tile_workspace *space) {
    const mc_gram *g = r->gram;
    const int64_t width = g->ops->columns, first = chunk / r->column_tasks * r->group_rows;
    const int64_t count = first + r->group_rows < r->count ? r->group_rows : r->count - first;
    int64_t p0 = r->j0 / width + chunk % r->column_tasks * MC_BLOCK_COLUMN_PANELS;
    const int64_t last = mc_chunk_count(r->j1, width),
                  p1 = p0 + MC_BLOCK_COLUMN_PANELS < last ? p0 + MC_BLOCK_COLUMN_PANELS : last;
    if (r->mirror && p0 < (r->i0 + first) / width)
        p0 = (r->i0 + first) / width;
    if (p0 >= p1)
        return;
    mc_tile_workspace_rows(g, space, r->rows ? r->rows + first : NULL, r->i0 + first, count);
    rows_written w = {.mc_rectangle = r, .begin = first};
    mc_tile_workspace_walk(g, space, 0, space->groups, p0, p1, write_strip, &w);
}

/* ---- The other side of the diagonal ---- */

typedef double two_doubles __attribute__((vector_size(16)));
typedef float two_floats __attribute__((vector_size(8)));

static void turn_two_doubles(const double *from, int64_t ld, double *to, int64_t to_ld) {
    two_doubles x, y;
    memcpy(&x, from, sizeof x);
    memcpy(&y, from + ld, sizeof y);
    const two_doubles first = __builtin_shufflevector(x, y, 0, 2), second = __builtin_shufflevector(x, y, 1, 3);
    memcpy(to, &first, sizeof first);
    memcpy(to + to_ld, &second, sizeof second);
}

/* to[b * to_ld + a] <- from[a * ld + b], two by two; what two do not divide, one by one. */
void mc_turn_doubles(const double *from, int64_t ld, int64_t rows, int64_t columns, double *to, int64_t to_ld) {
    for (int64_t b = 0; b + 2 <= columns; b += 2)
        for (int64_t a = 0; a + 2 <= rows; a += 2)
            turn_two_doubles(from + a * ld + b, ld, to + b * to_ld + a, to_ld);
    for (int64_t b = 0; rows % 2 && b < columns; b++)
        to[b * to_ld + rows - 1] = from[(rows - 1) * ld + b];
    for (int64_t a = 0; columns % 2 && a < rows; a++)
        to[(columns - 1) * to_ld + a] = from[a * ld + columns - 1];
}

static void turn_two_floats(const float *from, float *to, int64_t ld) {
    two_floats x, y;
    memcpy(&x, from, sizeof x);
    memcpy(&y, from + ld, sizeof y);
    const two_floats first = __builtin_shufflevector(x, y, 0, 2), second = __builtin_shufflevector(x, y, 1, 3);
    memcpy(to, &first, sizeof first);
    memcpy(to + ld, &second, sizeof second);
}

static void turn_one(const mc_rectangle *r, int64_t i, int64_t j) {
    if (r->dtype == MERCER_F64)
        ((double *)r->out)[j * r->ld + i] = ((const double *)r->out)[i * r->ld + j];
    else
        ((float *)r->out)[j * r->ld + i] = ((const float *)r->out)[i * r->ld + j];
}

/* Rows i .. i + rows - 1 and columns j .. of a square above the diagonal. */
void mc_rectangle_turn_square(const mc_rectangle *r, int64_t i, int64_t rows, int64_t j, int64_t columns) {
    const int64_t ld = r->ld;
    if (r->dtype == MERCER_F64) {
        mc_turn_doubles((const double *)r->out + i * ld + j, ld, rows, columns, (double *)r->out + j * ld + i, ld);
        return;
    }
    for (int64_t b = j; b + 2 <= j + columns; b += 2)
        for (int64_t a = i; a + 2 <= i + rows; a += 2)
            turn_two_floats((const float *)r->out + a * ld + b, (float *)r->out + b * ld + a, ld);
    for (int64_t b = j; rows % 2 && b < j + columns; b++)
        turn_one(r, i + rows - 1, b);
    for (int64_t a = i; columns % 2 && a < i + rows; a++)
        turn_one(r, a, j + columns - 1);
}

/* The square on the diagonal itself. */
void mc_rectangle_turn_diagonal(const mc_rectangle *r, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++)
        for (int64_t j = i + 1; j < end; j++)
            turn_one(r, i, j);
}

/* Rows begin .. end-1 below the diagonal, from the columns above it. */
void mc_rectangle_turn_over(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk, (void)thread;
    const mc_rectangle *r = arg;
    for (int64_t i = 0; i < begin; i += MC_TURNED_SQUARE)
        mc_rectangle_turn_square(r, i, i + MC_TURNED_SQUARE < begin ? MC_TURNED_SQUARE : begin - i, begin, end - begin);
    mc_rectangle_turn_diagonal(r, begin, end);
}
