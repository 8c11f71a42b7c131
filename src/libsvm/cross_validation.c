/* cross_validation.c: svm_cross_validation: every row predicted by a machine that was fitted without its fold.
   Folds are drawn by rand() as LIBSVM draws them, of classes evenly over the folds, so that both judge the same
   splits. Folds are fitted side by side; probabilities ask for folds within folds, and these are then side by side.
   */
#include "libsvm/model_memory.h"
#include "libsvm/probability.h"
#include "base/memory.h"
#include "base/status.h"
#include "predict/fitted.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct fold_work {
    const struct svm_problem *problem;
    const struct svm_parameter *param;
    mc_node_shape shape;
    int folds;
    int *row;   /* fold after fold */
    int *begin; /* of each fold among them, and the end */
    double *target;
} fold_work;

/* ---- Folds ---- */

static int share_of(int64_t fold, int64_t count, int64_t folds) {
    return (int)(fold * count / folds);
}

static void shuffle_class(int *row, int count) {
    for (int i = 0; i < count; i++) {
        const int j = i + rand() % (count - i), other = row[i];
        row[i] = row[j];
        row[j] = other;
    }
}

/* Each class is dealt out evenly. */
static void deal_classes(const mc_class_groups *g, fold_work *w) {
    for (int c = 0; c < g->classes; c++)
        shuffle_class(g->row + g->start[c], g->count[c]);
    int at = 0;
    for (int k = 0; k < w->folds; k++) {
        w->begin[k] = at;
        for (int c = 0; c < g->classes; c++)
            for (int i = share_of(k, g->count[c], w->folds); i < share_of(k + 1, g->count[c], w->folds); i++)
                w->row[at++] = g->row[g->start[c] + i];
    }
    w->begin[w->folds] = at;
}

static mercer_status draw_folds(mercer_ctx *ctx, fold_work *w) {
    const int l = w->problem->l;
    mc_class_groups groups;
    MC_TRY(MC_ALLOC(ctx, w->row, l));
    MC_TRY(MC_ALLOC(ctx, w->begin, w->folds + 1));
    if (mc_svm_type_has_classes(w->param->svm_type) && w->folds < l) {
        MC_TRY(mc_class_groups_open(ctx, w->problem, &groups));
        deal_classes(&groups, w);
        mc_class_groups_close(&groups);
        return MERCER_OK;
    }
    mc_shuffle_by_rand(l, w->row);
    for (int k = 0; k <= w->folds; k++)
        w->begin[k] = share_of(k, l, w->folds);
    return MERCER_OK;
}

/* ---- One fold ---- */

static mercer_status split_fold(mercer_ctx *ctx, const fold_work *w, int64_t k, struct svm_problem *learned,
                                struct svm_problem *asked) {
    const int begin = w->begin[k], end = w->begin[k + 1], l = w->problem->l;
    int *outside = NULL, count = 0;
    MC_TRY(MC_ALLOC(ctx, outside, l));
    for (int i = 0; i < l; i++)
        if (i < begin || i >= end)
            outside[count++] = w->row[i];
    mercer_status status = mc_node_part(ctx, w->problem, outside, count, learned);
    MC_THEN(status, mc_node_part(ctx, w->problem, w->row + begin, end - begin, asked));
    mc_free(outside);
    return status;
}

static double predicted_value(const fold_work *w, const mc_class_groups *g, const double *decision) {
    if (w->param->svm_type == SVM_ONE_CLASS)
        return decision[0] > 0 ? 1 : -1;
    return g->classes ? g->label[mc_pair_winner(g->classes, decision)] : decision[0];
}

static mercer_status predict_fold(mercer_ctx *ctx, const fold_work *w, int64_t k, const mc_svm_task *task,
                                  const mc_class_groups *g, const struct svm_problem *asked) {
    mercer_model *model = NULL;
    double *decision = NULL;
    if (g->classes == 1) {
        for (int i = 0; i < asked->l; i++)
            w->target[w->row[w->begin[k] + i]] = g->label[0];
        return MERCER_OK;
    }
    mercer_status status = mc_svm_task_fit(ctx, task, &model);
    const int64_t decisions = model ? mercer_model_decisions(model) : 0;
    MC_THEN(status, MC_ALLOC(ctx, decision, asked->l * decisions));
    MC_THEN(status, mc_svm_task_decide(ctx, task, model, asked, decision));
    for (int i = 0; i < asked->l && !status; i++)
        w->target[w->row[w->begin[k] + i]] = predicted_value(w, g, decision + i * decisions);
    mc_free(decision);
    mercer_model_free(model);
    return status;
}

