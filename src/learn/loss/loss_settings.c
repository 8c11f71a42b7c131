/* loss_settings.c: the settings of the machines with a convex loss. They share one struct; each machine lists the rows
   that mean something to it. */
#include "learn/loss/loss_solver.h"
#include <math.h>

#define ROW(field) .offset = offsetof(mercer_loss, field)
#define LAMBDA                                                                                                         \
    {                                                                                                                  \
        .name = "lambda", .type = MERCER_REAL, ROW(lambda), .initial = 1, .low = 1e-100, .high = 1e100,                \
        .help = "weight of the penalty lambda/2 |f|^2 beside the sum of the losses"                                    \
    }
#define DELTA                                                                                                          \
    {                                                                                                                  \
        .name = "delta", .type = MERCER_REAL, ROW(delta), .initial = 1.35, .low = 1e-100, .high = 1e100,               \
        .help = "errors up to this count by their squares, larger ones by their size"                                  \
    }
#define TAU                                                                                                            \
    {                                                                                                                  \
        .name = "tau", .type = MERCER_REAL, ROW(tau), .initial = 0.5, .low = 1e-6, .high = 0.999999,                   \
        .help = "the quantile wanted, above 0 and below 1"                                                             \
    }
#define INTERCEPT                                                                                                      \
    {                                                                                                                  \
        .name = "intercept", .type = MERCER_FLAG, ROW(intercept), .initial = 1, .high = 1,                             \
        .help = "add a constant that is not penalised"                                                                 \
    }
#define WEIGHT                                                                                                         \
    {                                                                                                                  \
        .name = "class-weight", .type = MERCER_TEXT, ROW(class_weight), .initial_text = "",                            \
        .help = "balanced, or A=2,B=1: the loss of a class is multiplied by it"                                        \
    }
#define STEPS                                                                                                          \
    {                                                                                                                  \
        .name = "iterations", .type = MERCER_INTEGER, ROW(iterations), .initial = 1000, .low = 1, .high = 1e9,         \
        .help = "Newton steps of one function at most"                                                                 \
    }
#define SOLVER                                                                                                         \
    {                                                                                                                  \
        .name = "solver", .type = MERCER_TEXT, ROW(solver), .initial_text = "auto", .choices = "auto|cholesky|pcg",    \
        .help = "how Newton's systems are solved; auto: cholesky for a function of few rows"                           \
    }
#define COMMON                                                                                                         \
    {.name = "tolerance",                                                                                              \
     .type = MERCER_REAL,                                                                                              \
     ROW(tolerance),                                                                                                   \
     .initial = 1e-6,                                                                                                  \
     .low = 1e-13,                                                                                                     \
     .high = 1,                                                                                                        \
     .help = "largest duality gap, relative to the objective"},                                                        \
        MC_SCALE_ROW(mercer_loss)

const mercer_setting mc_logistic_settings[MC_LOGISTIC_SETTINGS] = {LAMBDA, INTERCEPT, WEIGHT, SOLVER, STEPS, COMMON};
const mercer_setting mc_squared_hinge_settings[MC_SQUARED_HINGE_SETTINGS] = {LAMBDA, INTERCEPT, WEIGHT,
                                                                             SOLVER, STEPS,     COMMON};
const mercer_setting mc_huber_settings[MC_HUBER_SETTINGS] = {LAMBDA, DELTA, INTERCEPT, SOLVER, STEPS, COMMON};
const mercer_setting mc_quantile_settings[MC_QUANTILE_SETTINGS] = {LAMBDA, TAU, COMMON};
const mercer_setting mc_absolute_settings[MC_ABSOLUTE_SETTINGS] = {LAMBDA, COMMON};
