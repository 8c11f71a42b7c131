/* loss_path.c: solutions for one lambda after the other, from the largest down, each from the last: continuation.

   Smooth losses keep alpha, and with it f and b: lambda' alpha + g = (lambda' - lambda) alpha is then all that is left
   of the conditions, and the first Newton step follows the tangent of the path. Piecewise linear ones take alpha
   lambda/lambda', whose dual values -lambda alpha / c are the same, so that rows at their bound stay there; f = K alpha
   grows with it. Neither costs a kernel value: f is exact because the last certificate made it so. K, or its factor,
   serves every lambda. */
#include "base/memory.h"
#include "base/sort.h"
#include "base/status.h"
#include "learn/loss/loss_machine.h"
#include <math.h>
#include <string.h>

static mercer_status check_path_lambdas(mercer_ctx *ctx, const double *lambda, int64_t count) {
    if (count < 1)
        return mc_fail(ctx, MERCER_INVALID, "path: no value of lambda was given");
    for (int64_t k = 0; k < count; k++)
        if (!(lambda[k] >= 1e-100 && lambda[k] <= 1e100))
            return mc_fail(ctx, MERCER_INVALID, "path: values of lambda must be in [1e-100, 1e+100]; number %lld is %g",
                           (long long)k + 1, lambda[k]);
    return MERCER_OK;
}

static int compare_falling_lambda(const void *arg, int64_t a, int64_t b) {
    const double *lambda = arg;
    return lambda[a] > lambda[b] ? -1 : lambda[a] < lambda[b] ? 1 : a < b ? -1 : 1;
}

void mc_loss_turn(void *self, double lambda, bool first) {
    mc_loss_machine *m = self;
    for (int64_t j = 0; j < m->count; j++) {
        mc_loss_task *t = &m->task[j];
        const double factor = m->loss->smooth ? 1 : t->lambda / lambda;
        for (int64_t i = 0; i < t->n * t->k; i++) {
            t->alpha[i] *= factor;
            t->f[i] *= factor;
        }
        t->lambda = lambda;
        t->warm = !first;
        t->iterations = 0;
        t->stopped = "no";
    }
    m->lambda = lambda;
    memset(m->found, 0, (size_t)m->count * sizeof *m->found);
}

mercer_status mc_loss_path(mercer_ctx *ctx, const mc_loss *loss, const mercer_loss *set, const mercer_kernel *kernel,
                           const mercer_data *data, const double *lambda, int64_t count, mc_fitted_each *each,
                           void *arg) {
    MC_TRY(check_path_lambdas(ctx, lambda, count));
    int64_t *order = NULL;
    MC_TRY(MC_ALLOC(ctx, order, 2 * count));
    for (int64_t k = 0; k < count; k++)
        order[k] = k;
    mc_sort(order, order + count, count, compare_falling_lambda, lambda);
    mc_loss_machine m = {.loss = loss, .set = set, .fits = (double)count};
    m.lambda = lambda[order[0]];
    m.least_lambda = lambda[order[count - 1]];
    mc_driver driver = mc_loss_driver(&m);
    const mercer_status status = mc_drive_path(ctx, &driver, kernel, data, lambda, order, count, each, arg);
    mc_free(order);
    return status;
}
