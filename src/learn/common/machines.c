/* machines.c: the table of machines, and settings as the public sees them. */
#include "learn/common/machines.h"
#include "base/ctx.h"
#include "base/settings.h"
#include "base/status.h"
#include <string.h>

enum {
    RIDGE,
    GP,
    SVC,
    NU_SVC,
    SVR,
    NU_SVR,
    ONE_CLASS,
    LMS,
    PCA,
    KNN,
    LOGISTIC,
    SQUARED_HINGE,
    HUBER,
    QUANTILE,
    ABSOLUTE,
    MACHINES
};

static const mercer_machine machines[MACHINES] = {
    [RIDGE] = {.name = "ridge",
               .help = "least squares with a penalty on the norm; numbers (several outputs) or classes",
               .settings = mc_ridge_settings,
               .count = MC_RIDGE_SETTINGS,
               .size = sizeof(mercer_ridge)},
    [GP] = {.name = "gp",
            .help = "Gaussian process regression: mean and uncertainty, the kernel's parameters learned",
            .settings = mc_gp_settings,
            .count = MC_GP_SETTINGS,
            .size = sizeof(mercer_gp)},
    [SVC] = {.name = "svc",
             .help = "support vector classification: the widest margin at the price C for rows inside it",
             .settings = mc_svc_settings,
             .count = MC_SVC_SETTINGS,
             .size = sizeof(mercer_svm),
             .target = MERCER_TARGET_CLASS},
    [NU_SVC] = {.name = "nu-svc",
                .help = "support vector classification with a share nu of the rows allowed inside the margin",
                .settings = mc_nu_svc_settings,
                .count = MC_NU_SVC_SETTINGS,
                .size = sizeof(mercer_svm),
                .target = MERCER_TARGET_CLASS},
    [SVR] = {.name = "svr",
             .help = "support vector regression: errors below epsilon cost nothing",
             .settings = mc_svr_settings,
             .count = MC_SVR_SETTINGS,
             .size = sizeof(mercer_svm),
             .target = MERCER_TARGET_NUMBER},
    [NU_SVR] = {.name = "nu-svr",
                .help = "support vector regression with a share nu of the rows allowed outside the tube",
                .settings = mc_nu_svr_settings,
                .count = MC_NU_SVR_SETTINGS,
                .size = sizeof(mercer_svm),
                .target = MERCER_TARGET_NUMBER},
    [ONE_CLASS] = {.name = "one-class",
                   .help = "the region that holds all but a share nu of the rows: 1 inside, -1 outside",
                   .settings = mc_one_class_settings,
                   .count = MC_ONE_CLASS_SETTINGS,
                   .size = sizeof(mercer_svm),
                   .target = MERCER_TARGET_NONE},
    [LMS] = {.name = "lms",
             .help =
                 "least squares by steps against the error, stopped early; batch or one sample at a time, and updates",
             .settings = mc_lms_settings,
             .count = MC_LMS_SETTINGS,
             .size = sizeof(mercer_lms)},
    [PCA] = {.name = "pca",
             .help =
                 "kernel principal components: the directions of most variance in feature space, and scores of rows",
             .settings = mc_pca_settings,
             .count = MC_PCA_SETTINGS,
             .size = sizeof(mercer_pca),
             .target = MERCER_TARGET_NONE},
    [KNN] = {.name = "knn",
             .help = "the nearest rows in feature space decide: classes by votes, numbers by their mean",
             .settings = mc_knn_settings,
             .count = MC_KNN_SETTINGS,
             .size = sizeof(mercer_knn)},
    [LOGISTIC] = {.name = "logistic",
                  .help =
                      "classes with probabilities: the likeliest function under a penalty; softmax for more than two",
                  .settings = mc_logistic_settings,
                  .count = MC_LOGISTIC_SETTINGS,
                  .size = sizeof(mercer_loss),
                  .target = MERCER_TARGET_CLASS},
    [SQUARED_HINGE] =
        {.name = "squared-hinge",
         .help = "classes by a margin whose violations count by their squares; more than two one against the rest",
         .settings = mc_squared_hinge_settings,
         .count = MC_SQUARED_HINGE_SETTINGS,
         .size = sizeof(mercer_loss),
         .target = MERCER_TARGET_CLASS},
    [HUBER] = {.name = "huber",
               .help = "regression that outliers do not pull: squares up to delta, sizes beyond",
               .settings = mc_huber_settings,
               .count = MC_HUBER_SETTINGS,
               .size = sizeof(mercer_loss),
               .target = MERCER_TARGET_NUMBER},
    [QUANTILE] = {.name = "quantile",
                  .help = "the tau quantile of the target given the row",
                  .settings = mc_quantile_settings,
                  .count = MC_QUANTILE_SETTINGS,
                  .size = sizeof(mercer_loss),
                  .target = MERCER_TARGET_NUMBER},
    [ABSOLUTE] = {.name = "absolute",
                  .help = "least absolute errors: the median of the target given the row",
                  .settings = mc_absolute_settings,
                  .count = MC_ABSOLUTE_SETTINGS,
                  .size = sizeof(mercer_loss),
                  .target = MERCER_TARGET_NUMBER},
};
static const mc_learner *const learners[MACHINES] = {[RIDGE] = &mc_ridge_learner,
                                                     [GP] = &mc_gp_learner,
                                                     [SVC] = &mc_svc_learner,
                                                     [NU_SVC] = &mc_nu_svc_learner,
                                                     [SVR] = &mc_svr_learner,
                                                     [NU_SVR] = &mc_nu_svr_learner,
                                                     [ONE_CLASS] = &mc_one_class_learner,
                                                     [LMS] = &mc_lms_learner,
                                                     [PCA] = &mc_pca_learner,
                                                     [KNN] = &mc_knn_learner,
                                                     [LOGISTIC] = &mc_logistic_learner,
                                                     [SQUARED_HINGE] = &mc_squared_hinge_learner,
                                                     [HUBER] = &mc_huber_learner,
                                                     [QUANTILE] = &mc_quantile_learner,
                                                     [ABSOLUTE] = &mc_absolute_learner};

