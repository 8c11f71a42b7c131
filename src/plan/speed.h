/* speed.h: how fast this machine is at what a fit consists of, measured at run time, and what the solvers
   would then take. */
#ifndef MC_PLAN_SPEED_H
#define MC_PLAN_SPEED_H

#include "plan/cost.h"
#include "problem/problem.h"

/* Seconds for one operation of each kind of mc_solver_option. */
typedef struct mc_speed {
    double pair, fast, factor, eigen, fourier;
} mc_speed;

/* Some ten milliseconds and at most a quarter of the memory left. */
mercer_status mc_speed_measure(mercer_ctx *ctx, const mc_problem *problem, mc_speed *out);
/* The same where products with K are made on a card and the rest here. */
mc_speed mc_speed_with_card(const mc_problem *problem, const mc_speed *here);
/* From here on, for as long as one problem is worked on, what is measured once is not measured again. */
void mc_speed_keep(mercer_ctx *ctx, bool on);
/* The seconds of so many operations alone; and those of every option, with what a fit takes before them. */
double mc_speed_seconds(const mc_speed *speed, const mc_solver_option *work);
void mc_speed_price(const mc_speed *speed, mc_solver_options *options);

#endif
