/* tile.h: the bodies that make tiles of K: one table of functions per instruction set and precision, picked at run
   time.

   A strip is `rows` points x_i against a run of panels of `columns` points z_j. Its values stand in micro-tiles:
   element (r, j) of panel p is at [(p * rows + r) * columns + j]. The points come packed, coordinate by coordinate: a[k
   * rows + r], and within a panel b[k * columns + j]. "real" below is float or double as the table says.

   A kernel expression becomes a few pair statistics, each accumulated once per strip, then steps: element-wise
   functions

       target  <-, +=, *=   coefficient f(alpha source + row_i + column_j).

   A kernel of one statistic and one step has a fused form that multiplies by a vector while the tile is in registers or
   in the first cache: no tile is stored. */
#ifndef MC_BACKEND_TILE_H
#define MC_BACKEND_TILE_H

#include "base/cpu.h"
#include <mercer.h>

enum { MC_TILE_LIFT = 64 }; /* 2^64 times a sum of many values near 1 is far from overflow in float */
/* coordinates of one sum of floats, and at most; fused bodies make one sum */
enum { MC_TILE_RUN = 128, MC_TILE_COORDINATES = 1 << 30 };
enum { MC_TILE_ROWS_MAX = 8, MC_TILE_COLUMNS_MAX = 48, MC_TILE_LANES_MAX = 16 };

/* Sums over the coordinates k of the pair (x, z). */
typedef enum mc_statistic {
    MC_DOT,      /* x_k z_k */
    MC_SQUARE,   /* (x_k - z_k)^2 */
    MC_ABSOLUTE, /* |x_k - z_k| */
    MC_CHI,      /* (x_k - z_k)^2 / (x_k + z_k), 0 where both are 0 */
    MC_MINIMUM,  /* min(x_k, z_k) */
    MC_HARMONIC, /* x_k z_k / (x_k + z_k), 0 where both are 0 */
    /* products over the coordinates instead */
    MC_SINC_PRODUCT,   /* sin(pi t) / (pi t), t = x_k - z_k */
    MC_SPLINE_PRODUCT, /* 1 + x_k z_k + m^2 (3 M - m) / 6, m = min(x_k, z_k), M the other */
    MC_STATISTICS
} mc_statistic;

static inline bool mc_statistic_is_product(mc_statistic kind) {
    return kind == MC_SINC_PRODUCT || kind == MC_SPLINE_PRODUCT;
}

/* The functions of a step; s is the argument, b = sqrt(max(0, s)). */
typedef enum mc_function_of_tile {
    MC_SAME,        /* s */
    MC_WHOLE_POWER, /* s^degree, degree a whole number of any sign */
    /* s^p as the C function pow has it; degree 1 or 2 where p is an odd or an even number, 0 where it is not whole */
    MC_REAL_POWER,
    /* 2^s; degree 1 where 2^-row_i is no larger than 2^MC_TILE_LIFT: fused bodies may then take 2^row_i out of the sum
       */
    MC_EXP2,
    MC_ROOT,       /* 2^-b: exponential, matern 1/2 */
    MC_MATERN3,    /* (1 + b ln 2) 2^-b */
    MC_MATERN5,    /* (1 + b ln 2 + (b ln 2)^2 / 3) 2^-b */
    MC_RATIONAL,   /* (1 + max(0, s))^-p; degree -p where that is whole and small */
    MC_HYPERBOLIC, /* tanh(s) */
    /* t^(l + k) times a polynomial of b, t = max(0, 1 - b): the functions of Wendland with l = degree, k = p
       from 0 to 2 */
    MC_COMPACT,
    MC_DISTANCE_POWER, /* max(0, s)^p, p > 0 */
    MC_ARC0,
    MC_ARC1,
    MC_ARC2,       /* J_0, J_1, J_2 over pi of the angle that mc_tile_ops.angle has coded */
    MC_LOG_SERIES, /* -log(1 - s); no number from s = 1 on */
    MC_ARC_SINE,   /* no number beyond 1 but for a rounding */
    MC_BESSEL,     /* I0(s) */
    MC_SCALE,      /* source row_i column_j, in place of the argument above */
    MC_SCALE_SIGN, /* the same, 0 where row_i column_j is not positive */
    MC_RATIO,      /* source / (row_i + column_j - source), 1 where the denominator is 0; both carry alpha */
    MC_EQUAL,      /* 1 where row_i = column_j as whole numbers of the width of real, else 0; reads no source */
    /* 2^(s / t) (4 row_i column_j / t^2)^p, t = row_i + column_j: Gibbs, of squares of lengths */
    MC_MEAN_LENGTH,
    MC_LOOKED_UP, /* the polynomial of the piece of mc_tile_step.table that b lies in */
    MC_CONSTANT,  /* 1 */
    MC_TILE_FUNCTIONS
} mc_function_of_tile;

