/* ridge_folds.c: exact residuals of rows left out in folds, from one inverse.

   With the notation of ridge_solve.c: without the rows F, the scaled residuals S (y - f - b) on F are

       (C_FF)^-1 beta_F,   C = B - B s s'B / s'Bs, B = A^-1 (C = B without an intercept),

   since the equations of the rows that stay say that the full solution, with beta_F moved to zero along C, is theirs.
   One row at a time it is the leave-one-out formula. The inverse costs n^3 operations, a fold of f rows f^3 / 3.

   Under the prior f ~ GP(0, k) with noise lambda / w (and b anything) the rows of F have, given the others, the
   covariance (C_FF)^-1 in the scaled unit: block inversion again. Its diagonal gives the variances, for f^3 operations
   more. */
#include "base/ctx.h"
#include "base/memory.h"
#include "base/print.h"
#include "base/progress.h"
#include "base/settings.h"
#include "base/status.h"
#include "data/table/data.h"
#include "gram/operator/gram.h"
#include "learn/common/fold_order.h"
#include "learn/common/machines.h"
#include "learn/ridge/ridge_path.h"
#include "learn/ridge/ridge_system.h"
#include "linalg/cholesky.h"
#include <math.h>
#include <string.h>

typedef struct folds {
    mc_ridge_system r;
    mc_fold_order by;
    double g;     /* s' B s */
    double *A;    /* packed: A, its factor, B */
    double *part; /* packed: C_FF */
    double *E;    /* largest x outputs: beta_F, then the residuals */
} folds;

/* X <- A^-1 of the right sides, A <- its inverse. */
static mercer_status invert(mercer_ctx *ctx, folds *f) {
    int64_t bad = 0;
    MC_TRY(mc_ridge_factor(ctx, &f->r, f->A, &bad));
    if (bad)
        return mc_ridge_refuse(ctx, &f->r);
    mc_phase(ctx, "inverse");
    return mc_potri(ctx, mc_packed(f->r.p->n, f->A));
}

void mc_ridge_part(const mc_ridge_system *r, double g, const double *B, const int64_t *rows, int64_t m, double *part) {
    for (int64_t b = 0; b < m; b++)
        for (int64_t a = b; a < m; a++) {
            const int64_t i = rows[a] > rows[b] ? rows[a] : rows[b], j = rows[a] > rows[b] ? rows[b] : rows[a];
            const double moved = r->intercept ? mc_ridge_z(r, i) * mc_ridge_z(r, j) / g : 0;
            part[mc_packed_place(m, a, b)] = B[mc_packed_place(r->p->n, i, j)] - moved;
        }
}

/* The diagonal of (C_FF)^-1, which takes the place of the factor, is the variance of S y. */
static mercer_status write_variances(mercer_ctx *ctx, const folds *f, const int64_t *rows, int64_t m,
                                     double *variances) {
    MC_TRY(mc_potri(ctx, mc_packed(m, f->part)));
    for (int64_t a = 0; a < m; a++) {
        const double s = mc_ridge_root(&f->r, rows[a]);
        variances[f->by.place[rows[a]]] = f->part[mc_packed_place(m, a, a)] / (s * s);
    }
    return MERCER_OK;
}

static mercer_status leave_out(mercer_ctx *ctx, const folds *f, const int64_t *rows, int64_t m, double *residuals,
                               double *variances) {
    const int64_t outputs = f->r.p->outputs;
    int64_t bad = 0;
    mc_ridge_part(&f->r, f->g, f->A, rows, m, f->part);
    for (int64_t a = 0; a < m * outputs; a++)
        f->E[a] = f->r.X[rows[a / outputs] * f->r.columns + a % outputs];
    MC_TRY(mc_potrf(ctx, mc_packed(m, f->part), &bad));
    if (bad)
        return mc_fail(ctx, MERCER_NUMERIC, "ridge folds: leaving fold %lld out broke down; use a larger lambda",
                       (long long)f->by.fold[f->by.place[rows[0]]]);
    MC_TRY(mc_potrs(ctx, mc_packed(m, f->part), mc_row_major(f->E, m, outputs, outputs)));
    for (int64_t a = 0; a < m; a++)
        for (int64_t k = 0; k < outputs; k++)
            residuals[f->by.place[rows[a]] * outputs + k] = f->E[a * outputs + k] / mc_ridge_root(&f->r, rows[a]);
    return variances ? write_variances(ctx, f, rows, m, variances) : MERCER_OK;
}

