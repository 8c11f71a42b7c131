/* ridge_gradient.c: the error of rows left out, and how it changes with lambda and with every parameter of the kernel.

   With the notation of leave_out.h the scaled residuals of a fold F left out are

       e_F = (C_FF)^-1 beta_F,   beta = C S Y,   C = B - z z'/s'z,   B = A^-1, A = S K S + lambda I.

   C is the inverse of A on the vectors orthogonal to s (on all of them without an intercept), so dC = -C dA C and dbeta
   = -C dA beta, and

       de_F = (C_FF)^-1 (dbeta_F - dC_FF e_F).

   An error f(e) with the slopes w = df/de therefore has df = sum_ij M_ij dA_ij with, v_F = (C_FF)^-1 w_F,

       M = -sym(C v beta') + sum_F sym(C_.F v_F (C_.F e_F)').

   f is the logarithm of the root mean squared error, of all rows or as a mean over the folds: then w_F is a multiple of
   e_F. Rows that leave one by one are n folds: v_i = w_i / C_ii, and the sum is C diag(v_i e_i) C = G G', whose tiles
   are multiplied when the pairs of rows are asked for (gram/gradient/contract.c). A step costs n^3/3 operations for the
   factor, 2n^3/3 for the inverse and n^3 for G G'; with few folds the sum has few terms and the last part costs
   nothing.

   Generalised cross-validation puts the mean of C_ii in place of each: f = log |beta| - log tr C + a constant, and df =
   sum_ij M_ij dA_ij with v = beta / |beta|^2 and C C / tr C in place of the sum over folds. */
#include "learn/ridge/ridge_gradient.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/print.h"
#include "base/progress.h"
#include "base/settings.h"
#include "base/status.h"
#include "gram/gradient/contract.h"
#include "learn/common/fold_order.h"
#include "learn/common/machines.h"
#include "learn/ridge/ridge_system.h"
#include "linalg/cholesky.h"
#include <math.h>

enum { ROWS = 64 }; /* of a chunk */

typedef struct ridge_slopes {
    mc_ridge_system r;
    mc_fold_order by; /* with folds */
    bool folds;
    int64_t terms; /* columns of left and right */
    mc_leave_out out;
    double *A;            /* packed: A, its factor, B */
    double *part;         /* packed: C_FF */
    double *E, *V;        /* n x outputs: e and v */
    double *D;            /* n: B_ii, then the root of v_i e_i summed over the outputs; rows one by one */
    double *G;            /* n x n; rows one by one */
    double *left, *right; /* n x terms: M = left right' (+ G G') */
    int64_t *of;          /* n: the fold of a row, counted from 0 in the order of by */
    double *residual;     /* n x outputs: unscaled */
    double *edge;         /* largest x outputs, of one fold */
    mc_work work;
} ridge_slopes;

static double C_at(const ridge_slopes *x, int64_t i, int64_t j) {
    const double B = x->A[i >= j ? mc_packed_place(x->r.p->n, i, j) : mc_packed_place(x->r.p->n, j, i)];
    return mc_leave_out_entry(&x->out, B, i, j);
}

static double beta_at(const ridge_slopes *x, int64_t i, int64_t k) {
    return x->r.X[i * x->r.columns + k];
}

/* ---- The residuals, and v ---- */

/* *value: the logarithm of the error; NaN where a row cannot be left out. */
static void leave_rows_out(ridge_slopes *x, double *value) {
    const int64_t n = x->r.p->n, t = x->r.p->outputs;
    for (int64_t i = 0; i < n; i++)
        x->D[i] = x->A[mc_packed_place(n, i, i)];
    const mc_loo_result all = mc_leave_rows_out(&x->out, x->D, 1, NULL, 0, x->E, t);
    for (int64_t i = 0; i < n && all.broken < 0; i++) {
        const double C = C_at(x, i, i);
        double both = 0;
        for (int64_t k = 0; k < t; k++) {
            x->V[i * t + k] = all.squares > 0 ? x->E[i * t + k] / (all.squares * C) : 0;
            both += x->V[i * t + k] * x->E[i * t + k];
        }
        x->D[i] = sqrt(both);
    }
    *value = all.broken < 0 ? 0.5 * log(all.squares / all.weight / (double)t) : NAN;
}

/* e_F and the share of the fold in the error, then v_F up to the mean over the folds, which is known when all have
   left. */
