/* ridge_leave_out.c: residuals of rows left out, one by one or in folds, a lambda at a time: from the factor of
   A = S K S + lambda I (leave_out.h has the formulas).

   Rows one by one need the diagonal of the inverse, which costs no more than the factorisation again. Folds need the
   whole inverse, n^3 operations, and f^3 / 3 for a fold of f rows. An eigendecomposition, which serves any number of
   lambdas (ridge_path.c), takes the time of some sixty factorisations (two thirds of its work is bound by memory): for
   few lambdas this is the shorter way.

   Under the prior f ~ GP(0, k) with noise lambda / w (and b anything) the rows of a fold F have, given the others, the
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
#include "learn/common/leave_out.h"
#include "learn/common/machines.h"
#include "learn/ridge/ridge_path.h"
#include "learn/ridge/ridge_system.h"
#include "linalg/cholesky.h"
#include <math.h>

typedef struct leaving {
    mc_ridge_system r;
    mc_fold_order by;   /* with folds */
    bool folds, strict; /* strict: what cannot be left out is an error that says why */
    double *A;          /* packed: A, its factor, and with folds its inverse */
    double *diagonal;   /* n: of the inverse, rows one by one */
    double *part;       /* packed: the block of a fold, then its factor */
    double *E;          /* largest x outputs: residuals of a fold */
    double *left;       /* n x outputs: y - f - b */
    double *variances;  /* n; NULL: not wanted */
    mc_work work;
} leaving;

mc_leave_out mc_ridge_leave_out(const mc_ridge_system *r) {
    mc_leave_out x = {r->p->n, r->p->outputs, r->intercept, r->p->root, r->X, r->columns, 0};
    mc_leave_out_begin(&x);
    for (int64_t k = 0; k < x.outputs && x.intercept; k++) {
        double above = 0;
        for (int64_t i = 0; i < x.n; i++)
            above += mc_leave_out_root(&x, i) * r->X[i * x.step + k];
        for (int64_t i = 0; i < x.n; i++)
            r->X[i * x.step + k] -= above / x.g * r->X[i * x.step + x.outputs];
    }
    return x;
}

static mercer_status leave_rows_out(mercer_ctx *ctx, const leaving *x, const mc_leave_out *by, bool *defined) {
    const int64_t n = by->n, outputs = by->outputs;
    MC_TRY(mc_cholesky_inverse_diagonal(ctx, mc_packed(n, x->A), x->diagonal));
    *defined = mc_leave_rows_out(by, x->diagonal, 1, NULL, 0, x->left, outputs).broken < 0;
    for (int64_t i = 0; i < n * outputs; i++)
        x->left[i] /= mc_leave_out_root(by, i / outputs);
    return MERCER_OK;
}

/* The diagonal of (C_FF)^-1, which takes the place of the factor, is the variance of S y. */
static mercer_status write_variances(mercer_ctx *ctx, const leaving *x, const mc_leave_out *by, const int64_t *rows,
                                     int64_t m) {
    MC_TRY(mc_potri(ctx, mc_packed(m, x->part)));
    for (int64_t a = 0; a < m; a++) {
        const double s = mc_leave_out_root(by, rows[a]);
        x->variances[rows[a]] = x->part[mc_packed_place(m, a, a)] / (s * s);
    }
    return MERCER_OK;
}

static mercer_status leave_fold_out(mercer_ctx *ctx, const leaving *x, const mc_leave_out *by, const int64_t *rows,
                                    int64_t m, bool *defined) {
    const int64_t outputs = by->outputs;
    MC_TRY(mc_leave_fold_out(ctx, by, x->A, rows, m, mc_packed(m, x->part), x->E, defined));
    if (!*defined && x->strict)
        return mc_fail(ctx, MERCER_NUMERIC, "ridge folds: leaving fold %lld out broke down; use a larger lambda",
                       (long long)x->by.fold[x->by.place[rows[0]]]);
    for (int64_t a = 0; a < m * outputs; a++)
        x->left[rows[a / outputs] * outputs + a % outputs] = x->E[a] / mc_leave_out_root(by, rows[a / outputs]);
    return *defined && x->variances ? write_variances(ctx, x, by, rows, m) : MERCER_OK;
}

