/* device_program.h: a tile program as source for a device.

   The device reads the points as they are packed for the tiles (gram/compile/tile_program.h) and sums every statistic
   in the same order, so that the norms of equal points cancel there too. The source depends on the structure of the
   program alone: what parameters of a kernel change are numbers in the argument, and one program serves a whole
   search. */
#ifndef MC_GRAM_DEVICE_DEVICE_PROGRAM_H
#define MC_GRAM_DEVICE_DEVICE_PROGRAM_H

#include "backend/device.h"
#include "gram/operator/operator_state.h"

enum {
    MC_DEVICE_PARTS = 6,
    MC_DEVICE_LINES = 24,
    MC_DEVICE_THREADS = 128, /* of a block of narrow rows */
    MC_DEVICE_TILE = 64,     /* columns whose products are summed up in the tiles' precision */
    MC_DEVICE_WIDE_THREADS = 256,
    MC_DEVICE_WIDE_ROWS = 64, /* of a block of wide rows */
    MC_DEVICE_RIGHT_MOST = 8  /* right-hand sides at a time */
};

/* The one argument of every kernel; the source declares the same struct. */
typedef struct mc_device_argument {
    mc_address x[MC_DEVICE_PARTS], z[MC_DEVICE_PARTS], half_x[MC_DEVICE_PARTS], half_z[MC_DEVICE_PARTS];
    mc_address row[MC_DEVICE_LINES], column[MC_DEVICE_LINES];
    double alpha[MC_DEVICE_LINES], coefficient[MC_DEVICE_LINES], p[MC_DEVICE_LINES];
    mc_address w, y, partial, diagonal, rows_left, rows_right, dots;
    double half_scale, half_unscale; /* of coordinates as halves; of their products back */
    int64_t n, m, range, ranges, i0, i1, j0, j1, right;
    mc_address out, scale, shift; /* of a block: device_block.c */
    int64_t ld, half;
    int64_t ahead, added; /* of a window: its first column less its first row; y has a sum already */
} mc_device_argument;

/* Whether the device has all that the program needs: full rows of numbers, no values from elsewhere. */
bool mc_device_can(const mc_gram *gram);
/* Rows that a thread holds in registers; 0: rows are too wide for that. */
int mc_device_rows(const mc_gram *gram, int64_t t);
/* Rows of one dot product, so wide that it pays to have a library make it, block by block; whether in halves; how many
   numbers of which kind a row then has there. */
bool mc_device_multiplies(const mc_gram *gram);
bool mc_device_multiplies_halves(const mc_gram *gram);
int64_t mc_device_row_length(const mc_gram *gram, bool halves);
/* Narrow rows whose distances the matrix units make: floats as halves, or doubles; row tiles of 16 that a warp then
   keeps, and the words of four bytes that the left or right side has there. */
bool mc_device_has_fragments(const mc_gram *gram);
int mc_device_row_tiles(const mc_gram *gram, int64_t t);
int64_t mc_device_fragment_words(const mc_gram *gram, int64_t n, bool right);
/* The source for t right-hand sides at a time, with the matrix units where they serve, or without them; to be freed. */
mercer_status mc_device_source(mercer_ctx *ctx, const mc_gram *gram, int64_t t, bool matrix_units, char **out);
/* The source for blocks of K. */
mercer_status mc_device_block_source(mercer_ctx *ctx, const mc_gram *gram, char **out);

#endif
