/* lms.h: between lms.c (the machine), lms_values.c (fitted values, by three ways), lms_steps.c (the steps) and
   lms_update.c (new rows for an old model). */
#ifndef MC_LEARN_LMS_LMS_H
#define MC_LEARN_LMS_LMS_H

#include "gram/operator/gram.h"
#include "predict/fitted.h"
#include "problem/problem.h"

/* How f(x_i) = sum_j alpha_j k(x_j, x_i) is come by. The steps and the coefficients are the same whichever it is.

       features   theta = sum_j alpha_j phi(x_j), f(x_i) = <theta, phi(x_i)>: n D numbers kept, for kernels with a
       finite map
       stored     the rows of K, kept
       streamed   the rows of K, computed anew whenever they are needed */
typedef enum mc_lms_solver { MC_LMS_FEATURES, MC_LMS_STORED, MC_LMS_STREAMED, MC_LMS_SOLVERS } mc_lms_solver;
extern const char *const mc_lms_names[MC_LMS_SOLVERS];

/* rows taken together by streamed; products that find the largest eigenvalue */
enum { MC_LMS_BLOCK = 64, MC_LMS_LANCZOS = 24 };

typedef struct mc_lms_values {
    mc_lms_solver solver;
    int64_t n, held, width, t; /* width: numbers of one row of left: n, or the dimension of the map */
    mc_gram *gram, *across;    /* streamed: the rows against themselves, the held-out rows against them */
    /* features or K of the rows, and of the held-out rows; streamed: left is a block of rows */
    double *left, *right;
    double *theta, *part; /* features: width x t, and partial sums of it */
} mc_lms_values;

/* held NULL: no held-out rows. t: outputs. */
mercer_status mc_lms_values_open(mercer_ctx *ctx, const mc_problem *problem, const mercer_data *held,
                                 mc_lms_solver solver, mc_lms_values *out);
void mc_lms_values_close(mc_lms_values *values);
/* Bytes of the above beside the operator. D: the dimension of the map. */
size_t mc_lms_values_bytes(mc_lms_solver solver, int64_t n, int64_t held, int64_t t, int64_t D, int threads);

/* F <- K alpha on the training rows, and on the held-out rows. t is at most the one it was opened with. */
mercer_status mc_lms_apply(mercer_ctx *ctx, const mc_lms_values *values, int64_t t, const double *alpha, double *F);
mercer_status mc_lms_apply_held(mercer_ctx *ctx, const mc_lms_values *values, const double *alpha, double *F);

/* features: the weights of the function, t x width. */
mercer_status mc_lms_weights(mercer_ctx *ctx, const mc_lms_values *values, const double *alpha, double *weights);

/* One sample after the other: alpha_i <- alpha_i + step w_i (y_i - f(x_i)) for i in this order (NULL: as they stand), f
   after every step that of the coefficients then. root: square roots of the weights, NULL: all 1. f: t numbers of
   scratch. */
typedef struct mc_lms_pass {
    const double *Y, *root;
    const int64_t *order;
    double step;
    double *alpha, *f;
} mc_lms_pass;
mercer_status mc_lms_one_by_one(mercer_ctx *ctx, const mc_lms_values *values, const mc_lms_pass *pass);
/* out_k <- sum_j row_j V_jk, in one fixed order. */
void mc_lms_row_times(int64_t n, int64_t t, const double *row, const double *V, double *out);

/* What the steps start from and end with. */
typedef struct mc_lms_run {
    const mercer_lms *set;
    const mc_problem *p; /* Y with the intercept taken off */
    const mercer_data *held;
    const double *held_Y; /* held x outputs, the intercept taken off */
    double *alpha;        /* n x outputs; zero at first */
    double step;          /* as taken */
    double held_rmse;     /* 0 without held-out rows */
    int64_t epochs;       /* of the coefficients handed over */
    bool early;           /* they are not the last: later ones did worse on the held-out rows */
    mercer_status stopped;
} mc_lms_run;
mercer_status mc_lms_steps(mercer_ctx *ctx, const mc_lms_values *values, mc_lms_run *run);
size_t mc_lms_steps_bytes(int64_t n, int64_t held, int64_t outputs);

/* A fitted thing that has learned new rows: see mercer_model_update. set is checked. */
mercer_status mc_lms_update(mercer_ctx *ctx, const mc_fitted *from, const mercer_data *data, const mercer_update *set,
                            mc_fitted *out);
enum { MC_UPDATE_SETTINGS = 3 };
extern const mercer_setting mc_update_settings[MC_UPDATE_SETTINGS];

#endif
