/* ridge_solve.c: two ways to the coefficients of ridge regression, and leave-one-out residuals from either.

   S = diag(sqrt w), s = S 1, M = S K S, A = M + lambda I. For each output

       A beta + b s = S y,   s' beta = 0;     with Z = A^-1 S y, z = A^-1 s:   b = s'Z / s'z,  beta = Z - b z,  alpha =
   S beta.

   Without an intercept b = 0. Rows left out: learn/common/leave_out.h. The trace of its C gives the effective degrees
   of freedom n - lambda tr C, and GCV, the mean square of lambda beta over (lambda tr C / n)^2, in which lambda
   cancels.

   cholesky   A packed, factored, solved for all columns; the diagonal of B costs one more factorisation.
   eigen      M = U diag(m) U'. For lambda = 0 eigenvalues up to the cutoff n 2^-52 max m count as zero: Z = U diag(1/m
   or 0) U' S y is the minimum-norm least-squares solution. If s has a part s_N in the null space N of M, only b can fit
   what lies along it: b = s_N'y_N / s_N's_N; a part below sqrt(n 2^-52) |s| is rounding, and then b is that of the
   formula above. */
#include "backend/device.h"
#include "base/ctx.h"
#include "base/memory.h"
#include "base/progress.h"
#include "base/status.h"
#include "base/workspace.h"
#include "data/table/data.h"
#include "gram/operator/gram_matrix.h"
#include "learn/ridge/ridge_system.h"
#include "linalg/cholesky.h"
#include "linalg/eigen.h"
#include "linalg/lanczos.h"
#include "plan/cost.h"
#include <math.h>

enum { LANCZOS_STEPS = 120 };
static const double SETTLED = 0.05; /* an estimated eigenvalue whose error is below this share of it */

/* b from Z and z. */
static void intercept_of(mc_ridge_system *r) {
    const int64_t n = r->p->n, outputs = r->p->outputs, t = r->columns;
    for (int64_t k = 0; k < outputs; k++) {
        double above = 0, below = 0;
        for (int64_t i = 0; i < n && r->intercept; i++) {
            above += mc_problem_root(r->p, i) * r->X[i * t + k];
            below += mc_problem_root(r->p, i) * r->X[i * t + outputs];
        }
        r->b[k] = r->intercept && below > 0 ? above / below : 0; /* no z yet: a solver stopped before it began */
    }
}

/* alpha = S (Z - b z); the mean goes back into b. */
static void write_ridge_coefficients(mc_ridge_system *r) {
    const int64_t n = r->p->n, outputs = r->p->outputs, t = r->columns;
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < outputs; k++) {
            const double z = r->intercept ? r->X[i * t + outputs] : 0;
            r->alpha[i * outputs + k] = mc_problem_root(r->p, i) * (r->X[i * t + k] - r->b[k] * z);
        }
    for (int64_t k = 0; k < outputs; k++)
        r->b[k] += r->mean[k];
}

void mc_ridge_finish(mc_ridge_system *r) {
    intercept_of(r);
    write_ridge_coefficients(r);
}

/* ---- Leave one out ---- */

static mercer_status refuse_loo(mercer_ctx *ctx, const mc_ridge_system *r, int64_t row, double seen) {
    if (r->p->n == 1)
        return mc_fail(ctx, MERCER_NUMERIC,
                       "ridge: leave-one-out broke down at row 1: with an intercept it needs two rows of positive "
                       "weight; fit without it");
    return mc_fail(ctx, MERCER_NUMERIC,
                   "ridge: leave-one-out broke down at row %lld (diagonal of the inverse %g); use a larger lambda or "
                   "fit without it",
                   (long long)row + 1, seen);
}

