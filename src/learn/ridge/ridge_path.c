/* ridge_path.c: a table of lambdas, exact leave-one-out errors included, from one eigendecomposition M = U diag(m) U'.

   ridge_spectrum.c gives norm, loss and degrees of freedom. Leaving rows out (leave_out.h) takes beta and z, U times
   their coordinates for all lambdas at once, and the diagonals of the inverses (leave_out_spectrum.c). The lambdas go
   through in batches, so a path of any length takes the memory of one batch. */
#include "base/ctx.h"
#include "base/memory.h"
#include "base/print.h"
#include "base/progress.h"
#include "base/settings.h"
#include "base/status.h"
#include "base/workspace.h"
#include "data/table/data.h"
#include "gram/operator/gram.h"
#include "learn/common/machines.h"
#include "learn/common/path_row.h"
#include "learn/ridge/ridge_path.h"
#include "learn/ridge/ridge_spectrum.h"
#include "learn/ridge/ridge_system.h"
#include "linalg/eigen.h"
#include <math.h>

enum { WIDTH = 64 }; /* columns of a batch */

typedef struct ridge_path {
    mc_ridge_system r;
    mc_ridge_spectrum s;
    int64_t batch; /* lambdas at a time */
    int64_t rank;
    double weight;              /* sum of the weights */
    double *U, *m, *diagonal;   /* n x n, n, n: M_ii */
    double *G;                  /* n x columns */
    double *H, *B;              /* n x batch: h, B_ii */
    double *coordinates, *back; /* n x (batch columns): of beta and z; beta and z themselves */
    double *b;                  /* outputs */
    double *squares;            /* batch: of folds left out */
    const mc_fold_order *by;    /* folds left out; NULL: none asked for */
    mc_loo_callback *each;      /* NULL: nobody asks for the residuals */
    void *arg;
    double *left; /* batch x n x outputs: them */
} ridge_path;

/* ---- Memory ---- */

static void lay_out_path_workspace(ridge_path *p, mc_work *work) {
    const int64_t n = p->s.n, columns = p->s.columns;
    p->m = mc_work_take(work, n, 8);
    p->diagonal = mc_work_take(work, n, 8);
    p->r.X = mc_work_take(work, n * columns, 8);
    p->G = mc_work_take(work, n * columns, 8);
    p->H = mc_work_take(work, n * p->batch, 8);
    p->B = mc_work_take(work, n * p->batch, 8);
    p->coordinates = mc_work_take(work, n * p->batch * columns, 8);
    p->back = mc_work_take(work, n * p->batch * columns, 8);
    p->b = mc_work_take(work, p->s.outputs, 8);
    p->r.mean = mc_work_take(work, p->s.outputs, 8);
    p->squares = mc_work_take(work, p->batch, 8);
}

static size_t small_bytes(const ridge_path *p) {
    mc_work counted = {0};
    ridge_path copy = *p;
    lay_out_path_workspace(&copy, &counted);
    return counted.used;
}

static size_t all_bytes(mercer_ctx *ctx, const ridge_path *p, bool residuals) {
    const int64_t n = p->s.n;
    const size_t gram = mc_gram_bytes(ctx, p->r.p->kernel, p->r.p->x, NULL, MERCER_F64, 0), eigen = mc_eigen_bytes(n);
    return small_bytes(p) + mc_work_need(n * n, 8) + (gram > eigen ? gram : eigen) + 4 * MC_ALIGN
           + mc_spectrum_diagonals_bytes(ctx, p->batch)
           + (residuals ? mc_work_need(p->batch * n * p->s.outputs, 8) + 2 * MC_ALIGN : 0);
}

static mercer_status check_memory(mercer_ctx *ctx, const ridge_path *p) {
    char what[80];
    mc_print(what, sizeof what, "ridge path: the eigendecomposition of %lld rows", (long long)p->s.n);
    return mc_memory_check(ctx, all_bytes(ctx, p, p->each), what);
}

/* ---- The decomposition ---- */

