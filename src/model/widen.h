/* widen.h: a model and rows of another number of columns, as LIBSVM text has them: what a row does not name is 0. */
#ifndef MC_MODEL_WIDEN_H
#define MC_MODEL_WIDEN_H

#include "data/table/columns.h"
#include "model/model.h"

/* A model and rows of as many columns. Both are the caller's where they agree. */
typedef struct mc_matched {
    const mercer_model *model;
    const mercer_data *rows;
    mercer_model wide; /* the model with columns in which its centres are 0; it borrows what it can from the other */
    mercer_data centres, view;
    mercer_data *sparse, *narrowed; /* what dense centres became; rows without what the model does not see */
    mc_kept kept;                   /* the columns that both keep, where one of them does not keep all */
    mercer_kernel *kernel;
    double *weights;
} mc_matched;

/* MERCER_DATA with the reason where the columns do not agree and cannot be made to. keeps: the rows are going to be
   centres, so that all their columns matter. */
mercer_status mc_match_columns(mercer_ctx *ctx, const mercer_model *model, const mercer_data *data, bool keeps,
                               mc_matched *out);
/* Both models with the columns that either keeps; out[0].model and out[1].model. Their numbers of columns agree. */
mercer_status mc_models_unite(mercer_ctx *ctx, const mercer_model *f, const mercer_model *g, mc_matched out[2]);
/* out->model: the model with every column kept; there are no rows. */
mercer_status mc_model_spread(mercer_ctx *ctx, const mercer_model *model, mc_matched *out);
void mc_matched_free(mc_matched *m);

#endif