/* From B_ii in B and A_ii in A, less shift. */
static mercer_status leave_one_out(mercer_ctx *ctx, mc_ridge_system *r, const double *A, double shift,
                                   const double *B) {
    const mc_leave_out x = mc_ridge_leave_out(r);
    const mc_loo_result all = mc_leave_rows_out(&x, B, 1, A, shift, NULL, 0);
    if (all.broken >= 0)
        return refuse_loo(ctx, r, all.broken, all.broken_pivot);
    const double n = (double)x.n, cells = all.weight * (double)x.outputs;
    r->loo_rmse = sqrt(all.squares / cells);
    r->dof_found = n - r->lambda * all.trace;
    r->gcv = all.beta / cells * (n / all.trace) * (n / all.trace);
    return MERCER_OK;
}

/* ---- When A is not positive definite ---- */

/* V -> S K S V for one column. */
typedef struct scaled_operator {
    const mc_ridge_system *r;
    const mc_gram *gram;
    double *v;
} scaled_operator;

static mercer_status apply_scaled(mercer_ctx *ctx, const void *self, int64_t t, const double *V, double *Y) {
    const scaled_operator *o = self;
    for (int64_t i = 0; i < o->r->p->n; i++)
        o->v[i] = mc_problem_root(o->r->p, i) * V[i];
    MC_TRY(mc_gram_apply(ctx, o->gram, t, o->v, Y));
    for (int64_t i = 0; i < o->r->p->n; i++)
        Y[i] *= mc_problem_root(o->r->p, i);
    return MERCER_OK;
}

static mercer_status ends_of(mercer_ctx *ctx, const mc_ridge_system *r, mc_spectrum *ends) {
    scaled_operator o = {.r = r};
    mc_gram *gram = NULL;
    MC_TRY(mc_problem_gram_open(ctx, r->p, &gram));
    o.gram = gram;
    mercer_status status = MC_ALLOC(ctx, o.v, r->p->n);
    const mc_matrix M = {.n = r->p->n, .apply = apply_scaled, .self = &o};
    MC_THEN(status, mc_lanczos_spectrum(ctx, &M, LANCZOS_STEPS, ends));
    mc_free(o.v);
    mc_problem_gram_close(r->p, gram);
    return status;
}

/* Two digits, upwards. */
static double round_up(double x) {
    const double unit = pow(10, floor(log10(x)) - 1);
    return ceil(x / unit * (1 - 1e-12)) * unit;
}

static const char *of_matrix(const mc_ridge_system *r) {
    return r->p->root ? "K (its rows and columns times the roots of the weights)" : "K";
}

/* The failure in words, with a lambda that would do: above -low, and above the rounding of K. While the estimate has
   not settled, the smallest eigenvalue may lie below it by more than its error, and the words say so. */
mercer_status mc_ridge_explain(mercer_ctx *ctx, const mc_ridge_system *r, const mc_spectrum *ends) {
    const double rounding = 4 * (double)r->p->n * 0x1p-52 * ends->high;
    if (!isfinite(ends->high) || !isfinite(ends->low))
        return mc_fail(
            ctx, MERCER_NUMERIC,
            "ridge: sums over %s are beyond the numbers that a double holds; scale the columns down, or take "
            "a kernel with a smaller factor or exponent",
            of_matrix(r));
    const double low = fmin(ends->low, -r->lambda); /* or it would not have failed */
    const bool settled = ends->error <= SETTLED * fabs(low);
    const double depth = r->p->proved ? 0 : (settled ? 1 : 2) * ends->error - low, enough = round_up(depth + rounding);
    if (r->p->proved && r->lambda >= enough)
        return mc_fail(ctx, MERCER_NUMERIC,
                       "ridge: the steps end far from the solution at lambda = %g, though it is above the rounding of "
                       "%s (%.2g); take solver cholesky or a larger lambda",
                       r->lambda, of_matrix(r), rounding);
    if (r->p->proved || depth < rounding)
        return mc_fail(ctx, MERCER_NUMERIC,
                       "ridge: lambda = %g is lost in the rounding of %s, whose largest eigenvalue is about %.3g and "
                       "whose smallest is about %.1g; lambda >= %.2g would work%s",
                       r->lambda, of_matrix(r), ends->high, ends->low, enough,
                       r->lambda > 0 ? ", or lambda = 0 for the minimum-norm solution"
                                     : ", or solver eigen for the minimum-norm solution");
    return mc_fail(ctx, MERCER_NUMERIC,
                   "ridge: K + lambda I is not positive definite: the smallest eigenvalue of %s is %s %.6g (estimated "
                   "in %lld steps, within %.1g) and lambda = %g; lambda >= %.2g %s",
                   of_matrix(r), settled ? "about" : "at most", low, (long long)ends->steps, ends->error, r->lambda,
                   enough, settled ? "would work" : "should work");
}