const mercer_machine *mercer_machines(int *count) {
    if (count)
        *count = MACHINES;
    return machines;
}

const mercer_machine *mercer_machine_find(const char *name) {
    if (!name)
        return NULL;
    for (int i = 0; i < MACHINES; i++)
        if (strcmp(machines[i].name, name) == 0)
            return &machines[i];
    return NULL;
}

const mc_learner *mc_learner_of(const mercer_machine *machine) {
    for (int i = 0; i < MACHINES; i++)
        if (machine == &machines[i])
            return learners[i];
    return NULL;
}

void mercer_settings_defaults(const mercer_machine *machine, void *settings) {
    if (!machine || !settings)
        return;
    memset(settings, 0, machine->size);
    mc_settings_fill(machine->settings, machine->count, settings);
}

mercer_status mercer_settings_put(mercer_ctx *ctx, const mercer_machine *machine, void *settings, const char *name,
                                  const char *text) {
    MC_NEED(ctx, machine, settings, name, text);
    mc_begin(ctx);
    return mc_settings_write(ctx, machine->name, machine->settings, machine->count, settings, name, text);
}

mercer_ridge mercer_ridge_defaults(void) {
    mercer_ridge set;
    mercer_settings_defaults(&machines[RIDGE], &set);
    return set;
}

mercer_gp mercer_gp_defaults(void) {
    mercer_gp set;
    mercer_settings_defaults(&machines[GP], &set);
    return set;
}

mercer_lms mercer_lms_defaults(void) {
    mercer_lms set;
    mercer_settings_defaults(&machines[LMS], &set);
    return set;
}

mercer_pca mercer_pca_defaults(void) {
    mercer_pca set;
    mercer_settings_defaults(&machines[PCA], &set);
    return set;
}

mercer_knn mercer_knn_defaults(void) {
    mercer_knn set;
    mercer_settings_defaults(&machines[KNN], &set);
    return set;
}

mercer_loss mercer_loss_defaults(const char *machine) {
    mercer_loss set = {.class_weight = "", .solver = "auto", .tau = 0.5, .delta = 1, .iterations = 1};
    const mercer_machine *row =
        !machine || strcmp(machine, "own-loss") ? mercer_machine_find(machine) : &machines[LOGISTIC];
    if (row >= &machines[LOGISTIC] && row <= &machines[ABSOLUTE])
        mc_settings_fill(row->settings, row->count, &set);
    return set;
}

mercer_svm mercer_svm_defaults(const char *machine) {
    mercer_svm set = {.multiclass = "ovo", .class_weight = ""};
    const mercer_machine *row = mercer_machine_find(machine);
    if (row && row->size == sizeof set)
        mc_settings_fill(row->settings, row->count, &set);
    return set;
}