static mercer_status leave_fold_out(mercer_ctx *ctx, ridge_slopes *x, const int64_t *rows, int64_t m, double *error,
                                    bool *defined) {
    const int64_t t = x->r.p->outputs;
    double sum = 0, weight = 0;
    MC_TRY(mc_leave_fold_out(ctx, &x->out, x->A, rows, m, mc_packed(m, x->part), x->edge, defined));
    if (!*defined)
        return MERCER_OK;
    for (int64_t a = 0; a < m * t; a++)
        sum += x->edge[a] * x->edge[a];
    for (int64_t a = 0; a < m; a++)
        weight += mc_problem_weight(x->r.p, rows[a]);
    const double cells = weight * (double)t, scale = sum > 0 ? 1 / sqrt(sum * cells) : 0;
    for (int64_t a = 0; a < m * t; a++) {
        x->E[rows[a / t] * t + a % t] = x->edge[a];
        x->edge[a] *= scale;
    }
    MC_TRY(mc_potrs(ctx, mc_packed(m, x->part), mc_row_major(x->edge, m, t, t)));
    for (int64_t a = 0; a < m * t; a++)
        x->V[rows[a / t] * t + a % t] = x->edge[a];
    *error = sqrt(sum / cells);
    return MERCER_OK;
}

static mercer_status leave_folds_out(mercer_ctx *ctx, ridge_slopes *x, double *value) {
    const int64_t n = x->r.p->n;
    double sum = 0;
    int64_t folds = 0;
    bool defined = true;
    *value = NAN;
    for (int64_t begin = 0, end; begin < n; begin = end, folds++) {
        double error = 0;
        end = mc_fold_end(&x->by, begin);
        MC_TRY(leave_fold_out(ctx, x, x->by.order + begin, end - begin, &error, &defined));
        if (!defined)
            return MERCER_OK;
        sum += error;
    }
    for (int64_t i = 0; i < n * x->r.p->outputs; i++)
        x->V[i] = sum > 0 ? x->V[i] / sum : 0;
    *value = log(sum / (double)folds);
    return MERCER_OK;
}

static void gcv_error(ridge_slopes *x, double *value) {
    const int64_t n = x->r.p->n, t = x->r.p->outputs;
    double sum = 0, weight = 0, trace = 0;
    for (int64_t i = 0; i < n; i++) {
        trace += C_at(x, i, i);
        weight += mc_problem_weight(x->r.p, i);
        for (int64_t k = 0; k < t; k++)
            sum += beta_at(x, i, k) * beta_at(x, i, k);
    }
    for (int64_t i = 0; i < n * t; i++)
        x->V[i] = sum > 0 ? beta_at(x, i / t, i % t) / sum : 0;
    for (int64_t i = 0; i < n; i++)
        x->D[i] = sqrt(1 / trace);
    *value = trace > 0 ? 0.5 * log(sum / weight / (double)t) + log((double)n / trace) : NAN;
}

/* ---- M ---- */

/* Row i of G = C diag(D), of -p/2, p = C v, and of C_.F v_F / 2 and C_.F e_F / 2 for every fold. */
static void write_left(const ridge_slopes *x, int64_t i) {
    const int64_t n = x->r.p->n, t = x->r.p->outputs;
    double *left = x->left + i * x->terms;
    for (int64_t k = 0; k < x->terms; k++)
        left[k] = 0;
    for (int64_t j = 0; j < n; j++) {
        const double C = C_at(x, i, j);
        double *fold = x->folds ? left + 2 * t * (1 + x->of[j]) : NULL;
        if (x->G)
            x->G[i * n + j] = C * x->D[j];
        for (int64_t k = 0; k < t; k++) {
            left[k] -= 0.5 * C * x->V[j * t + k];
            if (fold) {
                fold[k] += 0.5 * C * x->V[j * t + k];
                fold[t + k] += 0.5 * C * x->E[j * t + k];
            }
        }
    }
    for (int64_t k = 0; k < t; k++)
        left[t + k] = 0.5 * beta_at(x, i, k);
}

/* Every pair of terms a, b stands on the right as 2 b, 2 a: together sym(a b') times 4. The first pair is -p/2 and
   beta/2. */
static void write_right(const ridge_slopes *x, int64_t i) {
    const int64_t t = x->r.p->outputs;
    const double *left = x->left + i * x->terms;
    double *right = x->right + i * x->terms;
    for (int64_t pair = 0; pair < x->terms; pair += 2 * t)
        for (int64_t k = 0; k < t; k++) {
            right[pair + k] = 2 * left[pair + t + k];
            right[pair + t + k] = 2 * left[pair + k];
        }
}

