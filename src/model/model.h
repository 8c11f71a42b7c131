/* model.h: a fitted thing as the public holds it. fit.c makes it from a learner's result, load.c from a file;
   predict.c, score.c and save.c see this struct alone, so a program that only predicts links no learner. */
#ifndef MC_MODEL_MODEL_H
#define MC_MODEL_MODEL_H

#include "predict/fitted.h"

struct mercer_model {
    mc_fitted f;
    char *settings;      /* "lambda=0.1 intercept=no ...": what the fit was asked for */
    char *search;        /* how it was chosen, as JSON; NULL: it was not */
    char *stages;        /* how it came about in stages, as JSON; NULL: in one go */
    char **report_texts; /* the texts a loaded report points to, one block; NULL: the report's texts are constants */
};

/* mercer_fit for use inside the library: the settings are whole. */
mercer_status mc_model_fit(mercer_ctx *ctx, const mercer_machine *machine, const void *settings,
                           const mercer_kernel *kernel, const mercer_data *data, mercer_model **out);
/* mercer_plan_fit likewise; time limits are off. */
mercer_status mc_plan_fit(mercer_ctx *ctx, const mercer_machine *machine, const void *settings,
                          const mercer_kernel *kernel, const mercer_data *data, mercer_plan *out);
/* An error unless the columns of data are the model's, in number and, where both have names, in name. */
mercer_status mc_model_check_columns(mercer_ctx *ctx, const mercer_model *model, const mercer_data *data);
/* f_k(x_i) for the rows of data, checked against the model first. */
mercer_status mc_model_decide(mercer_ctx *ctx, const mercer_model *model, const mercer_data *data, double *out);
mercer_status mc_model_predict(mercer_ctx *ctx, const mercer_model *model, const mercer_data *data, double *out);
/* The class of each row. */
mercer_status mc_model_classify(mercer_ctx *ctx, const mercer_model *model, const mercer_data *data, int64_t *out);

/* Values beside the targets they are compared with. */
typedef struct mc_scored_values {
    const mercer_data *known; /* the classes the values belong to; none: numbers */
    const mercer_data *data;
    int64_t outputs;
    const double *values; /* n x outputs */
    bool proba;           /* the values say probabilities */
    bool plain;           /* without the area under the curve, which wants the rows sorted */
    double tau;           /* of pinball; NaN: none */
    double *confusion;    /* of classes: (outputs + 1) x outputs; NULL: not wanted */
} mc_scored_values;
mc_scored_values mc_model_scored_values(const mercer_model *model, const mercer_data *data, const double *values);
/* The target of the data must be of the kind of the values. */
mercer_status mc_score_values(mercer_ctx *ctx, const mc_scored_values *scored, mercer_scores *out);
mercer_status mc_model_score(mercer_ctx *ctx, const mercer_model *model, const mercer_data *data, mercer_scores *out);
/* The model's number of each class of the data; as many as there are: a class unknown to the model, which it gets
   wrong. */
void mc_match_classes(const mercer_data *x, const mercer_data *data, int64_t *number);

/* calibration.c: from the values of the rows, and the model's numbers of their classes. */
void mc_fill_calibration_bins(const mercer_data *data, const int64_t *number, int64_t outputs, const double *values,
                              int64_t bins, mercer_calibration_bin *out);
double mc_calibration_error(int64_t bins, const mercer_calibration_bin *bin);

/* path_table.c: one fit for each value of C (svc, svr) or of lambda (convex losses), each from the last and shown in
   turn; and the table of them, as mercer_fit_path gives it. The settings are whole, and their penalty is not looked
   at. */
mercer_status mc_fit_each(mercer_ctx *ctx, const mercer_machine *machine, const void *set, const mercer_kernel *kernel,
                          const mercer_data *data, const double *value, int64_t count, mc_fitted_each *each, void *arg);
mercer_status mc_path_table(mercer_ctx *ctx, const mercer_machine *machine, const void *set,
                            const mercer_kernel *kernel, const mercer_data *data, const mercer_path *path,
                            mercer_path_row *out);

#endif
