/* svm_settings.c: the settings of the five machines. They share one struct; each machine lists the rows that mean
   something to it. */
#include "learn/svm/svm.h"
#include <math.h>

#define ROW(field) .offset = offsetof(mercer_svm, field)
#define COST                                                                                                           \
    {                                                                                                                  \
        .name = "C", .type = MERCER_REAL, ROW(C), .initial = 1, .low = 1e-300, .high = INFINITY,                       \
        .help = "weight of the loss; larger fits closer; inf: no loss at all (hard margin of svc)"                     \
    }
#define NU                                                                                                             \
    {                                                                                                                  \
        .name = "nu", .type = MERCER_REAL, ROW(nu), .initial = 0.5, .low = 1e-12, .high = 1,                           \
        .help = "share of the rows: at most that many are outside, at least that many support"                         \
    }
#define NEAREST                                                                                                        \
    {                                                                                                                  \
        .name = "nearest-nu", .type = MERCER_FLAG, ROW(nearest_nu), .high = 1,                                         \
        .help = "where nu is infeasible or leaves no margin, take the nearest that has an answer"                      \
    }
#define EPSILON                                                                                                        \
    {                                                                                                                  \
        .name = "epsilon", .type = MERCER_REAL, ROW(epsilon), .initial = 0.1, .low = 0, .high = 1e300,                 \
        .help = "half width of the tube inside which an error costs nothing"                                           \
    }
#define MULTICLASS                                                                                                     \
    {                                                                                                                  \
        .name = "multiclass", .type = MERCER_TEXT, ROW(multiclass), .initial_text = "ovo", .choices = "ovo|ovr",       \
        .help = "more than two classes: every pair, or each against the rest"                                          \
    }
#define WEIGHT                                                                                                         \
    {                                                                                                                  \
        .name = "class-weight", .type = MERCER_TEXT, ROW(class_weight), .initial_text = "",                            \
        .help = "balanced, or A=2,B=1: C of a class is multiplied by it"                                               \
    }
#define COMMON                                                                                                         \
    {.name = "tolerance",                                                                                              \
     .type = MERCER_REAL,                                                                                              \
     ROW(tolerance),                                                                                                   \
     .initial = 1e-3,                                                                                                  \
     .low = 1e-12,                                                                                                     \
     .high = 1,                                                                                                        \
     .help = "largest violation of the optimality conditions"},                                                        \
        {.name = "iterations",                                                                                         \
         .type = MERCER_INTEGER,                                                                                       \
         ROW(iterations),                                                                                              \
         .initial = 1e9,                                                                                               \
         .low = 1,                                                                                                     \
         .high = 1e15,                                                                                                 \
         .help = "steps of one programme at most"},                                                                    \
        {.name = "precision",                                                                                          \
         .type = MERCER_TEXT,                                                                                          \
         ROW(precision),                                                                                               \
         .initial_text = "auto",                                                                                       \
         .choices = "auto|single|double",                                                                              \
         .help = "of the stored part of K; auto: double for a few thousand rows"},                                     \
        MC_SCALE_ROW(mercer_svm),                                                                                      \
        {.name = "allow-indefinite",                                                                                   \
         .type = MERCER_FLAG,                                                                                          \
         ROW(allow_indefinite),                                                                                        \
         .high = 1,                                                                                                    \
         .help = "fit although the kernel is not proved: a stationary point is found"},                                \
    {                                                                                                                  \
        .name = "checkpoint", .type = MERCER_TEXT, ROW(checkpoint), .initial_text = "",                                \
        .help = "file in which the work is kept, and from which it is taken up again"                                  \
    }

const mercer_setting mc_svc_settings[MC_SVC_SETTINGS] = {COST, MULTICLASS, WEIGHT, COMMON};
const mercer_setting mc_nu_svc_settings[MC_NU_SVC_SETTINGS] = {NU, NEAREST, MULTICLASS, WEIGHT, COMMON};
const mercer_setting mc_svr_settings[MC_SVR_SETTINGS] = {COST, EPSILON, COMMON};
const mercer_setting mc_nu_svr_settings[MC_NU_SVR_SETTINGS] = {COST, NU, COMMON};
const mercer_setting mc_one_class_settings[MC_ONE_CLASS_SETTINGS] = {NU, COMMON};

const mc_svm_row mc_svm_rows[MC_SVM_KINDS] = {
    [MC_SVC] = {.name = "svc", .classes = true, .costly = true},
    [MC_NU_SVC] = {.name = "nu-svc", .classes = true, .grouped = true},
    [MC_SVR] = {.name = "svr", .doubled = true, .costly = true},
    [MC_NU_SVR] = {.name = "nu-svr", .doubled = true, .grouped = true, .costly = true},
    [MC_ONE_CLASS] = {.name = "one-class"},
};