/* Rounding puts eigenvalues of a kernel below zero, where none is. */
static void clamp_spectrum(ridge_path *p) {
    p->s.cutoff = mc_eigen_cutoff(p->s.n, p->m);
    for (int64_t j = 0; j < p->s.n; j++) {
        if (p->m[j] < 0 && (p->r.p->proved || p->m[j] > -p->s.cutoff))
            p->m[j] = 0;
        p->rank += p->m[j] > p->s.cutoff;
    }
}

static mercer_status decompose_system(mercer_ctx *ctx, ridge_path *p) {
    const int64_t n = p->s.n;
    mc_ridge_right_hand_sides(&p->r);
    MC_TRY(mc_ridge_square(ctx, &p->r, p->U));
    for (int64_t i = 0; i < n; i++) {
        p->diagonal[i] = p->U[i * n + i];
        p->weight += p->r.p->root ? p->r.p->root[i] * p->r.p->root[i] : 1;
    }
    mc_begin_phase(ctx, "eigen");
    MC_TRY(mc_report_progress(ctx, -1));
    MC_TRY(mc_syevd(ctx, mc_column_major(p->U, n, n, n), p->m));
    clamp_spectrum(p);
    p->s.m = p->m;
    p->s.G = p->G;
    return mc_parallel_gemm(ctx, mc_row_major(p->U, n, n, n), mc_row_major(p->r.X, n, p->s.columns, p->s.columns),
                            mc_row_major(p->G, n, p->s.columns, p->s.columns));
}

/* ---- One batch ---- */

/* h, and the coordinates of beta and z, of the l-th lambda of the batch. */
static void write_coordinates(const ridge_path *p, double lambda, int64_t l, int64_t count) {
    const int64_t columns = p->s.columns, outputs = p->s.outputs;
    mc_ridge_offsets(&p->s, lambda, p->b);
    for (int64_t j = 0; j < p->s.n; j++) {
        const double h = mc_ridge_inverse(&p->s, lambda, j), *g = p->G + j * columns;
        double *c = p->coordinates + (j * count + l) * columns;
        p->H[j * count + l] = h;
        for (int64_t k = 0; k < outputs; k++)
            c[k] = h * (g[k] - p->b[k] * (p->s.intercept ? g[outputs] : 0));
        if (p->s.intercept)
            c[outputs] = h * g[outputs];
    }
}

static mc_leave_out leave_out_at(const ridge_path *p, int64_t l, int64_t count) {
    const int64_t columns = p->s.columns;
    mc_leave_out x = {p->s.n, p->s.outputs, p->s.intercept, p->r.p->root, p->back + l * columns, count * columns, 0};
    mc_leave_out_begin(&x);
    return x;
}

/* The error of rows left out under the l-th lambda; NaN where it breaks down. */
static double leave_one_out_error(const ridge_path *p, double lambda, int64_t l, int64_t count) {
    const mc_leave_out x = leave_out_at(p, l, count);
    const int64_t outputs = x.outputs;
    double *left = p->left && !p->by ? p->left + l * x.n * outputs : NULL;
    const mc_loo_result all = mc_leave_rows_out(&x, p->B + l, count, p->diagonal, lambda, left, outputs);
    for (int64_t i = 0; left && i < x.n * outputs; i++)
        left[i] /= mc_leave_out_root(&x, i / outputs);
    return all.broken < 0 ? sqrt(all.squares / all.weight / (double)outputs) : NAN;
}

static mercer_status leave_folds_out(mercer_ctx *ctx, const ridge_path *p, int64_t count) {
    mc_leave_out *x = NULL;
    MC_TRY(MC_ALLOC(ctx, x, count));
    for (int64_t l = 0; l < count; l++)
        x[l] = leave_out_at(p, l, count);
    const mercer_status status = mc_spectrum_leave_folds_out(ctx, p->by, x, p->U, p->H, count, p->left, p->squares);
    mc_free(x);
    return status;
}

