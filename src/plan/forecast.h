/* forecast.h: which solver a fit would take, with bytes and seconds, before it is made. */
#ifndef MC_PLAN_FORECAST_H
#define MC_PLAN_FORECAST_H

#include "plan/cost.h"
#include "problem/problem.h"

/* What the planner asks of a machine. */
typedef struct mc_planner {
    /* The first step of a fit alone, and the solvers it could go on with, that which it would take among them; NULL: it
       cannot be planned. */
    mercer_status (*prepare)(mercer_ctx *ctx, const void *settings, const mercer_kernel *kernel,
                             const mercer_data *data, mc_problem *out);
    void (*rank_solvers)(mercer_ctx *ctx, const void *settings, const mc_problem *problem, mc_solver_options *out);
    /* The seconds of each, and another choice where the time limit wants one; NULL: by the counts alone. */
    mercer_status (*price)(mercer_ctx *ctx, const void *settings, const mc_problem *problem,
                           mc_solver_options *options);
} mc_planner;

/* The settings are whole, and time limits are off. */
mercer_status mc_forecast_fit(mercer_ctx *ctx, const mc_planner *machine, const void *settings,
                              const mercer_kernel *kernel, const mercer_data *data, mercer_plan *out);

#endif
