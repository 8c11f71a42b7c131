/* train.c: svm_train: rows put into classes, the machine fitted, probabilities where asked for, and the function
   written as LIBSVM's model. A failure is a sentence on standard error and a model that is NULL. */
#include "libsvm/model_memory.h"
#include "libsvm/print_hook.h"
#include "libsvm/probability.h"
#include "base/memory.h"
#include "base/sort.h"
#include "base/status.h"
#include "model/model.h"
#include <math.h>
#include <string.h>

/* What training collects. */
typedef struct training {
    mc_svm_task task;
    mc_class_groups groups; /* of classes */
    double *weight;
    mercer_model *fitted;
    int64_t *order;      /* of the model's vectors: its centres by class and row */
    int64_t *centre_row; /* the row of each centre */
    struct svm_model *model;
} training;

/* ---- What it tells ---- */

typedef struct program_counts {
    int vectors, bounded, rows;
    double mass;        /* sum of |coefficients| */
    double least, most; /* weights of rows */
} program_counts;

static void count_vector(const training *t, int64_t centre, double c, double bound, program_counts *out) {
    const int64_t row = t->centre_row[centre];
    const double limit = bound * (t->weight ? t->weight[row] : 1);
    out->vectors += c != 0;
    out->bounded += c != 0 && fabs(c) >= limit * (1 - 1e-12);
    out->mass += fabs(c);
}

static program_counts count_program(const training *t, int64_t decision, double bound) {
    program_counts all = {.rows = t->task.problem->l, .least = 1, .most = 1};
    int64_t first = 0, second = 0;
    if (t->task.place) {
        mc_pair_classes(t->groups.classes, decision, &first, &second);
        all.rows = t->groups.count[first] + t->groups.count[second];
        const double weight_a = t->weight ? t->weight[t->groups.row[t->groups.start[first]]] : 1;
        const double weight_b = t->weight ? t->weight[t->groups.row[t->groups.start[second]]] : 1;
        all.least = fmin(weight_a, weight_b);
        all.most = fmax(weight_a, weight_b);
    }
    for (int64_t i = 0; i < mercer_model_centres(t->fitted); i++) {
        const int64_t place = t->task.place ? t->task.place[t->centre_row[i]] : 0;
        if (!t->task.place || place == first || place == second)
            count_vector(t, i, mc_fitted_coefficient(&t->fitted->f, i, decision), bound, &all);
    }
    return all;
}

/* LIBSVM's objective is what it minimizes, the constant parts of nu-svc and nu-svr left out. */
static double objective_of(const training *t, double dual, const program_counts *all, double epsilon) {
    switch (t->task.param->svm_type) {
    case SVM_NU_SVC: return all->mass - dual;
    case SVM_NU_SVR: return -dual - epsilon * all->mass;
    default: return -dual;
    }
}

static void say_program(const training *t, int64_t decision) {
    const mercer_svm_box box = mercer_model_box(t->fitted, decision);
    const int type = t->task.param->svm_type;
    const double bound = type == SVM_ONE_CLASS ? 1 : box.C, *solved = t->fitted->f.solved + 2 * decision;
    const program_counts all = count_program(t, decision, bound);
    mc_svm_say("*\noptimization finished, #iter = %d\n", solved[1] < 2147483647 ? (int)solved[1] : 2147483647);
    if (type == SVM_NU_SVC)
        mc_svm_say("C = %f\n", box.C);
    else if (type == SVM_NU_SVR)
        mc_svm_say("epsilon = %f\n", box.epsilon);
    else if (type == SVM_EPSILON_SVR || (type == SVM_C_SVC && all.least == all.most))
        mc_svm_say("nu = %f\n", all.mass / (box.C * all.most * all.rows));
    mc_svm_say("obj = %f, rho = %f\n", objective_of(t, solved[0], &all, box.epsilon),
               -t->fitted->f.intercept[decision]);
    mc_svm_say("nSV = %d, nBSV = %d\n", all.vectors, all.bounded);
}

static void say_training(const training *t) {
    for (int64_t k = 0; t->fitted && k < mercer_model_decisions(t->fitted); k++)
        say_program(t, k);
    if (t->task.place)
        mc_svm_say("Total nSV = %d\n", t->model->l);
}

/* ---- The model ---- */

static int compare_centres(const void *arg, int64_t a, int64_t b) {
    const training *t = arg;
    const int64_t row_a = t->centre_row[a], row_b = t->centre_row[b];
    const int place_a = t->task.place ? t->task.place[row_a] : 0, place_b = t->task.place ? t->task.place[row_b] : 0;
    return place_a != place_b ? (place_a > place_b) - (place_a < place_b) : (row_a > row_b) - (row_a < row_b);
}

static mercer_status order_centres(mercer_ctx *ctx, training *t) {
    const int64_t count = mercer_model_centres(t->fitted);
    MC_TRY(MC_ALLOC(ctx, t->order, 2 * count)); /* with what sorting needs */
    MC_TRY(MC_ALLOC(ctx, t->centre_row, count));
    mercer_model_rows(t->fitted, t->centre_row);
    for (int64_t i = 0; i < count; i++)
        t->order[i] = i;
    mc_sort(t->order, t->order + count, count, compare_centres, t);
    return MERCER_OK;
}

