/* precomputed.h: parts of a plan whose values come from elsewhere: a matrix that the rows carry, a function of the
   calling program. */
#ifndef MC_GRAM_OPERATOR_PRECOMPUTED_H
#define MC_GRAM_OPERATOR_PRECOMPUTED_H

#include "gram/tile/strip.h"

enum { MC_SYMMETRY_ROWS = 16 }; /* of a function, compared with each other in one call to see that it is symmetric */

bool mc_part_is_pairwise(const mc_tile_part *part); /* an atom whose values the reference evaluator has */
bool mc_gram_has_precomputed(const mc_gram *gram);  /* some part is */
/* One side while the operator opens: how large values can be; then the rows as the strips read them. */
mercer_status mc_precomputed_measure(mercer_ctx *ctx, const mc_gram *gram, const mc_tile_part *part,
                                     mc_packed_points *pack, const mercer_data *data);
mercer_status mc_precomputed_lay_out(mercer_ctx *ctx, const mc_gram *gram, const mc_tile_part *part,
                                     mc_packed_points *pack, const mercer_data *data);
/* Reals of scratch that one space needs for a part. */
int64_t mc_precomputed_reals(const mc_gram *gram, const mc_tile_part *part);
/* The values of one strip. */
void mc_precomputed_strip(const mc_gram *gram, const mc_tile_workspace *space, int part, int64_t group, int64_t panel,
                          int64_t panels, void *out);
/* symmetry.c: of x against itself: an error that names the first pair for which k(x, z) is not k(z, x). All pairs of a
   matrix are looked at; of a function those of a few rows. */
mercer_status mc_precomputed_symmetry(mercer_ctx *ctx, const mc_gram *gram);
/* The error for a pair of which some part has no value, MERCER_OK where all have one; i = j of a symmetric operator:
   that of the diagonal. */
mercer_status mc_precomputed_fail(mercer_ctx *ctx, const mc_gram *gram, int64_t i, int64_t j);

#endif
