#include "learn/common/finish_fit.h"
#include "base/clock.h"

mercer_status mc_finish_fit(mercer_status status, mc_fitted *model, mc_problem *problem, double began) {
    if (!status)
        mc_fitted_take(model, problem, mc_clock_seconds() - began);
    mc_problem_close(problem);
    if (status)
        mc_fitted_free(model);
    return status;
}
