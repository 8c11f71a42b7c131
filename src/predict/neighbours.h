/* neighbours.h: predictions from the nearest rows in feature space. */
#ifndef MC_PREDICT_NEIGHBOURS_H
#define MC_PREDICT_NEIGHBOURS_H

#include "predict/fitted.h"

/* Bytes a prediction takes beside the rows themselves, by distance or by tiles: a search goes on to other kernels. */
size_t mc_neighbours_bytes(mercer_ctx *ctx, const mercer_kernel *kernel, const mercer_data *rows,
                           const mercer_data *centres, int64_t k);
/* rows scaled as the centres are; out: n x outputs. */
mercer_status mc_neighbours_decide(mercer_ctx *ctx, const mc_fitted *f, const mercer_data *rows, double *out);

/* The error of a square computed among the centres, beside that of its sum: what a program that predicts without Mercer
   counts as zero. */
/* What every search needs of the centres, k(z,z), is there: found at the fit, not at the first prediction. */
mercer_status mc_neighbours_check(mercer_ctx *ctx, const mercer_kernel *kernel, const mercer_data *centres);
mercer_status mc_neighbours_noise(mercer_ctx *ctx, const mc_fitted *f, double *out);

#endif
