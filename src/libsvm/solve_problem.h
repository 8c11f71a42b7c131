/* solve_problem.h: a problem of LIBSVM solved by a machine of Mercer, and what the machine says of other rows. */
#ifndef MC_LIBSVM_SOLVE_PROBLEM_H
#define MC_LIBSVM_SOLVE_PROBLEM_H

#include "libsvm/node_rows.h"

static inline bool mc_svm_type_has_classes(int svm_type) {
    return svm_type == SVM_C_SVC || svm_type == SVM_NU_SVC;
}

/* A problem with its rows put into classes; parts of it are solved with the shape of the whole. */
typedef struct mc_svm_task {
    const struct svm_parameter *param;
    mc_node_shape shape;
    const struct svm_problem *problem;
    const int *place;     /* of each row its class in the order of the model's labels; NULL: no classes */
    const double *weight; /* of each row, a factor of C; NULL: all 1 */
} mc_svm_task;

/* The kernel and the settings that the parameters mean. */
mercer_status mc_svm_task_kernel(mercer_ctx *ctx, const struct svm_parameter *param, mercer_kernel **out);
mercer_status mc_svm_task_fit(mercer_ctx *ctx, const mc_svm_task *task, mercer_model **out);
/* The decisions for rows asked about, rows x decisions of the model. */
mercer_status mc_svm_task_decide(mercer_ctx *ctx, const mc_svm_task *task, const mercer_model *model,
                                 const struct svm_problem *asked, double *out);

/* A context of all processors; failures are written to standard error. */
mercer_status mc_svm_open_context(mercer_ctx **out);
void mc_svm_report_failure(const mercer_ctx *ctx, const char *function);

#endif
