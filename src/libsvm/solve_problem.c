/* solve_problem.c: see solve_problem.h. LIBSVM takes any function for a kernel: sigmoid is none, and a polynomial
   with a negative constant is none either; Mercer is told to fit all the same, which finds a stationary point, as
   LIBSVM does. */
#include "libsvm/solve_problem.h"
#include "base/memory.h"
#include "base/status.h"
#include "model/libsvm/libsvm_model.h"
#include <math.h>
#include <stdio.h>

/* ---- The kernel ---- */

mercer_status mc_svm_task_kernel(mercer_ctx *ctx, const struct svm_parameter *param, mercer_kernel **out) {
    char text[160];
    mc_libsvm_kernel_text(param->kernel_type, param->degree, param->gamma, param->coef0, text, sizeof text);
    return mercer_kernel_parse(ctx, text, out);
}

/* ---- The fit ---- */

static mercer_svm settings_of(const struct svm_parameter *p) {
    mercer_svm set = mercer_svm_defaults(mc_libsvm_machines[p->svm_type]);
    if (p->svm_type != SVM_NU_SVC && p->svm_type != SVM_ONE_CLASS)
        set.C = p->C;
    if (p->svm_type == SVM_NU_SVC || p->svm_type == SVM_NU_SVR || p->svm_type == SVM_ONE_CLASS)
        set.nu = p->nu;
    if (p->svm_type == SVM_EPSILON_SVR)
        set.epsilon = p->p;
    set.nu_fallback = p->svm_type == SVM_NU_SVC;
    set.tolerance = fmin(fmax(p->eps, 1e-12), 1);
    set.scale = "none";
    set.allow_indefinite = true;
    return set;
}

mercer_status mc_svm_task_fit(mercer_ctx *ctx, const mc_svm_task *task, mercer_model **out) {
    const mercer_svm set = settings_of(task->param);
    const bool numbers = task->param->svm_type == SVM_EPSILON_SVR || task->param->svm_type == SVM_NU_SVR;
    const mc_node_target target = {
        .place = task->place, .number = numbers ? task->problem->y : NULL, .weight = task->weight};
    mercer_kernel *kernel = NULL;
    mercer_data *data = NULL;
    mercer_status status = mc_svm_task_kernel(ctx, task->param, &kernel);
    MC_THEN(status, mc_node_data(ctx, &task->shape, task->problem, &target, &data));
    MC_THEN(status, mercer_fit(ctx, mc_libsvm_machines[task->param->svm_type], &set, kernel, data, out));
    mercer_data_free(data);
    mercer_kernel_free(kernel);
    return status;
}

mercer_status mc_svm_task_decide(mercer_ctx *ctx, const mc_svm_task *task, const mercer_model *model,
                                 const struct svm_problem *asked, double *out) {
    mercer_data *data = NULL;
    mercer_status status = mc_node_questions(ctx, &task->shape, task->problem, asked, &data);
    MC_THEN(status, mercer_decide(ctx, model, data, out));
    mercer_data_free(data);
    return status;
}

/* ---- The context ---- */

mercer_status mc_svm_open_context(mercer_ctx **out) {
    const mercer_status status = mercer_open(NULL, out);
    if (status)
        mc_svm_report_failure(*out, "mercer_open");
    return status;
}

void mc_svm_report_failure(const mercer_ctx *ctx, const char *function) {
    fprintf(stderr, "%s: %s\n", function, mercer_message(ctx));
}
