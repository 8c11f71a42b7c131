/* plan.h: the forecast of a fit, for use inside the library. */
#ifndef MC_SELECT_PLAN_PLAN_H
#define MC_SELECT_PLAN_PLAN_H

#include <mercer.h>

/* mercer_plan_fit without the beginning of a call: the settings are whole, and time limits are off. */
mercer_status mc_plan_fit(mercer_ctx *ctx, const mercer_machine *machine, const void *settings,
                          const mercer_kernel *kernel, const mercer_data *data, mercer_plan *out);
/* mercer_plan_tune likewise; fit: whether the fit of the best to all rows is counted. */
mercer_status mc_plan_search(mercer_ctx *ctx, const mercer_machine *machine, const void *settings,
                             const mercer_tune *set, const mercer_data *data, bool fit, mercer_tune_plan *out);

#endif
