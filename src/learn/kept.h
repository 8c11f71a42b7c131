/* kept.h: operators on the centres of a model, kept from one prediction of few rows to the next: packing the centres is nearly all the work
   of deciding one row.

       mc_kept *kept = NULL;
       MC_TRY(mc_kept_open(ctx, count, &kept));             one place for every product of a prediction; all empty
       kept_gram = mc_kept_find(kept, k);                   NULL until somebody has filled the place
       if (!mc_kept_put(ctx, kept, k, centres, gram)) ...   what was not taken remains the caller's

   A place is filled once and never changed, so threads may share a model: the first to fill it wins. */
#ifndef MC_LEARN_KEPT_H
#define MC_LEARN_KEPT_H

#include "gram/gram.h"

enum { MC_KEPT_ROWS = 64 }; /* few rows: for more the packing does not matter */

typedef struct mc_kept mc_kept;

mercer_status mc_kept_open(mercer_ctx *ctx, int64_t count, mc_kept **out);
void mc_kept_free(mc_kept *kept);
const mc_gram *mc_kept_find(const mc_kept *kept, int64_t k); /* kept may be NULL */
/* centres NULL: they live as long as the model does. Nothing is kept that would take more than a quarter of the memory left. */
bool mc_kept_put(mercer_ctx *ctx, mc_kept *kept, int64_t k, mercer_data *centres, mc_gram *gram);

#endif
