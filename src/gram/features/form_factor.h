/* form_factor.h: the rows behind rbf(form=A): with A = L L' the distance (x - z)' A (x - z) is that of L' x and
   L' z. */
#ifndef MC_GRAM_FEATURES_FORM_FACTOR_H
#define MC_GRAM_FEATURES_FORM_FACTOR_H

#include "gram/compile/tile_program.h"

/* L is NULL where A is not positive semidefinite beyond rounding, or 0. */
mercer_status mc_form_factor(mercer_ctx *ctx, const mc_value *A, mc_factor *out);
void mc_factor_free(mc_factor *f);
/* The coordinates of a row of data, and room for it. */
void mc_factor_row(const mc_tile_part *part, const double *row, double *centred, double *out);
/* How far the roundings of factor and rows move the points of these data, and their distances. */
mercer_status mc_part_factor_phase(mercer_ctx *ctx, mc_tile_part *part, const mercer_data *data);

#endif