mercer_status mc_ridge_refuse(mercer_ctx *ctx, const mc_ridge_system *r) {
    mc_spectrum ends;
    MC_TRY(ends_of(ctx, r, &ends));
    return mc_ridge_explain(ctx, r, &ends);
}

/* ---- Cholesky ---- */

mercer_status mc_ridge_pack(mercer_ctx *ctx, const mc_ridge_system *r, double *A) {
    mc_gram *gram = NULL;
    mc_begin_phase(ctx, "gram");
    MC_TRY(mc_problem_gram_open(ctx, r->p, &gram));
    const mc_matrix K = mc_gram_matrix(gram);
    const mercer_status status = K.packed(ctx, K.self, NULL, A);
    mc_problem_gram_close(r->p, gram);
    return status ? status : mc_packed_scale(ctx, r->p->n, A, r->p->root, r->lambda);
}

mercer_status mc_ridge_factor(mercer_ctx *ctx, mc_ridge_system *r, double *A, int64_t *bad) {
    mc_ridge_right_hand_sides(r);
    MC_TRY(mc_ridge_pack(ctx, r, A));
    mc_begin_phase(ctx, "factor");
    MC_TRY(mc_potrf(ctx, mc_packed(r->p->n, A), bad));
    return *bad ? MERCER_OK : mc_potrs(ctx, mc_packed(r->p->n, A), mc_row_major(r->X, r->p->n, r->columns, r->columns));
}

double mc_ridge_factor_bytes(int64_t n, int64_t columns) {
    return (double)(mc_packed_count(n) + (columns + 36) * n) * sizeof(double) + 1e8;
}

/* A <- S K S + lambda I on the device of the operator, where there is one and it has room; A->a NULL: it has not. */
static mercer_status write_on_device(mercer_ctx *ctx, const mc_ridge_system *r, mc_gram *gram, double *shift,
                                     mc_dense *A) {
    const int64_t n = r->p->n;
    struct mc_device *device = NULL;
    MC_TRY(mc_gram_place_algebra(ctx, gram, mc_factor_work((double)n), mc_ridge_factor_bytes(n, r->columns), &device));
    if (!device)
        return MERCER_OK;
    for (int64_t i = 0; i < n; i++)
        shift[i] = r->lambda;
    MC_TRY(mc_dense_allocate(ctx, device, MC_PACKED, MERCER_F64, n, n, A));
    return mc_gram_write(ctx, gram, r->p->root, shift, *A);
}

/* The system where it is solved: on a device where it may leave and there is one, else here. */
static mercer_status write_system(mercer_ctx *ctx, const mc_ridge_system *r, bool may_leave, double *shift,
                                  mc_dense *A) {
    mc_gram *gram = NULL;
    mc_begin_phase(ctx, "gram");
    MC_TRY(mc_problem_gram_open(ctx, r->p, &gram));
    *A = (mc_dense){0};
    const mercer_status status = may_leave ? write_on_device(ctx, r, gram, shift, A) : MERCER_OK;
    mc_problem_gram_close(r->p, gram);
    if (status || A->a)
        return status;
    MC_TRY(mc_dense_allocate(ctx, NULL, MC_PACKED, MERCER_F64, r->p->n, r->p->n, A));
    return mc_ridge_pack(ctx, r, A->a);
}

