/* machines.c: the table of machines, and settings as the public sees them. */
#include "learn/common/machines.h"
#include "base/ctx.h"
#include "base/print.h"
#include "base/settings.h"
#include "base/sized.h"
#include "base/status.h"
#include "base/suggest.h"
#include <assert.h>
#include <string.h>

/* Each with its name, rows of settings and their struct, how it learns, what from, and help. The last needs a function
   of the caller's; those before it are chosen by name alone. */
#define MACHINE_MAP(X)                                                                                                 \
    X(RIDGE, "ridge", mc_ridge_settings, mercer_ridge, mc_ridge_learner, AUTO,                                         \
      "kernel ridge regression: regularized least squares; numeric targets (several outputs) or classes")              \
    X(GP, "gp", mc_gp_settings, mercer_gp, mc_gp_learner, AUTO,                                                        \
      "Gaussian process regression: mean and standard deviation; kernel parameters learned by maximizing the "         \
      "evidence")                                                                                                      \
    X(SVC, "svc", mc_svc_settings, mercer_svm, mc_svm_learner, CLASS,                                                  \
      "C-support vector classification: the widest margin; C weighs the rows that violate it")                         \
    X(NU_SVC, "nu-svc", mc_nu_svc_settings, mercer_svm, mc_svm_learner, CLASS,                                         \
      "nu-support vector classification: at most a fraction nu of the rows violates the margin")                       \
    X(SVR, "svr", mc_svr_settings, mercer_svm, mc_svm_learner, NUMBER,                                                 \
      "epsilon-support vector regression: errors below epsilon cost nothing")                                          \
    X(NU_SVR, "nu-svr", mc_nu_svr_settings, mercer_svm, mc_svm_learner, NUMBER,                                        \
      "nu-support vector regression: at most a fraction nu of the rows lies outside the tube")                         \
    X(ONE_CLASS, "one-class", mc_one_class_settings, mercer_svm, mc_svm_learner, NONE,                                 \
      "novelty detection: a region with all but a fraction nu of the rows; 1 inside, -1 outside")                      \
    X(LMS, "lms", mc_lms_settings, mercer_lms, mc_lms_learner, AUTO,                                                   \
      "least squares by steps against the error, stopped early; batch or one sample at a time, and updates")           \
    X(PCA, "pca", mc_pca_settings, mercer_pca, mc_pca_learner, NONE,                                                   \
      "kernel principal component analysis: directions of largest variance, and scores of rows")                       \
    X(KNN, "knn", mc_knn_settings, mercer_knn, mc_knn_learner, AUTO,                                                   \
      "k nearest neighbours in feature space: classes by majority vote, numbers by their mean")                        \
    X(LOGISTIC, "logistic", mc_logistic_settings, mercer_loss, mc_loss_learner, CLASS,                                 \
      "kernel logistic regression: classes with probabilities; softmax for more than two")                             \
    X(SQUARED_HINGE, "squared-hinge", mc_squared_hinge_settings, mercer_loss, mc_loss_learner, CLASS,                  \
      "support vector classification with the squared hinge loss; one-vs-rest for more than two classes")              \
    X(HUBER, "huber", mc_huber_settings, mercer_loss, mc_loss_learner, NUMBER,                                         \
      "Huber regression, robust against outliers: squared errors up to delta, absolute errors beyond")                 \
    X(QUANTILE, "quantile", mc_quantile_settings, mercer_loss, mc_loss_learner, NUMBER,                                \
      "quantile regression: the tau quantile of the target given the row")                                             \
    X(ABSOLUTE, "absolute", mc_absolute_settings, mercer_loss, mc_loss_learner, NUMBER,                                \
      "least absolute errors: the median of the target given the row")                                                 \
    X(OWN_LOSS, "own-loss", mc_logistic_settings, mercer_loss, mc_own_loss_learner, AUTO,                              \
      "a convex loss supplied by the calling program")

#define PLACE(id, ...) id,
enum { MACHINE_MAP(PLACE) ROWS, MACHINES = OWN_LOSS };

