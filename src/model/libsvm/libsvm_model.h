/* libsvm_model.h: model files of LIBSVM, both ways. */
#ifndef MC_MODEL_LIBSVM_LIBSVM_MODEL_H
#define MC_MODEL_LIBSVM_LIBSVM_MODEL_H

#include "data/read/input.h"
#include "model/model.h"

/* The words of the format, in the order of svm_type and kernel_type. */
enum { MC_LIBSVM_TYPES = 5, MC_LIBSVM_KERNELS = 5 };
extern const char *const mc_libsvm_types[MC_LIBSVM_TYPES];     /* c_svc nu_svc one_class epsilon_svr nu_svr */
extern const char *const mc_libsvm_machines[MC_LIBSVM_TYPES];  /* the machine of each */
extern const char *const mc_libsvm_kernels[MC_LIBSVM_KERNELS]; /* linear polynomial rbf sigmoid precomputed */

bool mc_libsvm_is_machine(const mercer_model *model); /* one of those */
/* The kernel's place among them and its parameters; -1: LIBSVM has no such kernel. */
int mc_libsvm_kernel_of(const mercer_model *model, double *degree, double *gamma, double *coef0);

/* Whether a file that begins so is one. */
bool mc_libsvm_is_model(const char *bytes, size_t size);
mercer_status mc_libsvm_model_read(mercer_ctx *ctx, const mc_input *input, mercer_model **out);
mercer_status mc_libsvm_model_write(mercer_ctx *ctx, const mercer_model *model, const char *path);

#endif
