/* multiply.h: one task of a product K V: a block of rows against a run of columns. */
#ifndef MC_GRAM_TILE_MULTIPLY_H
#define MC_GRAM_TILE_MULTIPLY_H

#include "gram/tile/strip.h"
#include <stdatomic.h>

enum {
    MC_SINGLES = 4,       /* up to here each right-hand side is taken on its own */
    MC_RHS_VECTORS = 6,   /* times the lanes: right-hand sides that are taken at a time */
    MC_BLOCK_PANELS = 40, /* columns whose row sums stay in the tile's precision; of a block, at most */
    MC_GROUPS_SUMMED = 60 /* groups of rows whose column sums stay in the tile's precision */
};
#define MC_BLOCK_CACHE (1 << 20) /* bytes of packed rows of a block */

/* What all tasks of a product share. */
typedef struct mc_product {
    const mc_gram *g;
    /* right-hand sides at a time, and how many reals apart rows of them are: singles keep columns apart */
    int64_t t, stride;
    bool many;
    bool share; /* ranks share the tasks */
    int64_t ld; /* of V and Y */
    const double *V;
    double *Y;
    double *unscale;                      /* per right-hand side */
    char *w;                              /* V in the tile's precision: t vectors, or rows of `stride` reals */
    int64_t length;                       /* of a vector */
    int64_t rows_each, blocks, rounds_of; /* rows of a block; blocks; blocks rounded up to even */
    int64_t ranges, range_panels;         /* rectangular: ranges of columns */
    double *partial;                      /* rectangular with several ranges: ranges x n x t */
    atomic_llong *turn;                   /* symmetric: rounds that each block has had */
    mc_tile_workspace *space;             /* per thread */
    char *buffers;                        /* per thread */
    int64_t buffer_bytes;
} mc_product;

/* One thread's sums for one task: in double, t x block, and in the tile's precision: rows t x block x lanes and columns
   t x block, or with many right-hand sides both block x stride. Those in the tile's precision are 0 whenever no task
   runs. */
typedef struct mc_product_sums {
    double *rows, *columns;
    char *rows_real, *columns_real;
} mc_product_sums;

/* Rows i0 .. i0 + count - 1 against panels p0 .. p1 - 1; column sums too when symmetric. */
typedef struct mc_product_task {
    const mc_product *p;
    mc_tile_workspace *space;
    mc_product_sums s;
    int64_t i0, count, p0, p1;
    bool symmetric;
} mc_product_task;

/* Reals from one row of t right-hand sides to the next. */
static inline int64_t mc_rhs_stride(const mc_tile_ops *ops, int64_t t) {
    return t > MC_SINGLES ? (t + ops->lanes - 1) / ops->lanes * ops->lanes : t;
}

/* Reals that the sums of one row take. */
static inline int64_t mc_row_reals(const mc_tile_ops *ops, int64_t t) {
    return t > MC_SINGLES ? mc_rhs_stride(ops, t) : t * ops->lanes;
}

/* Bytes of mc_product_sums. */
static inline int64_t mc_product_sums_bytes(const mc_tile_ops *ops, int64_t real, int64_t rows, int64_t t) {
    return rows * (2 * t * (int64_t)sizeof(double) + (mc_row_reals(ops, t) + mc_rhs_stride(ops, t)) * real);
}

/* One task of it: rows of the first block against the second, or against a range of columns. */
typedef struct mc_product_pair {
    int64_t round, I, J; /* J: the second block; one that is not there: there is nothing to do */
} mc_product_pair;

/* apply.c: the task of a product, in the order in which results are added, as many as there are. */
int64_t mc_product_tasks(const mc_product *p);
mc_product_pair mc_product_pair_of(const mc_product *p, int64_t task);
/* Its sums, in the buffers of a thread; of block I in rows, of J, where another, in columns. */
mc_product_sums mc_product_pair_sums(const mc_product *p, const mc_product_pair *pair, int thread);
mc_product_sums mc_product_range_sums(const mc_product *p, int64_t task, int thread);
int64_t mc_product_block_rows(const mc_product *p, int64_t block);

/* apply.c: how a product of n x m pairs is cut into tasks, from its size alone. d: coordinates of dense parts; groups:
   of rows, at most. */
typedef struct mc_product_size {
    const mc_tile_ops *ops;
    int64_t real, n, m, d, groups;
    bool symmetric;
} mc_product_size;

typedef struct mc_product_split {
    int64_t rows_each, blocks, range_panels, ranges; /* rows of a block; blocks; rectangular: columns in ranges */
} mc_product_split;

mc_product_split mc_product_shape(const mc_product_size *size);
/* Of a symmetric product of this kind with so many rows. */
mc_product_split mc_product_shape_of(const mc_gram *gram, int64_t n);

/* apply.c: the most additions that one term of a product with t right-hand sides passes through: sums in the tile's
   precision, the sum of the lanes among them, and sums in double. */
typedef struct mc_product_depths {
    int64_t tile, wide;
} mc_product_depths;
mc_product_depths mc_product_depth(const mc_gram *gram, int64_t t);

/* Fill the sums in double; diagonal: the block of rows with itself. */
void mc_task_compute(mc_product_task *t, bool diagonal);

#endif
