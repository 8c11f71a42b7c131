/* class_groups.c: see class_groups.h. */
#include "libsvm/class_groups.h"
#include "base/memory.h"
#include "base/status.h"
#include <stdio.h>
#include <string.h>

static int label_of(double y) {
    return y >= 2147483647.0 ? 2147483647 : y >= -2147483648.0 ? (int)y : -2147483647 - 1;
}

static int find_label(const mc_class_groups *g, int label, int guess) {
    if (guess < g->classes && g->label[guess] == label)
        return guess;
    for (int c = 0; c < g->classes; c++)
        if (g->label[c] == label)
            return c;
    return g->classes;
}

/* place and label, counting as it goes. */
static void put_into_classes(const struct svm_problem *problem, mc_class_groups *g) {
    for (int i = 0; i < problem->l; i++) {
        const int label = label_of(problem->y[i]), c = find_label(g, label, i > 0 ? g->place[i - 1] : 0);
        if (c == g->classes)
            g->label[g->classes++] = label;
        g->place[i] = c;
        g->count[c]++;
    }
}

static void put_positive_first(const struct svm_problem *problem, mc_class_groups *g) {
    if (g->classes != 2 || g->label[0] != -1 || g->label[1] != 1)
        return;
    const int count = g->count[0];
    g->label[0] = 1;
    g->label[1] = -1;
    g->count[0] = g->count[1];
    g->count[1] = count;
    for (int i = 0; i < problem->l; i++)
        g->place[i] = 1 - g->place[i];
}

static void sort_rows(const struct svm_problem *problem, mc_class_groups *g) {
    for (int c = 1; c < g->classes; c++)
        g->start[c] = g->start[c - 1] + g->count[c - 1];
    for (int i = 0; i < problem->l; i++)
        g->row[g->start[g->place[i]]++] = i;
    for (int c = 0; c < g->classes; c++)
        g->start[c] -= g->count[c];
}

mercer_status mc_class_groups_open(mercer_ctx *ctx, const struct svm_problem *problem, mc_class_groups *out) {
    *out = (mc_class_groups){0};
    int **const arrays[] = {&out->label, &out->start, &out->count, &out->row, &out->place};
    mercer_status status = MERCER_OK;
    for (size_t k = 0; k < sizeof arrays / sizeof arrays[0]; k++)
        MC_THEN(status, MC_ALLOC(ctx, *arrays[k], problem->l + 1));
    if (status) {
        mc_class_groups_close(out);
        return status;
    }
    put_into_classes(problem, out);
    put_positive_first(problem, out);
    sort_rows(problem, out);
    return MERCER_OK;
}

void mc_class_groups_close(mc_class_groups *g) {
    int *const arrays[] = {g->label, g->start, g->count, g->row, g->place};
    for (size_t k = 0; k < sizeof arrays / sizeof arrays[0]; k++)
        mc_free(arrays[k]);
    *g = (mc_class_groups){0};
}

mercer_status mc_group_weights(mercer_ctx *ctx, const struct svm_parameter *param, const mc_class_groups *g, int rows,
                               double **out) {
    *out = NULL;
    if (param->svm_type != SVM_C_SVC || param->nr_weight <= 0)
        return MERCER_OK;
    double *of_class = NULL;
    MC_TRY(MC_ALLOC(ctx, of_class, g->classes));
    for (int c = 0; c < g->classes; c++)
        of_class[c] = 1;
    for (int k = 0; k < param->nr_weight; k++) {
        const int c = find_label(g, param->weight_label[k], 0);
        if (c == g->classes)
            fprintf(stderr, "WARNING: class label %d specified in weight is not found\n", param->weight_label[k]);
        else
            of_class[c] *= param->weight[k];
    }
    const mercer_status status = MC_ALLOC(ctx, *out, rows);
    for (int i = 0; i < rows && !status; i++)
        (*out)[i] = of_class[g->place[i]];
    mc_free(of_class);
    return status;
}
