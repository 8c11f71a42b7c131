/* tile_program.h: a kernel expression as the tile engine sees it: parts (pair statistics over some columns) and lines
   (element-wise steps).

       compile.c     expression -> parts and lines, atoms of one statistic sharing its part
       pack_uint8.c       rows that are whole numbers of one unit, as bytes
       feature_rows.c    rows of data -> the coordinates of a part
       bound.c       how large the values and the rounding errors can be; by which method |x - z|^2 is taken
       pack.c        coordinates -> panels in the tile's precision, and the vectors that lines add per row and column
       strip.c       a strip of K: statistics, then lines */
#ifndef MC_GRAM_COMPILE_TILE_PROGRAM_H
#define MC_GRAM_COMPILE_TILE_PROGRAM_H

#include "backend/tile.h"
#include "data/table/data.h"
#include "kernel/language/kernel.h"

/* How a row becomes coordinates. */
typedef enum mc_feature {
    MC_PLAIN, /* weight_k (x_k - centre_k) */
    MC_UNIT,  /* x over its norm; 0 stays 0 */
    /* weight_k (cos t - 1), weight_k sin t, t = 2 pi (x_k - centre_k)/period_k: |difference|^2 = 4 weight^2 sin^2(pi
       u/period) */
    MC_COS_SIN,
    MC_IMAGE, /* A x on the right side, x on the left */
    MC_FACTOR /* L' (x - centre), A = L L' */
} mc_feature;

/* How the lines read a part: <x, z>, |x - z|^2, the angle, or the sum itself (absolute, chi, minimum). */
typedef enum mc_use { MC_USE_DOT, MC_USE_DISTANCE, MC_USE_ANGLE, MC_USE_SUM, MC_USES } mc_use;

/* Where |x - z|^2 comes from: norms and dot product; the same with a second look at near pairs; direct differences. */
typedef enum mc_distance_method { MC_DISTANCE_NORMS, MC_DISTANCE_GUARDED, MC_DISTANCE_DIRECT } mc_distance_method;

/* Pairs nearer than this share of |x|^2 + |z|^2 are looked at again. */
#define MC_GUARD_SHARE 0x1p-6

/* Norms are those that the tiles themselves sum up, so that the distance of equal points is exactly 0. */

/* The points of one side in the tile's precision: panels of `columns` points, or compressed rows. */
typedef struct mc_packed_points {
    int64_t n, panels;
    void *values;        /* dense: panels x d x columns; sparse: the values */
    int64_t *start;      /* sparse: n + 1 */
    int32_t *coordinate; /* sparse */
    /* of texts, while opening: whose features they are, their own (to be freed) or those of a problem */
    struct mc_text_rows *own;
    const struct mc_text_rows *texts;
    struct mc_aligned_texts *aligned; /* of texts that are compared place by place (aligned_texts.c) */
    int64_t widest;                   /* sparse: the most values in one panel */
    void *half;                       /* -|x|^2 / 2 of each point, padded */
    double *norm2, *shift;            /* while opening: |x|^2 (sum |x_k| for sums), <centre, x> */
    double norm2_max, shift_max;
    double least2; /* while opening: the least |x|^2 before centring that is not 0 */
} mc_packed_points;

/* A = L L', a column of L after the other (form_factor.c); left: the largest entry of what is left of A. */
typedef struct mc_factor {
    int64_t columns, rank;
    double *L, left;
} mc_factor;

typedef struct mc_tile_part {
    mc_statistic kind;
    mc_feature feature;
    int64_t columns;        /* in view */
    int64_t *column;        /* their places in the data */
    double *weight;         /* per column, relative to the first: shared parts differ by a factor only */
    double *period;         /* COS_SIN */
    double *length;         /* COS_SIN: the length scales, whose squares the weights may not hold */
    const mc_value *matrix; /* IMAGE, FACTOR */
    mc_factor factor;       /* FACTOR */
    double form_error;      /* FACTOR: how far |L' (x - z)|^2 can be from (x - z)' A (x - z) */
    /* the atom of texts whose features are the coordinates (string_features.c); NULL: they come from columns */
    const mc_node *strings;
    /* the atom whose values come from elsewhere (precomputed.c): no coordinates; NULL: a statistic */
    const mc_node *precomputed;
    bool by_reference; /* precomputed is the whole expression, and the reference evaluator has the values */
    bool uses[MC_USES];
    bool sparse;
    int64_t d;       /* coordinates */
    int64_t longest; /* of them in one row: d, or fewer in compressed rows */
    double scale;    /* coordinates are multiplied by it: the first line then reads the part as it stands */
    double first;    /* what that line multiplies the statistic by */
    /* per column in view before any was dropped: zero in all rows of the right side; NULL: not looked at */
    bool *is_zero_column;
    double *centre; /* per column; NULL: not centred */
    double centre2; /* |scaled centre|^2 */
    /* coordinates are whole numbers 0 .. 255, x over this, packed as bytes (pack_uint8.c); 0: they are reals */
    double uint8_unit;
    bool narrow;     /* of texts: coordinates are whole numbers up to 255, bytes in an unpacked panel */
    double rounding; /* of texts: units in the last place that a coordinate may be off by */
    double phase;    /* COS_SIN, FACTOR: how far rounding of x can move a point, at most */
    bool exact;      /* coordinates are those of the data, whose differences doubles have to the last digits */
    double least, right_least; /* exact: the least |coordinate| that is not 0, of both sides and of the right one */
    mc_distance_method distance_method;
    bool norms_in_line;           /* its one distance line adds the norms itself: no strip of distances is made */
    mc_packed_points left, right; /* right has no arrays of its own when it is the left */
    bool shared;                  /* right is left */
    int strip[MC_USES];           /* where each use finds its values */
} mc_tile_part;

