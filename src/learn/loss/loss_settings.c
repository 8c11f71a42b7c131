/* loss_settings.c: the settings of the machines with a convex loss. They share one struct; each machine lists the rows
   that mean something to it. */
#include "learn/loss/loss_solver.h"
#include <math.h>

#define LAMBDA                                                                                                         \
    MC_REAL_ROW(mercer_loss, lambda, "lambda", 1, 1e-100, 1e100,                                                       \
                "regularization: weight of the penalty lambda/2 |f|^2 added to the sum of the losses")
#define DELTA                                                                                                          \
    MC_REAL_ROW(mercer_loss, delta, "delta", 1.35, 1e-100, 1e100,                                                      \
                "errors up to delta count squared, larger ones by their absolute value")
#define TAU MC_REAL_ROW(mercer_loss, tau, "tau", 0.5, 1e-6, 0.999999, "the quantile to estimate, above 0 and below 1")
#define INTERCEPT MC_FLAG_ROW(mercer_loss, intercept, "intercept", 1, "fit an intercept, which is not penalized")
#define WEIGHT                                                                                                         \
    MC_TEXT_ROW(mercer_loss, class_weight, "class-weight", "", NULL,                                                   \
                "balanced, or A=2,B=1: factors for the losses of the classes")
#define STEPS                                                                                                          \
    MC_INTEGER_ROW(mercer_loss, iterations, "iterations", 1000, 1, 1e9, "maximum number of Newton steps per function")
#define SOLVER                                                                                                         \
    MC_TEXT_ROW(mercer_loss, solver, "solver", "auto", "auto|cholesky|pcg|primal|nystrom",                             \
                "solver of the Newton systems; auto: primal for a kernel with fewer explicit features than rows, "     \
                "cholesky for few rows, pcg for many; nystrom is an approximation")
#define RANK MC_INTEGER_ROW(mercer_loss, rank, "rank", 0, 0, 1000, "nystrom: number of landmarks; 0: automatic")
#define COMMON                                                                                                         \
    MC_REAL_ROW(mercer_loss, tolerance, "tolerance", 1e-6, 1e-13, 1,                                                   \
                "stopping tolerance: largest duality gap, relative to the objective"),                                 \
        MC_SCALE_ROW(mercer_loss)

const mercer_setting mc_logistic_settings[MC_LOGISTIC_SETTINGS] = {LAMBDA, INTERCEPT, WEIGHT, SOLVER,
                                                                   RANK,   STEPS,     COMMON};
const mercer_setting mc_squared_hinge_settings[MC_SQUARED_HINGE_SETTINGS] = {LAMBDA, INTERCEPT, WEIGHT, SOLVER,
                                                                             RANK,   STEPS,     COMMON};
const mercer_setting mc_huber_settings[MC_HUBER_SETTINGS] = {LAMBDA, DELTA, INTERCEPT, SOLVER, RANK, STEPS, COMMON};
const mercer_setting mc_quantile_settings[MC_QUANTILE_SETTINGS] = {LAMBDA, TAU, COMMON};
const mercer_setting mc_absolute_settings[MC_ABSOLUTE_SETTINGS] = {LAMBDA, COMMON};
