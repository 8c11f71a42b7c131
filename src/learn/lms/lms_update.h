/* lms_update.h: between lms_update.c (the order of work), lms_update_steps.c and lms_update_error.c (how old and new
   rows are met). */
#ifndef MC_LEARN_LMS_LMS_UPDATE_H
#define MC_LEARN_LMS_LMS_UPDATE_H

#include "kernel/evaluate/feature_map.h"
#include "learn/lms/lms.h"

/* How well the rows are met: sums of w (y - f - b)^2, of w y^2, of the w of rows whose class is right, of w. */
typedef struct mc_update_error {
    double left, whole, right, weight;
} mc_update_error;

typedef struct mc_updating {
    const mc_fitted *from;
    const mercer_data *data;
    const mercer_update *set;
    int64_t old, fresh, t; /* centres there were, new rows, outputs */
    mercer_data *all;      /* both, scaled */
    mc_gram *gram;
    double *Y;        /* fresh x t */
    double *alpha;    /* (old + fresh) x t; zeros where there is no centre */
    double *root;     /* sqrt k(x, x) */
    double *rows, *f; /* a block of rows of K; t values */
    double *weights;  /* t x features, where the model is these; NULL otherwise */
    mc_features *map;
    double *phi, *scratch; /* features of a row; the row and what the map needs beside it */
    bool *alive;
    int64_t centres, learned; /* learned: new rows met so far, each counted once */
    double step, longest;     /* longest: 1 over the largest w k(x, x) of the new rows */
    int64_t passes;           /* finished */
    mercer_status stopped;
    mc_update_error before; /* on the new rows */
    double *values;         /* old x t: what the old model said of its centres */
} mc_updating;

/* All passes from the coefficients there were. */
mercer_status mc_update_learn_once(mercer_ctx *ctx, mc_updating *u);
/* The centre of the least norm goes. */
void mc_update_drop_least(mc_updating *u);
double mc_update_weight(const mc_updating *u, int64_t i);
/* How the new rows are met by the coefficients as they are. */
mercer_status mc_update_measure_error(mercer_ctx *ctx, const mc_updating *u, mc_update_error *out);
/* The same of the old model, before any of its centres is dropped; keeps what it says of them. */
mercer_status mc_update_measure_first(mercer_ctx *ctx, mc_updating *u);
bool mc_update_is_worse(const mc_updating *u, const mc_update_error *after);
mercer_status mc_update_refuse(mercer_ctx *ctx, const mc_updating *u, const mc_update_error *after);
/* |y - f - b| over the new rows, |y|, |f|, and how far the function has moved at the old centres. */
mercer_status mc_update_measure(mercer_ctx *ctx, const mc_updating *u, mercer_report *out);

#endif
