/* model_memory.c: see model_memory.h. */
#include "libsvm/model_memory.h"
#include "libsvm/solve_problem.h"
#include <stdlib.h>

void *mc_svm_array(int64_t count, size_t size) {
    return calloc(count > 0 ? (size_t)count : 1, size);
}

void mc_svm_array_free(void *array) {
    free(array);
}

/* Whether all of it is there. */
static bool make_arrays(struct svm_model *m, bool labels, bool probabilities) {
    const int64_t pairs = (int64_t)m->nr_class * (m->nr_class - 1) / 2;
    const bool classes = mc_svm_type_has_classes(m->param.svm_type);
    m->SV = mc_svm_array(m->l, sizeof *m->SV);
    m->rho = mc_svm_array(pairs, sizeof *m->rho);
    m->sv_coef = mc_svm_array(m->nr_class - 1, sizeof *m->sv_coef);
    bool good = m->SV && m->rho && m->sv_coef;
    for (int k = 0; k < m->nr_class - 1 && good; k++)
        good = (m->sv_coef[k] = mc_svm_array(m->l, sizeof **m->sv_coef)) != NULL;
    if (labels && good)
        good = (m->label = mc_svm_array(m->nr_class, sizeof *m->label)) != NULL
               && (m->nSV = mc_svm_array(m->nr_class, sizeof *m->nSV)) != NULL;
    if (probabilities && good)
        good = (m->probA = mc_svm_array(pairs, sizeof *m->probA)) != NULL
               && (!classes || (m->probB = mc_svm_array(pairs, sizeof *m->probB)) != NULL);
    return good;
}

struct svm_model *mc_svm_model_new(const struct svm_parameter *param, int classes, int vectors, bool labels,
                                   bool probabilities) {
    struct svm_model *m = mc_svm_array(1, sizeof *m);
    if (!m)
        return NULL;
    m->param = *param;
    m->nr_class = classes;
    m->l = vectors;
    if (!make_arrays(m, labels, probabilities))
        svm_free_and_destroy_model(&m);
    return m;
}

void svm_free_model_content(struct svm_model *m) {
    if (m->free_sv && m->l > 0 && m->SV)
        free(m->SV[0]);
    for (int k = 0; k < m->nr_class - 1 && m->sv_coef; k++)
        free(m->sv_coef[k]);
    void *const arrays[] = {m->SV, m->sv_coef, m->rho, m->label, m->probA, m->probB, m->sv_indices, m->nSV};
    for (size_t k = 0; k < sizeof arrays / sizeof arrays[0]; k++)
        free(arrays[k]);
    m->SV = NULL;
    m->sv_coef = NULL;
    m->rho = m->probA = m->probB = NULL;
    m->label = m->sv_indices = m->nSV = NULL;
}

void svm_free_and_destroy_model(struct svm_model **model) {
    if (!model || !*model)
        return;
    svm_free_model_content(*model);
    free(*model);
    *model = NULL;
}

void svm_destroy_param(struct svm_parameter *param) {
    free(param->weight_label);
    free(param->weight);
}