/* A table: for every sixteenth of an octave of b, from that with number `first` on (the leading bits of b as a whole
   number), coefficients of r from -1/2 to 1/2, low ones first; the ends stand for all that lies beyond them. */
enum { MC_TABLE_STEPS = 16, MC_TABLE_BITS = 4, MC_TABLE_TERMS_F32 = 6, MC_TABLE_TERMS_F64 = 12 };

typedef enum mc_combine { MC_SET, MC_ADD, MC_MULTIPLY } mc_combine;

typedef struct mc_tile_step {
    mc_function_of_tile function;
    mc_combine combine;
    int target, source; /* numbers of strips */
    double alpha, coefficient;
    double p;
    int64_t degree;
    const void *row, *column; /* real, one per x and per z, padded to whole panels; NULL: nothing is added */
    const void *table;        /* real */
    int64_t first, pieces;
} mc_tile_step;

/* What a statistic of one strip reads. d is a block of the coordinates when a and b point into the middle. */
typedef struct mc_operands {
    int64_t d, panels;
    const void *a, *b;
    int64_t stride; /* reals from one panel to the next */
} mc_operands;

/* One right-hand side: y_rows_r += sum_j K_rj w_j and, for a symmetric operator, y_columns_j += sum_r K_rj w_r. A row's
   sum is kept in `lanes` parts, y_rows[r * lanes ...], which the sum function adds up. */
typedef struct mc_rhs {
    const void *w_columns;    /* real, one per column */
    const void *w_rows;       /* real; NULL: the first sum only */
    void *y_rows, *y_columns; /* real */
} mc_rhs;

/* Many right-hand sides, t padded to whole vectors: V columns x t, Y rows x t, all row-major reals. */
typedef struct mc_rhs_block {
    int64_t t;
    const void *v_columns;
    const void *v_rows; /* NULL: the first sum only */
    void *y_rows, *y_columns;
} mc_rhs_block;

/* Rows of one strip in compressed form, against one panel unpacked in full, or with the coordinates that occur in it
   numbered 0, 1, ... */
typedef struct mc_sparse_operands {
    const int64_t *const *start; /* of each of the rows: where its values begin and, next to that, where they end */
    const int32_t *coordinate;
    const void *value; /* real */
    /* of a coordinate in the panel, -1: no row of the panel has it; NULL: unpacked in full */
    const int32_t *place;
    const void *b; /* places (or coordinates) x columns */
    bool narrow;   /* b is made of bytes: whole numbers up to 255 */
} mc_sparse_operands;

/* Texts of one tile, compared place by place: sum over l of weight[l - 1] times the places from which on l bytes are
   the same, l from 1 to p. 64 bytes at a time are read from the beginning of each text on. */
enum { MC_ALIGNED_MAX = 8 };
typedef struct mc_alignment {
    int p;
    double weight[MC_ALIGNED_MAX];
    const unsigned char *row[MC_TILE_ROWS_MAX], *column[MC_TILE_COLUMNS_MAX];
    int64_t row_length[MC_TILE_ROWS_MAX], column_length[MC_TILE_COLUMNS_MAX];
} mc_alignment;