static void write_vectors(const training *t) {
    struct svm_model *m = t->model;
    const mc_fitted *f = &t->fitted->f;
    const int64_t width = m->nr_class - 1;
    for (int k = 0; k < m->l; k++) {
        const int64_t centre = t->order[k], row = t->centre_row[centre];
        m->SV[k] = t->task.problem->x[row];
        m->sv_indices[k] = (int)row + 1;
        for (int64_t j = 0; j < width; j++)
            m->sv_coef[j][k] = f->alpha[centre * width + j];
        if (m->nSV)
            m->nSV[t->task.place[row]]++;
    }
    for (int64_t k = 0; k < mercer_model_decisions(t->fitted); k++)
        m->rho[k] = -f->intercept[k];
}

static mercer_status make_model(mercer_ctx *ctx, training *t) {
    const int vectors = t->fitted ? (int)mercer_model_centres(t->fitted) : 0;
    const bool classes = t->task.place != NULL;
    const int type = t->task.param->svm_type;
    t->model = mc_svm_model_new(t->task.param, classes ? t->groups.classes : 2, vectors, classes,
                                t->task.param->probability && type != SVM_ONE_CLASS);
    if (t->model)
        t->model->sv_indices = mc_svm_array(vectors, sizeof *t->model->sv_indices);
    if (!t->model || !t->model->sv_indices)
        return mc_fail(ctx, MERCER_MEMORY, "memory: the system has none left");
    for (int c = 0; c < t->groups.classes && classes; c++)
        t->model->label[c] = t->groups.label[c];
    if (t->fitted)
        write_vectors(t);
    return MERCER_OK;
}

/* ---- The order of work ---- */

static mercer_status open_training(mercer_ctx *ctx, const struct svm_problem *problem,
                                   const struct svm_parameter *param, training *t) {
    if (problem->l < 1)
        return mc_fail(ctx, MERCER_DATA, "the problem has no rows");
    t->task = (mc_svm_task){.param = param, .problem = problem};
    t->task.shape = mc_node_shape_of(problem, param->kernel_type == SVM_PRECOMPUTED);
    if (!mc_svm_type_has_classes(param->svm_type))
        return MERCER_OK;
    MC_TRY(mc_class_groups_open(ctx, problem, &t->groups));
    t->task.place = t->groups.place;
    MC_TRY(mc_group_weights(ctx, param, &t->groups, problem->l, &t->weight));
    t->task.weight = t->weight;
    return MERCER_OK;
}

/* Folds of all rows, as svm_cross_validation draws them. */
static mercer_status find_laplace_scale(mercer_ctx *ctx, const training *t, double *out) {
    const struct svm_problem *problem = t->task.problem;
    struct svm_parameter plain = *t->task.param;
    double *residual = NULL;
    plain.probability = 0;
    MC_TRY(MC_ALLOC(ctx, residual, problem->l));
    svm_cross_validation(problem, &plain, MC_PLATT_FOLDS, residual);
    for (int i = 0; i < problem->l; i++)
        residual[i] = problem->y[i] - residual[i];
    *out = mc_laplace_scale(problem->l, residual);
    mc_free(residual);
    mc_svm_say("Prob. model for test data: target value = predicted value + z,\n"
               "z: Laplace distribution e^(-|z|/sigma)/(2sigma),sigma= %g\n",
               *out);
    return MERCER_OK;
}

static mercer_status train_whole(mercer_ctx *ctx, training *t) {
    const bool single = t->task.place && t->groups.classes == 1, wanted = t->task.param->probability;
    double scale = 0;
    if (single)
        mc_svm_say("WARNING: training data in only one class. See README for details.\n");
    if (wanted && !t->task.place && t->task.param->svm_type != SVM_ONE_CLASS)
        MC_TRY(find_laplace_scale(ctx, t, &scale));
    if (!single)
        MC_TRY(mc_svm_task_fit(ctx, &t->task, &t->fitted));
    if (t->fitted)
        MC_TRY(order_centres(ctx, t));
    MC_TRY(make_model(ctx, t));
    if (wanted && t->task.place)
        MC_TRY(mc_platt_pairs(ctx, &t->task, &t->groups, t->model->probA, t->model->probB));
    else if (t->model->probA)
        t->model->probA[0] = scale;
    say_training(t);
    return MERCER_OK;
}

struct svm_model *svm_train(const struct svm_problem *problem, const struct svm_parameter *param) {
    mercer_ctx *ctx = NULL;
    training t = {0};
    mercer_status status = mc_svm_open_context(&ctx);
    if (!status) {
        status = open_training(ctx, problem, param, &t);
        MC_THEN(status, train_whole(ctx, &t));
        if (status)
            mc_svm_report_failure(ctx, "svm_train");
    }
    if (status)
        svm_free_and_destroy_model(&t.model);
    mercer_model_free(t.fitted);
    mc_free(t.order);
    mc_free(t.centre_row);
    mc_free(t.weight);
    mc_class_groups_close(&t.groups);
    mercer_close(ctx);
    return t.model;
}
