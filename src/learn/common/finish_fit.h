/* finish_fit.h: the end of every fit that keeps rows of its problem. */
#ifndef MC_LEARN_COMMON_FINISH_FIT_H
#define MC_LEARN_COMMON_FINISH_FIT_H

#include "predict/fitted.h"
#include "problem/problem.h"

/* The problem is closed. Where all went well the model takes over its kernel, rows and scaling, with the seconds since
   began; else nothing is left of it. */
mercer_status mc_finish_fit(mercer_status status, mc_fitted *model, mc_problem *problem, double began);

#endif