static void write_rows(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk, (void)thread;
    for (int64_t i = begin; i < end; i++) {
        write_left(arg, i);
        write_right(arg, i);
    }
}

/* out <- beta out + X_i Z_j', both with the given number of columns. */
static void add_product(const double *X, const double *Z, int64_t columns, int64_t rows, int64_t across, double beta,
                        double *out, int64_t ld) {
    mc_gemm(1, mc_row_major(X, rows, columns, columns), mc_column_major(Z, columns, across, columns), beta,
            mc_row_major(out, rows, across, ld));
}

/* S M S of a block. */
static void block_of(const void *self, int64_t i0, int64_t i1, int64_t j0, int64_t j1, double *out, int64_t ld) {
    const ridge_slopes *x = self;
    const int64_t n = x->r.p->n, q = x->terms;
    add_product(x->left + i0 * q, x->right + j0 * q, q, i1 - i0, j1 - j0, 0, out, ld);
    if (x->G)
        add_product(x->G + i0 * n, x->G + j0 * n, n, i1 - i0, j1 - j0, 1, out, ld);
    for (int64_t i = i0; x->r.p->root && i < i1; i++)
        for (int64_t j = j0; j < j1; j++)
            out[(i - i0) * ld + j - j0] *= x->r.p->root[i] * x->r.p->root[j];
}

/* The trace of M. */
static double by_lambda(const ridge_slopes *x) {
    const int64_t n = x->r.p->n;
    double sum = 0;
    for (int64_t i = 0; i < n * x->terms; i++)
        sum += x->left[i] * x->right[i];
    for (int64_t i = 0; x->G && i < n * n; i++)
        sum += x->G[i] * x->G[i];
    return sum;
}

static mercer_status contract_kernel_slopes(mercer_ctx *ctx, ridge_slopes *x, double *by_slot) {
    MC_TRY(mc_for(ctx, x->r.p->n, ROWS, write_rows, x));
    return mc_gram_contract(ctx, x->r.p->kernel, x->r.p->x, block_of, x, by_slot);
}

/* What stands at a place of the text may have gone into another part of the expression, and then has no slope of its
   own. */
static void sort_slopes(const mercer_kernel *kernel, const double *by_slot, mc_slopes *out) {
    for (int64_t k = 0; k < out->count; k++)
        out->by_value[k] = 0;
    for (int64_t i = 0; i < kernel->slots; i++) {
        const mc_slot *slot = &kernel->slot[i];
        const mc_value *value = slot->parameter < 0 ? NULL : &slot->node->parameter[slot->parameter];
        for (int64_t k = 0; value && k < out->count; k++)
            if (value->kind == MC_VALUE_NUMBER && value->low < value->high && value->offset == out->place[k])
                out->by_value[k] += by_slot[i];
    }
}

static mercer_status find_slopes(mercer_ctx *ctx, ridge_slopes *x, mc_slopes *out) {
    const mercer_kernel *kernel = x->r.p->kernel;
    double *by_slot = NULL;
    MC_TRY(MC_ALLOC(ctx, by_slot, kernel->slots));
    mc_begin_phase(ctx, "slopes");
    const mercer_status status = contract_kernel_slopes(ctx, x, by_slot);
    if (!status) {
        sort_slopes(kernel, by_slot, out);
        out->by_lambda = by_lambda(x);
    }
    mc_free(by_slot);
    return status;
}

/* ---- All together ---- */

/* B, beta and C; *defined false where A is not positive definite. */
static mercer_status invert_system(mercer_ctx *ctx, ridge_slopes *x, bool *defined) {
    int64_t bad = 0;
    MC_TRY(mc_ridge_factor(ctx, &x->r, x->A, &bad));
    *defined = !bad;
    if (bad)
        return MERCER_OK;
    mc_begin_phase(ctx, "inverse");
    MC_TRY(mc_potri(ctx, mc_packed(x->r.p->n, x->A)));
    x->out = mc_ridge_leave_out(&x->r);
    return MERCER_OK;
}

