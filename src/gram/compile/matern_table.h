/* matern_table.h: the Matern function of any smoothness as the tiles look it up (mc_tile_step.table). */
#ifndef MC_GRAM_COMPILE_MATERN_TABLE_H
#define MC_GRAM_COMPILE_MATERN_TABLE_H

#include "backend/tile.h"

/* Where the first piece begins and how many there are, for reals of this precision. */
typedef struct mc_matern_range {
    int64_t first, pieces;
} mc_matern_range;

mc_matern_range mc_matern_table_range(double nu, mercer_dtype precision);
size_t mc_matern_table_bytes(double nu);
mercer_status mc_matern_table_make(mercer_ctx *ctx, double nu, mercer_dtype precision, void **out);
/* At most how far a looked-up value is from the function: the same for every argument. */
double mc_matern_table_error(double nu, double unit);

#endif