/* When to doubt |x - z|^2 = |x|^2 + |z|^2 - 2<x, z>: where the result is below `share` of |x|^2 + |z|^2 the micro-tile
   is done again by direct differences. */
typedef struct mc_guard {
    double share;
    mc_operands direct; /* all d coordinates */
} mc_guard;

/* How wrong the bodies are, in unit roundoffs: what gram/operator/bound.c makes its bounds of. tests/backend/t_tile.c
   holds the functions to it, tests/gram/t_bound.c the bounds. */
typedef struct mc_tile_accuracy {
    int64_t chains;                     /* that a sum over coordinates is cut into */
    double function[MC_TILE_FUNCTIONS]; /* of the largest value: the polynomial and the roundings around it */
    double power[3];                    /* s^p: power[0] + |p| (power[1] + power[2] |log s|) */
    double inverse[2]; /* (1 + s)^-p beside its function: times p where that is whole and small, else at all */
} mc_tile_accuracy;

typedef struct mc_tile_ops {
    int rows, columns, lanes;
    double unit; /* the unit roundoff */
    const mc_tile_accuracy *accuracy;
    void (*statistic)(mc_statistic kind, const mc_operands *o, bool add, void *out);
    /* out <- -|x - z|^2 / 2 from dot, with row_i = -|x_i|^2 / 2 and column_j likewise; guard NULL: no second look. */
    void (*radial)(const mc_guard *guard, int64_t panels, const void *row, const void *column, const void *dot,
                   void *out);
    /* out <- the angle of unit vectors, coded so that no digit is lost near 0 or pi: |x - z|^2 where <x, z> >= 0, else
       -|x + z|^2. */
    void (*angle)(const mc_guard *guard, int64_t panels, const void *dot, void *out);
    void (*step)(const mc_tile_step *step, int64_t panels, const void *row, const void *column, const void *source,
                 void *target);
    /* Statistic, step and product in one; the step's coefficient and target are not used. guard with MC_DOT only. */
    void (*fused)(mc_statistic kind, const mc_operands *o, const mc_guard *guard, const mc_tile_step *step,
                  const void *row, const void *column, const mc_rhs *right);
    void (*product)(int64_t panels, const void *values, const mc_rhs *right);
    /* out_i += factor times the sum of the lanes of row i, which are then 0 again. */
    void (*sum)(int64_t n, double factor, void *y_rows, double *out);
    void (*products)(int64_t panels, const void *values, const mc_rhs_block *rhs);
    /* One micro-tile: sums over the coordinates that both points have (MC_DOT, MC_MINIMUM, x_k z_k / (x_k + z_k) for
       MC_CHI, and min(|x_k|, |z_k|) where the signs agree for MC_ABSOLUTE). */
    void (*sparse)(mc_statistic kind, const mc_sparse_operands *o, void *out);
    void (*align)(const mc_alignment *o, void *out); /* one micro-tile */
    /* <x, z> of points whose coordinates are whole numbers 0 .. 255, exact; only where mc_isa_bytes. o->d and o->stride
       count words of four coordinates. b: words[k * columns + j] of signed bytes, z_k - 128. a: words[r], what the sum
       of row r starts from, 128 times the sum of its coordinates, then words[(1 + k) * rows + r] of unsigned bytes.
       Sums stay below 2^31. */
    void (*bytes)(const mc_operands *o, void *out);
    /* n whole vectors long; what benchmarks hold the fused bodies against */
    void (*exp2)(int64_t n, const void *x, void *out);
} mc_tile_ops;

/* One table per instruction set, in the order of mercer_dtype. */
extern const mc_tile_ops mc_tile_portable[2], mc_tile_avx2[2], mc_tile_avx512[2];
/* dispatch.c: all of these compute alike. */
extern const mc_tile_accuracy mc_tile_cpu_accuracy;

#endif