static mercer_status error_and_slopes(mercer_ctx *ctx, ridge_slopes *x, mc_loo_callback *each, void *arg,
                                      mc_slopes *out) {
    const int64_t n = x->r.p->n, t = x->r.p->outputs;
    bool defined;
    out->value = NAN;
    MC_TRY(invert_system(ctx, x, &defined));
    if (defined && out->generalised)
        gcv_error(x, &out->value);
    else if (defined && x->folds)
        MC_TRY(leave_folds_out(ctx, x, &out->value));
    else if (defined)
        leave_rows_out(x, &out->value);
    for (int64_t i = 0; i < n * t; i++)
        x->residual[i] = x->E[i] / mc_leave_out_root(&x->out, i / t);
    defined = !isnan(out->value);
    if (!out->generalised)
        MC_TRY(each(ctx, arg, 0, defined ? x->residual : NULL));
    return defined ? find_slopes(ctx, x, out) : MERCER_OK;
}

static int64_t number_folds(ridge_slopes *x) {
    int64_t folds = 0;
    for (int64_t begin = 0, end; begin < x->by.n; begin = end, folds++) {
        end = mc_fold_end(&x->by, begin);
        for (int64_t a = begin; a < end; a++)
            x->of[x->by.order[a]] = folds;
    }
    return folds;
}

size_t mc_ridge_slopes_bytes(int64_t n, bool folds) {
    return (size_t)(mc_packed_count(n) + (folds ? 0 : n * n)) * sizeof(double);
}

static void lay_out_slopes(mc_work *work, void *self) {
    ridge_slopes *x = self;
    const int64_t n = x->r.p->n, t = x->r.p->outputs;
    x->A = mc_work_take(work, mc_packed_count(n), sizeof *x->A);
    x->part = mc_work_take(work, mc_packed_count(x->by.largest), sizeof *x->part);
    x->G = x->folds ? NULL : mc_work_take(work, n * n, sizeof *x->G);
    x->r.X = mc_work_take(work, n * x->r.columns, sizeof *x->r.X);
    x->r.mean = mc_work_take(work, t, sizeof *x->r.mean);
    double **const vectors[] = {&x->E, &x->V, &x->residual};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        *vectors[i] = mc_work_take(work, n * t, sizeof(double));
    x->D = mc_work_take(work, n, sizeof *x->D);
    x->edge = mc_work_take(work, x->by.largest * t, sizeof *x->edge);
    x->left = mc_work_take(work, n * x->terms, sizeof *x->left);
    x->right = mc_work_take(work, n * x->terms, sizeof *x->right);
}

static mercer_status allocate_slopes(mercer_ctx *ctx, ridge_slopes *x) {
    const int64_t n = x->r.p->n, t = x->r.p->outputs;
    char what[80];
    mc_print(what, sizeof what, "ridge: the slopes of %lld rows left out", (long long)n);
    MC_TRY(mc_memory_check(
        ctx, mc_ridge_slopes_bytes(n, x->folds) + mc_gram_contract_bytes(ctx, x->r.p->kernel, x->r.p->x), what));
    MC_TRY(MC_ALLOC(ctx, x->of, n));
    x->terms = 2 * t * (1 + (x->folds ? number_folds(x) : 0));
    return mc_work_lay(ctx, &x->work, lay_out_slopes, x);
}

static void free_slopes(ridge_slopes *x) {
    mc_work_close(&x->work);
    mc_free(x->of);
    mc_fold_order_close(&x->by);
}

mercer_status mc_ridge_slopes(mercer_ctx *ctx, const mercer_kernel *kernel, const mercer_data *data,
                              const mercer_ridge *set, const int64_t *fold, mc_loo_callback *each, void *arg,
                              mc_slopes *out) {
    MC_TRY(mc_settings_check(ctx, "ridge", mc_ridge_settings, MC_RIDGE_SETTINGS, set));
    mc_problem problem;
    MC_TRY(mc_problem_open(ctx, set->scale, mc_admission_of(set->allow_indefinite, set->intercept), kernel, data,
                           &problem));
    ridge_slopes x = {.r = {.p = &problem, .intercept = set->intercept, .lambda = set->lambda}, .folds = fold != NULL};
    x.r.columns = problem.outputs + set->intercept;
    mercer_status status = fold ? mc_fold_order_open(ctx, data, fold, problem.n, &x.by) : MERCER_OK;
    MC_THEN(status, allocate_slopes(ctx, &x));
    MC_THEN(status, error_and_slopes(ctx, &x, each, arg, out));
    free_slopes(&x);
    mc_problem_close(&problem);
    return status;
}
