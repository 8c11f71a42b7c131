/* pack.h: from a tile program to packed points, between the files of this folder. */
#ifndef MC_GRAM_PACK_PACK_H
#define MC_GRAM_PACK_PACK_H

#include "gram/operator/operator_state.h"

/* part_layout.c: what is decided of a part before its points are measured. reused: the same part of the operator whose
   right side is used; NULL: none. */
mercer_status mc_part_settle(mercer_ctx *ctx, mc_gram *gram, mc_tile_part *part, const mc_tile_part *reused,
                             mercer_dtype wanted);
/* pack.c: norms and shifts of all points in double, with their largest and least. */
mercer_status mc_gram_measure(mercer_ctx *ctx, mc_gram *gram);

#endif
