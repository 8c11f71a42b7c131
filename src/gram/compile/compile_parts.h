/* compile_parts.h: the parts of a tile program: a statistic of pairs of rows on some columns, which all functions that
   read it share. */
#ifndef MC_GRAM_COMPILE_COMPILE_PARTS_H
#define MC_GRAM_COMPILE_COMPILE_PARTS_H

#include "gram/compile/tile_program.h"
#include "kernel/evaluate/view.h"

/* What an atom wants of a pair: the statistic, the weights per column, and what it multiplies the statistic by. */
typedef struct mc_part_want {
    mc_statistic kind;
    mc_feature feature;
    mc_use use;
    double a; /* the argument of the function is a statistic + c */
    double c;
    const mc_value *weight; /* NULL: all 1 */
    double (*to_weight)(
        double parameter); /* from a parameter to a weight on the squared (kind SUM: plain) difference */
    const mc_value *period, *matrix;
    const mc_node *precomputed, *strings;
    bool exact; /* of the data as they are: no factor, no centre */
} mc_part_want;

/* The columns of the table that a view sees. */
mercer_status mc_flatten_view(mercer_ctx *ctx, const mc_view *view, int64_t **out);
/* The part of plan that serves w, added where there is none; w->a is in its units then. */
mercer_status mc_tile_program_find_part(mercer_ctx *ctx, mc_tile_program *plan, mc_part_want *w, const mc_view *view,
                                        int *out);
void mc_tile_part_free(mc_tile_part *p);

#endif
