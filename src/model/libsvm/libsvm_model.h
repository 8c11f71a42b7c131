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

/* LIBSVM's kernel of that place as an expression; with a gamma or a degree of 0 it is a constant. */
void mc_libsvm_kernel_text(int kernel, int64_t degree, double gamma, double coef0, char *text, size_t size);

/* Whether a file that begins so is one. */
bool mc_libsvm_is_model(const char *bytes, size_t size);
mercer_status mc_libsvm_model_read(mercer_ctx *ctx, const mc_input *input, mercer_model **out);
/* The same with what the model has no place for. Vectors may have an index 0 here: column k of the model is index k. */
typedef struct mc_libsvm_head {
    int type, kernel; /* places in the words above */
    int64_t degree;
    double gamma, coef0;
    int64_t classes, vectors;
    double *rho, *probA, *probB; /* of every pair; NULL: not given */
    int64_t *label, *count;      /* of every class; NULL: not given */
} mc_libsvm_head;
mercer_status mc_libsvm_model_read_all(mercer_ctx *ctx, const mc_input *input, mc_libsvm_head *head,
                                       mercer_model **out);
void mc_libsvm_head_free(mc_libsvm_head *head);

mercer_status mc_libsvm_model_write(mercer_ctx *ctx, const mercer_model *model, const char *path);

#endif
