/* svm_settings.c: the settings of the five machines. They share one struct; each machine lists the rows that mean
   something to it. */
#include "learn/svm/svm.h"
#include <math.h>

#define COST                                                                                                           \
    MC_REAL_ROW(mercer_svm, C, "C", 1, 1e-300, INFINITY,                                                               \
                "weight of the loss; larger fits closer; inf: no loss at all (hard margin of svc)")
#define NU                                                                                                             \
    MC_REAL_ROW(mercer_svm, nu, "nu", 0.5, 1e-12, 1,                                                                   \
                "share of the rows: at most that many are outside, at least that many support")
#define NEAREST                                                                                                        \
    MC_FLAG_ROW(mercer_svm, nearest_nu, "nearest-nu", 0,                                                               \
                "where nu is infeasible or leaves no margin, take the nearest that has an answer")
#define EPSILON                                                                                                        \
    MC_REAL_ROW(mercer_svm, epsilon, "epsilon", 0.1, 0, 1e300,                                                         \
                "half width of the tube inside which an error costs nothing")
#define MULTICLASS                                                                                                     \
    MC_TEXT_ROW(mercer_svm, multiclass, "multiclass", "ovo", "ovo|ovr",                                                \
                "more than two classes: every pair, or each against the rest")
#define WEIGHT                                                                                                         \
    MC_TEXT_ROW(mercer_svm, class_weight, "class-weight", "", NULL,                                                    \
                "balanced, or A=2,B=1: C of a class is multiplied by it")
#define COMMON                                                                                                         \
    MC_REAL_ROW(mercer_svm, tolerance, "tolerance", 1e-3, 1e-12, 1, "largest violation of the optimality conditions"), \
        MC_INTEGER_ROW(mercer_svm, iterations, "iterations", 1e9, 1, 1e15, "most steps of one quadratic program"),     \
        MC_TEXT_ROW(mercer_svm, precision, "precision", "auto", "auto|single|double",                                  \
                    "of the stored part of K; auto: double for a few thousand rows"),                                  \
        MC_SCALE_ROW(mercer_svm),                                                                                      \
        MC_FLAG_ROW(mercer_svm, allow_indefinite, "allow-indefinite", 0,                                               \
                    "fit although the kernel is not proved: a stationary point is found"),                             \
        MC_TEXT_ROW(mercer_svm, checkpoint, "checkpoint", "", NULL,                                                    \
                    "checkpoint file, from which the same fit is resumed")

const mercer_setting mc_svc_settings[MC_SVC_SETTINGS] = {COST, MULTICLASS, WEIGHT, COMMON};
const mercer_setting mc_nu_svc_settings[MC_NU_SVC_SETTINGS] = {NU, NEAREST, MULTICLASS, WEIGHT, COMMON};
const mercer_setting mc_svr_settings[MC_SVR_SETTINGS] = {COST, EPSILON, COMMON};
const mercer_setting mc_nu_svr_settings[MC_NU_SVR_SETTINGS] = {COST, NU, COMMON};
const mercer_setting mc_one_class_settings[MC_ONE_CLASS_SETTINGS] = {NU, COMMON};