static mercer_path_row row_of(const ridge_path *p, double lambda, int64_t l, int64_t count) {
    const bool defined = lambda > 0 || p->rank == p->s.n;
    const mc_ridge_point at = mc_ridge_point_at(&p->s, lambda, p->b);
    const double n = (double)p->s.n, cells = p->weight * (double)p->s.outputs, share = 1 - at.dof / n;
    mercer_path_row row = mc_path_row(lambda);
    row.dof = at.dof;
    row.norm = sqrt(at.square);
    row.objective = at.loss + lambda * at.square;
    row.gcv = defined ? at.beta / cells * (n / at.trace) * (n / at.trace) : at.loss / cells / (share * share);
    row.loo_rmse = defined ? leave_one_out_error(p, lambda, l, count) : NAN;
    row.fold = defined && p->by ? sqrt(p->squares[l] / cells) : NAN;
    return row;
}

/* first: the place of the batch among all lambdas. */
static mercer_status show_residuals(mercer_ctx *ctx, const ridge_path *p, const mercer_path_row *row, int64_t l,
                                    int64_t first) {
    if (!p->each)
        return MERCER_OK;
    const bool defined = !isnan(p->by ? row->fold : row->loo_rmse);
    return p->each(ctx, p->arg, first + l, defined ? p->left + l * p->s.n * p->s.outputs : NULL);
}

static mercer_status run_batch(mercer_ctx *ctx, const ridge_path *p, const double *lambdas, int64_t first,
                               int64_t count, mercer_path_row *out) {
    for (int64_t l = 0; l < count; l++)
        write_coordinates(p, lambdas[l], l, count);
    MC_TRY(mc_parallel_gemm(ctx, mc_column_major(p->U, p->s.n, p->s.n, p->s.n),
                            mc_row_major(p->coordinates, p->s.n, count * p->s.columns, count * p->s.columns),
                            mc_row_major(p->back, p->s.n, count * p->s.columns, count * p->s.columns)));
    MC_TRY(mc_spectrum_inverse_diagonals(ctx, p->s.n, p->U, p->H, count, p->B));
    if (p->by)
        MC_TRY(leave_folds_out(ctx, p, count));
    for (int64_t l = 0; l < count; l++) {
        out[l] = row_of(p, lambdas[l], l, count);
        MC_TRY(show_residuals(ctx, p, &out[l], l, first));
    }
    return MERCER_OK;
}

static mercer_status check_positive(mercer_ctx *ctx, const ridge_path *p, const double *lambdas, int64_t count) {
    for (int64_t l = 0; l < count; l++)
        if (p->m[0] < 0 && lambdas[l] + p->m[0] <= 0)
            return mc_fail(ctx, MERCER_NUMERIC,
                           "ridge path: K + lambda I is not positive definite for lambda = %g: the smallest eigenvalue "
                           "of K is %.6g",
                           lambdas[l], p->m[0]);
    return MERCER_OK;
}

static mercer_status run_path(mercer_ctx *ctx, ridge_path *p, const double *lambdas, int64_t count,
                              mercer_path_row *out) {
    MC_TRY(decompose_system(ctx, p));
    MC_TRY(check_positive(ctx, p, lambdas, count));
    mc_begin_phase(ctx, "leave-one-out");
    for (int64_t l = 0; l < count; l += p->batch) {
        const int64_t some = count - l < p->batch ? count - l : p->batch;
        mc_set_phase_span(ctx, (double)l / (double)count, (double)(l + some) / (double)count);
        MC_TRY(run_batch(ctx, p, lambdas + l, l, some, out + l));
    }
    return MERCER_OK;
}

/* ---- The public call ---- */

static mercer_status check_lambdas(mercer_ctx *ctx, const double *lambdas, int64_t count) {
    if (count < 1)
        return mc_fail(ctx, MERCER_INVALID, "ridge path: at least one lambda is needed, got %lld", (long long)count);
    for (int64_t l = 0; l < count; l++)
        if (!(lambdas[l] >= 0 && lambdas[l] <= 1e100))
            return mc_fail(ctx, MERCER_INVALID, "ridge path: lambda must be in [0, 1e+100], number %lld is %g",
                           (long long)l + 1, lambdas[l]);
    return MERCER_OK;
}

