/* moments.h: mean and spread of the columns of data, from which bandwidths are chosen. */
#ifndef MC_KERNEL_LANGUAGE_MOMENTS_H
#define MC_KERNEL_LANGUAGE_MOMENTS_H

#include "kernel/evaluate/view.h"

typedef struct mc_moments {
    const mercer_data *data;
    int64_t n, d;  /* d: the columns that the data keep */
    double *mean;  /* d */
    double *about; /* d: sum over the rows of (x - mean)^2 */
} mc_moments;

/* The zeros of sparse data count. Same bits on any number of threads. */
mercer_status mc_moments_find(mercer_ctx *ctx, const mercer_data *data, mc_moments *out);
void mc_moments_free(mc_moments *moments);
/* The variance of all entries of the columns in view, taken together. */
double mc_moments_variance(const mc_moments *moments, const mc_view *view);

/* The ends of all entries of the columns in view, and the column with the larger of them in size. */
typedef struct mc_column_extremes {
    double least, greatest;
    int64_t column;
} mc_column_extremes;
mc_column_extremes mc_moments_extremes(const mc_moments *moments, const mc_view *view);

#endif