static mercer_status leave_folds_out(mercer_ctx *ctx, const leaving *x, const mc_leave_out *by, bool *defined) {
    const int64_t n = by->n;
    *defined = true;
    MC_TRY(mc_potri(ctx, mc_packed(n, x->A)));
    mc_begin_phase(ctx, "folds");
    for (int64_t begin = 0, end; begin < n && *defined; begin = end) {
        end = mc_fold_end(&x->by, begin);
        mc_set_phase_span(ctx, (double)begin / (double)n, (double)end / (double)n);
        MC_TRY(leave_fold_out(ctx, x, by, x->by.order + begin, end - begin, defined));
    }
    return MERCER_OK;
}

static mercer_status leave_out(mercer_ctx *ctx, leaving *x, double lambda, bool *defined) {
    int64_t bad = 0;
    x->r.lambda = lambda;
    *defined = false;
    MC_TRY(mc_ridge_factor(ctx, &x->r, x->A, &bad));
    if (bad)
        return x->strict ? mc_ridge_refuse(ctx, &x->r) : MERCER_OK;
    mc_begin_phase(ctx, "inverse");
    const mc_leave_out by = mc_ridge_leave_out(&x->r);
    return x->folds ? leave_folds_out(ctx, x, &by, defined) : leave_rows_out(ctx, x, &by, defined);
}

static void lay_out_residuals(mc_work *work, void *self) {
    leaving *x = self;
    const int64_t n = x->r.p->n, outputs = x->r.p->outputs;
    x->A = mc_work_take(work, mc_packed_count(n), sizeof *x->A);
    x->part = mc_work_take(work, mc_packed_count(x->by.largest), sizeof *x->part);
    x->r.X = mc_work_take(work, n * x->r.columns, sizeof *x->r.X);
    x->r.mean = mc_work_take(work, outputs, sizeof *x->r.mean);
    x->diagonal = mc_work_take(work, x->folds ? 0 : n, sizeof *x->diagonal);
    x->left = mc_work_take(work, n * outputs, sizeof *x->left);
    x->E = mc_work_take(work, x->by.largest * outputs, sizeof *x->E);
}

static mercer_status allocate_residuals(mercer_ctx *ctx, leaving *x) {
    const int64_t n = x->r.p->n;
    char what[80];
    mc_print(what, sizeof what, x->folds ? "ridge folds: the inverse of %lld rows" : "ridge: the rows left out of %lld",
             (long long)n);
    MC_TRY(mc_memory_check(ctx, mc_slices_bytes(lay_out_residuals, x), what));
    return mc_work_lay(ctx, &x->work, lay_out_residuals, x);
}

static mercer_status leave_all_out(mercer_ctx *ctx, const mercer_kernel *kernel, const mercer_data *data,
                                   const mercer_ridge *set, const int64_t *fold, const double *lambdas, int64_t count,
                                   leaving x, mc_loo_callback *each, void *arg) {
    mc_problem problem;
    MC_TRY(mc_problem_open(ctx, set->scale, mc_admission_of(set->allow_indefinite, set->intercept), kernel, data,
                           &problem));
    x.r = (mc_ridge_system){.p = &problem, .intercept = set->intercept, .columns = problem.outputs + set->intercept};
    x.folds = fold != NULL;
    mercer_status status = fold ? mc_fold_order_open(ctx, data, fold, problem.n, &x.by) : MERCER_OK;
    MC_THEN(status, allocate_residuals(ctx, &x));
    for (int64_t l = 0; l < count && !status; l++) {
        bool defined = false;
        status = leave_out(ctx, &x, lambdas[l], &defined);
        MC_THEN(status, each(ctx, arg, l, defined ? x.left : NULL));
    }
    mc_work_close(&x.work);
    mc_fold_order_close(&x.by);
    mc_problem_close(&problem);
    return status;
}