static mercer_status run_with_work(mercer_ctx *ctx, ridge_path *p, const double *lambdas, int64_t count,
                                   mercer_path_row *out) {
    MC_TRY(check_memory(ctx, p));
    p->U = mc_alloc_unset(ctx, p->s.n * p->s.n, sizeof *p->U);
    mc_work work;
    mercer_status status = p->U ? MERCER_OK : MERCER_MEMORY;
    if (!status && p->each)
        status = MC_ALLOC(ctx, p->left, p->batch * p->s.n * p->s.outputs);
    MC_THEN(status, mc_work_open(ctx, &work, small_bytes(p)));
    if (!status) {
        lay_out_path_workspace(p, &work);
        status = run_path(ctx, p, lambdas, count, out);
        mc_work_close(&work);
    }
    mc_free(p->U);
    mc_free(p->left);
    return status;
}

static ridge_path path_of(const mc_problem *problem, bool intercept, int64_t count) {
    const int64_t n = problem->n, outputs = problem->outputs, columns = outputs + intercept;
    ridge_path p = {.r = {.p = problem, .intercept = intercept, .columns = columns}};
    p.s = (mc_ridge_spectrum){.n = n, .outputs = outputs, .columns = columns, .intercept = intercept};
    p.batch = columns < WIDTH ? WIDTH / columns : 1;
    p.batch = count < p.batch ? count : p.batch;
    return p;
}

size_t mc_ridge_path_bytes(mercer_ctx *ctx, const mc_problem *problem, bool intercept, int64_t largest, int64_t count) {
    const ridge_path p = path_of(problem, intercept, count);
    const size_t folds =
        largest ? mc_spectrum_folds_bytes(ctx, p.s.n, largest, p.s.outputs, p.batch) + (size_t)(4 * p.s.n) * 8 : 0;
    return all_bytes(ctx, &p, true) + folds + (size_t)count * sizeof(mercer_path_row);
}

/* K, the decomposition, and for every lambda the products with U and its squares; folds of m rows take C_FF, m^2 n, and
   its factor. */
void mc_ridge_path_work(const mc_problem *problem, bool intercept, int64_t folds, int64_t count,
                        mc_solver_option *out) {
    const double n = (double)problem->n, columns = (double)problem->outputs + intercept,
                 m = folds ? n / (double)folds : 0;
    const double each = 2 * n * n * (1 + columns) + (double)folds * (m * m * n + mc_factor_work(m));
    *out = (mc_solver_option){.pairs = 1.5 * n * n, .eigen = mc_eigen_work(n), .factor = (double)count * each};
}

static mercer_status run_with_folds(mercer_ctx *ctx, ridge_path *p, const mercer_data *data, const int64_t *fold,
                                    const double *lambdas, int64_t count, mercer_path_row *out) {
    mc_fold_order by;
    mercer_status status = mc_fold_order_open(ctx, data, fold, p->s.n, &by);
    MC_THEN(status, mc_memory_check(ctx, mc_spectrum_folds_bytes(ctx, by.n, by.largest, p->s.outputs, p->batch),
                                    "ridge path: the largest fold"));
    p->by = &by;
    MC_THEN(status, run_with_work(ctx, p, lambdas, count, out));
    mc_fold_order_close(&by);
    return status;
}

mercer_status mc_ridge_path(mercer_ctx *ctx, const mercer_kernel *kernel, const mercer_data *data,
                            const mercer_ridge *set, const int64_t *fold, const double *lambdas, int64_t count,
                            mc_loo_callback *each, void *arg, mercer_path_row *out) {
    MC_TRY(check_lambdas(ctx, lambdas, count));
    mc_problem problem;
    MC_TRY(mc_problem_open(ctx, set->scale, mc_admission_of(set->allow_indefinite, set->intercept), kernel, data,
                           &problem));
    ridge_path p = path_of(&problem, set->intercept, count);
    p.each = each;
    p.arg = arg;
    const mercer_status status =
        fold ? run_with_folds(ctx, &p, data, fold, lambdas, count, out) : run_with_work(ctx, &p, lambdas, count, out);
    mc_problem_close(&problem);
    return status;
}
