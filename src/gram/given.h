/* given.h: parts of a plan whose values come from elsewhere: a matrix that the rows carry, a function of the calling program. */
#ifndef MC_GRAM_GIVEN_H
#define MC_GRAM_GIVEN_H

#include "gram/strip.h"

bool mc_gram_given(const mc_gram *gram); /* some part is */
/* One side while the operator opens: how large values can be; then the rows as the strips read them. */
mercer_status mc_given_measure(mercer_ctx *ctx, const mc_gram *gram, const mc_part *part, mc_pack *pack, const mercer_data *data);
mercer_status mc_given_lay_out(mercer_ctx *ctx, const mc_gram *gram, const mc_part *part, mc_pack *pack, const mercer_data *data);
/* Reals of scratch that one space needs for a part. */
int64_t mc_given_reals(const mc_gram *gram, const mc_part *part);
/* The values of one strip. */
void mc_given_strip(const mc_gram *gram, const mc_space *space, int part, int64_t group, int64_t panel, int64_t panels, void *out);
/* The error for a pair that has no value; i = j of a symmetric operator: that of the diagonal. */
mercer_status mc_given_fail(mercer_ctx *ctx, const mc_gram *gram, int64_t i, int64_t j);

#endif
