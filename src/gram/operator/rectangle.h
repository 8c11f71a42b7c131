/* rectangle.h: a rectangle of K written out by tasks; what is below the diagonal of a symmetric K is copied from above
   it. */
#ifndef MC_GRAM_OPERATOR_RECTANGLE_H
#define MC_GRAM_OPERATOR_RECTANGLE_H

#include "gram/tile/strip.h"

enum {
    MC_BLOCK_COLUMN_PANELS = 40, /* of one task: rows are packed once for as many columns */
    MC_TURNED_SQUARE = 64        /* rows and columns turned over at once: both sides stay in the first cache */
};

/* What to write: rows[0 .. count-1] or i0 .. against columns j0 .. j1 - 1. */
typedef struct mc_rectangle {
    const mc_gram *gram;
    const int64_t *rows;
    int64_t i0, count, j0, j1, ld;
    mercer_dtype dtype;
    void *out;
    void *const *scattered; /* one place per row, in place of out and ld; NULL: none */
    int16_t *low;           /* what floats round off, in units of 1/per_unit, laid out as out is; NULL: it is lost */
    double per_unit;
    bool mirror; /* rows and columns are the same range: what is below the diagonal is copied from above */
    int64_t group_rows, column_tasks;
    mc_tile_workspace *space; /* per thread */
} mc_rectangle;

static inline double mc_tile_value_at(const mc_gram *g, const void *values, int64_t at) {
    return g->precision == MERCER_F32 ? (double)((const float *)values)[at] : ((const double *)values)[at];
}

/* Task (row group, run of columns), with the space of whoever computes it. */
void mc_rectangle_fill_task(const mc_rectangle *r, int64_t chunk, mc_tile_workspace *space);

void mc_rectangle_turn_square(const mc_rectangle *r, int64_t i, int64_t rows, int64_t j, int64_t columns);
/* The squares on the diagonal. */
void mc_rectangle_turn_diagonal(const mc_rectangle *r, int64_t begin, int64_t end);
/* Of mc_for, over rows. */
void mc_rectangle_turn_over(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread);
void mc_turn_doubles(const double *from, int64_t ld, int64_t rows, int64_t columns, double *to, int64_t to_ld);

#endif
