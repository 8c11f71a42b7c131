/* check_parameter.c: whether parameters and a problem can be trained, in LIBSVM's words, and what a model knows. */
#include "libsvm/class_groups.h"
#include "libsvm/solve_problem.h"
#include "base/memory.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

int libsvm_version = 324;

/* Of every pair the smaller class has as many rows as nu / 2 of both. */
static bool nu_is_feasible(const mc_class_groups *g, double nu) {
    for (int a = 0; a < g->classes; a++)
        for (int b = a + 1; b < g->classes; b++)
            if (nu * (g->count[a] + g->count[b]) / 2 > (g->count[a] < g->count[b] ? g->count[a] : g->count[b]))
                return false;
    return true;
}

static const char *check_nu_of_classes(const struct svm_problem *problem, double nu) {
    mercer_ctx *ctx = NULL;
    mc_class_groups groups;
    const char *wrong = "not enough memory";
    if (!mc_svm_open_context(&ctx) && !mc_class_groups_open(ctx, problem, &groups)) {
        wrong = nu_is_feasible(&groups, nu) ? NULL : "specified nu is infeasible";
        mc_class_groups_close(&groups);
    }
    mercer_close(ctx);
    return wrong;
}

static const char *check_kernel(const struct svm_parameter *p) {
    if (p->kernel_type < SVM_LINEAR || p->kernel_type > SVM_PRECOMPUTED)
        return "unknown kernel type";
    const bool has_gamma = p->kernel_type != SVM_LINEAR && p->kernel_type != SVM_PRECOMPUTED;
    if (has_gamma && p->gamma < 0)
        return "gamma < 0";
    return p->kernel_type == SVM_POLY && p->degree < 0 ? "degree of polynomial kernel < 0" : NULL;
}

static const char *check_numbers(const struct svm_parameter *p) {
    const bool has_C = p->svm_type == SVM_C_SVC || p->svm_type == SVM_EPSILON_SVR || p->svm_type == SVM_NU_SVR;
    const bool has_nu = p->svm_type == SVM_NU_SVC || p->svm_type == SVM_ONE_CLASS || p->svm_type == SVM_NU_SVR;
    if (p->cache_size <= 0)
        return "cache_size <= 0";
    if (p->eps <= 0)
        return "eps <= 0";
    if (has_C && p->C <= 0)
        return "C <= 0";
    if (has_nu && (p->nu <= 0 || p->nu > 1))
        return "nu <= 0 or nu > 1";
    return p->svm_type == SVM_EPSILON_SVR && p->p < 0 ? "p < 0" : NULL;
}

static const char *check_switches(const struct svm_parameter *p) {
    if (p->shrinking != 0 && p->shrinking != 1)
        return "shrinking != 0 and shrinking != 1";
    if (p->probability != 0 && p->probability != 1)
        return "probability != 0 and probability != 1";
    return p->probability == 1 && p->svm_type == SVM_ONE_CLASS ? "one-class SVM probability output not supported yet"
                                                               : NULL;
}

const char *svm_check_parameter(const struct svm_problem *problem, const struct svm_parameter *param) {
    if (param->svm_type < SVM_C_SVC || param->svm_type > SVM_NU_SVR)
        return "unknown svm type";
    const char *wrong = check_kernel(param);
    if (!wrong)
        wrong = check_numbers(param);
    if (!wrong)
        wrong = check_switches(param);
    return wrong || param->svm_type != SVM_NU_SVC ? wrong : check_nu_of_classes(problem, param->nu);
}

int svm_check_probability_model(const struct svm_model *model) {
    const bool classes = mc_svm_type_has_classes(model->param.svm_type);
    const bool region = model->param.svm_type == SVM_ONE_CLASS;
    return !region && model->probA && (!classes || model->probB);
}

int svm_get_svm_type(const struct svm_model *model) {
    return model->param.svm_type;
}

int svm_get_nr_class(const struct svm_model *model) {
    return model->nr_class;
}

int svm_get_nr_sv(const struct svm_model *model) {
    return model->l;
}

void svm_get_labels(const struct svm_model *model, int *label) {
    if (model->label)
        memcpy(label, model->label, (size_t)model->nr_class * sizeof *label);
}

void svm_get_sv_indices(const struct svm_model *model, int *indices) {
    if (model->sv_indices)
        memcpy(indices, model->sv_indices, (size_t)model->l * sizeof *indices);
}

double svm_get_svr_probability(const struct svm_model *model) {
    const int type = model->param.svm_type;
    if ((type == SVM_EPSILON_SVR || type == SVM_NU_SVR) && model->probA)
        return model->probA[0];
    fprintf(stderr, "Model doesn't contain information for SVR probability inference\n");
    return 0;
}
