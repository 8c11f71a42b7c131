/* given.h: parts of a plan whose values come from elsewhere: a matrix that the rows carry, a function of the calling program. */
#ifndef MC_GRAM_GIVEN_H
#define MC_GRAM_GIVEN_H

#include "gram/strip.h"
#include <stdatomic.h>

/* The first pair, by rows, whose value is not a number: i * columns + j. Set by any thread, looked at when a sweep is over. */
struct mc_fault {
    _Atomic int64_t pair;
};

bool mc_gram_given(const mc_gram *gram); /* some part is */
/* Room for faults, where there may be any. */
mercer_status mc_given_open(mercer_ctx *ctx, mc_gram *gram);
/* One side while the operator opens: how large values can be; then the rows as the strips read them. */
mercer_status mc_given_measure(mercer_ctx *ctx, const mc_gram *gram, const mc_part *part, mc_pack *pack, const mercer_data *data);
mercer_status mc_given_lay_out(mercer_ctx *ctx, const mc_gram *gram, const mc_part *part, mc_pack *pack, const mercer_data *data);
/* Reals of scratch that one space needs for a part. */
int64_t mc_given_reals(const mc_gram *gram, const mc_part *part);
/* The values of one strip. */
void mc_given_strip(const mc_gram *gram, const mc_space *space, int part, int64_t group, int64_t panel, int64_t panels, void *out);
/* After a sweep: an error that names the pair, if there was one. */
mercer_status mc_given_faults(mercer_ctx *ctx, const mc_gram *gram);
/* Of K_ii that the judge gave: an error that names the first row that has none. */
mercer_status mc_given_diagonal(mercer_ctx *ctx, const mc_gram *gram, const double *diagonal);

#endif
