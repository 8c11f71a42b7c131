/* staged_fit.h: a fit that has a model early and replaces it only by better ones. */
#ifndef MC_MODEL_STAGED_FIT_H
#define MC_MODEL_STAGED_FIT_H

#include "model/model.h"

/* Within the time limit of the call. open: lambda was chosen by a short search, and may be changed where other values
   are better at the full number of rows. */
mercer_status mc_fit_in_time(mercer_ctx *ctx, const mercer_machine *machine, const void *settings,
                             const mercer_kernel *kernel, const mercer_data *data, bool open, mercer_model **out);
/* Without a limit, in work that grows with the rows: mc_model_fit itself where that is no more, else in stages until
   the next promises little. The work is counted, not timed: the same bits on any number of threads. */
mercer_status mc_fit_in_proportion(mercer_ctx *ctx, const mercer_machine *machine, const void *settings,
                                   const mercer_kernel *kernel, const mercer_data *data, mercer_model **out);

/* ---- What a stage was ---- */

enum { MC_FIT_STAGES_MOST = 48 };

typedef struct mc_fit_stage {
    int64_t rows, landmarks; /* learned from; landmarks 0: the machine itself */
    double lambda;           /* NaN: the machine has none */
    double error;            /* on the rows held out; NaN: not measured */
    double seconds;          /* of the clock; without a limit not told, so that the same input gives the same bytes */
    const char *solver;
    bool kept; /* it replaced what there was */
} mc_fit_stage;

typedef struct mc_fit_stages {
    int64_t count, kept; /* kept: the stage that is the model; -1: none yet */
    mc_fit_stage stage[MC_FIT_STAGES_MOST];
    int64_t rows, held_out;
    const char *measure;  /* "rmse", "error" (the share of wrong classes), "pinball", "mae"; NULL: no target */
    double constant;      /* the error of predicting the mean or the commonest class */
    double exact_seconds; /* forecast of the exact machine on all rows */
    bool clock, exact;    /* exact: the model is that machine */
} mc_fit_stages;

/* What stages are measured by (mc_fit_stages); of a model on rows held out, NaN without a measure and infinite where
   there is no prediction; and of the mean or the commonest class, NaN where that is not known. */
const char *mc_stage_measure(const mercer_machine *machine, const mercer_data *data);
double mc_held_out_error(mercer_ctx *ctx, const char *measure, const mercer_model *model, const mercer_data *held);
double mc_constant_error(const char *measure, const mercer_data *held);

/* As JSON, written by hand. */
mercer_status mc_fit_stages_record(mercer_ctx *ctx, const mc_fit_stages *s, char **out);

#endif