static mercer_status solve_fold(mercer_ctx *ctx, const fold_work *w, int64_t k, const struct svm_problem *learned,
                                const struct svm_problem *asked) {
    mc_class_groups groups = {0};
    mc_svm_task task = {.param = w->param, .shape = w->shape, .problem = learned};
    double *weight = NULL;
    mercer_status status = MERCER_OK;
    if (mc_svm_type_has_classes(w->param->svm_type)) {
        status = mc_class_groups_open(ctx, learned, &groups);
        MC_THEN(status, mc_group_weights(ctx, w->param, &groups, learned->l, &weight));
        task.place = groups.place;
        task.weight = weight;
    }
    MC_THEN(status, predict_fold(ctx, w, k, &task, &groups, asked));
    mc_free(weight);
    mc_class_groups_close(&groups);
    return status;
}

/* What could not be predicted is no number, so that no score is made of it: of a fold that has all rows. */
static void spoil_target(const fold_work *w, int64_t k) {
    for (int i = w->begin[k]; i < w->begin[k + 1]; i++)
        w->target[w->row[i]] = NAN;
}

static mercer_status fold_job(mercer_ctx *ctx, void *arg, int64_t k) {
    const fold_work *w = arg;
    struct svm_problem learned = {0}, asked = {0};
    if (w->begin[k] == w->begin[k + 1])
        return MERCER_OK;
    mercer_status status = split_fold(ctx, w, k, &learned, &asked);
    if (!status && learned.l < 1)
        spoil_target(w, k);
    else
        MC_THEN(status, solve_fold(ctx, w, k, &learned, &asked));
    mc_node_part_free(&learned);
    mc_node_part_free(&asked);
    return status;
}

/* Classes by their probabilities: the fold's model is one that gives them. */
static mercer_status estimate_fold(mercer_ctx *ctx, const fold_work *w, int64_t k) {
    struct svm_problem learned = {0}, asked = {0};
    mercer_status status = split_fold(ctx, w, k, &learned, &asked);
    if (!status && learned.l < 1) {
        spoil_target(w, k);
        asked.l = 0;
    }
    struct svm_model *model = status || asked.l == 0 ? NULL : svm_train(&learned, w->param);
    double *estimates = model ? mc_svm_array(model->nr_class, sizeof *estimates) : NULL;
    if (!status && asked.l > 0 && !estimates)
        status = mc_fail(ctx, MERCER_DATA, "cross-validation: fold %lld could not be fitted", (long long)k + 1);
    for (int i = 0; i < asked.l && !status; i++)
        w->target[w->row[w->begin[k] + i]] = svm_predict_probability(model, asked.x[i], estimates);
    mc_svm_array_free(estimates);
    svm_free_and_destroy_model(&model);
    mc_node_part_free(&learned);
    mc_node_part_free(&asked);
    return status;
}

/* ---- All of them ---- */

static mercer_status solve_folds(mercer_ctx *ctx, fold_work *w) {
    const mc_svm_task whole = {.param = w->param, .shape = w->shape, .problem = w->problem};
    if (!w->param->probability || !mc_svm_type_has_classes(w->param->svm_type))
        return mc_svm_run_parts(ctx, &whole, w->problem->l, w->folds, w, fold_job);
    for (int64_t k = 0; k < w->folds; k++)
        MC_TRY(estimate_fold(ctx, w, k));
    return MERCER_OK;
}

void svm_cross_validation(const struct svm_problem *problem, const struct svm_parameter *param, int nr_fold,
                          double *target) {
    mercer_ctx *ctx = NULL;
    fold_work w = {.problem = problem, .param = param, .folds = nr_fold, .target = target};
    if (nr_fold > problem->l) {
        w.folds = problem->l;
        fprintf(stderr, "WARNING: # folds > # data. Will use # folds = # data instead (i.e., leave-one-out cross "
                        "validation)\n");
    }
    mercer_status status = mc_svm_open_context(&ctx);
    if (!status) {
        w.shape = mc_node_shape_of(problem, param->kernel_type == SVM_PRECOMPUTED);
        status = draw_folds(ctx, &w);
        MC_THEN(status, solve_folds(ctx, &w));
        if (status)
            mc_svm_report_failure(ctx, "svm_cross_validation");
    }
    for (int i = 0; i < problem->l && status; i++)
        target[i] = NAN;
    mc_free(w.row);
    mc_free(w.begin);
    mercer_close(ctx);
}