/* diagonal: 2n, A_ii and then B_ii. *bad as mc_potrf says. */
static mercer_status factor_and_solve(mercer_ctx *ctx, mc_ridge_system *r, bool may_leave, mc_dense *A,
                                      double *diagonal, int64_t *bad) {
    const int64_t n = r->p->n;
    MC_TRY(write_system(ctx, r, may_leave, diagonal, A));
    MC_TRY(mc_dense_diagonal(ctx, *A, diagonal));
    mc_begin_phase(ctx, "factor");
    MC_TRY(mc_potrf(ctx, *A, bad));
    if (*bad)
        return MERCER_OK;
    mc_begin_phase(ctx, "solve");
    MC_TRY(mc_potrs(ctx, *A, mc_row_major(r->X, n, r->columns, r->columns)));
    mc_ridge_finish(r);
    if (!r->loo)
        return MERCER_OK;
    mc_begin_phase(ctx, "leave-one-out");
    MC_TRY(mc_cholesky_inverse_diagonal(ctx, *A, diagonal + n));
    return leave_one_out(ctx, r, diagonal, 0, diagonal + n);
}

mercer_status mc_ridge_cholesky(mercer_ctx *ctx, mc_ridge_system *r) {
    mc_dense A = {0};
    double *diagonal = NULL;
    int64_t bad = 0;
    mercer_status status = MC_ALLOC(ctx, diagonal, 2 * r->p->n);
    MC_THEN(status, factor_and_solve(ctx, r, true, &A, diagonal, &bad));
    mc_dense_free(&A);
    if (status && A.device && mc_device_leaves_it(ctx, A.device, status)) {
        mc_ridge_right_hand_sides(r);
        status = factor_and_solve(ctx, r, false, &A, diagonal, &bad);
        mc_dense_free(&A);
    }
    mc_free(diagonal);
    r->rank = r->p->n;
    return !status && bad ? mc_ridge_refuse(ctx, r) : status;
}

/* ---- Eigendecomposition ---- */

mercer_status mc_ridge_square(mercer_ctx *ctx, const mc_ridge_system *r, double *M) {
    const int64_t n = r->p->n;
    mc_gram *gram = NULL;
    mc_begin_phase(ctx, "gram");
    MC_TRY(mc_problem_gram_open(ctx, r->p, &gram));
    const mercer_status status = mc_gram_block(ctx, gram, 0, n, 0, n, MERCER_F64, M, n);
    mc_problem_gram_close(r->p, gram);
    for (int64_t i = 0; r->p->root && i < n; i++)
        for (int64_t j = 0; j < n; j++)
            M[i * n + j] *= r->p->root[i] * r->p->root[j];
    return status;
}

/* m -> 1 / (m + lambda), 0 for what counts as zero; the rank. A negative eigenvalue that lambda does not lift is an
 * error. */
static mercer_status invert_spectrum(mercer_ctx *ctx, mc_ridge_system *r, double *m) {
    const int64_t n = r->p->n;
    const double cutoff = mc_eigen_cutoff(n, m), low = m[0], high = m[n - 1];
    if (low + r->lambda <= (r->lambda > 0 ? 0 : -cutoff)) {
        const mc_spectrum ends = {.low = low, .high = high, .error = cutoff, .steps = n};
        return mc_ridge_explain(ctx, r, &ends);
    }
    r->rank = 0;
    for (int64_t i = 0; i < n; i++) {
        r->rank += m[i] > cutoff;
        m[i] = r->lambda > 0 || m[i] > cutoff ? 1 / (m[i] + r->lambda) : 0;
    }
    return MERCER_OK;
}

/* The part of b that only the null space can tell (lambda = 0); false: there is none. G: coordinates of X, h: inverted
 * spectrum. */
