/* stage_rows.h: the rows of a fit in stages: some held out, and of the others as many as a stage learns from. */
#ifndef MC_MODEL_STAGE_ROWS_H
#define MC_MODEL_STAGE_ROWS_H

#include "base/ctx.h"
#include "data/table/data.h"

/* All zero before mc_stage_rows_split. */
typedef struct mc_stage_rows {
    const mercer_data *data;
    int64_t *piece, pieces, held_pieces; /* piece of each row; the first held_pieces are held out */
    int64_t *place;                      /* n: of rows being taken */
    int64_t *example;                    /* classes: a row of each; NULL: there are none */
    mercer_data *held, *taken;
    int64_t taken_pieces;
} mc_stage_rows;

mercer_status mc_stage_rows_split(mercer_ctx *ctx, const mercer_data *data, mc_stage_rows *out);
int64_t mc_stage_rows_to_learn(const mc_stage_rows *s); /* all that are not held out */
/* Into taken: about so many, every class among them, and those taken before where it is more. */
mercer_status mc_stage_rows_take(mercer_ctx *ctx, mc_stage_rows *s, int64_t wanted);
void mc_stage_rows_close(mc_stage_rows *s);

#endif