#define MACHINE(id, called, rows, set, learner, from, about)                                                           \
    [id] = {.name = called,                                                                                            \
            .help = about,                                                                                             \
            .settings = rows,                                                                                          \
            .count = sizeof rows / sizeof *rows,                                                                       \
            .type = #set,                                                                                              \
            .size = sizeof(set),                                                                                       \
            .target = MERCER_TARGET_##from},
static const mercer_machine machines[ROWS] = {MACHINE_MAP(MACHINE)};

#define LEARNER(id, called, rows, set, learner, ...) [id] = &learner,
static const mc_learner *const learners[ROWS] = {MACHINE_MAP(LEARNER)};

/* ---- Machines by name ---- */

const mercer_machine *mercer_machine_at(int i) {
    return i >= 0 && i < MACHINES ? &machines[i] : NULL;
}

static const mercer_machine *find_row(const char *name, int rows) {
    for (int i = 0; name && i < rows; i++)
        if (strcmp(machines[i].name, name) == 0)
            return &machines[i];
    return NULL;
}

const mercer_machine *mercer_machine_find(const char *name) {
    return find_row(name, MACHINES);
}

mercer_status mc_machine_named(mercer_ctx *ctx, const char *name, const mercer_machine **out) {
    const char *names[ROWS];
    for (int i = 0; i < ROWS; i++)
        names[i] = machines[i].name;
    *out = find_row(name, ROWS);
    if (*out)
        return MERCER_OK;
    const char *near = mc_suggest_name(name, strlen(name), names, ROWS);
    return mc_fail(ctx, MERCER_INVALID, "there is no machine '%s'%s%s%s; mercer_machine_at lists them", name,
                   near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

const mc_learner *mc_learner_of(const mercer_machine *machine) {
    return learners[machine - machines];
}

/* ---- Settings ---- */

static const mercer_setting *find_setting(const mercer_machine *machine, const char *name) {
    for (int i = 0; i < machine->count; i++)
        if (strcmp(machine->settings[i].name, name) == 0)
            return &machine->settings[i];
    return NULL;
}

/* "nu-svc, nu-svr and one-class have it", of the machines that do. */
static mercer_status fail_foreign(mercer_ctx *ctx, const mercer_machine *machine, const char *name) {
    const mercer_machine *owner[MACHINES];
    char text[256] = "";
    int count = 0;
    for (int i = 0; i < MACHINES; i++)
        if (find_setting(&machines[i], name))
            owner[count++] = &machines[i];
    for (int i = 0; i < count; i++) {
        const size_t used = strlen(text);
        mc_print(text + used, sizeof text - used, "%s%s", i == 0 ? "" : i + 1 < count ? ", " : " and ", owner[i]->name);
    }
    return mc_fail(ctx, MERCER_INVALID, "%s has no setting '%s'; %s %s it", machine->name, name, text,
                   count == 1 ? "has" : "have");
}

/* What a machine of the same struct reads and this one would pass over. */
static mercer_status check_foreign(mercer_ctx *ctx, const mercer_machine *machine, const void *settings,
                                   const void *defaults) {
    if (strcmp(machine->type, "mercer_loss") == 0 && machine != &machines[OWN_LOSS]
        && ((const mercer_loss *)settings)->own)
        return mc_fail(ctx, MERCER_INVALID, "%s has no setting 'own'; own-loss has it", machine->name);
    for (int i = 0; i < MACHINES; i++)
        for (int k = 0; k < machines[i].count && strcmp(machines[i].type, machine->type) == 0; k++) {
            const mercer_setting *row = &machines[i].settings[k];
            if (!find_setting(machine, row->name) && !mc_setting_same(row, settings, defaults))
                return fail_foreign(ctx, machine, row->name);
        }
    return MERCER_OK;
}

/* Fields that the machine does not read have values too, which it can tell from changed ones. */
static void fill_default_settings(const mercer_machine *machine, void *settings) {
    memset(settings, 0, machine->size);
    if (strcmp(machine->type, "mercer_loss") == 0)
        *(mercer_loss *)settings =
            (mercer_loss){.class_weight = "", .solver = "auto", .tau = 0.5, .delta = 1, .iterations = 1};
    if (strcmp(machine->type, "mercer_svm") == 0)
        *(mercer_svm *)settings = (mercer_svm){.multiclass = "ovo", .class_weight = ""};
    mc_settings_fill(machine->settings, machine->count, settings);
    *(mc_settings_head *)settings = (mc_settings_head){machine->size, machine->name};
}

static mercer_status check_owner(mercer_ctx *ctx, const mercer_machine *machine, const char *owner) {
    if (!owner)
        return mc_fail(ctx, MERCER_INVALID,
                       "%s: the settings are of no machine; begin with mercer_ridge_defaults() for ridge, "
                       "mercer_svm_defaults(\"svc\") for svc and so on",
                       machine->name);
    if (strcmp(owner, machine->name) != 0)
        return mc_fail(ctx, MERCER_INVALID, "%s: the settings are those of %s; each machine has its own defaults",
                       machine->name, owner);
    return MERCER_OK;
}

mercer_status mc_settings_read(mercer_ctx *ctx, const char *machine, const void *given, mc_settings *out) {
    mc_settings defaults;
    MC_TRY(mc_machine_named(ctx, machine, &out->machine));
    fill_default_settings(out->machine, out->values);
    if (!given)
        return MERCER_OK;
    fill_default_settings(out->machine, defaults.values);
    MC_TRY(mc_sized_check(ctx, out->machine->type, given));
    MC_TRY(check_owner(ctx, out->machine, ((const mc_settings_head *)given)->machine));
    MC_TRY(mc_sized_read(ctx, out->machine->type, given, out->values, out->machine->size));
    ((mc_settings_head *)(void *)out->values)->machine = out->machine->name; /* ours, which lasts */
    MC_TRY(check_foreign(ctx, out->machine, out->values, defaults.values));
    return mc_settings_check(ctx, machine, out->machine->settings, out->machine->count, out->values);
}

mercer_status mercer_settings_init(mercer_ctx *ctx, const char *machine, void *settings, size_t size) {
    MC_NEED(ctx, machine, settings);
    mc_begin_call(ctx);
    const mercer_machine *row = NULL;
    MC_TRY(mc_machine_named(ctx, machine, &row));
    if (size != row->size)
        return mc_fail(ctx, MERCER_INVALID, "the settings of %s, %s, have %zu bytes, got %zu", machine, row->type,
                       row->size, size);
    fill_default_settings(row, settings);
    return MERCER_OK;
}

mercer_status mercer_settings_put(mercer_ctx *ctx, void *settings, const char *name, const char *text) {
    MC_NEED(ctx, settings, name, text);
    mc_begin_call(ctx);
    const mercer_machine *machine = NULL;
    const mc_settings_head *head = settings;
    MC_TRY(mc_sized_check(ctx, "settings", settings));
    MC_TRY(mc_machine_named(ctx, head->machine ? head->machine : "", &machine));
    for (int i = 0; i < MACHINES && !find_setting(machine, name); i++)
        if (find_setting(&machines[i], name))
            return fail_foreign(ctx, machine, name);
    return mc_settings_write(ctx, machine->name, machine->settings, machine->count, settings, name, text);
}

/* A machine of another struct leaves zeros, and no machine. */
static void init_settings(const char *type, const char *machine, void *out, size_t size) {
    const mercer_machine *row = find_row(machine, ROWS);
    mc_settings defaults = {0};
    static_assert(sizeof(mercer_ridge) <= sizeof defaults.values && sizeof(mercer_svm) <= sizeof defaults.values,
                  "the largest");
    if (row && strcmp(row->type, type) == 0)
        fill_default_settings(row, defaults.values);
    mc_sized_init(defaults.values, row ? row->size : sizeof(mc_settings_head), out, size);
}

void mercer_ridge_init(mercer_ridge *set, size_t size) {
    init_settings("mercer_ridge", "ridge", set, size);
}

void mercer_gp_init(mercer_gp *set, size_t size) {
    init_settings("mercer_gp", "gp", set, size);
}

void mercer_lms_init(mercer_lms *set, size_t size) {
    init_settings("mercer_lms", "lms", set, size);
}

void mercer_pca_init(mercer_pca *set, size_t size) {
    init_settings("mercer_pca", "pca", set, size);
}

void mercer_knn_init(mercer_knn *set, size_t size) {
    init_settings("mercer_knn", "knn", set, size);
}

void mercer_svm_init(mercer_svm *set, size_t size, const char *machine) {
    init_settings("mercer_svm", machine, set, size);
}

void mercer_loss_init(mercer_loss *set, size_t size, const char *machine) {
    init_settings("mercer_loss", machine, set, size);
}
