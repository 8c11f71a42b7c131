/* fitted.c: the end of a fitted thing. Apart from the learners, so that a predictor links none of them. */
#include "learn/fitted.h"
#include "base/memory.h"

void mc_fitted_free(mc_fitted *fitted) {
    mercer_kernel_free(fitted->kernel);
    mercer_data_free(fitted->centres);
    mc_scale_free(&fitted->scale);
    mc_free(fitted->alpha);
    mc_free(fitted->noise);
    mc_free(fitted->intercept);
    *fitted = (mc_fitted){0};
}
