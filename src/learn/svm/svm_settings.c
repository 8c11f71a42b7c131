/* svm_settings.c: the settings of the five machines. They share one struct; each machine lists the rows that mean
   something to it. */
#include "learn/svm/svm.h"
#include <math.h>

#define COST                                                                                                           \
    MC_REAL_ROW(mercer_svm, C, "C", 1, 1e-300, INFINITY,                                                               \
                "weight of the loss (inverse regularization): larger values fit the rows more closely; inf: hard "     \
                "margin (svc only)")
#define NU                                                                                                             \
    MC_REAL_ROW(mercer_svm, nu, "nu", 0.5, 1e-12, 1,                                                                   \
                "upper bound on the fraction of margin errors, lower bound on the fraction of support vectors")
#define NEAREST                                                                                                        \
    MC_FLAG_ROW(mercer_svm, nearest_nu, "nearest-nu", 0,                                                               \
                "where nu is infeasible or leaves no margin, use the nearest feasible value")
#define FALLBACK                                                                                                       \
    MC_FLAG_ROW(mercer_svm, nu_fallback, "nu-fallback", 0,                                                             \
                "as nearest-nu, but keep nu as long as it leaves any margin (1e-5 of the mean of k(x,x))")
#define EPSILON                                                                                                        \
    MC_REAL_ROW(mercer_svm, epsilon, "epsilon", 0.1, 0, 1e300,                                                         \
                "half-width of the tube within which errors cost nothing")
#define MULTICLASS                                                                                                     \
    MC_TEXT_ROW(mercer_svm, multiclass, "multiclass", "ovo", "ovo|ovr",                                                \
                "more than two classes: one-vs-one or one-vs-rest")
#define WEIGHT                                                                                                         \
    MC_TEXT_ROW(mercer_svm, class_weight, "class-weight", "", NULL,                                                    \
                "balanced, or A=2,B=1: factors for C of the classes")
#define COMMON                                                                                                         \
    MC_REAL_ROW(mercer_svm, tolerance, "tolerance", 1e-3, 1e-12, 1,                                                    \
                "stopping tolerance: largest violation of the optimality (KKT) conditions"),                           \
        MC_INTEGER_ROW(mercer_svm, iterations, "iterations", 1e9, 1, 1e15,                                             \
                       "maximum number of SMO steps per quadratic program"),                                           \
        MC_TEXT_ROW(mercer_svm, precision, "precision", "auto", "auto|single|double",                                  \
                    "precision of the stored part of K; auto: double for a few thousand rows"),                        \
        MC_SCALE_ROW(mercer_svm),                                                                                      \
        MC_FLAG_ROW(mercer_svm, allow_indefinite, "allow-indefinite", 0,                                               \
                    "fit although the kernel is not proved to be positive definite; finds a stationary point"),        \
        MC_TEXT_ROW(mercer_svm, checkpoint, "checkpoint", "", NULL,                                                    \
                    "checkpoint file, from which the same fit resumes")

const mercer_setting mc_svc_settings[MC_SVC_SETTINGS] = {COST, MULTICLASS, WEIGHT, COMMON};
const mercer_setting mc_nu_svc_settings[MC_NU_SVC_SETTINGS] = {NU, NEAREST, FALLBACK, MULTICLASS, WEIGHT, COMMON};
const mercer_setting mc_svr_settings[MC_SVR_SETTINGS] = {COST, EPSILON, COMMON};
const mercer_setting mc_nu_svr_settings[MC_NU_SVR_SETTINGS] = {COST, NU, COMMON};
const mercer_setting mc_one_class_settings[MC_ONE_CLASS_SETTINGS] = {NU, COMMON};
