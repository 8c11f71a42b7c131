/* ridge_path.h: the table of lambdas for use inside the library, with the residuals behind it. */
#ifndef MC_LEARN_RIDGE_RIDGE_PATH_H
#define MC_LEARN_RIDGE_RIDGE_PATH_H

#include "learn/ridge/ridge_cost.h"

/* Shown for every lambda in turn: y - f of every row that counts, n x outputs, each predicted without its row or, with
   folds, without its fold; NULL where that is not defined. */
typedef mercer_status mc_loo_callback(mercer_ctx *ctx, void *arg, int64_t l, const double *residuals);

/* fold NULL: every row leaves alone. each NULL: not wanted. set: whole and checked, here and below. */
mercer_status mc_ridge_path(mercer_ctx *ctx, const mercer_kernel *kernel, const mercer_data *data,
                            const mercer_ridge *set, const int64_t *fold, const double *lambdas, int64_t count,
                            mc_loo_callback *each, void *arg, mercer_path_row *out);

/* What it takes with all residuals shown, beside the problem: bytes, and operations in the units of plan/cost.h.
   largest: rows of the largest fold; folds: how many; 0: every row leaves alone. */
size_t mc_ridge_path_bytes(mercer_ctx *ctx, const mc_problem *problem, bool intercept, int64_t largest, int64_t count);
void mc_ridge_path_work(const mc_problem *problem, bool intercept, int64_t folds, int64_t count, mc_solver_option *out);

/* The same residuals for few lambdas, by a factorisation of each. */
mercer_status mc_ridge_leave_one_out(mercer_ctx *ctx, const mercer_kernel *kernel, const mercer_data *data,
                                     const mercer_ridge *set, const int64_t *fold, const double *lambdas, int64_t count,
                                     mc_loo_callback *each, void *arg);
size_t mc_ridge_leave_one_out_bytes(mercer_ctx *ctx, const mc_problem *problem, bool intercept, int64_t largest);
void mc_ridge_leave_one_out_work(const mc_problem *problem, bool intercept, int64_t folds, int64_t count,
                                 mc_solver_option *out);

/* mercer_fit_folds for use inside the library. */
mercer_status mc_ridge_folds(mercer_ctx *ctx, const mercer_kernel *kernel, const mercer_data *data,
                             const mercer_ridge *set, const int64_t *fold, double *residuals, double *variances,
                             double *rmse);

#endif