/* A part's statistic in terms of what the tile sums up: <x, z> and |x - z|^2 carry scale^2, plain sums carry scale. */
static inline double mc_part_unit(const mc_tile_part *p) {
    if (p->uint8_unit > 0)
        return 1 / (p->uint8_unit * p->uint8_unit);
    return p->first != 0 && p->feature != MC_UNIT ? (p->first < 0 ? -p->first : p->first) : 1;
}

/* Packed points are made of elements: reals, one for each coordinate, or words of four bytes. */
static inline int64_t mc_part_elements(const mc_tile_part *p) {
    return p->uint8_unit > 0 ? (p->d + 3) / 4 : p->d;
}

static inline int64_t mc_part_element(const mc_tile_part *p, mercer_dtype precision) {
    return p->uint8_unit > 0 || precision == MERCER_F32 ? 4 : 8;
}

/* Vectors a line takes per row and column, beyond those of its part. */
typedef enum mc_vector_kind {
    MC_VECTOR_NONE,
    MC_VECTOR_NORMALIZE,
    MC_VECTOR_WEIGH,
    MC_VECTOR_NORM,
    MC_VECTOR_POWER,  /* the same, added: -|x|^power of both rows */
    MC_VECTOR_ORIGIN, /* 0 of a row of zeros, 1 of the others */
    MC_VECTOR_LENGTH, /* squares of the length of gibbs; the line reads a part as well */
    MC_VECTOR_IDENTITY
} mc_vector_kind;

/* step.target and step.source are numbers of temporary strips while compiling; choose_precision.c makes them strips. */
typedef struct mc_tile_line {
    mc_tile_step step;
    int part; /* -1: reads a temporary */
    mc_use use;
    double a, c; /* the argument: a statistic + c */
    mc_vector_kind vector;
    const mc_node *node; /* of the vector */
    int64_t columns;     /* in the node's view */
    int64_t *column;
    double power;                    /* NORM, POWER: |x|^power */
    double *row_double, *col_double; /* while opening: the vectors of the node */
    double row_max, col_max;         /* their largest absolute values */
    double row_least, col_least;     /* the least that are not 0; POWER, LENGTH */
    void *row, *col; /* the vectors in the tile's precision, padded; col is row when both sides are one */
    void *table;     /* LOOKED_UP */
} mc_tile_line;

typedef struct mc_tile_program {
    int parts, lines, temporaries, strips;
    bool allows_reference; /* no matrix nor function of the program in it: the reference evaluator may take over */
    mc_tile_part *part;
    mc_tile_line *line;
} mc_tile_program;

/* compile.c */
mercer_status mc_tile_program_compile(mercer_ctx *ctx, const mc_node *root, int64_t d, mc_tile_program *plan);
/* The whole expression as one part whose values the reference evaluator gives, pair by pair: slow, and right wherever
   they are numbers. */
mercer_status mc_tile_program_by_reference(mercer_ctx *ctx, const mc_node *root, int64_t d, mc_tile_program *plan);
void mc_tile_program_free(mc_tile_program *plan);

/* feature_rows.c: the rows behind a part. scratch holds mc_feature_scratch(data, part) doubles. */
int64_t mc_feature_scratch(const mercer_data *data, const mc_tile_part *part);
void mc_feature_row(const mc_tile_part *part, const mercer_data *data, int64_t i, bool right, double *scratch,
                    double *out);
/* The same for compressed rows: coordinates that are not 0, increasing; returns how many. */
int64_t mc_feature_sparse(const mc_tile_part *part, const int32_t *place, const mercer_data *data, int64_t i,
                          int32_t *coordinate, double *out);
mercer_status mc_part_centre(mercer_ctx *ctx, mc_tile_part *part, const mercer_data *data);
mercer_status mc_part_phase(mercer_ctx *ctx, mc_tile_part *part, const mercer_data *data);

/* pack_uint8.c: symmetric operators of doubles whose rows are whole numbers of one unit. Where the machine multiplies
   bytes the part gets its unit; what is packed of row i from its coordinates, and a group of `rows` packed rows for
   the left side of a tile. */
mercer_status mc_part_uint8_unit(mercer_ctx *ctx, mc_tile_part *part, const mercer_data *data);
void mc_pack_uint8_pack(const mc_tile_part *part, int64_t width, int64_t i, const double *x, void *values);
void mc_pack_uint8_gather(const mc_tile_part *part, int64_t width, int64_t rows, const int64_t *row, void *out);

/* pack.c: of compressed points whose `start` is known, in panels of so many. */
void mc_pack_widest(mc_packed_points *pack, int64_t width);

/* bound.c: the largest |K_ij| and the largest error of one, by these bodies with the distance methods now set; at
   worst, or likely. */
typedef struct mc_bound {
    double size, error;
    double low; /* K_ij >= low, where something is known of it: at least -size */
    /* the error of an entry over what its own rows make of the expression when no terms cancel: sqrt(k(x,x) k(z,z)) of
       sums and products of kernels */
    double share;
} mc_bound;
/* temporary: one per temporary; *reach bounds every value on the way to K_ij, infinite where nothing is known. */
mc_bound mc_tile_program_bound(const mc_tile_program *plan, const mc_tile_ops *bodies, bool worst, mc_bound *temporary,
                               double *reach);
/* The largest |v_i|; infinite where one is no number. The least that is not 0; infinite where there is none. */
double mc_largest_magnitude(const double *v, int64_t n);
double mc_least_magnitude(const double *v, int64_t n);
/* The worst error in two terms, relative |K_ij| + rest: those of a Gaussian, otherwise all of it in the rest. */
void mc_tile_program_terms(const mc_tile_program *plan, const mc_tile_ops *bodies, double all, double *relative,
                           double *rest);

#endif