static mercer_status leave_all_out(mercer_ctx *ctx, const folds *f, double *residuals, double *variances) {
    const int64_t n = f->r.p->n;
    mc_phase(ctx, "folds");
    for (int64_t begin = 0, end; begin < n; begin = end) {
        end = mc_fold_end(&f->by, begin);
        mc_span(ctx, (double)begin / (double)n, (double)end / (double)n);
        MC_TRY(leave_out(ctx, f, f->by.order + begin, end - begin, residuals, variances));
    }
    return MERCER_OK;
}

static double rmse_of(const mercer_data *data, int64_t outputs, const double *residuals) {
    double sum = 0, weight = 0;
    for (int64_t i = 0; i < data->n; i++) {
        const double w = data->weight ? data->weight[i] : 1;
        for (int64_t k = 0; k < outputs && w > 0; k++)
            sum += w * residuals[i * outputs + k] * residuals[i * outputs + k];
        weight += w;
    }
    return sqrt(sum / weight / (double)outputs);
}

static mercer_status allocate(mercer_ctx *ctx, folds *f) {
    const int64_t n = f->r.p->n, outputs = f->r.p->outputs;
    char what[80];
    mc_print(what, sizeof what, "ridge folds: the inverse of %lld rows", (long long)n);
    MC_TRY(mc_memory_check(ctx, (size_t)(mc_packed_count(n) + mc_packed_count(f->by.largest)) * 8, what));
    MC_TRY(MC_ALLOC(ctx, f->r.X, n * f->r.columns));
    MC_TRY(MC_ALLOC(ctx, f->r.mean, outputs));
    MC_TRY(MC_ALLOC(ctx, f->E, f->by.largest * outputs));
    f->A = mc_alloc_unset(ctx, mc_packed_count(n), 8);
    f->part = f->A ? mc_alloc_unset(ctx, mc_packed_count(f->by.largest), 8) : NULL;
    return f->part ? MERCER_OK : MERCER_MEMORY;
}

static void release(folds *f) {
    mc_fold_order_close(&f->by);
    mc_free(f->r.X);
    mc_free(f->r.mean);
    mc_free(f->E);
    mc_free(f->A);
    mc_free(f->part);
}

static mercer_status run(mercer_ctx *ctx, folds *f, const mercer_data *data, double *residuals, double *variances) {
    MC_TRY(allocate(ctx, f));
    for (int64_t i = 0; i < data->n * f->r.p->outputs; i++)
        residuals[i] = NAN;
    for (int64_t i = 0; variances && i < data->n; i++)
        variances[i] = NAN;
    MC_TRY(invert(ctx, f));
    f->g = mc_ridge_take_intercept(&f->r);
    return leave_all_out(ctx, f, residuals, variances);
}

mercer_status mc_ridge_folds(mercer_ctx *ctx, const mercer_kernel *kernel, const mercer_data *data,
                             const mercer_ridge *set, const int64_t *fold, double *residuals, double *variances,
                             double *rmse) {
    if (mc_ridge_open_lambda(set))
        return mc_fail(ctx, MERCER_INVALID,
                       "ridge folds: lambda must be given, not norm-bound or dof: each fold would have its own");
    mc_problem problem;
    MC_TRY(mc_problem_open(ctx, set->scale, mc_consent_of(set->allow_indefinite), kernel, data, &problem));
    folds f = {.r = {.p = &problem, .lambda = set->lambda, .intercept = set->intercept}};
    f.r.columns = problem.outputs + set->intercept;
    mercer_status status = mc_fold_order_open(ctx, data, fold, problem.n, &f.by);
    if (!status)
        status = run(ctx, &f, data, residuals, variances);
    if (!status && rmse)
        *rmse = rmse_of(data, problem.outputs, residuals);
    release(&f);
    mc_problem_close(&problem);
    return status;
}
