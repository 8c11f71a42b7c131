/* device_choice.h: where a fit would make its products with K, and why. */
#ifndef MC_PLAN_DEVICE_CHOICE_H
#define MC_PLAN_DEVICE_CHOICE_H

#include "plan/cost.h"
#include "problem/problem.h"

/* Fills device, device_reason, cpu_seconds and card_seconds for the chosen solver, and has the seconds of it be those
   of the device. */
mercer_status mc_plan_device(mercer_ctx *ctx, const mc_problem *problem, const mc_solver_option *chosen,
                             mercer_plan *out);

#endif