static bool intercept_of_null(mc_ridge_system *r, const double *G, const double *h) {
    const int64_t n = r->p->n, outputs = r->p->outputs, t = r->columns;
    double inside = 0, all = 0;
    for (int64_t j = 0; j < n; j++) {
        const double s = G[j * t + outputs];
        inside += h[j] == 0 ? s * s : 0;
        all += s * s;
    }
    if (!(inside > (double)n * 0x1p-52 * all))
        return false;
    for (int64_t k = 0; k < outputs; k++) {
        double along = 0;
        for (int64_t j = 0; j < n; j++)
            along += h[j] == 0 ? G[j * t + outputs] * G[j * t + k] : 0;
        r->b[k] = along / inside;
    }
    return true;
}

/* X <- U diag(h) U' X by way of the coordinates; b on the way. */
static mercer_status solve_coordinates(mercer_ctx *ctx, mc_ridge_system *r, const double *U, const double *h) {
    const int64_t n = r->p->n, t = r->columns;
    double *G = NULL;
    MC_TRY(MC_ALLOC(ctx, G, n * t));
    mercer_status status =
        mc_parallel_gemm(ctx, mc_row_major(U, n, n, n), mc_row_major(r->X, n, t, t), mc_row_major(G, n, t, t));
    const bool known = !status && r->intercept && r->lambda == 0 && intercept_of_null(r, G, h);
    for (int64_t j = 0; j < n * t; j++)
        G[j] *= h[j / t];
    MC_THEN(status,
            mc_parallel_gemm(ctx, mc_column_major(U, n, n, n), mc_row_major(G, n, t, t), mc_row_major(r->X, n, t, t)));
    mc_free(G);
    if (!status && !known)
        intercept_of(r);
    return status;
}

/* Nearly free here, so it is done unasked where it is defined and holds. */
static mercer_status loo_of_spectrum(mercer_ctx *ctx, mc_ridge_system *r, const double *U, double *h) {
    const int64_t n = r->p->n;
    const bool defined = r->lambda > 0 || r->rank == n;
    if (!defined && r->loo)
        return mc_fail(ctx, MERCER_NUMERIC,
                       "ridge: leave-one-out needs lambda > 0 here: the Gram matrix has rank %lld of %lld",
                       (long long)r->rank, (long long)n);
    if (!defined)
        return MERCER_OK;
    MC_TRY(mc_spectrum_inverse_diagonals(ctx, n, U, h, 1, h + 2 * n));
    const mercer_status status = leave_one_out(ctx, r, h + n, r->lambda, h + 2 * n);
    if (status != MERCER_NUMERIC || r->loo)
        return status;
    mc_clear_failure(ctx);
    return MERCER_OK;
}

static mercer_status decompose_and_solve(mercer_ctx *ctx, mc_ridge_system *r, double *U, double *h) {
    const int64_t n = r->p->n;
    MC_TRY(mc_ridge_square(ctx, r, U));
    for (int64_t i = 0; i < n; i++)
        h[n + i] = U[i * n + i];
    mc_begin_phase(ctx, "eigen");
    MC_TRY(mc_report_progress(ctx, -1));
    MC_TRY(mc_syevd(ctx, mc_column_major(U, n, n, n), h));
    if (isfinite(r->norm_bound) || r->dof > 0)
        MC_TRY(mc_ridge_choose_lambda(ctx, r, U, h));
    MC_TRY(invert_spectrum(ctx, r, h));
    mc_begin_phase(ctx, "solve");
    MC_TRY(solve_coordinates(ctx, r, U, h));
    write_ridge_coefficients(r);
    return loo_of_spectrum(ctx, r, U, h);
}

mercer_status mc_ridge_eigen(mercer_ctx *ctx, mc_ridge_system *r) {
    double *U = NULL, *h = NULL;
    U = mc_alloc_unset(ctx, r->p->n * r->p->n, sizeof *U);
    mercer_status status = U ? MERCER_OK : MERCER_MEMORY;
    MC_THEN(status, MC_ALLOC(ctx, h, 3 * r->p->n));
    MC_THEN(status, decompose_and_solve(ctx, r, U, h));
    mc_free(U);
    mc_free(h);
    return status;
}
