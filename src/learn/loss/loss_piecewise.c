/* loss_piecewise.c: piecewise linear losses. The dual has one variable per row,

       min over alpha of  1/2 alpha'K alpha - y'alpha,   -lambda alpha_i / c_i in [low, high],   sum alpha = 0,

   which is the quadratic program of qp/active_set.h; its violation is lowered until the duality gap is as small as
   asked for. */
#include "base/memory.h"
#include "base/progress.h"
#include "base/status.h"
#include "base/workspace.h"
#include "data/table/data.h"
#include "gram/operator/gram.h"
#include "learn/common/kernel_matrix.h"
#include "learn/loss/loss_solver.h"
#include "learn/svm/svm.h"
#include "qp/active_set.h"
#include <float.h>
#include <math.h>

enum { DOUBLE_ROWS = 3000, TIGHTENINGS = 12 };

struct mc_loss_qp {
    const mc_problem *p;
    mc_kernel_matrix rows;
    mc_matrix matrix;
    int64_t most; /* variables in an active set */
    double *diagonal, *q, *low, *high;
    void *whole; /* K, where it is kept */
};
typedef mc_loss_qp piecewise;

static mercer_dtype dtype_of(int64_t n) {
    return n <= DOUBLE_ROWS ? MERCER_F64 : MERCER_F32;
}

size_t mc_loss_piecewise_bytes(mercer_ctx *ctx, const mc_problem *p) {
    return mc_svm_bytes(ctx, p, p->n, dtype_of(p->n)) + 5 * mc_work_need(p->n, sizeof(double));
}

/* Its part of K is stored for each of some three tolerances. */
double mc_loss_piecewise_work(mercer_ctx *ctx, const mc_problem *p) {
    return 3 * mc_svm_storing_work(ctx, p, p->n, dtype_of(p->n));
}

/* ---- K ---- */

static mercer_status open_matrix(mercer_ctx *ctx, piecewise *s) {
    const int64_t n = s->p->n;
    mc_gram *gram = NULL;
    MC_TRY(MC_ALLOC(ctx, s->diagonal, 4 * n));
    s->most = mc_svm_active(ctx, s->p, n, dtype_of(n));
    MC_TRY(mc_kernel_matrix_open(ctx, s->p->kernel, s->p->x, NULL, s->most < n && dtype_of(n) == MERCER_F32, &s->rows));
    s->q = s->diagonal + n;
    s->low = s->q + n;
    s->high = s->low + n;
    s->matrix = mc_kernel_matrix_view(&s->rows, dtype_of(n), s->diagonal);
    MC_TRY(mc_gram_open(ctx, s->p->kernel, s->p->x, NULL, MERCER_F64, &gram));
    const mercer_status status = mc_gram_diagonal(ctx, gram, s->diagonal);
    mc_gram_close(gram);
    return status;
}

/* ---- The quadratic program ---- */

static void write_quadratic_program(piecewise *s, const mc_loss_task *t) {
    for (int64_t i = 0; i < t->n; i++) {
        double low, high;
        t->loss->domain(t, t->y[i], &low, &high);
        s->q[i] = -t->y[i];
        s->low[i] = -high * t->cost[i] / t->lambda;
        s->high[i] = -low * t->cost[i] / t->lambda;
    }
}

/* Half of the mean distance of the targets from their mean: what a violation is small beside. */
static double spread_of(const mc_loss_task *t) {
    double mean = 0, sum = 0;
    for (int64_t i = 0; i < t->n; i++)
        mean += t->y[i] / (double)t->n;
    for (int64_t i = 0; i < t->n; i++)
        sum += fabs(t->y[i] - mean) / (double)t->n;
    return sum / 2;
}

static double gap_of(const mc_loss_task *t, double *primal) {
    long double energy = 0;
    for (int64_t i = 0; i < t->n; i++)
        energy += (long double)t->alpha[i] * t->f[i];
    const double loss = mc_loss_sum(t, t->f, t->b);
    *primal = (double)(loss + t->lambda / 2 * energy);
    return (double)(loss + mc_loss_conjugate(t, t->alpha) + t->lambda * energy);
}

static mercer_status tighten_until_gap(mercer_ctx *ctx, piecewise *s, mc_loss_task *t, double aim) {
    double tolerance = 0.02 * spread_of(t), primal = 0;
    for (int k = 0; k < TIGHTENINGS; k++, tolerance *= 0.1) {
        const mc_dual dual = {.m = t->n, .q = s->q, .low = s->low, .high = s->high};
        const mc_active_problem problem = {.dual = dual,
                                           .matrix = s->matrix,
                                           .tolerance = fmax(tolerance, DBL_MIN),
                                           .steps_max = INT64_MAX / 2,
                                           .most = s->most};
        mc_smo_result result = {0};
        const mercer_status status = mc_active_solve(ctx, &problem, t->alpha, t->f, &result);
        t->iterations += result.steps;
        t->b[0] = isfinite(result.intercept[0]) ? result.intercept[0] : t->b[0];
        MC_TRY(status);
        mc_loss_feasible(t, NULL, NULL, NULL, t->alpha); /* long runs leave the sum a few roundings off */
        const double gap = gap_of(t, &primal);
        mc_log_message(ctx, "%s: violation %.2g after %lld steps, objective %.10g, gap %.3g", t->loss->name,
                       result.violation, (long long)t->iterations, primal, gap);
        if (gap <= aim * fabs(primal) || !(tolerance > 0))
            return MERCER_OK;
    }
    return MERCER_OK;
}

mercer_status mc_loss_piecewise_solve(mercer_ctx *ctx, mc_loss_qp *s, mc_loss_task *tasks, int64_t count, double aim) {
    mercer_status status = MERCER_OK;
    for (int64_t j = 0; j < count && !status; j++) {
        mc_set_phase_span(ctx, (double)j / (double)count, (double)(j + 1) / (double)count);
        write_quadratic_program(s, &tasks[j]);
        status = tighten_until_gap(ctx, s, &tasks[j], aim);
    }
    return status;
}

mercer_status mc_loss_piecewise_open(mercer_ctx *ctx, const mc_problem *p, bool keep, mc_loss_qp **out) {
    piecewise *s = NULL;
    *out = NULL;
    MC_TRY(MC_ALLOC(ctx, s, 1));
    *s = (piecewise){.p = p};
    mercer_status status = open_matrix(ctx, s);
    if (!status && keep && s->most >= p->n)
        status = mc_kernel_matrix_store(ctx, &s->matrix, &s->whole);
    s->matrix.whole = mc_matrix_whole(p->n, s->matrix.dtype, s->whole, p->n);
    if (status)
        mc_loss_piecewise_close(s);
    else
        *out = s;
    return status;
}

void mc_loss_piecewise_close(mc_loss_qp *s) {
    if (!s)
        return;
    mc_kernel_matrix_close(&s->rows);
    mc_free(s->whole);
    mc_free(s->diagonal);
    mc_free(s);
}
