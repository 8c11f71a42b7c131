/* sampled_rows.h: which rows to look at where each costs n entries of K, and what they say of all.

       MC_TRY(mc_row_sample_open(ctx, p, width, &s));      then s.alpha <- coefficients
       MC_TRY(mc_row_sample_choose(ctx, &s));
       MC_TRY(mc_row_sample_multiply(ctx, &s));            s.KA <- K alpha at s.rows; then s.number <- what is summed
       mc_row_sample_total(&s);
       mc_row_sample_close(&s); */
#ifndef MC_CERTIFY_SAMPLED_ROWS_H
#define MC_CERTIFY_SAMPLED_ROWS_H

#include "base/workspace.h"
#include "problem/problem.h"

typedef struct mc_row_sample {
    const mc_problem *p;
    int64_t width; /* columns of alpha */
    int64_t q;
    int64_t heavy; /* the first of them, which were chosen; the others were drawn */
    int64_t *rows;
    double *alpha, *KA, *number; /* n x width; q x width; q */
    mc_work work;
} mc_row_sample;

mercer_status mc_row_sample_open(mercer_ctx *ctx, const mc_problem *p, int64_t width, mc_row_sample *out);
void mc_row_sample_close(mc_row_sample *s);
size_t mc_row_sample_bytes(mercer_ctx *ctx, const mc_problem *p, int64_t width);
mercer_status mc_row_sample_choose(mercer_ctx *ctx, mc_row_sample *s);
mercer_status mc_row_sample_multiply(mercer_ctx *ctx, const mc_row_sample *s);

/* Of the numbers of all rows: without bias, and an upper limit. */
typedef struct mc_sample_total {
    double estimate, upper;
} mc_sample_total;
mc_sample_total mc_row_sample_total(const mc_row_sample *s);
/* An upper limit, of 95% and more for numbers that are skewed but have no tails, for the mean of population numbers of
   which sample >= 2 drawn without replacement have this mean, standard deviation and skewness. */
double mc_sample_upper(int64_t population, int64_t sample, double mean, double deviation, double skewness);

#endif
