/* approximate.c: right-hand sides and the intercept of ridge regression in m functions.

   Z (n x m) are the functions on the rows, S = sqrt W, s = S 1. With X = (Z'WZ + lambda I)^-1 Z'S [S(y - mean), s] the
   intercept is where
   the weighted residuals sum to zero:  b = (s'S(y - mean) - c'X_y) / (s's - c'X_s),  c = Z'S s,  and the coefficients
   are X_y - b X_s. */
#include "learn/ridge/approximate.h"
#include "base/memory.h"
#include "base/progress.h"
#include "base/status.h"
#include "data/table/columns.h"
#include "predict/fitted.h"
#include "certify/sampled_residual.h"
#include <math.h>
#include <string.h>

void mc_approximate_right_hand_sides(const mc_approximate *a, int64_t begin, int64_t end, double *out) {
    const int64_t outputs = a->p->outputs;
    for (int64_t i = begin; i < end; i++, out += a->t) {
        for (int64_t k = 0; k < outputs; k++)
            out[k] = mc_problem_root(a->p, i) * (a->p->Y[i * outputs + k] - a->mean[k]);
        if (a->intercept)
            out[outputs] = mc_problem_root(a->p, i);
    }
}

void mc_approximate_intercept(mc_approximate *a, int64_t m, const double *C, double *X) {
    const int64_t outputs = a->p->outputs, t = a->t;
    for (int64_t k = 0; k < outputs; k++) {
        double above = 0, below = 0;
        for (int64_t i = 0; i < a->p->n && a->intercept; i++) {
            above += mc_problem_root(a->p, i) * mc_problem_root(a->p, i) * (a->p->Y[i * outputs + k] - a->mean[k]);
            below += mc_problem_root(a->p, i) * mc_problem_root(a->p, i);
        }
        for (int64_t j = 0; j < m && a->intercept; j++) {
            above -= C[j * t + outputs] * X[j * t + k];
            below -= C[j * t + outputs] * X[j * t + outputs];
        }
        const double b = a->intercept && below > 0 ? above / below : 0;
        for (int64_t j = 0; j < m && a->intercept; j++)
            X[j * t + k] -= b * X[j * t + outputs];
        a->b[k] = b + a->mean[k];
    }
}

void mc_approximate_close(mc_approximate *a) {
    mercer_data_free(a->centres);
    mc_free(a->mean);
    mc_free(a->alpha);
    mc_free(a->b);
    mc_free(a->F);
    mc_free(a->rows);
}

/* ---- The machine ---- */

static double ridge_objective(const mc_approximate *a) {
    const int64_t outputs = a->p->outputs;
    double loss = 0;
    for (int64_t i = 0; i < a->p->n * outputs; i++) {
        const double r = mc_problem_root(a->p, i / outputs) * (a->p->Y[i] - a->b[i % outputs] - a->F[i]);
        loss += r * r;
    }
    return loss + a->lambda * a->square_norm;
}

static mercer_status check_finite(mercer_ctx *ctx, const mc_approximate *a) {
    const int64_t outputs = a->p->outputs;
    return mc_first_not_finite(MERCER_F64, a->alpha, a->centres->n * outputs) < 0
                   && mc_first_not_finite(MERCER_F64, a->b, outputs) < 0
               ? MERCER_OK
               : mc_fail(ctx, MERCER_NUMERIC,
                         "ridge: the coefficients left the range of a double; rescale the target or the kernel");
}

static mercer_status solve_approximate(mercer_ctx *ctx, mc_approximate *a, bool fourier, mercer_report *out) {
    MC_TRY(MC_ALLOC(ctx, a->mean, a->p->outputs));
    MC_TRY(MC_ALLOC(ctx, a->b, a->p->outputs));
    if (a->intercept)
        mc_problem_means(a->p, a->mean);
    MC_TRY(fourier ? mc_approximate_fourier(ctx, a) : mc_approximate_nystrom(ctx, a));
    MC_TRY(check_finite(ctx, a));
    mc_begin_phase(ctx, "check");
    const bool cut = strcmp(a->stopped, "no") != 0;
    if (cut)
        mc_shield_from_stop(ctx, true); /* stopped once already: what is left is done whole */
    const mercer_status status = mc_sampled_residual_check(ctx, a->p, a->lambda, a->F, a->b, &out->certificate);
    if (cut)
        mc_shield_from_stop(ctx, false);
    return status;
}

static void write_report(const mc_approximate *a, bool fourier, mercer_report *out) {
    const mc_problem *p = a->p;
    out->machine = "ridge";
    out->solver = fourier ? "fourier" : "nystrom";
    out->approximate = true;
    out->scale = mc_scaling_names[p->scale.kind];
    out->n = p->n;
    out->d = mc_data_width(p->x);
    out->outputs = p->outputs;
    out->lambda = a->lambda;
    out->norm = sqrt(a->square_norm);
    out->objective = ridge_objective(a);
    out->rank = a->centres->n;
    out->iterations = a->iterations;
    out->stopped = a->stopped;
    out->loo_rmse = out->log_evidence = out->loo_log_density = out->dof = out->gcv = NAN;
}

mercer_status mc_ridge_approximate(mercer_ctx *ctx, const mercer_ridge *set, mc_problem *p, bool fourier,
                                   mc_fitted *f) {
    mc_approximate a = {.p = p,
                        .lambda = set->lambda,
                        .tolerance = set->tolerance,
                        .intercept = set->intercept,
                        .rank = set->rank,
                        .landmarks = set->landmarks,
                        .t = p->outputs + set->intercept,
                        .stopped = "no"};
    const mercer_status status = solve_approximate(ctx, &a, fourier, &f->report);
    if (!status) {
        write_report(&a, fourier, &f->report);
        f->outputs = p->outputs;
        f->alpha = a.alpha;
        f->intercept = a.b;
        f->row = a.rows;
        for (int64_t i = 0; f->row && p->x->place && i < a.centres->n; i++)
            f->row[i] = p->x->place[f->row[i]];
        f->fourier = fourier;
        mercer_data_free(p->x);
        p->x = a.centres;
        a.alpha = a.b = NULL;
        a.centres = NULL;
        a.rows = NULL;
    }
    mc_approximate_close(&a);
    return status;
}
