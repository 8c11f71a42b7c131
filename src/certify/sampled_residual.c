/* sampled_residual.c: the residual of the exact problem on some of its rows.

   A function f with intercept b implies coefficients alpha = W (y - b - f) / lambda: those it would have if it were
   optimal, for then f = K alpha. In the scaled system (S = sqrt W, M = S K S, A = M + lambda I, beta = S^-1 alpha)

       r = S (y - b) - A beta = S (f - K alpha),

   so that r is zero at the exact answer only. If b is optimal given f (sum alpha = 0), the fitted values and the exact
   ones differ by S (f + b - f* - b*) = lambda e with A e + c s = r and s'e = 0, hence |S (f + b - f* - b*)| <= |r|: the
   residual bounds, in the root mean square over the training rows, how far the predictions are from exact ones.

   |r|^2 is a sum over rows, of which some are looked at (certify/sampled_rows.c). */
#include "certify/sampled_residual.h"
#include "base/status.h"
#include "certify/certificate.h"
#include "certify/sampled_rows.h"
#include <math.h>

size_t mc_sampled_residual_bytes(mercer_ctx *ctx, const mc_problem *p) {
    return mc_row_sample_bytes(ctx, p, p->outputs);
}

static void implied_coefficients(const mc_row_sample *s, double lambda, const double *F, const double *b) {
    const int64_t outputs = s->p->outputs;
    for (int64_t i = 0; i < s->p->n * outputs; i++)
        s->alpha[i] = mc_problem_weight(s->p, i / outputs) * (s->p->Y[i] - b[i % outputs] - F[i]) / lambda;
}

/* |r_i|^2 over the outputs, for the a-th row of the sample. */
static double square_at(const mc_row_sample *s, const double *F, int64_t a) {
    const int64_t outputs = s->p->outputs, i = s->rows[a];
    double sum = 0;
    for (int64_t k = 0; k < outputs; k++) {
        const double r = F[i * outputs + k] - s->KA[a * outputs + k];
        sum += mc_problem_weight(s->p, i) * r * r;
    }
    return sum;
}

static void conclude_residual(const mc_row_sample *s, const double *F, mercer_certificate *out) {
    const int64_t n = s->p->n, outputs = s->p->outputs;
    double target = 0;
    for (int64_t a = 0; a < s->q; a++)
        s->number[a] = square_at(s, F, a);
    for (int64_t i = 0; i < n * outputs; i++)
        target += mc_problem_weight(s->p, i / outputs) * s->p->Y[i] * s->p->Y[i];
    const mc_sample_total square = mc_row_sample_total(s);
    *out = mc_certificate_blank("sampled residual");
    out->sampled_rows = s->q;
    out->residual = sqrt(square.upper);
    out->residual_estimate = sqrt(square.estimate);
    out->residual_relative = target > 0 ? out->residual / sqrt(target) : out->residual;
}

mercer_status mc_sampled_residual_check(mercer_ctx *ctx, const mc_problem *p, double lambda, const double *F,
                                        const double *b, mercer_certificate *out) {
    mc_row_sample s;
    MC_TRY(mc_row_sample_open(ctx, p, p->outputs, &s));
    implied_coefficients(&s, lambda, F, b);
    mercer_status status = mc_row_sample_choose(ctx, &s);
    MC_THEN(status, mc_row_sample_multiply(ctx, &s));
    if (!status)
        conclude_residual(&s, F, out);
    mc_row_sample_close(&s);
    return status;
}
