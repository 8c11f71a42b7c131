/* model_file.h: a model file of LIBSVM as its own model and as Mercer's, which decides many rows at once. */
#ifndef MC_LIBSVM_MODEL_FILE_H
#define MC_LIBSVM_MODEL_FILE_H

#include "libsvm/svm_abi.h"

/* *batch: column k is index k; of a precomputed kernel, k is the serial number less 1. Both are the caller's. */
mercer_status mc_svm_model_load(mercer_ctx *ctx, const char *path, struct svm_model **out, mercer_model **batch);

#endif
