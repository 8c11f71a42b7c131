/* engines.h: what the engines share: scores of a split, and the rows of the table in engines.c. */
#ifndef MC_SELECT_ENGINES_H
#define MC_SELECT_ENGINES_H

#include "select/tune.h"

#define MC_EVERY_FIT "a fit of every candidate on every split"
enum { MC_STEPS_OF_SLOPES = 15 };

/* Where the scores of a candidate of the run begin. */
static inline double *mc_round_row(const mc_round *r, double *out, int64_t candidate) {
    return out + candidate * mc_round_width(r);
}

/* Rows that a split is measured on. */
static inline int64_t mc_round_held(const mc_round *r, int64_t split) {
    return r->splits.begin[2 * split + 2] - r->splits.begin[2 * split + 1];
}

/* The score of some values, into the columns that belong to the split; of what a model says of the rows of a split. */
mercer_status mc_score_split(mercer_ctx *ctx, const mc_round *r, mc_scored_values scored, int64_t split, double *out);
mercer_status mc_score_model_on_split(mercer_ctx *ctx, const mc_round *r, const mercer_model *model,
                                      const mercer_data *test, int64_t split, double *out);
/* A failure that is the candidate's, not the search's, is OK. */
mercer_status mc_forgive_failed_fit(mercer_ctx *ctx, const mc_round *r, mercer_status status);
/* So many of the candidates on a split are done. */
void mc_report_candidates(mercer_ctx *ctx, const mc_round *r, int64_t split, int64_t done, int64_t count);
/* Bytes of a model and its predictions for the rows it is measured on, beside a fit. */
size_t mc_scoring_bytes(mercer_ctx *ctx, const mc_problem *p, const mercer_data *test);

/* ---- Rows of the table: measure and estimate_cost of mc_engine ---- */

mercer_status mc_measure_fits(mercer_ctx *ctx, const mc_round *r, const mc_run *run, int64_t split, double *out);
mercer_status mc_measure_path(mercer_ctx *ctx, const mc_round *r, const mc_run *run, int64_t split, double *out);
mercer_status mc_measure_leave_out(mercer_ctx *ctx, const mc_round *r, const mc_run *run, int64_t split, double *out);
void mc_estimate_path_cost(mercer_ctx *ctx, const mc_round *r, const mc_problem *p, const mercer_data *test,
                           int64_t count, mc_run_cost *out);
void mc_estimate_leave_out_cost(mercer_ctx *ctx, const mc_round *r, const mc_problem *p, const mercer_data *test,
                                int64_t count, mc_run_cost *out);
void mc_estimate_slopes_cost(mercer_ctx *ctx, const mc_round *r, const mc_problem *p, const mercer_data *test,
                             int64_t count, mc_run_cost *out);

#endif
