/* machines.h: the machines there are. One row each: what the public sees, and how it learns. */
#ifndef MC_LEARN_COMMON_MACHINES_H
#define MC_LEARN_COMMON_MACHINES_H

#include "plan/forecast.h"
#include "predict/fitted.h"
#include <stddef.h>

/* Rows of settings: the struct and its field, the name, the default, for numbers the closed range, help. */
#define MC_REAL_ROW(set, field, text, start, least, most, about)                                                       \
    {                                                                                                                  \
        .name = text, .type = MERCER_REAL, .offset = offsetof(set, field), .initial = start, .low = least,             \
        .high = most, .help = about                                                                                    \
    }
#define MC_INTEGER_ROW(set, field, text, start, least, most, about)                                                    \
    {                                                                                                                  \
        .name = text, .type = MERCER_INTEGER, .offset = offsetof(set, field), .initial = start, .low = least,          \
        .high = most, .help = about                                                                                    \
    }
#define MC_FLAG_ROW(set, field, text, start, about)                                                                    \
    { .name = text, .type = MERCER_FLAG, .offset = offsetof(set, field), .initial = start, .high = 1, .help = about }
#define MC_TEXT_ROW(set, field, text, start, list, about)                                                              \
    {                                                                                                                  \
        .name = text, .type = MERCER_TEXT, .offset = offsetof(set, field), .initial_text = start, .choices = list,     \
        .help = about                                                                                                  \
    }
/* The row that every machine has. */
#define MC_SCALE_ROW(set)                                                                                              \
    MC_TEXT_ROW(set, scale, "scale", "auto", "auto|none|standard|minmax",                                              \
                "scaling of the columns; auto: standard where their spreads differ more than tenfold")

/* Settings are checked before any of these is called. */
typedef struct mc_learner {
    mercer_status (*fit)(mercer_ctx *ctx, const void *settings, const mercer_kernel *kernel, const mercer_data *data,
                         mc_fitted *out);
    mc_planner plan;
    double products; /* with K that a fit makes, about: whether a card is worth opening for them */
} mc_learner;

const mc_learner *mc_learner_of(const mercer_machine *machine);

/* MERCER_INVALID with the name that was probably meant. */
mercer_status mc_machine_named(mercer_ctx *ctx, const char *name, const mercer_machine **out);

/* How every settings struct of a machine begins. */
typedef struct mc_settings_head {
    size_t size;
    const char *machine;
} mc_settings_head;

/* What every public call makes first of the name of a machine and its settings (NULL: the defaults): the row, and a
   copy of the settings, whole and checked. It lives on the stack, so that no forecast of memory has to count it. */
typedef struct mc_settings {
    const mercer_machine *machine;
    _Alignas(max_align_t) char values[256];
} mc_settings;
mercer_status mc_settings_read(mercer_ctx *ctx, const char *machine, const void *given, mc_settings *out);

enum { MC_RIDGE_SETTINGS = 12, MC_GP_SETTINGS = 9, MC_GP_ROWS = 10000 };
extern const mercer_setting mc_ridge_settings[MC_RIDGE_SETTINGS];
extern const mc_learner mc_ridge_learner;
extern const mercer_setting mc_gp_settings[MC_GP_SETTINGS];
extern const mc_learner mc_gp_learner;

enum { MC_LMS_SETTINGS = 10 };
extern const mercer_setting mc_lms_settings[MC_LMS_SETTINGS];
extern const mc_learner mc_lms_learner;

enum { MC_PCA_SETTINGS = 6 };
extern const mercer_setting mc_pca_settings[MC_PCA_SETTINGS];
extern const mc_learner mc_pca_learner;

enum { MC_KNN_SETTINGS = 3 };
extern const mercer_setting mc_knn_settings[MC_KNN_SETTINGS];
extern const mc_learner mc_knn_learner;

enum {
    MC_SVC_SETTINGS = 9,
    MC_NU_SVC_SETTINGS = 11,
    MC_SVR_SETTINGS = 8,
    MC_NU_SVR_SETTINGS = 8,
    MC_ONE_CLASS_SETTINGS = 7
};
extern const mercer_setting mc_svc_settings[MC_SVC_SETTINGS], mc_nu_svc_settings[MC_NU_SVC_SETTINGS],
    mc_svr_settings[MC_SVR_SETTINGS], mc_nu_svr_settings[MC_NU_SVR_SETTINGS],
    mc_one_class_settings[MC_ONE_CLASS_SETTINGS];
extern const mc_learner mc_svm_learner;

enum {
    MC_LOGISTIC_SETTINGS = 8,
    MC_SQUARED_HINGE_SETTINGS = 8,
    MC_HUBER_SETTINGS = 8,
    MC_QUANTILE_SETTINGS = 4,
    MC_ABSOLUTE_SETTINGS = 3
};
extern const mercer_setting mc_logistic_settings[MC_LOGISTIC_SETTINGS],
    mc_squared_hinge_settings[MC_SQUARED_HINGE_SETTINGS], mc_huber_settings[MC_HUBER_SETTINGS],
    mc_quantile_settings[MC_QUANTILE_SETTINGS], mc_absolute_settings[MC_ABSOLUTE_SETTINGS];
extern const mc_learner mc_loss_learner, mc_own_loss_learner;

#endif
