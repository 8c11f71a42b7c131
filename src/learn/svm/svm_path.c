/* svm_path.c: solutions for rising C, each from the last. Multipliers times C'/C are feasible for C', and f = K beta
   grows by the same factor: the next start costs no kernel value, rows at their bound stay there, and f is exact
   because the last certificate made it so. Where all of K is stored it is kept from one C to the next; otherwise the
   rows next to the margin come first (svm_predictor.c), and a certificate goes on from the last one (svm_screen.c). */
#include "base/status.h"
#include "learn/svm/svm.h"
#include <math.h>

static mercer_status check(mercer_ctx *ctx, const double *C, int64_t count) {
    if (count < 1)
        return mc_fail(ctx, MERCER_INVALID, "path: no value of C was given");
    for (int64_t k = 0; k < count; k++)
        if (!(C[k] > (k ? C[k - 1] : 0)) || isinf(C[k]))
            return mc_fail(ctx, MERCER_INVALID,
                           "path: values of C must be positive, finite and rise; number %lld is %g", (long long)k + 1,
                           C[k]);
    return MERCER_OK;
}

void mc_svm_rise(mc_svm *s, double C) {
    const double factor = C / s->C;
    s->C = C;
    s->solver->warm = true;
    for (int64_t k = 0; k < s->tasks; k++) {
        mc_svm_program_scale(s, &s->task[k], factor);
        s->task[k].result = (mc_smo_result){0};
    }
}

mercer_status mc_svm_path(mercer_ctx *ctx, mc_svm_kind kind, const mercer_svm *set, const mercer_kernel *kernel,
                          const mercer_data *data, const double *C, int64_t count, mc_fitted_each *each, void *arg) {
    MC_TRY(check(ctx, C, count));
    mc_svm s = {.kind = kind, .set = set, .path = true};
    mc_driver driver = mc_svm_driver(&s);
    return mc_drive_path(ctx, &driver, kernel, data, C, NULL, count, each, arg);
}