mercer_status mc_ridge_leave_one_out(mercer_ctx *ctx, const mercer_kernel *kernel, const mercer_data *data,
                                     const mercer_ridge *set, const int64_t *fold, const double *lambdas, int64_t count,
                                     mc_loo_callback *each, void *arg) {
    MC_TRY(mc_settings_check(ctx, "ridge", mc_ridge_settings, MC_RIDGE_SETTINGS, set));
    return leave_all_out(ctx, kernel, data, set, fold, lambdas, count, (leaving){0}, each, arg);
}

size_t mc_ridge_leave_one_out_bytes(mercer_ctx *ctx, const mc_problem *problem, bool intercept, int64_t largest) {
    leaving x = {.r = {.p = problem, .columns = problem->outputs + intercept}, .folds = largest > 0};
    x.by.largest = largest;
    const int64_t fold = largest ? 4 * problem->n : 0; /* their order */
    return mc_slices_bytes(lay_out_residuals, &x) + (size_t)fold * sizeof(double)
           + mc_gram_bytes(ctx, problem->kernel, problem->x, NULL, MERCER_F64, 0) + (1 << 16);
}

/* For each the triangle of K, its factor, and the diagonal of the inverse, which is as long, or the whole of it and the
   factors of the folds. */
void mc_ridge_leave_one_out_work(const mc_problem *problem, bool intercept, int64_t folds, int64_t count,
                                 mc_solver_option *out) {
    const double n = (double)problem->n, L = (double)count, parts = (double)folds;
    const double inverse = folds ? 2 * mc_factor_work(n) + parts * mc_factor_work(n / parts) : mc_factor_work(n);
    *out = (mc_solver_option){
        .pairs = L * n * n,
        .factor = L * (mc_factor_work(n) + inverse + 2 * n * n * (double)(problem->outputs + intercept))};
}

/* ---- Folds of all rows of the data, those of weight zero among them ---- */

typedef struct folded {
    const mercer_data *data;
    int64_t outputs;
    double *residuals, *variances, rmse;
} folded;

/* Rows that count move to their places, from the last on; the others have no residual. */
static void spread_over_rows(const mercer_data *data, int64_t outputs, const double *from, double *to) {
    int64_t i = 0;
    for (int64_t row = 0; row < data->n; row++)
        i += !data->weight || data->weight[row] > 0;
    for (int64_t row = data->n - 1; row >= 0; row--) {
        const bool counts = !data->weight || data->weight[row] > 0;
        i -= counts;
        for (int64_t k = outputs - 1; k >= 0; k--)
            to[row * outputs + k] = counts ? from[i * outputs + k] : NAN;
    }
}

static mercer_status write_folds(mercer_ctx *ctx, void *arg, int64_t l, const double *residuals) {
    (void)ctx, (void)l;
    folded *f = arg;
    double sum = 0, weight = 0;
    spread_over_rows(f->data, f->outputs, residuals, f->residuals);
    if (f->variances)
        spread_over_rows(f->data, 1, f->variances, f->variances);
    for (int64_t i = 0; i < f->data->n; i++) {
        const double w = f->data->weight ? f->data->weight[i] : 1;
        for (int64_t k = 0; k < f->outputs && w > 0; k++)
            sum += w * f->residuals[i * f->outputs + k] * f->residuals[i * f->outputs + k];
        weight += w;
    }
    f->rmse = sqrt(sum / weight / (double)f->outputs);
    return MERCER_OK;
}

mercer_status mc_ridge_folds(mercer_ctx *ctx, const mercer_kernel *kernel, const mercer_data *data,
                             const mercer_ridge *set, const int64_t *fold, double *residuals, double *variances,
                             double *rmse) {
    if (mc_ridge_finds_lambda(set))
        return mc_fail(ctx, MERCER_INVALID,
                       "ridge folds: lambda must be given, not norm-bound or dof: each fold would have its own");
    folded f = {data, data->class_of ? data->classes : data->outputs, residuals, variances, NAN};
    const leaving strict = {.strict = true, .variances = variances};
    MC_TRY(leave_all_out(ctx, kernel, data, set, fold, &set->lambda, 1, strict, write_folds, &f));
    if (rmse)
        *rmse = f.rmse;
    return MERCER_OK;
}
